# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How many requests can be under way at one place at once.

Own code: a library for maximum flow takes longer to import than a usual system with nested locks takes to
check. The tests compare it with networkx.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from camkes.protocols.bits import bits

# A node is searched at two places: its entry (where it takes a request) is `2 * node`, its exit (where
# it passes one on) is `2 * node + 1`.


def largest_number(target: int, callers: Mapping[int, Sequence[int]], limit: int) -> int:
    """The largest number of requests that can be at `target` together, coming from nodes without callers.

    `target` is a negative number and makes no calls; every other node lets one request through. This is a
    maximum flow with unit capacities at the nodes: the number of ways to `target` that share no node
    (Menger). Each augmenting path is searched backwards from the target. What a failed search has seen
    never becomes useful again, so all failed searches together see each place once. `limit` is a bound
    that the caller knows: the number of nodes without callers.
    """
    passes_to: dict[int, int] = {}  # a node that lets a request through -> where this request goes
    exhausted: set[int] = set()
    found = 0
    for first in dict.fromkeys(callers[target]):
        if found == limit:
            return found
        came_from: dict[int, int] = {2 * first + 1: target}
        source = _search(2 * first + 1, target, callers, passes_to, came_from, exhausted)
        if source is None:
            exhausted.update(came_from)
        else:
            _augment(source, target, came_from, passes_to)
            found += 1
    return found


def _search(
    start: int,
    target: int,
    callers: Mapping[int, Sequence[int]],
    passes_to: Mapping[int, int],
    came_from: dict[int, int],
    exhausted: set[int],
) -> int | None:
    """The entry of a free node without callers from which one more request can come to `start`.

    A place gets a request from above, or gets back one that it gave: then its receiver has to look.
    """
    stack = [start]
    while stack:
        place = stack.pop()
        if place in exhausted:
            continue
        node = place >> 1
        receiver = passes_to.get(node)
        if place & 1:
            if receiver == target:
                continue
            suppliers = [2 * (node if receiver is None else receiver)]
        else:
            suppliers = [2 * caller + 1 for caller in callers[node]]
            if receiver is not None:
                suppliers.append(2 * node + 1)
            elif not suppliers:
                return place
        for supplier in suppliers:
            if supplier not in came_from:
                came_from[supplier] = place
                stack.append(supplier)
    return None


def _augment(source: int, target: int, came_from: Mapping[int, int], passes_to: dict[int, int]) -> None:
    """Let one more request come along the path that a search found."""
    place = source
    while place != target:
        asked_by = came_from[place]
        node = place >> 1
        if place & 1:
            if asked_by == target:
                passes_to[node] = target
            elif asked_by >> 1 == node:
                del passes_to[node]
            else:
                passes_to[node] = asked_by >> 1
        place = asked_by


class NearestCallers(dict[int, list[int]]):
    """The nearest places above a task or CPI, numbered tasks first, then the CPIs, once asked for."""

    def __init__(self, tasks: int, cpis: Sequence[str], nearest: Mapping[str, int]) -> None:
        self._tasks = tasks
        self._cpis = cpis
        self._nearest = nearest

    def __missing__(self, node: int) -> list[int]:
        cpi = node - self._tasks
        found = self[node] = [] if cpi < 0 else bits(self._nearest[self._cpis[cpi]])
        return found
