# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run for the terminal: a compact chart, a row a task, and a table of response times."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from camkes.diagnostics import Sink
from camkes.running.chains import chain_latencies, data_ages
from camkes.running.jobs import ResponseTimes, response_times
from camkes.running.model import (
    Fault,
    Lane,
    Overrun,
    Payment,
    Run,
    Spent,
    State,
    StateSegment,
)
from camkes.running.times import (
    Window,
    choose_window,
    format_number,
    make_axis,
    slots_between,
    unit_for,
)
from camkes.showing.draw.table import table, terminal_width
from camkes.showing.draw.timeline import service_colours, service_letters
from camkes.showing.words import LOOKS, Look, exact_time, fault_words, state_words

#: ANSI codes of services, in the order of svg.PALETTE; own code is white
_COLOURS = (34, 33, 32, 35, 31, 36, 93, 92, 94, 95)
_OWN_COLOUR = 37
_RED = "31;1"
_MAX_WIDTH = 120
#: columns of response times that narrow terminals do not show, the first one first
_SPARE = ("released", "completed", "mean", "open", "priority", "min", "blocked", "deadline")
_ROWS = 8  # of a table of what can happen any number of times


class ChartStyle(Struct, frozen=True):
    """What the chart is drawn with."""

    own: str
    looks: Mapping[Look, str]
    fault: str
    nothing: str
    raised: str
    line: str
    tick: str


UNICODE = ChartStyle("█", dict(zip(Look, "░░▒▁┈·˽¤", strict=True)), "✗", " ", "↑", "─", "┴")
ASCII = ChartStyle("#", dict(zip(Look, "//%_.:u$", strict=True)), "X", " ", "^", "-", "|")


def terminal_report(
    run: Run,
    *,
    width: int | None = None,
    color: bool = False,
    unicode: bool = True,
    window: tuple[int | None, int | None] = (None, None),
) -> str:
    """Chart and table as text that ends with a newline; empty if the system has no tasks."""
    responses = response_table([response_times(lane) for lane in run.tasks], color, width or terminal_width())
    chains = {" -> ".join(chain.tasks): chain.latencies for chain in chain_latencies(run)}
    ages = {f"{each.reader} of {each.writer}": each.ages for each in data_ages(run)}
    responses += times_table("end-to-end latencies", "chain", chains, color)
    responses += times_table("ages of data", "data that a task read", ages, color)
    responses += spent_table(run.spent, color) + payment_table(run.payments, color)
    responses += overrun_table(run.overruns, color) + criticality_table(run.criticality, color)
    if not run.lanes or not run.scheduling or run.end == 0:
        return responses
    columns = min(width or shutil.get_terminal_size((80, 24)).columns, _MAX_WIDTH)
    busy = [(segment.start, segment.end) for lane in run.lanes for segment in lane.segments]
    shown = choose_window(run.end, busy, window, Sink(), columns)
    if shown is None:
        return responses
    return _Chart(run, shown, columns, color, UNICODE if unicode else ASCII).draw() + "\n" + responses


class _Chart:
    def __init__(self, run: Run, window: Window, columns: int, color: bool, style: ChartStyle) -> None:
        self.run, self.window, self.color, self.style = run, window, color, style
        order = list(service_colours(run))
        self.codes = {service: _COLOURS[i % len(_COLOURS)] for i, service in enumerate(order)}
        self.letters = service_letters(run)
        self.fixed = {cpi.name for cpi in run.names.cpis if cpi.protocol.own_priority}
        names = [lane.task.name for lane in run.lanes] + ["domain"] * bool(run.names.schedule)
        self.left = max(map(len, names)) + 2
        self.cells = max(columns - self.left - 1, 20)

    def draw(self) -> str:
        lines = self._slots()
        raises = False
        for lane in self.run.lanes:
            raised, bar = self._row(lane)
            if raised.strip():
                raises = True
                lines.append(" " * self.left + self._paint(raised.rstrip(), _RED))
            lines.append(f"{lane.task.name:<{self.left}}{bar}".rstrip())
        lines.extend(self._axis())
        lines.append("")
        lines.extend(self._legend(raises))
        if self.window.note:
            lines.append(f"shown: {self.window.note}")
        return "\n".join(lines) + "\n"

    def _slots(self) -> list[str]:
        """The domain that has the processor, at the start of each of its slots."""
        if not self.run.names.schedule:
            return []
        row = [" "] * self.cells
        start, span = self.window.start, self.window.span
        for slot in slots_between(self.run.names.schedule, start, self.window.end, self.run.slots_begin):
            first = max(slot.start - start, 0) * self.cells // span
            label = f"|{slot.domain}"
            cells = range(first, min((slot.end - start) * self.cells // span, self.cells))
            for cell, letter in zip(cells, label.ljust(len(cells)), strict=False):
                row[cell] = letter
        return [f"{'domain':<{self.left}}{''.join(row)}".rstrip()]

    def _row(self, lane: Lane) -> tuple[str, str]:
        """The inherited priorities above a bar, and the bar."""
        above = [" "] * self.cells
        bar: list[tuple[str, int | str | None]] = []
        before = 0
        for cell, segment in enumerate(self._sample(lane.segments)):
            bar.append(self._cell(segment))
            raised = 0
            if segment and segment.state is State.RUNNING and segment.what not in self.fixed:
                raised = segment.priority if segment.priority > lane.task.priority else 0
            if raised and raised != before:
                label = f"{self.style.raised}{raised}"
                if (
                    cell + len(label) <= self.cells
                    and not "".join(above[max(cell - 1, 0) : cell + len(label)]).strip()
                ):
                    above[cell : cell + len(label)] = label
            before = raised
        for fault in self._faults(lane):
            cell = min((fault.time - self.window.start) * self.cells // self.window.span, self.cells - 1)
            bar[cell] = (self.style.fault, _RED)
        stretches = groupby(bar, key=lambda cell: cell[1])
        return "".join(above), "".join(
            self._paint("".join(c for c, _ in run), code) for code, run in stretches
        )

    def _faults(self, lane: Lane) -> Iterator[Fault]:
        """Faults in the window that happened while work was done for a task."""
        for fault in self.run.faults:
            mine = lane.thread == fault.thread.number or (lane.is_task and lane.task.name == fault.task)
            if mine and self.window.start <= fault.time <= self.window.end:
                yield fault

    def _sample(self, segments: Sequence[StateSegment]) -> list[StateSegment | None]:
        """For each cell what takes most of it; running wins over a tie."""
        shares: list[dict[StateSegment, int]] = [{} for _ in range(self.cells)]
        start, span = self.window.start, self.window.span
        for segment in segments:
            if segment.end <= start or segment.start >= self.window.end:
                continue
            first = max(segment.start - start, 0) * self.cells // span
            last = min((min(segment.end, self.window.end) - start) * self.cells // span, self.cells - 1)
            for cell in range(first, last + 1):
                low, high = start + cell * span // self.cells, start + (cell + 1) * span // self.cells
                part = min(segment.end, high) - max(segment.start, low)
                if part > 0:
                    shares[cell][segment] = part
        return [_largest(share) for share in shares]

    def _cell(self, segment: StateSegment | None) -> tuple[str, int | str | None]:
        """What a cell shows and the code of its colour."""
        style = self.style
        if segment is None:
            return style.nothing, None
        if segment.state is State.RUNNING:
            if not segment.what:
                return style.own, _OWN_COLOUR
            return self.letters[segment.what], f"{self.codes[segment.what]};7"
        look = LOOKS[segment.state]
        colour: int | str | None = _RED if look is Look.STOPPED else None
        if look in (Look.WAITS, Look.SIGNAL, Look.HELD_UP):
            colour = self.codes.get(segment.what, _OWN_COLOUR)
        return style.looks[look], colour

    def _axis(self) -> list[str]:
        axis = make_axis(self.window.start, self.window.end, max(self.cells // 12, 2))
        rule = [self.style.line] * self.cells
        labels = [" "] * (self.cells + self.left)
        for time, label in axis.ticks:
            cell = (time - self.window.start) * self.cells // self.window.span
            if cell >= self.cells:
                continue
            rule[cell] = self.style.tick
            words = f"{label} {axis.unit}" if time == axis.ticks[-1][0] or time == axis.ticks[0][0] else label
            at = self.left + cell - (len(label) // 2 if cell else 0)
            if at + len(words) > len(labels):
                words = label
            if (
                at + len(words) <= len(labels)
                and not "".join(labels[max(at - 1, 0) : at + len(words) + 1]).strip()
            ):
                labels[at : at + len(words)] = words
        return [" " * self.left + "".join(rule), "".join(labels).rstrip()]

    def _legend(self, raises: bool) -> list[str]:
        style = self.style
        segments = [segment for lane in self.run.lanes for segment in lane.segments]
        helped = {s.what: s for s in segments if s.state is State.WAITS_HELPED}
        seen = {LOOKS.get(segment.state) for segment in segments if segment.state is not State.WAITS_HELPED}
        keys = [(self._paint(style.own, _OWN_COLOUR), "own code")]
        keys += [(self._paint(letter, f"{self.codes[s]};7"), s) for s, letter in self.letters.items()]
        keys += [(mark, look.value) for look, mark in style.looks.items() if look in seen]
        for segment in helped.values():
            keys.append((style.looks[LOOKS[segment.state]], state_words(segment, self.run.names)))
        if raises:
            keys.append((self._paint(style.raised, _RED), "inherited priority"))
        lines, line, used = [], "", 0
        for mark, words in keys:
            size = len(words) + 5
            if line and used + size > self.left + self.cells:
                lines.append(line.rstrip())
                line, used = "", 0
            line += f"{mark} {words}   "
            used += size
        faults = [f"{self._paint(style.fault, _RED)} {fault_words(fault)}" for fault in self.run.faults]
        return [*lines, line.rstrip(), *faults]

    def _paint(self, words: str, code: int | str | None) -> str:
        return f"\x1b[{code}m{words}\x1b[0m" if self.color and code is not None and words.strip() else words


def _largest(share: dict[StateSegment, int]) -> StateSegment | None:
    return max(share, key=lambda segment: (share[segment], segment.state is State.RUNNING), default=None)


def response_table(rows: Sequence[ResponseTimes], color: bool = False, width: int | None = None) -> str:
    """Response times, all in one unit; empty if no task has jobs."""
    if not any(row.released for row in rows):
        return ""
    largest = max((v for row in rows for v in (row.maximum, row.deadline) if v is not None), default=1)
    unit, size = unit_for(largest)

    def time(value: float | None) -> str:
        return "-" if value is None else format_number(value / size)

    columns: dict[str, list[str]] = {
        "task": [row.task for row in rows],
        "priority": [str(row.priority) for row in rows],
        "released": [str(row.released) for row in rows],
        "completed": [str(row.completed) for row in rows],
        "missed": ["-" if row.deadline is None else str(row.missed) for row in rows],
        "open": [str(row.open) for row in rows],
        "min": [time(row.minimum) for row in rows],
        "mean": [time(row.mean) for row in rows],
        "max": [time(row.maximum) for row in rows],
        "deadline": [time(row.deadline) for row in rows],
        "blocked": [time(row.blocked) for row in rows],
    }
    lines = [tuple(columns), *zip(*columns.values(), strict=True)]
    missed = list(columns).index("missed")
    alarms = {(number, missed) for number, row in enumerate(rows, 1) if row.missed}
    right = range(1, len(columns))
    text = table(lines, right=right, color=color, alarms=alarms, width=width, spare=_SPARE)
    return f"response times ({unit})\n{text}\n"


def times_table(title: str, of: str, rows: Mapping[str, Sequence[int]], color: bool = False) -> str:
    """Times of completed jobs, all in one unit; empty if there are no rows."""
    if not rows:
        return ""
    unit, size = unit_for(max((time for times in rows.values() for time in times), default=1))
    lines = [(of, "completed", "min", "mean", "max")]
    for name, times in rows.items():
        figures = (min(times), sum(times) / len(times), max(times)) if times else ()
        least, mean, most = (format_number(time / size) for time in figures) if figures else ("-",) * 3
        lines.append((name, str(len(times)), least, mean, most))
    return f"{title} ({unit})\n{table(lines, right=range(1, 5), color=color)}\n"


def spent_table(spent: Sequence[Spent], color: bool = False) -> str:
    """What was used of budgets that can be used up; empty if there are none."""
    if not spent:
        return ""
    unit, size = unit_for(max(each.used for each in spent) or 1)
    lines = [("time of", "budget", "period", "used", "waits", "timeouts")]
    for each in spent:
        budget, period, used = (format_number(t / size) for t in (each.budget, each.period, each.used))
        lines.append((each.name, budget, period, used, str(each.waits), str(each.timeouts)))
    return f"budgets ({unit})\n{table(lines, right=range(1, 6), color=color)}\n"


def payment_table(payments: Sequence[Payment], color: bool = False) -> str:
    """For whom budgets were used that were not their own; empty if that did not happen."""
    if not payments:
        return ""
    sums: dict[tuple[str, str, str], int] = {}
    for each in payments:
        key = each.payer, each.task, each.what or "own code"
        sums[key] = sums.get(key, 0) + each.end - each.start
    unit, size = unit_for(max(sums.values()))
    lines = [("on time of", "worked", "in", "used")]
    lines += [(*key, format_number(used / size)) for key, used in sums.items()]
    return f"time that others paid ({unit})\n{table(lines, right=range(3, 4), color=color)}\n"


def overrun_table(overruns: Sequence[Overrun], color: bool = False) -> str:
    """When budgets were used up, and what follows; empty if none was."""
    rows = [
        (each.payer, exact_time(each.time), each.what or "own code", each.task or each.thread, each.policy)
        for each in overruns
    ]
    return _first_rows("overruns", ("budget of", "used up at", "in", "by", "policy"), rows, {1}, color)


def criticality_table(changes: Sequence[tuple[int, int]], color: bool = False) -> str:
    """When the criticality of the system changed; empty if it did not."""
    rows = [(exact_time(time), str(level)) for time, level in changes]
    return _first_rows("criticality of the system", ("from", "criticality"), rows, {0, 1}, color)


def _first_rows(
    title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: Collection[int], color: bool
) -> str:
    """A table of the first rows, and how many more there are; empty without rows."""
    if not rows:
        return ""
    more = len(rows) - _ROWS
    rest = f"and {more} more\n" if more > 0 else ""
    return f"{title}\n{table([head, *rows[:_ROWS]], right=right, color=color)}\n{rest}"
