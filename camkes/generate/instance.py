# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The context of an instance: for its header and its glue."""

from __future__ import annotations

from camkes.capdl import uses
from camkes.capdl.model import Role
from camkes.capdl.overruns import has_handler
from camkes.generate import contexts as ctx
from camkes.generate.attributes import attributes
from camkes.generate.bands import band, turns
from camkes.generate.facts import InstanceFacts, generates
from camkes.generate.groups import conditions, groups, helper
from camkes.generate.names import c_name
from camkes.generate.procedures import procedure
from camkes.generate.rpc import direct, dispatches, monitor_word, rpc_from, rpc_to
from camkes.generate.threads import one_label, one_route, thread_record
from camkes.generate.time_manager import by_level
from camkes.generate.timers import timer
from camkes.model.connectors import Carries, carries_time, support
from camkes.model.overrun import Degraded
from camkes.model.system import Connection, DataportType, Include, Interface, Procedure, Sync


def instance_context(me: InstanceFacts) -> ctx.InstanceContext:
    instance, component = me.instance, me.instance.type
    structs, constants = attributes(instance, me.places, me.all.sink)
    interfaces = component.interfaces
    wired = [(i, me.connection(i.name)) for i in interfaces]
    names = {c.name for c in me.cpis}
    plain = dict.fromkeys(t.interface for t in me.threads if t.role is Role.INTERFACE)
    return ctx.InstanceContext(
        name=instance.name,
        c_name=c_name(instance.name),
        origin=me.places.of(instance.span),
        component=component.name,
        declared=me.places.of(component.span),
        source=me.all.source,
        affinity=instance.configured.affinity,
        members=(*instance.configured.members, *_criticality(me)),
        sets_criticality=component.criticality_span is not None,
        system_includes=_includes(me),
        structs=structs,
        attributes=constants,
        headers=me.all.rendered.headers.get(instance.name, ()),
        interfaces=tuple(_declared(me, i) for i in interfaces),
        syncs=tuple(_sync(me, s) for s in component.syncs),
        rpc_from=tuple(
            rpc_from(me, i, c) for i, c in wired if i.kind == "uses" and generates(c, Carries.CALLS)
        ),
        rpc_to=tuple(
            rpc_to(me, i, c) for i, c in wired if i.kind == "provides" and generates(c, Carries.CALLS)
        ),
        direct=tuple(
            direct(me, i, c) for i, c in wired if i.kind == "uses" and generates(c, Carries.FUNCTION_CALLS)
        ),
        direct_to=tuple(
            _declared(me, i)
            for i, c in wired
            if i.kind == "provides" and generates(c, Carries.FUNCTION_CALLS)
        ),
        emits=tuple(_emit(me, i, c) for i, c in wired if i.kind == "emits"),
        consumes=tuple(
            _consume(me, i) for i, c in wired if i.kind == "consumes" and generates(c, Carries.EVENTS)
        ),
        dataports=tuple(_dataport(me, i, c) for i, c in wired if i.kind == "dataport"),
        timers=tuple(
            timer(me, i)
            for i, c in wired
            if i.kind == "uses" and c is not None and carries_time(c, me.all.rendered.connectors)
        ),
        plain_interfaces=tuple(i for i in plain if f"{instance.name}.{i}" not in names),
        threads=tuple(thread_record(me, t) for t in me.threads),
        space_threads=_space_threads(me),
        task=_task(me),
        conditions=conditions(me),
        monitors=tuple(dict.fromkeys(monitor_word(c.monitor) for c in me.cpis if c.monitor is not None)),
        groups=groups(me),
        helper=helper(me),
        band=band(me),
        start=_start(me),
        one_route=one_route(me),
        label=one_label(me),
    )


def _space_threads(me: InstanceFacts) -> tuple[tuple[str, str], ...] | None:
    space = me.all.spaces.get(me.instance.name)
    if space is None or space.instances[0] != me.instance.name:
        return None
    return me.all.space_threads(me.instance.name)


# the header


def _includes(me: InstanceFacts) -> tuple[str, ...]:
    component = me.instance.type
    includes: list[Include] = list(component.includes)
    for interface in component.interfaces:
        if isinstance(interface.type, Procedure):
            includes += interface.type.includes
    return tuple(dict.fromkeys(f"<{i.path}>" if i.system else f'"{i.path}"' for i in includes))


def _declared(me: InstanceFacts, interface: Interface) -> ctx.InterfaceContext:
    kind = interface.type
    return ctx.InterfaceContext(
        kind=interface.kind,
        name=interface.name,
        type=kind if isinstance(kind, str) else kind.name,
        origin=me.places.of(interface.span),
        optional=interface.optional,
        methods=_methods(me, interface),
        helped=_is_helped(me, interface.name),
        rendered=me.all.is_rendered(me.connection(interface.name)),
        registers=_registers(me, interface),
        suspends=me.all.system.mcs
        and any(
            (c.instance, c.interface) == (me.instance.name, interface.name) and c.overrun.rules.suspends
            for c in me.all.system.cpis
        ),
    )


def _registers(me: InstanceFacts, interface: Interface) -> int:
    """How many blocks of registers the device tree gives the device behind an interface."""
    node = me.instance.configured.interface(interface.name).dtb
    return 0 if node is None else node.registers


def _methods(me: InstanceFacts, interface: Interface) -> tuple[ctx.MethodContext, ...]:
    """The methods of an interface; a caller without a type check may use others."""
    if not isinstance(interface.type, Procedure):
        return ()
    methods = {m.name: m for m in procedure(interface.type, interface.name, me.places).methods}
    connection = me.connection(interface.name)
    if interface.kind == "provides" and generates(connection, Carries.CALLS):
        for dispatch in dispatches(me, interface, connection):
            for method in dispatch.procedure.methods:
                methods.setdefault(method.name, method)
    return tuple(methods.values())


# events, memory, time


def _emit(me: InstanceFacts, interface: Interface, connection: Connection | None) -> ctx.EmitContext:
    targets: list[tuple[int, ctx.SharedContext | None]] = []
    if connection is not None and generates(connection, Carries.EVENTS):
        queued = support(connection.connector).counted
        for number in range(len(connection.to_ends)):
            queue = me.memory(uses.EmitQueue, interface.name, number) if queued else None
            targets.append((me.slot(uses.Emit, interface.name, number), queue))
    span = interface.span if connection is None else connection.span
    underlying = me.all.is_rendered(connection)
    return ctx.EmitContext(interface.name, me.places.of(span), tuple(targets), underlying)


def _consume(me: InstanceFacts, interface: Interface) -> ctx.ConsumeContext:
    connection = me.connection(interface.name)
    assert connection is not None
    queued = support(connection.connector).counted
    return ctx.ConsumeContext(
        interface.name,
        me.places.of(connection.span),
        me.slot(uses.Receive, interface.name),
        me.slot_if_any(uses.Handoff, interface.name) or None,
        me.memory(uses.Queue, interface.name) if queued else None,
        helped=_is_helped(me, interface.name),
    )


def _dataport(me: InstanceFacts, interface: Interface, connection: Connection | None) -> ctx.DataportContext:
    kind = interface.type
    assert isinstance(kind, DataportType)
    connected = generates(connection, Carries.DATA)
    index = me.all.system.connections.index(connection) if connection is not None else -1
    return ctx.DataportContext(
        interface.name,
        me.places.of(interface.span if connection is None else connection.span),
        type="void" if kind.size is not None else kind.name,
        size=str(kind.size) if kind.size is not None else f"sizeof({kind.name})",
        memory=me.memory(uses.Data, interface.name) if connected else None,
        id=index,
        optional=interface.optional,
        rendered=me.all.is_rendered(connection),
    )


# the rest


def _sync(me: InstanceFacts, sync: Sync) -> ctx.SyncContext:
    return ctx.SyncContext(
        sync.kind,
        sync.name,
        me.places.of(sync.span),
        me.slot_if_any(uses.SyncNotification, sync.name),
        me.instance.configured.semaphores[sync.name],
        "INT_MAX" if sync.kind == "semaphore" else "1",
        helped=_is_helped(me, sync.name),
    )


def _is_helped(me: InstanceFacts, name: str) -> bool:
    end = f"{me.instance.name}.{name}"
    return any(condition.name == end for condition in me.all.system.conditions)


def _start(me: InstanceFacts) -> ctx.StartContext:
    return ctx.StartContext(
        gate=me.slot_if_any(uses.Gate),
        ready=me.slot_if_any(uses.Ready),
        interfaces=sum(t.role is Role.INTERFACE for t in me.threads),
        lent=tuple(
            (f"lent.{part}", slot) for part in uses.LentPart if (slot := me.slot_if_any(uses.Lent, part))
        ),
        inits=tuple(c.interface for c in me.cpis),
        run=me.instance.type.control,
    )


def _task(me: InstanceFacts) -> ctx.TaskContext | None:
    if me.task is None:
        return None
    members = me.instance.configured.task_members
    if me.task.time is not None:
        time = me.task.time
        stretch = 0 if time.degraded.kind is Degraded.SUSPEND else time.degraded.factor
        members = (*members, ("criticality", time.criticality), ("stretch", stretch))
    priorities = by_level(me.task.priorities) if me.task.priorities else ""
    release, timer = me.slot(uses.Release), me.slot_if_any(uses.ReleaseTimer)
    return ctx.TaskContext(release, timer, members, _budget(me), turns(me), priorities)


def _criticality(me: InstanceFacts) -> tuple[tuple[str, int], ...]:
    """Of an instance that sets the criticality of the system."""
    slot = me.slot_if_any(uses.SetCriticality)
    return (("criticality", slot),) if slot else ()


def _budget(me: InstanceFacts) -> tuple[tuple[str, str], ...]:
    """Of the task, if its overruns have a handler."""
    if not has_handler(me.task) or me.task is None or me.task.time is None:
        return ()
    thread = next(t for t in me.threads if t.role is Role.CONTROL)
    slots = {
        "manager": me.slot(uses.OverrunHandler),
        "timeout": me.slot(uses.TaskTimeout),
        "time": me.slot(uses.TaskTime),
        "extension": me.slot_if_any(uses.TaskExtension),
        "raise": me.slot_if_any(uses.Raise),
    }
    size = by_level([budget // 1_000 for budget in me.task.time.budgets])
    again = (("again", "camkes__jobs"),) if me.task.time.overrun.rules.stops else ()
    control = (("control", f"&{me.all.thread_name(thread)}"), *again)
    return (("size", size), *control, *((name, str(slot)) for name, slot in slots.items() if slot))
