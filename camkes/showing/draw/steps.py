# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A story as a picture with a column for each step, and as one HTML page with the steps beside it."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from camkes.running.model import Run, State, StateSegment
from camkes.running.story import StepKind
from camkes.showing.draw.story import StoryStepReport, step_words, time_words
from camkes.showing.draw.svg import (
    FAINT,
    INK,
    OWN,
    RULE,
    Drawing,
    element,
    shortened,
    text,
    text_width,
    title,
)
from camkes.showing.draw.timeline import service_colours
from camkes.showing.words import LOOKS, Look, state_words
from camkes.visible import visible

TEMPLATE = Path(__file__).with_name("steps.html")

COLUMN, LANE, BAR = 30.0, 46.0, 20.0
LEFT, TOP, NAME = 20.0, 40.0, 13.0
#: how wide a picture is at least, for its heading and its legend
LEAST = 640.0
VIOLATED = "#b3261e"

#: the fill of a lane that does not run
_FILLS = {
    Look.READY: "#e4e8ec",
    Look.SLEEPS: "#f6f7f8",
    Look.STOPPED: VIOLATED,
    Look.BUDGET: "#d9d2e9",
    Look.SLOT: "#eaf1ea",
}


def steps_svg(steps: Sequence[StoryStepReport], run: Run, heading: str) -> str:
    """The picture as text."""
    names = [visible(lane.task.name) for lane in run.lanes]
    x0 = LEFT + max([60.0, *(text_width(name, NAME) for name in names)]) + 14
    bottom = TOP + LANE * len(run.lanes) + 6
    colours = {service: colour for service, colour in service_colours(run).items() if _is_used(run, service)}
    seen = {LOOKS[s.state] for lane in run.lanes for s in lane.segments if s.state in LOOKS}
    keys = [("own code", OWN), *colours.items()]
    keys += [(look.value, _FILLS.get(look, "hatched")) for look in Look if look in seen]
    width = max(LEAST, x0 + COLUMN * run.end + 20)
    rows = _legend_rows([words for words, _ in keys], width - 2 * LEFT)
    drawing = Drawing(width, bottom + 52 + 20 * len(rows), heading)
    drawing.add(
        text(LEFT, 24, shortened(visible(heading), 15, width - 2 * LEFT), font_size=15, font_weight="600")
    )
    for number, step in enumerate(steps):
        x = x0 + COLUMN * number
        stroke = VIOLATED if step.kind is StepKind.VIOLATION else RULE
        drawing.add(element("path", d=f"M{x:.1f},{TOP:.1f} V{bottom:.1f}", stroke=stroke, stroke_width=1))
        label = text(x + COLUMN / 2, bottom + 14, str(step.number), text_anchor="middle", font_size=11)
        drawing.add(label)
    drawing.add(text(x0 + COLUMN * run.end / 2, bottom + 32, "step", text_anchor="middle", fill=FAINT))
    for row, lane in enumerate(run.lanes):
        base = TOP + LANE * row + LANE - 8
        drawing.add(text(LEFT, base - 8, names[row], font_size=NAME, font_weight="600"))
        drawing.add(text(LEFT, base + 4, f"priority {lane.task.priority}", font_size=10, fill=FAINT))
        for segment in lane.segments:
            fill = _fill(drawing, segment, colours)
            words = visible(state_words(segment, run.names))
            place = {
                "x": x0 + COLUMN * segment.start + 0.5,
                "y": base - BAR,
                "width": COLUMN - 1,
                "height": BAR,
            }
            drawing.add(element("rect", title(words), **place, fill=fill))
    for number, step in enumerate(steps):
        words = title(f"{step.number}  {step_words(step)}")
        place = {"x": x0 + COLUMN * number, "y": TOP, "width": COLUMN, "height": bottom - TOP + 18}
        drawing.add(element("rect", words, **place, fill="none", class_="step", pointer_events="all"))
    for row_number, row_keys in enumerate(rows):
        x, y = LEFT, bottom + 52 + 20 * row_number
        for index in row_keys:
            words, colour = keys[index]
            fill = drawing.hatch("waits", FAINT) if colour == "hatched" else colour
            drawing.add(element("rect", x=x, y=y - 10, width=16, height=11, fill=fill, stroke=RULE))
            drawing.add(text(x + 22, y, words, fill=INK))
            x += 22 + text_width(words, 12) + 22
    return drawing.render()


def steps_page(steps: Sequence[StoryStepReport], run: Run, heading: str) -> str:
    """The picture with the steps beside it, as one page that needs nothing else."""
    items = []
    for step, time in zip(steps, time_words(steps), strict=True):
        clock = f"<time>{html.escape(time)}</time> " if time else ""
        code = ""
        if step.file is not None:
            where, line = (
                html.escape(visible(each)) for each in (f"{step.file}:{step.line}", step.text or "")
            )
            code = f"<div><span>{where}</span> <code>{line}</code></div>"
        words = html.escape(step_words(step))
        items.append(f'<li class="{step.kind.value}">{clock}{words}{code}</li>')
    picture = steps_svg(steps, run, heading).partition("?>\n")[2]
    parts = {"@NAME@": html.escape(visible(heading)), "@PICTURE@": picture, "@STEPS@": "\n".join(items)}
    return re.sub("@NAME@|@PICTURE@|@STEPS@", lambda found: parts[found[0]], TEMPLATE.read_text("utf-8"))


def _is_used(run: Run, service: str) -> bool:
    return any(s.what == service and s.state is State.RUNNING for lane in run.lanes for s in lane.segments)


def _fill(drawing: Drawing, segment: StateSegment, colours: dict[str, str]) -> str:
    if segment.state is State.RUNNING:
        return colours.get(segment.what, OWN)
    return _FILLS.get(LOOKS[segment.state]) or drawing.hatch("waits", FAINT)


def _legend_rows(words: list[str], width: float) -> list[list[int]]:
    rows: list[list[int]] = [[]]
    used = 0.0
    for index, each in enumerate(words):
        size = 44 + text_width(each, 12)
        if rows[-1] and used + size > width:
            rows.append([])
            used = 0.0
        rows[-1].append(index)
        used += size
    return rows
