# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Checks that the analysis applies to a system; violations of its assumptions are reported at their lines."""

from __future__ import annotations

from collections.abc import Iterable

from camkes.analysis.codes import MAY_WAIT, NO_PERIOD, NO_TASKS, NO_WCET, OTHER_THREAD
from camkes.diagnostics import Label, Sink, Span
from camkes.model.settings import DEFAULTS, Defaults, SettingReader
from camkes.model.system import Instance, System
from camkes.protocols.plan import Plan
from camkes.protocols.requests import CallGraph, build_graph


def check(
    system: System, plan: Plan, sink: Sink, code: CallGraph | None = None, defaults: Defaults = DEFAULTS
) -> bool:
    """Report all that keeps the system from being analysed; whether there is nothing."""
    known = len(sink.diagnostics)
    if not plan.tasks:
        sink.report(NO_TASKS, "the system has no tasks to analyse", help="write `requestor;` in a component")
        return False
    _times(system, plan, sink)
    _waits(system, plan, sink)
    _plain_calls(system, plan, sink, code)
    _other_threads(system, plan, sink, defaults)
    return len(sink.diagnostics) == known


def _times(system: System, plan: Plan, sink: Sink) -> None:
    for task in system.tasks:
        name = task.instance
        if task.period is None:
            sink.report(
                NO_PERIOD,
                f"task `{name}` has no period",
                task.span,
                help=f"add for example `{name}._period = 20 ms;` to the configuration",
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
    for instance in system.instances:
        if instance.name in executed:
            for kind, name, span in _waited_for(instance):
                sink.report(
                    MAY_WAIT,
                    f"`{instance.name}` can wait for the {kind} `{name}` without a bound",
                    span,
                    related=[Label(instance.span, "tasks execute code of this instance")],
                    help="let tasks share data through a CPI with a protocol",
                )


def _waited_for(instance: Instance) -> Iterable[tuple[str, str, Span]]:
    for sync in instance.type.syncs:
        yield sync.kind.replace("_", " "), sync.name, sync.span
    for interface in instance.type.interfaces:
        if interface.kind == "consumes":
            yield "event", interface.name, interface.span


def _plain_calls(system: System, plan: Plan, sink: Sink, code: CallGraph | None) -> None:
    graph = build_graph(system, code)
    reached = {cpi.name for cpi in plan.cpis if cpi.tasks} | {task.name for task in plan.tasks}
    for call in graph.plain_calls:
        if call.caller in reached:
            sink.report(
                MAY_WAIT,
                f"`{call.caller}` can call `{call.callee}`, which has no protocol",
                call.span,
                notes=[f"`{call.callee}` serves one call at a time, at a fixed priority"],
                help=f"give `{call.callee}` a protocol: `with priority_protocol inherited`",
            )


def _other_threads(system: System, plan: Plan, sink: Sink, defaults: Defaults) -> None:
    tasks = {task.name for task in plan.tasks}
    lowest = min(task.priority for task in plan.tasks)
    reader = SettingReader(Sink(), defaults)  # what is wrong in a setting was reported when the plan was made
    for instance in system.instances:
        if instance.type.control and instance.name not in tasks:
            priority = reader.priority(instance, "_")
            if priority >= lowest:
                sink.report(
                    OTHER_THREAD,
                    f"the control thread of `{instance.name}` has priority {priority} but is not a task",
                    instance.span,
                    notes=[f"the lowest priority of a task is {lowest}"],
                    help=f"write `requestor;` in `{instance.type.name}`, or give the thread a lower priority",
                )
