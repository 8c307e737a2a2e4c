# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The row of one combination: the system with its settings, analysed, run or explored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.budgets import BudgetResult, budget_results
from camkes.analysis.criticality import late_tasks, level_results
from camkes.analysis.platform import Platform
from camkes.analysis.verdict import Analysis, analyse_system, with_budgets
from camkes.backends.host.backend import HostBackend
from camkes.backends.host.codes import BUILD_FOLDER, FOLDER_IN_USE, LOW_LIMIT
from camkes.backends.host.explore import SearchOptions
from camkes.callgraph.codes import CODE_NOT_READ
from camkes.callgraph.read import CodeCalls
from camkes.diagnostics import Severity, Sink
from camkes.exploration import ExploreSettings, explore
from camkes.files import OutputError, temporary_folder
from camkes.model.settings import PRIORITY_PROTOCOL, RELEASE, TABLE, URGENT_FIRST
from camkes.model.system import System
from camkes.process import CANNOT_WRITE
from camkes.process.limits import LimitError
from camkes.project.application import Application
from camkes.resolve.files.imports import Program
from camkes.running.jobs import response_times
from camkes.sweep.axes import SweepAxis, indices
from camkes.sweep.rows import RowVerdict, SweepRow

Doing = Literal["analyze", "run", "explore"]

#: Settings that do not change what code calls, as long as tasks and CPIs are the same: no code sees them.
_NOT_IN_CODE = {
    PRIORITY_PROTOCOL.name,
    *(known.name for known in TABLE.values() if known.owner == "thread"),
} - {RELEASE.name, URGENT_FIRST.name}


#: Errors of the machine, not of a combination: there is a result when the machine has space again.
_OF_THE_MACHINE = (BUILD_FOLDER, FOLDER_IN_USE, LOW_LIMIT)


class ReadCode(Struct, frozen=True):
    """What the code of a system with these tasks and CPIs calls."""

    calls: CodeCalls
    tasks: frozenset[str]
    cpis: frozenset[str]

    def fits(self, system: System) -> bool:
        """Whether it is that of this system too, where only settings differ that code does not see."""
        return self.tasks == _tasks(system) and self.cpis == _cpis(system)


def _tasks(system: System) -> frozenset[str]:
    return frozenset(task.instance for task in system.tasks)


def _cpis(system: System) -> frozenset[str]:
    return frozenset(cpi.name for cpi in system.cpis)


def read_code(checked: pipeline.Checked) -> ReadCode | None:
    """What was read of the code of a system, if it was."""
    calls, system = checked.calls, checked.system
    return None if calls is None else ReadCode(calls, _tasks(system), _cpis(system))


class Doable(Struct, frozen=True, kw_only=True):
    """What is done with each combination. `platform` is that of an analysis, None: operations are assumed to
    cost nothing; `unread` is why code is not read, empty: it is. `duration` is virtual, of a run or
    of a search at the stated times. `search` is for all searches but for its seed, which `seeds` has, one for
    each; `any_order` and `stated` are those of `ExploreSettings`."""

    doing: Doing = "analyze"
    platform: Platform | None = None
    unread: Mapping[str, str] = {}
    duration: int | None = None
    search: SearchOptions = SearchOptions()
    any_order: bool = True
    stated: bool = True


class Prepared(Struct, frozen=True, kw_only=True):
    """All that the combinations of a system have in common, for other processes. `seeds` are varied last. The
    `program` was read once; `code` is what the code of one combination calls, where it was read."""

    asked: pipeline.Input
    application: Application
    program: Program
    axes: tuple[SweepAxis, ...]
    seeds: tuple[int, ...]
    todo: Doable
    code: ReadCode | None = None

    def chosen(self, number: int) -> tuple[pipeline.Input, int | None, tuple[str, ...]]:
        """What is asked for in a combination, with which seed, and the values in words."""
        rest, seed = number, None
        if self.seeds:
            rest, index = divmod(number, len(self.seeds))
            seed = self.seeds[index]
        chosen = list(zip(self.axes, indices(self.axes, rest), strict=True))
        asked = replace(self.asked, overrides=tuple(axis.setting(index) for axis, index in chosen))
        texts = [axis.values[index].text for axis, index in chosen]
        return asked, seed, tuple(texts if seed is None else [*texts, str(seed)])

    @property
    def keeps_code(self) -> bool:
        """Whether no combination changes what code calls."""
        return all(map(self._not_in_code, self.axes))

    def _not_in_code(self, axis: SweepAxis) -> bool:
        name = axis.attribute
        return any(name == known or name.endswith(f"_{known}") for known in _NOT_IN_CODE)


class Evaluation:
    """Gives combinations, by their numbers, rows. What it builds is in a folder of its own, which is there
    while a `with` statement is."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._stack = ExitStack()

    def __enter__(self) -> Evaluation:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return Evaluation, (self.prepared,)

    @cached_property
    def folder(self) -> Path:
        return self._stack.enter_context(temporary_folder("camkes-sweep-"))

    def __call__(self, number: int) -> SweepRow:
        """The row of a combination. Raises OutputError where the machine is why there is none: its disk is
        full, or a limit too low."""
        asked, seed, values = self.prepared.chosen(number)
        sink = Sink()
        try:
            row = self._row(asked, seed, sink)
        except (OutputError, LimitError) as error:
            raise OutputError(str(error)) from None
        except Exception as error:  # of any kind: the others are evaluated all the same
            if isinstance(error, OSError) and error.errno in CANNOT_WRITE:
                raise OutputError(str(error)) from None
            row = _without(f"{type(error).__name__}: {error}", "failed")
        return replace(row, number=number, values=values)

    def _row(self, asked: pipeline.Input, seed: int | None, sink: Sink) -> SweepRow:
        match self.prepared.todo.doing:
            case "analyze":
                found = self._analysed(asked, sink)
            case "run":
                found = self._ran(asked, sink)
            case "explore":
                found = self._explored(asked, seed, sink)
        if found is not None:
            return found
        for diagnostic in sink.diagnostics:
            if diagnostic.code in _OF_THE_MACHINE:
                raise OutputError(diagnostic.message)
        return _without(_first_error(sink) or "it cannot be evaluated", "rejected")

    def checked(self, asked: pipeline.Input, sink: Sink) -> pipeline.Checked | None:
        """The system of a combination, planned; its code is read where that can differ from what is known."""
        prepared = self.prepared
        application = prepared.application
        system = pipeline.load_input(application, asked, sink, prepared.program)
        if system is None or prepared.todo.unread:
            backend = HostBackend(application, Path(), builds=False)
            return pipeline.check_loaded(system, backend, sink, None)
        known = prepared.code if prepared.keeps_code else None
        calls = None if known is None or not known.fits(system) else known.calls
        backend = HostBackend(application, Path() if calls is not None else self.folder)
        return pipeline.check_loaded(system, backend, sink, _no_progress, counting=True, calls=calls)

    def _analysed(self, asked: pipeline.Input, sink: Sink) -> SweepRow | None:
        todo = self.prepared.todo
        checked = self.checked(asked, sink)
        if checked is None:
            return None
        sink.drop(CODE_NOT_READ)
        unread = todo.unread if checked.calls is None else checked.calls.unread
        analysis = analyse_system(checked.system, checked.plan, todo.platform, sink, unread=unread)
        if analysis is None:
            return None
        budgets: Sequence[BudgetResult] = ()
        if checked.plan.mcs:
            budgets = budget_results(checked.system, checked.plan, analysis.platform)
            levels = level_results(checked.system, checked.plan, analysis.platform)
            analysis = with_budgets(analysis, late_tasks(budgets, levels))
        return _of_analysis(analysis, budgets, _first_error(sink))

    def _ran(self, asked: pipeline.Input, sink: Sink) -> SweepRow | None:
        settings = pipeline.RunSettings(
            output=self.folder, duration=self.prepared.todo.duration, show=lambda _: None
        )
        outcome = pipeline.run(asked, settings, sink, _no_progress)
        if outcome is None:
            return None
        lanes = [response_times(lane) for lane in outcome.run.tasks]
        missed = sum(lane.missed for lane in lanes)
        slacks = {
            lane.task: None if lane.maximum is None else lane.deadline - lane.maximum
            for lane in lanes
            if lane.deadline is not None
        }
        blocked = {lane.task: lane.blocked for lane in lanes if lane.blocked is not None}
        failure = _first_error(sink) or ("the run failed" if outcome.failed else "")
        return _judged(
            "failed" if outcome.failed else "missed" if missed else "none missed",
            failure if outcome.failed else "",
            slacks,
            blocked,
            {lane.task: lane.maximum for lane in lanes},
            missed=missed,
        )

    def _explored(self, asked: pipeline.Input, seed: int | None, sink: Sink) -> SweepRow | None:
        todo = self.prepared.todo
        options = replace(todo.search, processes=1, duration=todo.duration)
        if seed is not None:
            options = replace(options, seed=seed)
        settings = ExploreSettings(
            output=self.folder, search=options, any_order=todo.any_order, stated=todo.stated
        )
        found = explore(asked, settings, sink, _no_progress)
        if found is None:
            return None
        states = sum(each.state.states for each in found.passes)
        if found.violation is not None:
            what = f"{found.violation.property}: {found.violation.explanation}"
            return replace(_without(what, "violation"), states=states)
        how = ", ".join(dict.fromkeys(each.verdict for each in found.passes))
        stopped = any(each.state.stopped for each in found.passes)
        row = _without(how, "stopped" if stopped else "no violation")
        return replace(row, states=states, not_searched=tuple(each.subject for each in found.not_searched))


def _no_progress(_: str) -> None: ...


def _first_error(sink: Sink) -> str:
    errors = (each for each in sink.diagnostics if each.severity is Severity.ERROR)
    return next((f"{each.code.number}: {each.message}" for each in errors), "")


def _without(reason: str, verdict: RowVerdict) -> SweepRow:
    return SweepRow(number=0, values=(), verdict=verdict, reason=reason)


def lost(prepared: Prepared, number: int, reason: str) -> SweepRow:
    """The row of a combination whose evaluation did not end."""
    return replace(_without(reason, "failed"), number=number, values=prepared.chosen(number)[2])


def _of_analysis(analysis: Analysis, budgets: Iterable[BudgetResult], reason: str) -> SweepRow:
    responses: dict[str, int | None] = {
        task.task.name: None if task.response is None else ceil(task.response.time) for task in analysis.tasks
    }
    share = analysis.utilisation
    of_time = list(budgets)
    for each in of_time:
        response, before = each.trusted.response, responses[each.task.name]
        both = None if response is None or before is None else max(ceil(response), before)
        responses[each.task.name] = both
    if of_time:
        share = sum(each.time.budgets[0] / each.time.period for each in of_time)
    slacks: dict[str, int | None] = {}
    blocked: dict[str, int] = {}
    for task in analysis.tasks:
        bound = responses[task.task.name]
        if task.task.has_deadline:
            slacks[task.task.name] = None if bound is None else task.task.deadline - bound
        if bound is not None:
            blocked[task.task.name] = ceil(task.blocking.least)
    row = _judged(analysis.verdict.value, reason, slacks, blocked, responses, budget=share)
    return replace(row, assumed=tuple(each.text for each in analysis.assumptions))


def _judged(
    verdict: RowVerdict,
    reason: str,
    slacks: Mapping[str, int | None],
    blocked: Mapping[str, int],
    responses: Mapping[str, int | None],
    *,
    missed: int | None = None,
    budget: float | None = None,
) -> SweepRow:
    unknown = next((name for name, slack in slacks.items() if slack is None), "")
    known = {name: slack for name, slack in slacks.items() if slack is not None}
    least = unknown or min(known, key=known.__getitem__, default="")
    most = max(blocked.values(), default=None)
    longest = next((name for name, time in blocked.items() if time == most), "") if most else ""
    return SweepRow(
        number=0,
        values=(),
        verdict=verdict,
        reason=reason,
        slack=known.get(least),
        slack_task=least,
        blocking=most,
        blocking_task=longest,
        budget=budget,
        responses=responses,
        missed=missed,
    )
