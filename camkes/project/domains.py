# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How the domains of the kernel are configured: by settings of CMake, and a schedule in C that these name.

A workspace reads them with `cmake -C settings.cmake`, which only it can. Here the files beside an application
are looked through for values that are written in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.system import DomainSlot, KernelDomains, System
from camkes.project.codes import KERNEL_SCHEDULE, MISSING_FILE
from camkes.project.places import read_text

SCHEDULE, COUNT, TICK = "KernelDomainSchedule", "KernelNumDomains", "KernelTimerTickMS"
_FILES = ("settings.cmake", "easy-settings.cmake", "CMakeLists.txt")
_SET = re.compile(rf"^[^#\n]*?\bset\s*\(\s*({SCHEDULE}|{COUNT}|{TICK})\s+(\"[^\"\n]*\"|[^\s)]+)", re.M | re.I)
_HERE = re.compile(
    r"\$\{(?:CMAKE_CURRENT_LIST_DIR|CMAKE_CURRENT_SOURCE_DIR|CMAKE_SOURCE_DIR|PROJECT_SOURCE_DIR)\}"
)

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TABLE = re.compile(r"\bksDomSchedule\s*\[[^\]]*\]\s*=\s*\{")
_ENTRY = re.compile(r"\{([^{}]*)\}|\}")
_FIELD = re.compile(r"\s*(?:\.\s*(domain|length)\s*=)?\s*(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\s*")


def stated(folder: Path, definitions: Mapping[str, str]) -> dict[str, str]:
    """The settings of the kernel that the files of an application's folder write, or the user (`-D`). The
    name of a file counts from the folder."""
    found: dict[str, str] = {}
    for name in _FILES:
        for key, value in _SET.findall(read_text(folder / name)):
            found.setdefault(key, _HERE.sub(str(folder).replace("\\", r"\\"), value.strip('"')))
    found |= {key: definitions[key] for key in (SCHEDULE, COUNT, TICK) if key in definitions}
    if SCHEDULE in found:
        found[SCHEDULE] = str(folder / found[SCHEDULE])
    return found


def with_domains(system: System, settings: Mapping[str, str], sink: Sink) -> System:
    """The system with what the settings of the kernel say. A schedule in the text counts, not that of a
    file."""
    tick = settings.get(TICK, "")
    count = settings.get(COUNT, "")
    kernel = KernelDomains(
        tick=int(tick) * 1_000_000 if tick.isdecimal() and int(tick) > 0 and not system.mcs else None,
        count=int(count) if count.isdecimal() else None,
    )
    path = Path(settings.get(SCHEDULE, ""))
    if system.schedule or not settings.get(SCHEDULE) or "$" in str(path):
        return replace(system, kernel=kernel)
    if not path.is_file():
        sink.report(MISSING_FILE, f"there is no file {path}, which {SCHEDULE} names")
        return replace(system, kernel=kernel)
    file = SourceFile(path, read_text(path))
    mistakes = Sink()
    slots = tuple(_slots(file, "ms" if system.mcs else None, mistakes))
    for diagnostic in mistakes.diagnostics:
        sink.add(diagnostic)
    if mistakes.has_errors:
        return replace(system, kernel=kernel)
    return replace(system, kernel=replace(kernel, file=file), schedule=slots)


def _slots(file: SourceFile, unit: str | None, sink: Sink) -> Iterable[DomainSlot]:
    """The entries of `ksDomSchedule`; their lengths are ticks, milliseconds on an MCS kernel."""
    text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), file.text)
    table = _TABLE.search(text)
    position = table.end() if table is not None else len(text)
    count = 0
    while (entry := _ENTRY.search(text, position)) is not None and entry[1] is not None:
        position = entry.end()
        span = _span(file, entry.start(), entry.end())
        fields = [_FIELD.fullmatch(part) for part in entry[1].rstrip().removesuffix(",").split(",")]
        names = [found[1] or name for found, name in zip(fields, ("domain", "length"), strict=False) if found]
        if len(fields) != 2 or sorted(names) != ["domain", "length"]:
            sink.report(
                KERNEL_SCHEDULE,
                "this entry is not a domain and a length, which are numbers",
                span,
                help="write { .domain = 1, .length = 10 }",
            )
            continue
        numbers = {name: int(found[2], 0) for found, name in zip(fields, names, strict=True) if found}
        count += 1
        yield DomainSlot(numbers["domain"], numbers["length"], unit, span)
    if count == 0 and not sink.has_errors:
        sink.report(
            KERNEL_SCHEDULE,
            f"{file.path.name} has no entries of `ksDomSchedule`",
            Span(file, 1, 1, 1, 1),
            help="write const dschedule_t ksDomSchedule[] = { { .domain = 0, .length = 10 } };",
        )


def _span(file: SourceFile, start: int, end: int) -> Span:
    line = file.text.count("\n", 0, start) + 1
    last = file.text.count("\n", 0, end) + 1
    return Span(
        file, line, start - file.text.rfind("\n", 0, start), last, end - file.text.rfind("\n", 0, end)
    )
