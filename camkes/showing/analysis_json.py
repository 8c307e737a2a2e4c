# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A schedulability analysis for programs. Times are nanoseconds, rounded up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from camkes.analysis.assignment import Policy
from camkes.analysis.assumptions import Assumption, AssumptionKind
from camkes.analysis.bounds import Bound
from camkes.analysis.budgets import BudgetResult
from camkes.analysis.criticality import LevelResult
from camkes.analysis.unbounded import NoBound, Reason
from camkes.analysis.verdict import Analysis, TaskResult, Verdict
from camkes.analysis.witness import Quality, Witness
from camkes.analysis.workload import NEVER
from camkes.diagnostics import Span
from camkes.documents import json_text
from camkes.showing.budgets import BudgetBounds, CriticalityBounds, budget_bounds, criticality_bounds, whole
from camkes.showing.sensitivity import SensitivityReport

BoundVerdict = Literal["met", "met if", "unknown", "not applicable"]


class BlockingBounds(Struct, frozen=True):
    """Bounds of the blocking; `exact` is null where it is not known. `possible` is the most that was found to
    be possible."""

    classic: int
    assignment: int
    exact: int | None
    possible: int


class WitnessReport(Struct, frozen=True):
    """A case that was found: the response of the job released at `release`, and how far the bound is above
    it (null: there is none)."""

    response: int
    release: int
    quality: Quality
    gap: int | None


class PlaceReport(Struct, frozen=True):
    """A place in a file; `line` and `column` count from 1."""

    file: str
    line: int
    column: int


class NoBoundReport(Struct, frozen=True):
    """Why a task has no bound: an obstacle in what it executes; the blocking, interference or release `by`
    another task, or in a `cpi`; overload; or no bound was found. `message` and `help` are about an obstacle,
    at `place`, and empty where it is another task's."""

    reason: Reason
    by: str
    cpi: str
    message: str
    place: PlaceReport | None
    help: str


class SlotsReport(Struct, frozen=True):
    """Slots of other domains in the window of the longest response: `time` nanoseconds of them, in a window
    that begins so long after the schedule does."""

    time: int
    begins: int


class TaskAnalysis(Struct, frozen=True):
    """A task. `period` is null where it is not known when it is released, `deadline` where it has none.
    `wcet` is that of a job with all its requests; `blocking_gap` is how far `blocking` is above what is
    possible, `blocking_with_equals` what it would be with tasks of the same priority, as in Cucinotta et al.;
    `response` is null where there is no bound, and then `response_at_least` what was found before
    the search was given up, and `no_bound` why. `witness` is null where none was searched for. `slots` is
    there where a schedule of domains makes the response longer."""

    name: str
    priority: int
    period: int | None
    deadline: int | None
    wcet: int
    blocking: int
    blocking_bounds: BlockingBounds
    blocking_gap: int
    blocking_with_equals: int
    response: int | None
    response_at_least: int | None
    verdict: Verdict
    no_bound: NoBoundReport | None
    witness: WitnessReport | None
    slots: SlotsReport | UnsetType = UNSET


class AssumptionReport(Struct, frozen=True):
    """What is assumed of `subject`, a task, CPI or condition (empty: the system): `text` completes "met if",
    and `help` says what makes it known. `tasks` are those whose bounds rest on it."""

    kind: AssumptionKind
    subject: str
    text: str
    help: str
    place: PlaceReport | None
    tasks: tuple[str, ...]


class ChainAnalysis(Struct, frozen=True):
    """Tasks each of which releases the next one: the time from a release of the first to the end of the last,
    at most; null where there is no bound."""

    tasks: tuple[str, ...]
    latency: int | None


class AgeAnalysis(Struct, frozen=True):
    """How old what `writer` writes is at most when `reader` has used it; null where there is no bound."""

    writer: str
    reader: str
    age: int | None


class UtilisationBound(Struct, frozen=True):
    """A bound of the literature; `reason` says why it is not applicable. What a bound rejects may be met."""

    name: str
    source: str
    applicable: bool
    reason: str
    limit: float
    values: dict[str, float]
    verdict: BoundVerdict


class AssignmentReport(Struct, frozen=True):
    """Priorities that --assign proposes; null: there are none with which all deadlines are met."""

    policy: Policy
    priorities: dict[str, int] | None


class AnalysisReport(Struct, frozen=True, kw_only=True):
    """An analysis. `verdict` is the worst of all tasks that have a deadline, and rests on the `assumptions`.
    `assignment` and `sensitivity` are there if they were asked for, `budgets` and
    `criticalities` for an MCS kernel."""

    schema: int = 1
    platform: str
    verdict: Verdict
    assumptions: tuple[AssumptionReport, ...]
    utilisation: float
    tasks: tuple[TaskAnalysis, ...]
    chains: tuple[ChainAnalysis, ...]
    ages: tuple[AgeAnalysis, ...]
    bounds: tuple[UtilisationBound, ...]
    assignment: AssignmentReport | UnsetType = UNSET
    budgets: tuple[BudgetBounds, ...] | UnsetType = UNSET
    criticalities: tuple[CriticalityBounds, ...] | UnsetType = UNSET
    sensitivity: SensitivityReport | UnsetType = UNSET


def assignment(policy: str | None, priorities: Mapping[str, int] | None) -> AssignmentReport | UnsetType:
    """What --assign found; nothing without it."""
    found = None if priorities is None else dict(priorities)
    return UNSET if policy is None else AssignmentReport(Policy(policy), found)


def to_report(
    analysis: Analysis,
    witnesses: Mapping[str, Witness] = {},
    proposed: AssignmentReport | UnsetType = UNSET,
    of_time: tuple[Sequence[BudgetResult], Sequence[LevelResult]] | None = None,
    sensitivity: SensitivityReport | UnsetType = UNSET,
) -> AnalysisReport:
    assumed: dict[Assumption, list[str]] = {}
    for result in analysis.tasks:
        for each in result.assumptions:
            assumed.setdefault(each, []).append(result.task.name)
    return AnalysisReport(
        platform=analysis.platform.name,
        verdict=analysis.verdict,
        assumptions=tuple(
            AssumptionReport(
                kind=each.kind,
                subject=each.subject,
                text=each.text,
                help=each.help,
                place=place_report(each.span),
                tasks=tuple(tasks),
            )
            for each, tasks in assumed.items()
        ),
        utilisation=analysis.utilisation,
        tasks=tuple(_task(result, witnesses.get(result.task.name)) for result in analysis.tasks),
        chains=tuple(ChainAnalysis(chain.tasks, whole(chain.latency)) for chain in analysis.chains),
        ages=tuple(AgeAnalysis(each.writer, each.reader, whole(each.age)) for each in analysis.ages),
        bounds=tuple(
            UtilisationBound(
                name=bound.name,
                source=bound.source,
                applicable=bound.applicable,
                reason=bound.reason,
                limit=bound.limit,
                values=dict(bound.values),
                verdict=bound_verdict(bound, analysis),
            )
            for bound in analysis.bounds
        ),
        assignment=proposed,
        budgets=UNSET if of_time is None else budget_bounds(of_time[0]),
        criticalities=UNSET if of_time is None else criticality_bounds(of_time[1]),
        sensitivity=sensitivity,
    )


def to_json(
    analysis: Analysis,
    witnesses: Mapping[str, Witness],
    proposed: AssignmentReport | UnsetType,
    of_time: tuple[Sequence[BudgetResult], Sequence[LevelResult]] | None,
    sensitivity: SensitivityReport | UnsetType,
) -> str:
    report = to_report(analysis, witnesses, proposed, of_time, sensitivity)
    return json_text(report)


def _task(result: TaskResult, witness: Witness | None) -> TaskAnalysis:
    task, waits = result.task, result.blocking
    return TaskAnalysis(
        name=task.name,
        priority=task.priority,
        period=_known(task.period),
        deadline=_known(task.deadline),
        wcet=ceil(result.demand.total),
        blocking=ceil(waits.least),
        blocking_bounds=BlockingBounds(
            ceil(waits.classic), ceil(waits.assignment), whole(waits.exact), ceil(waits.possible)
        ),
        blocking_gap=ceil(waits.gap),
        blocking_with_equals=ceil(result.with_equals),
        response=None if result.response is None else ceil(result.response.time),
        response_at_least=ceil(result.at_least) if result.at_least else None,
        verdict=result.verdict,
        no_bound=None if result.no_bound is None else _no_bound(result.no_bound),
        witness=None if witness is None else _witness(witness),
        slots=_slots(result),
    )


def _slots(result: TaskResult) -> SlotsReport | UnsetType:
    if result.response is None or result.response.phase is None:
        return UNSET
    return SlotsReport(ceil(result.slots), result.response.phase.begin)


def _known(time: int) -> int | None:
    return time if time < NEVER else None


def _no_bound(none: NoBound) -> NoBoundReport:
    problem = None if none.obstacle is None else none.obstacle.problem
    return NoBoundReport(
        reason=none.reason,
        by=none.by,
        cpi=none.where,
        message="" if problem is None else problem.message,
        place=None if problem is None else place_report(problem.span),
        help="" if problem is None else problem.help,
    )


def place_report(span: Span | None) -> PlaceReport | None:
    """A place in a file of the user."""
    return None if span is None else PlaceReport(str(span.file.path), span.line, span.column)


def _witness(witness: Witness) -> WitnessReport:
    gap = None if witness.bound is None else witness.bound - witness.response
    return WitnessReport(witness.response, witness.release, witness.quality, gap)


def bound_verdict(bound: Bound, analysis: Analysis) -> BoundVerdict:
    """The verdict of a bound of utilisation, which rests on the same assumptions."""
    if not bound.applicable:
        return "not applicable"
    if not bound.holds:
        return "unknown"
    return "met if" if analysis.assumptions else "met"
