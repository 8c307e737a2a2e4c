# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Checks that the analysis applies to a system; violations of its assumptions are reported at their lines."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from camkes.analysis.codes import (
    BAND_NOT_ANALYSED,
    MAY_WAIT,
    NO_PERIOD,
    NO_TASKS,
    NO_WCET,
    OTHER_THREAD,
    SEVERAL_PROCESSORS,
)
from camkes.analysis.conditions import check_conditions, servers
from camkes.analysis.workload import workload_of
from camkes.diagnostics import Label, Sink, Span
from camkes.model.bands import Order, scheduled_by
from camkes.model.configured import DEFAULTS, Defaults
from camkes.model.connectors import carries_time, interface_threads, support
from camkes.model.settings import AFFINITY, DOMAIN, PRIORITY, Known
from camkes.model.system import Instance, System
from camkes.protocols.plan import Plan
from camkes.protocols.releases import periods
from camkes.protocols.requests import CallGraph, build_graph


def check(
    system: System, plan: Plan, sink: Sink, code: CallGraph | None = None, defaults: Defaults = DEFAULTS
) -> bool:
    """Report all that keeps the system from being analysed; whether there is nothing."""
    known = len(sink.diagnostics)
    if not plan.tasks:
        sink.report(NO_TASKS, "the system has no tasks to analyse", help="write `requestor;` in a component")
        return False
    _bands(plan, sink)
    _times(system, plan, sink)
    _waits(system, plan, sink)
    check_conditions(system, plan, sink)
    _endless_waits(system, plan, sink)
    called = _plain_calls(system, plan, sink, code)
    _other_threads(system, plan, sink, defaults, called)
    _processors(system, plan, sink, defaults)
    return len(sink.diagnostics) == known


def _endless_waits(system: System, plan: Plan, sink: Sink) -> None:
    """Waits that have to end before they can end, where no other reason is known."""
    endless = workload_of(system, plan).endless if plan.conditions else ()
    reported = {d.span for d in sink.diagnostics if d.code is MAY_WAIT}
    for condition in plan.conditions:
        span = condition.lending.condition.spans.get("helpers", condition.span)
        if condition.name in endless and span not in reported:
            sink.report(
                MAY_WAIT,
                f"a wait for `{condition.name}` has no bound: what its helpers do can wait for it, too",
                span,
                help="let a task end the wait whose own waits and requests do not depend on it",
            )


def _bands(plan: Plan, sink: Sink) -> None:
    """Those whose order is that of deadlines have an analysis."""
    for band in plan.bands:
        if band.order is not Order.DEADLINE:
            sink.report(
                BAND_NOT_ANALYSED,
                f"the tasks of `{band.instance}` cannot be analysed: their order is not that of deadlines",
                band.span,
                help="run the system, or give them priorities of their own",
            )


def _times(system: System, plan: Plan, sink: Sink) -> None:
    helping, known = servers(system, plan), periods(system, plan)
    for task in system.tasks:
        name = task.instance
        if name in helping:
            continue  # which executes while others wait
        if name not in known:
            sink.report(
                NO_PERIOD,
                f"the time between two events `{name}.{task.release}` is not known"
                if task.release
                else f"task `{name}` has no period",
                task.span,
                notes=["it is the period of the task that emits them, if that is one alone"]
                if task.release
                else [],
                help=f"add for example `{name}._period = 20 ms;` to the configuration"
                + (": the least time between two events" if task.release else ""),
            )
        if task.wcet is None:
            sink.report(
                NO_WCET,
                f"task `{name}` has no worst-case execution time",
                task.span,
                help=f"add for example `{name}._wcet = 2 ms;` to the configuration: the time of a job "
                "without its requests",
            )
    reached = {cpi.name for cpi in plan.cpis if cpi.tasks}
    for cpi in system.cpis:
        if cpi.wcet is None and cpi.name in reached:
            sink.report(
                NO_WCET,
                f"CPI `{cpi.name}` has no worst-case execution time",
                cpi.span,
                help=f"add for example `{cpi.name}_wcet = 300 us;` to the configuration: the time of a "
                "request without those that it makes",
            )


def _waits(system: System, plan: Plan, sink: Sink) -> None:
    """Events, mutexes and semaphores of components that tasks execute in."""
    tasks = {task.name for task in plan.tasks}
    executed = tasks | {cpi.instance for cpi in plan.cpis if cpi.tasks}
    helping = servers(system, plan)
    releases = {task.instance: task.release for task in system.tasks}
    emitters = {
        end.name: [system.instance(other.instance) for other in connection.from_ends]
        for connection in system.connections
        for end in connection.to_ends
    }
    for instance in system.instances:
        for kind, name, span in _waited_for(instance) if instance.name in executed else ():
            if plan.condition(f"{instance.name}.{name}") is not None or releases.get(instance.name) == name:
                continue  # with helpers, or between jobs
            if f"{instance.name}.{name}" in (plan.never_waited_for or ()):
                continue
            by = emitters.get(f"{instance.name}.{name}", [])
            from_tasks = all(each is not None and each.name in executed for each in by)
            if instance.name in helping and kind == "event" and from_tasks:
                continue  # until there is a request
            sink.report(
                MAY_WAIT,
                f"`{instance.name}` can wait for the {kind} `{name}` without a bound",
                span,
                related=[Label(instance.span, "tasks execute code of this instance")],
                notes=["--code finds out whether any code waits for it"]
                if plan.never_waited_for is None and kind != "mutex"
                else [],
                help="let tasks share data through a CPI with a protocol, or wait `with helpers`",
            )


def _waited_for(instance: Instance) -> Iterable[tuple[str, str, Span]]:
    others = any(interface.kind in ("provides", "consumes") for interface in instance.type.interfaces)
    for sync in instance.type.syncs:
        if sync.kind != "mutex" or others:  # one thread never waits for its own mutex
            yield sync.kind.replace("_", " "), sync.name, sync.span
    for interface in instance.type.interfaces:
        if interface.kind == "consumes":
            yield "event", interface.name, interface.span


def _plain_calls(system: System, plan: Plan, sink: Sink, code: CallGraph | None) -> Set[str]:
    """Report calls of interfaces without a protocol; their names."""
    graph = build_graph(system, code)
    reached = {cpi.name for cpi in plan.cpis if cpi.tasks} | {task.name for task in plan.tasks}
    calls = [call for call in graph.plain_calls if call.caller in reached]
    timers = {each.name for each in system.connections if carries_time(each)}
    for call in calls:
        time = call.connection in timers
        sink.report(
            MAY_WAIT,
            f"`{call.caller}` can call `{call.callee}`, which has no protocol",
            call.span,
            notes=[
                "a job that waits for a time can execute later than response times allow for"
                if time
                else f"`{call.callee}` serves one call at a time, at a fixed priority"
            ],
            help="let the job end, and set the period or the offset of its task"
            if time
            else f"give `{call.callee}` a protocol: `with priority_protocol inherited`",
        )
    return {call.callee for call in calls}


class _OtherThread(NamedTuple):
    """A thread that is neither of a task nor of a CPI, of the interface `name` or in control of the instance
    of this name; `interface` is empty then."""

    name: str
    instance: Instance
    interface: str
    words: str
    span: Span
    help: str


def _others(system: System, plan: Plan) -> Iterable[_OtherThread]:
    tasks = {task.name for task in plan.tasks}
    cpis = {cpi.name for cpi in plan.cpis}
    by_end = {end.name: each for each in system.connections for end in (*each.from_ends, *each.to_ends)}
    for instance in system.instances:
        if instance.type.control and instance.name not in tasks:
            words = f"the control thread of `{instance.name}`"
            yield _OtherThread(
                instance.name,
                instance,
                "",
                words,
                instance.span,
                f"write `requestor;` in `{instance.type.name}`",
            )
        for interface in () if instance.type.hardware else instance.type.interfaces:
            name = f"{instance.name}.{interface.name}"
            connection = by_end.get(name)
            if name in cpis or connection is None or not interface_threads(connection, interface, name):
                continue
            if plan.condition(name) is not None or support(connection.connector).without_thread:
                continue  # the first takes a step of a manager for each signal
            if scheduled_by(plan.bands, instance.name) is not None:
                continue  # it executes when a job begins or ends
            calls = interface.kind == "provides"
            help_ = "give the interface a protocol" if calls else "let a task look for the event"
            yield _OtherThread(
                name, instance, interface.name, f"the thread of `{name}`", interface.span, help_
            )


def _other_threads(system: System, plan: Plan, sink: Sink, defaults: Defaults, called: Set[str]) -> None:
    """Threads that are not of tasks; those of interfaces `called` by tasks were reported already."""
    reported = {each.span for each in sink.diagnostics if each.code is MAY_WAIT}
    lowest = min(task.priority for task in plan.tasks)
    tasks = (part for part in system.instances if plan.task(part.name) is not None)
    cores = {defaults.affinity_of(part.configured.control) for part in tasks}
    for thread in _others(system, plan):
        settings = thread.instance.configured.thread(thread.interface)
        priority = defaults.priority_of(settings)
        elsewhere = defaults.affinity_of(settings) not in cores
        known = thread.name in called or thread.span in reported
        if priority >= lowest and not elsewhere and not known:
            setting = PRIORITY.of(f"{thread.interface}_")
            sink.report(
                OTHER_THREAD,
                f"{thread.words} has priority {priority} but does not belong to a task",
                thread.span,
                notes=[f"the lowest priority of a task is {lowest}"],
                help=f"{thread.help}, or set `{thread.instance.name}.{setting}` to less than {lowest}",
            )


def _processors(system: System, plan: Plan, sink: Sink, defaults: Defaults) -> None:
    """Tasks and CPIs have to share one processor at all times."""
    threads = [(task.name, "", task.name) for task in plan.tasks]
    threads += [(cpi.instance, cpi.interface, cpi.name) for cpi in plan.cpis if cpi.tasks]
    first: dict[Known, tuple[int, str]] = {}
    for instance_name, interface, name in threads:
        instance = system.instance(instance_name)
        assert instance is not None
        settings = instance.configured.thread(interface)
        for known, value in ((AFFINITY, defaults.affinity_of(settings)), (DOMAIN, settings.domain)):
            expected, other = first.setdefault(known, (value, name))
            if value != expected:
                sink.report(
                    SEVERAL_PROCESSORS,
                    f"`{name}` has {known.name} {value}, but `{other}` has {expected}",
                    settings.spans.get(known.name, instance.span),
                    notes=["response times are computed for tasks and CPIs that share one processor"],
                    help=f"give all tasks and CPIs the same {known.name}",
                )
