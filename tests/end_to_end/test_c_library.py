# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What small programs that use the C library print is the same on the host kernel and in an image of seL4."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console
from tests.command import camkes

pytestmark = pytest.mark.requirement("HOST-18")

PROGRAMS = Path(__file__).parent / "c_library"
WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")


def expected() -> list[str]:
    return (PROGRAMS / "expected.txt").read_text().splitlines()


def test_on_the_host_kernel(tmp_path: Path) -> None:
    done = camkes("run", PROGRAMS, "--for", "1ms", "-q", "-o", tmp_path)
    assert done.status == 0, done.errors
    assert done.output.splitlines() == expected()


@pytest.mark.long
@pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no seL4 workspace")
@pytest.mark.parametrize("settings", [(), ("-D", "PLATFORM=qemu-arm-virt", "-D", "AARCH64=ON")], ids=" ".join)
def test_in_an_image(settings: tuple[str, ...], tmp_path: Path) -> None:
    on_sel4 = ("--kernel", "sel4", "--workspace", WORKSPACE)
    done = camkes("build", PROGRAMS, *on_sel4, "-o", tmp_path, *settings)
    assert done.status == 0, done.errors
    wanted = expected()
    found: list[str] = []
    for line in console(tmp_path, seconds=60):
        text = line.rstrip()
        if found or text == wanted[0]:
            found.append(text)
        if text == wanted[-1]:
            break
    assert found == wanted
