# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Draws the rows of a sweep: lines over one number, or grids of two settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, log10

from msgspec import Struct

from camkes.running.times import format_number, format_time
from camkes.showing.draw.svg import (
    FAINT,
    INK,
    PALETTE,
    RULE,
    Drawing,
    darker,
    element,
    shortened,
    text,
    title,
)
from camkes.sweep.rows import SweepRow

WIDTH, HEIGHT = 520.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 86.0, 20.0, 44.0, 46.0
COLUMNS = 2
#: Parts of a picture, and lines in one; the rest is left out, which the picture says.
MOST_PARTS = 12
MOST_LINES = len(PALETTE)
CELL_TEXT = 9.0
#: of lines, so that one is seen below another
DASHES = (None, "7 3", "2 3", "7 3 2 3")
GOOD, BAD, NOTHING = "#7fc29b", "#ec8a80", "#e4e7eb"


class PlotAxis(Struct, frozen=True):
    """A setting: `texts` are its values in their order, `numbers` their places where all are numbers."""

    name: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...] | None = None


class Measure(Struct, frozen=True):
    """What is drawn of rows: its name, its value, None where a row has none, and that in words."""

    name: str
    of: Callable[[SweepRow], float | None]
    words: Callable[[float], str]


def time_words(value: float) -> str:
    return format_time(round(value), 3)


def count_words(value: float) -> str:
    return format_number(value, 3)


def sweep_svg(heading: str, axes: Sequence[PlotAxis], rows: Sequence[SweepRow], measure: Measure) -> str:
    """A picture of a measure of all rows. With one number among what is varied, it is lines over that, one
    for each combination of the others; with two, or none, a grid of two settings for each combination of the
    others."""
    numeric = [index for index, axis in enumerate(axes) if axis.numbers is not None]
    if len(numeric) == 1 or len(axes) == 1:
        return _lines(heading, axes, numeric[0] if numeric else 0, rows, measure)
    across, down = numeric[:2] if len(numeric) > 1 else (0, 1)
    return _grids(heading, axes, across, down, rows, measure)


def _others(axes: Sequence[PlotAxis], without: Sequence[int], row: SweepRow) -> str:
    """The values of a row for all settings but some, in words."""
    last = [axis.name.rpartition(".")[2] for axis in axes]
    names = [axis.name if last.count(last[i]) > 1 else last[i].lstrip("_") for i, axis in enumerate(axes)]
    return ", ".join(
        f"{names[index]} {value}" for index, value in enumerate(row.values) if index not in without
    )


def _grouped(rows: Sequence[SweepRow], key: Callable[[SweepRow], str]) -> dict[str, list[SweepRow]]:
    found: dict[str, list[SweepRow]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


# Lines -------------------------------------------------------------------------------------------


def _lines(
    heading: str,
    axes: Sequence[PlotAxis],
    across: int,
    rows: Sequence[SweepRow],
    measure: Measure,
) -> str:
    axis = axes[across]
    places = axis.numbers or tuple(map(float, range(len(axis.texts))))
    of_text = dict(zip(axis.texts, places, strict=True))
    series = _grouped(rows, lambda row: _others(axes, [across], row))
    shown = dict(list(series.items())[:MOST_LINES])
    values = [value for each in shown.values() for row in each if (value := measure.of(row)) is not None]
    legend = 16.0 * (len(shown) if len(axes) > 1 else 0)
    more = 14.0 if len(series) > len(shown) else 0.0
    drawing = Drawing(WIDTH, HEIGHT + legend + more, f"{heading}: {measure.name}")
    drawing.add(text(LEFT, 20, heading, font_size=13, font_weight="bold"))
    drawing.add(text(LEFT, 36, measure.name, font_size=11, fill=FAINT))
    x = _scale(min(places), max(places), LEFT, WIDTH - RIGHT)
    low, high = min([0.0, *values]), max([0.0, *values])
    y = _scale(low, high, HEIGHT - BOTTOM, TOP)
    for tick in _ticks(low, high, 5):
        drawing.add(
            element("path", d=f"M{LEFT:.1f},{y(tick):.2f} H{WIDTH - RIGHT:.1f}",
                    stroke=RULE if tick else FAINT, stroke_width=1),
            text(LEFT - 6, y(tick) + 4, measure.words(tick), font_size=10, text_anchor="end", fill=FAINT),
        )  # fmt: skip
    for word, place in _sparse(list(of_text.items()), 8):
        drawing.add(
            text(x(place), HEIGHT - BOTTOM + 16, word, font_size=10, text_anchor="middle", fill=FAINT)
        )
    drawing.add(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, axis.name, font_size=11, text_anchor="middle"))
    for number, (name, each) in enumerate(shown.items()):
        colour = darker(PALETTE[number], 0.85)
        drawing.add(*_line(name, each, across, of_text, measure, x, y, colour, DASHES[number % 4]))
        if legend:
            at = HEIGHT + 16.0 * number + 6
            drawing.add(
                element(
                    "path",
                    d=f"M{LEFT:.1f},{at:.1f} h18",
                    stroke=colour,
                    stroke_width=2,
                    stroke_dasharray=DASHES[number % 4],
                )
            )
            drawing.add(text(LEFT + 24, at + 4, shortened(name, 11, WIDTH - LEFT - 40), font_size=11))
    if more:
        drawing.add(
            text(LEFT, HEIGHT + legend + 10, _left_out(len(series) - len(shown), "line"), font_size=10)
        )
    return drawing.render()


def _line(
    name: str,
    rows: Sequence[SweepRow],
    across: int,
    of_text: Mapping[str, float],
    measure: Measure,
    x: Callable[[float], float],
    y: Callable[[float], float],
    colour: str,
    dashes: str | None,
) -> list[str]:
    """A line with its points, which are open where a row is not good; it has a gap where a row has no
    value."""
    parts: list[str] = []
    points: list[str] = []
    path, pen = "", "M"
    for row in sorted(rows, key=lambda row: of_text[row.values[across]]):
        value = measure.of(row)
        if value is None:
            pen = "M"
            continue
        at = x(of_text[row.values[across]]), y(value)
        path += f"{pen}{at[0]:.2f},{at[1]:.2f} "
        pen = "L"
        words = ", ".join(filter(None, (name, f"{row.values[across]}: {measure.words(value)}", row.verdict)))
        fill = colour if row.good else "#ffffff"
        points.append(
            element(
                "circle", title(words), cx=at[0], cy=at[1], r=3, fill=fill, stroke=colour, stroke_width=1.5
            )
        )
    if path:
        parts.append(
            element(
                "path", d=path.strip(), fill="none", stroke=colour, stroke_width=1.5, stroke_dasharray=dashes
            )
        )
    return parts + points


# Grids -------------------------------------------------------------------------------------------


def _grids(
    heading: str,
    axes: Sequence[PlotAxis],
    across: int,
    down: int,
    rows: Sequence[SweepRow],
    measure: Measure,
) -> str:
    every = _grouped(rows, lambda row: _others(axes, [across, down], row))
    parts = dict(list(every.items())[:MOST_PARTS])
    columns = min(COLUMNS, len(parts)) or 1
    lines = ceil(len(parts) / columns)
    drawing = Drawing(WIDTH * columns, 44 + HEIGHT * lines + 16, f"{heading}: {measure.name}")
    drawing.add(text(LEFT, 20, heading, font_size=13, font_weight="bold"))
    legend = f"{measure.name}; green: deadlines are met, red: not, grey: no result"
    drawing.add(text(LEFT, 36, legend, font_size=11, fill=FAINT))
    known = [abs(value) for row in rows if (value := measure.of(row)) is not None]
    most = max(known, default=0.0) or 1.0
    for number, (name, each) in enumerate(parts.items()):
        left, top = WIDTH * (number % columns), 30 + HEIGHT * (number // columns)
        drawing.add(*_grid(name, axes[across], axes[down], across, down, each, measure, most, left, top))
    if len(every) > len(parts):
        at = 44 + HEIGHT * lines + 10
        drawing.add(text(LEFT, at, _left_out(len(every) - len(parts), "part"), font_size=10))
    return drawing.render()


def _grid(
    name: str,
    column: PlotAxis,
    line: PlotAxis,
    across: int,
    down: int,
    rows: Sequence[SweepRow],
    measure: Measure,
    most: float,
    left: float,
    top: float,
) -> list[str]:
    width = (WIDTH - LEFT - RIGHT) / len(column.texts)
    height = (HEIGHT - TOP - BOTTOM) / len(line.texts)
    x, y = left + LEFT, top + TOP
    columns, lines = _order(column), _order(line)
    parts = [text(x, top + 36, shortened(name, 11, WIDTH - LEFT), font_size=11)] if name else []
    for row in rows:
        value = measure.of(row)
        at = x + width * columns[row.values[across]], y + height * (len(lines) - 1 - lines[row.values[down]])
        strength = 0.0 if value is None else 0.35 + 0.65 * min(abs(value) / most, 1.0)
        fill = (
            NOTHING if value is None and row.verdict in ("rejected", "failed") else GOOD if row.good else BAD
        )
        shown = row.verdict if value is None else measure.words(value)
        words = f"{column.name} {row.values[across]}, {line.name} {row.values[down]}: {shown}"
        if value is not None:
            words += f", {row.verdict}"
        parts.append(
            element("rect", title(words), x=at[0], y=at[1], width=width, height=height, fill=fill,
                    fill_opacity=strength or 1, stroke="#ffffff", stroke_width=0.6)
        )  # fmt: skip
        if height >= CELL_TEXT + 3 and shortened(shown, CELL_TEXT, width - 4) == shown:
            middle = at[0] + width / 2, at[1] + height / 2 + CELL_TEXT * 0.35
            parts.append(text(*middle, shown, font_size=CELL_TEXT, text_anchor="middle", fill=INK))
    for word, place in _sparse(sorted(columns.items(), key=lambda each: each[1]), 8):
        at_x = x + width * (place + 0.5)
        parts.append(
            text(at_x, top + HEIGHT - BOTTOM + 14, word, font_size=10, text_anchor="middle", fill=FAINT)
        )
    for word, place in _sparse(sorted(lines.items(), key=lambda each: each[1]), 10):
        at_y = y + height * (len(lines) - 0.5 - place) + 4
        parts.append(
            text(x - 6, at_y, shortened(word, 10, LEFT - 10), font_size=10, text_anchor="end", fill=FAINT)
        )
    parts.append(
        text(x + (WIDTH - LEFT - RIGHT) / 2, top + HEIGHT - BOTTOM + 30, column.name, font_size=11,
             text_anchor="middle")
    )  # fmt: skip
    at = left + 14, y + (HEIGHT - TOP - BOTTOM) / 2
    turned = f"rotate(-90 {at[0]:.1f} {at[1]:.1f})"
    parts.append(text(*at, line.name, font_size=11, text_anchor="middle", transform=turned))
    return parts


def _order(axis: PlotAxis) -> dict[str, int]:
    """The place of each value: of numbers, by their size."""
    numbers = axis.numbers or tuple(map(float, range(len(axis.texts))))
    ordered = sorted(zip(numbers, axis.texts, strict=True))
    return {word: place for place, (_, word) in enumerate(ordered)}


# Scales ------------------------------------------------------------------------------------------


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = high - low
    return lambda value: (start + end) / 2 if not span else start + (value - low) / span * (end - start)


def _ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers from `low` to `high`, about so many."""
    if high == low:
        return [low]
    rough = (high - low) / count
    size = 10.0 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return [number * step for number in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _sparse(values: Sequence[tuple[str, float]], most: int) -> list[tuple[str, float]]:
    """At most so many of these, evenly."""
    every = ceil(len(values) / most)
    return list(values[::every])


def _left_out(count: int, what: str) -> str:
    return f"{count} more {what}{'' if count == 1 else 's'} not shown"
