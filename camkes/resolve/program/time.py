# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The words for time as a resource: servers, overrun policies, extensions and criticality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from camkes.diagnostics import Label, Sink, Span
from camkes.model.overrun import Degradation, Degraded, OverrunPolicy, ServerKind
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
    WCET,
    WCETS,
    Known,
)
from camkes.model.system import Cpi, Instance, Task
from camkes.model.units import duration
from camkes.resolve import codes
from camkes.resolve.program.reader import Reader
from camkes.resolve.values.clauses import policy, quoted
from camkes.resolve.words.nearest import suggestion

_Choice = TypeVar("_Choice", ServerKind, Degraded)


def stated_policy(
    reader: Reader, prefix: str, possible: Sequence[OverrunPolicy], spans: dict[str, Span]
) -> OverrunPolicy | None:
    """The overrun policy that a configuration states."""
    stated = reader.text(OVERRUN, prefix, spans, [each.value for each in possible])
    return None if stated is None else policy(stated, possible, spans[OVERRUN.name], reader.sink)


def stated_server(reader: Reader, spans: dict[str, Span]) -> ServerKind | None:
    """How the scheduling context of a task accounts for time."""
    words = [each.value for each in ServerKind]
    stated = reader.text(SERVER, "_", spans, words)
    return None if stated is None else _choice(stated, ServerKind, words, spans[SERVER.name], reader.sink)


def stated_degradation(reader: Reader, spans: dict[str, Span]) -> Degradation:
    """What a task does above its criticality."""
    words = ["suspend", "background", "stretch 4"]
    stated = reader.text(DEGRADED, "_", spans, words)
    if stated is None:
        return Degradation()
    word, _, factor = stated.partition(" ")
    if word == Degraded.STRETCH.value and factor.isdecimal() and len(factor) <= 6 and int(factor) > 1:
        return Degradation(Degraded.STRETCH, int(factor))
    if word == Degraded.STRETCH.value:
        reader.sink.report(
            codes.UNKNOWN_CHOICE,
            f'"{word}" needs a factor of 2 to 999999, by which the period becomes longer',
            spans[DEGRADED.name],
            help=f'for example "{words[-1]}"',
        )
        return Degradation()
    kind = _choice(stated, Degraded, words, spans[DEGRADED.name], reader.sink)
    return Degradation() if kind is None else Degradation(kind)


def raised_times(
    reader: Reader, levels: Sequence[Known], prefix: str, spans: dict[str, Span]
) -> tuple[int | None, ...]:
    """The times at criticalities from 1 on, in nanoseconds; empty if none is stated."""
    times = tuple(reader.time(known, prefix, spans) for known in levels)
    return times if any(time is not None for time in times) else ()


def _choice(word: str, kind: type[_Choice], words: Sequence[str], span: Span, sink: Sink) -> _Choice | None:
    for each in kind:
        if each.value == word:
            return each
    sink.report(
        codes.UNKNOWN_CHOICE,
        f'expected one of the strings {quoted(words, chr(34))}, not "{word}"',
        span,
        help=suggestion(word, words),
    )
    return None


def check_times(
    instances: Sequence[Instance], tasks: Sequence[Task], cpis: Sequence[Cpi], sink: Sink
) -> None:
    """Report budgets above their periods, and values that fall while the criticality rises."""
    control = {task.instance for task in tasks}
    for instance in instances:
        configured = instance.configured
        threads = [configured.fault, *(each.thread for each in configured.interfaces.values())]
        for thread in threads if instance.name in control else (configured.control, *threads):
            _fits("a budget", BUDGET, thread.budget, PERIOD, thread.period, thread.spans, sink)
    for task in tasks:
        for known, budget in zip((BUDGET, *BUDGETS), (task.budget, *task.raised_budgets), strict=False):
            _fits("a budget", known, budget, PERIOD, task.period, task.spans, sink)
        whole = task.budget or task.period or DEFAULT_TIME if task.raised_budgets else None
        _rising("_", (BUDGET, *BUDGETS), (whole, *task.raised_budgets), task.spans, sink)
        _both("_", task, sink)
    for cpi in cpis:
        _both(f"{cpi.interface}_", cpi, sink)
        for method, times in cpi.method_times.items():
            levels = (times.wcet, *times.raised)
            _rising(f"{cpi.interface}_{method}_", (WCET, *WCETS), levels, times.spans, sink)


def _both(prefix: str, subject: Task | Cpi, sink: Sink) -> None:
    extension, period = subject.extension, subject.extension_period
    _fits("an extension", EXTENSION, extension, EXTENSION_PERIOD, period, subject.spans, sink)
    _rising(prefix, (WCET, *WCETS), (subject.wcet, *subject.raised_wcets), subject.spans, sink)


def _fits(
    what: str,
    known: Known,
    time: int | None,
    of: Known,
    period: int | None,
    spans: Mapping[str, Span],
    sink: Sink,
) -> None:
    """Whether a budget is within its period, if neither is wrong in itself."""
    longest = DEFAULT_TIME if period is None else period
    if time is None or time <= longest or (period is None and of.name in spans):
        return
    sink.report(
        codes.BUDGET,
        f"{what} of {duration(time)} is longer than the period of {duration(longest)}",
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
