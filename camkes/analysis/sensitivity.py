# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Margins and possible improvements of a system: how far each execution time can grow, and which response
times another protocol of a CPI would make shorter or longer."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.budgets import budget_results
from camkes.analysis.criticality import late_tasks, level_results
from camkes.analysis.platform import Platform
from camkes.analysis.verdict import Analysis, analyse, analyse_system
from camkes.analysis.workload import Workload
from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.protocols.plan import Plan

#: Plans a system; None, and errors, where checks reject it.
Planner = Callable[[System, Sink], Plan | None]


class Margin(Struct, frozen=True):
    """The execution time of a task (without requests) or of a request to a CPI: now, and the longest with
    which no deadline is missed, alone; both in nanoseconds. `longest` is None where one is missed already."""

    name: str
    is_task: bool
    now: int
    longest: int | None


class ResponseTimeChange(Struct, frozen=True):
    """What happens to response times when a CPI gets another protocol: (task, before, after) in nanoseconds,
    None for no bound. `shares`: requests then no longer exclude each other, so that the code has to
    be reentrant."""

    cpi: str
    before: Protocol
    after: Protocol
    responses: tuple[tuple[str, int | None, int | None], ...]
    good: bool

    @property
    def shares(self) -> bool:
        return not self.after.lock


def margins(workload: Workload, platform: Platform) -> tuple[Margin, ...]:
    """How far each execution time can grow."""
    good = analyse(workload, platform).good
    found = []
    for index, task in enumerate(workload.tasks):

        def of_task(work: int, index: int = index) -> Workload:
            tasks = list(workload.tasks)
            tasks[index] = replace(tasks[index], work=work)
            return replace(workload, tasks=tuple(tasks))

        longest = _longest(of_task, task.work, task.deadline, platform) if good else None
        found.append(Margin(task.name, True, task.work, longest))
    latest = max((task.deadline for task in workload.tasks), default=0)
    for index, cpi in enumerate(workload.cpis):
        if not workload.arrivals[cpi.name]:
            continue

        def of_cpi(work: int, index: int = index) -> Workload:
            cpis = list(workload.cpis)
            for other, each in enumerate(cpis):  # that can be a request to one of the same methods
                if each.cpi == cpis[index].cpi and not set(each.methods).isdisjoint(cpis[index].methods):
                    cpis[other] = replace(each, work=max(each.work, work))
            cpis[index] = replace(cpis[index], work=work)
            return replace(workload, cpis=tuple(cpis))

        longest = _longest(of_cpi, cpi.work, latest, platform) if good else None
        found.append(Margin(cpi.name, False, cpi.work, longest))
    return tuple(found)


def _longest(make: Callable[[int], Workload], good: int, bad: int, platform: Platform) -> int:
    """The greatest value, from one that is good to one that may be bad, for which all deadlines are met."""
    values = range(good, bad + 1)
    meeting = bisect(values, False, key=lambda work: not analyse(make(work), platform, exact=False).good)
    return values[meeting - 1]


def changes(system: System, analysis: Analysis, plan: Planner) -> Iterator[ResponseTimeChange]:
    """For each CPI what each other protocol does that the checks of `plan` accept; only where some response
    gets shorter. `analysis` is that of the system."""
    before = _responses(analysis)
    for index, cpi in enumerate(system.cpis):
        for protocol in Protocol:
            if protocol is cpi.protocol or cpi.monitor is not None:  # only one protocol has monitors
                continue
            cpis = list(system.cpis)
            cpis[index] = replace(cpi, protocol=protocol)
            other = replace(system, cpis=tuple(cpis))
            planned = _checked(other, plan)
            if planned is None:
                continue
            changed = analyse_system(other, planned, analysis.platform, Sink())
            if changed is None:
                continue
            after = _responses(changed)
            rows = tuple((n, before[n], after[n]) for n in before if before[n] != after[n])
            if any(_shorter(then, now) for _, now, then in rows):
                good = changed.good and _budgets_suffice(other, planned, analysis.platform)
                yield ResponseTimeChange(cpi.name, cpi.protocol, protocol, rows, good)


def _checked(system: System, plan: Planner) -> Plan | None:
    sink = Sink()
    planned = plan(system, sink)
    return None if sink.has_errors else planned


def _budgets_suffice(system: System, plan: Plan, platform: Platform) -> bool:
    budgets = budget_results(system, plan, platform)
    return not late_tasks(budgets, level_results(system, plan, platform))


def _shorter(then: int | None, now: int | None) -> bool:
    """Whether a response is shorter than it was; None: it had, or has, no bound."""
    return then is not None and (now is None or then < now)


def _responses(analysis: Analysis) -> dict[str, int | None]:
    return {
        each.task.name: None if each.response is None else ceil(each.response.time) for each in analysis.tasks
    }
