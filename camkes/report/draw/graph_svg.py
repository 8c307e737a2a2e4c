# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Draws a request graph as SVG."""

from __future__ import annotations

from collections.abc import Set
from html import escape
from itertools import pairwise

from camkes.report.draw.graph import COLOURS, CYCLE_COLOUR, Edge, Graph, Node, NodeKind
from camkes.report.draw.layers import Layout, Point, lay_out
from camkes.report.draw.svg import FAINT, INK, Drawing, element, text, text_width, title

MARGIN = 28.0
NAME = 13.0
SMALL = 11.0
EDGE = "#52606d"


def draw_graph(graph: Graph, heading: str, on_cycle: Set[str]) -> str:
    """The picture as text."""
    sizes = {node.name: _size(node) for node in graph.nodes}
    layout = lay_out(sizes, [(edge.source, edge.target) for edge in graph.edges])
    kinds = list(dict.fromkeys(node.kind for node in graph.nodes))
    keys = [(kind, _words(kind)) for kind in kinds]
    legend = sum(38 + text_width(words, SMALL) for _, words in keys)
    loose = any(edge.loose for edge in graph.edges)
    legend += 48 + text_width("perhaps", SMALL) if loose else 0
    inner = max(layout.width, legend - 14)
    drawing = Drawing(inner + 2 * MARGIN, layout.height + 2 * MARGIN + 44, f"Requests of {heading}")
    shift = (MARGIN + (inner - layout.width) / 2, MARGIN)
    for colour, key in ((EDGE, "edge"), (CYCLE_COLOUR, "cycle")):
        head = element("path", d="M0,0 L9,4 L0,8 L2.4,4 z", fill=colour)
        drawing.define(
            key,
            f'<marker id="{key}" markerWidth="10" markerHeight="8" refX="8.5" refY="4" orient="auto" '
            f'markerUnits="userSpaceOnUse">{head}</marker>',
        )
    for edge in graph.edges:
        _edge(drawing, edge, layout, sizes, shift)
    for node in graph.nodes:
        _node(drawing, node, layout.places[node.name], sizes[node.name], shift, node.name in on_cycle)
    y = layout.height + 2 * MARGIN + 22
    x = MARGIN + (inner - (legend - 14)) / 2
    for kind, words in keys:
        fill, border = COLOURS[kind]
        drawing.add(
            element(
                "rect", x=x, y=y - 10, width=18, height=12, rx=_corner(kind, 12), fill=fill, stroke=border
            )
        )
        drawing.add(text(x + 24, y, words, font_size=SMALL, fill=FAINT))
        x += 38 + text_width(words, SMALL)
    if loose:
        drawing.add(
            element(
                "path", d=f"M{x:.2f},{y - 4:.2f} h28", stroke=EDGE, stroke_width=1.3, stroke_dasharray="5 3"
            )
        )
        drawing.add(text(x + 34, y, "perhaps", font_size=SMALL, fill=FAINT))
    return drawing.render()


def _words(kind: NodeKind) -> str:
    return kind.value if kind in (NodeKind.TASK, NodeKind.INSTANCE) else f"{kind.value} CPI"


def _size(node: Node) -> tuple[float, float]:
    lines = [text_width(node.name, NAME) * 1.06, *(text_width(line, SMALL) for line in node.lines)]
    return max(lines) + 30, 20 + 15.0 * len(node.lines) + 12


def _corner(kind: NodeKind, height: float) -> float:
    return height / 2 if kind is NodeKind.TASK else 3


def _node(
    drawing: Drawing, node: Node, place: Point, size: tuple[float, float], shift: Point, red: bool
) -> None:
    x, y = place[0] + shift[0], place[1] + shift[1]
    width, height = size
    fill, border = COLOURS[node.kind]
    drawing.add(
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
    drawing.add(text(x, line, node.name, font_size=NAME, font_weight="600", text_anchor="middle"))
    for words in node.lines:
        line += 15
        drawing.add(text(x, line, words, font_size=SMALL, text_anchor="middle", fill=INK))


def _edge(
    drawing: Drawing, edge: Edge, layout: Layout, sizes: dict[str, tuple[float, float]], shift: Point
) -> None:
    colour, key = (CYCLE_COLOUR, "cycle") if edge.on_cycle else (EDGE, "edge")
    path, middle = _curve(edge, layout, sizes, shift)
    drawing.add(
        element(
            "path",
            title(f"{edge.source} requests {edge.target}" + (" (perhaps)" if edge.loose else "")),
            d=path,
            fill="none",
            stroke=colour,
            stroke_width=2.2 if edge.on_cycle else 1.3,
            stroke_dasharray="5 3" if edge.loose else None,
            marker_end=f"url(#{key})",
        )
    )
    if edge.label:
        drawing.add(
            element(
                "text", escape(edge.label, quote=False), x=middle[0], y=middle[1], font_size=10.0,
                text_anchor="middle",
                fill=FAINT, stroke="#ffffff", stroke_width=4.0, paint_order="stroke",
            )
        )  # fmt: skip


def _curve(
    edge: Edge, layout: Layout, sizes: dict[str, tuple[float, float]], shift: Point
) -> tuple[str, Point]:
    """The path of an edge through its bends, and a place for its label."""
    source, target = layout.places[edge.source], layout.places[edge.target]
    if edge.source == edge.target:
        right, y = source[0] + shift[0] + sizes[edge.source][0] / 2, source[1] + shift[1]
        return f"M{right:.2f},{y - 8:.2f} c34,-16 34,32 0,16", (right + 30, y)
    down = 1.0 if target[1] >= source[1] else -1.0
    start = (source[0], source[1] + down * sizes[edge.source][1] / 2)
    end = (target[0], target[1] - down * (sizes[edge.target][1] / 2 + 1))
    bends = layout.bends.get((edge.source, edge.target), ())
    points = [(x + shift[0], y + shift[1]) for x, y in (start, *bends, end)]
    parts = [f"M{points[0][0]:.2f},{points[0][1]:.2f}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        half = (y1 - y0) / 2
        parts.append(f"C{x0:.2f},{y0 + half:.2f} {x1:.2f},{y1 - half:.2f} {x1:.2f},{y1:.2f}")
    first, second = points[0], points[1]
    return " ".join(parts), ((first[0] + second[0]) / 2, (first[1] + second[1]) / 2)
