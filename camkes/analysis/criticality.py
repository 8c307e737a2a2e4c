# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Response times of tasks of several criticalities.

Three models of what happens when a task needs more than its execution time at a criticality:

- SMC, static mixed criticality (Baruah, Burns, Davis 2011): nothing, but that no task executes longer than
  its own highest execution time.
- AMC-rtb (the same paper; for several levels Fleming and Burns 2013): the criticality rises, and others
  that are less critical release no more jobs.
- ours: the criticality rises when a budget is used up, and others go on at lower priorities. Budgets
  can be longer than execution times, and the priorities of threads have to be changed.

A response at a criticality is that of a job during which it is reached. What a job waits for in locks is
counted with the execution times and budgets of that criticality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.budgets import BudgetModel, BudgetResult
from camkes.analysis.demand import Time, demands, release_cost
from camkes.analysis.platform import Platform
from camkes.analysis.response import STEPS
from camkes.analysis.workload import WorkloadTask, workload_of
from camkes.model.overrun import OverrunPolicy
from camkes.model.system import Cpi, System, Task
from camkes.protocols.plan import Plan


class LevelResult(Struct, frozen=True):
    """The responses of a task at a criticality of the system; None: later than the deadline, or no bound, as
    for tasks that events release, those below them, and all where a component schedules tasks."""

    task: WorkloadTask
    level: int
    smc: Time | None
    amc: Time | None
    ours: Time | None


class _Level(Struct, frozen=True):
    """Execution times at a criticality: each task's demand, that until it raises the criticality, and the
    blocking of each in a window, or why it has no bound."""

    demand: Mapping[str, Time]
    until_raised: Mapping[str, Time]
    blocking: Mapping[str, Callable[[Time], Time] | str]


def level_results(system: System, plan: Plan, platform: Platform) -> tuple[LevelResult, ...]:
    """The responses of all tasks at all criticalities up to their own; none where all are 0."""
    criticality = {task.instance: task.criticality for task in system.tasks}
    most = max(criticality.values(), default=0)
    if not plan.mcs or most == 0:
        return ()
    levels = [_level(system, plan, platform, level) for level in range(most + 1)]
    workload = workload_of(system, plan)
    tasks = sorted(workload.tasks, key=lambda task: (-task.priority, task.name))
    switch = [_switch(plan, criticality, platform, level) for level in range(most + 1)]
    model = _Model(tasks, criticality, levels, switch, release_cost(workload, platform))
    jobs = [(task, level) for task in tasks for level in range(criticality[task.name] + 1)]
    if plan.bands:
        return tuple(LevelResult(*each, None, None, None) for each in jobs)
    return tuple(LevelResult(*each, model.smc(*each), model.amc(*each), model.ours(*each)) for each in jobs)


def late_tasks(budgets: Iterable[BudgetResult], levels: Iterable[LevelResult]) -> Set[str]:
    """The tasks that can miss a deadline: with the budgets, or at a criticality that they have."""
    kept = {
        each.task.name
        for each in budgets
        if each.trusted.response is not None and each.trusted.response <= each.task.deadline
    }
    late = {each.task.name for each in levels if each.ours is None}
    return late | {each.task.name for each in budgets} - kept


def switched_threads(plan: Plan, criticality: Mapping[str, int], level: int) -> int:
    """How many threads get another priority when the criticality rises to a level: the control threads of
    the tasks that have it or more, and the workers of their contexts."""
    tasks = {name for name, own in criticality.items() if own >= level}
    workers = (
        sum(context.name in tasks for context in cpi.contexts) for cpi in plan.cpis if not cpi.one_endpoint
    )
    return len(tasks) + sum(workers)


def _switch(plan: Plan, criticality: Mapping[str, int], platform: Platform, level: int) -> Time:
    """How long all changes of priorities take until the system has a criticality."""
    threads = sum(switched_threads(plan, criticality, each) for each in range(1, level + 1))
    return platform.nanoseconds(threads * platform.raised)


def _level(system: System, plan: Plan, platform: Platform, level: int) -> _Level:
    def at(subject: Task | Cpi) -> int | None:
        return subject.wcets[min(level, subject.criticality) if isinstance(subject, Task) else level]

    changed = replace(
        system,
        tasks=tuple(replace(task, wcet=at(task)) for task in system.tasks),
        cpis=tuple(replace(cpi, wcet=at(cpi)) for cpi in system.cpis),
    )
    workload = workload_of(changed, plan)
    needed = demands(workload, platform)
    model = BudgetModel(plan, workload, needed, platform, level)
    demand = {name: each.total for name, each in needed.of_task.items()}
    raising = {
        name: max(demand[name], time.budgets[level])
        for name, time in model.times.items()
        if name in demand and time.overrun is OverrunPolicy.RAISE and level < time.criticality
    }
    return _Level(
        demand,
        demand | raising,
        {task.name: model.blocking(task, trusted=True) for task in workload.tasks},
    )


class _Model:
    def __init__(
        self,
        tasks: Sequence[WorkloadTask],
        criticality: Mapping[str, int],
        levels: Sequence[_Level],
        switch: Sequence[Time],
        release: Time,
    ) -> None:
        self._tasks = tasks
        self._criticality = criticality
        self._levels = levels
        self._switch = switch
        self._release = release

    def smc(self, task: WorkloadTask, level: int) -> Time | None:
        """Others need what they do at this criticality, or at their own where it is lower."""

        def busy(window: Time) -> Time:
            return sum(
                _jobs(other, window)
                * self._levels[min(level, self._criticality[other.name])].demand[other.name]
                for other in self._above(task)
            )

        return self._fixed_point(task, level, self._levels[level].demand[task.name], busy)

    def amc(self, task: WorkloadTask, level: int) -> Time | None:
        """Those of lower criticality release jobs until the criticality is above their own: within what the
        response at their own would be."""
        return self._adaptive(task, level, [each.demand for each in self._levels])

    def ours(self, task: WorkloadTask, level: int) -> Time | None:
        """As AMC-rtb, but the criticality rises when budgets are used up, and priorities are changed."""
        before = [each.until_raised for each in self._levels[:level]]
        return self._adaptive(task, level, [*before, self._levels[level].demand], self._switch)

    def _adaptive(
        self,
        task: WorkloadTask,
        level: int,
        demand: Sequence[Mapping[str, Time]],
        switch: Sequence[Time] | None = None,
    ) -> Time | None:
        """The response with these demands at each criticality, and so much for each switch."""
        released: dict[str, Time] = {}
        for other in self._above(task):
            own = self._criticality[other.name]
            if own < level:
                before = self._adaptive(task, own, demand, switch)
                if before is None:
                    return None
                released[other.name] = _jobs(other, before) * demand[own][other.name]

        def busy(window: Time) -> Time:
            return (switch[level] if switch else 0) + sum(
                released[other.name]
                if other.name in released
                else _jobs(other, window) * demand[level][other.name]
                for other in self._above(task)
            )

        return self._fixed_point(task, level, demand[level][task.name], busy)

    def _above(self, task: WorkloadTask) -> list[WorkloadTask]:
        return [other for other in self._tasks if other.name != task.name and other.priority >= task.priority]

    def _fixed_point(
        self, task: WorkloadTask, level: int, own: Time, busy: Callable[[Time], Time]
    ) -> Time | None:
        blocking = self._levels[level].blocking[task.name]
        if isinstance(blocking, str) or any(each.after for each in (task, *self._above(task))):
            return None
        window: Time = max(own, 1)  # without work of its own a job still waits for others
        for _ in range(STEPS):
            timers = sum(_jobs(each, window) * self._release for each in self._tasks if each.timed)
            again = own + blocking(window) + busy(window) + timers
            if again > min(task.deadline, task.period):
                return None
            if again == window:
                return again
            window = again
        return None


def _jobs(task: WorkloadTask, window: Time) -> int:
    """How many jobs of a task can be released in a window, at most."""
    return int(-(-window // task.period))
