# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks whose jobs are released by events, and who emits these; tasks that read what others write."""

from __future__ import annotations

from collections.abc import Mapping

from camkes.model.connectors import Carries, support
from camkes.model.system import System
from camkes.protocols.plan import Plan


def emitters(system: System, plan: Plan) -> Mapping[str, str]:
    """For each task that an event of one task alone releases, that task: the emitter of the event, or the
    only task that requests a CPI of the instance that emits."""
    senders = {
        end.name: {other.instance for other in connection.from_ends}
        for connection in system.connections
        for end in connection.to_ends
    }
    found = {}
    for task in system.tasks:
        emitting = senders.get(f"{task.instance}.{task.release}", set()) if task.release else set()
        tasks = {name for name in emitting if plan.task(name) is not None}
        tasks |= {name for cpi in plan.cpis if cpi.instance in emitting for name in cpi.tasks}
        known = all(plan.task(name) or any(c.instance == name for c in plan.cpis) for name in emitting)
        if known and len(tasks) == 1:
            found[task.instance] = tasks.pop()
    return found


def periods(system: System, plan: Plan) -> Mapping[str, int]:
    """The least time between two releases of each task, in nanoseconds, where it is known: what is stated, or
    the period of the task whose events release it."""
    after = emitters(system, plan)
    stated = {task.instance: task.period for task in system.tasks}
    found = {}
    for name in stated:
        source = name
        for _ in stated:  # a chain is no longer than that
            source = after.get(source, source)
        period = stated[source]
        if period is not None and source not in after:
            found[name] = period
    return found


def writers(system: System, plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """For each task those that write what it reads in a dataport, of which access settings state that its
    instance cannot write it. Tasks whose events lead to its release are left out: it follows them."""
    after = emitters(system, plan)
    found: dict[str, dict[str, None]] = {}
    for connection in system.connections:
        if support(connection.connector).carries is not Carries.DATA:
            continue
        reading: list[str] = []
        writing: list[str] = []
        for end in (*connection.from_ends, *connection.to_ends):
            instance = system.instance(end.instance)
            rights = "" if instance is None else instance.configured.interface(end.interface).access
            into = writing if "W" in rights else reading if "R" in rights else None
            if into is not None:
                into += _executing(plan, end.instance)
        for name in reading:
            before = name
            followed = {name}
            while before in after and after[before] not in followed:
                before = after[before]
                followed.add(before)
            found.setdefault(name, {}).update(dict.fromkeys(w for w in writing if w not in followed))
    return {name: tuple(each) for name, each in found.items()}


def _executing(plan: Plan, instance: str) -> list[str]:
    """The tasks that execute code of an instance."""
    names = [instance] if plan.task(instance) is not None else []
    return names + [task for cpi in plan.cpis if cpi.instance == instance for task in cpi.tasks]
