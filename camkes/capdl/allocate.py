# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Decides every kernel object, capability, mapping and thread of a system.

A CSpace holds what the connections and protocols of its instances need and nothing else; `camkes.capdl.uses`
lists what that can be. Slots count from 1 in each address space. Badges index the caller table of the callee,
see `camkes.capdl.callers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec.structs import replace

from camkes.capdl import uses
from camkes.capdl.bands import band_caps, slice_timer
from camkes.capdl.callers import CallerEntry, Wiring, caller_table, sender_ids
from camkes.capdl.check import check_limits
from camkes.capdl.details import Rights, Scheduling
from camkes.capdl.mcs import TimePlanner
from camkes.capdl.model import (
    ALARM,
    EXTENSION,
    CapabilityModel,
    KernelObject,
    Mapping,
    ObjectKind,
    Role,
    Thread,
    Timer,
)
from camkes.capdl.open_space import OpenSpace
from camkes.capdl.overruns import handler_caps, has_handler, lendable, server
from camkes.capdl.records import with_records
from camkes.capdl.threads import ThreadPlanner
from camkes.capdl.time_manager import ENDPOINT, Badge, critical_tasks, with_time_manager
from camkes.diagnostics import Sink
from camkes.model.bands import scheduled_by
from camkes.model.configured import DEFAULTS, Defaults
from camkes.model.connectors import Carries, carries_time, is_left_to_build, support
from camkes.model.system import (
    Connection,
    ConnectionEnd,
    DataportType,
    Instance,
    Interface,
    System,
    Task,
)
from camkes.model.units import PAGE, round_up
from camkes.protocols.groups import Group, find_groups, group_of
from camkes.protocols.plan import Plan, PlannedCondition, PlannedCpi, PlannedTask
from camkes.protocols.timers import client_timers


def allocate(
    system: System,
    plan: Plan,
    sink: Sink | None = None,
    defaults: Defaults = DEFAULTS,
    word_bits: int = 64,
    rendered: frozenset[str] = frozenset(),
    *,
    tcb_caps: bool = True,
) -> CapabilityModel:
    """The capability model of a system; mistakes in settings, and what does not fit into the words of the
    kernel, are reported to `sink`. Connectors that are `rendered` from templates of their own get threads;
    the rest is up to their templates. Without `tcb_caps`, only managers get capabilities to threads."""
    sink = sink if sink is not None else Sink()
    model = _Allocator(system, plan, sink, defaults, rendered, tcb_caps).run()
    model = with_records(with_time_manager(model, plan), system, plan)
    check_limits(system, plan, model, word_bits, sink)
    return model


class _Allocator:
    """One allocation: walks instances and their interfaces in the order of the text."""

    def __init__(
        self,
        system: System,
        plan: Plan,
        sink: Sink,
        defaults: Defaults,
        rendered: frozenset[str],
        tcb_caps: bool,
    ) -> None:
        self.system = system
        self.rendered = rendered
        self.plan = plan
        self.defaults = defaults
        self.tcb_caps = tcb_caps
        self.wiring = Wiring(system)
        self.objects: dict[str, KernelObject] = {}
        self.spaces: dict[str, OpenSpace] = {}
        self.timers: list[Timer] = []
        self.slots: dict[uses.CapUse, int] = {}
        self.tables: dict[str, tuple[CallerEntry, ...]] = {
            c.name: caller_table(system, plan, c) for c in plan.cpis
        }
        self.groups = find_groups(plan)
        self.threads: dict[str, list[Thread]] = {}
        self.time = TimePlanner(system, sink)
        self.passive: set[str] = set()  # threads

    def run(self) -> CapabilityModel:
        software = [i for i in self.system.instances if not i.type.hardware]
        planner = ThreadPlanner(
            self.system, self.plan, self.groups, self.defaults, self.wiring, self.rendered
        )
        for instance in software:
            space = self.spaces.setdefault(instance.address_space, OpenSpace(instance.address_space))
            space.instances.append(instance.name)
            self.threads[instance.name] = planner.of_instance(instance, len(space.threads))
            space.threads += self.threads[instance.name]
            if self.system.mcs:
                self.passive |= {t.name for t in self.threads[instance.name] if self.time.passive(t)}
        for space in self.spaces.values():
            self._object(space.build().cnode, ObjectKind.CNODE)
            self._object(space.build().vspace, ObjectKind.VSPACE)
        for instance in software:
            self._instance(instance, self.spaces[instance.address_space])
        for space in self.spaces.values() if self.system.mcs else ():
            space.threads = [self._give_time(thread, space) for thread in space.threads]
        return CapabilityModel(
            tuple(self.objects.values()),
            tuple(s.build() for s in self.spaces.values()),
            tuple(self.timers),
            self.slots,
            schedule=self.system.slots,
        )

    # one instance

    def _instance(self, instance: Instance, space: OpenSpace) -> None:
        threads = self.threads[instance.name]
        for thread in threads:
            self._object(thread.name, ObjectKind.TCB)
        managed = {cpi.interface for cpi in self.plan.cpis if cpi.manager and cpi.instance == instance.name}
        if any(t.conditions or t.band or has_handler(t) for t in self.plan.tasks if t.name == instance.name):
            managed.add("")
        for thread in threads:
            if self.tcb_caps or thread.interface in managed or thread.name in self.passive:
                self._cap(space, uses.Tcb(instance.name, thread.index), thread.name)
        for interface in instance.type.interfaces:
            self._interface(instance, interface, space)
        for sync in instance.type.syncs:
            if self.plan.condition(f"{instance.name}.{sync.name}") is not None:
                continue  # its manager keeps the waiting threads
            name = self._object(f"{instance.name}.{sync.name}:{sync.kind}", ObjectKind.NOTIFICATION)
            self._cap(space, uses.SyncNotification(instance.name, sync.name), name, Rights.RW)
        if len(threads) > 1:
            for use in (uses.Gate(instance.name), uses.Ready(instance.name)):
                self._cap(space, use, self._object(use.endpoint, ObjectKind.ENDPOINT), Rights.RW)
        self._task(instance, space)
        for condition in self.plan.conditions:
            if condition.instance == instance.name:
                self._condition(condition, space)
        for group in self.groups:
            if group.instance == instance.name:
                self._group(group, space)
        if instance.type.criticality_span is not None and critical_tasks(self.plan):
            self.objects.setdefault(ENDPOINT.name, ENDPOINT)
            self._cap(space, uses.SetCriticality(instance.name), ENDPOINT.name, Rights.CALL, Badge.SET)
        task, band = self.plan.task(instance.name), scheduled_by(self.plan.bands, instance.name)
        if band is not None and band.order.measures:
            self.timers.append(slice_timer(band))
        for held, item, rights, badge in (*handler_caps(task), *band_caps(self.plan, instance.name)):
            self.objects.setdefault(item.name, item)
            self._cap(space, held, item.name, rights, badge)
        if task is not None:
            self._helper(task, threads, space)

    def _condition(self, condition: PlannedCondition, space: OpenSpace) -> None:
        """Capabilities of the threads that wait and signal."""
        group = group_of(self.groups, condition.name)
        assert group is not None
        endpoint = self._manager(group)
        for number, (each, thread) in enumerate(sleepers(group, self.threads)):
            if each.name == condition.name:
                use = uses.WaitCall(condition.instance, condition.interface, thread.index)
                self._cap(space, use, endpoint, Rights.CALL, 1 + 2 * len(group.parties) + number)

    def _group(self, group: Group, space: OpenSpace) -> None:
        """Capabilities of the manager of a group; replies are kept by party, then by sleeper."""
        own = group.instance, group.member
        self._cap(space, uses.GroupManager(*own), self._manager(group), Rights.READ)
        waiting = list(sleepers(group, self.threads))
        if group.timed:
            notification = self._object(f"{group.name}!{ALARM}:notification", ObjectKind.NOTIFICATION)
            timer = self._object(f"{group.name}!{ALARM}:timer", ObjectKind.TIMER)
            self._cap(space, uses.AlarmWake(*own), notification, Rights.READ)
            self._cap(space, uses.AlarmTimer(*own), timer)
            self.timers.append(Timer(timer, notification, 1, 0, 0))
            badge = 1 + 2 * len(group.parties) + len(waiting)
            self._cap(space, uses.AlarmCall(*own), self._manager(group), Rights.CALL, badge)
        for name in dict.fromkeys(party.name for party in group.parties):
            endpoint = self._object(f"{name}!manager:endpoint", ObjectKind.ENDPOINT)
            self._cap(space, uses.GroupLend(*own, name), endpoint, Rights.CALL)
        for number in range(len(group.parties) + len(waiting)):
            self._reply(uses.GroupReply(*own, number), f"{group.name}!reply@{number}", space)

    def _helper(self, task: PlannedTask, threads: list[Thread], space: OpenSpace) -> None:
        """Capabilities of the manager of a task whose priority is set while it executes."""
        group = group_of(self.groups, task.name)
        if group is not None:
            manager = self._object(f"{task.name}!manager:endpoint", ObjectKind.ENDPOINT)
            self._cap(space, uses.TaskManager(task.name), manager, Rights.READ)
            badge = 1 + group.first_party(task)
            self._cap(space, uses.Settle(task.name), self._manager(group), Rights.CALL, badge)
        elif task.band is None:
            return
        own = next(t for t in threads if t.role is Role.MANAGER and not t.interface)
        self.slots[uses.TaskManagerTcb(task.name)] = self.slots[uses.Tcb(task.name, own.index)]

    def _interface(self, instance: Instance, interface: Interface, space: OpenSpace) -> None:
        end = f"{instance.name}.{interface.name}"
        connection = self.wiring.connection(end)
        if connection is None or is_left_to_build(connection.connector, self.rendered):
            return
        if support(connection.connector).carries in (Carries.FUNCTION_CALLS, Carries.JOBS):
            return  # needs no kernel object, or those that its scheduler and its tasks have
        match interface.kind:
            case "uses" if carries_time(connection):
                self._timer_client(instance, interface, connection, space)
            case "uses":
                self._requests(instance, interface, connection, space)
            case "provides" if not carries_time(connection):
                cpi = self.plan.cpi(end)
                if cpi is not None:
                    self._serve(instance, cpi, space)
                else:
                    use = uses.Serve(instance.name, interface.name)
                    self._cap(space, use, self._endpoint(connection), Rights.READ)
            case "emits" | "consumes":
                self._event(instance, interface, connection, space)
            case "dataport":
                self._dataport(instance, interface, connection, space)

    # procedures

    def _requests(
        self, instance: Instance, interface: Interface, connection: Connection, space: OpenSpace
    ) -> None:
        """Capabilities to request what a `uses` interface is connected to."""
        cpi = next((c for c in map(self.plan.cpi, (e.name for e in connection.to_ends)) if c), None)
        if cpi is None:
            names = [e.name for e in connection.from_ends]
            number = names.index(f"{instance.name}.{interface.name}")
            badge = sender_ids(self.system, connection)[number]
            use = uses.PlainRequest(instance.name, interface.name)
            self._cap(space, use, self._endpoint(connection), Rights.CALL, badge)
            return
        for entry in self.tables[cpi.name]:
            if entry.end.instance != instance.name or entry.end.interface != interface.name:
                continue
            target = self._cpi_endpoint(cpi, entry.seat.name)
            way = instance.name, interface.name, entry.context.name
            self._cap(space, uses.CpiRequest(*way), target, Rights.CALL, entry.badge)
            if entry.manager_badge is not None:
                badge = entry.manager_badge
                group = group_of(self.groups, cpi.name)
                if group is not None:
                    badge = 1 + len(group.parties) + group.index[cpi.name, entry.seat]
                self._cap(space, uses.Update(*way), self._manager(group or cpi), Rights.CALL, badge)

    def _serve(self, instance: Instance, cpi: PlannedCpi, space: OpenSpace) -> None:
        """Capabilities of the provider of a CPI."""
        own = instance.name, cpi.interface
        if cpi.one_endpoint:
            self._cap(space, uses.Serve(*own), self._cpi_endpoint(cpi, ""), Rights.READ)
        else:
            for seat in cpi.seats:
                endpoint = self._cpi_endpoint(cpi, seat.name)
                self._cap(space, uses.Serve(*own, seat.name), endpoint, Rights.READ)
        if not cpi.manager:
            return
        self._cap(space, uses.CpiManager(*own), self._manager(cpi), Rights.READ)
        group = group_of(self.groups, cpi.name)
        first = 1 if group is None else 1 + group.first_party(cpi)
        for badge, seat in enumerate(cpi.seats, first):
            manager = self._manager(group or cpi)
            self._cap(space, uses.WorkerCall(*own, seat.name), manager, Rights.CALL, badge)
        if cpi.manager_keeps_reply and group is None and not self.system.mcs:
            wake = self._object(f"{cpi.name}!manager:wake", ObjectKind.NOTIFICATION)
            self._cap(space, uses.CpiWake(*own), wake, Rights.RW)
        for thread in space.threads:
            if (thread.instance, thread.interface) != own:
                continue
            tcb = self.slots[uses.Tcb(instance.name, thread.index)]
            if thread.role is Role.MANAGER:
                self.slots[uses.ManagerTcb(*own)] = tcb
            else:
                self.slots[uses.WorkerTcb(*own, thread.part)] = tcb
        for seat in cpi.seats if group is None or cpi.overrun.rules.suspends else ():
            self._reply(uses.CpiReply(*own, seat.name), f"{cpi.name}!reply@{seat.name}", space)
        if cpi.overrun.rules.binds:
            self._overrun(cpi, space)

    def _endpoint(self, connection: Connection) -> str:
        return self._object(f"{connection.name}:endpoint", ObjectKind.ENDPOINT)

    def _cpi_endpoint(self, cpi: PlannedCpi, context: str) -> str:
        name = cpi.name if cpi.one_endpoint else f"{cpi.name}@{context}"
        return self._object(f"{name}:endpoint", ObjectKind.ENDPOINT)

    def _manager(self, of: PlannedCpi | Group) -> str:
        return self._object(f"{of.name}!manager:endpoint", ObjectKind.ENDPOINT)

    # events, memory, time

    def _event(
        self, instance: Instance, interface: Interface, connection: Connection, space: OpenSpace
    ) -> None:
        """Every consumer of a connection has a notification of its own."""
        connector = support(connection.connector)
        if interface.kind == "consumes":
            name = _event_name(connection, instance.name, interface.name)
            notification = self._object(f"{name}:notification", ObjectKind.NOTIFICATION)
            self._cap(space, uses.Receive(instance.name, interface.name), notification, Rights.READ)
            if connection.connector.to_end.threads and not connector.without_thread:
                handoff = f"{instance.name}.{interface.name}:handoff"
                self._object(handoff, ObjectKind.NOTIFICATION)
                self._cap(space, uses.Handoff(instance.name, interface.name), handoff, Rights.RW)
            if connector.counted:
                self._map(space, uses.Queue(instance.name, interface.name), self._queue(name), Rights.RW)
            return
        badge = instance.configured.interface(interface.name).attributes
        for number, end in enumerate(connection.to_ends):
            name = _event_name(connection, end.instance, end.interface)
            notification = self._object(f"{name}:notification", ObjectKind.NOTIFICATION)
            use = uses.Emit(instance.name, interface.name, number)
            self._cap(space, use, notification, Rights.WRITE, 1 if badge is None else badge)
            if connector.counted:
                queue = uses.EmitQueue(instance.name, interface.name, number)
                self._map(space, queue, self._queue(name), Rights.RW)

    def _queue(self, event: str) -> str:
        return self._object(f"{event}:queue", ObjectKind.REGION, PAGE)

    def _dataport(
        self, instance: Instance, interface: Interface, connection: Connection, space: OpenSpace
    ) -> None:
        settings = connection.configured
        region = self._object(
            f"{connection.name}:data",
            ObjectKind.REGION,
            self._largest(connection) if settings.size is None else round_up(settings.size),
            settings.paddr,
        )
        use = uses.Data(instance.name, interface.name)
        self._map(space, use, region, Rights.of(instance.configured.interface(interface.name).access))

    def _largest(self, connection: Connection) -> int:
        """The largest size that the types of the connected dataports are known to need."""
        size = PAGE
        for end in (*connection.from_ends, *connection.to_ends):
            instance = self.system.instance(end.instance)
            interface = None if instance is None else instance.type.interface(end.interface)
            match interface:
                case Interface(type=DataportType(size=int(wanted))):
                    size = max(size, round_up(wanted))
        return size

    def _timer_client(
        self, instance: Instance, interface: Interface, connection: Connection, space: OpenSpace
    ) -> None:
        name = f"{instance.name}.{interface.name}"
        notification = self._object(f"{name}:notification", ObjectKind.NOTIFICATION)
        self._cap(space, uses.TimerEvent(instance.name, interface.name), notification, Rights.READ)
        for number in range(client_timers(self.system, connection)):
            suffix = f"@{number}" if number else ""
            timer = self._object(f"{name}:timer{suffix}", ObjectKind.TIMER)
            self._cap(space, uses.ClientTimer(instance.name, interface.name, number), timer)
            self.timers.append(Timer(timer, notification, 1, 0, 0))

    def _task(self, instance: Instance, space: OpenSpace) -> None:
        task = next((t for t in self.system.tasks if t.instance == instance.name), None)
        if task is None:
            return
        event = release_event(self.system, task)
        notification = self._object(event or f"{instance.name}:release", ObjectKind.NOTIFICATION)
        self._cap(space, uses.Release(instance.name), notification, Rights.READ)
        if not event:
            timer = self._object(f"{instance.name}:timer", ObjectKind.TIMER)
            self._cap(space, uses.ReleaseTimer(instance.name), timer)
            self.timers.append(Timer(timer, notification, 1, task.offset, task.period or 0))

    # time, on an MCS kernel

    def _give_time(self, thread: Thread, space: OpenSpace) -> Thread:
        """The reply object of a thread, and its scheduling context, or what it needs to start without one."""
        reply = self._object(f"{thread.name}:reply", ObjectKind.REPLY)
        self._cap(space, uses.OwnReply(thread.instance, thread.index), reply)
        if thread.name not in self.passive:
            granted = server(self.plan, thread, self.time.scheduling(thread))
            context = self._context(f"{thread.name}:sc", granted)
            return replace(thread, scheduling_context=context)
        if uses.Lent(thread.instance, uses.LentPart.CONTEXT) not in self.slots:
            self._lent(partial(uses.Lent, thread.instance), f"{thread.instance}:passive", space)
        return thread

    def _lent(self, use: Callable[[uses.LentPart], uses.CapUse], name: str, space: OpenSpace) -> None:
        """What passive threads need to come to where they wait for callers."""
        self._cap(space, use(uses.LentPart.CONTEXT), self._context(f"{name}-sc", Scheduling()))
        notification = self._object(f"{name}-done", ObjectKind.NOTIFICATION)
        self._cap(space, use(uses.LentPart.DONE), notification, Rights.RW)
        endpoint = self._object(f"{name}-gate", ObjectKind.ENDPOINT)
        self._cap(space, use(uses.LentPart.GATE), endpoint, Rights.READ | Rights.CALL)

    def _overrun(self, cpi: PlannedCpi, space: OpenSpace) -> None:
        """What the manager of a CPI needs to give its workers the time of others."""
        own = cpi.instance, cpi.interface
        first = len(cpi.seats) + len(self.tables[cpi.name]) + 1
        for badge, seat in enumerate(cpi.seats, first):
            self._cap(space, uses.CpiTimeout(*own, seat.name), self._manager(cpi), Rights.CALL, badge)
        for name, _, item in lendable(self.plan, cpi):
            self._cap(space, uses.CpiTime(*own, name), item.name)
        self._lent(partial(uses.Home, *own), f"{cpi.name}!home", space)
        if cpi.extension is not None:
            period, budget = cpi.extension.period // 1000, cpi.extension.budget // 1000
            extension = self._context(f"{cpi.name}{EXTENSION}:sc", Scheduling(period, budget))
            self._cap(space, uses.CpiExtension(*own), extension)

    def _context(self, name: str, granted: Scheduling) -> str:
        self.objects[name] = KernelObject(name, ObjectKind.SCHEDULING_CONTEXT, details=granted)
        return name

    def _reply(self, use: uses.CapUse, name: str, space: OpenSpace) -> None:
        """Where a manager keeps a reply for later."""
        if self.system.mcs:
            self._cap(space, use, self._object(name, ObjectKind.REPLY))
        else:
            self.slots[use] = space.reserve()

    # parts

    def _object(self, name: str, kind: ObjectKind, size: int = 0, paddr: int | None = None) -> str:
        self.objects.setdefault(name, KernelObject(name, kind, size, paddr))
        return name

    def _cap(
        self, space: OpenSpace, use: uses.CapUse, name: str, rights: Rights = Rights.NONE, badge: int = 0
    ) -> None:
        self.slots[use] = space.add(name, rights, badge)

    def _map(self, space: OpenSpace, use: uses.MemoryUse, region: str, rights: Rights) -> None:
        space.mappings.append(Mapping(use, region, rights))


def sleepers(group: Group, threads: dict[str, list[Thread]]) -> Iterator[tuple[PlannedCondition, Thread]]:
    """Each condition of a group with each thread that may wait for it; `threads` are those of instances."""
    for condition in group.conditions:
        for thread in threads[condition.instance]:
            if thread.role is not Role.MANAGER:
                yield condition, thread


def release_event(system: System, task: Task) -> str:
    """The notification of the event that releases a task's jobs, empty for none."""
    name = f"{task.instance}.{task.release}"
    for connection in system.connections if task.release else ():
        for end in connection.to_ends:
            if end.name == name:
                return event_notification(connection, end)
    return ""


def event_notification(connection: Connection, consumer: ConnectionEnd) -> str:
    """The notification that is signalled for a consumer."""
    return f"{_event_name(connection, consumer.instance, consumer.interface)}:notification"


def _event_name(connection: Connection, instance: str, interface: str) -> str:
    """Every consumer of a connection has a notification of its own."""
    single = len(connection.to_ends) == 1
    return connection.name if single else f"{connection.name}@{instance}.{interface}"
