# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the fault handler of an address space prints (runtime/src/platform/sel4/faults_sel4.c): a line about
the fault, and one with the registers and words of the stack. Here they become lines of C."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from camkes.backends.host.addresses import CodeLine, locate, named_folders
from camkes.backends.sel4.unwind import StackState, calls
from camkes.files import write_changed

#: the instance, the thread, the fault, and where its code is
_FAULT = re.compile(r"FAULT HANDLER: ([^:/]+): thread (.+?): (.+?)(?:, pc 0x([0-9a-f]{1,16}))?")

#: the address space, registers, and words of the stack with their distances from its pointer
_NUMBER = r"0x([0-9a-f]{1,16})"
_STACK = re.compile(
    rf"FAULT HANDLER: ([\w.-]+): pc {_NUMBER} sp {_NUMBER} fp {_NUMBER} ra {_NUMBER} stack"
    r"((?: \+[0-9a-f]{1,16}:[0-9a-f]{1,16})*)"
)


#: the name that images have for the workspace, of which an SDK has some files
WORKSPACE_NAME = "/workspace"


#: the file with the folder of the application
_APPLICATION = "camkes-application"


class FaultLine(Struct, frozen=True):
    """A fault as it is printed. `pc` is None where the kernel does not say."""

    component: str
    thread: str
    what: str
    pc: int | None


class StackLine(Struct, frozen=True):
    """The thread that the line before is about: its address space, and its stack."""

    space: str
    state: StackState


def parse_fault_line(line: str) -> FaultLine | None:
    """The fault that a line of the console is about."""
    match = _FAULT.fullmatch(line.strip())
    if match is None:
        return None
    component, thread, what, address = match.groups()
    return FaultLine(component, thread, what, int(address, 16) if address else None)


def parse_stack_line(line: str) -> StackLine | None:
    """The stack that a line of the console is about."""
    match = _STACK.fullmatch(line.strip())
    if match is None:
        return None
    space, *registers, words = match.groups()
    pc, sp, fp, ra = (int(each, 16) for each in registers)
    pairs = (pair.removeprefix("+").split(":") for pair in words.split())
    stack = {sp + int(distance, 16): int(word, 16) for distance, word in pairs}
    return StackLine(space, StackState(pc, sp, fp, ra, stack))


def image_of(out: Path, fault: FaultLine) -> Path:
    """The program in the build folder `out` that has the thread: instances of a group share one."""
    own = out / f"{fault.component}.elf"
    if own.exists():
        return own
    for table in sorted((out / "spaces").glob("*.c")):
        if f'"{fault.component}", "{fault.thread}"' in table.read_text(errors="replace"):
            return out / f"{table.stem}.elf"
    return own


def frames_of(out: Path, line: StackLine) -> tuple[int, ...]:
    """The calls of the thread, the innermost first, as addresses in the program of its address space."""
    return calls(out / f"{line.space}.elf", line.state)


def places(image: Path, frames: tuple[int, ...]) -> tuple[CodeLine, ...]:
    """Their lines, as far as the program has them: a release image has none."""
    folders = folders_of(image.parent)
    return tuple(place for frame in locate(image, frames, folders) for place in frame)


def folders_of(out: Path) -> dict[str, Path]:
    """The folders that images of the build in `out` have names for, by these."""
    application = None
    with suppress(OSError):  # the build is of another version
        application = Path(os.fsdecode((out / _APPLICATION).read_bytes()))
    return named_folders(application, out)


def note_application(out: Path, folder: Path) -> None:
    """Note in a build folder which application images are of. Raises OSError."""
    write_changed(out / _APPLICATION, os.fsencode(folder.absolute()))


class FaultText:
    """What the image of a build folder prints, with lines of C at faults, and without the words of stacks.
    Lines of others may come between those of a fault."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._shown: set[tuple[Path, int]] = set()

    def add(self, line: str) -> str:
        """What to show for a line of the console."""
        fault = parse_fault_line(line)
        if fault is not None:
            image = image_of(self._out, fault)
            frames = () if fault.pc is None else (fault.pc,)
            self._shown.update((image, pc) for pc in frames)
            return line + _text(fault.component, places(image, frames), "at")
        stack = parse_stack_line(line)
        if stack is None:
            return line
        image = self._out / f"{stack.space}.elf"
        first, *others = frames_of(self._out, stack)
        known = "" if (image, first) in self._shown else _text(stack.space, places(image, (first,)), "at")
        return known + _text(stack.space, places(image, tuple(others)), "called from")


def _text(who: str, found: Sequence[CodeLine], how: str) -> str:
    lines = []
    for place in found:
        function = f" in {place.function}()" if place.function else ""
        lines.append(f"  {who}: {how} {place.file}:{place.line}{function}\n")
        how = "called from"
    return "".join(lines)
