# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The call graph that GCC writes for a source (`-fcallgraph-info`): calls with their lines, and how much
stack each function takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from camkes.callgraph.objects import FunctionSymbol

_EDGE = re.compile(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)" label: "([^"]*)"')
_FRAME = re.compile(r'node: \{ title: "([^"]*)" label: "[^"]*?(\d+) bytes \(([a-z,]+)\)')
_INDIRECT = "__indirect_call"


class CallPlace(NamedTuple):
    """A call in a source; column 0: not known."""

    file: str
    line: int
    column: int


class SourceCalls(Struct):
    """Direct calls, and calls through pointers by function."""

    calls: list[tuple[FunctionSymbol, FunctionSymbol, CallPlace | None]] = field(default_factory=list)
    indirect: list[tuple[FunctionSymbol, CallPlace | None]] = field(default_factory=list)


class StackFrame(Struct, frozen=True):
    """Bytes that a call of a function takes, with its return address; not `bounded` if it takes more, by a
    number that only a run knows (`alloca`, arrays of variable length)."""

    bytes: int
    bounded: bool


def read_frames(path: Path) -> dict[FunctionSymbol, StackFrame]:
    """Read the frames of functions from a call graph with `-fcallgraph-info=su`; OSError if there is none."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return {
        _name(match[1]): StackFrame(int(match[2]), match[3] != "dynamic") for match in _FRAME.finditer(text)
    }


def read_calls(path: Path) -> SourceCalls:
    """Read a call graph; OSError if there is none."""
    found = SourceCalls()
    for match in _EDGE.finditer(path.read_text(encoding="utf-8", errors="replace")):
        caller, callee, place = _name(match[1]), match[2], _place(match[3])
        if callee == _INDIRECT:
            found.indirect.append((caller, place))
        else:
            found.calls.append((caller, _name(callee), place))
    return found


def _name(title: str) -> FunctionSymbol:
    """A static function has the file before its name."""
    _, colon, name = title.rpartition(":")
    return FunctionSymbol(name, bool(colon))


def _place(label: str) -> CallPlace | None:
    file, line, column = (*label.rsplit(":", 2), "", "")[:3]
    return CallPlace(file, int(line), int(column)) if line.isdigit() and column.isdigit() else None
