# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A plan as tables for a person and as JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import Any

from camkes.analysis.verdict import Analysis, TaskResult
from camkes.protocols.plan import Plan, PlannedCondition, PlannedTask
from camkes.protocols.signals import way
from camkes.report.draw.table import table
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
    not tasks), stated (the helpers are), known_from_code. mcs, for an MCS kernel only: true.
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
                "tasks": list(c.tasks),
                "contexts": [x.name for x in c.contexts],
                "requests": list(c.requests),
            }
            for c in plan.cpis
        ],
        **({"conditions": [_condition(c) for c in plan.conditions]} if plan.conditions else {}),
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
    if result is not None:
        row["wcet"] = ceil(result.demand.total)
        row["blocking"] = ceil(result.blocking.least)
        row["response"] = None if result.response is None else ceil(result.response.time)
    return row


def to_json(plan: Plan, analysis: Analysis | None = None) -> str:
    return json.dumps(to_dict(plan, analysis), indent=2, ensure_ascii=False)


def to_text(plan: Plan, analysis: Analysis | None = None, *, color: bool = False) -> str:
    """Two tables, as wide as their content. With an analysis, a task has its execution time with all requests
    (C), its blocking (B) and its longest response (R)."""
    results = _results(analysis)
    tasks = [("task", "id", "priority", *(("C", "B", "R") if results else ()))]
    tasks += [
        (t.name, str(t.id), str(t.priority), *(_times(results.get(t.name)) if results else ()))
        for t in plan.tasks
    ]
    cpis = [("CPI", "protocol", "ceiling", "threads", "manager", "tasks", "requests")]
    cpis += [
        (
            c.name,
            c.protocol.value + ("" if c.monitor is None else f" (monitor {c.monitor})"),
            str(c.ceiling),
            f"{c.threads} (pool)" if c.pooled else str(c.threads),
            "yes" if c.manager else "-",
            " ".join(c.tasks) or "-",
            " ".join(c.requests) or "-",
        )
        for c in plan.cpis
    ]
    parts = [table(tasks, right={1, 2, 3, 4, 5}, color=color)] if plan.tasks else ["no tasks"]
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
    return "\n\n".join(parts)


def _ways(condition: PlannedCondition) -> Iterator[str]:
    """Why each task is a helper."""
    if not condition.lending.known:
        yield f"{condition.name}: without its code, all handlers may wait and signal; --code is exact"
    for helper in condition.lending.helpers:
        yield f"{condition.name} is signalled by {way(helper)}"


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
