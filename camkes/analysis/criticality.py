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

from camkes.analysis.budgets import BudgetModel, BudgetResult, criticality_setters
from camkes.analysis.demand import Time, demands
from camkes.analysis.overruns import Shortages
from camkes.analysis.platform import Platform
from camkes.analysis.response import STEPS, Load, released
from camkes.analysis.verdict import interruptions, no_bounds
from camkes.analysis.workload import Workload, WorkloadTask, workload_of
from camkes.model.limits import MAX_PRIORITY
from camkes.model.overrun import OverrunPolicy
from camkes.model.system import Cpi, MethodTimes, System, Task
from camkes.protocols.plan import Plan


class LevelResult(Struct, frozen=True):
    """The responses of a task at a criticality of the system; None: later than the deadline, or no bound, as
    for tasks that events release, those below them, and all where a component schedules tasks."""

    task: WorkloadTask
    level: int
    smc: Time | None
    amc: Time | None
    ours: Time | None


class _Needs(Struct, frozen=True):
    """What a job of each task needs at a criticality, or why it has no bound; what each takes from others;
    how often each can be kept waiting anew (`BudgetModel.again`); the extensions that can do that; and the
    tasks below for which each may have to wait when it raises the criticality."""

    job: Mapping[str, Time | str]
    load: Mapping[str, Load]
    again: Mapping[str, int]
    extensions: Mapping[str, Sequence[Load]]
    waited: Mapping[str, Sequence[WorkloadTask]] = {}


class _Level(Struct, frozen=True):
    """The model of a criticality: execution times, the blocking of each task in a window, or why it has no
    bound, and what tasks need with their budgets: also until they raise the criticality."""

    model: BudgetModel
    demand: Mapping[str, Time]
    blocking: Mapping[str, Callable[[Time], Time] | str]
    reached: _Needs
    until_raised: _Needs


def level_results(system: System, plan: Plan, platform: Platform) -> tuple[LevelResult, ...]:
    """The responses of all tasks at all criticalities up to their own; none where all are 0."""
    known = no_bounds(workload_of(system, plan), platform)
    return tuple(
        each if each.task.name not in known else replace(each, smc=None, amc=None, ours=None)
        for each in _all_levels(system, plan, platform)
    )


def _all_levels(system: System, plan: Plan, platform: Platform) -> tuple[LevelResult, ...]:
    criticality = {task.instance: task.criticality for task in system.tasks}
    most = max(criticality.values(), default=0)
    if not plan.mcs or most == 0:
        return ()
    workload = workload_of(system, plan)
    tasks = sorted(workload.tasks, key=lambda task: (-task.priority, task.name))
    switch = [_switch(plan, criticality, platform, level) for level in range(most + 1)]
    jobs = [(task, level) for task in tasks for level in range(criticality[task.name] + 1)]
    if plan.bands:
        return tuple(LevelResult(*each, None, None, None) for each in jobs)
    # less critical tasks have low priorities, and their jobs may end after the next release
    highest = demands(workload_of(_at_level(system, most), plan), platform)
    longest = {name: each.total for name, each in highest.of_task.items()}
    late = [_raising_late(plan, level, longest) for level in range(most + 1)]
    shortages = [
        Shortages(frozenset(n for n, own in criticality.items() if own < level) | late[level])
        for level in range(most + 1)
    ]
    behind = Shortages()
    while True:
        levels = [
            _level(system, plan, platform, level, each | behind, late[level] | behind.late)
            for level, each in enumerate(shortages)
        ]
        model = _Model(tasks, criticality, levels, switch, interruptions(workload, platform))
        found = tuple(
            LevelResult(*each, model.smc(*each), model.amc(*each), model.ours(*each)) for each in jobs
        )
        more = [each.model.more_shortages(_longest(tasks, found, at)) for at, each in enumerate(levels)]
        still = behind
        for level in range(1, levels[most].model.reached(trusted=True) + 1):
            still |= levels[level].model.after_fall(more[level])
        if (more, still) == (shortages, behind):
            return found
        shortages, behind = more, still


def _raising_late(plan: Plan, level: int, longest: Mapping[str, Time]) -> Set[str]:
    """The tasks whose jobs can need more than their budget at a criticality, and then use up later ones
    before it rises: in requests that wait for these. `longest` is what jobs need at the highest one."""
    times = {task.name: task.time for task in plan.tasks if task.time is not None}
    waiting = {
        name
        for cpi in plan.cpis
        if not (cpi.overrun.rules.aborts or cpi.overrun.rules.extends)
        for name in cpi.tasks
    }
    return {
        name
        for name in waiting & times.keys() & longest.keys()
        if times[name].overrun.rules.raises and longest[name] > times[name].budgets[level]
    }


def _longest(
    tasks: Iterable[WorkloadTask], found: Iterable[LevelResult], most: int
) -> dict[str, Time | None]:
    """The longest response of each task up to a criticality; None where there is no bound at one of them."""
    responses: dict[str, Time | None] = {task.name: 0 for task in tasks}
    for each in found:
        before = responses[each.task.name]
        if each.level <= most and before is not None:
            responses[each.task.name] = None if each.ours is None else max(before, each.ours)
    return responses


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
        sum(seat.context.name in tasks for seat in cpi.seats)
        for cpi in plan.cpis
        if cpi.manager or not cpi.protocol.own_priority
    )
    return len(tasks) + sum(workers)


def _switch(plan: Plan, criticality: Mapping[str, int], platform: Platform, level: int) -> Time:
    """How long all changes of priorities take until the system has a criticality."""
    threads = sum(switched_threads(plan, criticality, each) for each in range(1, level + 1))
    return platform.nanoseconds(threads * platform.raised)


def _at_level(system: System, level: int) -> System:
    """The system with the execution times at a criticality."""

    def at(subject: Task | Cpi) -> int | None:
        return subject.wcets[min(level, subject.criticality) if isinstance(subject, Task) else level]

    def of_methods(cpi: Cpi) -> dict[str, MethodTimes]:
        return {method: MethodTimes(cpi.wcet_of(method, level)) for method in cpi.method_times}

    return replace(
        system,
        tasks=tuple(replace(task, wcet=at(task)) for task in system.tasks),
        cpis=tuple(
            replace(cpi, wcet=at(cpi), raised_wcets=(), method_times=of_methods(cpi)) for cpi in system.cpis
        ),
    )


def _level(
    system: System, plan: Plan, platform: Platform, level: int, shortages: Shortages, late: Set[str]
) -> _Level:
    """`late` are tasks of which no job has a bound: a job before it can have used its budget."""
    workload = workload_of(_at_level(system, level), plan)
    needed = demands(workload, platform)
    model = BudgetModel(plan, workload, needed, platform, shortages, level, criticality_setters(system))
    load = {task.name: model.load(task, trusted=True) for task in workload.tasks}
    blocking = {task.name: model.blocking(task, trusted=True) for task in workload.tasks}
    extensions = {
        task.name: model.extensions(task, trusted=True) + model.ends(task, trusted=True)
        for task in workload.tasks
    }
    demand = {name: each.total for name, each in needed.of_task.items()}
    job: dict[str, Time | str] = {}
    again = dict.fromkeys(load, 1)
    for task in workload.tasks:
        waits, name = blocking[task.name], task.name
        if (short := model.too_short(task)) or isinstance(waits, str):
            job[name] = short
        else:
            job[name] = model.job(task, waits, trusted=True)
            again[name] = model.again(task, waits, trusted=True)
    for name in late & job.keys():
        job[name] = "a job before it can have used its budget"
    longer = {
        name: max(time.budgets[level] - demand[name], 0)
        for name, time in model.times.items()
        if name in demand and time.overrun is OverrunPolicy.RAISE and level < time.criticality
    }
    until_raised = _Needs(
        {name: own if isinstance(own, str) else own + longer.get(name, 0) for name, own in job.items()},
        {
            name: replace(e, demand=max(e.demand, demand[name] + longer[name])) if name in longer else e
            for name, e in load.items()
        },
        again,
        extensions,
    )
    waited = {task.name: _waited(plan, workload, task, level) for task in workload.tasks}
    return _Level(model, demand, blocking, _Needs(job, load, again, extensions, waited), until_raised)


def _waited(plan: Plan, workload: Workload, task: WorkloadTask, level: int) -> list[WorkloadTask]:
    """The less urgent tasks that can execute while a task raises the criticality to a level. The time manager
    may still raise it to the one before, and then waits for managers of CPIs that are below these tasks."""
    raised = {each.name: each.priorities[level] for each in plan.tasks if each.time and each.time.criticality}
    managers = [c.ceiling for c in plan.cpis if c.manager and not raised.keys().isdisjoint(c.tasks)]
    managers += [each.ceiling for each in plan.conditions]
    least = min(managers, default=MAX_PRIORITY)
    return [
        other
        for other in workload.tasks
        if level > 1 and other.priority < task.priority and least <= raised.get(other.name, -1)
    ]


class _Model:
    def __init__(
        self,
        tasks: Sequence[WorkloadTask],
        criticality: Mapping[str, int],
        levels: Sequence[_Level],
        switch: Sequence[Time],
        interrupts: Sequence[Load],
    ) -> None:
        self._tasks = tasks
        self._criticality = criticality
        self._levels = levels
        self._switch = switch
        self._interrupts = interrupts

    def smc(self, task: WorkloadTask, level: int) -> Time | None:
        """Others need what they do at this criticality, or at their own where it is lower."""

        levels = ((o, self._levels[self._known(o, level)]) for o in self._above(task))
        loads = [_load(other, each.demand[other.name]) for other, each in levels]
        own = self._levels[level].demand[task.name]
        return self._fixed_point(task, level, own, lambda window: released(loads, window))

    def amc(self, task: WorkloadTask, level: int) -> Time | None:
        """Those of lower criticality release jobs until the criticality is above their own: within what the
        response at their own would be."""
        needs = [
            _Needs(each.demand, {o.name: _load(o, each.demand[o.name]) for o in self._tasks}, {}, {})
            for each in self._levels
        ]
        return self._adaptive(task, level, needs, [0] * len(needs))

    def ours(self, task: WorkloadTask, level: int) -> Time | None:
        """As AMC-rtb, but the criticality rises when budgets are used up, priorities are changed, and a job
        can have to wait for its own budget."""
        needs = [each.until_raised for each in self._levels[:level]]
        return self._adaptive(task, level, [*needs, self._levels[level].reached], self._switch)

    def _adaptive(
        self, task: WorkloadTask, level: int, needs: Sequence[_Needs], switch: Sequence[Time]
    ) -> Time | None:
        """The response with these needs at each criticality, and so much for each switch."""
        kept: dict[str, Time] = {}
        for other in self._above(task):
            own = self._criticality[other.name]
            if own < level:
                before = self._adaptive(task, own, needs, switch)
                if before is None:
                    return None
                kept[other.name] = released([needs[own].load[other.name]], before)
        at = needs[level]
        going_on = [at.load[other.name] for other in self._above(task) if other.name not in kept]
        once = switch[level] + sum(kept.values())
        late = []
        for other in at.waited.get(task.name, ()):
            # one job that was released before is under way, or only its budgets limit what is done
            demand, model = self._levels[level].demand[other.name], self._levels[level].model
            if self._adaptive(other, self._known(other, level), needs, switch) is None:
                if not model.limited(other.name):
                    return None
                budgets = model.budgets_used(other.name, trusted=True)
                demand = max(budgets)
                once += sum(budgets) - demand
            late.append(replace(_load(other, demand), jitter=other.period))
        loads = [*going_on, *late, *at.extensions.get(task.name, ())]
        again = at.again.get(task.name, 1)
        return self._fixed_point(
            task, level, at.job[task.name], lambda window: once + released(loads, window), again
        )

    def _known(self, task: WorkloadTask, level: int) -> int:
        """The criticality up to this one at which a task has its greatest needs."""
        return min(level, self._criticality[task.name])

    def _above(self, task: WorkloadTask) -> list[WorkloadTask]:
        return [other for other in self._tasks if other.name != task.name and other.priority >= task.priority]

    def _fixed_point(
        self,
        task: WorkloadTask,
        level: int,
        own: Time | str,
        busy: Callable[[Time], Time],
        again: int = 1,
    ) -> Time | None:
        blocking = self._levels[level].blocking[task.name]
        if isinstance(own, str) or isinstance(blocking, str):
            return None
        if any(each.after for each in (task, *self._above(task))):
            return None
        window: Time = max(own, 1)  # without work of its own a job still waits for others
        for _ in range(STEPS):
            longer = own + again * (blocking(window) + busy(window) + released(self._interrupts, window))
            if longer > min(task.deadline, task.period):
                return None
            if longer == window:
                return longer
            window = longer
        return None


def _load(task: WorkloadTask, demand: Time) -> Load:
    return Load(task.name, task.priority, task.period, demand)
