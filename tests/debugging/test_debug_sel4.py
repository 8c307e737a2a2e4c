# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes debug --kernel sel4`: what is refused, and, in a workspace, where gdb stops."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from camkes import pipeline
from tests.command import camkes
from tests.end_to_end.support import EXAMPLES

ADDER = EXAMPLES / "adder"


def test_what_only_the_host_kernel_can_do_is_refused() -> None:
    done = camkes("debug", ADDER, "--kernel", "sel4", "--at", "2ms", "--scheduling", "rr")
    assert done.status == 2
    assert done.errors.splitlines() == [
        "camkes debug: --scheduling is for the host kernel",
        "camkes debug: --at is for the host kernel",
    ]


def test_a_name_that_is_not_there_is_an_error_before_anything_is_built() -> None:
    done = camkes("debug", ADDER, "nobody", "--kernel", "sel4")
    assert (done.status, "E0739" in done.errors) == (1, True)


@pytest.mark.mostly_long("None-gdb")
@pytest.mark.parametrize(("machine", "name"), [(None, "gdb"), (b"\xf3\0", "gdb-multiarch")])
def test_without_a_gdb_for_the_machine_the_error_names_it(
    machine: bytes | None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0xf3 is RISC-V, which no workstation of ours is."""
    own = Path("/proc/self/exe").read_bytes()[:20]
    kernel = tmp_path / "kernel" / "kernel.elf"
    kernel.parent.mkdir()
    kernel.write_bytes(own if machine is None else own[:18] + machine)
    monkeypatch.setattr(pipeline, "built_in_workspace", lambda *_: nullcontext(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    if machine is not None:
        (tmp_path / "gdb").write_text("")
        (tmp_path / "gdb").chmod(0o755)
    done = camkes("debug", ADDER, "--kernel", "sel4")
    assert done.status == 1
    assert f"{name} was not found" in done.errors


@pytest.mark.skipif(
    "SEL4_WORKSPACE" not in os.environ or shutil.which("qemu-system-x86_64") is None,
    reason="SEL4_WORKSPACE names no workspace, or there is no QEMU",
)
def test_gdb_stops_in_one_component(tmp_path: Path) -> None:
    words = ("client", "adder.calc", "-x", "info args", "-x", "continue", "-x", "info args", "--batch")
    done = camkes("debug", ADDER, "--kernel", "sel4", *words, "-o", tmp_path / "out")
    assert done.status == 0, done.errors
    stops = re.findall(r"^in component (\w+)\n#0 +(\w+) ", done.output, re.MULTILINE)
    assert stops == [("client", "run"), ("adder", "calc_add")], done.output
