# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The number of requests that can meet, against a library for flows."""

from __future__ import annotations

import random

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.protocols.flow import largest_number
from tests.examples import examples

pytestmark = pytest.mark.requirement("PLAN-2")


def reference(callers: dict[int, list[int]], target: int) -> int:
    """Maximum flow with every node but the target split into an entry and an exit of capacity 1."""
    graph = networkx.DiGraph()
    graph.add_node("source")
    graph.add_node((target, "in"))
    for node, found in callers.items():
        if node != target:
            graph.add_edge((node, "in"), (node, "out"), capacity=1)
            if not found:
                graph.add_edge("source", (node, "in"), capacity=1)
        for caller in found:
            graph.add_edge((caller, "out"), (node, "in"), capacity=1)
    return int(networkx.maximum_flow_value(graph, "source", (target, "in")))


@given(st.integers(0, 10_000_000), st.integers(2, 40), st.floats(1, 4), st.booleans())
@examples(200)
def test_like_maximum_flow(seed: int, size: int, density: float, cycles: bool) -> None:
    generator = random.Random(seed)
    sources = size // 3 + 1
    callers: dict[int, list[int]] = {node: [] for node in range(size)}
    for node in range(sources, size):
        below = size if cycles else node
        callers[node] = [n for n in range(below) if n != node and generator.random() < density / below]
        callers[node] = callers[node] or [generator.randrange(sources)]
    callers[-1] = generator.sample(range(size), generator.randint(1, min(size, 8)))
    assert largest_number(-1, callers, sources) == reference(callers, -1)
