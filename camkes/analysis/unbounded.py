# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which tasks have no bound whatever execution times are, and what a task without one does to others.

A job has none if it meets an obstacle in its own code or in a CPI that it requests; if a task of lower
priority can meet one in a section for which the job can wait; if something without a bound executes before
it: a task of its priority or a higher one, or a thread of no task; and if the task that releases it has
none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from msgspec import Struct

from camkes.analysis.obstacles import Obstacle
from camkes.analysis.sections import RequestSection
from camkes.analysis.workload import Workload, WorkloadTask


class Reason(StrEnum):
    """Why a task has no bound."""

    OBSTACLE = "obstacle"  # in what its jobs execute
    BLOCKING = "blocking"  # a task of lower priority meets one in a section
    INTERFERENCE = "interference"  # of what has none itself
    RELEASE = "release"  # by a task that has none
    OVERLOAD = "overload"  # tasks of its priority and above need more than the processor
    SLOTS = "slots"  # its domain has none in the schedule
    SEARCH = "search"  # there may be one, but none was found


class NoBound(Struct, frozen=True):
    """Why a task has no bound: the `obstacle`, where it is one; `by` is the task or thread that it is because
    of, in the CPI `where` for blocking."""

    reason: Reason
    by: str = ""
    where: str = ""
    obstacle: Obstacle | None = None

    @property
    def searched(self) -> bool:
        """Whether it depends on execution times, so that a search can find a case that shows it."""
        return self.reason in (Reason.OVERLOAD, Reason.SEARCH)

    @property
    def words(self) -> str:
        """What completes "no bound"."""
        match self.reason:
            case Reason.OBSTACLE:
                return "" if self.obstacle is None else f": {self.obstacle.brief}"
            case Reason.BLOCKING:
                return f": blocked by {self.by} in {self.where}, without a bound"
            case Reason.INTERFERENCE if self.obstacle is not None:
                return f": {self.obstacle.brief}"
            case Reason.INTERFERENCE:
                return f": interference of {self.by}, which has none"
            case Reason.RELEASE:
                return f": released by {self.by}, which has none"
            case Reason.OVERLOAD:
                return ": overload"
            case Reason.SLOTS:
                return ": its domain has no slot"
        return " found"


def unbounded(
    workload: Workload, sections: Callable[[WorkloadTask], Iterable[RequestSection]]
) -> Mapping[str, NoBound]:
    """The tasks that have no bound, those in the background among them, and why. `sections` are those of
    lower tasks that can keep a job of a task waiting."""
    if not workload.obstacles:
        return {}
    found: dict[str, NoBound] = {}
    stuck = _Stuck(workload)
    every = sorted((*workload.tasks, *workload.background), key=lambda task: (-task.priority, task.name))
    for task in every:
        if (obstacle := stuck.of_task(task)) is not None:
            found[task.name] = NoBound(Reason.OBSTACLE, obstacle=obstacle)
    for task in every:
        if task.name in found:
            continue
        for obstacle in workload.obstacles:
            if obstacle.priority >= task.priority:
                found[task.name] = NoBound(Reason.INTERFERENCE, obstacle=obstacle)
                break
    for task in every:
        if task.name in found or not stuck.sections:
            continue
        for section in sections(task):
            if section.cpi in stuck.sections and workload.rules[section.cpi].lock:
                found[task.name] = NoBound(Reason.BLOCKING, section.task, section.cpi)
                break
    return spread(every, found)


def spread(tasks: Iterable[WorkloadTask], found: Mapping[str, NoBound]) -> Mapping[str, NoBound]:
    """These, and all that have no bound because of them: those released by one, and those of the same or a
    lower priority in the same domain. A job of any task of a band can be due before one of another task."""
    ordered = sorted(tasks, key=lambda task: (-task.priority, task.name))
    domains = sorted({task.domain for task in ordered})
    spoilt = dict(found)
    while True:
        known = len(spoilt)
        for task in ordered:
            if task.after in spoilt:
                spoilt.setdefault(task.name, NoBound(Reason.RELEASE, task.after))
        for domain in domains:
            own = [task for task in ordered if task.domain == domain]
            first = next((task for task in own if task.name in spoilt), None)
            in_bands = {task.band: task for task in reversed(own) if task.band and task.name in spoilt}
            for task in own:
                if first is not None and task.priority <= first.priority:
                    spoilt.setdefault(task.name, NoBound(Reason.INTERFERENCE, first.name))
                elif task.band in in_bands:
                    spoilt.setdefault(task.name, NoBound(Reason.INTERFERENCE, in_bands[task.band].name))
        if len(spoilt) == known:
            return spoilt


def concerned(workload: Workload) -> Mapping[Obstacle, tuple[str, ...]]:
    """All obstacles, with the tasks whose jobs meet each, or are delayed by it at its priority."""
    every = (*workload.tasks, *workload.background)
    executed = {}
    for task in every:
        names = {task.name, *task.requests}.union(*(workload.below[name] for name in task.requests))
        cpis = [workload.cpi[name] for name in names if name in workload.cpi]
        executed[task.name] = names.union(*(cpi.helpers for cpi in cpis), (cpi.cpi for cpi in cpis))
    return {
        obstacle: tuple(
            task.name
            for task in every
            if (obstacle.priority >= task.priority and obstacle.domain in (None, task.domain))
            or not executed[task.name].isdisjoint(obstacle.callers)
        )
        for obstacle in workload.obstacles
    }


class _Stuck:
    """What meets an obstacle. `requests` are CPIs a request to which does, with the first one; `sections`
    those of them whose lock it keeps meanwhile."""

    def __init__(self, workload: Workload) -> None:
        own: dict[str, Obstacle] = {}
        keeping: set[str] = set()
        for obstacle in workload.obstacles:
            for name in obstacle.callers:
                own.setdefault(name, obstacle)
                if not obstacle.frees:
                    keeping.add(name)
        self._own = own
        self.requests: dict[str, Obstacle] = {}
        self.sections: set[str] = set()
        for cpi in reversed(workload.order):
            below = [self.requests[name] for name in cpi.requests if name in self.requests]
            served = [own[name] for name in (cpi.cpi, *cpi.helpers) if name in own]
            if met := (*served, *below):
                self.requests[cpi.name] = met[0]
            if below or cpi.cpi in keeping or any(name in own for name in cpi.helpers):
                self.sections.add(cpi.name)

    def of_task(self, task: WorkloadTask) -> Obstacle | None:
        """The first obstacle that a job meets."""
        met = (self._own.get(task.name), *(self.requests.get(name) for name in task.requests))
        return next((obstacle for obstacle in met if obstacle is not None), None)
