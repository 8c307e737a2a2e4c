# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run as a picture: a lane a task, colour by interface, lines where it waits for a lock or a server, dots
where work of a raised priority holds it up, inherited priorities, releases, deadlines and faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from camkes.diagnostics import Sink
from camkes.running.model import Fault, Lane, Run, State, StateSegment
from camkes.running.names import TraceNames
from camkes.running.times import Window, choose_window, format_time, make_axis, slots_between
from camkes.showing.draw.budgets import (
    LEFT_FILL,
    PAID_FILL,
    PAID_LINE,
    ROOM,
    budget_strip,
    criticality_switches,
    overrun_mark,
)
from camkes.showing.draw.svg import (
    FAINT,
    INK,
    OWN,
    PALETTE,
    RULE,
    Drawing,
    darker,
    element,
    framed,
    shortened,
    text,
    text_width,
    title,
)
from camkes.showing.words import LOOKS, Look, exact_time, fault_words, helped_words, letters, state_words

WIDTH = 1000.0
LEFT = 26.0
RIGHT = 26.0
LANE = 58.0
NAME = 15.0  # of a task: bold letters of 14 points are as wide as common ones of this size
LONGEST = 280.0  # of a name, in points
BAR = 22.0
RAISED = "#b3261e"
FINE = 0.8  # points: anything shorter is joined with its neighbours
MARKS = 14.0  # under the line of a task, for releases and deadlines
SLOT_FILL = "#eaf1ea"
SEGMENTS = 80  # of common length that are shown if no window is given


def timeline_svg(
    run: Run,
    sink: Sink,
    window: tuple[int | None, int | None] = (None, None),
    heading: str = "",
) -> str | None:
    """The picture as text; None if there is nothing in the window."""
    busy = [(segment.start, segment.end) for lane in run.lanes for segment in lane.segments]
    shown = choose_window(run.end, busy, window, sink, SEGMENTS)
    return None if shown is None else _Timeline(run, shown, heading).draw()


def service_colours(run: Run) -> dict[str, str]:
    """A colour for each interface that threads serve, the same in all pictures of a system."""
    known = [thread.named.service for thread in run.threads if thread.named.service]
    order = list(dict.fromkeys((*known, *run.services)))
    return {service: PALETTE[i % len(PALETTE)] for i, service in enumerate(order)}


def service_letters(run: Run) -> dict[str, str]:
    """A letter for each of these interfaces in which something runs."""
    executed = {s.what for lane in run.lanes for s in lane.segments if s.state is State.RUNNING}
    return letters(service for service in service_colours(run) if service in executed)


class _Key(Struct, frozen=True):
    """An entry of the legend: a little drawing of `width` and words."""

    drawing: str
    width: float
    words: str


class _Timeline:
    def __init__(self, run: Run, window: Window, heading: str) -> None:
        self.run, self.window, self.heading = run, window, heading
        self.colours, self.letters = service_colours(run), service_letters(run)
        self.variants = {service: i // len(PALETTE) for i, service in enumerate(self.colours)}
        self.joined = False
        labels = [text_width(lane.task.name, NAME) for lane in run.lanes]
        self.x0 = LEFT + min(max([72.0, *labels]), LONGEST) + 16
        self.x1 = WIDTH - RIGHT
        self.top = (50.0 if heading else 22.0) + (12 if run.names.schedule else 0)
        self.lane = LANE + (ROOM if run.spent else 0)
        self.bottom = self.top + self.lane * len(run.lanes) + 6

    def x(self, time: int) -> float:
        return self.x0 + (self.x1 - self.x0) * (time - self.window.start) / self.window.span

    def draw(self) -> str:
        keys = self._legend()
        rows = list(_rows(keys, self.x1 - self.x0))
        height = self.bottom + 52 + 24 * len(rows) + 12
        label = self.heading or "Timeline of a run"
        drawing = Drawing(WIDTH, height, label)
        self.drawing = drawing
        if self.heading:
            drawing.add(text(LEFT, 28, self.heading, font_size=17, font_weight="600"))
        self._axis()
        self._slots()
        for row, lane in enumerate(self.run.lanes):
            self._lane(lane, self.top + self.lane * row + LANE - MARKS)
        drawn = {lane.thread for lane in self.run.lanes}
        for fault in self.run.faults:
            if fault.thread.number not in drawn and not fault.task:
                self._fault(fault, self.bottom)
        self._draw_legend(rows, self.bottom + 60)
        note = [self.window.note] if self.window.note else []
        if self.joined:
            shortest = int(FINE * self.window.span / (self.x1 - self.x0))
            note.append(f"intervals shorter than {format_time(shortest, 1)} are joined")
        if note:
            y = 28.0 if self.heading else 14.0
            drawing.add(text(self.x1, y, "; ".join(note), text_anchor="end", fill=FAINT, font_style="italic"))
        return drawing.render()

    def _fill(self, drawing: Drawing, service: str) -> str:
        """How work in a service looks: distinguished by hue, and by lines where there are too many."""
        colour = self.colours.get(service, OWN)
        return drawing.lined(_key(service), colour, self.variants.get(service, 0))

    # -- axis ---------------------------------------------------------------------------------------

    def _axis(self) -> None:
        axis = make_axis(self.window.start, self.window.end, 10)
        y = self.bottom
        add = self.drawing.add
        for time in axis.minor:
            add(element("path", d=f"M{self.x(time):.2f},{y:.2f} v4", stroke=FAINT, stroke_width=0.7))
        for time, label in axis.ticks:
            x = self.x(time)
            add(element("path", d=f"M{x:.2f},{self.top:.2f} V{y:.2f}", stroke=RULE, stroke_width=1))
            add(element("path", d=f"M{x:.2f},{y:.2f} v7", stroke=INK, stroke_width=1))
            add(text(x, y + 21, label, text_anchor="middle"))
        add(*criticality_switches(self.run, self.window, self.x, self.top, y))
        add(element("path", d=f"M{self.x0:.2f},{y:.2f} H{self.x1:.2f}", stroke=INK, stroke_width=1))
        add(text((self.x0 + self.x1) / 2, y + 39, f"time ({axis.unit})", text_anchor="middle", fill=FAINT))

    def _slots(self) -> None:
        """A band over the rows: the domain that has the processor."""
        y, start, end = self.top - 9, self.window.start, self.window.end
        begin = self.run.slots_begin
        for slot in slots_between(self.run.names.schedule, start, end, begin):
            x, right = self.x(max(slot.start, start)), self.x(min(slot.end, end))
            fill = PALETTE[slot.domain % len(PALETTE)]
            about = title(
                f"slot of domain {slot.domain} from {exact_time(slot.start)} to {exact_time(slot.end)}"
            )
            self._box(x, y, max(right - x, 0.6), 9, fill, FAINT, about)
            if right - x > 12:
                self.drawing.add(
                    text((x + right) / 2, y + 8, str(slot.domain), text_anchor="middle", font_size=9)
                )

    # -- a lane -------------------------------------------------------------------------------------

    def _lane(self, lane: Lane, base: float) -> None:
        add = self.drawing.add
        name = shortened(lane.task.name, NAME, LONGEST)
        words = text(LEFT, base - BAR / 2 - 1, name, font_size=14, font_weight="600")
        add(words if name == lane.task.name else element("g", title(lane.task.name) + words))
        add(text(LEFT, base - BAR / 2 + 13, f"priority {lane.task.priority}", font_size=11, fill=FAINT))
        add(element("path", d=f"M{self.x0:.2f},{base:.2f} H{self.x1:.2f}", stroke="#9aa5b1", stroke_width=1))
        visible = list(self._visible(lane.segments))
        for segment in visible:
            self._segment(segment, base, lane)
        self._raised(visible, base, lane)
        add(*budget_strip(self.run, lane.task.name, self.window, self.x, base + MARKS))
        self._jobs(lane, base)
        for fault in self.run.faults:
            if lane.thread == fault.thread.number or (lane.is_task and lane.task.name == fault.task):
                self._fault(fault, base - BAR / 2)

    def _visible(self, segments: Sequence[StateSegment]) -> Iterator[StateSegment]:
        """The segments in the window, cut to it; what looks the same is one, what is too short is joined."""
        start, end = self.window.start, self.window.end
        fine = FINE * self.window.span / (self.x1 - self.x0)
        pending: list[StateSegment] = []
        last: StateSegment | None = None
        for whole in segments:
            if whole.end <= start or whole.start >= end:
                continue
            segment = replace(whole, start=max(whole.start, start), end=min(whole.end, end))
            if pending and segment.end - pending[0].start > fine:
                yield self._joined(pending)
                pending = []
            if segment.duration <= fine:
                if last:
                    yield last
                    last = None
                pending.append(segment)
            elif last and _looks_alike(last, segment):
                last = replace(last, end=segment.end)
            else:
                if last:
                    yield last
                last = segment
        if pending:
            yield self._joined(pending)
        if last:
            yield last

    def _joined(self, pending: Sequence[StateSegment]) -> StateSegment:
        """One segment for several that are too short to see: what takes most of the time."""
        if len(pending) > 1:
            self.joined = True
        longest = max(pending, key=lambda segment: segment.duration)
        return replace(longest, start=pending[0].start, end=pending[-1].end)

    def _segment(self, segment: StateSegment, base: float, lane: Lane) -> None:
        x, width = self.x(segment.start), max(self.x(segment.end) - self.x(segment.start), 0.6)
        about = title(_describe(segment, lane, self.run.names))
        colour = self.colours.get(segment.what, OWN)
        border = darker(colour)
        middle = base - BAR / 2 + 4
        look, letter = LOOKS.get(segment.state), self.letters.get(segment.what, "")
        if segment.state is State.RUNNING:
            fill = self._fill(self.drawing, segment.what)
            self._box(x, base - BAR, width, BAR, fill, border, about)
            self._words(x, middle, width, [segment.what, segment.what.split(".")[0], letter])
        elif look in (Look.WAITS, Look.SIGNAL):
            self._box(
                x, base - BAR, width, BAR, self.drawing.hatch(_key(segment.what), colour), border, about
            )
            self._words(x, middle, width, [f"waits for {segment.what}", segment.what, letter], True)
        elif look is Look.HELD_UP:
            fill = self.drawing.dots(_key(segment.what), colour)
            self._box(x, base - BAR, width, BAR, fill, border, about)
            holder = segment.what or segment.by
            self._words(x, middle, width, [f"held up by {holder}", holder, letter], True)
        elif look is Look.READY:
            self._box(x, base - 7, width, 7, "#eef1f5", "#9aa5b1", about)
        elif look is Look.BUDGET:
            self._box(x, base - 7, width, 7, "#ffffff", RAISED, about)
        elif look is Look.SLOT:
            self._box(x, base - 7, width, 7, SLOT_FILL, FAINT, about)
        elif look is Look.STOPPED:
            line = f"M{x:.2f},{base - 3:.2f} h{width:.2f}"
            self.drawing.add(element("path", about, d=line, stroke=RAISED, stroke_width=1.5))
        else:
            line = f"M{x:.2f},{base - 3:.2f} h{width:.2f}"
            self.drawing.add(
                element("path", about, d=line, stroke=FAINT, stroke_width=1.5, stroke_dasharray="1.5 3")
            )

    def _box(
        self, x: float, y: float, width: float, height: float, fill: str, stroke: str, about: str
    ) -> None:
        line = 0.9 if width > 3 else 0.0
        self.drawing.add(
            element(
                "rect",
                about,
                x=x,
                y=y,
                width=width,
                height=height,
                fill=fill,
                stroke=stroke if line else None,
                stroke_width=line or None,
            )
        )

    def _words(self, x: float, y: float, width: float, choices: Sequence[str], frame: bool = False) -> None:
        """The first of the choices that fits, in the middle of a box."""
        for words in choices:
            if words and text_width(words, 11) + (8 if len(words) > 1 else 1.5) <= width:
                if frame:
                    self.drawing.add(framed(x + width / 2, y - 4, words, 11))
                else:
                    self.drawing.add(text(x + width / 2, y, words, font_size=11, text_anchor="middle"))
                return

    def _raised(self, segments: Sequence[StateSegment], base: float, lane: Lane) -> None:
        """A line over work that runs above the task's own priority; an arrow and the number where it is
        inherited. (At a fixed CPI it always is above: the colour shows it.)"""
        free = self.x0
        for stretch in raises(segments, lane, self.run):
            x, end = self.x(stretch.start), self.x(stretch.end)
            y = base - BAR - 3.5
            self.drawing.add(element("path", d=f"M{x:.2f},{y:.2f} H{end:.2f}", stroke=RAISED, stroke_width=2))
            if x >= free:
                number = str(stretch.priority)
                self.drawing.add(_up_arrow(x + 4, y - 3))
                self.drawing.add(
                    text(x + 10, y - 3.5, number, font_size=10.5, font_weight="600", fill=RAISED)
                )
                free = x + 14 + text_width(number, 10.5)

    def _jobs(self, lane: Lane, base: float) -> None:
        """Under the line, so that they cover no work however many there are: a mark up at a release, one down
        at a deadline, red where it was missed."""
        for job in lane.jobs:
            if self._shows(job.release):
                words = f"{lane.task.name}: job {job.number} released at {exact_time(job.release)}"
                self.drawing.add(_release(self.x(job.release), base, words))
            if job.deadline is not None and self._shows(job.deadline):
                words = f"{lane.task.name}: deadline of job {job.number} at {exact_time(job.deadline)}"
                words += ", missed" if job.missed else ""
                self.drawing.add(_deadline(self.x(job.deadline), base, words, job.missed))

    def _fault(self, fault: Fault, y: float) -> None:
        if self._shows(fault.time):
            self.drawing.add(_cross(self.x(fault.time), y, fault_words(fault)))

    def _shows(self, time: int) -> bool:
        return self.window.start <= time <= self.window.end

    # -- legend -------------------------------------------------------------------------------------

    def _legend(self) -> list[_Key]:
        drawing = Drawing(0, 0, "")
        seen = {LOOKS.get(s.state) for lane in self.run.lanes for s in self._visible(lane.segments)}
        used = {s.what for lane in self.run.lanes for s in self._visible(lane.segments)}
        keys = [_Key(_swatch(OWN), 22, "the task's own code")]
        protocols = {cpi.name: cpi for cpi in self.run.names.cpis}
        for service, colour in self.colours.items():
            condition = self.run.names.condition(service)
            if service in used and condition is not None:
                words = ", ".join(filter(None, (f"blocked on {service}", helped_words(condition))))
                keys.append(_Key(_swatch(drawing.hatch(_key(service), colour), darker(colour)), 22, words))
            elif service in used:
                cpi = protocols.get(service)
                words = service
                if cpi and cpi.protocol.own_priority:
                    words += f" ({cpi.protocol.value}, {cpi.ceiling})"
                elif cpi:
                    words += f" ({cpi.protocol.value})"
                letter = self.letters.get(service, "")
                swatch = _swatch(self._fill(drawing, service), darker(colour), letter)
                keys.append(_Key(swatch, 22, words))
        for look in (Look.WAITS, Look.SIGNAL):
            if look in seen:
                fill = drawing.hatch("legend", FAINT)
                keys.append(_Key(_swatch(fill, FAINT), 22, look.value))
        if Look.HELD_UP in seen:
            fill = drawing.dots("legend", FAINT)
            keys.append(_Key(_swatch(fill, FAINT), 22, Look.HELD_UP.value))
        for look, inside, line in (
            (Look.READY, "#eef1f5", "#9aa5b1"),
            (Look.BUDGET, "#ffffff", RAISED),
            (Look.SLOT, SLOT_FILL, FAINT),
        ):
            if look in seen:
                box = element("rect", y=-6, width=22, height=7, fill=inside, stroke=line, stroke_width=0.9)
                keys.append(_Key(box, 22, look.value))
        if Look.SLEEPS in seen:
            keys.append(
                _Key(
                    element("path", d="M0,-4 h22", stroke=FAINT, stroke_width=1.5, stroke_dasharray="1.5 3"),
                    22,
                    Look.SLEEPS.value,
                )
            )
        if any(any(raises(list(self._visible(e.segments)), e, self.run)) for e in self.run.lanes):
            line = element("path", d="M0,1 H22", stroke=RAISED, stroke_width=2)
            keys.append(_Key(line + _up_arrow(4, -2), 22, "inherited priority"))
        jobs = [job for lane in self.run.lanes for job in lane.jobs]
        if any(self._shows(job.release) for job in jobs):
            keys.append(_Key(_release(5, -7, ""), 10, "release"))
        ends = [job for job in jobs if job.deadline is not None and self._shows(job.deadline)]
        if ends:
            keys.append(_Key(_deadline(5, -13, "", False), 10, "deadline"))
        if any(job.missed for job in ends):
            keys.append(_Key(_deadline(5, -13, "", True), 10, "missed deadline"))
        keys += self._budget_keys()
        if any(self._shows(fault.time) for fault in self.run.faults):
            keys.append(_Key(_cross(5, -4, ""), 10, "fault"))
        return keys

    def _budget_keys(self) -> Iterator[_Key]:
        if self.run.spent:
            left = element("path", d="M0,3 V-8 L20,3 Z", fill=LEFT_FILL)
            yield _Key(left, 22, "left of the budget until its next refill")
        if any(p.start < self.window.end and p.end > self.window.start for p in self.run.payments):
            yield _Key(_swatch(PAID_FILL, PAID_LINE), 22, "on the budget of another task, or an extension")
        if any(self._shows(overrun.time) for overrun in self.run.overruns):
            yield _Key(overrun_mark(5, 0), 10, "budget used up")

    def _draw_legend(self, rows: Sequence[Sequence[_Key]], y: float) -> None:
        drawn = "".join(key.drawing for row in rows for key in row)
        if "hatch-legend" in drawn:
            self.drawing.hatch("legend", FAINT)
        if "dots-legend" in drawn:
            self.drawing.dots("legend", FAINT)
        for row in rows:
            x = self.x0
            for key in row:
                self.drawing.add(element("g", key.drawing, transform=f"translate({x:.2f} {y:.2f})"))
                self.drawing.add(text(x + key.width + 6, y, key.words, font_size=11.5))
                x += _key_width(key)
            y += 24


def _key_width(key: _Key) -> float:
    return key.width + 6 + text_width(key.words, 11.5) + 24


def _rows(keys: Sequence[_Key], width: float) -> Iterator[list[_Key]]:
    """Break the legend into rows that fit."""
    row: list[_Key] = []
    used = 0.0
    for key in keys:
        if row and used + _key_width(key) - 24 > width:
            yield row
            row, used = [], 0.0
        row.append(key)
        used += _key_width(key)
    if row:
        yield row


def _looks_alike(a: StateSegment, b: StateSegment) -> bool:
    if a.state is b.state and LOOKS.get(a.state) is Look.READY:
        return a.end == b.start and a.by == b.by
    same = (a.state, a.what, a.priority, a.holders) == (b.state, b.what, b.priority, b.holders)
    return a.end == b.start and same


def raises(segments: Sequence[StateSegment], lane: Lane, run: Run) -> Iterator[StateSegment]:
    """Stretches in which work runs at an inherited priority."""
    fixed = {cpi.name for cpi in run.names.cpis if cpi.protocol.own_priority}
    served = {cpi.name for cpi in run.names.cpis}
    last: StateSegment | None = None
    for segment in segments:
        inherited = (
            segment.state is State.RUNNING
            and (not segment.what or segment.what in served - fixed)
            and segment.priority > lane.task.priority
        )
        if last and inherited and last.end == segment.start and last.priority == segment.priority:
            last = replace(last, end=segment.end)
            continue
        if last:
            yield last
        last = segment if inherited else None
    if last:
        yield last


def _describe(segment: StateSegment, lane: Lane, names: TraceNames) -> str:
    """A segment in words."""
    start, end, duration = map(exact_time, (segment.start, segment.end, segment.duration))
    at = f" at priority {segment.priority}" if segment.state is State.RUNNING else ""
    meanwhile = f" while {segment.by} runs" if segment.by else ""
    return f"{lane.task.name}: {state_words(segment, names)}{at}{meanwhile}, {start} to {end} ({duration})"


def _key(service: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in service) or "own"


def _swatch(fill: str, border: str = "", letter: str = "") -> str:
    box = element(
        "rect", y=-10, width=22, height=13, fill=fill, stroke=border or darker(fill), stroke_width=0.9
    )
    return box + (text(11, 0, letter, font_size=11, text_anchor="middle") if letter else "")


def _up_arrow(x: float, y: float) -> str:
    return element(
        "path", d=f"M{x:.2f},{y:.2f} v-9 m-3,3.5 l3,-3.8 l3,3.8", fill="none", stroke=RAISED, stroke_width=1.5
    )


def _cross(x: float, y: float, about: str) -> str:
    line = f"M{x - 5:.2f},{y - 5:.2f} l10,10 m0,-10 l-10,10"
    return element("path", title(about) if about else "", d=line, stroke=RAISED, stroke_width=2.6)


def _release(x: float, base: float, about: str) -> str:
    mark = f"M{x:.2f},{base + 1:.2f} l3,5 h-6 z"
    return element("path", title(about) if about else "", d=mark, fill=INK)


def _deadline(x: float, base: float, about: str, missed: bool) -> str:
    mark = f"M{x:.2f},{base + MARKS - 1:.2f} l-3,-5 h6 z"
    colours = {"fill": RAISED, "stroke": RAISED} if missed else {"fill": "none", "stroke": FAINT}
    return element("path", title(about) if about else "", d=mark, stroke_width=1, **colours)
