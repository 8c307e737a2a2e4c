# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The threads of an instance: how many each interface has, and the settings of each."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from camkes.capdl.callers import Wiring
from camkes.capdl.model import ALARM, Role, Thread
from camkes.capdl.overruns import HANDLER, has_handler
from camkes.model.bands import Band, scheduled_by
from camkes.model.configured import Defaults, ThreadSettings
from camkes.model.connectors import interface_threads
from camkes.model.limits import MAX_PRIORITY
from camkes.model.settings import DEFAULT_MAX_PRIORITY
from camkes.model.system import Instance, Interface, System
from camkes.protocols.groups import Group, group_of
from camkes.protocols.plan import Plan, PlannedCpi


class _Planned(Struct, frozen=True):
    """A thread without an index. `max_priority` None: as the settings state."""

    name: str
    role: Role
    settings: ThreadSettings
    priority: int
    max_priority: int | None = None
    interface: str = ""
    part: str = ""
    context: int | None = None
    task: int | None = None


class ThreadPlanner:
    """Decides the threads of the instances of a system."""

    def __init__(
        self,
        system: System,
        plan: Plan,
        groups: tuple[Group, ...],
        defaults: Defaults,
        wiring: Wiring,
        rendered: frozenset[str],
    ) -> None:
        self.plan = plan
        self.groups = groups
        self.defaults = defaults
        self.wiring = wiring
        self.rendered = rendered
        planned = {t.name for t in plan.tasks} | {c.instance for c in plan.cpis}
        planned |= {band.instance for band in plan.bands}
        self.planned_spaces = {i.address_space for i in system.instances if i.name in planned}

    def of_instance(self, instance: Instance, first: int) -> list[Thread]:
        """All threads of an instance, the control thread first; `first` is the index of that."""
        return [self._thread(instance, i, thread) for i, thread in enumerate(self._planned(instance), first)]

    def _planned(self, instance: Instance) -> Iterator[_Planned]:
        yield self._control(instance)
        for interface in instance.type.interfaces:
            cpi = self.plan.cpi(f"{instance.name}.{interface.name}")
            yield from self._interface(instance, interface) if cpi is None else self._cpi(instance, cpi)
        for group in self.groups:
            if group.instance == instance.name:
                name, settings = f"{group.name}!manager", instance.configured.thread(group.member)
                yield _Planned(name, Role.MANAGER, settings, group.ceiling, 0, group.member)
                if group.timed:
                    # above all that may have the ceiling, so that waits end in time
                    above = min(group.ceiling + 1, MAX_PRIORITY)
                    alarm = f"{group.name}!{ALARM}"
                    yield _Planned(alarm, Role.MANAGER, settings, above, 0, group.member, ALARM)
        control = instance.configured.control
        task, own = self.plan.task(instance.name), group_of(self.groups, instance.name)
        if task is not None and (own is not None or task.band is not None):
            ceiling = task.highest if own is None else own.ceiling
            yield _Planned(f"{task.name}!manager", Role.MANAGER, control, ceiling, task.highest)
        if task is not None and has_handler(task):
            yield _Planned(f"{task.name}!{HANDLER}", Role.MANAGER, control, task.highest, 0, part=HANDLER)

    def _control(self, instance: Instance) -> _Planned:
        task, settings = self.plan.task(instance.name), instance.configured.control
        if task is None:
            return _Planned(instance.name, Role.CONTROL, settings, self.defaults.priority_of(settings))
        # one in a band has the highest priority of it until its first job begins
        priority = task.priority if task.band is None else task.band.highest
        return _Planned(
            instance.name, Role.CONTROL, settings, priority, context=task.context.id, task=task.id
        )

    def _interface(self, instance: Instance, interface: Interface) -> Iterator[_Planned]:
        name = f"{instance.name}.{interface.name}"
        connection = self.wiring.connection(name)
        if connection is None:
            return
        band = scheduled_by(self.plan.bands, instance.name)
        if band is not None:
            yield from self._scheduler(instance, band)
            return
        count = interface_threads(connection, interface, name, self.rendered)
        settings = instance.configured.thread(interface.name)
        # what passes on a signal has the priority of the thread that waits for it
        condition = self.plan.condition(name)
        least = 0 if condition is None else condition.ceiling
        for number in range(count):
            part = str(number) if count > 1 else ""
            yield _Planned(
                f"{name}@{part}" if part else name,
                Role.INTERFACE,
                settings,
                max(least, self.defaults.priority_of(settings)),
                interface=interface.name,
                part=part,
            )

    def _scheduler(self, instance: Instance, band: Band) -> Iterator[_Planned]:
        name, settings = f"{band.instance}.{band.interface}", instance.configured.thread(band.interface)
        yield _Planned(name, Role.INTERFACE, settings, band.highest, interface=band.interface)
        if band.order.measures:
            alarm = f"{band.instance}!{ALARM}"
            yield _Planned(alarm, Role.MANAGER, settings, band.highest, 0, band.interface, ALARM)

    def _cpi(self, instance: Instance, cpi: PlannedCpi) -> Iterator[_Planned]:
        settings, name = instance.configured.thread(cpi.interface), cpi.interface
        if cpi.alone:
            fixed = next((c.id for c in self.plan.contexts if c.name == cpi.name and not c.is_task), None)
            for _ in range(cpi.threads):
                yield _Planned(cpi.name, Role.WORKER, settings, cpi.ceiling, 0, name, context=fixed)
        elif cpi.pooled:
            for number in range(cpi.threads):
                worker = f"{cpi.name}@{number}"
                yield _Planned(worker, Role.WORKER, settings, cpi.ceiling, 0, name, str(number))
        else:
            for seat in cpi.seats:
                worker, context = f"{cpi.name}@{seat.name}", seat.context
                priority = cpi.ceiling if cpi.protocol.own_priority else context.base_priority
                yield _Planned(worker, Role.WORKER, settings, priority, 0, name, seat.name, context.id)
        if cpi.manager:
            group = group_of(self.groups, cpi.name)
            ceiling = cpi.ceiling if group is None else group.ceiling
            yield _Planned(f"{cpi.name}!manager", Role.MANAGER, settings, ceiling, cpi.ceiling, name)

    def _thread(self, instance: Instance, index: int, planned: _Planned) -> Thread:
        """Without a setting the maximum is 0 where priorities are planned: whoever holds a capability to a
        thread can give any of its threads that thread's maximum, so only managers have one, which is the
        ceiling that they need."""
        settings, max_priority = planned.settings, planned.max_priority
        if max_priority is None:
            max_priority = settings.max_priority
        if max_priority is None:
            max_priority = 0 if instance.address_space in self.planned_spaces else DEFAULT_MAX_PRIORITY
        return Thread(
            name=planned.name,
            index=index,
            instance=instance.name,
            role=planned.role,
            priority=planned.priority,
            max_priority=max_priority,
            stack_size=self.defaults.stack_of(settings),
            affinity=self.defaults.affinity_of(settings),
            domain=settings.domain,
            interface=planned.interface,
            part=planned.part,
            context=planned.context,
            task=planned.task,
        )
