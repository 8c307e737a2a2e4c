# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Draws the memory of a system as rectangles: one for each component, with one for each part in it, whose
areas are their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from msgspec import Struct

from camkes.capdl.size import PARTS, STACKS, ComponentSize, SystemSize
from camkes.diagnostics.words import plural
from camkes.showing.draw.svg import (
    FAINT,
    INK,
    PALETTE,
    Drawing,
    darker,
    element,
    shortened,
    text,
    text_width,
    title,
)

WIDTH, HEIGHT, MARGIN = 960.0, 600.0, 16.0
_TOP, _LEGEND, _HEAD = 44.0, 34.0, 18.0
_SIZE = 12.0
_LINE, _CHARACTERS = 16.0, 135  # of the text below
_FRAME = "#eef1f4"


class Box(Struct, frozen=True):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], box: Box) -> list[Box]:
    """Rectangles with areas in the proportion of `sizes`, which fall, that fill `box` and are about square
    (Bruls, Huizing and van Wijk, 2000)."""
    scale = box.width * box.height / sum(sizes) if sizes else 0.0
    areas = [size * scale for size in sizes]
    done: list[Box] = []
    while len(done) < len(areas):
        rest = areas[len(done) :]
        side = min(box.width, box.height)
        count = 1
        while count < len(rest) and _worst(rest[: count + 1], side) <= _worst(rest[:count], side):
            count += 1
        row = rest[:count]
        thick = sum(row) / side if side else 0.0
        at = 0.0
        for area in row:
            length = area / thick if thick else 0.0
            if box.width >= box.height:
                done.append(Box(box.x, box.y + at, thick, length))
            else:
                done.append(Box(box.x + at, box.y, length, thick))
            at += length
        if box.width >= box.height:
            box = Box(box.x + thick, box.y, box.width - thick, box.height)
        else:
            box = Box(box.x, box.y + thick, box.width, box.height - thick)
    return done


def _worst(row: Sequence[float], side: float) -> float:
    """How far the rectangles of a row are from squares."""
    total = sum(row)
    square = side * side
    if not total or not square or not min(row):
        return float("inf")
    return max(square * max(row) / total**2, total**2 / (square * min(row)))


def treemap_svg(size: SystemSize, name: str) -> str:
    """The picture of a system called `name`. Each rectangle has a text for readers who do not see it."""
    components = sorted((each for each in size.components if each.bytes), key=lambda each: -each.bytes)
    used = [part for part in PARTS if any(each.part(part) for each in components)]
    colours = {part: PALETTE[PARTS.index(part)] for part in used}
    whole = Box(MARGIN, _TOP, WIDTH - 2 * MARGIN, HEIGHT - _TOP - _LEGEND - MARGIN)
    boxes = squarified([each.bytes for each in components], whole)
    label = _heading(size, name)
    left_out = wrap(f"Not counted: {'; '.join(size.not_counted)}.", _CHARACTERS) if size.not_counted else []
    drawing = Drawing(WIDTH, HEIGHT + _LINE * len(left_out), label)
    drawing.add(text(MARGIN, 28, label, font_size=16, fill=INK))
    drawing.add(*(_component(each, box, colours) for each, box in zip(components, boxes, strict=True)))
    drawing.add(*_legend(colours))
    if any(each.seen for each in components):
        words = "frame in stacks: used in a run"
        x = MARGIN + len(colours) * 130
        drawing.add(text(x, HEIGHT - MARGIN - 10, words, font_size=_SIZE, fill=INK))
    for number, line in enumerate(left_out):
        drawing.add(text(MARGIN, HEIGHT + _LINE * number, line, font_size=_SIZE, fill=FAINT))
    return drawing.render()


def _component(component: ComponentSize, box: Box, colours: dict[str, str]) -> str:
    shown = [part for part in component.memory if part.bytes]
    shown.sort(key=lambda part: -part.bytes)
    about = _described(component)
    frame = element("rect", x=box.x, y=box.y, width=box.width, height=box.height, fill=_FRAME, stroke=FAINT)
    content = [title(about), frame]
    head = _HEAD if box.height > 2 * _HEAD else 0.0
    name = about if _fits(about, box) else shortened(component.name, _SIZE, box.width - 8)
    if head and name:
        content.append(text(box.x + 4, box.y + 13, name, font_size=_SIZE, fill=INK))
    inside = Box(box.x + 2, box.y + head + 2, max(box.width - 4, 0.0), max(box.height - head - 4, 0.0))
    for part, place in zip(shown, squarified([part.bytes for part in shown], inside), strict=True):
        used = component.seen if part.part == STACKS else 0
        content.append(
            _part(f"{component.name}, {part.part}", part.part, part.bytes, place, colours[part.part], used)
        )
    return element("g", "".join(content), role="group", aria_label=about)


def _fits(words: str, box: Box) -> bool:
    return text_width(words, _SIZE) <= box.width - 8


def _part(whole: str, name: str, bytes: int, box: Box, colour: str, used: int = 0) -> str:
    """A part of a component; of the `used` bytes the area has a frame of its own."""
    seen = f"{readable(used)} used" if used else ""
    whole += f": {seen}" if used else ""
    content = [
        title(whole),
        element(
            "rect", x=box.x, y=box.y, width=box.width, height=box.height, fill=colour, stroke=darker(colour)
        ),
    ]
    if used:
        height = box.height * min(used / bytes, 1.0)
        y = box.y + box.height - height
        content.append(element("rect", x=box.x, y=y, width=box.width, height=height, fill="none", stroke=INK))
    for line, written in enumerate((name, readable(bytes), *((seen,) if seen else ()))):
        if box.height > (line + 1) * 15 and _fits(written, box):  # half a number is another number
            content.append(text(box.x + 4, box.y + 13 + 15 * line, written, font_size=_SIZE, fill=INK))
    return element("g", "".join(content), role="img", aria_label=whole)


def _legend(colours: dict[str, str]) -> Iterator[str]:
    y = HEIGHT - MARGIN - 10
    for index, (part, colour) in enumerate(colours.items()):
        x = MARGIN + index * 130
        yield element("rect", x=x, y=y - 10, width=12, height=12, fill=colour, stroke=darker(colour))
        yield text(x + 18, y, part, font_size=_SIZE, fill=INK)


def readable(bytes: int) -> str:
    """Bytes with a unit of which there are less than 1024; empty for none."""
    amount, units = float(bytes), ["B", "KiB", "MiB", "GiB"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        del units[0]
    return f"{amount:.1f}".removesuffix(".0") + f" {units[0]}" if bytes else ""


def _heading(size: SystemSize, name: str) -> str:
    """What a picture is of."""
    return f"Memory of {name}: {readable(sum(each.bytes for each in size.components)) or '0 B'}"


def _described(component: ComponentSize) -> str:
    """The text at a component."""
    count = len(component.threads)
    threads = f"{count} {plural(count, 'thread')}, " if count else ""
    return f"{component.name}: {threads}{readable(component.bytes)}"
