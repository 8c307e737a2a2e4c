# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The graph of all ways from the begin of a path to its end, in which each call has a copy of what it calls.

What is on no such way is left out, so that only code that the path can execute has to be known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx

from camkes.paths.blocks import Block, FunctionBlocks, function_at, returns, source_name
from camkes.paths.codes import NO_PATH, UNKNOWN_CALL
from camkes.paths.contracts import LoopStatements
from camkes.paths.loops import find_loops
from camkes.paths.program import Follow, LinkedProgram, SourceLine
from camkes.paths.steps import BEGIN, Path, PathError, PathStep, Ways
from camkes.protocols.cycles import reached

#: functions of the C library whose third argument is a number of bytes, of which each pass of a loop handles
#: at least one
SIZED = frozenset(("memcpy", "memmove", "memset", "memcmp"))
#: a kernel call whose number is not known
UNKNOWN = "unknown"
#: blocks of a graph: a runtime has less
_MOST = 50_000
#: what ends a block of which it is not known what follows
_UNFOLLOWED = {
    Follow.COMPUTED_CALL: "a call through a pointer",
    Follow.COMPUTED_JUMP: "a jump through a table or a pointer",
    Follow.UNKNOWN: "an instruction that is not known",
}


class WayFinder:
    """Finds the ways of paths through a program. `calls` names kernel calls by their numbers."""

    def __init__(self, program: LinkedProgram, calls: Mapping[int, str], statements: LoopStatements) -> None:
        self.program, self.statements = program, statements
        self._calls = calls

    def ways(self, path: Path) -> Ways:
        """All ways of a path. Raises PathError."""
        return self._copies(path).ways()

    def least(self, path: Path) -> int:
        """The instructions that any execution of a path takes at least. Raises PathError."""
        return self._copies(path).least()

    def _copies(self, path: Path) -> _Copies:
        addresses = self._named(path.by or path.function, path.source)
        if path.by and len(addresses) == 1:
            calls = [block.call for block in function_at(self.program, addresses[0]).blocks.values()]
            named = self.program.functions.get(path.function, [])
            addresses = [address for address in named if address in calls or len(named) == 1]
        if len(addresses) != 1:
            number = "no function" if not addresses else f"{len(addresses)} functions"
            verb = "are" if len(addresses) > 1 else "is"
            text = f"{number} {verb} named `{path.function}` in {self.program.path.name}"
            raise PathError(NO_PATH, text, None, "the compiler may have inlined it, or left it out")
        return _Copies(self, path, addresses[0])

    def _named(self, name: str, source: str) -> list[int]:
        found = self.program.functions.get(name, [])
        return found if len(found) < 2 else [a for a in found if self.program.source(a).endswith(source)]

    def kernel_call(self, function: FunctionBlocks, start: int) -> str:
        """The name of the kernel call at the end of a block; "": there is none."""
        block = function.blocks[start]
        if not block.instructions or block.last.flow is not Follow.KERNEL:
            return ""
        number = function.kernel_number(start)
        return UNKNOWN if number is None else self._calls.get(number, str(number))


class _Copies:
    """The graph of a path: all copies of functions, and then the part of it that is on its ways."""

    def __init__(self, expansion: WayFinder, path: Path, root: int) -> None:
        self._expansion, self._path = expansion, path
        self._program = expansion.program
        self._steps: list[PathStep] = []
        self._after: dict[int, list[int]] = {}
        self._copies = 0
        self._problems: dict[int, PathError] = {}
        self._entries: dict[str, list[int]] = {}
        self._root, returning = self._copy(root, ())
        self._ends = [n for n, step in enumerate(self._steps) if step.kernel in path.ends] or returning
        self._begins = {self._root: [self._root]}
        if path.begins:
            executed = reached([self._root], lambda number: self._after.get(number, ()))
            calls = [n for n in executed if self._steps[n].kernel in path.begins]
            self._begins = {n: self._after.get(n, []) for n in calls}

    def _copy(
        self, address: int, under_way: tuple[int, ...], bytes: int | None = None
    ) -> tuple[int, list[int]]:
        """A copy of a function: the step that begins it, and those that return."""
        function = function_at(self._program, address)
        self._copies += 1
        copy, numbers, returning = self._copies, {}, []
        for start in function.blocks:
            numbers[start] = len(self._steps)
            kernel = self._expansion.kernel_call(function, start)
            self._steps.append(PathStep(copy, function, start, kernel, bytes))
        if len(self._steps) > _MOST:
            text = f"`{self._path.function}` calls more than can be looked at: {_MOST} blocks"
            raise PathError(UNKNOWN_CALL, text, None, "bound the functions that it calls one by one")
        self._entries.setdefault(function.name, []).append(numbers[address])
        for start, block in function.blocks.items():
            number = numbers[start]
            following = [numbers[each] for each in block.successors]
            names = {self._program.places.get(each.address, "") for each in block.instructions}
            if not self._path.without.isdisjoint({*names, self._steps[number].kernel}):
                continue
            if block.call is not None or block.unknown:
                back = self._called(number, block, (*under_way, address))
                if block.tail or block.last.flow is Follow.COMPUTED_JUMP:
                    returning += back
                else:
                    for each in back:
                        self._after.setdefault(each, []).extend(following)
            else:
                self._after.setdefault(number, []).extend(following)
                if block.last.flow is Follow.RETURN:
                    returning.append(number)
        return numbers[address], returning

    def _called(self, number: int, block: Block, under_way: tuple[int, ...]) -> list[int]:
        """Copies of what a step calls; the steps that return from there."""
        place = self._steps[number].place
        targets = [block.call] if block.call is not None else self._named(number, place)
        returning = []
        for target in targets:
            name = source_name(self._program.names.get(target, ""))
            if name in self._path.without or not returns(self._program, target):
                continue
            if name in self._path.beside:
                self._entries.setdefault(name, []).append(number)
                returning.append(number)
                continue
            if target in under_way:
                text = f"`{name}` calls itself"
                help = "write it as a loop with a bound"
                self._problems[number] = PathError(UNKNOWN_CALL, text, place, help)
                returning.append(number)
                continue
            step = self._steps[number]
            size = step.function.argument(step.start, 2) if name in SIZED else None
            entry, back = self._copy(target, under_way, size)
            self._after.setdefault(number, []).append(entry)
            returning += back
        if not targets:
            returning.append(number)
        return returning

    def _named(self, number: int, place: SourceLine | None) -> list[int]:
        """The functions that a contract names for a call through a pointer."""
        names = self._expansion.statements.calls_at(place) if place is not None else ()
        missing = [name for name in names if name not in self._program.functions]
        if self._path.beside.issuperset(names) and names:
            return []
        if not names or missing:
            flow = self._steps[number].block.last.flow
            text = f"{_UNFOLLOWED[flow]} cannot be followed"
            if missing:
                text = f"there is no function `{missing[0]}` in {self._program.path.name}"
            help = "write at the call what it leads to: `/* calls NAME, NAME: WHY */`"
            if flow is Follow.COMPUTED_JUMP:
                help += ", or compile the file with -fno-jump-tables"
            self._problems[number] = PathError(UNKNOWN_CALL, text, place, help)
            return []
        return [address for name in names for address in self._program.functions[name]]

    def _alive(self) -> tuple[Any, set[int]]:
        """The graph of all ways, from BEGIN, and the steps that end them. Raises PathError."""
        ends, begins = set(self._ends), set(self._begins)
        graph: Any = networkx.DiGraph()
        graph.add_edges_from((n, a) for n, after in self._after.items() if n not in ends for a in after)
        graph.add_nodes_from(ends)
        while True:
            graph.add_edges_from((BEGIN, each) for n in begins for each in self._begins[n])
            forward = networkx.descendants(graph, BEGIN) if begins else set()
            if not self._path.begins or not self._path.ends or begins <= forward:
                break
            begins &= forward
            graph.remove_node(BEGIN)
        backward: set[int] = set().union(*(networkx.ancestors(graph, end) for end in ends & forward), ends)
        alive = forward & backward
        if not alive:
            text = f"`{self._path.function}` has no way from its begin to its end"
            raise PathError(NO_PATH, text, None)
        return graph.subgraph(forward | {BEGIN}).copy(), ends & alive

    def least(self) -> int:
        """The least instructions of a way. What cannot be followed takes none. Raises PathError."""
        graph, ends = self._alive()

        def weight(_: int, target: int, __: object) -> int:
            return len(self._steps[target].block.instructions)

        lengths = networkx.single_source_dijkstra_path_length(graph, BEGIN, weight=weight)
        return int(min(lengths[end] for end in ends))

    def ways(self) -> Ways:
        graph, ends = self._alive()
        for number in sorted(set(graph) & self._problems.keys()):
            raise self._problems[number]
        alive = set().union(*(networkx.ancestors(graph, end) for end in ends), ends) - {BEGIN}
        for number in sorted(alive) if self._path.ends else ():
            if self._steps[number].kernel == UNKNOWN:
                text = f"it is not seen which kernel call `{self._steps[number].function.name}` makes"
                help = "make it with a number that is a constant there"
                raise PathError(UNKNOWN_CALL, text, self._steps[number].place, help)
        graph = graph.subgraph(alive | {BEGIN}).copy()
        loops = find_loops(graph, self._steps, self._expansion.statements)
        calls = {name: tuple(alive.intersection(self._entries.get(name, ()))) for name in self._path.through}
        if missing := [name for name, found in calls.items() if not found]:
            raise PathError(NO_PATH, f"no way through `{self._path.function}` calls `{missing[0]}`", None)
        steps = {number: self._steps[number] for number in alive}
        return Ways(steps, tuple(graph.edges), tuple(ends), loops, calls)
