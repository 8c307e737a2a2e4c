# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Contexts of interfaces with procedures: callers, servers and their callers' tables."""

from __future__ import annotations

from collections.abc import Mapping

from camkes.capdl import uses
from camkes.capdl.callers import caller_table, sender_ids
from camkes.capdl.model import Role
from camkes.capdl.overruns import lendable
from camkes.generate import contexts as ctx
from camkes.generate.facts import InstanceFacts
from camkes.generate.names import c_name
from camkes.generate.procedures import procedure
from camkes.model.system import INSTANCE_PREFIX, Connection, Interface, Procedure
from camkes.protocols.contexts import SPARE
from camkes.protocols.groups import group_of
from camkes.protocols.plan import PlannedCpi


def rpc_from(me: InstanceFacts, interface: Interface, connection: Connection) -> ctx.RpcFromContext:
    assert isinstance(interface.type, Procedure)
    target = connection.to_ends[0].name
    cpi = me.all.plan.cpi(target)
    return ctx.RpcFromContext(
        interface.name,
        me.places.of(connection.span),
        target,
        procedure(interface.type, interface.name, me.places),
        endpoint=0 if cpi is not None else me.slot(uses.PlainRequest, interface.name),
        cpi=None if cpi is None else cpi.id,
        routes=tuple(
            ctx.RouteContext(
                name,
                me.slot_if_any(uses.CpiRequest, interface.name, name),
                me.slot_if_any(uses.Update, interface.name, name),
            )
            for name in me.contexts.values()
        ),
        buffer=connection.configured.buffer.get(me.instance.name),
    )


def rpc_to(me: InstanceFacts, interface: Interface, connection: Connection) -> ctx.RpcToContext:
    cpi = me.all.plan.cpi(f"{me.instance.name}.{interface.name}")
    numbers = sender_ids(me.all.system, connection)
    return ctx.RpcToContext(
        interface.name,
        me.places.of(connection.span),
        tuple(zip(numbers, (e.name for e in connection.from_ends), strict=True)),
        dispatches(me, interface, connection),
        None if cpi is None else _cpi(me, cpi),
        connection.configured.buffer.get(me.instance.name),
    )


def dispatches(
    me: InstanceFacts, interface: Interface, connection: Connection
) -> tuple[ctx.DispatchContext, ...]:
    """One for each type that from ends have; usually that is the interface's own."""
    assert isinstance(interface.type, Procedure)
    senders: dict[str, list[int]] = {}
    types: dict[str, Procedure] = {}
    numbers = sender_ids(me.all.system, connection)
    for end, number in zip(connection.from_ends, numbers, strict=True):
        caller = me.all.system.instance(end.instance)
        used = None if caller is None else caller.type.interface(end.interface)
        kind = used.type if used is not None and isinstance(used.type, Procedure) else interface.type
        types.setdefault(kind.name, kind)
        senders.setdefault(kind.name, []).append(number)
    if set(types) <= {interface.type.name}:
        return (ctx.DispatchContext("", procedure(interface.type, interface.name, me.places), ()),)
    return tuple(
        ctx.DispatchContext(
            f"_{c_name(name)}", procedure(kind, interface.name, me.places), tuple(senders[name])
        )
        for name, kind in types.items()
    )


def _given(slots: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """The members of a record that have a slot."""
    return tuple((member, str(slot)) for member, slot in slots.items() if slot)


def _policy(me: InstanceFacts, cpi: PlannedCpi) -> tuple[tuple[str, str], ...]:
    """What a CPI does about overruns, as members of its record."""
    rules, name = cpi.overrun.rules, cpi.interface
    helps = [("helps", "true"), *_spare(me, cpi)] if rules.helps else []
    unlocked = [("unlocked", "true")] if rules.binds and not cpi.takes_lock else []
    ceiling = [("at_ceiling", "true")] if cpi.protocol.own_priority else []
    aborts = [("aborts", "true"), ("rollback", f"{name}__rollback")] if rules.aborts else []
    suspends = [("suspends", "true")] if rules.suspends else []
    grouped = [("grouped", "true")] if rules.binds and group_of(me.all.groups, cpi.name) is not None else []
    lends = [("lends", "true")] if cpi.lends else []
    lends += [("lent", "true")] if cpi.lent else []
    slots = {"extension": me.slot_if_any(uses.CpiExtension, name)}
    slots |= {f"home.{part}": me.slot_if_any(uses.Home, name, part) for part in uses.LentPart}
    return (*ceiling, *helps, *lends, *unlocked, *grouped, *aborts, *suspends, *_given(slots))


def _spare(me: InstanceFacts, cpi: PlannedCpi) -> list[tuple[str, str]]:
    parts = {seat.name for seat in cpi.seats if seat.client == SPARE}
    own = (t for t in me.threads if t.interface == cpi.interface and t.part in parts)
    return [("spare", f"&{me.all.thread_name(thread)}") for thread in own]


def _payers(me: InstanceFacts, cpi: PlannedCpi) -> tuple[tuple[int, int], ...]:
    """The ids of contexts of tasks whose time its manager may bind, with the slots."""
    if not cpi.overrun.rules.binds:
        return ()
    found = lendable(me.all.plan, cpi)
    return tuple((context, me.slot(uses.CpiTime, cpi.interface, name)) for name, context, _ in found)


def _cpi(me: InstanceFacts, cpi: PlannedCpi) -> ctx.CpiContext:
    name = cpi.interface
    workers = [t for t in me.threads if t.role is Role.WORKER and t.interface == name]
    by_seat = {t.part: me.all.thread_name(t) for t in workers} if not cpi.one_endpoint else {}
    table = caller_table(me.all.system, me.all.plan, cpi)
    index = {seat: i for i, seat in enumerate(cpi.seats)}
    monitor = "" if cpi.monitor is None else monitor_word(cpi.monitor)
    group = group_of(me.all.groups, cpi.name)
    first = 1 if group is None else 1 + group.first_party(cpi) - group.first_of_lock(cpi)
    return ctx.CpiContext(
        name=cpi.name,
        id=cpi.id,
        lock=(f"&{monitor or f'{name}__cpi.lock'}") if cpi.takes_lock else "NULL",
        monitor=monitor,
        ceiling=cpi.ceiling,
        pooled=cpi.pooled,
        contexts=tuple(
            ctx.CpiContextContext(
                name=seat.name,
                id=seat.context.id,
                held=held,
                route=0 if cpi.protocol.own_priority else me.route(seat.context.id),
                base=seat.context.base_priority,
                effective=cpi.ceiling if cpi.protocol.own_priority else seat.context.base_priority,
                reply=me.slot_if_any(uses.CpiReply, name, seat.name),
                manager=me.slot_if_any(uses.WorkerCall, name, seat.name),
                worker=by_seat.get(seat.name),
                time=_given(
                    {
                        "time": me.slot_if_any(uses.CpiTime, name, seat.context.name),
                        "timeout": me.slot_if_any(uses.CpiTimeout, name, seat.name),
                    }
                ),
            )
            for held, seat in enumerate(cpi.seats, first)
        ),
        callers=tuple(
            ctx.CallerContext(
                e.sender_id,
                index[e.seat],
                e.context.base_priority,
                e.bound,
                e.context.is_task and e.callers == (e.context.name,),
                _bits(e.tasks),
                f"{e.context.name} through {e.end.name}",
            )
            for e in table
        ),
        manager=me.slot_if_any(uses.CpiManager, name),
        wake=me.slot_if_any(uses.CpiWake, name),
        authority=me.slot_if_any(uses.ManagerTcb, name),
        pool=tuple(me.all.thread_name(t) for t in workers) if cpi.pooled else (),
        time=_policy(me, cpi),
        payers=_payers(me, cpi),
        members=me.instance.configured.interface(name).members,
        methods=next(each.methods for each in me.all.system.cpis if each.name == cpi.name),
    )


def monitor_word(monitor: str) -> str:
    """The C name of the lock word of a monitor of the instance."""
    return f"{monitor}__monitor"


def direct(me: InstanceFacts, interface: Interface, connection: Connection) -> ctx.DirectContext:
    assert isinstance(interface.type, Procedure)
    target = connection.to_ends[0]
    return ctx.DirectContext(
        interface.name,
        me.places.of(connection.span),
        procedure(interface.type, interface.name, me.places),
        f"{INSTANCE_PREFIX}{c_name(target.instance)}__direct_{target.interface}",
    )


def _bits(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The bytes of a set of numbers: number n is bit n % 8 of byte n / 8."""
    found = sum(1 << number for number in set(numbers))
    return tuple(found.to_bytes(max(1, -(-found.bit_length() // 8)), "little"))
