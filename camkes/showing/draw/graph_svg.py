# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Draws a request graph as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from camkes.model.system import System
from camkes.protocols.plan import Plan
from camkes.showing.draw.graph import (
    COLOURS,
    CONDITION,
    CYCLE_COLOUR,
    HELPED,
    INSTANCE,
    ORDERS,
    SCHEDULER,
    TASK,
    WAITS,
    Graph,
    GraphEdge,
    GraphNode,
    make_graph,
)
from camkes.showing.draw.graphviz import dot_layout
from camkes.showing.draw.layers import GraphLayout, Point, Route, lay_out, turned
from camkes.showing.draw.svg import FAINT, INK, Drawing, element, framed, text, text_width, title

MARGIN = 28.0
NAME = 13.0
SMALL = 11.0
LABEL = 10.0
EDGE = "#52606d"
WIDEST = 1600.0  # a graph that is wider has its requests from left to right, not downwards


def graph_svg(plan: Plan, system: System, cycle: Sequence[str] = (), *, use_dot: bool = True) -> str:
    """The graph as a picture: laid out by Graphviz's `dot` if that is installed. `cycle` names CPIs each of
    which requests the next, and the last the first."""
    return _Picture(make_graph(plan, system, cycle), set(cycle), use_dot).draw(system.root.path.stem)


class _Picture:
    def __init__(self, graph: Graph, on_cycle: Set[str], use_dot: bool) -> None:
        self.graph, self.on_cycle = graph, on_cycle
        self.sizes = {node.name: _size(node) for node in graph.nodes}
        ends = [(edge.source, edge.target) for edge in graph.edges]
        labels = [(text_width(e.label, LABEL) + 16, 16.0) if e.label else None for e in graph.edges]

        def layout(sizes: Mapping[str, Point], labels: Sequence[Point | None]) -> GraphLayout:
            return (dot_layout(sizes, ends, labels) if use_dot else None) or lay_out(sizes, ends)

        self.layout = layout(self.sizes, labels)
        if self.layout.width > WIDEST:
            sizes = {name: turned(size) for name, size in self.sizes.items()}
            other = layout(sizes, [None if label is None else turned(label) for label in labels])
            if other.height < self.layout.width:
                self.layout = other.turned()

    def draw(self, heading: str) -> str:
        keys = [(kind, _words(kind)) for kind in dict.fromkeys(node.kind for node in self.graph.nodes)]
        loose = any(edge.loose for edge in self.graph.edges)
        legend = sum(38 + text_width(words, SMALL) for _, words in keys) - 14
        legend += 48 + text_width("perhaps", SMALL) if loose else 0
        inner = max(self.layout.width, legend)
        height = self.layout.height + 2 * MARGIN
        self.drawing = Drawing(inner + 2 * MARGIN, height + 44, f"Requests of {heading}")
        self.shift = (MARGIN + (inner - self.layout.width) / 2, MARGIN)
        for colour, key in ((EDGE, "edge"), (CYCLE_COLOUR, "cycle")):
            head = element("path", d="M0,0 L9,4 L0,8 L2.4,4 z", fill=colour)
            self.drawing.define(
                key,
                f'<marker id="{key}" markerWidth="10" markerHeight="8" refX="8.5" refY="4" orient="auto" '
                f'markerUnits="userSpaceOnUse">{head}</marker>',
            )
        for edge, route in zip(self.graph.edges, self.layout.routes, strict=True):
            self._edge(edge, route)
        for node in self.graph.nodes:
            self._node(node)
        self._legend(keys, loose, MARGIN + (inner - legend) / 2, height + 22)
        return self.drawing.render()

    def _legend(self, keys: Sequence[tuple[str, str]], loose: bool, x: float, y: float) -> None:
        add = self.drawing.add
        for kind, words in keys:
            fill, border = COLOURS[kind]
            corner = _corner(kind, 12)
            add(element("rect", x=x, y=y - 10, width=18, height=12, rx=corner, fill=fill, stroke=border))
            add(text(x + 24, y, words, font_size=SMALL, fill=FAINT))
            x += 38 + text_width(words, SMALL)
        if loose:
            line = f"M{x:.2f},{y - 4:.2f} h28"
            add(element("path", d=line, stroke=EDGE, stroke_width=1.3, stroke_dasharray="5 3"))
            add(text(x + 34, y, "perhaps", font_size=SMALL, fill=FAINT))

    def _node(self, node: GraphNode) -> None:
        x, y = _moved(self.layout.places[node.name], self.shift)
        width, height = self.sizes[node.name]
        fill, border = COLOURS[node.kind]
        red = node.name in self.on_cycle
        self.drawing.add(
            element(
                "rect",
                title(f"{node.name}: {', '.join(node.lines)}"),
                x=x - width / 2,
                y=y - height / 2,
                width=width,
                height=height,
                rx=_corner(node.kind, min(height, 36)),
                fill=fill,
                stroke=CYCLE_COLOUR if red else border,
                stroke_width=2.2 if red else 1.2,
            )
        )
        line = y - height / 2 + 20
        self.drawing.add(text(x, line, node.name, font_size=NAME, font_weight="600", text_anchor="middle"))
        for words in node.lines:
            line += 15
            self.drawing.add(text(x, line, words, font_size=SMALL, text_anchor="middle", fill=INK))

    def _edge(self, edge: GraphEdge, route: Route) -> None:
        colour, key = (CYCLE_COLOUR, "cycle") if edge.on_cycle else (EDGE, "edge")
        first, *points = (_moved(point, self.shift) for point in route.points)
        self.drawing.add(
            element(
                "path",
                title(f"{edge.source} {_verb(edge)} {edge.target}" + (" (perhaps)" if edge.loose else "")),
                d=f"M{_pair(first)} C{' '.join(map(_pair, points))}",
                fill="none",
                stroke=colour,
                stroke_width=2.2 if edge.on_cycle else 1.3,
                stroke_dasharray="5 3" if edge.loose else None,
                marker_end=f"url(#{key})",
            )
        )
        if edge.label:
            self.drawing.add(framed(*_moved(route.label, self.shift), edge.label, LABEL, FAINT))


def _moved(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _pair(point: Point) -> str:
    return f"{point[0]:.2f},{point[1]:.2f}"


def _verb(edge: GraphEdge) -> str:
    return edge.label if edge.label in (WAITS, HELPED, ORDERS) else "requests"


def _words(kind: str) -> str:
    return kind if kind in (TASK, INSTANCE, CONDITION, SCHEDULER) else f"{kind} CPI"


def _size(node: GraphNode) -> tuple[float, float]:
    lines = [text_width(node.name, NAME) * 1.06, *(text_width(line, SMALL) for line in node.lines)]
    return max(lines) + 30, 20 + 15.0 * len(node.lines) + 12


def _corner(kind: str, height: float) -> float:
    return height / 2 if kind == TASK else 3
