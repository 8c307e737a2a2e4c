# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A plan for programs. Times are nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from camkes.analysis.verdict import Analysis, TaskResult
from camkes.documents import json_text
from camkes.model.bands import Band, Order
from camkes.model.overrun import Degradation, OverrunPolicy, ServerKind
from camkes.model.protocols import Protocol
from camkes.protocols.jobs import Source, TaskJobs
from camkes.protocols.plan import Plan, PlannedCondition, PlannedCpi, PlannedTask
from camkes.protocols.requests import Counted, Request
from camkes.protocols.signals import way
from camkes.protocols.time import Reservation
from camkes.showing.workload_json import WorkloadReport


class TimeOfTask(Struct, frozen=True):
    """What a task may execute: `budgets` at each criticality of the system, up to the highest of a task, in
    each `period`, and `priorities` at each. `extension` is null where none is stated."""

    budgets: tuple[int, ...]
    period: int
    server: ServerKind
    refills: int
    overrun: OverrunPolicy
    criticality: int
    priorities: tuple[int, ...]
    degraded: Degradation
    extension: Reservation | None


class TaskPlan(Struct, frozen=True):
    """A task. `time` is there for an MCS kernel; `wcet`, `blocking` and `response` (null: there is no bound)
    if tasks have periods."""

    name: str
    id: int
    priority: int
    time: TimeOfTask | UnsetType = UNSET
    wcet: int | UnsetType = UNSET
    blocking: int | UnsetType = UNSET
    response: int | UnsetType | None = UNSET


class CpiPlan(Struct, frozen=True, kw_only=True):
    """A CPI, "INSTANCE.INTERFACE". `threads` serve requests; its manager, if it has one, is not among them.
    `threads_minimum` is the most requests that can be under way at once; `monitor` the "INSTANCE.NAME" in
    which it is. Requests of `tasks` can arrive, under the names of `contexts`; it can send `requests`. For
    an MCS kernel only: `overrun`, `extension`, and `payers`, the tasks whose scheduling contexts its manager
    may bind."""

    name: str
    protocol: Protocol
    ceiling: int
    threads: int
    threads_minimum: int
    pooled: bool
    manager: bool
    monitor: str | UnsetType = UNSET
    overrun: OverrunPolicy | UnsetType = UNSET
    extension: Reservation | UnsetType | None = UNSET
    payers: tuple[str, ...] | UnsetType = UNSET
    tasks: tuple[str, ...]
    contexts: tuple[str, ...]
    requests: tuple[str, ...]


class HelperPlan(Struct, frozen=True):
    """A task that helps those that wait, and how it comes to the signal. `lends`: its own priority is lower,
    so that it is lent theirs."""

    task: str
    lends: bool
    way: str


class ConditionPlan(Struct, frozen=True):
    """What is waited for with helpers: an event, a semaphore or a condition. `others` signal it and are no
    tasks; `stated`: the helpers are; `known_from_code`: they were found in compiled code."""

    name: str
    kind: str
    ceiling: int
    waiters: tuple[str, ...]
    helpers: tuple[HelperPlan, ...]
    others: tuple[str, ...]
    stated: bool
    known_from_code: bool


class BandPlan(Struct, frozen=True):
    """The tasks of a scheduler, and their priorities. Only an order that measures time has a `slice`."""

    scheduler: str
    order: Order
    lowest: int
    highest: int
    tasks: tuple[str, ...]
    slice: int | UnsetType = UNSET


class RequestPlan(Struct, frozen=True):
    """A request that a CPI or a task can send, at most `count` times in a request or a job, and how that is
    known; null: there is no bound. `methods` are the calls of each method, if they were counted."""

    caller: str = field(name="from")
    through: str
    callee: str = field(name="to")
    connection: str
    known_from: str
    count: int | None
    counted: Counted
    methods: dict[str, int]


class JobsPlan(Struct, frozen=True):
    """The jobs of a task; times are nanoseconds, null: not known, or none. `event` releases them, which
    `emitter` alone emits, so often in a job of it (`events`; null: not known). A period that is `overruled`
    is stated, and does not count. Periods and deadlines are stated, or those of the emitter (`emitter`), or
    the period (`default`)."""

    task: str
    release: Literal["boot", "timer", "event"]
    event: str
    emitter: str
    events: int | None
    period: int | None
    period_source: Source | None
    deadline: int | None
    deadline_source: Source | None
    overruled: int | None


class PlanReport(Struct, frozen=True, kw_only=True):
    """A plan. `mcs` is there for an MCS kernel, `conditions` and `bands` if there are some."""

    schema: int = 1
    mcs: Literal[True] | UnsetType = UNSET
    tasks: tuple[TaskPlan, ...]
    cpis: tuple[CpiPlan, ...]
    conditions: tuple[ConditionPlan, ...] | UnsetType = UNSET
    bands: tuple[BandPlan, ...] | UnsetType = UNSET
    requests: tuple[RequestPlan, ...]
    jobs: tuple[JobsPlan, ...]
    workload: WorkloadReport | UnsetType = UNSET


def to_report(
    plan: Plan,
    analysis: Analysis | None = None,
    jobs: Mapping[str, TaskJobs] = {},
    workload: WorkloadReport | None = None,
) -> PlanReport:
    results = results_by_task(analysis)
    return PlanReport(
        mcs=True if plan.mcs else UNSET,
        tasks=tuple(_task(task, results.get(task.name)) for task in plan.tasks),
        cpis=tuple(_cpi(cpi, mcs=plan.mcs) for cpi in plan.cpis),
        conditions=tuple(map(_condition, plan.conditions)) or UNSET,
        bands=tuple(map(_band, plan.bands)) or UNSET,
        requests=tuple(_request(plan, request) for request in plan.requests),
        jobs=tuple(map(_jobs, jobs.values())),
        workload=workload or UNSET,
    )


def to_json(
    plan: Plan,
    analysis: Analysis | None = None,
    jobs: Mapping[str, TaskJobs] = {},
    workload: WorkloadReport | None = None,
) -> str:
    return json_text(to_report(plan, analysis, jobs, workload))


def results_by_task(analysis: Analysis | None) -> dict[str, TaskResult]:
    return {result.task.name: result for result in analysis.tasks} if analysis is not None else {}


def _task(task: PlannedTask, result: TaskResult | None) -> TaskPlan:
    found = TaskPlan(task.name, task.id, task.priority)
    if (time := task.time) is not None:
        of_time = TimeOfTask(
            budgets=time.budgets,
            period=time.period,
            server=time.server,
            refills=task.refills,
            overrun=time.overrun,
            criticality=time.criticality,
            priorities=task.priorities or (task.priority,),
            degraded=time.degraded,
            extension=time.extension,
        )
        found = replace(found, time=of_time)
    if result is not None:
        response = None if result.response is None else ceil(result.response.time)
        blocking = ceil(result.blocking.least)
        found = replace(found, wcet=ceil(result.demand.total), blocking=blocking, response=response)
    return found


def _cpi(cpi: PlannedCpi, *, mcs: bool) -> CpiPlan:
    return CpiPlan(
        name=cpi.name,
        protocol=cpi.protocol,
        ceiling=cpi.ceiling,
        threads=cpi.threads,
        threads_minimum=cpi.threads_minimum,
        pooled=cpi.pooled,
        manager=cpi.manager,
        monitor=UNSET if cpi.monitor is None else cpi.lock_name,
        overrun=cpi.overrun if mcs else UNSET,
        extension=cpi.extension if mcs else UNSET,
        payers=cpi.payers if mcs else UNSET,
        tasks=cpi.tasks,
        contexts=tuple(context.name for context in cpi.contexts),
        requests=cpi.requests,
    )


def _request(plan: Plan, request: Request) -> RequestPlan:
    prefix = f"{request.via.rpartition('.')[2]}."
    methods = {
        name.removeprefix(prefix): count
        for (caller, name), count in plan.counts.items()
        if caller == request.caller and name.startswith(prefix) and isinstance(count, int)
    }
    return RequestPlan(
        caller=request.caller,
        through=request.via,
        callee=request.callee,
        connection=request.connection,
        known_from=request.source,
        count=request.count if request.uncounted is None else None,
        counted=request.counted,
        methods=methods,
    )


def _jobs(jobs: TaskJobs) -> JobsPlan:
    return JobsPlan(
        task=jobs.task,
        release=jobs.release,
        event=jobs.event,
        emitter=jobs.emitter,
        events=None if jobs.emission is None else jobs.emission.count,
        period=jobs.period,
        period_source=jobs.period_source,
        deadline=jobs.deadline,
        deadline_source=jobs.deadline_source,
        overruled=jobs.overruled,
    )


def _condition(condition: PlannedCondition) -> ConditionPlan:
    lending = condition.lending
    return ConditionPlan(
        name=condition.name,
        kind=condition.kind,
        ceiling=condition.ceiling,
        waiters=tuple(lending.waiters),
        helpers=tuple(
            HelperPlan(helper.task, helper.task in condition.tasks, way(helper)) for helper in lending.helpers
        ),
        others=tuple(signaller.caller for signaller in lending.others),
        stated=lending.condition.helpers is not None,
        known_from_code=lending.known,
    )


def _band(band: Band) -> BandPlan:
    slice = band.slice if band.order.measures else UNSET
    return BandPlan(band.instance, band.order, band.lowest, band.highest, band.tasks, slice)
