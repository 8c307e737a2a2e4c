# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How often code calls an interface at most, on any way through its functions.

A loop that ends after a constant number of iterations counts as many times. Where there is no bound, as in
another loop, in a recursion or through a pointer, nothing is counted: then the count has to be stated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from camkes.callgraph.flow import FlowBlock, FunctionFlow
from camkes.callgraph.gcc import CallPlace
from camkes.callgraph.graph import CallGraph, Function
from camkes.protocols.cycles import strongly_connected

#: Ends a job.
NEXT_JOB = "camkes_next_job"


class NotCountedError(Exception):
    """There is no bound for the calls; `why` completes "calls ...", `place` is where, if that is known."""

    def __init__(self, why: str, place: CallPlace | None) -> None:
        super().__init__(why)
        self.why = why
        self.place = place


class CallCounter:
    """Counts calls of the functions `targets`, which serve one interface."""

    def __init__(self, graph: CallGraph, targets: Collection[str], handlers: Collection[str]) -> None:
        self._graph = graph
        self._targets = targets
        self._leading = graph.leading_to(targets)
        self._handlers = handlers
        self._known: dict[Function, int] = {}
        self._under_way: set[Function] = set()

    def of_request(self, roots: Collection[str]) -> int:
        """The most calls of one request, which is one call of one of the roots."""
        return max((self._calls(self._graph.linked(name), None) for name in roots), default=0)

    def of_job(self, root: str) -> int:
        """The most calls of a job: `root` is called for the first, and `camkes_next_job` begins the others.
        What is done before that is called for the first time is part of the first job."""
        function = self._graph.linked(root)
        flow = self._graph.flow(function)
        if function not in self._leading or flow is None:
            return self._calls(function, None)
        before, *jobs = self._ways(function, flow, cut=True)
        return before + max(jobs, default=0)

    def _calls(self, function: Function, place: CallPlace | None) -> int:
        if function not in self._leading:
            return 0
        if not function.unit and function.name in self._targets:
            if self._graph.handed_to(self._handlers) & self._leading:
                raise NotCountedError("in the error handler", place)
            return 1
        if function in self._under_way:
            raise NotCountedError("in a function that calls itself", place)
        if function not in self._known:
            self._under_way.add(function)
            self._known[function] = self._inside(function, place)
            self._under_way.discard(function)
        return self._known[function]

    def _inside(self, function: Function, place: CallPlace | None) -> int:
        flow = self._graph.flow(function)
        if flow is not None:
            return max(self._ways(function, flow, cut=False))
        others = [other for other in self._graph.same(function) if self._graph.flow(other) is not None]
        if not others:
            raise NotCountedError("in code that GCC did not compile", place)
        return self._calls(others[0], place)

    def _ways(self, function: Function, flow: FunctionFlow, *, cut: bool) -> list[int]:
        """The most calls on a way from the beginning of a function; and, if its blocks are `cut` where a job
        begins, on a way from each of these places, all of which end there."""
        self._no_doubt(function, flow)
        weights: dict[str, int] = {}
        after: dict[str, Sequence[str]] = {}
        starts = [str(number) for number in list(flow.blocks)[:1]]
        for number, block in flow.blocks.items():
            node = str(number)
            weights[node] = 0
            for index, call in enumerate(block.calls):
                if cut and call.name == NEXT_JOB:
                    after[node] = []
                    node = f"{number}.{index}"
                    starts.append(node)
                    weights[node] = 0
                weights[node] += self._calls(self._graph.callee(function, call.name), call.place)
            after[node] = [*map(str, block.successors)]
        counted = {str(block): times for block, times in flow.counted.items()}

        def unbounded(nodes: Collection[str]) -> NotCountedError:
            numbers = {int(node.partition(".")[0]) for node in nodes if weights[node]}
            blocks = {number: flow.blocks[number] for number in sorted(numbers)}
            return NotCountedError("in a loop with no constant bound", self._place(function, blocks))

        return [max(longest(after, weights, counted, start, unbounded).values()) for start in starts]

    def _no_doubt(self, function: Function, flow: FunctionFlow) -> None:
        """Raise NotCountedError where the flow does not show all calls of the function."""
        for step in self._graph.hidden_steps(function, self._targets):
            if step.callee in self._leading:
                why = "in assembly" if step.sure else "through a pointer"
                raise NotCountedError(why, step.place)
        if flow.hidden:
            place = self._place(function, flow.blocks)
            raise NotCountedError("in a function with jumps that cannot be followed", place)

    def _place(self, function: Function, blocks: Mapping[int, FlowBlock]) -> CallPlace | None:
        """Where blocks of a function call what leads to a target."""
        calls = [call for block in blocks.values() for call in block.calls]
        found = (call.place for call in calls if self._graph.callee(function, call.name) in self._leading)
        return next(found, None)


def endless_loop(graph: CallGraph, roots: Collection[str]) -> CallPlace | None:
    """A place in a loop that nothing leaves and in which no job ends, in one of the roots or a function that
    is called from there; None: there is none that has a call."""
    ending = graph.leading_to([NEXT_JOB])
    waiting = [graph.linked(name) for name in roots]
    seen = set(waiting)
    for function in waiting:
        flow = graph.flow(function)
        if flow is None:
            continue
        for names in strongly_connected({str(n): [*map(str, b.successors)] for n, b in flow.blocks.items()}):
            part = sorted(map(int, names))
            after = {other for number in part for other in flow.blocks[number].successors}
            calls = [call for number in part for call in flow.blocks[number].calls]
            left = not after or not after <= set(part)
            ends = any(graph.callee(function, call.name) in ending for call in calls)
            if not left and not ends and calls:
                return calls[0].place
        for block in flow.blocks.values():
            for call in block.calls:
                callee = graph.callee(function, call.name)
                if callee not in seen:
                    seen.add(callee)
                    waiting.append(callee)
    return None


def longest(
    after: Mapping[str, Sequence[str]],
    weights: Mapping[str, int],
    counted: Mapping[str, int],
    start: str,
    unbounded: Callable[[Collection[str]], Exception],
) -> dict[str, int]:
    """For each node that can be reached, the greatest sum of weights on a way from `start` to its end. A loop
    goes back to its first node as often as in `counted`; where a loop with weights is not
    in it, `unbounded` of its nodes is raised."""
    before = {start: 0}
    found: dict[str, int] = {}
    for part in strongly_connected(after):
        entries = [node for node in part if node in before]
        if not entries:
            continue
        inside = set(part)
        if len(part) == 1 and part[0] not in after[part[0]]:
            sums = {part[0]: before[part[0]] + weights[part[0]]}
        elif not any(weights[node] for node in part):
            sums = dict.fromkeys(part, max(before[node] for node in entries))
        else:
            first = entries[0]
            if len(entries) > 1 or first not in counted:
                raise unbounded(part)
            once = {node: [o for o in after[node] if o in inside and o != first] for node in part}
            passed = longest(once, weights, counted, first, unbounded)
            again = counted[first] * max(passed[node] for node in part if first in after[node])
            sums = {node: before[first] + again + passed[node] for node in part}
        found |= sums
        for node, value in sums.items():
            for other in after[node]:
                if other not in inside:
                    before[other] = max(value, before.get(other, 0))
    return found
