# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Strongly connected components and shortest cycles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from camkes.protocols.cycles import has_cycle, shortest_cycle, strongly_connected

pytestmark = pytest.mark.requirement("CHECK-3")

NAMES = "abcdefg"
#: Mutation runs have these tests only: not fewer examples than Hypothesis would take.
MORE = settings(max_examples=max(100, settings.default.max_examples))


class Edge(Struct, frozen=True):
    caller: str
    callee: str


def reachable(successors: dict[str, list[str]], start: str) -> set[str]:
    found: set[str] = set()
    stack = [start]
    while stack:
        for name in successors[stack.pop()]:
            if name not in found:
                found.add(name)
                stack.append(name)
    return found


@given(st.fixed_dictionaries({name: st.lists(st.sampled_from(NAMES), max_size=3) for name in NAMES}))
@MORE
def test_components_and_cycles(successors: dict[str, list[str]]) -> None:
    reach = {name: reachable(successors, name) for name in NAMES}
    components = strongly_connected(successors)
    assert sorted(name for component in components for name in component) == list(NAMES)
    place = {name: i for i, component in enumerate(components) for name in component}
    for a in NAMES:
        for b in NAMES:
            assert (place[a] == place[b]) == (a == b or (b in reach[a] and a in reach[b]))
            assert place[a] <= place[b] or b not in reach[a]
    order = list(successors)
    assert all(component == sorted(component, key=order.index) for component in components)
    assert has_cycle(successors) == any(name in reach[name] for name in NAMES)
    outgoing = {name: [Edge(name, callee) for callee in successors[name]] for name in NAMES}
    for component in components:
        cycle = shortest_cycle(outgoing, component)
        assert bool(cycle) == (component[0] in reach[component[0]])
        assert [edge.callee for edge in cycle] == [edge.caller for edge in cycle[1:] + cycle[:1]]
        through = [around(successors, name) for name in component]
        shortest = min((length for length in through if length), default=0)
        assert len(cycle) == shortest
        if cycle:
            assert cycle[0].caller == component[through.index(shortest)]


def around(successors: dict[str, list[str]], start: str) -> int:
    """The length of a shortest way from a node to itself, 0: there is none."""
    level, seen, length = {start}, set[str](), 0
    while level:
        length += 1
        level = {callee for name in level for callee in successors[name]} - seen
        if start in level:
            return length
        seen |= level
    return 0
