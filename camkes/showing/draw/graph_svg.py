# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Draws a request graph as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType

from camkes.model.system import System
from camkes.protocols.plan import Plan
from camkes.showing.draw.graph import (
    COLOURS,
    CONDITION,
    CYCLE_COLOUR,
    EVENT_COLOUR,
    HELPED,
    INSTANCE,
    ORDERS,
    RELEASES,
    SCHEDULER,
    SIGNALS,
    TASK,
    WAITS,
    Graph,
    GraphEdge,
    GraphNode,
    make_graph,
)
from camkes.showing.draw.graphviz import dot_layout
from camkes.showing.draw.layers import FRAME, GraphLayout, Point, Route, lay_out, turned
from camkes.showing.draw.svg import FAINT, INK, Drawing, element, framed, text, text_width, title

MARGIN = 28.0
NAME = 13.0
SMALL = 11.0
LABEL = 10.0
EDGE = "#52606d"
DASHED, DOTTED = "5 3", "1.5 2.5"
WIDEST = 1600.0  # a graph that is wider has its requests from left to right, not downwards


def graph_svg(
    plan: Plan,
    system: System,
    cycle: Sequence[str] = (),
    bounds: Mapping[str, str] = MappingProxyType({}),
    *,
    use_dot: bool = True,
) -> str:
    """The graph as a picture: laid out by Graphviz's `dot` if that is installed. `cycle` and `bounds` are as
    for `make_graph`."""
    return _Picture(make_graph(plan, system, cycle, bounds), set(cycle), use_dot).draw(system.root.path.stem)


class _Picture:
    def __init__(self, graph: Graph, on_cycle: Set[str], use_dot: bool) -> None:
        self.graph, self.on_cycle = graph, on_cycle
        self.sizes = {node.name: _size(node) for node in graph.nodes}
        ends = [(edge.source, edge.target) for edge in graph.edges]
        labels = [(text_width(w, LABEL) + 16, 16.0) if (w := _label(e)) else None for e in graph.edges]

        def layout(sizes: Mapping[str, Point], labels: Sequence[Point | None]) -> GraphLayout:
            frames = [*graph.frames.values()]
            return (dot_layout(sizes, ends, labels, frames) if use_dot else None) or lay_out(sizes, ends)

        self.layout = layout(self.sizes, labels)
        if self.layout.width > WIDEST:
            sizes = {name: turned(size) for name, size in self.sizes.items()}
            other = layout(sizes, [None if label is None else turned(label) for label in labels])
            if other.height < self.layout.width:
                self.layout = other.turned()

    def draw(self, heading: str) -> str:
        keys = [(kind, _words(kind)) for kind in dict.fromkeys(node.kind for node in self.graph.nodes)]
        lines = []
        if any(edge.is_event for edge in self.graph.edges):
            lines.append(("event", EVENT_COLOUR, DOTTED))
        if any(edge.loose and not edge.is_event for edge in self.graph.edges):
            lines.append(("perhaps", EDGE, DASHED))
        legend = sum(38 + text_width(words, SMALL) for _, words in keys) - 14
        legend += sum(48 + text_width(words, SMALL) for words, _, _ in lines)
        inner = max(self.layout.width, legend)
        height = self.layout.height + 2 * MARGIN
        self.drawing = Drawing(inner + 2 * MARGIN, height + 44, f"Requests of {heading}")
        self.shift = (MARGIN + (inner - self.layout.width) / 2, MARGIN)
        for colour, key in ((EDGE, "edge"), (CYCLE_COLOUR, "cycle"), (EVENT_COLOUR, "event")):
            head = element("path", d="M0,0 L9,4 L0,8 L2.4,4 z", fill=colour)
            self.drawing.define(
                key,
                f'<marker id="{key}" markerWidth="10" markerHeight="8" refX="8.5" refY="4" orient="auto" '
                f'markerUnits="userSpaceOnUse">{head}</marker>',
            )
        for lock, members in self.graph.frames.items():
            self._frame(lock, members)
        for edge, route in zip(self.graph.edges, self.layout.routes, strict=True):
            self._edge(edge, route)
        for node in self.graph.nodes:
            self._node(node)
        self._legend(keys, lines, MARGIN + (inner - legend) / 2, height + 22)
        return self.drawing.render()

    def _legend(
        self, keys: Sequence[tuple[str, str]], lines: Sequence[tuple[str, str, str]], x: float, y: float
    ) -> None:
        add = self.drawing.add
        for kind, words in keys:
            fill, border = COLOURS[kind]
            corner = _corner(kind, 12)
            add(element("rect", x=x, y=y - 10, width=18, height=12, rx=corner, fill=fill, stroke=border))
            add(text(x + 24, y, words, font_size=SMALL, fill=FAINT))
            x += 38 + text_width(words, SMALL)
        for words, colour, dashes in lines:
            line = f"M{x:.2f},{y - 4:.2f} h28"
            add(element("path", d=line, stroke=colour, stroke_width=1.3, stroke_dasharray=dashes))
            add(text(x + 34, y, words, font_size=SMALL, fill=FAINT))
            x += 48 + text_width(words, SMALL)

    def _frame(self, lock: str, members: Sequence[str]) -> None:
        """Around the CPIs of a monitor, if no other node is between them."""
        corners = [self._corners(name) for name in members]
        left, top = (min(each[i] for each in corners) - FRAME for i in (0, 1))
        right, bottom = (max(each[i] for each in corners) + FRAME for i in (2, 3))
        for name in self.layout.places.keys() - set(members):
            x0, y0, x1, y1 = self._corners(name)
            if x0 < right and x1 > left and y0 < bottom and y1 > top:
                return
        self.drawing.add(
            element(
                "rect",
                title(f"monitor {lock}: {', '.join(members)} have one lock"),
                x=left,
                y=top,
                width=right - left,
                height=bottom - top,
                rx=8,
                fill="none",
                stroke=EDGE,
                stroke_dasharray=DOTTED,
            )
        )

    def _corners(self, name: str) -> tuple[float, float, float, float]:
        x, y = _moved(self.layout.places[name], self.shift)
        width, height = self.sizes[name]
        return x - width / 2, y - height / 2, x + width / 2, y + height / 2

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
        colour, key, dashes = EDGE, "edge", DASHED if edge.loose else None
        if edge.on_cycle:
            colour, key = CYCLE_COLOUR, "cycle"
        elif edge.is_event:
            colour, key, dashes = EVENT_COLOUR, "event", DOTTED
        first, *points = (_moved(point, self.shift) for point in route.points)
        self.drawing.add(
            element(
                "path",
                title(f"{edge.source} {_verb(edge)} {edge.target}" + (" (perhaps)" if edge.loose else "")),
                d=f"M{_pair(first)} C{' '.join(map(_pair, points))}",
                fill="none",
                stroke=colour,
                stroke_width=2.2 if edge.on_cycle else 1.3,
                stroke_dasharray=dashes,
                marker_end=f"url(#{key})",
            )
        )
        if label := _label(edge):
            self.drawing.add(framed(*_moved(route.label, self.shift), label, LABEL, FAINT))


def _moved(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _pair(point: Point) -> str:
    return f"{point[0]:.2f},{point[1]:.2f}"


def _label(edge: GraphEdge) -> str:
    """What stands at an edge; how an event is drawn says what it is."""
    return "" if edge.is_event else edge.label


def _verb(edge: GraphEdge) -> str:
    return edge.label if edge.label in (WAITS, HELPED, ORDERS, RELEASES, SIGNALS) else "requests"


def _words(kind: str) -> str:
    return kind if kind in (TASK, INSTANCE, CONDITION, SCHEDULER) else f"{kind} CPI"


def _size(node: GraphNode) -> tuple[float, float]:
    lines = [text_width(node.name, NAME) * 1.06, *(text_width(line, SMALL) for line in node.lines)]
    return max(lines) + 30, 20 + 15.0 * len(node.lines) + 12


def _corner(kind: str, height: float) -> float:
    return height / 2 if kind == TASK else 3
