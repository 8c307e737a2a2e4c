# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Decides every kernel object, capability, mapping and thread of a system.

A CSpace holds what the connections and protocols of its instances need and nothing else. Slots count
from 1 in each address space. Generated code finds a slot by `(instance, symbol)`; several symbols may
share one. IFACE is an interface, CTX the name of a context ("t1", "leaf.p"), INDEX a thread index.

plain RPC            IFACE          uses: endpoint (WP), badge = sender id; provides: endpoint (R)
events               IFACE          emits: notification (W) of the first consumer; consumes: (R)
                     IFACE#N        emits: notification (W) of the N-th consumer, from 0
dataports            (mapping)      symbol IFACE_data, see `mapping_symbol`
queued events        (mapping)      symbol IFACE_queue on the consumer, IFACE_queueN on an emitter
                     IFACE!handoff  consumes: notification (RW) between its thread and component code
mutexes, semaphores  NAME           notification (RW)
request to a CPI     IFACE@CTX      endpoint (WP) for each context that can arrive through IFACE,
                                    badge = 1 + index into the callee's caller table
                     IFACE!manager@CTX   its manager's endpoint (WP), badge = number of contexts + 1 +
                                    caller index; only where the caller's priority can be raised
serving a CPI        IFACE          endpoint (R) of a fixed or pooled CPI
                     IFACE@CTX      endpoint (R) of the worker of a context, otherwise
with a manager       IFACE!manager       its endpoint (R)
                     IFACE!manager@CTX   for its workers: the same (WP), badge = 1 + context index
                     IFACE!tcb@CTX  a worker's TCB (in a pool: IFACE!tcb@0, @1, ...)
                     IFACE!authority     the manager's own TCB
                     IFACE!reply@CTX     an empty slot for a saved reply capability
tasks                !release       notification (R) that the task's timer signals
                     !timer         that timer
virtual time         IFACE          notification (R)
                     IFACE!timer    a timer that signals it; more of them: IFACE!timer@1, @2, ...
start-up             !gate, !ready  endpoints (RW) where threads wait for the control thread
threads              !tcb:INDEX     the thread's own TCB, unless that is not wanted and no manager has it

Badges index the caller table of the callee, see `camkes.capdl.callers`.
"""

from __future__ import annotations

from camkes.capdl.callers import CallerEntry, Wiring, caller_table, sender_ids
from camkes.capdl.check import check_limits
from camkes.capdl.model import (
    Cap,
    CapabilityModel,
    KernelObject,
    Mapping,
    ObjectKind,
    Role,
    Space,
    Thread,
    Timer,
)
from camkes.diagnostics import Sink
from camkes.model.connectors import Carries, support
from camkes.model.settings import DEFAULT_MAX_PRIORITY, DEFAULTS, Defaults, Reader
from camkes.model.system import (
    Connection,
    DataportType,
    Instance,
    Interface,
    Protocol,
    System,
)
from camkes.model.units import PAGE, round_up
from camkes.protocols.plan import Plan, PlannedCpi


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
    model = _Allocator(system, plan, Reader(sink, defaults), rendered, tcb_caps).run()
    check_limits(system, plan, model, word_bits, sink)
    return model


def is_timer(connection: Connection, rendered: frozenset[str] = frozenset()) -> bool:
    """Is this a connection to the virtual time server?"""
    connector = connection.connector
    return support(connector).carries is Carries.TIME and connector.name not in rendered


def mapping_symbol(system: System, instance: Instance, symbol: str) -> str:
    """The name of an instance's symbol in the image of its address space: alone, it is the symbol; in a
    group, where two instances can have the same names, the instance's name comes before it."""
    shared = sum(i.address_space == instance.address_space for i in system.instances) > 1
    return f"{instance.name}.{symbol}" if shared else symbol


def worker_names(cpi: PlannedCpi) -> tuple[str, ...]:
    """The threads that serve a CPI: "leaf.p" (fixed), "lock.p@0" (pool), "lock.p@t1" (one a context)."""
    if cpi.protocol is Protocol.FIXED:
        return (cpi.name,) * cpi.threads
    if cpi.pooled:
        return tuple(f"{cpi.name}@{i}" for i in range(cpi.threads))
    return tuple(f"{cpi.name}@{c.name}" for c in cpi.contexts)


class _SpaceBuilder:
    """An address space while it is filled."""

    __slots__ = ("caps", "instances", "mappings", "name", "next_slot", "threads")

    def __init__(self, name: str) -> None:
        self.name = name
        self.instances: list[str] = []
        self.caps: list[Cap] = []
        self.mappings: list[Mapping] = []
        self.threads: list[Thread] = []
        self.next_slot = 1

    def reserve(self) -> int:
        slot = self.next_slot
        self.next_slot += 1
        return slot

    def build(self) -> Space:
        return Space(
            self.name, tuple(self.instances), tuple(self.caps), tuple(self.mappings), tuple(self.threads)
        )


class _Allocator:
    """One allocation: walks instances and their interfaces in the order of the text."""

    def __init__(
        self, system: System, plan: Plan, reader: Reader, rendered: frozenset[str], tcb_caps: bool
    ) -> None:
        self.system = system
        self.rendered = rendered
        self.plan = plan
        self.reader = reader
        self.tcb_caps = tcb_caps
        self.wiring = Wiring(system)
        self.objects: dict[str, KernelObject] = {}
        self.spaces: dict[str, _SpaceBuilder] = {}
        self.timers: list[Timer] = []
        self.slots: dict[tuple[str, str], int] = {}
        self.tables: dict[str, tuple[CallerEntry, ...]] = {
            c.name: caller_table(system, plan, c, reader) for c in plan.cpis
        }
        planned = {t.name for t in plan.tasks} | {c.instance for c in plan.cpis}
        self.planned_spaces = {i.address_space for i in system.instances if i.name in planned}

    def run(self) -> CapabilityModel:
        software = [i for i in self.system.instances if not i.type.hardware]
        for instance in software:
            space = self.spaces.setdefault(instance.address_space, _SpaceBuilder(instance.address_space))
            space.instances.append(instance.name)
        for name in self.spaces:
            self._object(f"{name}:cnode", ObjectKind.CNODE)
            self._object(f"{name}:vspace", ObjectKind.VSPACE)
        for instance in software:
            self._instance(instance, self.spaces[instance.address_space])
        return CapabilityModel(
            tuple(self.objects.values()),
            tuple(s.build() for s in self.spaces.values()),
            tuple(self.timers),
            self.slots,
        )

    # one instance

    def _instance(self, instance: Instance, space: _SpaceBuilder) -> None:
        first = len(space.threads)
        self._control_thread(instance, space)
        for interface in instance.type.interfaces:
            cpi = self.plan.cpi(f"{instance.name}.{interface.name}")
            if cpi is not None:
                self._cpi_threads(instance, cpi, space)
            else:
                self._interface_threads(instance, interface, space)
        managed = {cpi.name for cpi in self.plan.cpis if cpi.manager and cpi.instance == instance.name}
        for thread in space.threads[first:]:
            if not self.tcb_caps and f"{instance.name}.{thread.interface}" not in managed:
                continue
            self._cap(space, instance, f"!tcb:{thread.index}", thread.name)
        for interface in instance.type.interfaces:
            self._interface(instance, interface, space)
        for sync in instance.type.syncs:
            name = self._object(f"{instance.name}.{sync.name}:{sync.kind}", ObjectKind.NOTIFICATION)
            self._cap(space, instance, sync.name, name, "RW")
        if len(space.threads) > first + 1:
            for symbol in ("gate", "ready"):
                name = self._object(f"{instance.name}:{symbol}", ObjectKind.ENDPOINT)
                self._cap(space, instance, f"!{symbol}", name, "RW")
        self._task(instance, space)

    def _interface(self, instance: Instance, interface: Interface, space: _SpaceBuilder) -> None:
        end = f"{instance.name}.{interface.name}"
        connection = self.wiring.connection(end)
        if connection is None or connection.connector.name in self.rendered:
            return
        if support(connection.connector).carries is Carries.FUNCTION_CALLS:
            return  # needs no kernel object
        if connection.connector.from_end.hardware or connection.connector.to_end.hardware:
            return  # devices are added by the build for a machine that has them
        match interface.kind:
            case "uses" if is_timer(connection):
                self._timer_client(instance, interface, connection, space)
            case "uses":
                self._requests(instance, interface, connection, space)
            case "provides" if not is_timer(connection):
                cpi = self.plan.cpi(end)
                if cpi is not None:
                    self._serve(instance, cpi, space)
                else:
                    self._cap(space, instance, interface.name, self._endpoint(connection), "R")
            case "emits" | "consumes":
                self._event(instance, interface, connection, space)
            case "dataport":
                self._dataport(instance, interface, connection, space)

    # threads

    def _control_thread(self, instance: Instance, space: _SpaceBuilder) -> None:
        task = self.plan.task(instance.name)
        priority = task.priority if task is not None else self.reader.priority(instance, "_")
        self._thread(
            space,
            instance,
            instance.name,
            Role.CONTROL,
            "_",
            priority=priority,
            context=None if task is None else task.context.id,
            task=None if task is None else task.id,
        )

    def _interface_threads(self, instance: Instance, interface: Interface, space: _SpaceBuilder) -> None:
        connection = self.wiring.connection(f"{instance.name}.{interface.name}")
        if connection is None or is_timer(connection, self.rendered):
            return
        is_from = any(
            e.instance == instance.name and e.interface == interface.name for e in connection.from_ends
        )
        connector = connection.connector
        count = connector.from_end.threads if is_from else connector.to_end.threads
        if interface.kind == "provides":
            count = connection.threads or interface.threads or count
        for number in range(count):
            name = f"{instance.name}.{interface.name}" + (f"@{number}" if count > 1 else "")
            prefix = f"{interface.name}_"
            self._thread(
                space,
                instance,
                name,
                Role.INTERFACE,
                prefix,
                priority=self.reader.priority(instance, prefix),
                interface=interface.name,
            )

    def _cpi_threads(self, instance: Instance, cpi: PlannedCpi, space: _SpaceBuilder) -> None:
        own = not cpi.pooled and cpi.protocol is not Protocol.FIXED
        fixed = next((c for c in self.plan.contexts if c.name == cpi.name and not c.is_task), None)
        for number, name in enumerate(worker_names(cpi)):
            context = cpi.contexts[number].id if own else None
            if cpi.protocol is Protocol.FIXED and fixed is not None:
                context = fixed.id
            self._thread(
                space,
                instance,
                name,
                Role.WORKER,
                f"{cpi.interface}_",
                priority=cpi.contexts[number].base_priority if own else cpi.ceiling,
                max_priority=0,
                interface=cpi.interface,
                context=context,
            )
        if cpi.manager:
            self._thread(
                space,
                instance,
                f"{cpi.name}!manager",
                Role.MANAGER,
                f"{cpi.interface}_",
                priority=cpi.ceiling,
                max_priority=cpi.ceiling,
                interface=cpi.interface,
            )

    def _thread(
        self,
        space: _SpaceBuilder,
        instance: Instance,
        name: str,
        role: Role,
        prefix: str,
        *,
        priority: int,
        max_priority: int | None = None,
        interface: str = "",
        context: int | None = None,
        task: int | None = None,
    ) -> None:
        """`max_priority` None: what the settings say. Without a setting it is 0 where priorities are planned:
        whoever holds a capability to a thread can give any of its threads that thread's maximum, so only
        managers have one, which is the ceiling that they need."""
        if max_priority is None:
            default = 0 if instance.address_space in self.planned_spaces else DEFAULT_MAX_PRIORITY
            max_priority = self.reader.max_priority(instance, prefix, default)
        self._object(name, ObjectKind.TCB)
        space.threads.append(
            Thread(
                name=name,
                index=len(space.threads),
                instance=instance.name,
                role=role,
                priority=priority,
                max_priority=max_priority,
                stack_size=self.reader.stack_size(instance, prefix),
                affinity=self.reader.affinity(instance, prefix),
                domain=self.reader.domain(instance, prefix),
                interface=interface,
                context=context,
                task=task,
            )
        )

    # procedures

    def _requests(
        self, instance: Instance, interface: Interface, connection: Connection, space: _SpaceBuilder
    ) -> None:
        """Capabilities to request what a `uses` interface is connected to."""
        cpi = next((c for c in map(self.plan.cpi, (e.name for e in connection.to_ends)) if c), None)
        if cpi is None:
            names = [e.name for e in connection.from_ends]
            number = names.index(f"{instance.name}.{interface.name}")
            badge = sender_ids(self.system, connection, self.reader)[number]
            self._cap(space, instance, interface.name, self._endpoint(connection), "WP", badge)
            return
        for entry in self.tables[cpi.name]:
            if entry.end.instance != instance.name or entry.end.interface != interface.name:
                continue
            target = self._cpi_endpoint(cpi, entry.context.name)
            self._cap(space, instance, f"{interface.name}@{entry.context.name}", target, "WP", entry.badge)
            if entry.manager_badge is not None:
                symbol = f"{interface.name}!manager@{entry.context.name}"
                self._cap(space, instance, symbol, self._manager(cpi), "WP", entry.manager_badge)

    def _serve(self, instance: Instance, cpi: PlannedCpi, space: _SpaceBuilder) -> None:
        """Capabilities of the provider of a CPI."""
        name = cpi.interface
        if cpi.pooled or cpi.protocol is Protocol.FIXED:
            self._cap(space, instance, name, self._cpi_endpoint(cpi, ""), "R")
        else:
            for context in cpi.contexts:
                endpoint = self._cpi_endpoint(cpi, context.name)
                self._cap(space, instance, f"{name}@{context.name}", endpoint, "R")
        if not cpi.manager:
            return
        manager = self._manager(cpi)
        self._cap(space, instance, f"{name}!manager", manager, "R")
        for index, context in enumerate(cpi.contexts):
            self._cap(space, instance, f"{name}!manager@{context.name}", manager, "WP", 1 + index)
        for worker in worker_names(cpi):
            self._alias(space, instance, f"{name}!tcb@{worker.partition('@')[2]}", worker)
        self._alias(space, instance, f"{name}!authority", f"{cpi.name}!manager")
        for context in cpi.contexts:
            self.slots[instance.name, f"{name}!reply@{context.name}"] = space.reserve()

    def _endpoint(self, connection: Connection) -> str:
        return self._object(f"{connection.name}:endpoint", ObjectKind.ENDPOINT)

    def _cpi_endpoint(self, cpi: PlannedCpi, context: str) -> str:
        shared = cpi.pooled or cpi.protocol is Protocol.FIXED
        name = cpi.name if shared else f"{cpi.name}@{context}"
        return self._object(f"{name}:endpoint", ObjectKind.ENDPOINT)

    def _manager(self, cpi: PlannedCpi) -> str:
        return self._object(f"{cpi.name}!manager:endpoint", ObjectKind.ENDPOINT)

    # events, memory, time

    def _event(
        self, instance: Instance, interface: Interface, connection: Connection, space: _SpaceBuilder
    ) -> None:
        """Every consumer of a connection has a notification of its own."""
        connector = support(connection.connector)
        if interface.kind == "consumes":
            notification = self._notification(connection, instance.name, interface.name)
            self._cap(space, instance, interface.name, notification, "R")
            if connection.connector.to_end.threads and not connector.without_thread:
                name = f"{instance.name}.{interface.name}:handoff"
                self._object(name, ObjectKind.NOTIFICATION)
                self._cap(space, instance, f"{interface.name}!handoff", name, "RW")
            if connector.counted:
                self._map(space, instance, f"{interface.name}_queue", self._queue(notification), "RW")
            return
        badge = self.reader.badge(instance, interface.name)
        for number, end in enumerate(connection.to_ends):
            notification = self._notification(connection, end.instance, end.interface)
            symbol = f"{interface.name}#{number}"
            slot = self._cap(space, instance, symbol, notification, "W", 1 if badge is None else badge)
            if number == 0:
                self.slots[instance.name, interface.name] = slot
            if connector.counted:
                symbol = f"{interface.name}_queue{number}"
                self._map(space, instance, symbol, self._queue(notification), "RW")

    def _notification(self, connection: Connection, instance: str, interface: str) -> str:
        single = len(connection.to_ends) == 1
        name = connection.name if single else f"{connection.name}@{instance}.{interface}"
        return self._object(f"{name}:notification", ObjectKind.NOTIFICATION)

    def _queue(self, notification: str) -> str:
        name = notification.removesuffix(":notification") + ":queue"
        return self._object(name, ObjectKind.REGION, PAGE)

    def _dataport(
        self, instance: Instance, interface: Interface, connection: Connection, space: _SpaceBuilder
    ) -> None:
        region = self._object(
            f"{connection.name}:data",
            ObjectKind.REGION,
            self.reader.size(connection, self._largest(connection)),
            self.reader.paddr(connection),
        )
        self._map(
            space, instance, f"{interface.name}_data", region, self.reader.access(instance, interface.name)
        )

    def _largest(self, connection: Connection) -> int:
        """The largest size that the types of the connected dataports are known to need."""
        size = PAGE
        for end in (*connection.from_ends, *connection.to_ends):
            instance = self.system.instance(end.instance)
            interface = None if instance is None else instance.type.interface(end.interface)
            if interface is not None and isinstance(interface.type, DataportType):
                size = max(size, round_up(interface.type.size or 0))
        return size

    def _timer_client(
        self, instance: Instance, interface: Interface, connection: Connection, space: _SpaceBuilder
    ) -> None:
        name = f"{instance.name}.{interface.name}"
        notification = self._object(f"{name}:notification", ObjectKind.NOTIFICATION)
        self._cap(space, instance, interface.name, notification, "R")
        server = self.system.instance(connection.to_ends[0].instance) if connection.to_ends else None
        for number in range(1 if server is None else self.reader.timers(server)):
            suffix = f"@{number}" if number else ""
            timer = self._object(f"{name}:timer{suffix}", ObjectKind.TIMER)
            self._cap(space, instance, f"{interface.name}!timer{suffix}", timer)
            self.timers.append(Timer(timer, notification, 1, 0, 0))

    def _task(self, instance: Instance, space: _SpaceBuilder) -> None:
        task = next((t for t in self.system.tasks if t.instance == instance.name), None)
        if task is None:
            return
        notification = self._object(f"{instance.name}:release", ObjectKind.NOTIFICATION)
        timer = self._object(f"{instance.name}:timer", ObjectKind.TIMER)
        self._cap(space, instance, "!release", notification, "R")
        self._cap(space, instance, "!timer", timer)
        self.timers.append(Timer(timer, notification, 1, task.offset, task.period or 0))

    # parts

    def _object(self, name: str, kind: ObjectKind, size: int = 0, paddr: int | None = None) -> str:
        self.objects.setdefault(name, KernelObject(name, kind, size, paddr))
        return name

    def _cap(
        self,
        space: _SpaceBuilder,
        instance: Instance,
        symbol: str,
        name: str,
        rights: str = "",
        badge: int = 0,
    ) -> int:
        slot = space.reserve()
        space.caps.append(Cap(slot, name, rights, badge))
        self.slots[instance.name, symbol] = slot
        return slot

    def _alias(self, space: _SpaceBuilder, instance: Instance, symbol: str, thread: str) -> None:
        """Another symbol for the slot of a thread's TCB."""
        index = next(t.index for t in space.threads if t.name == thread)
        self.slots[instance.name, symbol] = self.slots[instance.name, f"!tcb:{index}"]

    def _map(self, space: _SpaceBuilder, instance: Instance, symbol: str, region: str, rights: str) -> None:
        space.mappings.append(Mapping(mapping_symbol(self.system, instance, symbol), region, rights))
