# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Response times under fixed priorities: the fixed point of Cucinotta et al., Eq. 1, over a busy window.

Where a schedule of domains gives the tasks slots, the window has to be long enough to supply what is demanded
in it: there is a fixed point for each phase of the table in which the window can begin (`supply.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil, lcm

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.demand import Time
from camkes.analysis.supply import ALWAYS, Phase, Supply

#: The blocking of a job in a window of so many nanoseconds; never less in a longer one.
Blocking = Callable[[Time], Time]

#: How many steps towards fixed points are made for a task: a busy window at utilisation 1 can be as long as
#: the hyperperiod.
STEPS = 10_000


#: The names of loads that no task has: the interrupts of the kernel's clock, and what the kernel does for a
#: thread below when the window begins.
TICKS = "the kernel's clock"
UNINTERRUPTED = "the kernel, for a thread below"
OF_KERNEL = frozenset({TICKS, UNINTERRUPTED})


class Load(Struct, frozen=True):
    """The demand of a task: `demand` nanoseconds for each job, a job each `period`, at most. `interrupts`: it
    is that of releases by a timer, or of the kernel, not of the jobs. `goes_on`: a job can be preempted when
    all its work is done, and ends later."""

    name: str
    priority: int
    period: int
    demand: Time
    #: how much later than that a job can be released
    jitter: Time = 0
    interrupts: bool = False
    goes_on: bool = False

    @property
    def unit(self) -> str:
        """What there is one of in a period."""
        if self.name in OF_KERNEL:
            return "tick" if self.name == TICKS else "operation"
        return "release" if self.interrupts else "job"


class Response(Struct, frozen=True):
    """The longest response, `time`, of a job in the busy window; the `job` (0: the first) that has it, and
    how many jobs of which loads it waits for in a `window` from when all were released. `latest` is when
    a job ends, at most, after its release without the jitter. `phase`: where in a table of slots the window
    begins."""

    time: Time
    job: int
    interference: tuple[tuple[Load, int], ...]
    window: Time
    latest: Time
    phase: Phase | None = None


class Unfinished(Struct, frozen=True):
    """The steps did not suffice for the longest response; a job can take `time`, at least."""

    time: Time


def response(
    task: Load,
    others: Sequence[Load],
    blocking: Blocking,
    enough: Time | None = None,
    steps: int = STEPS,
    supply: Supply = ALWAYS,
    following: Sequence[Load] = (),
    left: Time = 0,
) -> Response | Unfinished | None:
    """The longest response time of a task's jobs, or None where there is no bound. The search ends at one
    that is longer than `enough`, or after so many steps. `supply` is what all these tasks have of the
    processor. Of `following`, each job of the task releases one before it ends; with what is `left` of their
    demand when one of them ends, the response is that one's.

    `others` are all other loads; those of equal priority interfere too, as it depends on the order of arrival
    who is first. A job that ends after its period delays the next one: then more jobs are looked at.
    """
    interfering = [other for other in others if other.priority >= task.priority]
    own = replace(task, demand=task.demand + sum(other.demand for other in following))
    used = sum((Fraction(load.demand) / load.period for load in (own, *interfering)), Fraction(0))
    if used > supply.share or not supply.share:
        return None
    jobs = lcm(supply.length, *(load.period for load in (task, *interfering))) // task.period
    found = [
        _in_phase(own, interfering, blocking, enough, steps, jobs, phase, left)
        for phase in supply.phases or (None,)
    ]
    if any(isinstance(each, Unfinished) for each in found):
        return Unfinished(max(each.time for each in found))
    ended = [each for each in found if isinstance(each, Response)]
    longest = max(ended, key=lambda each: each.time)
    jobs_of_following = tuple((other, longest.job + 1) for other in following)
    return replace(
        longest,
        interference=(*longest.interference, *jobs_of_following),
        latest=max(each.latest for each in ended),
    )


def _in_phase(
    task: Load,
    interfering: Sequence[Load],
    blocking: Blocking,
    enough: Time | None,
    steps: int,
    jobs: int,
    phase: Phase | None,
    left: Time,
) -> Response | Unfinished:
    """The same where the busy window begins in a phase of the table, for so many jobs."""
    most_late = max(load.jitter for load in (task, *interfering))
    longest: Response | None = None
    latest: Time = 0
    window: Time = 0
    for job in range(jobs + ceil(most_late / task.period)):
        release = max(0, job * task.period - task.jitter)
        most = None if enough is None else enough + release
        window, steps = _window(task, interfering, blocking, job, window, steps, most, phase)
        if steps < 0:
            passed = window - release
            return Unfinished(passed if longest is None else max(passed, longest.time))
        end = window
        if left:
            end, _ = _window(task, interfering, blocking, job, 0, STEPS, most, phase, left)
        latest = max(latest, task.jitter + end - job * task.period)
        if longest is None or end - release > longest.time:
            counts = tuple((other, jobs_within(other, end)) for other in interfering)
            longest = Response(end - release, job, counts, end, 0, phase)
        done = window <= (job + 1) * task.period - task.jitter
        if done or (enough is not None and longest.time > enough):
            break
    assert longest is not None
    return replace(longest, latest=latest)


def jobs_within(load: Load, window: Time) -> int:
    """How many jobs of a task can be released in a window, at most."""
    return int(-(-(window + load.jitter) // load.period))


def released(loads: Iterable[Load], window: Time) -> Time:
    """What the jobs need that can be released in a window, at most."""
    return sum(jobs_within(load, window) * load.demand for load in loads)


def _window(
    task: Load,
    interfering: Sequence[Load],
    blocking: Blocking,
    job: int,
    start: Time,
    steps: int,
    most: Time | None,
    phase: Phase | None,
    left: Time = 0,
) -> tuple[Time, int]:
    """When a job, counted from 0, is done at the latest, from the beginning of the busy window; and how many
    of the steps are left. -1: they did not suffice, and it is done later. It need not be exact above
    `most`. Of the demand so much is `left` then."""
    own = (job + 1) * task.demand - left
    # each task is released at least once; without work of its own a job still waits for the others
    window = max(start, own + sum(other.demand for other in interfering), 1)
    for left in range(steps - 1, -1, -1):
        needed = own + blocking(window) + released(interfering, window)
        again = needed if phase is None else phase.finish(needed, goes_on=task.goes_on)
        if again == window or (most is not None and again > most):
            return again, left
        window = again
    return window, -1
