# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Jobs of a task from what was recorded about them, and their response times in numbers.

A release is what the kernel's timer did, whether the task noticed it or not. The runtime keeps releases that
come while a job lasts, and begins their jobs one after the other: job k is the one of release k.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from camkes.running.model import Job, JobOutcome, Lane, StateSegment
from camkes.running.names import NamedTask


class Ending(NamedTuple):
    """`time` is the end of a run; `idle`: nothing would ever happen after it."""

    time: int
    idle: bool


class _BlockedTime:
    """How much of a stretch of time was blocking; each question takes a time that grows with the logarithm
    of the number of segments."""

    def __init__(self, segments: Sequence[StateSegment]) -> None:
        self.segments = [segment for segment in segments if segment.hindered]
        self.starts = [segment.start for segment in self.segments]
        self.sums = [0, *accumulate(segment.end - segment.start for segment in self.segments)]

    def _until(self, time: int) -> int:
        number = bisect_right(self.starts, time)
        return self.sums[number] - (max(self.segments[number - 1].end - time, 0) if number else 0)

    def between(self, start: int, end: int) -> int:
        return self._until(end) - self._until(start) if self.segments else 0


def make_jobs(
    task: NamedTask,
    released: int,
    begins: Mapping[int, tuple[int, int]],
    ends: Mapping[int, int],
    ending: Ending,
    segments: Sequence[StateSegment] | None,
    releases: Sequence[int] = (),
    stopped: Set[int] = frozenset(),
) -> tuple[Job, ...]:
    """The jobs of a task of which `released` were released. `begins` are (begin, release) by job number;
    `segments` are those of its lane, None: not known. Jobs that were `stopped` are missed."""
    blocked = None if segments is None else _BlockedTime(segments)
    jobs = []
    for number in range(max(released, max(begins, default=-1) + 1)):
        planned = task.offset + number * (task.period or 0)
        begin, release = begins.get(number, (None, releases[number] if number < len(releases) else planned))
        end = ends.get(number)
        deadline = None if task.deadline is None else release + task.deadline
        jobs.append(
            Job(
                number,
                release,
                begin,
                end,
                deadline,
                JobOutcome.OVERDUE if number in stopped else _outcome(end, deadline, ending),
                None if blocked is None else blocked.between(release, ending.time if end is None else end),
            )
        )
    return tuple(jobs)


def _outcome(end: int | None, deadline: int | None, ending: Ending) -> JobOutcome:
    if end is not None:
        return JobOutcome.COMPLETED if deadline is None or end <= deadline else JobOutcome.LATE
    if deadline is not None and (ending.idle or deadline <= ending.time):
        return JobOutcome.OVERDUE
    return JobOutcome.OPEN


class ResponseTimes(Struct, frozen=True, kw_only=True):
    """The jobs of a task in numbers; times are nanoseconds.

    released = completed + unfinished; `missed` are those that ended after their deadline and those that did
    not end although it has passed; `open` are unfinished and not missed. `blocked` is the longest time in
    which a job was pending and work of a lower base priority ran, or no thread ran. None: no job ended, or
    not
    known.
    """

    task: str
    priority: int
    released: int
    completed: int
    missed: int
    open: int
    minimum: int | None
    mean: float | None
    maximum: int | None
    deadline: int | None
    blocked: int | None

    @property
    def unfinished(self) -> int:
        return self.released - self.completed


def response_times(lane: Lane) -> ResponseTimes:
    times = [job.end - job.release for job in lane.jobs if job.end is not None]
    outcomes = [job.outcome for job in lane.jobs]
    return ResponseTimes(
        task=lane.task.name,
        priority=lane.task.priority,
        released=len(lane.jobs),
        completed=len(times),
        missed=outcomes.count(JobOutcome.LATE) + outcomes.count(JobOutcome.OVERDUE),
        open=outcomes.count(JobOutcome.OPEN),
        minimum=min(times, default=None),
        mean=sum(times) / len(times) if times else None,
        maximum=max(times, default=None),
        deadline=lane.task.deadline,
        blocked=max((job.blocked for job in lane.jobs if job.blocked is not None), default=None),
    )
