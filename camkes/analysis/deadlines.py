# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Response times of tasks that are ordered by their deadlines (Spuri 1996), with blocking as in Stankovic et
al. 1998, in a band of priorities below other tasks.

The window of a job begins when last no job was left that has a deadline as early or belongs to a task above
the band. In it the processor executes only jobs of the band that are released in it and have their deadlines
until that of the job, jobs of tasks above the band, and sections of others that were entered before. These
are sections of tasks below the band, and of tasks of the band with a deadline longer than the time from the
beginning of the window to the deadline of the job, whose lock a task can request that has a shorter one: what
blocks the task of the longest deadline up to this time under fixed priorities in the order of deadlines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import merge
from itertools import count, groupby

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.demand import Time
from camkes.analysis.response import STEPS, Load, Response, Unfinished, jobs_within, released
from camkes.analysis.workload import WorkloadTask

#: How many windows are looked at for a task.
WINDOWS = 10_000


class DeadlineBand(Struct, frozen=True):
    """Tasks that are ordered by their deadlines: `loads` has their demands, `above` those of what executes
    before them, `blocking` for each what blocks it in a window under fixed priorities in the order of
    relative deadlines."""

    tasks: Sequence[WorkloadTask]
    loads: Mapping[str, Load]
    above: Sequence[Load]
    blocking: Mapping[str, Callable[[Time], Time]]

    def busy(self) -> Time | Unfinished | None:
        """The longest time in which the processor executes nothing else, or None where there is no bound."""
        loads = [*(self.loads[task.name] for task in self.tasks), *self.above]
        if sum((Fraction(load.demand) / load.period for load in loads), Fraction(0)) > 1:
            return None
        window: Time = sum(load.demand for load in loads)
        for _ in range(STEPS):
            longer = released(loads, window) + max(self.blocking[task.name](window) for task in self.tasks)
            if longer <= window:
                return window
            window = longer
        return Unfinished(0)

    def response(self, task: WorkloadTask, busy: Time) -> tuple[Response | Unfinished, str]:
        """The longest response of a task's jobs, where the processor is `busy` for so long at most; and the
        task of the longest deadline in its window, whose blocking counts.

        Which jobs have their deadlines in a window changes only where the job is released at a time at which
        another one's is the same: for each, the earliest release is looked at."""
        longest, last = Response(0, 0, (), 0, 0), task
        for number, release in enumerate(self._releases(task)):
            if busy - release <= longest.time:  # no window is longer
                break
            if number == WINDOWS:
                return Unfinished(self.loads[task.name].demand), task.name
            window = self._window(task, release, release + longest.time)
            if window is not None:
                longest, last = window
        return replace(longest, latest=longest.time + task.jitter), last.name

    def _releases(self, task: WorkloadTask) -> Iterator[Time]:
        """From the beginning of the window, in their order."""
        return (release for release, _ in groupby(merge(*(_same_due(task, each) for each in self.tasks))))

    def _window(self, task: WorkloadTask, release: Time, most: Time) -> tuple[Response, WorkloadTask] | None:
        """The response of a job with this release, and the task whose blocking counts; None where it ends at
        `most` then."""
        until = release + task.deadline
        due = [each for each in self.tasks if each.deadline <= until]
        last = max(due, key=lambda each: each.deadline)
        most_jobs = [(self.loads[each.name], _due(each, until)) for each in due if each is not task]
        own, blocking = _due(task, until), self.blocking[last.name]

        def jobs(window: Time) -> list[tuple[Load, int]]:
            in_band = [(load, min(most, jobs_within(load, window))) for load, most in most_jobs]
            return in_band + [(load, jobs_within(load, window)) for load in self.above]

        def needed(window: Time) -> Time:
            others = sum(number * load.demand for load, number in jobs(window))
            return own * self.loads[task.name].demand + blocking(window) + others

        if most and needed(most) <= most:
            return None
        window: Time = 0
        longer = needed(1)
        while longer > window:
            window, longer = longer, needed(longer)
        if window <= most:
            return None
        return Response(window - release, own - 1, tuple(jobs(window)), window, 0), last


def _due(task: WorkloadTask, until: Time) -> int:
    """How many jobs have their deadlines in a window of so many nanoseconds in which they are released."""
    return int((until - task.deadline + task.jitter) // task.period) + 1


def _same_due(task: WorkloadTask, other: WorkloadTask) -> Iterator[Time]:
    """When jobs of `task` are released that have the same deadline as one of `other`, each as early as it can
    be in a window; and the earliest time at which one of `other` can have its deadline before."""
    later = other.deadline - task.deadline
    yield max(0, later)
    first = max(0, -int((later - other.jitter) // other.period))
    for job in count(first):
        yield later + max(0, job * other.period - other.jitter)
