# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The calls on the stack of a thread, by the call frame information of its program (DWARF 5, section 6.4),
which binutils' readelf writes as a table.

A row says, from an address on, how the frame's own address (the CFA) follows from a register, and where the
caller's registers are, relative to it. So each call is one that is there: what was left on the stack by
earlier calls is not taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from camkes.model.limits import FAULT_FRAMES
from camkes.process import run

_HEAD = re.compile(
    r"([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (CIE|FDE)(?: cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+))?"
)
_CFA = re.compile(r"(\w+)\+(\d+)")
_SAVED = re.compile(r"c([+-]\d+)")

#: readelf's names of the stack pointer and of the frame pointers of our machines
_SP = frozenset(("rsp", "esp", "sp", "x31", "r13"))
_FP = frozenset(("rbp", "ebp", "x29", "r11", "s0"))
#: of the column of the return address
_RA = frozenset(("ra", "lr", "r14", "x30"))


class StackState(Struct, frozen=True):
    """The registers of a thread, and words of its stack by their addresses. `ra` is the return address where
    the machine has it in a register, else 0."""

    pc: int
    sp: int
    fp: int
    ra: int
    words: dict[int, int]


class _FrameRule(Struct, frozen=True):
    """How to leave a frame: the CFA is a register and an offset, `fp` and `ra` are saved so far from it
    (None: not saved)."""

    base: str
    offset: int
    fp: int | None
    ra: int | None


#: [begin, end) of functions, with the rules from addresses on
_Table = list[tuple[int, int, list[tuple[int, _FrameRule]]]]


def calls(image: Path, state: StackState) -> tuple[int, ...]:
    """The addresses in the program where the thread is, the innermost first: its own, then those in the
    callers. Those after the first unknown one are missing."""
    table = _table(image)
    found = [state.pc]
    at, ra = state, state.ra
    while len(found) < FAULT_FRAMES:
        rule = _rule(table, found[-1])
        if rule is None:
            break
        frame = (at.fp if rule.base in _FP else at.sp) + rule.offset
        if rule.ra is not None:
            ra = at.words.get(frame + rule.ra, 0)
        fp = at.fp if rule.fp is None else at.words.get(frame + rule.fp, 0)
        if not ra or frame < at.sp or (frame == at.sp and len(found) > 1):
            break  # a caller's frame is above, except that of a function without a frame
        found.append(ra - 1)  # in the instruction that calls; the next one may be of another line
        at, ra = StackState(ra, frame, fp, 0, at.words), 0
    return tuple(found)


def _rule(table: _Table, pc: int) -> _FrameRule | None:
    for begin, end, rules in table:
        if begin <= pc < end:
            return next((rule for start, rule in reversed(rules) if start <= pc), None)
    return None


def _table(image: Path) -> _Table:
    """Empty if the program has no such information, or if readelf is missing."""
    try:
        done = run(["readelf", "--wide", "--debug-dump=frames-interp", str(image)])
    except OSError:
        return []
    return parse(done.output)


def parse(text: str) -> _Table:
    """What readelf wrote. A function without rows has that of the CIE (what is common to several)."""
    common: dict[str, list[tuple[int, _FrameRule]]] = {}
    table: _Table = []
    columns: list[str] = []
    rules: list[tuple[int, _FrameRule]] = []
    for line in text.splitlines():
        head = _HEAD.match(line)
        if line.startswith("Contents of"):
            common = {}
        elif head is not None:
            columns, rules = [], []
            if head[2] == "CIE":
                common[head[1]] = rules
            elif head[3] is not None:
                inherited = [(0, rule) for _, rule in common.get(head[3].zfill(len(head[1])), ())]
                rules = inherited
                table.append((int(head[4], 16), int(head[5], 16), rules))
        elif line.split()[:2] == ["LOC", "CFA"]:
            columns = line.split()[1:]
        elif columns and line.strip():
            start, *cells = line.split()
            rule = _row(dict(zip(columns, cells, strict=False)))
            if rule is not None:
                rules.append((int(start, 16), rule))
    return table


def _row(cells: Mapping[str, str]) -> _FrameRule | None:
    """None where the CFA is an expression."""
    cfa = _CFA.fullmatch(cells.get("CFA", ""))
    if cfa is None or cfa[1] not in _SP | _FP:
        return None

    def saved(names: frozenset[str]) -> int | None:
        for name in names & cells.keys():
            found = _SAVED.fullmatch(cells[name])
            if found is not None:
                return int(found[1])
        return None

    return _FrameRule(cfa[1], int(cfa[2]), saved(_FP), saved(_RA))
