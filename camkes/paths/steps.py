# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a path is, the steps that it can take, and why it has no bound."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from camkes.diagnostics import Code
from camkes.paths.blocks import Block, FunctionBlocks
from camkes.paths.program import SourceLine

#: the begin of all ways
BEGIN = -1


class PathError(Exception):
    """A path has no bound: `why`, at which place, and what to write instead."""

    def __init__(self, code: Code, why: str, place: SourceLine | None, help: str = "") -> None:
        super().__init__(why)
        self.code, self.why, self.place, self.help = code, why, place, help


class Path(Struct, frozen=True, kw_only=True):
    """Ways through a function: from its begin, or from after one of the kernel calls `begins`, to its return,
    or to the end of the first one of the kernel calls `ends`, which are named. If both are stated, each way
    begins where another one ended, as the ways of a thread that serves requests do.

    They go `through` these functions, each of which is called at least once, and are `without` calls of
    functions and of the kernel that have these names, and without places with them. What the functions
    `beside` execute is not counted. Of several functions of one name the one is meant whose source ends with
    `source`; or, if a function is named `by`, whose source that does, the one that it calls.
    """

    function: str
    begins: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()
    through: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    source: str = ""
    by: str = ""


class PathStep(Struct, frozen=True):
    """A block of a copy of a function. `kernel` names the kernel call at its end, if there is one. `bytes`
    are those that the function handles, if it is one of `graph.SIZED` and they are known."""

    copy: int
    function: FunctionBlocks
    start: int
    kernel: str = ""
    bytes: int | None = None

    @property
    def block(self) -> Block:
        return self.function.blocks[self.start]

    @property
    def place(self) -> SourceLine | None:
        """The line of its last instruction."""
        instructions = self.block.instructions
        return self.function.program.line(instructions[-1].address) if instructions else None

    @property
    def places(self) -> list[SourceLine]:
        """The lines of its instructions."""
        lines = (self.function.program.line(each.address) for each in self.block.instructions)
        return [line for line in lines if line is not None]


class Loop(Struct, frozen=True):
    """A loop goes back at most `times` each time that it is entered. `enters` and `back` are its edges."""

    enters: tuple[tuple[int, int], ...]
    back: tuple[tuple[int, int], ...]
    times: int


class Ways(Struct, frozen=True):
    """The steps of a path, by numbers, the edges between them, and its loops. `ends` are the last steps, and
    `calls` for each function that it has to go through the steps that call or begin one."""

    steps: Mapping[int, PathStep]
    edges: tuple[tuple[int, int], ...]
    ends: tuple[int, ...]
    loops: tuple[Loop, ...]
    calls: Mapping[str, tuple[int, ...]]
