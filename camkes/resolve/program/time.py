# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The words for time as a resource: servers, overrun policies, extensions and criticality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from camkes.diagnostics import Label, Sink, Span
from camkes.model.codes import BAD_TIME
from camkes.model.overrun import Degradation, Degraded, OverrunPolicy, ServerKind
from camkes.model.setting_reader import SettingReader
from camkes.model.settings import (
    BUDGET,
    BUDGETS,
    DEFAULT_TIME,
    DEGRADED,
    EXTENSION,
    EXTENSION_PERIOD,
    OVERRUN,
    PERIOD,
    SERVER,
    SHORTEST_TIME,
    WCET,
    WCETS,
    Known,
)
from camkes.model.system import Cpi, Instance, Setting, Task, in_words
from camkes.model.units import duration
from camkes.resolve import codes
from camkes.resolve.values.clauses import policy, quoted
from camkes.resolve.words.nearest import suggestion

_Choice = TypeVar("_Choice", ServerKind, Degraded)


class TimeReader(SettingReader, frozen=True):
    """Reads what is stated of the time of tasks and CPIs. Each place is added to `spans`; what is wrong is
    reported, and counts as not stated."""

    def policy(
        self, instance: Instance, prefix: str, possible: Sequence[OverrunPolicy], spans: dict[str, Span]
    ) -> OverrunPolicy | None:
        """The overrun policy that a configuration states."""
        stated = self._text(instance, OVERRUN, prefix, [each.value for each in possible], spans)
        return None if stated is None else policy(str(stated.value), possible, stated.span, self.sink)

    def server(self, instance: Instance, spans: dict[str, Span]) -> ServerKind | None:
        """How the scheduling context of a task accounts for time."""
        words = [each.value for each in ServerKind]
        stated = self._text(instance, SERVER, "_", words, spans)
        return None if stated is None else self._choice(str(stated.value), ServerKind, words, stated.span)

    def degradation(self, instance: Instance, spans: dict[str, Span]) -> Degradation:
        """What a task does above its criticality."""
        words = ["suspend", "background", "stretch 4"]
        stated = self._text(instance, DEGRADED, "_", words, spans)
        if stated is None:
            return Degradation()
        word, _, factor = str(stated.value).partition(" ")
        if word == Degraded.STRETCH.value and factor.isdecimal() and len(factor) <= 6 and int(factor) > 1:
            return Degradation(Degraded.STRETCH, int(factor))
        if word == Degraded.STRETCH.value:
            self.sink.report(
                codes.UNKNOWN_CHOICE,
                f'"{word}" needs a factor of 2 to 999999, by which the period becomes longer',
                stated.span,
                help=f'for example "{words[-1]}"',
            )
            return Degradation()
        kind = self._choice(str(stated.value), Degraded, words, stated.span)
        return Degradation() if kind is None else Degradation(kind)

    def extension(
        self, instance: Instance, prefix: str, spans: dict[str, Span]
    ) -> tuple[int | None, int | None]:
        """The budget and the period of an extension, in nanoseconds."""
        budget, period = (
            self.time(instance, known, known.names(prefix), spans) for known in (EXTENSION, EXTENSION_PERIOD)
        )
        return budget, period

    def raised(
        self, instance: Instance, levels: Sequence[Known], prefix: str, spans: dict[str, Span]
    ) -> tuple[int | None, ...]:
        """The times at criticalities from 1 on, in nanoseconds; empty if none is stated."""
        times = tuple(self.time(instance, known, known.names(prefix), spans) for known in levels)
        return times if any(time is not None for time in times) else ()

    def integer(self, instance: Instance, known: Known, spans: dict[str, Span]) -> int | None:
        """A whole number that is stated of a task."""
        stated = self.get(instance, known.of("_"))
        if stated is None:
            return None
        spans[known.name] = stated.span
        return self._integer(stated, known.of("_"), known)

    def _text(
        self, instance: Instance, known: Known, prefix: str, words: Sequence[str], spans: dict[str, Span]
    ) -> Setting | None:
        stated = self.get(instance, known.of(prefix))
        if stated is None:
            return None
        spans[known.name] = stated.span
        if isinstance(stated.value, str):
            return stated
        self.sink.report(
            codes.UNKNOWN_CHOICE,
            f"{known.of(prefix)} must be one of the strings " + quoted(words, '"'),
            stated.span,
            f"this is {in_words(stated.value)}",
        )
        return None

    def _choice(self, word: str, kind: type[_Choice], words: Sequence[str], span: Span) -> _Choice | None:
        for each in kind:
            if each.value == word:
                return each
        self.sink.report(
            codes.UNKNOWN_CHOICE,
            f'expected one of the strings {quoted(words, chr(34))}, not "{word}"',
            span,
            help=suggestion(word, words),
        )
        return None


def check_times(tasks: Sequence[Task], cpis: Sequence[Cpi], sink: Sink) -> None:
    """Report budgets above their periods, and values that fall while the criticality rises."""
    for task in tasks:
        period = task.period or DEFAULT_TIME
        for known, budget in zip(BUDGETS, task.raised_budgets, strict=False):
            _fits(known, "a budget", budget, PERIOD, period, task.spans, sink)
        whole = task.budget or period if task.raised_budgets else None
        _rising("_", (BUDGET, *BUDGETS), (whole, *task.raised_budgets), task.spans, sink)
        _both("_", task, sink)
    for cpi in cpis:
        _both(f"{cpi.interface}_", cpi, sink)


def _both(prefix: str, subject: Task | Cpi, sink: Sink) -> None:
    period = subject.extension_period or DEFAULT_TIME
    _fits(EXTENSION, "an extension", subject.extension, EXTENSION_PERIOD, period, subject.spans, sink)
    _rising(prefix, (WCET, *WCETS), (subject.wcet, *subject.raised_wcets), subject.spans, sink)


def _fits(
    known: Known,
    what: str,
    time: int | None,
    of: Known,
    period: int,
    spans: Mapping[str, Span],
    sink: Sink,
) -> None:
    if time is not None and time < SHORTEST_TIME:
        least = duration(SHORTEST_TIME)
        sink.report(BAD_TIME, f"{what} must be at least {least}", spans[known.name], "too short")
    if time is None or time <= period:
        return
    sink.report(
        codes.BUDGET,
        f"{what} of {duration(time)} is longer than the period of {duration(period)}",
        spans[known.name],
        "longer than the period",
        related=[Label(spans[of.name], "the period")] if of.name in spans else [],
        notes=[] if of.name in spans else ["the default of the period is 10 ms"],
        help="a budget is the time for which a thread may run in each period",
    )


def _rising(
    prefix: str, levels: Sequence[Known], times: Sequence[int | None], spans: Mapping[str, Span], sink: Sink
) -> None:
    stated = [(known, time) for known, time in zip(levels, times, strict=False) if time is not None]
    for (lower, low), (known, time) in pairwise(stated):
        if time < low:
            span = spans.get(lower.name)
            sink.report(
                codes.FALLING_LEVELS,
                f"`{known.of(prefix)}` of {duration(time)} is less than the {duration(low)} of"
                f" `{lower.of(prefix)}`",
                spans[known.name],
                "less than at a lower criticality",
                related=[Label(span, duration(low))] if span is not None else [],
                notes=[] if span is not None else ["without a budget a task may use its whole period"],
                help="state for higher criticalities what is as long or longer",
            )
