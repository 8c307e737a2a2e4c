# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The host kernel, built once, and the tables of its scenarios."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.host.kernel import SANITIZED, SCENARIOS, Workplace
from tests.kit import ready_kit


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    folder = tmp_path_factory.mktemp("host")
    kernel = Path(SANITIZED) if SANITIZED else ready_kit(folder).kernel
    place = Workplace(kernel, folder)
    for table in sorted(SCENARIOS.glob("*.table")):
        shutil.copy(table, folder)
    return place
