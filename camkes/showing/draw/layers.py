# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Places the nodes of a directed graph in layers, callers above callees, where Graphviz is not installed.

A node's layer is the longest path to it; an edge over several layers gets a bend in each; layers are ordered
by where neighbours are and centred. No step depends on a hash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

GAP_X = 34.0
GAP_Y = 58.0
FRAME = 12.0  # between a frame and the nodes in it
BEND = 10.0  # width of an edge that passes through a layer
SWEEPS = 8

Point = tuple[float, float]


def turned(point: Point) -> Point:
    """The same of a picture whose axes are exchanged."""
    return point[1], point[0]


class Route(Struct, frozen=True):
    """The points of a line of cubic Bézier curves (1 + 3 a curve), and the middle of the edge's label."""

    points: tuple[Point, ...]
    label: Point


class GraphLayout(Struct, frozen=True):
    """Middles of nodes, and a route for each edge; y grows downwards."""

    places: Mapping[str, Point]
    routes: tuple[Route, ...]
    width: float
    height: float

    def turned(self) -> GraphLayout:
        """What was below something is to its right."""
        places = {name: turned(place) for name, place in self.places.items()}
        routes = tuple(Route(tuple(map(turned, route.points)), turned(route.label)) for route in self.routes)
        return GraphLayout(places, routes, self.height, self.width)


def lay_out(sizes: Mapping[str, Point], edges: Sequence[tuple[str, str]]) -> GraphLayout:
    """Place nodes of these sizes, width and height. Edges name nodes."""
    following: dict[str, list[str]] = {name: [] for name in sizes}
    for a, b in edges:
        following[a].append(b)
    order = _topological(following)
    level = dict.fromkeys(sizes, 0)
    for a in order:
        for b in following[a]:
            if order[b] > order[a]:
                level[b] = max(level[b], level[a] + 1)
    layers: list[list[str]] = [[] for _ in range(max(level.values(), default=0) + 1)]
    for name in sizes:
        layers[level[name]].append(name)
    # bends are nodes of no height named after their edge
    chains: dict[tuple[str, str], list[str]] = {}
    near: dict[str, list[str]] = {name: [] for name in sizes}
    for a, b in dict.fromkeys(edges):
        upper, lower = sorted((a, b), key=level.__getitem__)
        bends = [f"{a}\0{b}\0{step}" for step in range(level[upper] + 1, level[lower])]
        for step, bend in enumerate(bends, level[upper] + 1):
            layers[step].append(bend)
        for one, two in pairwise((upper, *bends, lower)):
            near.setdefault(one, []).append(two)
            near.setdefault(two, []).append(one)
        chains[a, b] = bends if upper == a else bends[::-1]
    _order(layers, near)
    widths = {name: sizes[name][0] if name in sizes else BEND for layer in layers for name in layer}
    heights = [max(sizes[name][1] if name in sizes else 0.0 for name in layer) for layer in layers if layer]
    spans = [sum(widths[name] for name in layer) + GAP_X * (len(layer) - 1) for layer in layers]
    places: dict[str, Point] = {}
    y = 0.0
    for layer, span, height in zip(layers, spans, heights, strict=False):
        x = (max(spans) - span) / 2
        for name in layer:
            places[name] = (x + widths[name] / 2, y + height / 2)
            x += widths[name] + GAP_X
        y += height + GAP_Y
    return GraphLayout(
        {name: places[name] for name in sizes},
        tuple(_route(a, b, [places[bend] for bend in chains[a, b]], places, sizes) for a, b in edges),
        max(spans),
        max(y - GAP_Y, 0.0),
    )


def _topological(following: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """A number for each node that is lower than those that follow it, but for edges that close a cycle."""
    finished: list[str] = []
    seen: set[str] = set()
    for root in following:
        path = [] if root in seen else [(root, iter(following[root]))]
        seen.add(root)
        while path:
            child = next((node for node in path[-1][1] if node not in seen), None)
            if child is None:
                finished.append(path.pop()[0])
            else:
                seen.add(child)
                path.append((child, iter(following[child])))
    return {name: number for number, name in enumerate(reversed(finished))}


def _order(layers: list[list[str]], near: Mapping[str, Sequence[str]]) -> None:
    """Sort each layer by the mean position of neighbours in the layer before it, down and up in turn."""
    for sweep in range(SWEEPS):
        for before, layer in pairwise(layers if sweep % 2 == 0 else layers[::-1]):
            position = {name: index / len(before) for index, name in enumerate(before)}
            wanted = {name: index / len(layer) for index, name in enumerate(layer)}
            for name in layer:
                if found := [position[other] for other in near[name] if other in position]:
                    wanted[name] = sum(found) / len(found)
            layer.sort(key=wanted.__getitem__)


def _route(
    source: str, target: str, bends: Sequence[Point], places: Mapping[str, Point], sizes: Mapping[str, Point]
) -> Route:
    (x0, y0), (x1, y1) = places[source], places[target]
    if source == target:
        right = x0 + sizes[source][0] / 2
        loop = ((right, y0 - 8), (right + 34, y0 - 24), (right + 34, y0 + 24), (right, y0 + 8))
        return Route(loop, (right + 30, y0))
    down = 1.0 if y1 >= y0 else -1.0
    start, end = (x0, y0 + down * sizes[source][1] / 2), (x1, y1 - down * sizes[target][1] / 2)
    points = [start]
    for (x, y), (u, v) in pairwise((start, *bends, end)):
        half = (v - y) / 2
        points += [(x, y + half), (u, v - half), (u, v)]
    return Route(tuple(points), ((points[0][0] + points[3][0]) / 2, (points[0][1] + points[3][1]) / 2))
