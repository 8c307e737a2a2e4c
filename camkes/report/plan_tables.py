# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A plan as tables for a person and as JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import Any

from camkes.analysis.verdict import Analysis, TaskResult
from camkes.model.bands import Band
from camkes.model.units import duration
from camkes.protocols.plan import Plan, PlannedCondition, PlannedCpi, PlannedTask
from camkes.protocols.signals import way
from camkes.protocols.time import Reservation
from camkes.report.draw.table import table
from camkes.report.plan_words import levels, policy_words, priority_words
from camkes.report.times import format_time

SCHEMA = 1


def to_dict(plan: Plan, analysis: Analysis | None = None) -> dict[str, Any]:
    """The JSON form. `threads` serve requests; managers are not among them.

    tasks: name, id, priority, and with an analysis wcet, blocking, response (nanoseconds, null where
    there is no bound). cpis: name ("inst.iface"), protocol, ceiling, threads,
    threads_minimum (the most requests that can be under way at once), pooled, manager, monitor ("inst.name",
    if it is in one), tasks (whose
    requests can arrive), contexts (under whose name they arrive), requests (CPIs it can request).
    conditions, if there are some: name, kind, ceiling, waiters (tasks and CPIs), helpers (each with the
    way to its signal, and whether it is lent to: its own priority is lower), others (signallers that are
    not tasks), stated (the helpers are), known_from_code.
    bands, if there are some: scheduler, order (the name of its component), lowest and highest priority,
    tasks, and for a FairScheduler slice (nanoseconds).
    For an MCS kernel only: mcs (true); time of tasks: budgets (at each criticality of the system, up to the
    highest of a task) in each period, in nanoseconds, server, refills, overrun, criticality, priorities (at
    each criticality), degraded (with its factor), extension; of CPIs: overrun, extension, payers (tasks whose
    scheduling contexts its manager may bind).
    """
    results = _results(analysis)
    return {
        "schema": SCHEMA,
        **({"mcs": True} if plan.mcs else {}),
        "tasks": [_task(t, results.get(t.name)) for t in plan.tasks],
        "cpis": [
            {
                "name": c.name,
                "protocol": c.protocol.value,
                "ceiling": c.ceiling,
                "threads": c.threads,
                "threads_minimum": c.threads_minimum,
                "pooled": c.pooled,
                "manager": c.manager,
                **({"monitor": c.lock_name} if c.monitor is not None else {}),
                **(_cpi_time(c) if plan.mcs else {}),
                "tasks": list(c.tasks),
                "contexts": [x.name for x in c.contexts],
                "requests": list(c.requests),
            }
            for c in plan.cpis
        ],
        **({"conditions": [_condition(c) for c in plan.conditions]} if plan.conditions else {}),
        **({"bands": [_band(b) for b in plan.bands]} if plan.bands else {}),
        "requests": [
            {
                "from": r.caller,
                "through": r.via,
                "to": r.callee,
                "connection": r.connection,
                "known_from": r.source,
            }
            for r in plan.requests
        ],
    }


def _results(analysis: Analysis | None) -> dict[str, TaskResult]:
    return {result.task.name: result for result in analysis.tasks} if analysis is not None else {}


def _task(task: PlannedTask, result: TaskResult | None) -> dict[str, Any]:
    row: dict[str, Any] = {"name": task.name, "id": task.id, "priority": task.priority}
    if (time := task.time) is not None:
        row["time"] = {
            "budgets": list(time.budgets),
            "period": time.period,
            "server": time.server.value,
            "refills": task.refills,
            "overrun": time.overrun.value,
            "criticality": time.criticality,
            "priorities": list(task.priorities or (task.priority,)),
            "degraded": {"kind": time.degraded.kind.value, "factor": time.degraded.factor},
            "extension": _extension(time.extension),
        }
    if result is not None:
        row["wcet"] = ceil(result.demand.total)
        row["blocking"] = ceil(result.blocking.least)
        row["response"] = None if result.response is None else ceil(result.response.time)
    return row


def _cpi_time(cpi: PlannedCpi) -> dict[str, Any]:
    return {
        "overrun": cpi.overrun.value,
        "extension": _extension(cpi.extension),
        "payers": list(cpi.payers),
    }


def _extension(extension: Reservation | None) -> dict[str, int] | None:
    return None if extension is None else {"budget": extension.budget, "period": extension.period}


def to_json(plan: Plan, analysis: Analysis | None = None) -> str:
    return json.dumps(to_dict(plan, analysis), indent=2, ensure_ascii=False)


def to_text(plan: Plan, analysis: Analysis | None = None, *, color: bool = False) -> str:
    """Two tables, as wide as their content. With an analysis, a task has its execution time with all requests
    (C), its blocking (B) and its longest response (R)."""
    results = _results(analysis)
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
        parts.append("\n".join(line for c in plan.conditions for line in _ways(c)))
    if plan.bands:
        bands = [("scheduler", "order", "priorities", "tasks")]
        bands += [
            (b.instance, b.order.value, f"{b.lowest} to {b.highest}", " ".join(b.tasks)) for b in plan.bands
        ]
        parts.append(table(bands, right=set(), color=color))
    return "\n\n".join(parts)


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


def _band(band: Band) -> dict[str, Any]:
    return {
        "scheduler": band.instance,
        "order": band.order.value,
        "lowest": band.lowest,
        "highest": band.highest,
        "tasks": list(band.tasks),
        **({"slice": band.slice} if band.order.measures else {}),
    }


def _condition(condition: PlannedCondition) -> dict[str, Any]:
    lending = condition.lending
    return {
        "name": condition.name,
        "kind": condition.kind,
        "ceiling": condition.ceiling,
        "waiters": list(lending.waiters),
        "helpers": [
            {"task": helper.task, "lends": helper.task in condition.tasks, "way": way(helper)}
            for helper in lending.helpers
        ],
        "others": [signaller.caller for signaller in lending.others],
        "stated": lending.condition.helpers is not None,
        "known_from_code": lending.known,
    }


def _times(result: TaskResult | None) -> tuple[str, ...]:
    if result is None:  # it has no period
        return "-", "-", "-"
    response = "-" if result.response is None else format_time(ceil(result.response.time), 6)
    return *(format_time(ceil(value), 6) for value in (result.demand.total, result.blocking.least)), response
