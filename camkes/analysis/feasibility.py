# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Warnings about systems that miss deadlines whatever the priorities are: necessary conditions, without
blocking, interference and overheads. An execution time that is not stated counts as 0 here."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from camkes.analysis.codes import DEMAND_ABOVE_DEADLINE, OVERLOAD
from camkes.analysis.demand import Demand, demands
from camkes.analysis.platform import FREE
from camkes.analysis.workload import workload_of
from camkes.diagnostics import Label, Sink, Span
from camkes.model.configured import DEFAULTS
from camkes.model.system import System, Task
from camkes.model.units import duration, in_largest_unit
from camkes.protocols.plan import Plan


def warn(system: System, plan: Plan, sink: Sink) -> None:
    """Report tasks that execute for longer than their deadlines, and a core needed more than it can be."""
    workload = workload_of(system, plan)
    needed = demands(workload, FREE).of_task
    stated = {task.instance: task for task in system.tasks}
    long = {task.name: task for task in workload.tasks if needed[task.name].total > task.deadline}
    for task in long.values():
        if task.after not in long:  # else the period is that of the task before, which is reported
            _too_long(stated[task.name], needed[task.name], task.deadline, sink)
    shares = {task.name: Fraction(needed[task.name].total) / task.period for task in workload.tasks}
    by_core: dict[int, dict[str, Fraction]] = {}
    for name, share in shares.items():
        instance = system.instance(name)
        core = 0 if instance is None else DEFAULTS.affinity_of(instance.configured.control)
        by_core.setdefault(core, {})[name] = share
    for each in by_core.values():
        if sum(each.values()) > 1 and long.keys().isdisjoint(each):  # a job that is too long shows it, too
            _overload(stated, each, sink)


def _overload(stated: Mapping[str, Task], shares: Mapping[str, Fraction], sink: Sink) -> None:
    most = stated[max(shares, key=lambda name: shares[name])]
    sink.report(
        OVERLOAD,
        f"the tasks need {float(sum(shares.values())):.4g} of the processor",
        most.spans.get("wcet", most.span),
        label="the task that needs most",
        notes=[", ".join(f"{name} {float(share):.4g}" for name, share in shares.items())],
        help="a processor can give 1: shorten execution times, or make periods longer",
    )


def _without_unit(place: Span, time: int) -> str:
    """A word on a time that is written as a number alone, which may lack the unit that was meant."""
    text = place.file.lines[place.line - 1][place.column - 1 : place.end_column - 1]
    return f": a number without a unit is in us, so {duration(time)}" if text.isdigit() else ""


def _too_long(task: Task, demand: Demand, deadline: int, sink: Sink) -> None:
    parts = [f"{duration(demand.work)} of its own"]
    parts += [f"{part.count} x {duration(part.work)} of {part.cpi}" for part in demand.parts if part.work]
    limit = task.spans.get("deadline") or task.spans.get("period")
    own = task.spans.get("wcet")
    sink.report(
        DEMAND_ABOVE_DEADLINE,
        f"a job of `{task.instance}` executes for {in_largest_unit(int(demand.total))} and has to end within"
        f" {duration(deadline)}",
        own or task.span,
        "" if own is None else _without_unit(own, demand.work).removeprefix(": "),
        related=[Label(limit, f"the deadline{_without_unit(limit, deadline)}")] if limit else [],
        notes=[" + ".join(parts)],
        help="shorten the work, or give the task a longer period and deadline",
    )
