# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Faults in an image: the two lines of a fault handler become file, line and calls; by what readelf writes,
and in QEMU where there is a workspace.

SEL4_BUILDS=DIR keeps the build for the next time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from camkes.backends.sel4 import unwind
from camkes.backends.sel4.fault_lines import FaultText, image_of, parse_fault_line, parse_stack_line
from camkes.backends.sel4.unwind import StackState, calls, parse
from camkes.backends.sel4.workspace import console
from tests.backends.sel4.recorded import built, needs_workspace
from tests.command import camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("SEL4-14")

#: as readelf writes it: a program with frame pointers, a function without rows, another machine
X86 = """\
Contents of the .debug_frame section:

00000000 0000000000000014 ffffffff CIE "" cf=1 df=-8 ra=16
   LOC           CFA      ra
0000000000000000 rsp+8    c-8

00000018 0000000000000024 00000000 FDE cie=00000000 pc=0000000000401000..0000000000401100
   LOC           CFA      rbp   ra
0000000000401000 rsp+8    u     c-8
0000000000401001 rsp+16   c-16  c-8
0000000000401004 rbp+16   c-16  c-8

00000040 0000000000000014 00000000 FDE cie=00000000 pc=0000000000401100..0000000000401200

00000058 0000000000000014 00000000 FDE cie=00000000 pc=0000000000401200..0000000000401300
   LOC           CFA      ra
0000000000401200 exp      c-8
"""
AARCH64 = """\
Contents of the .eh_frame section:

00000000 0000000000000010 00000000 CIE "zR" cf=4 df=-8 ra=30
   LOC           CFA
0000000000000000 sp+0

00000014 0000000000000010 00000018 FDE cie=00000000 pc=0000000000400000..0000000000400100

0000003c 0000000000000020 00000040 FDE cie=00000000 pc=0000000000400100..0000000000400200
   LOC           CFA      x19   x29   ra
0000000000400100 sp+0     u     u     u
0000000000400104 sp+32    u     c-32  c-24
"""


def followed(monkeypatch: pytest.MonkeyPatch, text: str, state: StackState) -> list[int]:
    table = parse(text)
    monkeypatch.setattr(unwind, "_table", lambda _: table)
    return list(calls(Path("x"), state))


def test_calls_follow_frame_pointers_and_stack_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    """0x401150 is in a function without a frame, which 0x401050 called, which 0x401061 called; the word at
    0x8008 was left by an earlier call."""
    words = {0x8000: 0x401050, 0x8008: 0x4010AA, 0x8020: 0x8060, 0x8028: 0x401061, 0x8068: 0x401205}
    state = StackState(pc=0x401150, sp=0x8000, fp=0x8020, ra=0, words=words)
    # the last one has a CFA that is an expression, which is not followed
    assert followed(monkeypatch, X86, state) == [0x401150, 0x40104F, 0x401060, 0x401204]


def test_calls_end_where_a_word_of_the_stack_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    state = StackState(pc=0x401150, sp=0x8000, fp=0x8020, ra=0, words={0x8000: 0x401050})
    assert followed(monkeypatch, X86, state) == [0x401150, 0x40104F]
    assert followed(monkeypatch, "", state) == [0x401150]


def test_a_return_address_in_a_register_is_that_of_the_innermost_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = StackState(pc=0x400010, sp=0x8000, fp=0, ra=0x400120, words={0x8008: 0x400090})
    # the register is not asked again for the function that called the outer one
    assert followed(monkeypatch, AARCH64, state) == [0x400010, 0x40011F, 0x40008F]


def test_a_loop_of_frames_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {0x8010: 0x8010, 0x8018: 0x401050}
    state = StackState(pc=0x401050, sp=0x8000, fp=0x8010, ra=0, words=words)
    assert followed(monkeypatch, X86, state) == [0x401050, 0x40104F]


def test_lines_are_those_of_the_fault_handler() -> None:
    fault = parse_fault_line("FAULT HANDLER: a.b: thread a.b.i: invalid capability 3, pc 0x4012f3\r\n")
    assert fault is not None
    assert (fault.component, fault.thread, fault.what, fault.pc) == (
        "a.b", "a.b.i", "invalid capability 3", 0x4012F3,
    )  # fmt: skip
    stack = parse_stack_line("FAULT HANDLER: a: pc 0x10 sp 0x8000 fp 0x0 ra 0x5 stack +8:401000 +1f8:8210\n")
    assert stack is not None and stack.space == "a"
    assert stack.state == StackState(0x10, 0x8000, 0, 5, {0x8008: 0x401000, 0x81F8: 0x8210})
    assert parse_stack_line("FAULT HANDLER: a: pc 0x10 sp 0x8000 fp 0x0 ra 0x5 stack") is not None
    for other in ("FAULT HANDLER: a: pc 0x10", "FAULT HANDLER: ../a: pc 0x1 sp 0x1 fp 0x1 ra 0x1 stack", ""):
        assert parse_stack_line(other) is None


def test_instances_of_a_group_are_in_the_program_of_their_address_space(tmp_path: Path) -> None:
    (tmp_path / "spaces").mkdir()
    (tmp_path / "spaces" / "group.c").write_text('RECORD(1, 4096, "a", "a.i", 0, 0, 0),\n')
    fault = parse_fault_line("FAULT HANDLER: a: thread a.i: fault of kind 7")
    assert fault is not None
    assert image_of(tmp_path, fault) == tmp_path / "group.elf"
    (tmp_path / "a.elf").touch()
    assert image_of(tmp_path, fault) == tmp_path / "a.elf"


@pytest.mark.skipif(
    any(shutil.which(program) is None for program in ("gcc", "nm", "addr2line", "readelf")),
    reason="no gcc, or no binutils",
)
def test_what_is_shown_of_a_fault(tmp_path: Path) -> None:
    """With a program of the workstation; the words of the stack are not shown, other lines are."""
    source = tmp_path / "a.c"
    source.write_text("int main(void)\n{\n    return 0;\n}\n")
    subprocess.run(["gcc", "-g", "-no-pie", "-o", tmp_path / "a.elf", source], check=True)
    symbols = subprocess.run(["nm", tmp_path / "a.elf"], capture_output=True, text=True, check=True).stdout
    pc = next(line.split()[0] for line in symbols.splitlines() if line.endswith(" T main")).lstrip("0")
    text = FaultText(tmp_path)
    fault = f"FAULT HANDLER: a: thread a: invalid jump at 0x0, pc 0x{pc}\n"
    stack = f"FAULT HANDLER: a: pc 0x{pc} sp 0x8000 fp 0x0 ra 0x0 stack\n"
    assert text.add("hello\n") == "hello\n"
    assert text.add(fault) == f"{fault}  a: at {source}:2 in main()\n"
    assert text.add(stack) == ""
    assert FaultText(tmp_path).add(stack) == f"  a: at {source}:2 in main()\n"


def test_a_file_of_the_build_is_named_where_it_is(tmp_path: Path) -> None:
    """In an image, names of generated files begin with `/build`, wherever that is."""
    source = tmp_path / "camkes" / "glue.c"
    source.parent.mkdir()
    source.write_text("int main(void)\n{\n    return 0;\n}\n")
    flags = ["-g", f"-ffile-prefix-map={tmp_path}=/build", "-nostdlib", "-static", "-Wl,-e,main"]
    subprocess.run(["cc", *flags, "-o", str(tmp_path / "a.elf"), str(source)], check=True)
    address = int(_symbol(tmp_path / "a.elf", "main"), 16)
    text = FaultText(tmp_path).add(
        f"FAULT HANDLER: a: thread a: invalid memory access at 0x0, pc {address:#x}\n"
    )
    assert text.splitlines()[1] == f"  a: at {source}:2 in main()"


def _symbol(image: Path, name: str) -> str:
    said = subprocess.run(["nm", str(image)], capture_output=True, text=True, check=True).stdout
    return next(line.split()[0] for line in said.splitlines() if line.endswith(f" {name}"))


SYSTEM = (
    "procedure P { void touch(in int where); }\n"
    "component Client { control; uses P p; }\n"
    "component Server { provides P p; }\n"
    "assembly { composition { component Client client; component Server server;"
    " connection seL4RPCCall c(from client.p, to server.p); } }\n"
)
SOURCES = {
    "Client": "int run(void) { p_touch(8); return 0; }\n",
    "Server": """\
static int sum;
__attribute__((noinline)) static void deep(int *where)
{
    *where = 1;
    sum++;
}

__attribute__((noinline)) static void middle(int where)
{
    volatile char room[200] = {0};
    room[where] = 1;
    deep((int *)(long)where);
    sum += room[0];
}

void p_touch(int where)
{
    middle(where);
    sum++;
}
""",
}


@needs_workspace
def test_a_fault_in_an_image_has_its_line_and_calls(tmp_path: Path) -> None:
    folder = Path(os.environ.get("SEL4_BUILDS", tmp_path)) / "faults"
    out = built(SYSTEM, SOURCES, folder, mcs=False, trace=False)
    text = FaultText(out)
    shown = ""
    run = console(out, seconds=120)
    for line in run:
        shown += text.add(line)
        if "called from" in shown:
            break
    run.close()
    source = folder / "application" / "Server.c"
    lines = shown[shown.index("FAULT HANDLER") :].splitlines()
    assert lines[0].startswith("FAULT HANDLER: server: thread server.p: invalid memory access at 0x8, pc ")
    assert lines[1:4] == [
        f"  server: at {source}:6 in deep()",
        f"  server: called from {source}:14 in middle()",
        f"  server: called from {source}:20 in p_touch()",
    ], shown


ASSERTING = "component Task { control; } assembly { composition { component Task task; } }\n"
CHECKED = {
    "Task": """\
#include <assert.h>

static void check(int value)
{
    assert(value > 3);
}

int run(void)
{
    check(2);
    return 0;
}
"""
}
#: what is shown of the assertion, after the folder of its file
ASSERTION = "/Task.c:7: check: assertion failed: value > 3\n"


def test_a_failed_assertion_on_the_host_kernel(tmp_path: Path) -> None:
    """The text is that of the next test."""
    head = "#include <camkes.h>\n#include <stdio.h>\n"  # as `built` has it
    write_files(tmp_path, {"system.camkes": ASSERTING, "Task.c": head + CHECKED["Task"]})
    done = camkes("run", tmp_path)
    assert done.status == 1
    assert ASSERTION in done.output + done.errors
    assert "component task, thread task: abort" in done.errors and "Task.c:7:" in done.errors


@needs_workspace
def test_a_failed_assertion_in_an_image_is_shown(tmp_path: Path) -> None:
    folder = Path(os.environ.get("SEL4_BUILDS", tmp_path)) / "assertions"
    text = FaultText(built(ASSERTING, CHECKED, folder, mcs=False, trace=False))
    shown = ""
    run = console(folder / "build", seconds=120)
    for line in run:
        shown += text.add(line)
        if "in run()" in shown:
            break
    run.close()
    source = folder / "application" / "Task.c"
    lines = shown[shown.index("camkes: task: ") :].splitlines(keepends=True)
    assert lines[0].replace("\r", "").endswith(ASSERTION)
    assert lines[1].startswith("FAULT HANDLER: task: thread task: ")
    assert f"  task: called from {source}:7 in check()\n" in lines, shown
    assert f"  task: called from {source}:12 in run()\n" in lines, shown


@needs_workspace
def test_a_recorded_fault_has_its_calls(tmp_path: Path) -> None:
    folder = Path(os.environ.get("SEL4_BUILDS", tmp_path)) / "recorded-faults"
    built(SYSTEM, SOURCES, folder, mcs=False)
    done = camkes("run", folder / "application", "--kernel", "sel4", "--for", "100ms", "-o", folder / "build")
    assert "FAULT HANDLER: server: pc" not in done.output
    for part in (
        "at Server.c:6 in deep()",
        "called from Server.c:14 in middle()",
        "Server.c:20 in p_touch()",
    ):
        assert part in done.errors, (done.output, done.errors)
