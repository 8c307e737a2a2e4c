# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks of a run that never ended a job, most often because run() has no `camkes_next_job()`."""

from __future__ import annotations

from camkes.diagnostics import Diagnostic
from camkes.model.system import System
from camkes.running.codes import NO_JOB_ENDED
from camkes.running.model import Lane, Run
from camkes.running.times import format_time


def tasks_without_jobs(run: Run, system: System) -> list[Diagnostic]:
    """A warning for each task with a period that began its first job, was released again and ended none.

    There is no warning where a fault or a wait without end explains it: those have their own diagnostics.
    """
    explained = {fault.thread.number for fault in run.faults} | {
        step.thread for wait in run.waits for step in wait.steps
    }
    spans = {task.instance: task.span for task in system.tasks}
    return [
        Diagnostic(
            NO_JOB_ENDED,
            f"task `{lane.task.name}` was released {len(lane.jobs)} times but did not end its first job",
            spans.get(lane.task.name),
            notes=(
                f"it began at {format_time(lane.jobs[0].begin or 0, 6)}; `run()` is still executing or "
                "waiting in it",
            ),
            help="a job ends when `run()` calls for the next one: `while (camkes_next_job()) { ... }`",
        )
        for lane in run.tasks
        if lane.thread not in explained and lane.thread not in run.exits and _is_in_first_job(lane)
    ]


def _is_in_first_job(lane: Lane) -> bool:
    jobs = lane.jobs
    return (
        lane.task.period is not None and len(jobs) > 1 and jobs[0].begin is not None and jobs[0].end is None
    )
