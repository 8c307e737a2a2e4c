# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The loops of a graph of steps, and how often each goes back at most.

A loop has a head that is on all ways into it: it dominates the ends of the edges that go back to it. Of loops
that are entered at several steps, the head is one without which there is no loop. That a loop counts to a
constant is seen in its instructions; or else its source states a bound, or a limit of its function is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import networkx

from camkes.paths.blocks import Block, constants_after
from camkes.paths.codes import UNBOUNDED_LOOP
from camkes.paths.contracts import LoopStatements, SourceLoop
from camkes.paths.counting import times_gone_on
from camkes.paths.program import Follow, SourceLine
from camkes.paths.steps import BEGIN, Loop, PathError, PathStep
from camkes.protocols.cycles import reached


def find_loops(graph: Any, steps: Sequence[PathStep], statements: LoopStatements) -> tuple[Loop, ...]:
    """All loops of a graph, a networkx.DiGraph. Raises PathError where one has no bound."""
    return _LoopsInGraph(graph, steps, statements).found()


class _LoopsInGraph:
    def __init__(self, graph: Any, steps: Sequence[PathStep], statements: LoopStatements) -> None:
        self._graph, self._steps, self._statements = graph, steps, statements
        self._above: Mapping[int, int] = networkx.immediate_dominators(graph, BEGIN)
        self._bodies: dict[int, set[int]] = {}
        self._matched: dict[tuple[str, SourceLoop], set[int]] = {}

    def found(self) -> tuple[Loop, ...]:
        going_back: dict[int, list[int]] = {}
        for source, head in self._graph.edges:
            if self._dominates(head, source):
                going_back.setdefault(head, []).append(source)
        for head, sources in going_back.items():
            self._bodies[head] = self._body(head, sources)
        rest = self._graph.copy()
        rest.remove_edges_from((source, head) for head, sources in going_back.items() for source in sources)
        entered = self._entered_at_several(rest)
        self._bodies |= entered
        loops = []
        for head, sources in sorted(going_back.items()):
            enters = [(p, head) for p in self._graph.predecessors(head) if p not in sources]
            back = [(source, head) for source in sources]
            loops.append(Loop(tuple(enters), tuple(back), self._times(head, sources)))
        for head, body in sorted(entered.items()):
            enters = [(p, n) for n in sorted(body) for p in self._graph.predecessors(n) if p not in body]
            back = [(p, head) for p in self._graph.predecessors(head) if p in body]
            # the first time, it comes to its head from another step of it
            times = self._stated_times(head, self._own(head)) + 1
            loops.append(Loop(tuple(enters), tuple(back), times))
        return tuple(loops)

    def _dominates(self, above: int, number: int) -> bool:
        while number != above and number != BEGIN:
            number = self._above[number]
        return number == above

    def _body(self, head: int, sources: Sequence[int]) -> set[int]:
        def before(number: int) -> list[int]:
            return [each for each in self._graph.predecessors(number) if each != head]

        return {head, *reached([source for source in sources if source != head], before)}

    def _entered_at_several(self, rest: Any) -> dict[int, set[int]]:
        """The loops that are left where no edge goes back to what dominates it, by their heads."""
        found = {}
        for part in networkx.strongly_connected_components(rest):
            if len(part) < 2:
                continue
            inside = rest.subgraph(part)
            for head in sorted(part):
                if networkx.is_directed_acyclic_graph(inside.subgraph(part - {head})):
                    found[head] = part
                    break
            else:
                place = self._steps[min(part)].place
                text = "loops are entered at several places, and in each other"
                raise PathError(UNBOUNDED_LOOP, text, place, "write them without `goto`")
        return found

    def _own(self, head: int) -> list[int]:
        """The steps of a loop that are in none of its inner ones, nor in functions that it calls."""
        body, copy = self._bodies[head], self._steps[head].copy
        inner = [other for each, other in self._bodies.items() if each != head and each in body]
        return [n for n in sorted(body.difference(*inner)) if self._steps[n].copy == copy]

    def _times(self, head: int, sources: Sequence[int]) -> int:
        """How often a loop goes back to its head, each time that it is entered."""
        own = self._own(head)
        if (counted := self._counted_times(head, sources, own)) is not None:
            return counted
        times = self._stated_times(head, own)
        # if it is only left where it goes back, its head begins its body, and not a test before that
        leaving = {
            n for n in self._bodies[head] for a in self._graph.successors(n) if a not in self._bodies[head]
        }
        return max(0, times - 1) if leaving <= set(sources) else times

    def _stated_times(self, head: int, own: Sequence[int]) -> int:
        """How often the body of a loop is executed, as is stated. A compiler can make one loop of several
        that are in each other; then the bounds of all of these count."""
        stated = self._loops_of(head, own)
        if stated and all(loop.bound is not None for _, loop in stated):
            for each in stated:
                heads = self._matched.setdefault(each, set())
                if any(self._are_nested(head, other) for other in heads):
                    text = "two loops of the program, one in the other, are one loop of the source"
                    place = SourceLine(each[0], each[1].begin)
                    raise PathError(UNBOUNDED_LOOP, text, place, "make a function of what is in the loop")
                heads.add(head)
            values = [
                self._statements.evaluate(loop.bound or "", SourceLine(path, loop.begin))
                for path, loop in stated
            ]
            return prod(values)
        name = self._steps[head].function.name
        if name in self._statements.limits:
            return self._statements.limits[name]
        if (bytes := self._steps[head].bytes) is not None:
            return bytes
        places = [place for number in own for place in self._steps[number].places]
        places = [SourceLine(path, loop.begin) for path, loop in stated if loop.bound is None] or places
        raise PathError(
            UNBOUNDED_LOOP,
            f"nothing bounds a loop of `{name}`",
            places[0] if places else None,
            "write in the line of its `for` or `while`: `/* at most N times: WHY */`"
            if places
            else f"state how often each of its loops goes back at most: --limit {name}=N",
        )

    def _loops_of(self, head: int, own: Sequence[int]) -> list[tuple[str, SourceLoop]]:
        """The loops of sources that steps of a loop are from. It can have lines of loops in it, such as those
        that set their variables; these are loops of the program, too."""
        body = self._bodies[head]
        inner = [each for each in self._bodies if each != head and each in body]
        found = self._innermost(own)
        return sorted(found.difference(*(self._innermost(self._own(each)) for each in inner)) or found)

    def _innermost(self, own: Sequence[int]) -> set[tuple[str, SourceLoop]]:
        places = {place for number in own for place in self._steps[number].places}
        found = ((place.path, self._statements.loop_at(place)) for place in places)
        return {(path, loop) for path, loop in found if loop is not None}

    def _are_nested(self, one: int, other: int) -> bool:
        return one != other and (one in self._bodies[other] or other in self._bodies[one])

    def _counted_times(self, head: int, sources: Sequence[int], own: Sequence[int]) -> int | None:
        """How often a loop goes back that counts to a constant; None: that is not seen."""
        step, body = self._steps[head], self._bodies[head]
        before = self._constants_before(head, sources)
        if step.block.instructions and step.block.last.repeated:
            return before.get("rcx")  # what QEMU executes once more
        inside = [self._steps[n].block for n in sorted(body) if self._steps[n].copy == step.copy]
        always = [n for n in own if all(self._dominates(n, source) for source in sources)]
        found = []
        for number in always:
            block = self._steps[number].block
            staying = [n for n in self._graph.successors(number) if n in body]
            if not block.instructions or block.last.flow is not Follow.BRANCH or len(staying) != 1:
                continue

            def order(other: Block, number: int = number) -> bool | None:
                place = next((n for n in always if self._steps[n].block is other), None)
                return None if place is None else self._dominates(place, number)

            stays = self._steps[staying[0]].start == block.last.target
            times = times_gone_on(block, stays, inside, before, step.function.program, order)
            if times is not None and len(set(block.successors)) == 2:
                found.append(times)
        return min(found, default=None)

    def _constants_before(self, head: int, sources: Sequence[int]) -> Mapping[str, int]:
        """What is in registers wherever a loop is entered."""
        step = self._steps[head]
        entries: list[Mapping[str, int]] = []
        for each in self._graph.predecessors(head):
            if each in sources:
                continue
            entry = self._steps[each] if each != BEGIN else None
            if entry is None or entry.copy != step.copy:
                return {}
            known = entry.function.before.get(entry.start, {})
            entries.append(constants_after(entry.function.program, entry.block.instructions, known))
        first = entries[0] if entries else {}
        return {r: v for r, v in first.items() if all(each.get(r) == v for each in entries)}
