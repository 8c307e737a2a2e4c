# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""From a system, its plan and its capabilities to what templates get."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from msgspec import Struct, field

from camkes.capdl.allocate import is_timer, mapping_symbol
from camkes.capdl.callers import Wiring, caller_table, sender_ids
from camkes.capdl.model import CapabilityModel, Role, Thread
from camkes.diagnostics import Label, Sink
from camkes.generate import contexts as ctx
from camkes.generate.attributes import attributes
from camkes.generate.codes import NEEDS_SEL4, RPC_BUFFER, SEMAPHORE_VALUE, TIMER_METHOD, UNKNOWN_CONNECTOR
from camkes.generate.names import c_name, c_string, place
from camkes.generate.procedures import procedure
from camkes.model.connectors import GENERATED, SHARED_DATA, Carries, is_standard, support
from camkes.model.settings import Reader, find
from camkes.model.system import (
    INSTANCE_PREFIX,
    Connection,
    DataportType,
    Include,
    Instance,
    Interface,
    Procedure,
    Protocol,
    Setting,
    Sync,
    System,
)
from camkes.protocols.plan import Context, Plan, PlannedCpi

#: the methods of a time server, and what they are in the runtime
_TIMER_BODIES = {
    "periodic": "camkes_timers_periodic(&{0}__timers, {1}, {2})",
    "oneshot_absolute": "camkes_timers_oneshot_absolute(&{0}__timers, {1}, {2})",
    "oneshot_relative": "camkes_timers_oneshot_relative(&{0}__timers, {1}, {2})",
    "stop": "camkes_timers_stop(&{0}__timers, {1})",
    "completed": "camkes_timers_completed(&{0}__timers)",
    "time": "camkes_platform_now()",
}
_TIMER_PARAMETERS: dict[str, tuple[str, ...]] = {
    "periodic": ("in int tid", "in uint64_t ns"),
    "oneshot_absolute": ("in int tid", "in uint64_t ns"),
    "oneshot_relative": ("in int tid", "in uint64_t ns"),
    "stop": ("in int tid",),
    "completed": (),
    "time": (),
}


class Rendered(Struct, frozen=True):
    """What templates of connectors' own have been rendered to: the connectors, and the names of the headers
    of each instance."""

    connectors: frozenset[str] = frozenset()
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


NOTHING_RENDERED = Rendered()


class Builder:
    """Builds the contexts of one system."""

    def __init__(
        self,
        system: System,
        plan: Plan,
        model: CapabilityModel | None,
        sink: Sink,
        rendered: Rendered = NOTHING_RENDERED,
    ) -> None:
        """Without a model there are no slots and no threads: enough for headers."""
        self.rendered = rendered
        self.system = system
        self.plan = plan
        self.model = model or CapabilityModel((), (), ())
        self.allocated = model is not None
        model = self.model
        self.sink = sink
        self.root = system.root.path.parent
        self.source = system.root.path.name
        self.wiring = Wiring(system)
        # what is wrong with these settings was reported when capabilities were allocated
        self.reader = Reader(Sink())
        threads = [t for space in model.spaces for t in space.threads]
        self.numbers = {t.name: number for number, t in enumerate(threads)}
        self.threads: dict[str, list[Thread]] = {}
        for thread in threads:
            self.threads.setdefault(thread.instance, []).append(thread)
        self.regions = {
            (space.name, mapping.symbol): mapping.region
            for space in model.spaces
            for mapping in space.mappings
        }
        self.sizes = {o.name: o.size for o in model.objects}

    def check_connections(self) -> None:
        """Report connections that no code can be generated for."""
        for connection in self.system.connections:
            connector = connection.connector
            if support(connector).carries is Carries.CALLS:
                self._check_buffer(connection)
            if connector.name in GENERATED | self.rendered.connectors or is_timer(connection):
                continue
            if connector.from_end.hardware or connector.to_end.hardware or is_standard(connector):
                self.sink.report(
                    NEEDS_SEL4,
                    f"connection `{connection.names[0]}` needs the seL4 kernel: "
                    f"the host kernel has no {connector.name}",
                    connection.span,
                    help="build with `--kernel sel4`, or put a component in the place of the device",
                )
            else:
                self.sink.report(
                    UNKNOWN_CONNECTOR,
                    f"there is no template for connector `{connector.name}` of connection "
                    f"`{connection.names[0]}`",
                    connection.span,
                    help="use a connector of std_connector.camkes; one of your own needs seL4, and templates "
                    "that DeclareCAmkESConnector names",
                )

    def _check_buffer(self, connection: Connection) -> None:
        setting = connection.settings.get("buffer")
        if setting is None:
            return
        ends = [*connection.from_ends, *connection.to_ends]
        if len(ends) != 2 or any(self.buffer(connection, end.instance) is None for end in ends):
            self.sink.report(
                RPC_BUFFER,
                f"`{setting.value}` is no dataport connection between {ends[0].instance} and "
                f"{ends[-1].instance}",
                setting.span,
                related=[Label(connection.span, "messages of this connection would be in it")],
                help=f"connect a dataport of each of the two with {SHARED_DATA.name}, and name that "
                "connection",
            )

    def buffer(self, connection: Connection, instance: str) -> str | None:
        """The dataport of `instance` that messages of an RPC connection are in, None: there is none."""
        setting = connection.settings.get("buffer")
        if setting is None:
            return None
        for other in self.system.connections:
            if (
                setting.value in (other.name, *other.names)
                and support(other.connector).carries is Carries.DATA
            ):
                ends = [e for e in (*other.from_ends, *other.to_ends) if e.instance == instance]
                return ends[0].interface if ends else None
        return None

    def is_rendered(self, connection: Connection | None) -> bool:
        """Does a template of the connector's own have the code?"""
        return connection is not None and connection.connector.name in self.rendered.connectors

    def spaces(self) -> tuple[ctx.SpaceContext, ...]:
        return tuple(
            ctx.SpaceContext(
                space.name, self.source, tuple((self.thread_name(t), t.name) for t in space.threads)
            )
            for space in self.model.spaces
        )

    def instances(self) -> tuple[ctx.InstanceContext, ...]:
        return tuple(
            _InstanceBuilder(self, instance).build()
            for instance in self.system.instances
            if not instance.type.hardware
        )

    def space_of(self, instance: str) -> str:
        found = self.system.instance(instance)
        return instance if found is None else found.address_space

    def thread_name(self, thread: Thread) -> str:
        rest = thread.name.removeprefix(thread.instance).removeprefix(".")
        rest = rest.replace("@", "__for_").replace("!", "__")
        return f"{INSTANCE_PREFIX}{c_name(thread.instance)}__{c_name(rest) or 'control'}"


def _carries(connection: Connection | None, what: Carries) -> TypeGuard[Connection]:
    """Is there generated code for a connection that carries this?"""
    if connection is None:
        return False
    connector = support(connection.connector)
    return connector.generated and connector.carries is what


def _bits(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The bytes of a set of numbers: number n is bit n % 8 of byte n / 8."""
    found = sum(1 << number for number in set(numbers))
    return tuple(found.to_bytes(max(1, -(-found.bit_length() // 8)), "little"))


class _InstanceBuilder:
    """Builds the context of one instance."""

    def __init__(self, all_: Builder, instance: Instance) -> None:
        self.all = all_
        self.instance = instance
        self.root = all_.root
        self.own_threads = all_.threads.get(instance.name, [])
        self.cpis = [c for c in all_.plan.cpis if c.instance == instance.name]
        self.task = next((t for t in all_.plan.tasks if t.name == instance.name), None)
        self.contexts = self._own_contexts()

    def build(self) -> ctx.InstanceContext:
        instance, component = self.instance, self.instance.type
        structs, constants = attributes(instance, self.root, self.all.sink)
        interfaces = component.interfaces
        wired = [(i, self.all.wiring.connection(f"{instance.name}.{i.name}")) for i in interfaces]
        names = {c.name for c in self.cpis}
        plain = dict.fromkeys(t.interface for t in self.own_threads if t.role is Role.INTERFACE)
        return ctx.InstanceContext(
            name=instance.name,
            c_name=c_name(instance.name),
            origin=place(instance.span, self.root),
            source=self.all.source,
            affinity=self.all.reader.affinity(instance, ""),
            system_includes=self._includes(),
            structs=structs,
            attributes=constants,
            headers=self.all.rendered.headers.get(instance.name, ()),
            interfaces=tuple(self._declared(i) for i in interfaces),
            syncs=tuple(self._sync(s) for s in component.syncs),
            rpc_from=tuple(
                self._rpc_from(i, c) for i, c in wired if i.kind == "uses" and _carries(c, Carries.CALLS)
            ),
            rpc_to=tuple(
                self._rpc_to(i, c) for i, c in wired if i.kind == "provides" and _carries(c, Carries.CALLS)
            ),
            direct=tuple(
                self._direct(i, c)
                for i, c in wired
                if i.kind == "uses" and _carries(c, Carries.FUNCTION_CALLS)
            ),
            direct_to=tuple(
                self._declared(i)
                for i, c in wired
                if i.kind == "provides" and _carries(c, Carries.FUNCTION_CALLS)
            ),
            emits=tuple(self._emit(i, c) for i, c in wired if i.kind == "emits"),
            consumes=tuple(
                self._consume(i) for i, c in wired if i.kind == "consumes" and _carries(c, Carries.EVENTS)
            ),
            dataports=tuple(self._dataport(i, c) for i, c in wired if i.kind == "dataport"),
            timers=tuple(
                self._timer(i)
                for i, c in wired
                if i.kind == "uses" and c is not None and is_timer(c, self.all.rendered.connectors)
            ),
            plain_interfaces=tuple(i for i in plain if f"{instance.name}.{i}" not in names),
            threads=tuple(self._thread(t) for t in self.own_threads),
            task=self._task(),
            start=ctx.StartContext(
                gate=self._maybe("!gate"),
                ready=self._maybe("!ready"),
                interfaces=sum(t.role is Role.INTERFACE for t in self.own_threads),
                inits=tuple(c.interface for c in self.cpis),
                run=component.control,
            ),
        )

    # lookups

    def _slot(self, symbol: str) -> int:
        if not self.all.allocated:
            return 0
        return self.all.model.slots[self.instance.name, symbol]

    def _maybe(self, symbol: str) -> int:
        return self.all.model.slots.get((self.instance.name, symbol), 0)

    def _shared(self, variable: str) -> ctx.SharedContext:
        if not self.all.allocated:
            return ctx.SharedContext(variable, variable, 0)
        symbol = mapping_symbol(self.all.system, self.instance, variable)
        region = self.all.regions[self.instance.address_space, symbol]
        return ctx.SharedContext(variable, symbol, self.all.sizes[region])

    def _own_contexts(self) -> dict[int, str]:
        """The contexts under which threads of this instance make requests: plan id -> name."""
        contexts: dict[int, str] = {}
        if self.task is not None:
            contexts[self.task.context.id] = self.task.context.name
        for cpi in self.cpis:
            for context in self._requesting(cpi):
                contexts[context.id] = context.name
        return contexts

    def _requesting(self, cpi: PlannedCpi) -> tuple[Context, ...]:
        if cpi.protocol is not Protocol.FIXED:
            return cpi.contexts
        return tuple(c for c in self.all.plan.contexts if c.name == cpi.name and not c.is_task)

    def _route(self, context: int) -> int:
        return list(self.contexts).index(context)

    # the header

    def _includes(self) -> tuple[str, ...]:
        component = self.instance.type
        includes: list[Include] = list(component.includes)
        for interface in component.interfaces:
            if isinstance(interface.type, Procedure):
                includes += interface.type.includes
        return tuple(dict.fromkeys(f"<{i.path}>" if i.system else f'"{i.path}"' for i in includes))

    def _declared(self, interface: Interface) -> ctx.InterfaceContext:
        kind = interface.type
        return ctx.InterfaceContext(
            interface.kind,
            interface.name,
            kind if isinstance(kind, str) else kind.name,
            place(interface.span, self.root),
            interface.optional,
            self._methods(interface),
            self.all.is_rendered(self.all.wiring.connection(f"{self.instance.name}.{interface.name}")),
            self._registers(interface),
        )

    def _registers(self, interface: Interface) -> int:
        """How many blocks of registers the device tree gives the device behind an interface."""
        settings = self.all.system.other_settings.get(f"{self.instance.name}.{interface.name}", {})
        match settings["dtb"].value if "dtb" in settings else None:
            case {"query": [{"reg": [*cells], "this_address_cells": [int(a)], "this_size_cells": [int(s)]}]}:
                return len(cells) // (a + s) if a + s else 0
        return 0

    def _methods(self, interface: Interface) -> tuple[ctx.MethodContext, ...]:
        """The methods of an interface; a caller without a type check may know others."""
        if not isinstance(interface.type, Procedure):
            return ()
        methods = {m.name: m for m in procedure(interface.type, interface.name, self.root).methods}
        connection = self.all.wiring.connection(f"{self.instance.name}.{interface.name}")
        if interface.kind == "provides" and _carries(connection, Carries.CALLS):
            for dispatch in self._dispatches(interface, connection):
                for method in dispatch.procedure.methods:
                    methods.setdefault(method.name, method)
        return tuple(methods.values())

    # procedures

    def _rpc_from(self, interface: Interface, connection: Connection) -> ctx.RpcFromContext:
        assert isinstance(interface.type, Procedure)
        target = connection.to_ends[0].name
        cpi = self.all.plan.cpi(target)
        return ctx.RpcFromContext(
            interface.name,
            place(connection.span, self.root),
            target,
            procedure(interface.type, interface.name, self.root),
            endpoint=0 if cpi is not None else self._slot(interface.name),
            cpi=None if cpi is None else cpi.id,
            routes=tuple(
                ctx.RouteContext(
                    name,
                    self._maybe(f"{interface.name}@{name}"),
                    self._maybe(f"{interface.name}!manager@{name}"),
                )
                for name in self.contexts.values()
            ),
            buffer=self.all.buffer(connection, self.instance.name),
        )

    def _rpc_to(self, interface: Interface, connection: Connection) -> ctx.RpcToContext:
        cpi = self.all.plan.cpi(f"{self.instance.name}.{interface.name}")
        numbers = sender_ids(self.all.system, connection, self.all.reader)
        return ctx.RpcToContext(
            interface.name,
            place(connection.span, self.root),
            tuple(zip(numbers, (e.name for e in connection.from_ends), strict=True)),
            self._dispatches(interface, connection),
            None if cpi is None else self._cpi(cpi),
            self.all.buffer(connection, self.instance.name),
        )

    def _dispatches(self, interface: Interface, connection: Connection) -> tuple[ctx.DispatchContext, ...]:
        """One for each type that from ends have; usually that is the interface's own."""
        assert isinstance(interface.type, Procedure)
        senders: dict[str, list[int]] = {}
        types: dict[str, Procedure] = {}
        numbers = sender_ids(self.all.system, connection, self.all.reader)
        for end, number in zip(connection.from_ends, numbers, strict=True):
            caller = self.all.system.instance(end.instance)
            used = None if caller is None else caller.type.interface(end.interface)
            kind = used.type if used is not None and isinstance(used.type, Procedure) else interface.type
            types.setdefault(kind.name, kind)
            senders.setdefault(kind.name, []).append(number)
        if set(types) <= {interface.type.name}:
            return (ctx.DispatchContext("", procedure(interface.type, interface.name, self.root), ()),)
        return tuple(
            ctx.DispatchContext(
                f"_{c_name(name)}", procedure(kind, interface.name, self.root), tuple(senders[name])
            )
            for name, kind in types.items()
        )

    def _cpi(self, cpi: PlannedCpi) -> ctx.CpiContext:
        name = cpi.interface
        own = not cpi.pooled and cpi.protocol is not Protocol.FIXED
        workers = [t for t in self.own_threads if t.role is Role.WORKER and t.interface == name]
        by_context = {t.context: self.all.thread_name(t) for t in workers} if own else {}
        fixed = cpi.protocol is Protocol.FIXED
        table = caller_table(self.all.system, self.all.plan, cpi, self.all.reader)
        index = {c.id: i for i, c in enumerate(cpi.contexts)}
        return ctx.CpiContext(
            name=cpi.name,
            id=cpi.id,
            protocol=cpi.protocol.value.upper(),
            ceiling=cpi.ceiling,
            pooled=cpi.pooled,
            contexts=tuple(
                ctx.CpiContextContext(
                    name=c.name,
                    id=c.id,
                    route=0 if fixed else self._route(c.id),
                    base=c.base_priority,
                    reply=self._maybe(f"{name}!reply@{c.name}"),
                    manager=self._maybe(f"{name}!manager@{c.name}"),
                    worker=by_context.get(c.id),
                )
                for c in cpi.contexts
            ),
            callers=tuple(
                ctx.CallerContext(
                    e.sender_id,
                    index[e.context.id],
                    e.context.base_priority,
                    e.bound,
                    _bits(e.tasks),
                    f"{e.context.name} through {e.end.name}",
                )
                for e in table
            ),
            manager=self._maybe(f"{name}!manager"),
            authority=self._maybe(f"{name}!authority"),
            pool=tuple(self.all.thread_name(t) for t in workers) if cpi.pooled else (),
        )

    def _direct(self, interface: Interface, connection: Connection) -> ctx.DirectContext:
        assert isinstance(interface.type, Procedure)
        target = connection.to_ends[0]
        return ctx.DirectContext(
            interface.name,
            place(connection.span, self.root),
            procedure(interface.type, interface.name, self.root),
            f"{INSTANCE_PREFIX}{c_name(target.instance)}__direct_{target.interface}",
        )

    # events, memory, time

    def _emit(self, interface: Interface, connection: Connection | None) -> ctx.EmitContext:
        targets: list[tuple[int, ctx.SharedContext | None]] = []
        if connection is not None and _carries(connection, Carries.EVENTS):
            queued = support(connection.connector).counted
            for number in range(len(connection.to_ends)):
                queue = self._shared(f"{interface.name}_queue{number}") if queued else None
                targets.append((self._slot(f"{interface.name}#{number}"), queue))
        span = interface.span if connection is None else connection.span
        underlying = self.all.is_rendered(connection)
        return ctx.EmitContext(interface.name, place(span, self.root), tuple(targets), underlying)

    def _consume(self, interface: Interface) -> ctx.ConsumeContext:
        connection = self.all.wiring.connection(f"{self.instance.name}.{interface.name}")
        assert connection is not None
        queued = support(connection.connector).counted
        return ctx.ConsumeContext(
            interface.name,
            place(connection.span, self.root),
            self._slot(interface.name),
            self._maybe(f"{interface.name}!handoff") or None,
            self._shared(f"{interface.name}_queue") if queued else None,
        )

    def _dataport(self, interface: Interface, connection: Connection | None) -> ctx.DataportContext:
        kind = interface.type
        assert isinstance(kind, DataportType)
        connected = _carries(connection, Carries.DATA)
        index = self.all.system.connections.index(connection) if connection is not None else -1
        return ctx.DataportContext(
            interface.name,
            place(interface.span if connection is None else connection.span, self.root),
            type="void" if kind.size is not None else kind.name,
            size=str(kind.size) if kind.size is not None else f"sizeof({kind.name})",
            memory=self._shared(f"{interface.name}_data") if connected else None,
            id=index,
            optional=interface.optional,
            rendered=self.all.is_rendered(connection),
        )

    def _timer(self, interface: Interface) -> ctx.TimerContext:
        assert isinstance(interface.type, Procedure)
        timers = [self._slot(f"{interface.name}!timer")]
        while (slot := self._maybe(f"{interface.name}!timer@{len(timers)}")) != 0:
            timers.append(slot)
        bodies: list[tuple[ctx.MethodContext, str]] = []
        for method in procedure(interface.type, interface.name, self.root).methods:
            body = _TIMER_BODIES.get(method.name)
            plain = all(p.direction == "in" and p.shape is ctx.Shape.SCALAR for p in method.parameters)
            if body is None or not plain or len(method.parameters) != len(_TIMER_PARAMETERS[method.name]):
                source = interface.type.methods[method.index]
                self.all.sink.report(
                    TIMER_METHOD,
                    f"the virtual time server has no method `{method.name}`"
                    + ("" if body is None else " with these parameters"),
                    source.span,
                    related=[Label(interface.span, "connected to the virtual time server")],
                    help=f"its methods are {', '.join(_TIMER_PARAMETERS)}"
                    if body is None
                    else f"write `{method.name}({', '.join(_TIMER_PARAMETERS[method.name])})`",
                )
                continue
            bodies.append((method, body.format(interface.name, *(p.name for p in method.parameters))))
        return ctx.TimerContext(
            interface.name,
            place(interface.span, self.root),
            self._slot(interface.name),
            tuple(timers),
            tuple(bodies),
        )

    # the rest

    def _sync(self, sync: Sync) -> ctx.SyncContext:
        value = 0 if sync.kind == "binary_semaphore" else 1
        setting = find(self.instance, f"{sync.name}_value")
        if setting is not None and sync.kind != "mutex":
            value = self._initial(sync, setting)
        return ctx.SyncContext(
            sync.kind,
            sync.name,
            place(sync.span, self.root),
            self._slot(sync.name),
            value,
            "INT_MAX" if sync.kind == "semaphore" else "1",
        )

    def _initial(self, sync: Sync, setting: Setting) -> int:
        value = setting.value
        if isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        highest = 1 if sync.kind == "binary_semaphore" else 2**31 - 1
        if not isinstance(value, int) or not 0 <= value <= highest:
            self.all.sink.report(
                SEMAPHORE_VALUE,
                f"{sync.name}_value must be a whole number from 0 to {highest}",
                setting.span,
                related=[Label(sync.span, f"a {sync.kind.replace('_', ' ')}")],
            )
            return 0
        return value

    def _task(self) -> ctx.TaskContext | None:
        task = next((t for t in self.all.system.tasks if t.instance == self.instance.name), None)
        if task is None:
            return None
        return ctx.TaskContext(self._slot("!release"), self._slot("!timer"), task.offset, task.period or 0)

    def _thread(self, thread: Thread) -> ctx.ThreadContext:
        """The record of a thread; what it does follows from its role."""
        all_, interface = self.all, thread.interface
        fields = {
            "name": c_string(thread.name),
            "instance": "&camkes__instance",
            "number": str(all_.numbers[thread.name]),
            "priority": str(thread.priority),
            "tcb": str(self._maybe(f"!tcb:{thread.index}")),
        }
        origin, route, task_id = "CAMKES_NO_ROUTE", "CAMKES_NO_ROUTE", "CAMKES_NO_TASK"
        cpi = next((c for c in self.cpis if c.interface == interface), None)
        match thread.role:
            case Role.CONTROL:
                fields["start"] = "camkes__control"
                if self.task is not None:
                    fields["task"] = "&camkes__task"
                    origin, route = str(self.task.context.id), str(self._route(self.task.context.id))
                    task_id = str(self.task.id)
            case Role.MANAGER:
                fields |= {"start": "camkes_manage_cpi", "cpi": f"&{interface}__cpi"}
            case Role.WORKER if cpi is not None:
                shared = cpi.pooled or cpi.protocol is Protocol.FIXED
                own = next((c for c in self._requesting(cpi) if c.id == thread.context), None)
                endpoint = interface if shared or own is None else f"{interface}@{own.name}"
                fields |= {
                    "start": "camkes_serve_cpi",
                    "serve": f"{interface}__serve",
                    "endpoint": str(self._slot(endpoint)),
                    "cpi": f"&{interface}__cpi",
                }
                if own is not None and cpi.protocol is Protocol.FIXED:
                    origin, route = str(own.id), str(self._route(own.id))
            case _:
                fields |= self._interface_thread(interface)
        fields |= {"origin": origin, "route": route, "task_id": task_id}
        return ctx.ThreadContext(
            thread.name,
            all_.thread_name(thread),
            f"{thread.role.value}, priority {thread.priority}",
            tuple(fields.items()),
        )

    def _interface_thread(self, interface: str) -> dict[str, str]:
        connection = self.all.wiring.connection(f"{self.instance.name}.{interface}")
        declared = self.instance.type.interface(interface)
        if declared is not None and declared.kind == "consumes" and self._maybe(f"{interface}!handoff"):
            return {"start": "camkes_serve_event", "interface": f"&{interface}__event"}
        fields = {"start": "camkes_serve_plain", "interface": f"&{interface}__interface"}
        served = declared is not None and declared.kind == "provides"
        if served and _carries(connection, Carries.CALLS):
            fields |= {"serve": f"{interface}__serve", "endpoint": str(self._slot(interface))}
        return fields
