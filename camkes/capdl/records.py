# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the runtime of an address space may write into a trace: a kernel takes no other record from it."""

from __future__ import annotations

from msgspec.structs import replace

from camkes.capdl.model import CapabilityModel, RecordIds, Role, Space
from camkes.capdl.time_manager import TIME_MANAGER
from camkes.model.system import System
from camkes.protocols.groups import Group, find_groups
from camkes.protocols.plan import Plan


def with_records(model: CapabilityModel, system: System, plan: Plan) -> CapabilityModel:
    """The model with the ids that records of each space may name."""
    groups = find_groups(plan)
    numbers = {
        thread.name: number
        for number, thread in enumerate(thread for space in model.spaces for thread in space.threads)
    }
    spaces = tuple(
        replace(space, records=_of_space(space, model, numbers, system, plan, groups))
        for space in model.spaces
    )
    return replace(model, spaces=spaces)


def _of_space(
    space: Space,
    model: CapabilityModel,
    numbers: dict[str, int],
    system: System,
    plan: Plan,
    groups: tuple[Group, ...],
) -> RecordIds:
    instances = set(space.instances)
    cpis = [cpi for cpi in plan.cpis if cpi.instance in instances]
    own = [task for task in plan.tasks if task.name in instances]
    managed = [group for group in groups if group.instance in instances]
    conditions = [condition for group in managed for condition in group.conditions]
    fixed = {cpi.name for cpi in cpis if cpi.protocol.own_priority}
    contexts = {task.context.id for task in own}
    contexts |= {context.id for context in plan.contexts if context.name in fixed}
    contexts |= {context.id for cpi in cpis for context in cpi.contexts}
    contexts |= {party.context.id for group in managed for party in group.parties}
    served = {name for cpi in cpis for name in cpi.tasks}
    tasks = {task.id for task in plan.tasks if task.name in served | {each.name for each in own}}
    requested = {
        end.name
        for connection in system.connections
        if any(end.instance in instances for end in connection.from_ends)
        for end in connection.to_ends
    }
    ordered = {task for band in plan.bands if band.instance in instances for task in band.tasks}
    waiting = {condition.instance for condition in conditions}
    sleepers = [
        numbers[thread.name]
        for each in model.spaces
        for thread in each.threads
        if thread.instance in waiting and thread.role is not Role.MANAGER
    ]
    waiters = {name for condition in conditions for name in condition.lending.waiters}
    contexts |= {task.context.id for task in plan.tasks if task.name in waiters}
    contexts |= {context.id for cpi in plan.cpis if cpi.name in waiters for context in cpi.contexts}
    levels = 0
    if space.name == TIME_MANAGER:
        tasks = {task.id for task in plan.tasks}
        levels = max((len(task.priorities) for task in plan.tasks), default=0)
    return RecordIds(
        serves=tuple(cpi.id for cpi in cpis),
        requests=tuple(cpi.id for cpi in plan.cpis if cpi.name in requested),
        contexts=tuple(sorted(contexts)),
        tasks=tuple(sorted(tasks)),
        conditions=tuple(condition.id for condition in conditions),
        waiters=tuple(sleepers),
        turns=tuple(task.context.id for task in plan.tasks if task.name in ordered),
        levels=tuple(range(levels)),
    )
