# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The real-time words: which control threads are tasks, which interfaces have a protocol, and their times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from camkes.diagnostics import Label, Sink, Span
from camkes.model.connectors import RPC_CALL, Carries, library_threads, support
from camkes.model.connectors import names as names_of
from camkes.model.overrun import OF_CPIS, OF_TASKS, OverrunPolicy
from camkes.model.protocols import Protocol
from camkes.model.settings import (
    BUDGET,
    BUDGETS,
    CRITICALITY,
    DEADLINE,
    EXTENSION,
    EXTENSION_PERIOD,
    HELPERS,
    NUM_THREADS,
    OFFSET,
    PERIOD,
    PRIORITY,
    PRIORITY_PROTOCOL,
    REFILLS,
    RELEASE,
    REQUESTOR,
    WCET,
    WCETS,
    WEIGHT,
    WITHIN,
)
from camkes.model.system import (
    Condition,
    Connection,
    ConnectionEnd,
    Connector,
    Cpi,
    Instance,
    Interface,
    MethodTimes,
    Procedure,
    Setting,
    Task,
)
from camkes.resolve import codes
from camkes.resolve.program.reader import Reader
from camkes.resolve.program.time import (
    raised_times,
    stated_degradation,
    stated_policy,
    stated_server,
)
from camkes.resolve.values.clauses import PROTOCOLS, protocol
from camkes.resolve.words.methods import method_of
from camkes.resolve.words.nearest import suggestion

#: Of a CPI only what is set for itself counts.
_CEILING = replace(PRIORITY, shared=False)
_WCET = replace(WCET, shared=False)


def plain_connector(connector: Connector) -> tuple[Connector, int | None]:
    """A connector of the priority-aware library as the plain one, with the thread count of its name."""
    count = library_threads(connector)
    return (connector if count is None else replace(connector, name=RPC_CALL.name)), count


def tasks_and_cpis(
    instances: tuple[Instance, ...],
    connections: tuple[Connection, ...],
    readers: Mapping[str, Reader],
    sink: Sink,
) -> tuple[tuple[Task, ...], tuple[Cpi, ...]]:
    """The tasks and CPIs of a system, in the order of its instances."""
    found = _TasksAndCpis(instances, connections, readers, sink)
    cpis: list[Cpi] = []
    for instance in instances:
        cpis += found.cpis(instance)
    library = bool(cpis) and not any(instance.type.requestor for instance in instances)
    tasks = [task for instance in instances if (task := found.task(instance, library)) is not None]
    return tuple(tasks), tuple(cpis)


def conditions(instances: tuple[Instance, ...], readers: Mapping[str, Reader]) -> tuple[Condition, ...]:
    """What threads wait for `with helpers`, and conditions of monitors, in the order of the text."""
    found: list[Condition] = []
    for instance in instances:
        reader = readers[instance.name]
        for interface in instance.type.interfaces:
            if interface.kind == "consumes" and interface.name not in instance.type.exported:
                clause = (interface.clause_spans or {}).get(HELPERS.name)
                found += _condition(
                    instance, interface.name, "event", interface.span, clause, interface.within, reader
                )
        for sync in instance.type.syncs:
            if sync.kind != "mutex":
                found += _condition(
                    instance, sync.name, sync.kind, sync.span, sync.helpers, sync.within, reader
                )
    return tuple(found)


def _condition(
    instance: Instance,
    name: str,
    kind: str,
    span: Span,
    clause: Span | None,
    time: Setting | None,
    reader: Reader,
) -> list[Condition]:
    """The condition that a member is by its clause, or by a setting that states its helpers."""
    prefix = f"{name}_"
    if clause is None and instance.undeclared(HELPERS.of(prefix)) is None:
        return [Condition(instance.name, name, kind, (), span, {})] if kind == "condition" else []
    spans = {"helpers": clause or span}
    within = reader.time(WITHIN, prefix, spans, time)
    helpers = reader.texts(HELPERS, prefix, spans)
    names = None if helpers is None else tuple(dict.fromkeys(helpers))
    return [Condition(instance.name, name, kind, names, span, spans, within)]


class _TasksAndCpis:
    """What is stated of tasks and CPIs; what is wrong is reported."""

    def __init__(
        self,
        instances: tuple[Instance, ...],
        connections: tuple[Connection, ...],
        readers: Mapping[str, Reader],
        sink: Sink,
    ) -> None:
        self.named = {instance.name: instance for instance in instances}
        self.connections = connections
        self.readers = readers
        self.sink = sink
        self.callers: dict[str, list[ConnectionEnd]] = {}
        self.counted: dict[str, Connection] = {}
        for connection in connections:
            for end in connection.to_ends:
                self.callers.setdefault(end.name, []).extend(connection.from_ends)
                if connection.threads is not None:
                    self.counted[end.name] = connection

    # Tasks ---------------------------------------------------------------------------------------

    def task(self, instance: Instance, library: bool) -> Task | None:
        type, reader = instance.type, self.readers[instance.name]
        stated = reader.find(REQUESTOR)
        if not type.control and any(attribute.name == REQUESTOR.name for attribute in type.attributes):
            stated = None  # an attribute of its own, which only has the name
        spans: dict[str, Span] = {}
        if not type.requestor and stated is None and not (library and _library_task(instance)):
            return None
        id = type.requestor_id
        if type.requestor_span is not None:
            spans["id"] = type.requestor_span
        if stated is not None:
            id = reader.taken(REQUESTOR, stated)
            spans["id"] = stated[1].span
            if not type.control:
                self.sink.report(
                    codes.REQUESTOR_CONTROL,
                    f"`{instance.name}` is a requestor but has no control thread",
                    stated[1].span,
                    "the control thread of a requestor is its task",
                    related=[Label(type.span, "its component")],
                    help=f"add `control;` to component `{type.name}`",
                )
        if not type.control:
            return None
        times = {known: reader.time(known, "_", spans) for known in (PERIOD, DEADLINE, WCET, BUDGET, OFFSET)}
        return Task(
            instance=instance.name,
            stated_id=id,
            priority=reader.number(PRIORITY, "_", spans),
            period=times[PERIOD],
            deadline=times[DEADLINE],
            wcet=times[WCET],
            budget=times[BUDGET],
            offset=times[OFFSET] or 0,
            span=instance.span,
            spans=spans,
            release=self.release(instance, spans),
            overrun=stated_policy(reader, "_", OF_TASKS, spans) or OverrunPolicy.WAIT,
            server=stated_server(reader, spans),
            refills=reader.number(REFILLS, "_", spans),
            criticality=reader.number(CRITICALITY, "_", spans) or 0,
            degraded=stated_degradation(reader, spans),
            extension=reader.time(EXTENSION, "_", spans),
            extension_period=reader.time(EXTENSION_PERIOD, "_", spans),
            weight=reader.number(WEIGHT, "_", spans) or WEIGHT.default,
            raised_budgets=raised_times(reader, BUDGETS, "_", spans),
            raised_wcets=raised_times(reader, WCETS, "_", spans),
        )

    def release(self, instance: Instance, spans: dict[str, Span]) -> str:
        """The event that releases a task's jobs, empty for none or a wrong one."""
        stated = self.readers[instance.name].text(RELEASE, "_", spans)
        if stated is None:
            return ""
        place = spans[RELEASE.name]
        events = [i.name for i in instance.type.interfaces if i.kind == "consumes"]
        if stated not in events:
            self.sink.report(
                codes.BAD_RELEASE,
                f"`{instance.name}` consumes no event `{stated}`",
                place,
                related=[Label(instance.type.span, "its component")],
                help=suggestion(stated, events)
                or (
                    f'for example `{instance.name}.{RELEASE.of("_")} = "{events[0]}";`'
                    if events
                    else "declare one in the component: `consumes EVENT NAME;`"
                ),
            )
            return ""
        end = next(
            (c for c in self.connections if any(e.name == f"{instance.name}.{stated}" for e in c.to_ends)),
            None,
        )
        waited = sorted({*names_of(Carries.EVENTS)} - {*names_of(Carries.EVENTS, threaded=True)})
        if end is not None and not support(end.connector).without_thread:
            self.sink.report(
                codes.BAD_RELEASE,
                f"`{instance.name}.{stated}` is received by a thread of its own, so it cannot release jobs",
                place,
                related=[Label(end.span, f"`{end.connector.name}` gives it a thread")],
                help=f"use `{'` or `'.join(waited)}`, for whose events the task itself waits",
            )
            return ""
        if OFFSET.name in spans:
            self.sink.report(
                codes.BAD_RELEASE,
                f"jobs of `{instance.name}` are released by an event, so they have no offset",
                spans[OFFSET.name],
                related=[Label(place, "the event")],
                help="remove the offset: the first job is released by the first event",
            )
        return stated

    # CPIs ----------------------------------------------------------------------------------------

    def cpis(self, instance: Instance) -> Iterator[Cpi]:
        reader = self.readers[instance.name]
        for interface in instance.type.interfaces:
            prefix = f"{interface.name}_"
            spans: dict[str, Span] = {}
            if interface.kind != "provides":
                self.misplaced(instance, interface)
                continue
            if interface.name in instance.type.exported:
                self.without_effect(instance, interface)
                continue
            stated = reader.text(PRIORITY_PROTOCOL, prefix, spans, PROTOCOLS)
            chosen = interface.protocol
            if stated is not None:
                chosen = protocol(stated, spans[PRIORITY_PROTOCOL.name], self.sink)
                if chosen is None:
                    continue
            elif spans:  # it is not a string
                chosen = chosen or next(each for each in Protocol if each.inherits)
            self.check_monitor(instance, interface, chosen)
            if chosen is not None:
                yield self.cpi(instance, interface, chosen, spans.get(PRIORITY_PROTOCOL.name))

    def misplaced(self, instance: Instance, interface: Interface) -> None:
        setting = instance.settings.get(PRIORITY_PROTOCOL.of(f"{interface.name}_"))
        if setting is not None:
            self.sink.report(
                codes.MISPLACED_CLAUSE,
                f"`{interface.name}` is declared with `{interface.kind}`, but only a `provides` "
                "interface has a priority protocol",
                setting.span,
                related=[Label(interface.span, "the interface")],
            )

    def check_monitor(self, instance: Instance, interface: Interface, chosen: Protocol | None) -> None:
        """A monitor is the lock of its CPIs, so these have one that priorities are inherited through."""
        if interface.monitor is None or (chosen is not None and chosen.inherits):
            return
        name = f"{instance.name}.{interface.name}"
        is_now = "has no protocol" if chosen is None else f"is {chosen.value}"
        self.sink.report(
            codes.MONITOR_WITHOUT_LOCK,
            f"`{name}` is in the monitor `{interface.monitor}`, but {is_now}",
            (interface.clause_spans or {}).get("monitor", interface.span),
            notes=["a monitor is one lock for several interfaces, and only `inherited` has a lock"],
            help=f"write `with priority_protocol inherited, monitor {interface.monitor}`",
        )

    def without_effect(self, instance: Instance, interface: Interface) -> None:
        stated = self.readers[instance.name].find(PRIORITY_PROTOCOL, f"{interface.name}_")
        if stated is None and interface.protocol is None:
            self.check_monitor(instance, interface, None)
            return
        clause = (interface.clause_spans or {}).get(PRIORITY_PROTOCOL.name, interface.span)
        self.sink.report(
            codes.PROTOCOL_IGNORED,
            f"`{interface.name}` of `{instance.name}` exports an interface of an inner instance, so its "
            "priority protocol has no effect",
            stated[1].span if stated else clause,
            help="state the protocol at the interface that is exported",
        )

    def cpi(self, instance: Instance, interface: Interface, chosen: Protocol, stated: Span | None) -> Cpi:
        reader = self.readers[instance.name]
        spans = dict(interface.clause_spans or {})
        spans["protocol"] = stated or spans.get(PRIORITY_PROTOCOL.name, interface.span)
        prefix = f"{interface.name}_"
        wcet = reader.time(_WCET, prefix, spans)
        return Cpi(
            instance=instance.name,
            interface=interface.name,
            protocol=chosen,
            stated_priority=reader.number(_CEILING, prefix, spans),
            stated_threads=self.threads(instance, interface, spans),
            requests=interface.requests,
            wcet=wcet,
            span=interface.span,
            spans=spans,
            monitor=interface.monitor,
            overrun=stated_policy(reader, prefix, OF_CPIS, spans) or interface.overrun or OverrunPolicy.WAIT,
            extension=reader.time(EXTENSION, prefix, spans),
            extension_period=reader.time(EXTENSION_PERIOD, prefix, spans),
            raised_wcets=raised_times(reader, WCETS, prefix, spans),
            methods=self.served(instance, interface),
            method_times=dict(self.method_times(instance, interface)),
            calls=interface.calls,
        )

    def served(self, instance: Instance, interface: Interface) -> tuple[str, ...]:
        """The methods that can be requested: of its procedure, and of those of callers with another one."""
        name = f"{instance.name}.{interface.name}"
        found = dict.fromkeys(_methods(interface))
        for end in self.callers.get(name, ()):
            user = self.named.get(end.instance)
            used = None if user is None else user.type.interface(end.interface)
            found |= dict.fromkeys(_methods(used))
        return tuple(found)

    def method_times(self, instance: Instance, interface: Interface) -> Iterator[tuple[str, MethodTimes]]:
        reader = self.readers[instance.name]
        methods = {i.name: _methods(i) for i in instance.type.interfaces if i.kind == "provides"}
        for method in methods[interface.name]:
            word = f"{interface.name}_{method}"
            if method_of(word, methods) == (interface.name, method):
                spans: dict[str, Span] = {}
                stated = reader.time(_WCET, f"{word}_", spans)
                raised = raised_times(reader, WCETS, f"{word}_", spans)
                if stated is not None or raised:
                    yield method, MethodTimes(stated, raised, spans)

    def threads(self, instance: Instance, interface: Interface, spans: dict[str, Span]) -> int | None:
        """The stated thread count. It can be stated in three places, which have to agree."""
        said: list[tuple[int, Span]] = []
        setting: dict[str, Span] = {}
        count = self.readers[instance.name].number(NUM_THREADS, f"{interface.name}_", setting)
        if count is not None:
            said.append((count, setting[NUM_THREADS.name]))
        if interface.threads is not None:
            said.append((interface.threads, spans.get("threads", interface.span)))
        code = codes.THREADS_DIFFER
        connection = self.counted.get(f"{instance.name}.{interface.name}")
        if connection is not None and connection.threads is not None:
            place = connection.threads_span or connection.span
            if place == connection.span and said:
                # the library states the count twice, and the number in a connector's name is the weaker one
                code = codes.CONNECTOR_THREADS_DIFFER
            said.append((connection.threads, place))
        if not said:
            return None
        first, place = said[0]
        for count, span in said[1:]:
            if count != first:
                self.sink.report(
                    code,
                    f"the thread count of `{instance.name}.{interface.name}` is stated as {first} and "
                    f"as {count}",
                    place,
                    f"{first} here",
                    related=[Label(span, f"{count} here")],
                    help="remove both counts: the number is computed",
                )
        spans["threads"] = place
        return first


def _methods(interface: Interface | None) -> list[str]:
    kind = None if interface is None else interface.type
    return [method.name for method in kind.methods] if isinstance(kind, Procedure) else []


def _library_task(instance: Instance) -> bool:
    """A task as the priority-aware library first spelled it: a control thread that declares `_priority`."""
    type = instance.type
    return (
        type.control
        and any(attribute.name == PRIORITY.of("_") for attribute in type.attributes)
        and not any(i.kind == "provides" for i in type.interfaces)
    )
