# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run in numbers, for programs. All times are nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from camkes.documents import json_text
from camkes.running.chains import ChainLatencies, DataAges
from camkes.running.demands import Property
from camkes.running.jobs import response_times
from camkes.running.model import JobOutcome, Lane, Overrun, Payment, Spent, State
from camkes.running.refusals import RefusalReport
from camkes.running.waits import WaitReport

SCHEMA = 1


class JobReport(Struct, frozen=True):
    """A job of a task. `begin`, `end` and `response` are null if it did not begin or end."""

    index: int
    release: int
    begin: int | None
    end: int | None
    response: int | None
    deadline: int | None
    missed: bool
    outcome: JobOutcome
    blocked: int | None


class ResponseReport(Struct, frozen=True):
    """Response times of completed jobs; null if there are none."""

    min: int | None
    mean: float | None
    max: int | None


class TaskReport(Struct, frozen=True):
    """A task. released = completed + unfinished. `missed` deadlines are those of jobs that ended later and of
    jobs that did not end at all; `open` are unfinished jobs whose deadline the run did not reach. `states`
    has the time in each state. `jobs` and `misses` are older names of `completed` and `missed`."""

    name: str
    priority: int
    released: int
    completed: int
    unfinished: int
    missed: int
    open: int
    jobs: int
    response: ResponseReport
    deadline: int | None
    misses: int
    blocked_max: int | None
    states: dict[State, int]
    job_list: tuple[JobReport, ...]


class ChainReport(Struct, frozen=True):
    """A chain of tasks each of which releases the next one by an event: the time from a release of the first
    to the end of the last."""

    tasks: tuple[str, ...]
    completed: int
    latency: ResponseReport


class AgeReport(Struct, frozen=True):
    """How old what `writer` had written was at the end of the jobs of `reader`, which read it when they
    began: the time from the release that led to it."""

    writer: str
    reader: str
    completed: int
    age: ResponseReport


class BudgetReport(Struct, frozen=True):
    """A budget: so much in each period, what was used of it, how often its thread waited for a refill, and
    how often its end was a message to a handler."""

    name: str
    budget: int
    period: int
    used: int
    waits: int
    timeouts: int


class ErrorReport(Struct, frozen=True):
    """Why a run did not come to a result."""

    code: str
    message: str


class CallReport(Struct, frozen=True):
    """A place on the way to a fault, the innermost first."""

    file: str
    line: int
    function: str


class FaultReport(Struct, frozen=True):
    """A fault. `file`, `line` and `function` are those of its first call, null if they are not known, as
    `library`, if it is in one. What the thread did: `service` is the interface that it served, `client` the
    thread whose request that was, `task` the one that began it all, and `holds` are the CPIs whose locks it
    held. `stops` are threads that wait for ever because of it."""

    component: str
    thread: str
    what: str
    address: int | None
    pc: int | None
    time: int
    file: str | None
    line: int | None
    function: str | None
    library: str | None
    calls: tuple[CallReport, ...]
    service: str | None
    client: str | None
    task: str | None
    holds: tuple[str, ...]
    stops: tuple[str, ...]


class FindingReport(Struct, frozen=True):
    """What a sanitizer found; `report` is its own text."""

    component: str
    thread: str
    what: str
    time: int
    file: str | None
    line: int | None
    calls: tuple[CallReport, ...]
    report: str


class CoverageReport(Struct, frozen=True):
    """What was executed of how many; of a file, or ("") of all."""

    file: str
    lines: int
    lines_of: int
    branches: int
    branches_of: int

    def text(self) -> str:
        """As a line of a report."""
        of = f"{self.lines} of {self.lines_of} lines, {self.branches} of {self.branches_of} branches"
        return f"{self.file or 'all'}: {of}"


class ViolationReport(Struct, frozen=True):
    """A property that did not hold."""

    time: int
    property: Property
    explanation: str


class RunReport(Struct, frozen=True, kw_only=True):
    """A run: `end` is its virtual time, null if it had no result, for the reasons in `errors`. `findings` are
    those of sanitizers, `refused` messages that servers did not accept, `waits` threads that wait for what
    cannot come. `ages` is there if tasks read what others write; `budgets`, `payments` (work on the budget of
    another task, or on an extension) and `overruns` if there are budgets, on an MCS kernel, and `criticality`
    (time, and that of the system from then on) if it changed; `coverage` if it was asked for; with
    verification `violations`, the `properties` that were checked, and what is `not_judged`: what none of them
    is about, or was left out. `cost_profile` is there if operations took time, and `substitutes` if
    instances of device components were something else."""

    schema: int = SCHEMA
    end: int | None
    cost_profile: str | UnsetType = UNSET
    tasks: tuple[TaskReport, ...] = ()
    chains: tuple[ChainReport, ...] = ()
    ages: tuple[AgeReport, ...] | UnsetType = UNSET
    faults: tuple[FaultReport, ...] = ()
    findings: tuple[FindingReport, ...] = ()
    refused: tuple[RefusalReport, ...] = ()
    exit_statuses: dict[str, int] = {}
    interrupted: bool = False
    waits: tuple[WaitReport, ...] = ()
    budgets: tuple[BudgetReport, ...] | UnsetType = UNSET
    payments: tuple[Payment, ...] | UnsetType = UNSET
    overruns: tuple[Overrun, ...] | UnsetType = UNSET
    criticality: tuple[tuple[int, int], ...] | UnsetType = UNSET
    coverage: tuple[CoverageReport, ...] | UnsetType = UNSET
    violations: tuple[ViolationReport, ...] | UnsetType = UNSET
    properties: tuple[Property, ...] | UnsetType = UNSET
    not_judged: tuple[str, ...] | UnsetType = UNSET
    substitutes: dict[str, str] | UnsetType = UNSET
    errors: tuple[ErrorReport, ...] | UnsetType = UNSET


def task_report(lane: Lane) -> TaskReport:
    """The numbers of a task."""
    numbers = response_times(lane)
    return TaskReport(
        name=numbers.task,
        priority=numbers.priority,
        released=numbers.released,
        completed=numbers.completed,
        unfinished=numbers.unfinished,
        missed=numbers.missed,
        open=numbers.open,
        jobs=numbers.completed,
        response=ResponseReport(numbers.minimum, numbers.mean, numbers.maximum),
        deadline=numbers.deadline,
        misses=numbers.missed,
        blocked_max=numbers.blocked,
        states=_times(lane),
        job_list=tuple(
            JobReport(
                index=job.number,
                release=job.release,
                begin=job.begin,
                end=job.end,
                response=job.response,
                deadline=job.deadline,
                missed=job.missed,
                outcome=job.outcome,
                blocked=job.blocked,
            )
            for job in lane.jobs
        ),
    )


def chain_report(chain: ChainLatencies) -> ChainReport:
    return ChainReport(chain.tasks, len(chain.latencies), _least_mean_most(chain.latencies))


def age_report(data: DataAges) -> AgeReport:
    return AgeReport(data.writer, data.reader, len(data.ages), _least_mean_most(data.ages))


def budget_report(spent: Spent) -> BudgetReport:
    return BudgetReport(spent.name, spent.budget, spent.period, spent.used, spent.waits, spent.timeouts)


def _least_mean_most(times: Sequence[int]) -> ResponseReport:
    mean = sum(times) / len(times) if times else None
    return ResponseReport(min(times, default=None), mean, max(times, default=None))


def _times(lane: Lane) -> dict[State, int]:
    """How long the task was in each state, without the time in which it had nothing to do."""
    times: dict[State, int] = {}
    for segment in lane.segments:
        times[segment.state] = times.get(segment.state, 0) + segment.duration
    return dict(sorted(times.items()))


def to_json(report: Struct) -> str:
    """The text of a report: a line for each of its parts, and for each item of a part that is a list."""
    parts = []
    for name, value in asdict(report).items():
        if value is UNSET:
            continue
        text = _line(value)
        if isinstance(value, list | tuple) and value:
            text = "[\n" + ",\n".join(map(_line, value)) + "\n]"
        parts.append(f"{_line(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}"


def _line(value: Any) -> str:
    return json_text(value, indent=None)
