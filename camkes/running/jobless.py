# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks of a run that ended no job, or one, most often because run() has no `camkes_next_job()`."""

from __future__ import annotations

from camkes.diagnostics import Diagnostic, Span
from camkes.model.system import System
from camkes.running.codes import ENDLESS_JOB, NO_JOB_ENDED, ONE_JOB_ONLY
from camkes.running.model import Lane, Run, State
from camkes.running.times import format_time

#: what a task does that executes, or would if no other did
_EXECUTING = (State.RUNNING, State.READY, State.PREEMPTED, State.HELD_UP, State.WAITS_BUDGET)


def tasks_without_jobs(run: Run, system: System) -> list[Diagnostic]:
    """A diagnostic for each task with a period that began its first job, was released again and ended none:
    an error where it executes without an end, a warning where it waits. And a warning for each whose `run()`
    returned in its first job, so that it had no second one.

    There is none where a fault or a wait without end explains it: those have their own diagnostics.
    """
    explained = {fault.thread.number for fault in run.faults} | {wait.thread for wait in run.waits}
    spans = {task.instance: task.span for task in system.tasks}
    lanes = [lane for lane in run.tasks if lane.thread not in explained]
    endless = (lane for lane in lanes if lane.thread not in run.exits and _is_in_first_job(lane))
    returned = (lane for lane in lanes if lane.thread in run.exits and _had_one_job(lane))
    return [
        *(_diagnostic(lane, spans.get(lane.task.name)) for lane in endless),
        *(_one_job(lane, spans.get(lane.task.name)) for lane in returned),
    ]


def _diagnostic(lane: Lane, span: Span | None) -> Diagnostic:
    executes = bool(lane.segments) and lane.segments[-1].state in _EXECUTING
    began = format_time(lane.jobs[0].begin or 0, 6)
    return Diagnostic(
        ENDLESS_JOB if executes else NO_JOB_ENDED,
        f"task `{lane.task.name}` was released {len(lane.jobs)} times but did not end its first job",
        span,
        notes=(f"it began at {began}; `run()` {'still executes' if executes else 'waits'} in it",),
        help="a job ends when `run()` calls for the next one: `while (camkes_next_job()) { ... }`",
    )


def _one_job(lane: Lane, span: Span | None) -> Diagnostic:
    return Diagnostic(
        ONE_JOB_ONLY,
        f"task `{lane.task.name}` has a period, but had one job: its run() has returned",
        span,
        help="`run()` is called once: `while (camkes_next_job()) { ... }` in it begins a job at each release",
    )


def _had_one_job(lane: Lane) -> bool:
    return lane.task.period is not None and len(lane.jobs) == 1


def _is_in_first_job(lane: Lane) -> bool:
    jobs = lane.jobs
    return (
        lane.task.period is not None and len(jobs) > 1 and jobs[0].begin is not None and jobs[0].end is None
    )
