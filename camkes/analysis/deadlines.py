# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that are ordered by their deadlines: the processor demand in each window (Baruah, Rosier and Howell
1990), with blocking as in Stankovic et al. 1998, in a band of priorities below other tasks.

A deadline is missed at the end of a window of L in which the processor executes only jobs of the band that
are released in it and have their deadlines there, jobs of tasks above the band, and sections of others that
were entered before. These are sections of tasks below the band, and of tasks of the band with a deadline
longer than L, whose lock a task can request that has a shorter one: what blocks the task of the longest
deadline up to L under fixed priorities in the order of deadlines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from camkes.analysis.demand import Time
from camkes.analysis.response import STEPS, Load, released
from camkes.analysis.workload import WorkloadTask


def all_met(
    tasks: Sequence[WorkloadTask],
    loads: Mapping[str, Load],
    above: Sequence[Load],
    blocking: Mapping[str, Callable[[Time], Time]],
) -> bool:
    """Whether all deadlines of the tasks of a band are met: `loads` has their demands, `above` those of what
    executes before them, `blocking` for each what blocks it in a window. False also where that would take too
    many steps to find out."""
    own = [loads[task.name] for task in tasks]
    if sum((Fraction(load.demand) / load.period for load in (*own, *above)), Fraction(0)) > 1:
        return False
    ordered = sorted(tasks, key=lambda task: task.deadline)
    busy = _busy([*own, *above], lambda window: max(blocking[task.name](window) for task in tasks))
    if busy is None:
        return False
    windows: set[Time] = set()
    for task in tasks:
        for job in range(STEPS):
            end = task.deadline + max(0, job * task.period - task.jitter)
            if end > busy:
                break
            windows.add(end)
        else:
            return False
    if len(windows) > STEPS:
        return False
    for window in windows:
        last = [task for task in ordered if task.deadline <= window][-1]
        needed = sum(_jobs(task, window) * loads[task.name].demand for task in tasks)
        needed += released(above, window) + blocking[last.name](window)
        if needed > window:
            return False
    return True


def _jobs(task: WorkloadTask, window: Time) -> int:
    """How many jobs can be released in a window and have their deadlines there."""
    return max(0, int((window + task.jitter - task.deadline) // task.period) + 1)


def _busy(loads: Sequence[Load], blocking: Callable[[Time], Time]) -> Time | None:
    """The longest time in which the processor is never idle; None: too many steps."""
    window: Time = sum(load.demand for load in loads)
    for _ in range(STEPS):
        longer = released(loads, window) + blocking(window)
        if longer <= window:
            return window
        window = longer
    return None
