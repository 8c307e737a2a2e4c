# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Proposed priorities, margins of execution times and effects of protocols, as tables and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from camkes.analysis.assignment import Policy
from camkes.analysis.sensitivity import Margin, ResponseTimeChange
from camkes.analysis.workload import Workload
from camkes.model.protocols import Protocol
from camkes.running.times import format_time
from camkes.showing.draw.table import paragraph, table


def priorities_text(
    workload: Workload, policy: Policy, priorities: Mapping[str, int], *, color: bool = False
) -> str:
    """Old and new priorities, from the highest."""
    rows: list[tuple[str, ...]] = [("task", "period", "deadline", "priority", policy.value)]
    for task in sorted(workload.tasks, key=lambda task: (-priorities[task.name], task.name)):
        times = (_time(task.period), _time(task.deadline))
        rows.append((task.name, *times, str(task.priority), str(priorities[task.name])))
    return table(rows, right={1, 2, 3, 4}, color=color)


def margins_text(margins: Sequence[Margin], *, color: bool = False) -> str:
    """How far each execution time can grow."""
    rows: list[tuple[str, ...]] = [("execution time of", "now", "at most", "more", "factor")]
    for margin in margins:
        if margin.longest is None:
            rows.append((margin.name, _time(margin.now), "-", "-", "-"))
        else:
            factor = f"{margin.longest / margin.now:.3g}" if margin.now else "-"
            more = _time(margin.longest - margin.now)
            rows.append((margin.name, _time(margin.now), _time(margin.longest), more, factor))
    said = (
        "" if all(margin.longest is not None for margin in margins) else "\nA deadline can be missed already."
    )
    return table(rows, right={1, 2, 3, 4}, color=color) + said


def changes_text(
    changes: Sequence[ResponseTimeChange], *, assumed: bool, color: bool = False, width: int | None = None
) -> str:
    """Which protocols make some response shorter, and all that changes with them. `assumed`: bounds rest on
    assumptions."""
    if not changes:
        return "No other protocol of a CPI makes a response shorter."
    rows: list[tuple[str, ...]] = [("CPI", "from", "to", "deadlines", "responses")]
    for change in changes:
        responses = ", ".join(f"{name} {_time(now)} -> {_time(then)}" for name, now, then in change.responses)
        rows.append(
            (
                change.cpi,
                change.before.value,
                change.after.value + ("*" if change.shares else ""),
                ("met if" if assumed else "met") if change.good else "can be missed",
                responses,
            )
        )
    lines = [table(rows, right=set(), color=color, width=width)]
    if any(change.shares for change in changes):
        note = "* requests are then served at the same time: the code has to be reentrant"
        lines += paragraph(note, width)
    return "\n".join(lines)


class MarginReport(Struct, frozen=True):
    """An execution time, and how long it can be; `longest` is null where a deadline can be missed already."""

    name: str
    kind: Literal["task", "cpi"]
    now: int
    longest: int | None


class ResponseChange(Struct, frozen=True):
    """The response of a task, `now` and `then`; null: no bound."""

    task: str
    now: int | None
    then: int | None


class ProtocolChange(Struct, frozen=True):
    """What another protocol of a CPI changes. `reentrant`: its code has to be."""

    cpi: str
    before: Protocol = field(name="from")
    after: Protocol = field(name="to")
    reentrant: bool
    deadlines_met: bool
    responses: tuple[ResponseChange, ...]


class SensitivityReport(Struct, frozen=True):
    """How far execution times can grow, and which other protocols make responses shorter."""

    margins: tuple[MarginReport, ...]
    changes: tuple[ProtocolChange, ...]


def to_report(margins: Sequence[Margin], changes: Sequence[ResponseTimeChange]) -> SensitivityReport:
    return SensitivityReport(
        tuple(MarginReport(m.name, "task" if m.is_task else "cpi", m.now, m.longest) for m in margins),
        tuple(
            ProtocolChange(
                change.cpi,
                change.before,
                change.after,
                change.shares,
                change.good,
                tuple(ResponseChange(*each) for each in change.responses),
            )
            for change in changes
        ),
    )


def _time(value: int | None) -> str:
    return "-" if value is None else format_time(value, 6)
