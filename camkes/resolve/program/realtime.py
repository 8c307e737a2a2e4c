# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The real-time words: which control threads are tasks, which interfaces have a protocol, and their times."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from camkes.diagnostics import Label, Sink, Span
from camkes.model.connectors import RPC_CALL, Carries, library_threads, support
from camkes.model.connectors import names as names_of
from camkes.model.limits import MAX_PRIORITY
from camkes.model.overrun import OF_CPIS, OF_TASKS, OverrunPolicy
from camkes.model.protocols import Protocol
from camkes.model.setting_reader import SettingReader
from camkes.model.settings import (
    BUDGET,
    BUDGETS,
    CRITICALITY,
    DEADLINE,
    HELPERS,
    NUM_THREADS,
    OFFSET,
    PERIOD,
    PRIORITY,
    PRIORITY_PROTOCOL,
    REFILLS,
    RELEASE,
    WCET,
    WCETS,
    WEIGHT,
    WITHIN,
)
from camkes.model.system import (
    Condition,
    Connection,
    Connector,
    Cpi,
    Instance,
    Interface,
    Setting,
    Task,
    in_words,
)
from camkes.resolve import codes
from camkes.resolve.program.time import TimeReader
from camkes.resolve.values.clauses import protocol, protocol_words
from camkes.resolve.words.nearest import suggestion


def plain_connector(connector: Connector) -> tuple[Connector, int | None]:
    """A connector of the priority-aware library as the plain one, with the thread count of its name."""
    count = library_threads(connector)
    return (connector if count is None else replace(connector, name=RPC_CALL.name)), count


def tasks_and_cpis(
    instances: tuple[Instance, ...], connections: tuple[Connection, ...], sink: Sink
) -> tuple[tuple[Task, ...], tuple[Cpi, ...]]:
    """The tasks and CPIs of a system, in the order of its instances."""
    reader = TaskReader(sink, connections=connections)
    threads: dict[tuple[str, str], Connection] = {}
    for connection in connections:
        for end in connection.to_ends:
            if connection.threads is not None:
                threads[end.instance, end.interface] = connection
    cpis: list[Cpi] = []
    for instance in instances:
        cpis += reader.cpis(instance, threads)
    library = bool(cpis) and not any(instance.type.requestor for instance in instances)
    tasks = [task for instance in instances if (task := reader.task(instance, library)) is not None]
    return tuple(tasks), tuple(cpis)


def conditions(instances: tuple[Instance, ...], sink: Sink) -> tuple[Condition, ...]:
    """What threads wait for `with helpers`, and conditions of monitors, in the order of the text."""
    found: list[Condition] = []
    for instance in instances:
        for interface in instance.type.interfaces:
            if interface.kind == "consumes" and interface.name not in instance.type.exported:
                clause = (interface.clause_spans or {}).get(HELPERS.name)
                found += _condition(
                    instance, interface.name, "event", interface.span, clause, interface.within, sink
                )
        for sync in instance.type.syncs:
            if sync.kind != "mutex":
                found += _condition(
                    instance, sync.name, sync.kind, sync.span, sync.helpers, sync.within, sink
                )
    return tuple(found)


def _condition(
    instance: Instance,
    name: str,
    kind: str,
    span: Span,
    clause: Span | None,
    time: Setting | None,
    sink: Sink,
) -> list[Condition]:
    """The condition that a member is by its clause, or by a setting that states its helpers."""
    setting = instance.settings.get(HELPERS.of(f"{name}_"))
    declared = any(a.name == HELPERS.of(f"{name}_") for a in instance.type.attributes)
    if clause is None and (setting is None or declared):  # an attribute of its own only has the name
        return [Condition(instance.name, name, kind, (), span, {})] if kind == "condition" else []
    spans = {"helpers": clause or span}
    within = SettingReader(sink).time(instance, WITHIN, WITHIN.names(f"{name}_"), spans, time)
    if setting is None:
        return [Condition(instance.name, name, kind, None, span, spans, within)]
    stated = setting.value
    if not isinstance(stated, list) or not all(isinstance(each, str) for each in stated):
        sink.report(
            codes.BAD_HELPERS,
            f"the helpers of `{instance.name}.{name}` must be a list of names of tasks",
            setting.span,
            help=f'for example `{instance.name}.{HELPERS.of(f"{name}_")} = ["producer"];`',
        )
        return []
    names = tuple(dict.fromkeys(str(each) for each in stated))
    return [Condition(instance.name, name, kind, names, span, spans | {"helpers": setting.span}, within)]


class TaskReader(SettingReader, frozen=True):
    """Reads what is stated of tasks and CPIs; what is wrong is reported."""

    connections: tuple[Connection, ...] = ()

    # Tasks ---------------------------------------------------------------------------------------

    def task(self, instance: Instance, library: bool) -> Task | None:
        type = instance.type
        stated = self.get(instance, "requestor")
        if not type.control and any(attribute.name == "requestor" for attribute in type.attributes):
            stated = None  # an attribute of its own, which only has the name
        spans: dict[str, Span] = {}
        if not type.requestor and stated is None and not (library and _library_task(instance)):
            return None
        id = type.requestor_id
        if type.requestor_span is not None:
            spans["id"] = type.requestor_span
        if stated is not None:
            id = self.integer(stated, "requestor id", 0)
            spans["id"] = stated.span
            if not type.control:
                self.sink.report(
                    codes.REQUESTOR_CONTROL,
                    f"`{instance.name}` is a requestor but has no control thread",
                    stated.span,
                    "the control thread of a requestor is its task",
                    related=[Label(type.span, "its component")],
                    help=f"add `control;` to component `{type.name}`",
                )
        if not type.control:
            return None
        times = {
            known: self.time(instance, known, known.names("_"), spans)
            for known in (PERIOD, DEADLINE, WCET, BUDGET, OFFSET)
        }
        time = TimeReader(self.sink)
        return Task(
            instance.name,
            id,
            self.stated_priority(instance, PRIORITY.names("_"), spans),
            times[PERIOD],
            times[DEADLINE],
            times[WCET],
            times[BUDGET],
            times[OFFSET] or 0,
            instance.span,
            spans,
            self.release(instance, spans),
            time.policy(instance, "_", OF_TASKS, spans) or OverrunPolicy.WAIT,
            time.server(instance, spans),
            time.integer(instance, REFILLS, spans),
            time.integer(instance, CRITICALITY, spans) or 0,
            time.degradation(instance, spans),
            *time.extension(instance, "_", spans),
            time.integer(instance, WEIGHT, spans) or WEIGHT.default,
            time.raised(instance, BUDGETS, "_", spans),
            time.raised(instance, WCETS, "_", spans),
        )

    def release(self, instance: Instance, spans: dict[str, Span]) -> str:
        """The event that releases a task's jobs, empty for none or a wrong one."""
        own = {attribute.name for attribute in instance.type.attributes}
        names = (name for name in RELEASE.names("_") if name not in own)
        stated = self.get(instance, *names)
        if stated is None:
            return ""
        spans[RELEASE.name] = stated.span
        events = [i.name for i in instance.type.interfaces if i.kind == "consumes"]
        if stated.value not in events:
            self.sink.report(
                codes.BAD_RELEASE,
                f"jobs of `{instance.name}` are released by an event that it consumes, which"
                f" {in_words(stated.value)} is not"
                if not isinstance(stated.value, str)
                else f"`{instance.name}` consumes no event `{stated.value}`",
                stated.span,
                related=[Label(instance.type.span, "its component")],
                help=suggestion(str(stated.value), events)
                or (
                    f'for example `{instance.name}.{RELEASE.of("_")} = "{events[0]}";`'
                    if events
                    else "declare one in the component: `consumes EVENT NAME;`"
                ),
            )
            return ""
        name = str(stated.value)
        end = next(
            (c for c in self.connections if any(e.name == f"{instance.name}.{name}" for e in c.to_ends)), None
        )
        waited = sorted({*names_of(Carries.EVENTS)} - {*names_of(Carries.EVENTS, threaded=True)})
        if end is not None and not support(end.connector).without_thread:
            self.sink.report(
                codes.BAD_RELEASE,
                f"`{instance.name}.{name}` is received by a thread of its own, so it cannot release jobs",
                stated.span,
                related=[Label(end.span, f"`{end.connector.name}` gives it a thread")],
                help=f"use `{'` or `'.join(waited)}`, for whose events the task itself waits",
            )
            return ""
        if OFFSET.name in spans:
            self.sink.report(
                codes.BAD_RELEASE,
                f"jobs of `{instance.name}` are released by an event, so they have no offset",
                spans[OFFSET.name],
                related=[Label(stated.span, "the event")],
                help="remove the offset: the first job is released by the first event",
            )
        return name

    # CPIs ----------------------------------------------------------------------------------------

    def cpis(self, instance: Instance, threads: Mapping[tuple[str, str], Connection]) -> list[Cpi]:
        cpis = []
        for interface in instance.type.interfaces:
            name = PRIORITY_PROTOCOL.of(f"{interface.name}_")
            stated = self.get(instance, name)
            if interface.kind != "provides":
                if stated is not None and name in instance.settings:
                    self.sink.report(
                        codes.MISPLACED_CLAUSE,
                        f"`{interface.name}` is declared with `{interface.kind}`, but only a `provides` "
                        "interface has a priority protocol",
                        instance.settings[name].span,
                        related=[Label(interface.span, "the interface")],
                    )
                continue
            if stated is None and interface.protocol is None:
                self.check_monitor(instance, interface, None)
                continue
            if interface.name in instance.type.exported:
                self.without_effect(instance, interface, stated)
                continue
            chosen = interface.protocol if stated is None else self.protocol(stated)
            if chosen is not None:
                self.check_monitor(instance, interface, chosen)
                cpis.append(self.cpi(instance, interface, chosen, stated, threads))
        return cpis

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

    def without_effect(self, instance: Instance, interface: Interface, stated: Setting | None) -> None:
        clause = (interface.clause_spans or {}).get(PRIORITY_PROTOCOL.name, interface.span)
        self.sink.report(
            codes.PROTOCOL_IGNORED,
            f"`{interface.name}` of `{instance.name}` exports an interface of an inner instance, so its "
            "priority protocol has no effect",
            stated.span if stated else clause,
            help="state the protocol at the interface that is exported",
        )

    def protocol(self, stated: Setting) -> Protocol | None:
        if isinstance(stated.value, str):
            return protocol(stated.value, stated.span, self.sink)
        self.sink.report(
            codes.UNKNOWN_PROTOCOL,
            "expected one of the strings " + protocol_words('"'),
            stated.span,
        )
        return None

    def cpi(
        self,
        instance: Instance,
        interface: Interface,
        chosen: Protocol,
        stated: Setting | None,
        threads: Mapping[tuple[str, str], Connection],
    ) -> Cpi:
        spans = dict(interface.clause_spans or {})
        spans["protocol"] = stated.span if stated else spans.get(PRIORITY_PROTOCOL.name, interface.span)
        name = interface.name
        wcet = self.time(instance, WCET, (WCET.of(f"{name}_"),), spans)
        priority = self.stated_priority(instance, (PRIORITY.of(f"{name}_"),), spans)
        count = self.threads(instance, interface, threads.get((instance.name, name)), spans)
        time = TimeReader(self.sink)
        return Cpi(
            instance.name,
            name,
            chosen,
            priority,
            count,
            interface.requests,
            wcet,
            interface.span,
            spans,
            interface.monitor,
            time.policy(instance, f"{name}_", OF_CPIS, spans) or interface.overrun or OverrunPolicy.WAIT,
            *time.extension(instance, f"{name}_", spans),
            time.raised(instance, WCETS, f"{name}_", spans),
        )

    def threads(
        self,
        instance: Instance,
        interface: Interface,
        connection: Connection | None,
        spans: dict[str, Span],
    ) -> int | None:
        """The stated thread count. It can be stated in three places, which have to agree."""
        said: list[tuple[int, Span]] = []
        setting = self.get(instance, NUM_THREADS.of(f"{interface.name}_"))
        if setting is not None:
            count = self.integer(setting, "thread count", 1)
            if count is not None:
                said.append((count, setting.span))
        if interface.threads is not None:
            said.append((interface.threads, spans.get("threads", interface.span)))
        code = codes.THREADS_DIFFER
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

    # Values --------------------------------------------------------------------------------------

    def stated_priority(
        self, instance: Instance, names: tuple[str, ...], spans: dict[str, Span]
    ) -> int | None:
        setting = self.get(instance, *names)
        if setting is None:
            return None
        spans[PRIORITY.name] = setting.span
        if isinstance(setting.value, int):
            return setting.value
        self.sink.report(codes.BAD_PRIORITY, f"expected an integer from 0 to {MAX_PRIORITY}", setting.span)
        return None

    def integer(self, setting: Setting, what: str, least: int) -> int | None:
        if isinstance(setting.value, int) and setting.value >= least:
            return setting.value
        self.sink.report(codes.BAD_COUNT, f"a {what} must be an integer of at least {least}", setting.span)
        return None


def _library_task(instance: Instance) -> bool:
    """A task as the priority-aware library first spelled it: a control thread that declares `_priority`."""
    type = instance.type
    return (
        type.control
        and any(attribute.name == PRIORITY.of("_") for attribute in type.attributes)
        and not any(i.kind == "provides" for i in type.interfaces)
    )
