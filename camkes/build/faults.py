# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Faults of components: from the kernel's report to the user's C line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.build.codes import FAULT
from camkes.build.messages import Sources
from camkes.build.places import RUNTIME
from camkes.diagnostics import Diagnostic, Span
from camkes.records import dataclass

if TYPE_CHECKING:
    from camkes.build.host import HostImage

_LINE = re.compile(
    r"fault: (?P<component>\S+): thread (?P<thread>\S+): (?P<what>.+?)(?: at (?P<address>0x[0-9a-f]+))?"
    r"(?:, pc (?P<pc>0x[0-9a-f]+) \((?P<module>.*?)\+(?P<offset>0x[0-9a-f]+)\))?"
    r"(?:, called from \((?P<caller_module>.*?)\+(?P<caller_offset>0x[0-9a-f]+)\))?$"
)

#: how the runtime stops a thread after it said why
_STOP = "camkes_platform_fault"

#: what to do about a fault whose line alone does not say it
_HELP = {
    "stack overflow": "`_stack_size` gives a control thread more, `IFACE_stack_size` one that serves IFACE",
    "loops without letting time pass": "let it wait or sleep; a slow one needs a larger `--loop-limit MS`",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A thread that could not go on. `what` is in words, `address` the memory it is about, if any; `at` is
    where the thread was and `caller` the component's own code that led there: file of the module, offset
    in it."""

    component: str
    thread: str
    what: str
    address: int | None
    pc: int | None
    at: tuple[Path, int] | None
    caller: tuple[Path, int] | None


@dataclass(frozen=True, slots=True)
class Place:
    """A line of C, and the function it is in ("" where that is not known)."""

    file: Path
    line: int
    function: str


def parse_fault(line: str) -> Fault | None:
    """The fault that a line of the kernel reports, if it reports one."""
    match = _LINE.match(line)
    if match is None:
        return None
    at = (Path(match["module"]), int(match["offset"], 16)) if match["module"] else None
    caller = (
        (Path(match["caller_module"]), int(match["caller_offset"], 16)) if match["caller_module"] else None
    )
    pc = int(match["pc"], 16) if match["pc"] else None
    address = int(match["address"], 16) if match["address"] else None
    return Fault(match["component"], match["thread"], match["what"], address, pc, at, caller)


def diagnose(fault: Fault, image: HostImage) -> Diagnostic:
    """A fault as it is told to the user, at its C line if that is known."""
    sources = Sources()
    notes: list[str] = []
    what, span = fault.what, None
    # a return address is behind its call
    for code, back, word in ((fault.at, 0, "at"), (fault.caller, 1, "called from")):
        place = None if code is None else locate(image.folder / code[0], code[1] - back)
        if place is None:
            continue
        if place.function == _STOP:
            what = "stopped at an error that nobody handles; `camkes: ...` above says which"
            continue
        inside = f" in {place.function}()" if place.function else ""
        notes.append(f"{word} {place.file.name}:{place.line}{inside}")
        found = sources.span(place.file, place.line)
        if span is None or (found is not None and _is_own(span, image)):
            span = found
    if fault.pc is not None:
        notes.append(f"program counter {fault.pc:#x}")
    where = "" if fault.address is None else f" at {fault.address:#x}"
    return Diagnostic(
        FAULT,
        f"component {fault.component}, thread {fault.thread}: {what}{where}",
        span,
        "it stopped here" if span is not None else "",
        notes=tuple(notes),
        help=_HELP.get(fault.what, ""),
    )


def _is_own(span: Span, image: HostImage) -> bool:
    """Is this a line of the tool's C code, not of the user's?"""
    path = span.file.path
    return path.is_relative_to(RUNTIME) or path.is_relative_to(image.folder.parent)


def locate(module: Path, offset: int) -> Place | None:
    """The line of an address of a module, from its debugging information."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with module.open("rb") as stream:
            elf = ELFFile(stream)
            if not elf.has_dwarf_info():
                return None
            found = _line(elf.get_dwarf_info(), offset)
            return None if found is None else Place(*found, _function(elf, offset))
    except (OSError, ELFError):
        return None


def _line(dwarf: object, offset: int) -> tuple[Path, int] | None:
    """Walks the line programs: a row holds from its address to that of the next row."""
    for unit in dwarf.iter_CUs():  # type: ignore[attr-defined]
        program = dwarf.line_program_for_CU(unit)  # type: ignore[attr-defined]
        if program is None:
            continue
        before = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None and before.address <= offset < state.address:
                return _file(unit, program, before.file), before.line
            before = None if state.end_sequence else state
    return None


def _file(unit: object, program: object, index: int) -> Path:
    header = program.header  # type: ignore[attr-defined]
    top = unit.get_top_DIE().attributes  # type: ignore[attr-defined]
    home = Path(top["DW_AT_comp_dir"].value.decode()) if "DW_AT_comp_dir" in top else Path()
    version5 = header.version >= 5
    entry = header["file_entry"][index if version5 else index - 1]
    folders = [Path(f.decode()) for f in header["include_directory"]]
    if version5:
        folder = folders[entry.dir_index] if entry.dir_index < len(folders) else Path()
    else:
        folder = folders[entry.dir_index - 1] if entry.dir_index else Path()
    name: bytes = entry.name
    return home / folder / name.decode()


def _function(elf: object, offset: int) -> str:
    table = elf.get_section_by_name(".symtab")  # type: ignore[attr-defined]
    if table is None:
        return ""
    for symbol in table.iter_symbols():
        start, size = symbol["st_value"], symbol["st_size"]
        if symbol["st_info"]["type"] == "STT_FUNC" and start <= offset < start + size:
            return str(symbol.name).partition(".")[0]  # GCC marks its copies of a function
    return ""
