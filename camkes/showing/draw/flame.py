# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Draws a flame graph: a bar for each stack, as long as the time spent in it, on those that it is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from camkes.running.times import format_number, format_time
from camkes.showing.draw.svg import FONT, INK, PALETTE, element, shortened, text

WIDTH, MARGIN, ROW, TOP = 960.0, 16.0, 22.0, 44.0
_SIZE = 12.0
_NARROWEST = 0.3  # of a bar, in pixels


class Bar(Struct, frozen=True):
    """`start` and `time` are nanoseconds of all that is shown; `depth` counts from the root."""

    stack: tuple[str, ...]
    start: int
    time: int

    @property
    def depth(self) -> int:
        return len(self.stack) - 1


def bars(stacks: Mapping[tuple[str, ...], int]) -> list[Bar]:
    """A bar for each stack and for each beginning of one; those of one stack stand next to each other."""
    total: dict[tuple[str, ...], int] = {}
    for stack, time in stacks.items():
        for depth in range(1, len(stack) + 1):
            total[stack[:depth]] = total.get(stack[:depth], 0) + time
    return list(_below((), 0, total))


def _below(stack: tuple[str, ...], start: int, total: Mapping[tuple[str, ...], int]) -> Iterator[Bar]:
    for each in sorted(found for found in total if found[:-1] == stack):
        yield Bar(each, start, total[each])
        yield from _below(each, start, total)
        start += total[each]


def flame_svg(stacks: Mapping[tuple[str, ...], int], duration: int, title: str) -> str:
    """The picture, in which the width is the time that is spent, of `duration` nanoseconds."""
    drawn = bars(stacks)
    spent = sum(bar.time for bar in drawn if bar.depth == 0)
    rows = max((bar.depth for bar in drawn), default=0) + 1
    height = TOP + rows * ROW + MARGIN
    scale = (WIDTH - 2 * MARGIN) / max(spent, 1)
    head = f"{title}, {format_time(spent)} of {format_time(duration)}"
    parts = [
        element("rect", width=WIDTH, height=height, fill="#ffffff"),
        text(MARGIN, 26, head, font_size=15, fill=INK),
    ]
    roots = [bar.stack[0] for bar in drawn if bar.depth == 0]
    for bar in drawn:
        if bar.time * scale >= _NARROWEST:
            parts.append(_drawn(bar, scale, spent, PALETTE[roots.index(bar.stack[0]) % len(PALETTE)]))
    view = f"0 0 {WIDTH:.0f} {height:.0f}"
    content = "\n" + "\n".join(parts) + "\n"
    namespace = "http://www.w3.org/2000/svg"
    return element("svg", content, xmlns=namespace, viewBox=view, font_family=FONT) + "\n"


def _drawn(bar: Bar, scale: float, spent: int, colour: str) -> str:
    x, y, width = MARGIN + bar.start * scale, TOP + bar.depth * ROW, bar.time * scale
    share = format_number(100 * bar.time / spent, 1)
    hint = element("title", f"{' > '.join(bar.stack)}: {format_time(bar.time)}, {share} %")
    box = element("rect", x=x, y=y, width=width, height=ROW - 1, fill=colour, stroke="#ffffff")
    name = shortened(bar.stack[-1], _SIZE, width - 8)
    label = text(x + 4, y + 15, name, font_size=_SIZE, fill=INK) if name else ""
    return element("g", hint + box + label)
