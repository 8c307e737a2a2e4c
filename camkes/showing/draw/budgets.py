# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Below the lane of a task: what is left of its budget, and work for it on other budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, zip_longest

from camkes.running.model import Run
from camkes.running.times import Window
from camkes.showing.draw.svg import INK, element, text, text_width, title
from camkes.showing.words import exact_time, overrun_words, payment_words

#: the height of what is drawn, and of all that a lane needs more
STRIP = 11.0
ROOM = 18.0
LEFT_FILL = "#a9d3c1"
PAID_FILL, PAID_LINE = "#cdbff2", "#7a63c4"
OVERRUN = "#b3261e"


def budget_strip(run: Run, task: str, window: Window, x: Callable[[int], float], y: float) -> Iterator[str]:
    """The elements for a task, from `y` downwards; `x` is where a time is."""
    for spent in run.spent:
        if spent.name == task:
            yield _left(spent.left or ((0, spent.budget),), spent.most, window, x, y)
    mine = [payment for payment in run.payments if payment.task == task]
    for payment, following in zip_longest(mine, mine[1:]):
        start, end = max(payment.start, window.start), min(payment.end, window.end)
        if start < end:
            a, width = x(start), max(x(end) - x(start), 0.6)
            about = f"{payment_words(payment)}, {exact_time(payment.start)} to {exact_time(payment.end)}"
            yield element(
                "rect", title(about), x=a, y=y, width=width, height=STRIP, fill=PAID_FILL, stroke=PAID_LINE,
                stroke_width=0.8,
            )  # fmt: skip
            needed = text_width(payment.payer, 10) + 4
            if needed <= width:
                middle = a + width / 2
                yield text(middle, y + STRIP - 2, payment.payer, font_size=10, text_anchor="middle", fill=INK)
            elif a + width + needed <= x(window.end if following is None else following.start):
                yield text(a + width + 3, y + STRIP - 2, payment.payer, font_size=10, fill=INK)
    for overrun in run.overruns:
        if overrun.task == task and window.start <= overrun.time <= window.end:
            yield overrun_mark(x(overrun.time), y - 6, overrun_words(overrun))


def _left(
    corners: tuple[tuple[int, int], ...], budget: int, window: Window, x: Callable[[int], float], y: float
) -> str:
    """The area below the line of what is left, cut to the window."""
    bottom = y + STRIP
    start, end = window.start, window.end
    inside = [corner for corner in corners if start < corner[0] <= end]
    shown = [(start, _left_at(corners, start)), *inside, (end, _left_at(corners, end))]
    points = " L".join(f"{x(time):.2f},{bottom - STRIP * left / budget:.2f}" for time, left in shown)
    path = f"M{x(shown[0][0]):.2f},{bottom:.2f} L{points} L{x(shown[-1][0]):.2f},{bottom:.2f} Z"
    return element("path", title(f"what is left of {exact_time(budget)}"), d=path, fill=LEFT_FILL)


def _left_at(corners: tuple[tuple[int, int], ...], time: int) -> float:
    """What is left at a time, on the line between the corners around it."""
    for (start, before), (end, after) in pairwise(corners):
        if start <= time < end:
            return before + (after - before) * (time - start) / (end - start)
    return corners[-1][1]


def overrun_mark(x: float, y: float, about: str = "") -> str:
    return element("path", title(about) if about else "", d=f"M{x:.2f},{y:.2f} l4,-6 h-8 Z", fill=OVERRUN)


def criticality_switches(
    run: Run, window: Window, x: Callable[[int], float], top: float, bottom: float
) -> Iterator[str]:
    """A line through all lanes where the criticality of the system changes, and the new one if it fits."""
    shown = [each for each in run.criticality if window.start <= each[0] <= window.end]
    if shown:
        left = x(window.start) - 6
        yield text(left, top + 8, "criticality", font_size=10, text_anchor="end", fill=OVERRUN)
    for (time, level), following in zip_longest(shown, shown[1:]):
        at, about = x(time), f"the criticality of the system is {level} from {exact_time(time)} on"
        line = f"M{at:.2f},{top:.2f} V{bottom:.2f}"
        yield element("path", title(about), d=line, stroke=OVERRUN, stroke_width=1.3, stroke_dasharray="5 3")
        if text_width(str(level), 10) + 4 <= x(window.end if following is None else following[0]) - at:
            yield text(at + 3, top + 8, str(level), font_size=10, fill=OVERRUN)
