# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The host kernel and its scenarios, built once."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.host.kernel import (
    ROOT,
    SANITIZE,
    SCENARIOS,
    Workplace,
)


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    folder = tmp_path_factory.mktemp("host")
    command = ["make", "-s", "-C", str(ROOT / "kernel/host"), f"OUT={folder}"]
    subprocess.run([*command, *(["SANITIZE=1"] if SANITIZE else [])], check=True)
    place = Workplace(folder / "camkes-host", folder)
    for source in sorted(SCENARIOS.glob("*.c")):
        place.compile(source, folder / f"{source.stem}.so")
        shutil.copy(source.with_suffix(".table"), folder)
    return place
