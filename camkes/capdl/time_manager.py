# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The time manager of a system on an MCS kernel: an address space of its own, which alone may configure
scheduling contexts, and which changes the criticality of the system; see `runtime/src/time/time_manager.c`.

Kernels boot with contexts of constant bandwidth and two refills. Where that is what all threads have, and no
task has a criticality, there is no time manager.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from camkes.capdl import uses
from camkes.capdl.details import Core, Rights, Scheduling
from camkes.capdl.model import (
    CapabilityModel,
    KernelObject,
    ObjectKind,
    Role,
    Thread,
)
from camkes.capdl.model import Mapping as MemoryMapping
from camkes.capdl.open_space import OpenSpace
from camkes.model.limits import MAX_PRIORITY
from camkes.model.settings import DEFAULT_STACK, DOMAIN
from camkes.model.units import PAGE
from camkes.protocols.groups import Group, find_groups, group_of
from camkes.protocols.plan import Plan, PlannedCpi, PlannedTask
from camkes.protocols.time import LEAST_REFILLS

#: the name of its address space, and of its thread; no user can choose it
TIME_MANAGER = "time-manager"
#: its thread that waits for an idle processor
IDLE = f"{TIME_MANAGER}!idle"
ENDPOINT = KernelObject(f"{TIME_MANAGER}:endpoint", ObjectKind.ENDPOINT)
#: the page with the criticality of the system, and the variable that is mapped to it
LEVEL = KernelObject(f"{TIME_MANAGER}:level", ObjectKind.REGION, PAGE)
LEVEL_USE = uses.Variable("", "_camkes_level")


class Badge(IntEnum):
    """Of its endpoint; RAISE + the id of a task is that of the handler of its overruns."""

    IDLE = 1
    SET = 2
    RAISE = 3


#: the time manager's badge at managers of CPIs, above all others; as in runtime/src/time/overrun.h
AT_MANAGERS = 1 << 20


class ManagedContext(Struct, frozen=True):
    """A scheduling context that it configures: that of `thread`, with budgets (microseconds) at each
    criticality of the system. `holders` are the threads that can execute on it, if the budgets differ."""

    thread: Thread
    granted: Scheduling
    budgets: tuple[int, ...]
    holders: tuple[str, ...]


def critical_tasks(plan: Plan) -> tuple[PlannedTask, ...]:
    """The tasks whose priorities and budgets depend on the criticality of the system, in the order in which
    these change: the highest priority first. While the time manager waits for the manager of a CPI, only
    threads above the priorities of this CPI's tasks execute: they already have theirs."""
    found = [t for t in plan.tasks if t.time is not None and t.time.criticality > 0]
    return tuple(sorted(found, key=lambda task: -max(task.priorities)))


def requested(plan: Plan, task: PlannedTask) -> tuple[PlannedCpi, ...]:
    """The CPIs that have the task as a context, the innermost first."""
    ordered = (cpi for cpi in plan.cpis if cpi.manager or not cpi.protocol.own_priority)
    found = (cpi for cpi in ordered if task.context in cpi.contexts)
    return tuple(sorted(found, key=lambda cpi: cpi.chain))


def steered(plan: Plan, task: PlannedTask) -> tuple[Group, ...]:
    """The groups in which the task helps or makes requests: their managers set all these priorities."""
    names = {task.name, *(cpi.name for cpi in requested(plan, task))}
    waited = {c.name for c in plan.conditions if not names.isdisjoint(c.lending.waiters)}
    return tuple(group for group in find_groups(plan) if not (names | waited).isdisjoint(group.members))


def workers(model: CapabilityModel, cpi: PlannedCpi, task: PlannedTask) -> Iterator[Thread]:
    """The threads that serve the requests of a task at a CPI without a manager."""
    return (
        thread
        for thread in _threads(model)
        if (thread.instance, thread.interface) == (cpi.instance, cpi.interface)
        and thread.role is Role.WORKER
        and thread.context == task.context.id
    )


def servers(model: CapabilityModel, plan: Plan) -> tuple[ManagedContext, ...]:
    """The contexts that it configures: those that are not of constant bandwidth with two refills, and those
    with budgets that depend on the criticality of the system."""
    granted = {item.name: item.details for item in model.objects}
    tasks = {task.id: task for task in plan.tasks}
    found = []
    for thread in _threads(model):
        time = granted.get(thread.scheduling_context)
        task = None if thread.task is None else tasks.get(thread.task)
        if not isinstance(time, Scheduling) or time.budget == time.period:
            continue
        budgets: tuple[int, ...] = (time.budget,)
        if task is not None and task.time is not None:
            budgets = tuple(budget // 1_000 for budget in task.time.budgets)
        if time.sporadic or time.refills > LEAST_REFILLS or len(set(budgets)) > 1:
            holders = tuple(_holders(model, plan, task)) if task and len(set(budgets)) > 1 else ()
            found.append(ManagedContext(thread, time, budgets, holders))
    return tuple(found)


def _holders(model: CapabilityModel, plan: Plan, task: PlannedTask) -> Iterator[str]:
    """The control thread of a task, and the threads that can serve its requests without time of their own."""
    tasks = {context.id for context in plan.contexts if context.is_task} - {task.context.id}
    cpis = {cpi.name: cpi for cpi in plan.cpis}
    for thread in _threads(model):
        cpi = cpis.get(f"{thread.instance}.{thread.interface}")
        passive = not thread.scheduling_context and thread.context not in tasks
        if thread.task == task.id or (passive and (cpi is None or task.name in cpi.tasks)):
            yield thread.name


def _threads(model: CapabilityModel) -> Iterator[Thread]:
    return (thread for space in model.spaces for thread in space.threads)


def with_time_manager(model: CapabilityModel, plan: Plan) -> CapabilityModel:
    """The model with a time manager, if it needs one."""
    managed = servers(model, plan)
    critical = critical_tasks(plan)
    if not managed and not critical:
        return model
    added = _Addition(model, plan, managed)
    if critical:
        added.switch(critical)
    return added.model_with_it()


class _Addition:
    """The address space of the time manager."""

    def __init__(self, model: CapabilityModel, plan: Plan, managed: tuple[ManagedContext, ...]) -> None:
        self.model = model
        self.plan = plan
        self.space = OpenSpace(TIME_MANAGER)
        self.space.instances.append(TIME_MANAGER)
        #: that of the first slot: tasks have the servers of their settings before they execute
        self.domain = model.schedule[0][0] if model.schedule else DOMAIN.default
        self.objects: dict[str, KernelObject] = {}
        self.slots: dict[uses.CapUse, int] = {}
        self.shared: tuple[MemoryMapping, ...] = ()  # of all other address spaces
        for kind in (ObjectKind.CNODE, ObjectKind.VSPACE):
            self._object(KernelObject(f"{TIME_MANAGER}:{kind.value}", kind))
        for core in dict.fromkeys(server.thread.affinity for server in managed):
            control = KernelObject(f"sched-control@{core}", ObjectKind.SCHED_CONTROL, details=Core(core))
            self._cap(uses.SchedControl(TIME_MANAGER, core), control)
        for server in managed:
            time = server.thread.scheduling_context
            self._cap(uses.ManagedServer(TIME_MANAGER, server.thread.name), time)
            for holder in server.holders:
                self._cap(uses.Executes(TIME_MANAGER, holder), holder)
        self._thread(TIME_MANAGER, MAX_PRIORITY)

    def switch(self, critical: tuple[PlannedTask, ...]) -> None:
        """What it needs to change the criticality of the system."""
        self._cap(uses.TimeManagerEnd(TIME_MANAGER), ENDPOINT, Rights.READ)
        self._cap(uses.IdleCall(TIME_MANAGER), ENDPOINT, Rights.CALL, Badge.IDLE)
        risen = KernelObject(f"{IDLE}:notification", ObjectKind.NOTIFICATION)
        self._cap(uses.IdleWake(TIME_MANAGER), risen, Rights.RW)
        self._thread(IDLE, 0)
        self.space.mappings.append(MemoryMapping(LEVEL_USE, self._object(LEVEL), Rights.RW))
        self.shared = (MemoryMapping(LEVEL_USE, LEVEL.name, Rights.READ),)
        highest = max(max(task.priorities) for task in critical)
        self.space.threads[0] = replace(self.space.threads[0], max_priority=highest)
        for task in critical:
            groups = steered(self.plan, task)
            if group_of(groups, task.name) is None:
                self._cap(uses.Executes(TIME_MANAGER, task.name), task.name)
            for group in groups:
                self._lend(group)
            for cpi in requested(self.plan, task):
                if group_of(groups, cpi.name) is not None:
                    continue
                if cpi.manager:
                    self._lend(cpi)
                else:
                    for thread in workers(self.model, cpi, task):
                        self._cap(uses.Executes(TIME_MANAGER, thread.name), thread.name)

    def model_with_it(self) -> CapabilityModel:
        others = (replace(s, mappings=(*s.mappings, *self.shared)) for s in self.model.spaces)
        known = {item.name for item in self.model.objects}
        return replace(
            self.model,
            objects=(*self.model.objects, *(o for o in self.objects.values() if o.name not in known)),
            spaces=(*others, self.space.build()),
            slots={**self.model.slots, **self.slots},
        )

    def _thread(self, name: str, priority: int) -> None:
        index = len(self.space.threads)
        time = KernelObject(f"{name}:sc", ObjectKind.SCHEDULING_CONTEXT, details=Scheduling())
        self._cap(uses.Tcb(TIME_MANAGER, index), KernelObject(name, ObjectKind.TCB))
        self._cap(uses.OwnReply(TIME_MANAGER, index), KernelObject(f"{name}:reply", ObjectKind.REPLY))
        thread = Thread(
            name,
            index,
            TIME_MANAGER,
            Role.MANAGER,
            priority,
            0,
            DEFAULT_STACK,
            domain=self.domain,
            part=name.removeprefix(TIME_MANAGER).removeprefix("!"),
            scheduling_context=self._object(time),
        )
        self.space.threads.append(thread)

    def _object(self, item: KernelObject) -> str:
        self.objects.setdefault(item.name, item)
        return item.name

    def _lend(self, to: Group | PlannedCpi) -> None:
        name = f"{to.name}!manager:endpoint"
        self._cap(uses.TimeManagerLend(TIME_MANAGER, to.name), name, Rights.CALL, AT_MANAGERS)

    def _cap(
        self, use: uses.CapUse, item: KernelObject | str, rights: Rights = Rights.NONE, badge: int = 0
    ) -> None:
        """A capability to an object of the model, by its name, or to one that is added."""
        if use not in self.slots:
            name = item if isinstance(item, str) else self._object(item)
            self.slots[use] = self.space.add(name, rights, badge)
