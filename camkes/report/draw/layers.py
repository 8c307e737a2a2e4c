# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Places the nodes of a directed graph in layers, callers above callees, with few crossings.

The usual steps: edges that close a cycle are turned round, a node's layer is the longest way to it, an
edge over several layers gets a bend in each, layers are ordered by where neighbours are, and then
nodes move towards their neighbours as far as there is room. No step depends on a hash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

GAP_X = 34.0
GAP_Y = 58.0
BEND = 10.0  # room for an edge that passes through a layer
ROUNDS = 12

Point = tuple[float, float]


class Layout(Struct, frozen=True):
    """Middles of nodes, and for each edge its bends from source to target, without its ends."""

    places: Mapping[str, Point]
    bends: Mapping[tuple[str, str], tuple[Point, ...]]
    width: float
    height: float


def lay_out(sizes: Mapping[str, tuple[float, float]], edges: Sequence[tuple[str, str]]) -> Layout:
    """Place nodes of these sizes. Edges name nodes; edges from a node to itself take no part."""
    edges = list(dict.fromkeys((a, b) for a, b in edges if a != b))
    turned = _closing(list(sizes), edges)
    forward = [(b, a) if (a, b) in turned else (a, b) for a, b in edges]
    level = _levels(list(sizes), forward)
    layers: list[list[str]] = [[] for _ in range(max(level.values(), default=0) + 1)]
    for name in sizes:
        layers[level[name]].append(name)
    # bends are nodes of no height named after their edge
    links: list[tuple[str, str]] = []
    chains: dict[tuple[str, str], list[str]] = {}
    for original, (a, b) in zip(edges, forward, strict=True):
        chain = [f"{a}\0{b}\0{step}" for step in range(level[a] + 1, level[b])]
        for step, bend in enumerate(chain, level[a] + 1):
            layers[step].append(bend)
        links += zip((a, *chain), (*chain, b), strict=True)
        chains[original] = chain[::-1] if original in turned else chain
    width = {name: sizes[name][0] if name in sizes else BEND for layer in layers for name in layer}
    above: dict[str, list[str]] = {name: [] for name in width}
    below: dict[str, list[str]] = {name: [] for name in width}
    for a, b in links:
        above[b].append(a)
        below[a].append(b)
    _order(layers, above, below)
    x = _columns(layers, width, above, below)
    y: list[float] = []
    top = 0.0
    for layer in layers:
        tallest = max((sizes[name][1] for name in layer if name in sizes), default=0.0)
        y.append(top + tallest / 2)
        top += tallest + GAP_Y
    row = {name: y[number] for number, layer in enumerate(layers) for name in layer}
    return Layout(
        {name: (x[name], row[name]) for name in sizes},
        {edge: tuple((x[bend], row[bend]) for bend in chain) for edge, chain in chains.items()},
        max((x[name] + width[name] / 2 for name in x), default=0.0),
        max(top - GAP_Y, 0.0),
    )


def _closing(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Edges that lead back to a node from which the search came."""
    following: dict[str, list[str]] = {node: [] for node in nodes}
    for a, b in edges:
        following[a].append(b)
    done: set[str] = set()
    closing: set[tuple[str, str]] = set()
    for root in nodes:
        if root in done:
            continue
        path = {root: iter(following[root])}  # in order of insertion: the way from the root
        while path:
            node, rest = next(reversed(path.items()))
            child = next(rest, None)
            if child is None:
                path.pop(node)
                done.add(node)
            elif child in path:
                closing.add((node, child))
            elif child not in done:
                path[child] = iter(following[child])
    return closing


def _levels(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The longest way to each node."""
    level = dict.fromkeys(nodes, 0)
    changed = True
    while changed:
        changed = False
        for a, b in edges:
            if level[b] <= level[a]:
                level[b] = level[a] + 1
                changed = True
    return level


def _order(layers: list[list[str]], above: Mapping[str, list[str]], below: Mapping[str, list[str]]) -> None:
    """Sort each layer by the mean position of neighbours, down and up in turn; keep the best."""
    best = [list(layer) for layer in layers]
    fewest = _crossings(layers, below)
    for turn in range(ROUNDS):
        down = turn % 2 == 0
        neighbours = above if down else below
        sequence = range(1, len(layers)) if down else range(len(layers) - 2, -1, -1)
        for number in sequence:
            fixed = layers[number - 1 if down else number + 1]
            position = {name: float(i) for i, name in enumerate(fixed)}
            own = {name: float(i) for i, name in enumerate(layers[number])}
            mean = {
                name: sum(position[n] for n in neighbours[name]) / len(neighbours[name])
                if neighbours[name]
                else own[name]
                for name in layers[number]
            }
            layers[number].sort(key=lambda name, mean=mean: mean[name])  # type: ignore[misc]
        crossings = _crossings(layers, below)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _crossings(layers: Sequence[Sequence[str]], below: Mapping[str, list[str]]) -> int:
    total = 0
    for upper, lower in pairwise(layers):
        position = {name: i for i, name in enumerate(lower)}
        ends = [position[b] for a in upper for b in sorted(below[a], key=position.__getitem__)]
        starts = [i for i, a in enumerate(upper) for _ in below[a]]
        total += sum(
            1
            for i in range(len(ends))
            for j in range(i + 1, len(ends))
            if starts[i] < starts[j] and ends[i] > ends[j]
        )
    return total


def _columns(
    layers: Sequence[Sequence[str]],
    width: Mapping[str, float],
    above: Mapping[str, list[str]],
    below: Mapping[str, list[str]],
) -> dict[str, float]:
    """Where nodes stand in their layers: near their neighbours, in order, without overlap."""
    x: dict[str, float] = {}
    for layer in layers:
        at = 0.0
        for name in layer:
            x[name] = at + width[name] / 2
            at += width[name] + GAP_X
    for turn in range(2 * ROUNDS):
        for layer in layers if turn % 2 == 0 else reversed(layers):
            wanted = []
            for name in layer:
                near = (above[name] or below[name]) if turn % 2 == 0 else (below[name] or above[name])
                wanted.append(sum(x[n] for n in near) / len(near) if near else x[name])
            for name, place in zip(layer, _spread(wanted, [width[n] for n in layer]), strict=True):
                x[name] = place
    left = min((x[name] - width[name] / 2 for name in x), default=0.0)
    return {name: place - left for name, place in x.items()}


def _spread(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Places in the given order, apart by widths and gaps, with the least squared distance to `wanted`.

    Neighbours that would overlap become a block that moves as one, to the mean of what its members want.
    """
    offset = 0.0
    offsets = []
    for number, size in enumerate(widths):
        if number:
            offset += (widths[number - 1] + size) / 2 + GAP_X
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []  # (sum of wanted - offset, members)
    for place, own in zip(wanted, offsets, strict=True):
        block = (place - own, 1)
        while blocks and blocks[-1][0] / blocks[-1][1] >= block[0] / block[1]:
            total, members = blocks.pop()
            block = (block[0] + total, block[1] + members)
        blocks.append(block)
    means = [total / members for total, members in blocks for _ in range(members)]
    return [mean + own for mean, own in zip(means, offsets, strict=True)]
