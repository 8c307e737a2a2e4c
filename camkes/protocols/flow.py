# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How many requests can be under way at one place at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class _Place(NamedTuple):
    """A node's entry (where it takes a request) or its exit (where it passes one on)."""

    node: int
    exit: bool


def largest_number(target: int, callers: Mapping[int, Sequence[int]]) -> int:
    """The largest number of requests that can be at `target` together, coming from nodes without callers.

    `target` calls nobody; every other node lets one request through. This is a maximum flow with unit
    capacities at the nodes: the number of ways to `target` that share no node (Menger). Each augmenting
    path is searched backwards from the target. What a failed search has seen never becomes useful
    again, so all failed searches together see each place once.
    """
    passes_to: dict[int, int] = {}  # a node that lets a request through -> where this request goes
    exhausted: set[_Place] = set()
    found = 0
    for first in dict.fromkeys(callers[target]):
        came_from: dict[_Place, _Place | None] = {_Place(first, True): None}
        source = _search(target, callers, passes_to, came_from, exhausted)
        if source is None:
            exhausted.update(came_from)
        else:
            _augment(target, source, came_from, passes_to)
            found += 1
    return found


def _search(
    target: int,
    callers: Mapping[int, Sequence[int]],
    passes_to: Mapping[int, int],
    came_from: dict[_Place, _Place | None],
    exhausted: set[_Place],
) -> _Place | None:
    """The entry of a free node without callers from which a further request can come."""
    stack = list(came_from)
    while stack:
        place = stack.pop()
        if place in exhausted:
            continue
        if not place.exit and not callers[place.node] and place.node not in passes_to:
            return place
        for following in _suppliers(place, target, callers, passes_to):
            if following not in came_from and following not in exhausted:
                came_from[following] = place
                stack.append(following)
    return None


def _suppliers(
    place: _Place, target: int, callers: Mapping[int, Sequence[int]], passes_to: Mapping[int, int]
) -> Iterator[_Place]:
    """From where a place could get one more request, or get back one that it gave."""
    node = place.node
    receiver = passes_to.get(node)
    if place.exit:
        if receiver is None:
            yield _Place(node, False)
        elif receiver != target:
            yield _Place(receiver, False)
        return
    if receiver is not None:
        yield _Place(node, True)
    for caller in callers[node]:
        yield _Place(caller, True)


def _augment(
    target: int, source: _Place, came_from: Mapping[_Place, _Place | None], passes_to: dict[int, int]
) -> None:
    """Let one more request come along the path that a search found."""
    place: _Place | None = source
    while place is not None:
        asked_by = came_from[place]
        if place.exit:
            if asked_by is None:
                passes_to[place.node] = target
            elif asked_by.node == place.node:
                del passes_to[place.node]
            else:
                passes_to[place.node] = asked_by.node
        place = asked_by
