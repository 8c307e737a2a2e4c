# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems and plans made by hand, for tests of what is computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.protocols import Protocol
from camkes.model.system import (
    ComponentType,
    Connection,
    ConnectionEnd,
    Connector,
    ConnectorEnd,
    Cpi,
    DataportType,
    Instance,
    Interface,
    Method,
    Procedure,
    Setting,
    Sync,
    System,
    Task,
    Value,
)
from camkes.protocols.contexts import Context, Seat
from camkes.protocols.plan import Plan, PlannedCpi, PlannedTask, Request
from camkes.resolve.program.configure import configured, configured_connections
from camkes.resolve.program.reader import Reader

FILE = SourceFile(Path("hand.camkes"), "\n")
SPAN = Span(FILE, 1, 1, 1, 2)
POW = Procedure("Pow", (Method("pow", None, (), SPAN),), (), SPAN)


def connector(name: str, kind: str, from_: tuple[bool, int], to: tuple[bool, int]) -> Connector:
    """Each end: are several allowed, and how many threads it has."""
    return Connector(name, ConnectorEnd(False, kind, *from_), ConnectorEnd(False, kind, *to), (), SPAN)


RPC = connector("seL4RPCCall", "Procedure", (True, 0), (False, 1))
EVENT = connector("seL4Notification", "Event", (False, 0), (True, 1))
DATA = connector("seL4SharedData", "Dataport", (True, 0), (True, 0))
CALL = connector("seL4DirectCall", "Procedure", (False, 1), (False, 1))


def iface(text: str, protocol: Protocol | None = None) -> Interface:
    """ "uses p", "provides q", "emits e", "consumes e", "dataport d"."""
    kind, name = text.split()
    if kind in ("uses", "provides"):
        return Interface(kind, name, POW, False, SPAN, protocol)
    if kind == "dataport":
        return Interface(kind, name, DataportType("Buf", 4096), False, SPAN)
    return Interface(kind, name, "Ping", False, SPAN)


def component(
    name: str, *interfaces: Interface | str, control: bool = False, syncs: str = ""
) -> ComponentType:
    made = tuple(iface(i) if isinstance(i, str) else i for i in interfaces)
    pairs = [s.split(":") for s in syncs.split()]
    return ComponentType(
        name, control, False, made, tuple(Sync(k, n, SPAN) for k, n in pairs), (), (), SPAN, requestor=False
    )


def instance(name: str, kind: ComponentType, group: str | None = None, **settings: Value) -> Instance:
    return Instance(name, kind, group or name, {k: Setting(v, SPAN) for k, v in settings.items()}, SPAN)


def ends(text: str) -> tuple[ConnectionEnd, ...]:
    return tuple(ConnectionEnd(*name.rsplit(".", 1), SPAN) for name in text.split())


def connect(
    kind: Connector, name: str, from_: str, to: str, settings: Mapping[str, Value] | None = None
) -> Connection:
    made = {k: Setting(v, SPAN) for k, v in (settings or {}).items()}
    return Connection(name, (name,), kind, ends(from_), ends(to), made, SPAN)


def system(
    instances: tuple[Instance, ...],
    connections: tuple[Connection, ...] = (),
    tasks: tuple[Task, ...] = (),
    cpis: tuple[Cpi, ...] = (),
    other: Mapping[str, Mapping[str, Setting]] | None = None,
) -> System:
    """A system of these parts; wrong settings count as not given."""
    sink, other = Sink(), other or {}
    connections = configured_connections(connections, sink)
    readers = {each.name: Reader(each.settings, each.type.attributes, sink) for each in instances}
    instances = configured(instances, connections, tasks, cpis, (), other, readers, sink)
    return System(FILE, (FILE,), instances, connections, (), tasks, cpis, other)


EMPTY = Plan((), (), (), ())


def task(name: str, priority: int, period: int | None = None, offset: int = 0) -> Task:
    return Task(name, None, priority, period, None, None, None, offset, SPAN, {})


def planned_cpi(
    number: int, name: str, protocol: Protocol, contexts: tuple[Context, ...], **more: object
) -> PlannedCpi:
    inst, interface = name.rsplit(".", 1)
    fields: dict[str, object] = {
        "ceiling": max((c.base_priority for c in contexts), default=0),
        "tasks": tuple(c.name for c in contexts if c.is_task),
        "threads": 1 if protocol is Protocol.FIXED else len(contexts),
        "threads_minimum": 1,
        "pooled": False,
        "seats": tuple(map(Seat, contexts)),
        "alone": protocol is Protocol.FIXED,
        "manager": protocol is Protocol.INHERITED and len(contexts) > 1,
        "inherits_from_above": False,
        "requests": (),
    }
    fields.update(more)
    return PlannedCpi(number, name, inst, interface, protocol, contexts=contexts, span=SPAN, **fields)  # type: ignore[arg-type]


def request(caller: str, via: str, callee: str, connection: str) -> Request:
    return Request(caller, via, callee, connection, "clause", SPAN)


def nested() -> tuple[System, Plan]:
    """Two tasks -> an inherited CPI -> an inherited CPI (also requested by a third task) -> a fixed CPI."""
    tasks_type = component("Task", "uses p", control=True)
    lock = component("Lock", iface("provides p", Protocol.INHERITED), "uses next")
    leaf = component("Leaf", iface("provides p", Protocol.FIXED))
    made = system(
        (
            instance("t1", tasks_type, _priority=10),
            instance("t2", tasks_type, _priority=20),
            instance("t3", tasks_type, _priority=30),
            instance("outer", lock),
            instance("inner", lock),
            instance("leaf", leaf),
        ),
        (
            connect(RPC, "c1", "t1.p t2.p", "outer.p"),
            connect(RPC, "c2", "outer.next t3.p", "inner.p"),
            connect(RPC, "c3", "inner.next", "leaf.p"),
        ),
        (task("t1", 10, 100_000_000), task("t2", 20, 20_000_000), task("t3", 30, 10_000_000, 1_000_000)),
    )
    t1, t2, t3 = (Context(i, f"t{i + 1}", True, 10 * (i + 1)) for i in range(3))
    fixed = Context(3, "leaf.p", False, 30)
    plan = Plan(
        tuple(PlannedTask(c.name, c.id + 1, c.base_priority, c) for c in (t1, t2, t3)),
        (
            planned_cpi(0, "outer.p", Protocol.INHERITED, (t1, t2), requests=("inner.p",)),
            planned_cpi(
                1, "inner.p", Protocol.INHERITED, (t1, t2, t3), inherits_from_above=True, requests=("leaf.p",)
            ),
            planned_cpi(2, "leaf.p", Protocol.FIXED, (t1, t2, t3)),
        ),
        (t1, t2, t3, fixed),
        (
            request("t1", "t1.p", "outer.p", "c1"),
            request("t2", "t2.p", "outer.p", "c1"),
            request("outer.p", "outer.next", "inner.p", "c2"),
            request("t3", "t3.p", "inner.p", "c2"),
            request("inner.p", "inner.next", "leaf.p", "c3"),
        ),
    )
    return made, plan


def everything() -> System:
    """One of each kind of connection, in separate spaces and in a group."""
    a = component(
        "A",
        "uses s",
        "emits e",
        "consumes n",
        "dataport d",
        "uses t",
        control=True,
        syncs="mutex:m semaphore:x",
    )
    b = component("B", "provides s", "consumes e", "emits n", "dataport d", "provides t")
    clock = component("Clock", "provides t")
    time = connector("seL4TimeServer", "Procedure", (True, 0), (False, 1))
    queue = connector("seL4NotificationQueue", "Event", (False, 0), (True, 1))
    return system(
        (
            instance("a1", a),
            instance("b1", b),
            instance("a2", a, "g"),
            instance("b2", b, "g"),
            instance("clock", clock, timers_per_client=2),
        ),
        (
            connect(RPC, "r1", "a1.s", "b1.s"),
            connect(CALL, "r2", "a2.s", "b2.s"),
            connect(EVENT, "e1", "a1.e", "b1.e b2.e"),
            connect(queue, "n1", "b1.n", "a1.n"),
            connect(EVENT, "n2", "b2.n", "a2.n"),
            connect(DATA, "d1", "a1.d a2.d", "b1.d b2.d"),
            connect(time, "t1", "a1.t a2.t", "clock.t"),
        ),
    )
