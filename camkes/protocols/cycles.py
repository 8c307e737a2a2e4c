# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The order of callers and callees, what they lead to, and cycles among them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Protocol, TypeVar


class RequestEdge(Protocol):
    """A request from one node to another."""

    @property
    def caller(self) -> str: ...
    @property
    def callee(self) -> str: ...


AnyEdge = TypeVar("AnyEdge", bound=RequestEdge)
Node = TypeVar("Node", bound=Hashable)
Step = TypeVar("Step")


def walk(
    starts: Iterable[Node], steps: Callable[[Node], Iterable[tuple[Node, Step]]]
) -> dict[Node, tuple[Node, Step] | None]:
    """These nodes and all that they lead to, in the order in which they are found, each with the node and the
    step that first led to it (a start: None). `steps` of a node are other nodes, with what leads there."""
    found: dict[Node, tuple[Node, Step] | None] = dict.fromkeys(starts)
    queue = list(found)
    for node in queue:
        for other, step in steps(node):
            if other not in found:
                found[other] = node, step
                queue.append(other)
    return found


def path(found: Mapping[Node, tuple[Node, Step] | None], node: Node) -> list[Step]:
    """The steps of a shortest path to a node that `walk` found."""
    steps: list[Step] = []
    while (before := found[node]) is not None:
        node, step = before
        steps.append(step)
    return steps[::-1]


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """These nodes and all that they lead to, each once, in the order in which they are found."""
    return list(walk(starts, lambda node: ((other, None) for other in following(node))))


def has_cycle(successors: Mapping[str, Sequence[str]]) -> bool:
    """Whether a node can reach itself."""
    try:
        TopologicalSorter(successors).prepare()
    except CycleError:
        return True
    return False


def strongly_connected(successors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The strongly connected components, callers first; each in the order of `successors`.

    All successors are keys. networkx takes longer to import than a small system to check, so that it is used
    only where there is a cycle.
    """
    try:
        callees_first = [[name] for name in TopologicalSorter(successors).static_order()]
    except CycleError:
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(successors)
        graph.add_edges_from((name, callee) for name, callees in successors.items() for callee in callees)
        position = {name: i for i, name in enumerate(successors)}
        condensed = networkx.condensation(graph)
        return [
            sorted(condensed.nodes[component]["members"], key=position.__getitem__)
            for component in networkx.topological_sort(condensed)
        ]
    return callees_first[::-1]


def shortest_cycle(outgoing: Mapping[str, Sequence[AnyEdge]], component: Sequence[str]) -> list[AnyEdge]:
    """A shortest cycle within a strongly connected component, the first one in the order of the text;
    empty if there is none."""
    members = set(component)
    best: list[AnyEdge] = []
    for start in component:
        steps: dict[str, AnyEdge] = {}
        level = [start]
        depth = 0
        while level and start not in steps and (not best or depth + 1 < len(best)):
            depth += 1
            following: list[str] = []
            for name in level:
                for edge in outgoing[name]:
                    if edge.callee in members and edge.callee not in steps:
                        steps[edge.callee] = edge
                        following.append(edge.callee)
            level = following
        if start in steps:
            best = [steps[start]]
            while best[0].caller != start:
                best.insert(0, steps[best[0].caller])
    return best
