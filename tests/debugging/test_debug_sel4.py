# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes debug --kernel sel4`: what is refused, and, in a workspace, where gdb stops."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from camkes import pipeline
from camkes.resources import HOST_KERNEL, SEL4_KERNEL
from tests.command import camkes
from tests.end_to_end.support import EXAMPLES
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-19")

ADDER = EXAMPLES / "adder"
IN_WORKSPACE = pytest.mark.skipif(
    "SEL4_WORKSPACE" not in os.environ or shutil.which("qemu-system-x86_64") is None,
    reason="SEL4_WORKSPACE names no workspace, or there is no QEMU",
)


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
    monkeypatch.setattr(pipeline, "built_for_sel4", lambda *_: nullcontext(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    if machine is not None:
        (tmp_path / "gdb").write_text("")
        (tmp_path / "gdb").chmod(0o755)
    done = camkes("debug", ADDER, "--kernel", "sel4")
    assert done.status == 1
    assert f"{name} was not found" in done.errors


@IN_WORKSPACE
def test_gdb_stops_in_one_component(tmp_path: Path) -> None:
    words = ["client", "adder.calc", "-x", "info args", "-x", "continue", "-x", "info args"]
    words += ["-x", "camkes threads", "-x", "bt 1", "--batch"]
    done = camkes("debug", ADDER, "--kernel", "sel4", *words, "-o", tmp_path / "out")
    assert done.status == 0, done.errors
    stops = re.findall(r"^in component (\w+)\n#0 +(\w+) ", done.output, re.MULTILINE)
    assert stops == [("client", "run"), ("adder", "calc_add")], done.output
    rows = {row[0]: row[1:] for line in done.output.splitlines() if len(row := re.split(r"  +", line)) >= 3}
    assert rows["adder.calc"][1] == "runs", done.output
    assert re.fullmatch(r"adder\.c:\d+ in calc_add\(\)", rows["adder.calc"][2]), done.output
    assert rows["client"][1] == "waits for a reply", done.output
    assert rows["client!fault-handler"][1] == "waits for a message", done.output
    assert rows["idle_thread"][1] == "runs when no other can", done.output
    # gdb goes on with the symbols of what runs
    assert re.search(r"^#0 +calc_add ", done.output.partition("idle_thread")[2], re.MULTILINE), done.output


@IN_WORKSPACE
@pytest.mark.mostly_long("workspace")
@pytest.mark.parametrize("how", ["workspace", "sdk"])
def test_gdb_finds_the_sources_of_components_and_of_generated_code(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str | Path] = []
    if how == "sdk":
        made = camkes("sdk", "-o", tmp_path / "x86_64.sdk", "--no-trace", "--build-folder", tmp_path / "sdk")
        assert made.status == 0, made.errors
        monkeypatch.delenv("SEL4_WORKSPACE")
        given = ["--sdk", tmp_path / "x86_64.sdk"]
    words = ["adder.calc", "-x", "list", "-x", "up", "-x", "list", "--batch", "-o", tmp_path / "out"]
    done = camkes("debug", ADDER, "--kernel", "sel4", *given, *words)
    assert done.status == 0, done.errors
    listed = [line.partition("\t")[2] for line in done.output.splitlines()]
    assert "    return a + b;" in listed, done.output
    assert "    int result = calc_add(a, b);" in listed, done.output


class Memory:
    """In the place of QEMU's memory: a page table of x86 with a large page and a small one."""

    def __init__(self) -> None:
        self.words = {
            0x1000 + 8 * 0x1FF: 0x2003,
            0x2000 + 8 * 0x1FE: 0x3003,
            0x3000 + 8 * 4: 0x80_0083,
            0x3000 + 8 * 5: 0x4003,
            0x4000 + 8 * 7: 0x5003 | 1 << 63,
        }

    def read_memory(self, address: int, size: int) -> memoryview:
        return memoryview(self.words.get(address, 0).to_bytes(size, "little"))


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The commands of gdb, with as much of gdb as they need here."""
    gdb = ModuleType("gdb")
    memory = Memory()
    vars(gdb).update(
        Breakpoint=object, Command=object, GdbError=RuntimeError, error=ValueError,
        selected_inferior=lambda: memory,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "gdb", gdb)
    for folder in (HOST_KERNEL, SEL4_KERNEL):
        monkeypatch.syspath_prepend(str(folder / "gdb"))
    for name in ("camkes_gdb", "camkes_sel4_gdb"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("camkes_sel4_gdb")


def test_the_kernel_is_found_by_its_page_table(script: ModuleType) -> None:
    top = 0xFFFF_FF80_0000_0000 | 0x1FE << 30
    assert script.place_in_memory(0x1000, top | 4 << 21 | 0x1_2345) == 0x81_2345
    assert script.place_in_memory(0x1000, top | 5 << 21 | 7 << 12 | 0x678) == 0x5678
    with pytest.raises(RuntimeError, match="nothing at"):
        script.place_in_memory(0x1000, top | 6 << 21)


def test_a_thread_is_known_by_its_buffer_and_by_what_the_kernel_calls_it(script: ModuleType) -> None:
    a = SimpleNamespace(threads={0x1000: "a", 0x2000: "a.i!manager"})
    b = SimpleNamespace(threads={0x1000: "b"})
    script.images.update(a=a, b=b)
    assert script.owner(0x1000, "b") == (b, "b")
    assert script.owner(0x2000, "a.i-manager") == (a, "a.i!manager")
    # without names, of a kernel for release
    assert script.owner(0x2000, "") == (a, "a.i!manager")
    assert script.owner(0x1000, "") == (None, "a or b")
    # a driver can have a buffer at the address of a component's
    assert script.owner(0x2000, "timer-driver") == (None, "timer-driver")
    assert script.owner(0, "") == (None, "a thread of the kernel or of the loader")


@IN_WORKSPACE
def test_gdb_stops_where_a_fault_was(tmp_path: Path) -> None:
    """It shows the thread that cannot go on, and afterwards the fault handler goes on with its report."""
    client = "component C { control; uses Sensor s; }"
    files = {
        "system.camkes": "import <std_connector.camkes>;\nprocedure Sensor { int read(in int at); }\n"
        f"{client}\ncomponent S {{ provides Sensor s; }}\nassembly {{ composition {{ component C client; "
        "component S sensor; connection seL4RPCCall c(from client.s, to sensor.s); } }\n",
        "C.c": "#include <camkes.h>\nint run(void) { return s_read(3); }\n",
        "S.c": "#include <camkes.h>\nstatic int scaled(volatile int *at) {\n    return *at * 10;\n}\n"
        "int s_read(int at) {\n    return scaled((volatile int *)(long)at);\n}\n",
        "CMakeLists.txt": "project(system C)\nDeclareCAmkESComponent(C SOURCES C.c)\n"
        "DeclareCAmkESComponent(S SOURCES S.c)\nDeclareCAmkESRootserver(system.camkes)\n",
    }
    path = write_files(tmp_path / "application", files)
    words = ["-x", "print at", "-x", "camkes threads", "--batch", "-o", tmp_path / "out"]
    done = camkes("debug", path, "--kernel", "sel4", *words)
    assert done.status == 0, done.errors
    shown = done.output.partition("thread sensor.s stopped at a fault\n")[2]
    assert re.search(
        r"^#0 .* in scaled \(at=0x3\) at .*S\.c:3\n#1 .* in s_read \(at=3\) at .*S\.c:6\n", shown
    ), shown
    assert "$1 = (volatile int *) 0x3" in shown
    assert re.search(r"^sensor\.s +\d+  stopped by a fault +S\.c:3 in scaled\(\)$", shown, re.MULTILINE), (
        shown
    )
