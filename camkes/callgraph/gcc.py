# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The call graph that GCC writes for a source (`-fcallgraph-info`): calls with their lines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from camkes.callgraph.objects import FunctionSymbol

_EDGE = re.compile(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)" label: "([^"]*)"')
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
