# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What is set for instances and connections, each setting read once, whatever a system is built for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from camkes.diagnostics import Label, Sink, Span
from camkes.model.codes import ACCESS_RIGHTS, RPC_BUFFER, SETTING_RANGE
from camkes.model.configured import (
    ConnectionSettings,
    DeviceTreeAnswer,
    InstanceSettings,
    InterfaceSettings,
    ThreadSettings,
    UntypedPool,
)
from camkes.model.connectors import SHARED_DATA, Carries, support
from camkes.model.settings import (
    ACCESS,
    ALLOWED_SMC_FUNCTIONS,
    ATTRIBUTES,
    BUFFER,
    DTB,
    PASSIVE,
    REQUESTS,
    TABLE,
    TCB_POOL_DOMAINS,
    TIMERS_PER_CLIENT,
    UNTYPED_POOL,
    URGENT_FIRST,
    VALUE,
    Known,
)
from camkes.model.system import (
    Condition,
    Connection,
    Cpi,
    Instance,
    Interface,
    Setting,
    Sync,
    Task,
)
from camkes.resolve import codes
from camkes.resolve.program.reader import Reader

#: log2 of the bytes of an untyped object
_UNTYPED_BITS = range(4, 29)
_UNTYPED_NAME = re.compile(UNTYPED_POOL.name.replace("_", r"(\d+)_"))


def _rows(of: type[Struct], *others: Known) -> tuple[Known, ...]:
    """The settings that are fields of a struct, and numbers."""
    found = (TABLE[name] for name in of.__struct_fields__ if name in TABLE)
    return tuple(known for known in found if not known.form and known not in others)


_OF_THREADS = _rows(ThreadSettings, URGENT_FIRST)
#: also checked where no connector of the library makes a thread
_OF_CONTEXTS = tuple(known for known in _OF_THREADS if known.mcs)
_OF_INTERFACES = _rows(InterfaceSettings, ATTRIBUTES, REQUESTS)
_OF_DATAPORTS = _rows(ConnectionSettings)
_OF_INSTANCES = _rows(InstanceSettings, TIMERS_PER_CLIENT)


class _Side(Struct, frozen=True):
    """What an interface is connected with."""

    carries: Carries
    threads: int


def configured(
    instances: Sequence[Instance],
    connections: Iterable[Connection],
    tasks: Iterable[Task],
    cpis: Iterable[Cpi],
    conditions: Iterable[Condition],
    other: Mapping[str, Mapping[str, Setting]],
    readers: Mapping[str, Reader],
    sink: Sink,
) -> tuple[Instance, ...]:
    """The instances with what is set for them; `other` is what is set under names of their interfaces."""
    real_time = {task.instance for task in tasks} | {cpi.name for cpi in cpis}
    real_time |= {condition.name for condition in conditions}
    found = _Configurator(connections, real_time, other, sink)
    return tuple(
        each if each.type.hardware else replace(each, configured=found.instance(each, readers[each.name]))
        for each in instances
    )


class _Configurator:
    """Reads what is set for instances. `real_time` are the names of tasks, CPIs and conditions: what only
    these have may mean anything elsewhere."""

    def __init__(
        self,
        connections: Iterable[Connection],
        real_time: Collection[str],
        other: Mapping[str, Mapping[str, Setting]],
        sink: Sink,
    ) -> None:
        self.real_time = real_time
        self.other = other
        self.sink = sink
        self.sides: dict[str, _Side] = {}
        for connection in connections:
            carries, connector = support(connection.connector).carries, connection.connector
            for kind, ends in (
                (connector.from_end, connection.from_ends),
                (connector.to_end, connection.to_ends),
            ):
                for end in ends:
                    self.sides[end.name] = _Side(carries, kind.threads)

    def instance(self, instance: Instance, reader: Reader) -> InstanceSettings:
        """All of an instance."""
        is_task = instance.name in self.real_time
        conditions = (s.name for s in instance.type.syncs if f"{instance.name}.{s.name}" in self.real_time)
        spans: dict[str, Span] = {}
        values = _numbers(reader, _OF_INSTANCES, "", spans)
        type = instance.type
        if any(self._serves_time(instance, interface) for interface in type.interfaces):
            values |= _numbers(reader, (TIMERS_PER_CLIENT,), "", spans)
        return InstanceSettings(
            **values,
            tcb_pool_domains=reader.numbers(TCB_POOL_DOMAINS, spans),
            allowed_smc_functions=reader.numbers(ALLOWED_SMC_FUNCTIONS, spans),
            untyped_pools=tuple(_untyped_pools(instance, reader)),
            dtb=_answer(reader),
            control=_thread(reader, "_", (*_OF_THREADS, URGENT_FIRST) if is_task else _OF_THREADS),
            fault=_thread(reader, "fault", _OF_CONTEXTS),
            interfaces={i.name: self._interface(instance, i, reader) for i in type.interfaces},
            conditions={name: _thread(reader, f"{name}_") for name in conditions},
            semaphores={sync.name: _semaphore(sync, reader) for sync in type.syncs},
            members=reader.members("instance"),
            task_members=reader.members("task", "_") if is_task else (),
            spans=spans,
        )

    def _serves_time(self, instance: Instance, interface: Interface) -> bool:
        side = self.sides.get(f"{instance.name}.{interface.name}")
        return interface.kind == "provides" and side is not None and side.carries is Carries.TIME

    def _interface(self, instance: Instance, interface: Interface, reader: Reader) -> InterfaceSettings:
        name, kind, prefix = f"{instance.name}.{interface.name}", interface.kind, f"{interface.name}_"
        side = self.sides.get(name)
        carries = None if side is None else side.carries
        has_thread = kind in ("provides", "consumes") if side is None else side.threads > 0
        sends = (carries, kind) in ((Carries.CALLS, "uses"), (Carries.EVENTS, "emits"))
        spans: dict[str, Span] = {}
        values = _numbers(reader, _OF_INTERFACES, prefix, spans)
        if values.get(PASSIVE.name) and kind != "provides":
            self.sink.report(
                codes.NOT_PASSIVE,
                f"`{interface.name}` is declared with `{kind}`, so it cannot be passive",
                spans[PASSIVE.name],
                "a passive thread runs on the scheduling contexts of its callers, and this interface has "
                "none",
                related=(Label(interface.span, "the interface"),),
            )
        return InterfaceSettings(
            **values,
            attributes=_badge(reader, prefix, spans) if sends else None,
            requests=reader.number(REQUESTS, prefix, spans) if kind == "uses" else None,
            access=_access(reader, prefix, spans) if carries is Carries.DATA else "RW",
            dtb=_answer(Reader(self.other.get(name, {}), (), self.sink)),
            thread=_thread(reader, prefix, _OF_THREADS if has_thread else _OF_CONTEXTS),
            members=reader.members("cpi", prefix) if name in self.real_time else (),
            spans=spans,
        )


def configured_connections(connections: Iterable[Connection], sink: Sink) -> tuple[Connection, ...]:
    """The connections with what is set for them; other settings are for templates of their connectors."""
    connections = tuple(connections)
    shared = (each for each in connections if support(each.connector).carries is Carries.DATA)
    dataports = {name: each for each in shared for name in (each.name, *each.names)}
    return tuple(
        replace(each, configured=_of_connection(each, dataports, sink)) if each.settings else each
        for each in connections
    )


def _of_connection(
    connection: Connection, dataports: Mapping[str, Connection], sink: Sink
) -> ConnectionSettings:
    reader, carries = Reader(connection.settings, (), sink), support(connection.connector).carries
    spans: dict[str, Span] = {}
    values, buffer = {}, {}
    if carries is Carries.DATA:
        values = _numbers(reader, _OF_DATAPORTS, "", spans)
    elif carries is Carries.CALLS and (name := reader.text(BUFFER, "", spans)) is not None:
        buffer = _buffer(connection, name, dataports.get(name), spans[BUFFER.name], sink)
    return ConnectionSettings(**values, buffer=buffer, spans=spans)


def _buffer(
    connection: Connection, name: str, memory: Connection | None, place: Span, sink: Sink
) -> dict[str, str]:
    """The dataport of each end of a connection, by its instance."""
    ends = (*connection.from_ends, *connection.to_ends)
    found: dict[str, str] = {}
    for end in () if memory is None else (*memory.from_ends, *memory.to_ends):
        if any(each.instance == end.instance for each in ends):
            found.setdefault(end.instance, end.interface)
    if len(ends) == 2 and all(end.instance in found for end in ends):
        return found
    sink.report(
        RPC_BUFFER,
        f"`{name}` is not a dataport connection between {ends[0].instance} and {ends[-1].instance}",
        place,
        related=[Label(connection.span, "the messages of this connection are stored in it")],
        help=f"connect a dataport of each with {SHARED_DATA.name}, and write the name of that connection",
    )
    return {}


def _numbers(reader: Reader, rows: Sequence[Known], prefix: str, spans: dict[str, Span]) -> dict[str, int]:
    if reader.is_empty:
        return {}
    found = ((known.name, reader.number(known, prefix, spans)) for known in rows)
    return {name: number for name, number in found if number is not None}


def _thread(reader: Reader, prefix: str, rows: Sequence[Known] = _OF_THREADS) -> ThreadSettings:
    spans: dict[str, Span] = {}
    values = _numbers(reader, rows, prefix, spans)
    return ThreadSettings(**values, members=reader.members("thread", prefix), spans=spans)


def _badge(reader: Reader, prefix: str, spans: dict[str, Span]) -> int | None:
    """A number or a string of digits; other connectors keep other things there."""
    found = reader.find(ATTRIBUTES, prefix)
    if found is not None and isinstance(found[1].value, str) and not found[1].value.strip().isdecimal():
        return None
    return reader.taken(ATTRIBUTES, found, spans)


def _access(reader: Reader, prefix: str, spans: dict[str, Span]) -> str:
    """Rights of a dataport, a subset of "RWX"; read and write by default."""
    letters = reader.text(ACCESS, prefix, spans)
    if letters is None:
        return "RW"
    if letters and [letter for letter in "RWXP" if letter in letters] == list(letters):
        return letters.replace("P", "")
    reader.sink.report(
        ACCESS_RIGHTS,
        f'"{letters}" is not a valid string of access rights',
        spans[ACCESS.name],
        help='write some of the letters "RWXP" in this order, for example "RW"',
    )
    return "RW"


def _semaphore(sync: Sync, reader: Reader) -> int:
    """The value that a lock starts with."""
    binary = sync.kind == "binary_semaphore"
    value = None
    if binary or sync.kind == "semaphore":
        kind = Label(sync.span, f"a {sync.kind.replace('_', ' ')}")
        known = replace(VALUE, high=1) if binary else VALUE
        value = reader.number(known, f"{sync.name}_", related=[kind])
    if value is None:
        return 0 if sync.kind in ("binary_semaphore", "condition") else 1
    return value


def _untyped_pools(instance: Instance, reader: Reader) -> Iterator[UntypedPool]:
    for name in dict.fromkeys((*instance.settings, *(a.name for a in instance.type.attributes))):
        form = _UNTYPED_NAME.fullmatch(name)
        found = None if form is None else reader.find(replace(UNTYPED_POOL, name=name))
        if form is None or found is None:
            continue
        bits = int(form.group(1))
        if bits not in _UNTYPED_BITS:
            reader.sink.report(
                SETTING_RANGE,
                f"{instance.name}.{name}: an untyped has {_UNTYPED_BITS[0]} to {_UNTYPED_BITS[-1]} bits",
                found[1].span,
                f"asks for objects of 2 to the power of {bits} bytes",
            )
            continue
        yield UntypedPool(name, bits, reader.taken(UNTYPED_POOL, found) or 0)


def _answer(reader: Reader) -> DeviceTreeAnswer | None:
    """What a query found in the device tree; None: nothing is set."""
    found = reader.find(DTB)
    if found is None:
        return None
    size = registers = 0
    match found[1].value:
        case {"dtb_size": [int(size), *_]}:
            pass
    match found[1].value:
        case {"query": [{"reg": [*cells], "this_address_cells": [int(a)], "this_size_cells": [int(s)]}]}:
            registers = len(cells) // (a + s) if a + s else 0
    return DeviceTreeAnswer(size, registers)
