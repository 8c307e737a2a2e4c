# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The components of these tests, compiled once for an MCS kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.host.kernel import Workplace
from tests.host.mcs.systems import Runner


@pytest.fixture(scope="session")
def mcs(workplace: Workplace) -> Runner:
    for source in sorted(Path(__file__).parent.glob("*.c")):
        workplace.compile(source, workplace.folder / f"{source.stem}.so", "-DCONFIG_KERNEL_MCS=1")
    return Runner(workplace)
