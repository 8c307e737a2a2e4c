# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Images for one kind of kernel and a table for the other."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-30")

SYSTEM = """component Task { control; requestor; }
assembly { composition { component Task task; } configuration { task._priority = 10; } }"""
SOURCES = {"Task": 'int run(void) { puts("runs"); return 0; }\n'}


@pytest.mark.mostly_long("plain")
@pytest.mark.parametrize("mcs", [False, True], ids=["plain", "mcs"])
def test_an_image_for_the_other_kind_of_kernel_is_refused(mcs: bool, tmp_path: Path) -> None:
    built = build(tmp_path / "built", SYSTEM, SOURCES, mcs=mcs)
    assert "runs" in built.run().output
    other = build(tmp_path / "other", SYSTEM, SOURCES, mcs=not mcs)
    shutil.copy(other.image.images["task"], built.image.images["task"])
    words = [built.image.kernel, built.image.table.name, "--for", "1000"]
    run = subprocess.run(words, cwd=built.image.folder, capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "runs" not in run.stdout
    kinds = ("one without MCS", "an MCS kernel")
    assert (
        f"was compiled for {kinds[not mcs]}, but this is {kinds[mcs]}; build the system again" in run.stderr
    )


@pytest.mark.long
def test_an_output_folder_is_built_again_for_the_other_kind(tmp_path: Path) -> None:
    for mcs in (True, False, True):
        run = build(tmp_path, SYSTEM, SOURCES, mcs=mcs).run()
        assert (run.status, run.output.count("runs"), run.errors) == (0, 1, "")
