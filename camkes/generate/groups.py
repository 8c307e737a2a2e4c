# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Contexts of what waits with helpers: conditions, managers of groups, tasks that help."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.capdl import uses
from camkes.capdl.allocate import sleepers
from camkes.capdl.callers import caller_table
from camkes.capdl.model import Role, Thread
from camkes.generate import contexts as ctx
from camkes.generate.facts import InstanceFacts
from camkes.generate.threads import origin_of
from camkes.model.system import Instance
from camkes.protocols.groups import Group, Party, group_of
from camkes.protocols.plan import PlannedCondition


def conditions(me: InstanceFacts) -> tuple[ctx.ConditionContext, ...]:
    """What threads of the instance wait for."""
    own = (c for c in me.all.plan.conditions if c.instance == me.instance.name)
    return tuple(_condition(me, condition) for condition in own)


def _condition(me: InstanceFacts, condition: PlannedCondition) -> ctx.ConditionContext:
    name = condition.interface
    return ctx.ConditionContext(
        interface=name,
        name=condition.name,
        origin=me.places.of(condition.span),
        value=me.instance.configured.semaphores.get(name, 0),
        users=tuple(
            ctx.UserContext(me.all.thread_name(t), me.slot(uses.WaitCall, name, t.index))
            for t in me.threads
            if t.role is not Role.MANAGER
        ),
    )


def groups(me: InstanceFacts) -> tuple[tuple[str, ctx.GroupContext], ...]:
    """The groups whose managers are in the instance."""
    own = (g for g in me.all.groups if g.instance == me.instance.name)
    return tuple((group.member, _group(me, group)) for group in own)


def _group(me: InstanceFacts, group: Group) -> ctx.GroupContext:
    first, parties = group.member, group.parties
    helping = {task.name: group.first_party(task) for task in group.tasks}
    names = [condition.name for condition in group.conditions]
    return ctx.GroupContext(
        manager=me.slot_if_any(uses.GroupManager, first),
        timer=(
            me.slot(uses.AlarmTimer, first),
            me.slot(uses.AlarmWake, first),
            me.slot(uses.AlarmCall, first),
        )
        if group.timed
        else None,
        members=tuple(
            ctx.MemberContext(
                name=party.name,
                comment=f"{party.seat.name} at {party.name}" if party.cpi else f"task {party.name}",
                context=party.context.id,
                index=party.cpi.seats.index(party.seat) if party.cpi else 0,
                lock=group.first_of_lock(party.cpi) if party.cpi else None,
                base=party.context.base_priority,
                highest=_highest(me, party),
                manager=me.slot(uses.GroupLend, first, party.name),
                reply=me.slot(uses.GroupReply, first, number),
            )
            for number, party in enumerate(parties)
        ),
        paths=tuple(_paths(me, group)),
        conditions=tuple(
            ctx.LenderContext(c.name, c.id, c.kind == "condition", tuple(helping[task] for task in c.tasks))
            for c in group.conditions
        ),
        waiters=tuple(
            _waiter(me, group, names.index(condition.name), thread, number)
            for number, (condition, thread) in enumerate(sleepers(group, me.all.threads), len(parties))
        ),
    )


def _highest(me: InstanceFacts, party: Party) -> int:
    """The highest priority of the requests that a task in a band itself makes there, 0: there are none."""
    task = me.all.plan.task(party.context.name)
    if task is None or task.band is None or not task.rises:
        return 0
    asks = any(r.caller == task.name and r.callee == party.name for r in me.all.plan.requests)
    return task.highest if asks else 0


def _paths(me: InstanceFacts, group: Group) -> Iterator[ctx.PathContext]:
    """By whom each party can be requested with a priority that is not its own."""
    for cpi in group.cpis:
        for entry in caller_table(me.all.system, me.all.plan, cpi):
            use = uses.Update(entry.end.instance, entry.end.interface, entry.context.name)
            slot = me.all.model.slots.get(use)
            end = group.index.get((cpi.name, entry.seat))
            for start, party in enumerate(group.parties):
                calls = party.name in entry.callers and party.context == entry.context
                if slot is not None and calls and end is not None:
                    yield ctx.PathContext(start, end, slot)


def _waiter(
    me: InstanceFacts, group: Group, condition: int, thread: Thread, number: int
) -> ctx.WaiterContext:
    instance = me.all.system.instance(thread.instance)
    assert isinstance(instance, Instance)
    origin = origin_of(InstanceFacts(me.all, instance), thread)
    cpi = me.all.plan.cpi(f"{thread.instance}.{thread.interface}")
    pooled = cpi is not None and cpi.pooled
    if cpi is not None and pooled:
        party = group.first_party(cpi) if cpi.name in group.members else None
    else:
        name = thread.instance if cpi is None else cpi.name
        seats = (p.seat for p in group.parties if p.name == name and p.context.id == origin)
        seat = next((s for s in seats if cpi is None or s.name == thread.part), None)
        party = None if seat is None else group.index[name, seat]
    return ctx.WaiterContext(
        comment=f"{thread.name} for {group.conditions[condition].name}",
        condition=condition,
        thread=me.all.numbers[thread.name],
        origin=origin,
        member=party,
        members=len(cpi.contexts) if cpi is not None and pooled else 1,
        priority=0 if origin is None else thread.priority,
        reply=me.slot(uses.GroupReply, group.member, number),
    )


def helper(me: InstanceFacts) -> ctx.HelperContext | None:
    """The task of the instance, if its priority is set while it executes."""
    task = me.task
    if task is None or (task.band is None and group_of(me.all.groups, task.name) is None):
        return None
    control = next((t for t in me.threads if t.role is Role.CONTROL), None)
    return ctx.HelperContext(
        name=task.name,
        thread="" if control is None else me.all.thread_name(control),
        context=task.context.id,
        route=me.route(task.context.id),
        base=task.priority,
        lowest=task.priority if task.band is None else task.band.lowest,
        highest=task.highest,
        scheduled=task.band is not None,
        manager=me.slot_if_any(uses.TaskManager),
        settle=me.slot_if_any(uses.Settle),
        authority=me.slot_if_any(uses.TaskManagerTcb),
    )
