# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The events of a run as lines of text, for people and to compare with what is expected."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.running.model import LockStep, Run

_STEPS = {LockStep.TAKES: "takes", LockStep.GETS: "is given", LockStep.FREES: "frees"}


def event_lines(run: Run) -> list[str]:
    """Jobs, requests, locks, inherited priorities and faults, in the order of their times (milliseconds)."""
    events = [*_jobs(run), *_requests(run), *_locks(run), *_faults(run)]
    events.sort(key=lambda event: event[0])  # events of one instant stay in the order above
    return [f"{time / 1e6:.6f} ms  {text}" for time, text in events]


def _jobs(run: Run) -> Iterator[tuple[int, str]]:
    for lane in run.tasks:
        name = lane.task.name
        for job in lane.jobs:
            yield job.release, f"{name}: job {job.number} is released"
            if job.begin is not None:
                yield job.begin, f"{name}: job {job.number} begins"
            if job.end is not None:
                yield job.end, f"{name}: job {job.number} ends{', late' if job.missed else ''}"


def _requests(run: Run) -> Iterator[tuple[int, str]]:
    tasks = {task.id: task.name for task in run.names.tasks}
    cpis = {cpi.id: cpi.name for cpi in run.names.cpis}
    for each in run.requests:
        by = f" for task {tasks[each.task]}" if each.task in tasks else ""
        thread, cpi = run.names.thread_name(each.thread), cpis.get(each.cpi, "?")
        yield each.start, f"{thread}: serves a request to {cpi}{by} at priority {each.priority}"
        if not each.open:
            yield each.end, f"{thread}: the request to {cpi} ends"


def _locks(run: Run) -> Iterator[tuple[int, str]]:
    cpis = {cpi.id: cpi.name for cpi in run.names.cpis}
    for lock in run.locks:
        name = cpis.get(lock.cpi, "?")
        yield lock.time, f"{run.names.thread_name(lock.thread)}: {_STEPS[lock.step]} the lock of {name}"
    for each in run.inheritances:
        thread = run.names.thread_name(each.heir)
        yield each.time, f"{thread}: priority {each.before} becomes {each.after}"


def _faults(run: Run) -> Iterator[tuple[int, str]]:
    for fault in run.faults:
        yield fault.time, f"{fault.thread.name}: fault: {fault.kind.name.lower()}"
