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
    found = {}
    for task in system.tasks:
        ends = emitting_ends(system, task.instance) if task.release else ()
        emitting = {end.rpartition(".")[0] for end in ends}
        tasks = {name for name in emitting if plan.task(name) is not None}
        tasks |= {name for cpi in plan.cpis if cpi.instance in emitting for name in cpi.tasks}
        known = all(plan.task(name) or any(c.instance == name for c in plan.cpis) for name in emitting)
        if known and len(tasks) == 1:
            found[task.instance] = tasks.pop()
    return found


def emitting_ends(system: System, task: str) -> tuple[str, ...]:
    """The interfaces ("inst.iface") that emit the event which releases jobs of a task."""
    event = next((f"{task}.{each.release}" for each in system.tasks if each.instance == task), "")
    return tuple(
        other.name
        for connection in system.connections
        if any(end.name == event for end in connection.to_ends)
        for other in connection.from_ends
    )


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
