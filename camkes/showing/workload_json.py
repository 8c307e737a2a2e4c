# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The workload of a plan for programs: all that the bounds of response times follow from, but what operations
cost on a machine. Times are nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from camkes.analysis.assumptions import Assumption, AssumptionKind, find_assumptions
from camkes.analysis.obstacles import in_slots
from camkes.analysis.overruns import lasting_budgets
from camkes.analysis.platform import FREE
from camkes.analysis.verdict import no_bounds
from camkes.analysis.workload import NEVER, Workload, WorkloadCpi, WorkloadTask, workload_of
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.protocols.plan import Plan


class TaskLoad(Struct, frozen=True):
    """A task: `work` is the execution time of a job without its `requests`, of which it makes so many to each
    CPI. `period` is null where it is not known when jobs are released, `deadline` where there is none.
    `after` is the task that releases its jobs, or empty; `timed`: a timer does. In a `band`, if that is not
    empty, tasks are ordered by their deadlines. `domain` is 0 without a schedule. If each job needs less than
    `budget`, with all its requests, and ends before the next release, none is without a budget; null: none
    ever is, 0: that is not known."""

    name: str
    priority: int
    period: int | None
    deadline: int | None
    work: int
    requests: dict[str, int]
    after: str
    timed: bool
    band: str
    domain: int
    budget: int | None


class CpiLoad(Struct, frozen=True):
    """A CPI, or a wait with helpers, which counts as one. What its protocol means: it serves
    one request at a time (`excludes`); the task that is served has the highest priority of those that wait
    (`inherits`); requests are served at a `ceiling`, null where they have their own priorities. `work` is the
    execution time of a request without those that it makes itself. CPIs with the same `lock`, if it is not
    empty, have one lock; requests are served in `any_order` or the most urgent first."""

    name: str
    protocol: Protocol
    excludes: bool
    inherits: bool
    ceiling: int | None
    work: int
    requests: dict[str, int]
    lock: str
    any_order: bool
    domain: int


class AssumedReport(Struct, frozen=True):
    """What is assumed of the tasks, CPIs and conditions `of`; null: of the system."""

    kind: AssumptionKind
    text: str
    of: tuple[str, ...] | None


class WorkloadReport(Struct, frozen=True):
    """What bounds follow from. `slots` are (domain, length) of a schedule; requests from one domain to
    another are left out. `without_bound` are tasks that have none for reasons that are not in here, such as
    waits for other threads: all, if the budget of a task that is not among these can end."""

    tasks: tuple[TaskLoad, ...]
    cpis: tuple[CpiLoad, ...]
    slots: tuple[tuple[int, int], ...]
    without_bound: tuple[str, ...]
    assumptions: tuple[AssumedReport, ...]


def workload_report(system: System, plan: Plan, unread: Mapping[str, str]) -> WorkloadReport | None:
    """That of a planned system; None without tasks. `unread` is why code was not read."""
    if not plan.tasks:
        return None
    workload = workload_of(system, plan)
    slots = system.slots if in_slots(system) else ()
    assumptions = find_assumptions(system, plan, platform=FREE, unread=unread)
    return report_of(workload, slots, assumptions, lasting_budgets(plan, workload))


def report_of(
    workload: Workload,
    slots: Sequence[tuple[int, int]] = (),
    assumptions: Sequence[Assumption] = (),
    budgets: Mapping[str, int] = MappingProxyType({}),
) -> WorkloadReport:
    parts = [part for _, part in workload.parts]
    tasks = tuple(
        _task(each, slots, budgets.get(each.name))
        for part in parts
        for each in (*part.tasks, *part.background)
    )
    names = [task.name for task in tasks]
    return WorkloadReport(
        tasks=tasks,
        cpis=tuple(_cpi(each, slots) for part in parts for each in part.cpis),
        slots=tuple(slots),
        without_bound=tuple(no_bounds(workload, FREE) if budgets.keys() <= {*names} else names),
        assumptions=tuple(
            AssumedReport(each.kind, each.text, None if each.of is None else tuple(sorted(each.of)))
            for each in assumptions
        ),
    )


def _task(task: WorkloadTask, slots: Sequence[tuple[int, int]], budget: int | None) -> TaskLoad:
    return TaskLoad(
        name=task.name,
        priority=task.priority,
        period=task.period if task.period < NEVER else None,
        deadline=task.deadline if task.has_deadline else None,
        work=task.work,
        requests=dict(task.requests),
        after=task.after,
        timed=task.timed,
        band=task.band,
        domain=task.domain if slots else 0,
        budget=budget,
    )


def _cpi(cpi: WorkloadCpi, slots: Sequence[tuple[int, int]]) -> CpiLoad:
    return CpiLoad(
        name=cpi.name,
        protocol=cpi.protocol,
        excludes=cpi.protocol.lock,
        inherits=cpi.protocol.inherits,
        ceiling=cpi.ceiling if cpi.protocol.own_priority else None,
        work=cpi.work,
        requests=dict(cpi.requests),
        lock=cpi.lock,
        any_order=cpi.any_order,
        domain=cpi.domain if slots else 0,
    )
