# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The host kernel of another processor does the same: the trace of each example is that of this workstation.

Needs a cross compiler for AArch64 and QEMU's emulation of programs; without them it is skipped.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.host.host import HostImage
from camkes.diagnostics import Sink
from tests.end_to_end.support import EXAMPLES

COMPILER, EMULATOR, LIBRARIES = "aarch64-linux-gnu-gcc", "qemu-aarch64", "/usr/aarch64-linux-gnu"

pytestmark = [
    pytest.mark.requirement("HOST-14"),
    pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is not installed"),
    pytest.mark.skipif(shutil.which(EMULATOR) is None, reason=f"{EMULATOR} is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="compares with an x86-64 workstation"),
]

FAULTY = """
#include <camkes.h>
#include <stdio.h>
static void (*volatile nowhere)(void);
int run(void)
{
    puts("before");
    nowhere();
    return 0;
}
"""


def build(path: Path, out: Path) -> HostImage:
    sink = Sink()
    image = pipeline.build(pipeline.Input(path), out, sink, lambda _: None)
    assert image is not None, sink.diagnostics
    return image


def run(image: HostImage, trace: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """For 200 ms, in the emulator where it is needed."""
    machine = image.kernel.read_bytes()[18]
    emulator = [EMULATOR, "-L", LIBRARIES] if machine == 183 else []
    command = [*emulator, str(image.kernel), image.table.name, "--for", "200000000", "--trace", str(trace)]
    return subprocess.run(
        [*command, *options], cwd=image.folder, capture_output=True, text=True, timeout=300, check=False
    )


#: with a lock, a timer and preemption, and with memory that is shared; all others in `make test-long`
SHORT = ("inversion", "dataport")
LONG = ("adder", "events", "hierarchy", "nested", "protocols", "timer")


@pytest.mark.long
@pytest.mark.parametrize("name", [*SHORT, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)])
def test_the_same_trace(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = run(build(EXAMPLES / name, tmp_path / "here"), tmp_path / "here.trace")
    monkeypatch.setenv("CC", COMPILER)
    image = build(EXAMPLES / name, tmp_path / "there")
    expected = (tmp_path / "here.trace").read_bytes()
    for options in ((), ("--fast",)):
        there = run(image, tmp_path / "there.trace", *options)
        assert (there.returncode, there.stdout) == (here.returncode, here.stdout), there.stderr
        assert (tmp_path / "there.trace").read_bytes() == expected


@pytest.mark.long
def test_a_jump_to_an_unmapped_address_is_reported_with_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", COMPILER)
    system = "component C { control; } assembly { composition { component C c; } }"
    (tmp_path / "a.camkes").write_text(system)
    (tmp_path / "C.c").write_text(FAULTY)
    image = build(tmp_path / "a.camkes", tmp_path / "out")
    result = run(image, tmp_path / "trace")
    assert result.stdout == "before\n"
    assert "fault: c: thread c: invalid jump at 0x0, pc 0x" in result.stderr
    assert "(c.so+0x" in result.stderr
