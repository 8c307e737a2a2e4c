# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A plan as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil

from camkes.analysis.verdict import Analysis, TaskResult
from camkes.model.units import duration
from camkes.protocols.jobs import Source, TaskJobs
from camkes.protocols.plan import Plan, PlannedCondition
from camkes.protocols.requests import Counted, Request
from camkes.protocols.signals import way
from camkes.running.times import format_time
from camkes.showing.draw.table import table
from camkes.showing.plan_json import results_by_task
from camkes.showing.plan_words import levels, policy_words, priority_words


def to_text(
    plan: Plan, analysis: Analysis | None = None, jobs: Mapping[str, TaskJobs] = {}, *, color: bool = False
) -> str:
    """Tables, as wide as their content. With an analysis, a task has its execution time with all requests
    (C), its blocking (B) and its longest response (R)."""
    results = results_by_task(analysis)
    tasks = [("task", "id", "priority", *(("C", "B", "R") if results else ()))]
    tasks += [
        (t.name, str(t.id), priority_words(t), *(_times(results.get(t.name)) if results else ()))
        for t in plan.tasks
    ]
    overrun = ("overrun", "binds contexts of") if plan.mcs else ()
    cpis = [("CPI", "protocol", "ceiling", "threads", "manager", *overrun, "tasks", "requests")]
    cpis += [
        (
            c.name,
            c.protocol.value + ("" if c.monitor is None else f" (monitor {c.monitor})"),
            str(c.ceiling),
            f"{c.threads} (pool)" if c.pooled else str(c.threads),
            "yes" if c.manager else "-",
            *((policy_words(c.overrun, c.extension), " ".join(c.payers) or "-") if plan.mcs else ()),
            " ".join(c.tasks) or "-",
            " ".join(c.requests) or "-",
        )
        for c in plan.cpis
    ]
    parts = [table(tasks, right={1, 2, 3, 4, 5}, color=color)] if plan.tasks else ["no tasks"]
    if plan.mcs and plan.tasks:
        parts.append(table(_time_rows(plan), right={1, 3, 4, 6}, color=color))
    parts.append(table(cpis, right={2}, color=color) if plan.cpis else "no CPIs with a protocol")
    if plan.conditions:
        conditions = [("condition", "kind", "ceiling", "waits", "helpers")]
        conditions += [
            (
                c.name,
                c.kind.replace("_", " "),
                str(c.ceiling),
                " ".join(c.lending.waiters) or "-",
                " ".join(c.lending.tasks()) or "-",
            )
            for c in plan.conditions
        ]
        parts.append(table(conditions, right={2}, color=color))
        if ways := [line for c in plan.conditions for line in _ways(c)]:
            parts.append("\n".join(ways))
    if plan.bands:
        bands = [("scheduler", "order", "priorities", "tasks")]
        bands += [
            (b.instance, b.order.value, f"{b.lowest} to {b.highest}", " ".join(b.tasks)) for b in plan.bands
        ]
        parts.append(table(bands, right=set(), color=color))
    if any(each.release != "boot" or each.deadline is not None for each in jobs.values()):
        parts.append(table(_job_rows(jobs), right={2, 3}, color=color))
    if analysis is not None and analysis.assumptions:
        parts.append("`camkes analyze` lists the assumptions that R rests on.")
    return "\n\n".join(parts)


def _job_rows(jobs: Mapping[str, TaskJobs]) -> list[tuple[str, ...]]:
    """When jobs are released, when they have to end, and how often they request what; each with where that is
    from, if it is not stated."""
    rows: list[tuple[str, ...]] = [("jobs of", "released by", "period", "deadline", "requests")]
    for name, each in jobs.items():
        of = f" of {each.emitter}" if each.period_source is Source.EMITTER else ""
        deadline = "the period" if each.deadline_source is Source.DEFAULT else _duration(each.deadline)
        requests = " ".join(f"{request.callee}{_count(request)}" for request in each.requests)
        released = each.event or ("a timer" if each.release == "timer" else "the start")
        rows.append((name, released, f"{_duration(each.period)}{of}", deadline, requests or "-"))
    return rows


def _duration(time: int | None) -> str:
    return "-" if time is None else duration(time)


def _count(request: Request) -> str:
    """How often a request is made; a question mark where the code was not read, or has no bound."""
    if request.counted is Counted.TEXT or request.uncounted is not None:
        return " x ?"
    return f" x {request.count}"


def _time_rows(plan: Plan) -> list[tuple[str, ...]]:
    """What each task may execute: what differs with the criticality is separated by `/`."""
    head = (
        "task",
        "criticality",
        "priorities",
        "budget",
        "period",
        "server",
        "refills",
        "overrun",
        "degraded",
    )
    rows: list[tuple[str, ...]] = [head]
    for task in plan.tasks:
        time = task.time
        assert time is not None
        factor = f" {time.degraded.factor}" if time.degraded.factor > 1 else ""
        lower = time.criticality < len(time.budgets) - 1
        rows.append(
            (
                task.name,
                str(time.criticality),
                levels(map(str, task.priorities)) if task.priorities else priority_words(task),
                levels(map(duration, time.budgets[: time.criticality + 1])),
                duration(time.period),
                time.server.value.replace("_", " "),
                str(task.refills),
                policy_words(time.overrun, time.extension),
                f"{time.degraded.kind.value}{factor}" if lower else "-",
            )
        )
    return rows


def _ways(condition: PlannedCondition) -> Iterator[str]:
    """Why each task is a helper."""
    if not condition.lending.known:
        yield f"{condition.name}: without its code, all handlers may wait and signal; --code is exact"
    for helper in condition.lending.helpers:
        yield f"{condition.name} is signalled by {way(helper)}"


def _times(result: TaskResult | None) -> tuple[str, ...]:
    if result is None:  # it has no period
        return "-", "-", "-"
    response = "-" if result.response is None else format_time(ceil(result.response.time), 6)
    return *(format_time(ceil(value), 6) for value in (result.demand.total, result.blocking.least)), response
