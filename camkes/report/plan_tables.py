# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A plan as tables for a person and as JSON for a program."""

from __future__ import annotations

import json
from typing import Any

from camkes.protocols.plan import Plan
from camkes.report.draw.table import table

SCHEMA = 1


def to_dict(plan: Plan) -> dict[str, Any]:
    """The JSON form. `threads` serve requests; managers are not among them.

    tasks: name, id, priority. cpis: name ("inst.iface"), protocol, ceiling, threads,
    threads_minimum (the most requests that can be under way at once), pooled, manager, tasks (whose
    requests can arrive), contexts (under whose name they arrive), requests (CPIs it can request).
    """
    return {
        "schema": SCHEMA,
        "tasks": [{"name": t.name, "id": t.id, "priority": t.priority} for t in plan.tasks],
        "cpis": [
            {
                "name": c.name,
                "protocol": c.protocol.value,
                "ceiling": c.ceiling,
                "threads": c.threads,
                "threads_minimum": c.threads_minimum,
                "pooled": c.pooled,
                "manager": c.manager,
                "tasks": list(c.tasks),
                "contexts": [x.name for x in c.contexts],
                "requests": list(c.requests),
            }
            for c in plan.cpis
        ],
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


def to_json(plan: Plan) -> str:
    return json.dumps(to_dict(plan), indent=2, ensure_ascii=False)


def to_text(plan: Plan, *, color: bool = False) -> str:
    """Two tables, as wide as their content."""
    tasks = [("task", "id", "priority")]
    tasks += [(t.name, str(t.id), str(t.priority)) for t in plan.tasks]
    cpis = [("CPI", "protocol", "ceiling", "threads", "manager", "tasks", "requests")]
    cpis += [
        (
            c.name,
            c.protocol.value,
            str(c.ceiling),
            f"{c.threads} (pool)" if c.pooled else str(c.threads),
            "yes" if c.manager else "-",
            " ".join(c.tasks) or "-",
            " ".join(c.requests) or "-",
        )
        for c in plan.cpis
    ]
    parts = [table(tasks, right={1, 2}, color=color)] if plan.tasks else ["no tasks"]
    parts.append(table(cpis, right={2}, color=color) if plan.cpis else "no CPIs with a protocol")
    return "\n\n".join(parts)
