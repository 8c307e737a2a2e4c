# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Times for people: units, axis ticks, and the window of a run that a picture shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from camkes.diagnostics import Sink
from camkes.model.units import NANOSECONDS
from camkes.running.codes import WINDOW_EMPTY

#: Nanoseconds: steps of kernel and runtime are shorter, and work of tasks is longer.
KERNEL_STEP = 20_000

UNITS = tuple(reversed(NANOSECONDS.items()))


def unit_for(ns: int) -> tuple[str, int]:
    """The largest unit of which there is at least one in `ns`."""
    return next((unit for unit in UNITS if ns >= unit[1]), UNITS[-1])


def format_time(ns: int, digits: int = 3) -> str:
    """`ns` in a fitting unit, without needless zeros: "2.5 ms"."""
    name, size = unit_for(abs(ns))
    return f"{format_number(ns / size, digits)} {name}"


def format_number(value: float, digits: int = 3) -> str:
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


class Axis(Struct, frozen=True):
    """Marks of a time axis. Labels are in `unit`; `minor` are instants of marks without a label."""

    unit: str
    ticks: tuple[tuple[int, str], ...]
    minor: tuple[int, ...]


def make_axis(start: int, end: int, labels: int) -> Axis:
    """Marks at round times with at most about `labels` labels."""
    span = max(end - start, 1)
    step = next_round(span / max(labels, 1))
    unit, size = unit_for(max(end, 1) if max(end, 1) < 10_000 * step else step)
    fine = _finer(step)
    ticks = []
    minor = []
    instant = -(-start // fine) * fine
    while instant <= end:
        if instant % step == 0:
            ticks.append((instant, format_number(instant / size, 6)))
        else:
            minor.append(instant)
        instant += fine
    return Axis(unit, tuple(ticks), tuple(minor))


def next_round(value: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is not below `value`."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= value:
                return factor * power
        power *= 10


def _finer(step: int) -> int:
    """A step for minor marks that divides `step`."""
    for parts in (5, 4, 2):
        if step % parts == 0 and (step // parts) in {f * 10**p for f in (1, 2, 5) for p in range(20)}:
            return step // parts
    return step


class Window(Struct, frozen=True):
    """A stretch of a run, in nanoseconds. `note`: what was left out, "": nothing."""

    start: int
    end: int
    note: str = ""

    @property
    def span(self) -> int:
        return self.end - self.start


class SlotOfRun(Struct, frozen=True):
    """A domain has the processor from `start` to `end`, in nanoseconds since boot."""

    domain: int
    start: int
    end: int


def slots_between(
    schedule: Sequence[tuple[int, int]], start: int, end: int, begun: int = 0
) -> Iterator[SlotOfRun]:
    """The slots of a schedule of (domain, nanoseconds) that are in a stretch of time, at least in part. The
    schedule has `begun` at this time, and again and again before and after it."""
    whole = sum(length for _, length in schedule)
    if whole <= 0:
        return
    at = (start - begun) // whole * whole + begun
    while at < end:
        for domain, length in schedule:
            if at + length > start and at < end:
                yield SlotOfRun(domain, at, at + length)
            at += length


def choose_window(
    end: int,
    busy: Sequence[tuple[int, int]],
    wanted: tuple[int | None, int | None],
    sink: Sink,
    detail: int,
) -> Window | None:
    """What to show of a run of `end` ns: what is wanted or, where nothing is, as much as can be seen.

    `busy` are the stretches in which something happens. A picture can show `detail` stretches of common
    length: that is what is shown of a long run, and never an idle end. None: there is nothing to show,
    which is reported.
    """
    start = wanted[0] or 0
    stop = wanted[1] if wanted[1] is not None else end
    if start >= max(end, 1) or stop <= start:
        sink.report(
            WINDOW_EMPTY,
            f"nothing to show from {format_time(start)} to {format_time(stop)}: "
            f"the run ended at {format_time(end)}",
            help="" if end else "time passes in camkes_work(), and until a period, a timer or a timeout",
        )
        return None
    stop = min(stop, max(end, 1))
    if wanted != (None, None) or not busy:
        return Window(start, stop)
    lengths = sorted(high - low for low, high in busy)
    if lengths[len(lengths) // 2] < KERNEL_STEP:  # most are steps of the kernel
        lengths = [length for length in lengths if length >= KERNEL_STEP] or lengths
    longest = lengths[len(lengths) // 2] * detail
    last = max(high for _, high in busy)
    cut = min(last, max(longest, min(high for _, high in busy)))
    step = next_round(max(cut // 20, 1))
    shown = -(-cut // step) * step
    if shown >= stop * 9 // 10:
        return Window(start, stop)
    return Window(start, shown, f"the first {format_time(shown)} of {format_time(end)}")
