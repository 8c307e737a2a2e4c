# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Diagnostics for what a run can be asked to fail on, and for what it assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from camkes.diagnostics import Diagnostic, Span
from camkes.running.codes import (
    DEADLINE_MISSED,
    DENIED_WAIT,
    DOMAINS_IGNORED,
    NOT_INITIALISED,
    RUN_RETURNED,
    SLOT_FILLED,
)
from camkes.running.model import FilledSlot, Job, Lane, Run
from camkes.running.times import format_time
from camkes.running.waits import Wait, describe


def missed_jobs(run: Run) -> Iterable[tuple[Lane, Job]]:
    """The first missed job of each task that has one."""
    for lane in run.tasks:
        job = next((job for job in lane.jobs if job.missed), None)
        if job is not None:
            yield lane, job


def missed_deadline(lane: Lane, job: Job, span: Span | None) -> Diagnostic:
    """The diagnostic for the first missed deadline of a task; a job without one was stopped."""
    missed = sum(job.missed for job in lane.jobs)
    end = "did not end" if job.end is None else f"ended at {format_time(job.end, 6)}"
    more = "" if missed == 1 else f", and so did {missed - 1} more of its {len(lane.jobs)} jobs"
    deadline = "stopped, " if job.deadline is None else f"deadline {format_time(job.deadline, 6)}, "
    times = f"released at {format_time(job.release, 6)}, {deadline}{end}"
    return Diagnostic(
        DEADLINE_MISSED,
        f"job {job.number} of task `{lane.task.name}` missed its deadline{more}",
        span,
        notes=(times,),
        help="`camkes run --timeline FILE` shows what ran instead",
    )


def returned_error(instance: str, status: int, span: Span | None) -> Diagnostic:
    """The diagnostic for a component whose run() returned another value than 0."""
    return Diagnostic(RUN_RETURNED, f"run() of `{instance}` returned {status}", span)


def denied_wait(run: Run, wait: Wait, span: Span | None) -> Diagnostic:
    """The diagnostic for a thread that waits for what cannot come."""
    return Diagnostic(DENIED_WAIT, f"at the end of the run {describe(wait, run.names)}", span)


def not_initialised(run: Run, wait: Wait, span: Span | None) -> Diagnostic:
    """The diagnostic for an instance whose initialisation cannot end."""
    instance = run.names.threads[wait.thread].instance
    return Diagnostic(
        NOT_INITIALISED,
        f"`{instance}` is not initialised, and never will be: {describe(wait, run.names)}",
        span,
        notes=("its run() is not called, and its interfaces serve no requests",),
        help="wait in run()",
    )


def domains_ignored(domains: Iterable[int]) -> Diagnostic:
    """The diagnostic for a run of threads in several domains."""
    numbers = ", ".join(map(str, domains))
    return Diagnostic(
        DOMAINS_IGNORED,
        f"threads of the domains {numbers} are run as if they had one: no schedule is known",
        help="state one in the assembly, schedule { [(0, 10 ms), (1, 10 ms)] }, or name the kernel's file: "
        "-D KernelDomainSchedule=FILE",
    )


def filled_slots(run: Run, places: Mapping[str, Span]) -> Iterable[Diagnostic]:
    """A diagnostic for each thread whose loop was given the rest of its slots, by the places of instances."""
    filled: dict[int, list[FilledSlot]] = {}
    for each in run.filled:
        filled.setdefault(each.thread, []).append(each)
    for number, slots in sorted(filled.items()):
        thread = run.names.threads[number]
        first, count = slots[0], len(slots)
        yield Diagnostic(
            SLOT_FILLED,
            f"a loop of `{thread.name}` that takes no time was given the rest of its slot"
            + (f", {count} times" if count > 1 else ""),
            places.get(thread.instance),
            notes=(f"first at {format_time(first.time, 6)}, for {format_time(first.rest, 6)}",),
            help="`camkes_work(TIME)` in the loop states how long it takes",
        )
