# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The analysis of budgets and of criticalities, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from msgspec import Struct

from camkes.analysis.budgets import Bounded, BudgetResult
from camkes.analysis.criticality import LevelResult
from camkes.analysis.demand import Time
from camkes.model.overrun import OverrunPolicy
from camkes.running.times import format_time
from camkes.showing.draw.table import paragraph, table


class BudgetBounds(Struct, frozen=True):
    """A task with a budget. `wcet` is that of a job with all its requests; `response` is a bound if all tasks
    keep their execution times, `isolated` one if other tasks only have budgets, both null for the reason
    beside them."""

    name: str
    wcet: int
    budget: int
    period: int
    overrun: OverrunPolicy
    response: int | None
    response_reason: str
    isolated: int | None
    isolated_reason: str


class CriticalityBounds(Struct, frozen=True):
    """A task at a criticality of the system: bounds of its response, by SMC and AMC-rtb of the literature and
    by this analysis; null where there is none."""

    name: str
    criticality: int
    smc: int | None
    amc_rtb: int | None
    response: int | None


def budget_bounds(budgets: Sequence[BudgetResult]) -> tuple[BudgetBounds, ...]:
    return tuple(
        BudgetBounds(
            name=each.task.name,
            wcet=ceil(each.demand),
            budget=each.time.budgets[0],
            period=each.time.period,
            overrun=each.time.overrun,
            response=whole(each.trusted.response),
            response_reason=each.trusted.reason,
            isolated=whole(each.isolated.response),
            isolated_reason=each.isolated.reason,
        )
        for each in budgets
    )


def criticality_bounds(levels: Sequence[LevelResult]) -> tuple[CriticalityBounds, ...]:
    return tuple(
        CriticalityBounds(each.task.name, each.level, whole(each.smc), whole(each.amc), whole(each.ours))
        for each in levels
    )


_NO_BOUND = "no bound"

#: columns that narrow terminals do not show, the first one first
_SPARE = ("SMC", "AMC-rtb", "period", "C", "overrun", "budget")


class TimeTable(NamedTuple):
    """The first row is the head; the columns `left` are of words. `about` says what the figures are."""

    title: str
    rows: list[tuple[str, ...]]
    left: frozenset[int]
    about: tuple[str, str]


def tables(
    budgets: Sequence[BudgetResult], levels: Sequence[LevelResult], met: Mapping[str, str]
) -> list[TimeTable]:
    """A table of budgets, and one of criticalities where there are several. `met` are the words for a
    deadline of each task that is met, with what is assumed for that."""
    rows: list[tuple[str, ...]] = [("task", "C", "budget", "period", "overrun", "R", "R isolated", "verdict")]
    for each in budgets:
        times = map(_time, (each.demand, each.time.budgets[0], each.time.period))
        bounds = (_bound(each.trusted), _bound(each.isolated))
        rows.append(
            (each.task.name, *times, each.time.overrun.value, *bounds, _verdict(each, met[each.task.name]))
        )
    about = (
        "R: longest response if all tasks keep their execution times.",
        "R isolated: whatever other tasks do within their budgets; CPIs keep their execution times.",
    )
    found = [TimeTable("Budgets", rows, frozenset({0, 4, 7}), about)]
    lost = {b.task.name: b.trusted.reason for b in budgets if b.trusted.reason.startswith(_NO_BOUND)}
    if levels:
        figures: list[tuple[str, ...]] = [
            ("task", "criticality", "SMC", "AMC-rtb", "R", "deadline", "verdict")
        ]
        figures += [
            (
                each.task.name,
                str(each.level),
                *("-" if time is None else _time(time) for time in (each.smc, each.amc, each.ours)),
                _time(each.task.deadline),
                lost.get(each.task.name, "can be missed") if each.ours is None else met[each.task.name],
            )
            for each in levels
        ]
        about = (
            "criticality: that of the system. R: longest response, with the switch.",
            "SMC, AMC-rtb: bounds from the literature, to compare.",
        )
        found.append(TimeTable("Criticalities", figures, frozenset({0, 6}), about))
    return found


def to_text(
    budgets: Sequence[BudgetResult],
    levels: Sequence[LevelResult],
    met: Mapping[str, str],
    *,
    color: bool = False,
    width: int | None = None,
) -> str:
    """The tables as text."""
    parts = []
    for each in tables(budgets, levels, met):
        right = set(range(len(each.rows[0]))) - each.left
        spare = [heading for heading in _SPARE if heading in each.rows[0]]
        parts.append(table(each.rows, right=right, color=color, width=width, spare=spare))
        parts.append("\n".join(line for text in each.about for line in paragraph(text, width)))
    return "\n\n".join(parts)


def _verdict(result: BudgetResult, met: str) -> str:
    response = result.trusted.response
    if response is None:
        reason = result.trusted.reason
        if reason.startswith(_NO_BOUND):
            return reason
        return _NO_BOUND if reason == "overload" else f"not applicable: {reason}"
    if response > result.task.deadline:
        return "can be missed"
    isolated = result.isolated.response
    if isolated is None:
        return f"{met}; not isolated: {result.isolated.reason}"
    if isolated > result.task.deadline:
        return f"{met}; others can delay it too long"
    return f"{met}, isolated" if met == "met" else f"{met}; isolated"


def _bound(bound: Bounded) -> str:
    return "-" if bound.response is None else _time(bound.response)


def whole(time: Time | None) -> int | None:
    """Rounded up to nanoseconds."""
    return None if time is None else ceil(time)


def _time(value: Time) -> str:
    return format_time(ceil(value), 6)
