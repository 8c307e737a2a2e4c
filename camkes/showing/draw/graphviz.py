# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Computes positions of nodes and routes of edges with Graphviz's `dot`, if it is installed.

It is given all sizes, so that fonts of the workstation do not matter. One version of `dot` gives the same
answer each time; another version may give another.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from shutil import which
from typing import Any

from camkes import process
from camkes.showing.draw.layers import FRAME, GAP_X, GAP_Y, GraphLayout, Point, Route

TIMEOUT = 10.0  # seconds; `dot` is slow on large graphs
INCH = 72.0  # of our units, which are Graphviz's points


def dot_layout(
    sizes: Mapping[str, Point],
    edges: Sequence[tuple[str, str]],
    labels: Sequence[Point | None],
    frames: Sequence[Sequence[str]] = (),
) -> GraphLayout | None:
    """The layout by `dot`; None if it is not installed or fails. `labels` are the sizes of the edges'
    labels, `frames` nodes that are kept together."""
    program = which("dot")
    if program is None or not sizes:
        return None
    try:
        done = process.run([program, "-Tjson0"], input=_text(sizes, edges, labels, frames), timeout=TIMEOUT)
        answer = json.loads(done.output) if done.status == 0 else None
        return None if answer is None else _layout(answer, list(sizes), len(edges))
    except (OSError, ValueError, KeyError):
        return None


def _text(
    sizes: Mapping[str, Point],
    edges: Sequence[tuple[str, str]],
    labels: Sequence[Point | None],
    frames: Sequence[Sequence[str]],
) -> str:
    """Nodes and edges under their numbers."""
    numbers = {name: number for number, name in enumerate(sizes)}
    lines = [
        f"digraph {{ graph [nodesep={GAP_X / INCH:.3f}, ranksep={GAP_Y / INCH:.3f}];",
        'node [shape=box, fixedsize=true, label=""]; edge [dir=none];',
    ]
    for name, (width, height) in sizes.items():
        lines.append(f"{numbers[name]} [width={width / INCH:.4f}, height={height / INCH:.4f}];")
    for number, members in enumerate(frames):
        inside = " ".join(f"{numbers[name]};" for name in members)
        lines.append(f"subgraph cluster_{number} {{ margin={FRAME}; {inside} }}")
    for number, ((source, target), label) in enumerate(zip(edges, labels, strict=True)):
        words = ""
        if label is not None:
            cell = f'<TABLE BORDER="0" FIXEDSIZE="TRUE" WIDTH="{label[0]:.0f}" HEIGHT="{label[1]:.0f}">'
            words = f", label=<{cell}<TR><TD></TD></TR></TABLE>>"
        lines.append(f"{numbers[source]} -> {numbers[target]} [id={number}{words}];")
    return "\n".join([*lines, "}"])


def _layout(answer: dict[str, Any], names: Sequence[str], edges: int) -> GraphLayout:
    _, _, width, height = map(float, answer["bb"].split(","))

    def point(text: str) -> Point:
        x, y = map(float, text.split(","))
        return x, height - y

    nodes = (each for each in answer["objects"] if "pos" in each)
    places = {names[int(node["name"])]: point(node["pos"]) for node in nodes}
    routes = {}
    for edge in answer.get("edges", ()):
        points = tuple(map(point, edge["pos"].split()))
        routes[int(edge["id"])] = Route(points, point(edge["lp"]) if "lp" in edge else points[0])
    return GraphLayout(places, tuple(routes[number] for number in range(edges)), width, height)
