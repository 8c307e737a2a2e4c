# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks whose jobs are released by events, and who emits these; tasks that read what others write."""

from __future__ import annotations

from collections.abc import Mapping

from camkes.model.connectors import Carries, support
from camkes.model.system import System
from camkes.protocols.cycles import reached
from camkes.protocols.plan import Plan


def emitters(system: System, plan: Plan) -> Mapping[str, str]:
    """For each task that an event of one task alone releases, that task: the emitter of the event, or the
    only task that requests a CPI of the instance that emits."""
    ends = emitting_ends(system)
    executing: dict[str, set[str]] = {task.name: {task.name} for task in plan.tasks} if ends else {}
    for cpi in plan.cpis if ends else ():
        executing.setdefault(cpi.instance, set()).update(cpi.tasks)
    found = {}
    for task, emitting in ends.items():
        of = [executing.get(end.rpartition(".")[0]) for end in emitting]
        tasks = set().union(*(each for each in of if each is not None))
        if None not in of and len(tasks) == 1:
            found[task] = tasks.pop()
    return found


def emitting_ends(system: System) -> Mapping[str, tuple[str, ...]]:
    """For each task that an event releases the interfaces ("inst.iface") that emit it."""
    events = {f"{task.instance}.{task.release}": task.instance for task in system.tasks if task.release}
    found: dict[str, list[str]] = {task: [] for task in events.values()}
    for connection in system.connections if events else ():
        for end in connection.to_ends:
            if end.name in events:
                found[events[end.name]] += [other.name for other in connection.from_ends]
    return {task: tuple(ends) for task, ends in found.items()}


def emissions(system: System, plan: Plan) -> Mapping[str, Mapping[str, int | None]]:
    """For tasks and CPIs that can emit events, the interfaces ("inst.iface") with which they do, and how many
    are so sent in a job or a request, at most, to all that consume them; None: that is not known, as of
    instances whose functions they call directly."""
    receivers: dict[str, dict[str, int]] = {}
    called: dict[str, list[str]] = {}
    for connection in system.connections:
        for end in connection.from_ends:
            if connection.connector.from_end.kind == "Event":
                receivers.setdefault(end.instance, {})[end.interface] = len(connection.to_ends)
            elif support(connection.connector).carries is Carries.FUNCTION_CALLS:
                called.setdefault(end.instance, []).extend(other.instance for other in connection.to_ends)
    callers = [(task.name, task.name) for task in plan.tasks]
    callers += [(cpi.name, cpi.instance) for cpi in plan.cpis if cpi.tasks]
    found: dict[str, dict[str, int | None]] = {}
    for caller, own in callers if receivers else ():
        for instance in reached([own], lambda name: called.get(name, ())):
            for interface, sent in receivers.get(instance, {}).items():
                count = plan.counts.get((caller, interface)) if instance == own else None
                known = count * sent if isinstance(count, int) else None
                found.setdefault(caller, {})[f"{instance}.{interface}"] = known
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
