# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Response times on an MCS kernel: what a budget limits, and what the overrun policies of locks cost others.

A sporadic server of budget b and period T takes no more of the processor from others than a periodic task of
execution time b (Sprunt et al. 1989); one of constant bandwidth can be late with the first b, which is a
jitter of T - b, and its own jobs can each wait for so long. A server without time has some again after T - b
at most, as the budget that was used was used within the T before: a holder that needs S under `wait` has it
after S + ceil(S / b) (T - b). docs/mcs.md has the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.blocking import waits
from camkes.analysis.demand import Demands, Requesting, Time, demands, requests_within
from camkes.analysis.platform import Platform
from camkes.analysis.response import Load, Response, response
from camkes.analysis.sections import RequestSection
from camkes.analysis.verdict import ROUNDS, analyse, delayed, interruptions
from camkes.analysis.workload import Workload, WorkloadTask, workload_of
from camkes.model.overrun import OverrunPolicy, ServerKind
from camkes.model.system import System
from camkes.protocols.plan import Plan, PlannedCpi
from camkes.protocols.time import PlannedTime

#: the requests of tasks that are not trusted: any number, in any time
_ALWAYS: tuple[Requesting, ...] = ((0, 1, 1 << 30, 0),)


class Bounded(Struct, frozen=True):
    """The longest response of a task's jobs, or why there is no bound that applies. `latest` is when a job
    ends, at most, after the first task of its chain of events was released."""

    response: Time | None
    reason: str = ""
    latest: Time = 0


class BudgetResult(Struct, frozen=True):
    """What was found of a task. `trusted`: all tasks keep their execution times, and use their budgets where
    these are shorter. `isolated`: all other tasks do what they like, as long as they have budgets; CPIs keep
    their execution times."""

    task: WorkloadTask
    time: PlannedTime
    demand: Time
    trusted: Bounded
    isolated: Bounded

    @property
    def ends_late(self) -> bool:
        """Whether a job can end after the next release."""
        return self.trusted.response is None or self.trusted.response > self.task.period


def budget_results(system: System, plan: Plan, platform: Platform) -> tuple[BudgetResult, ...]:
    """The responses of all tasks, from the highest priority; none without an MCS kernel."""
    if not plan.mcs:
        return ()
    workload = workload_of(system, plan)
    if plan.bands:
        return _with_bands(plan, workload, platform)
    for _ in range(ROUNDS):
        found = _results(plan, workload, platform)
        latest = {each.task.name: each.trusted.latest for each in found if each.trusted.response is not None}
        later = delayed(workload, latest)
        if later is workload:
            late = [task.priority for task in workload.tasks if task.after and task.after not in latest]
            least = max(late, default=-1)
            return tuple(_no_bound(each) if each.task.priority <= least else each for each in found)
        workload = later
    return tuple(map(_no_bound, found))


def _no_bound(result: BudgetResult) -> BudgetResult:
    """The same where it is not known when the task is released, or others are."""
    reason = "it is not known how late events release jobs"
    return replace(result, trusted=Bounded(None, result.trusted.reason or reason))


def _results(plan: Plan, workload: Workload, platform: Platform) -> tuple[BudgetResult, ...]:
    needed = demands(workload, platform)
    ordered = sorted(workload.tasks, key=lambda task: (-task.priority, task.name))
    late: Set[str] = frozenset()
    while True:
        model = BudgetModel(plan, workload, needed, platform, late)
        found = tuple(
            BudgetResult(
                task,
                model.times[task.name],
                needed.of_task[task.name].total,
                model.bound(task, trusted=True),
                model.bound(task, trusted=False),
            )
            for task in ordered
        )
        more = late | {each.task.name for each in found if each.ends_late}
        if more == late:
            return found
        late = more


def _with_bands(plan: Plan, workload: Workload, platform: Platform) -> tuple[BudgetResult, ...]:
    """Where components order tasks: with budgets that never end the responses are those without. Nothing is
    isolated, as a job that takes longer keeps its early deadline."""
    model = BudgetModel(plan, workload, demands(workload, platform), platform)
    short = [task.name for task in workload.tasks if model.can_end(task)]
    found = []
    for each in analyse(workload, platform).tasks:
        if short:
            trusted = Bounded(None, f"the budget of {short[0]} can be used up, and a component orders tasks")
        elif each.response is None:
            trusted = Bounded(None, "a deadline of its band can be missed" if each.task.band else "overload")
        else:
            trusted = Bounded(each.response.time, latest=each.response.latest)
        time, demand = model.times[each.task.name], each.demand.total
        isolated = Bounded(None, "a component orders tasks")
        found.append(BudgetResult(each.task, time, demand, trusted, isolated))
    return tuple(found)


class BudgetModel:
    """The tasks of a workload with their budgets and the overrun policies of their CPIs."""

    def __init__(
        self,
        plan: Plan,
        workload: Workload,
        needed: Demands,
        platform: Platform,
        late: Set[str] = frozenset(),
        level: int = 0,
    ) -> None:
        """`needed` are the demands at the criticality `level` of the system. Jobs of the tasks `late` may end
        after the next release: then several need a budget in one period."""
        self._level = level
        self._late = late
        self.workload = workload
        self.needed = needed
        self._platform = platform
        self._cpis: Mapping[str, PlannedCpi] = {cpi.name: cpi for cpi in plan.cpis}
        self.times = {task.name: task.time for task in plan.tasks if task.time is not None}
        self._planned = {task.name: task for task in plan.tasks}

    # Tasks ---------------------------------------------------------------------------------------

    def bound(self, task: WorkloadTask, *, trusted: bool) -> Bounded:
        """The longest response of a task."""
        if reason := self.too_short(task):
            return Bounded(None, reason)
        if not (trusted or task.timed):
            return Bounded(None, "other tasks release it")
        free = [other.name for other in self._above(task) if not self.limited(other.name)]
        if free and not trusted:
            return Bounded(None, f"{free[0]} has no budget")
        blocking = self.blocking(task, trusted=trusted)
        if isinstance(blocking, str):
            return Bounded(None, blocking)
        others = (other for other in self.workload.tasks if other.name != task.name)
        loads = [self.load(other, trusted=trusted) for other in others]
        loads += self.extensions(task, trusted=trusted) + interruptions(self.workload, self._platform)
        demand = self.job(task, blocking, trusted=trusted)
        if isinstance(demand, str):
            return Bounded(None, demand)
        again = self.again(task, blocking, trusted=trusted)
        loads = [replace(load, demand=load.demand * again) for load in loads]
        # with a budget, a job that comes soon after the one before has to wait until it would come latest
        late = task.jitter if self.limited(task.name) else 0
        own = Load(task.name, task.priority, task.period, demand, task.jitter - late)
        found = response(own, loads, lambda window: again * blocking(window))
        if not isinstance(found, Response):
            return Bounded(None, "overload")
        rules = self.times[task.name].overrun.rules
        divided = self._planned[task.name].blocks or rules.extends or rules.stops or rules.raises
        if divided and self.limited(task.name) and late + found.time > task.period:
            return Bounded(
                None, "a job can end after the next release, when parts of its budget are not back"
            )
        return Bounded(late + found.time, latest=late + found.latest)

    def can_end(self, task: WorkloadTask) -> bool:
        """Whether a task that keeps its execution times can be without a budget."""
        return bool(self.too_short(task)) or self._lacks(task.name, trusted=True)

    def job(self, task: WorkloadTask, blocking: Callable[[Time], Time], *, trusted: bool) -> Time | str:
        """What a job needs, with what it waits for because its budget comes back late; or why there is no
        bound. While a job is without time after it has begun, lower tasks execute and can come to locks."""
        name = task.name
        demand = self.needed.of_task[name].total
        if not self.limited(name):
            return demand
        spare = self._spare(task, blocking, trusted=trusted)
        if spare < 0:
            return "its budget is too short for itself and to help"
        blocks = self._planned[name].blocks
        constant = self.times[name].server is ServerKind.CONSTANT_BANDWIDTH
        if constant and (blocks or blocking(task.period)):
            return "it can be without a budget, of constant bandwidth, when it comes to a lock"
        if blocks and spare == 0:
            return "it can be without a budget, which has no time to spare, when it comes to a lock"
        return demand + self._refilled_after(name)

    def again(self, task: WorkloadTask, blocking: Callable[[Time], Time], *, trusted: bool) -> int:
        """How often blocking and interference can delay a job, as it can have to wait for the budget.

        What is used after a wait for a lock comes back so much later. A job that does more before it comes
        to the lock than the one before, by more than what is to spare, waits until then; after that it can be
        delayed anew. The next job has to do still more by as much, so there is an end.
        """
        name = task.name
        if not self.limited(name) or not self._planned[name].blocks:
            return 1
        spare = self._spare(task, blocking, trusted=trusted)
        return max(ceil((self.budget(name) - spare) / spare), 1) if spare > 0 else 1

    def _spare(self, task: WorkloadTask, blocking: Callable[[Time], Time], *, trusted: bool) -> Time:
        """What a job leaves of its budget, at least, if it pays for all that it can wait for."""
        paid = blocking(task.period) if self._pays(task, trusted=trusted) else 0
        return self.budget(task.name) - self.needed.of_task[task.name].total - paid

    def too_short(self, task: WorkloadTask) -> str:
        """Why a task's own budget does not suffice for its jobs. An extension does not count: what the job
        before used of it, later in its period, may not be back."""
        if not self.limited(task.name):
            return ""
        time = self.times[task.name]
        if time.period != task.period:
            return "its budget has another period"
        if self.needed.of_task[task.name].total > self.budget(task.name):
            return "its budget is too short"
        if self._lacks(task.name, trusted=True):
            if time.overrun.rules.stops:
                return "its budget can end before the job, which is then stopped"
            if any(self._cpis[name].overrun.rules.suspends for name in task.requests if name in self._cpis):
                return "its budget can end in a request, and then it is suspended"
        return ""

    def budget(self, name: str) -> int:
        """The budget of a task at the criticality of the model, or at its own if that is lower."""
        time = self.times[name]
        return time.budgets[min(self._level, time.criticality)]

    def limited(self, name: str) -> bool:
        """Whether a task has a budget below its period."""
        return self.budget(name) < self.times[name].period

    def _least(self, name: str) -> int:
        """The least budget with which a job can begin: when it is used up, the criticality may rise."""
        return self.times[name].budgets[0] if self.times[name].overrun.rules.raises else self.budget(name)

    def _refilled_after(self, name: str) -> Time:
        """How long a task can be without time in each job, and then has its budget again. One of constant
        bandwidth in a job of any length, as its periods do not begin with the jobs; and one that raises the
        criticality, if its budget ends in a request that waits for the next one."""
        time, budget = self.times[name], self.budget(name)
        if time.server is ServerKind.CONSTANT_BANDWIDTH and self.limited(name):
            return time.period - budget
        lower = {each for each in time.budgets[: self._level] if each < budget}
        waiting = time.overrun.rules.raises and self._lacks(name, trusted=True) and self._waits(name)
        return sum(time.period - each for each in lower) if waiting else 0

    def _waits(self, name: str) -> bool:
        """Whether a task can be without a budget in a request, and waits for the next one."""
        return any(
            not (cpi.overrun.rules.aborts or self._lasts(cpi, self.needed.of_request[part.cpi], trusted=True))
            for part in self.needed.of_task[name].parts
            for cpi in self._policies(part.cpi)
        )

    def load(self, task: WorkloadTask, *, trusted: bool) -> Load:
        """What a task takes from others in each period, at most."""
        time, budget = self.times[task.name], self.budget(task.name)
        jitter = task.jitter + self._refilled_after(task.name)
        if not trusted and time.overrun is OverrunPolicy.RAISE:
            budget = time.budgets[time.criticality]
        demand = self.needed.of_task[task.name].total
        if not trusted or self._pays(task, trusted=trusted):
            return Load(task.name, task.priority, time.period, budget, jitter)
        if self.limited(task.name) and time.period == task.period:
            extension = time.extension if time.overrun is OverrunPolicy.EXTEND else None
            if extension is not None:
                budget += extension.budget * ceil(time.period / extension.period)
            demand = min(demand, budget)
        return Load(task.name, task.priority, task.period, demand, jitter)

    def _pays(self, task: WorkloadTask, *, trusted: bool) -> bool:
        """Whether the task's budget can be used for a holder that it waits for."""
        return any(
            cpi.overrun.rules.helps
            and task.name in cpi.payers
            and any(self._lacks(name, trusted=trusted) for name in cpi.tasks if name != task.name)
            for cpi in self._cpis.values()
        )

    # Sections ------------------------------------------------------------------------------------

    def _lacks(self, name: str, *, trusted: bool) -> bool:
        """Whether a task can be without a budget while it holds a lock."""
        if name not in self.times or not self.limited(name):
            return False
        constant = self.times[name].server is ServerKind.CONSTANT_BANDWIDTH
        if not trusted or name not in self.needed.of_task or constant or name in self._late:
            return True
        spare = 2 if self._planned[name].blocks > 0 else 1
        return self._least(name) < spare * self.needed.of_task[name].total

    def blocking(self, task: WorkloadTask, *, trusted: bool) -> Callable[[Time], Time] | str:
        """The blocking of a job in a window of so many nanoseconds, or why it has no bound."""
        found = waits(self.workload, self.needed, self._platform, task)
        kept = self._kept(task, trusted=trusted)
        if reason := self._without_time(task, kept, found.sections, trusted=trusted):
            return reason
        sections = tuple(replace(s, duration=self.duration(s, trusted=trusted)) for s in found.sections)
        lock = next(iter(kept), None)
        if lock is not None:  # while the job waits, lower tasks execute and can come to the lock again
            longest = max(section.duration for section in sections)
            return lambda window: longest * requests_within(found.requests[lock], window)
        found = replace(found, sections=sections)
        if not trusted:  # others request as often as they like
            found = replace(found, requests=dict.fromkeys(found.requests, _ALWAYS))
        blocking = found.blocking()
        return lambda window: blocking(window).least

    def _above(self, task: WorkloadTask) -> list[WorkloadTask]:
        return [o for o in self.workload.tasks if o.name != task.name and o.priority >= task.priority]

    def _kept(self, task: WorkloadTask, *, trusted: bool) -> Set[str]:
        """The locks that lower tasks can keep a job waiting for while they have no time."""
        wanted = set().union(*(self._locks(each.name) for each in (task, *self._above(task))))
        lower = (other for other in self.workload.tasks if other.priority < task.priority)
        return wanted & set().union(*(self._keeps(other.name, trusted=trusted) for other in lower))

    def _without_time(
        self, task: WorkloadTask, kept: Set[str], sections: Sequence[RequestSection], *, trusted: bool
    ) -> str:
        """Why there is no bound for how long others have locks without time. While a job waits for one that
        does not execute, all lower tasks do, so what is known of sections at ceilings, and of tasks that are
        each in one section, does not hold."""
        above = (task, *self._above(task))
        for other in above[1:]:
            wanted = set().union(*(self._locks(each.name) for each in above if each is not other))
            if wanted & self._keeps(other.name, trusted=trusted, helped=True):
                return f"{other.name} can be without a budget in a lock"
        if not kept:
            return ""
        resources = {each.resource for each in sections}
        if any(each.at_ceiling for each in sections) or len(kept) > 1 or resources != kept:
            return "lower tasks can be without a budget at a ceiling, or in several locks"
        others = any(kept & self._locks(each.name) for each in above[1:])
        return "others can request a lock that is kept without a budget" if others and not trusted else ""

    def _locks(self, name: str) -> Set[str]:
        """The locks that a task requests, itself or in its requests."""
        parts = self.needed.of_task[name].parts
        return {self.workload.lock[part.cpi] for part in parts if self.workload.rules[part.cpi].lock}

    def _keeps(self, name: str, *, trusted: bool, helped: bool = False) -> Set[str]:
        """The locks that a task can have while it is without time and waits for it, or is `helped`."""
        if not self._lacks(name, trusted=trusted):
            return set()
        found = set()
        for part in self.needed.of_task[name].parts:
            duration = self.needed.of_request[part.cpi]
            for cpi in self._policies(part.cpi):
                helps, aborts = self._helped(part.cpi, cpi), cpi.overrun.rules.aborts
                if (helps and helped) or not (helps or aborts or self._lasts(cpi, duration, trusted=trusted)):
                    found.add(self.workload.lock[part.cpi])
        return found & self._locks(name)

    def duration(self, section: RequestSection, *, trusted: bool) -> Time:
        """How long a section lasts: with the policy of its CPI and of those that are requested in it."""
        if not self._lacks(section.task, trusted=trusted):
            return section.duration
        budget = self._least(section.task)
        without = ceil(section.duration / budget) * (self.times[section.task].period - budget)
        policies = self._policies(section.cpi)
        added = [self._added(cpi, section, without, trusted=trusted) for cpi in policies]
        return section.duration + max(added, default=without)

    def _policies(self, name: str) -> list[PlannedCpi]:
        """A CPI and those that it requests, as far as they have a policy."""
        within = (name, *self.workload.below[name])
        return [self._cpis[each] for each in within if each in self._cpis]

    def _helped(self, name: str, cpi: PlannedCpi) -> bool:
        """Whether those that wait for a request to a CPI pay for one to `cpi` in it. Where one that executes
        at its ceiling is between them, the manager of `cpi` does not know of them."""
        ways = (each for each in (name, *self.workload.below[name]) if cpi.name in self.workload.below[each])
        return cpi.overrun.rules.helps and not any(self.workload.rules[each].own_priority for each in ways)

    def _added(self, cpi: PlannedCpi, section: RequestSection, without: Time, *, trusted: bool) -> Time:
        """What the policy of a CPI adds to a section whose task is without a budget for `without`."""
        if cpi.overrun.rules.aborts:
            # roll-backs before it can have used the extension
            return 0 if cpi.extension is None else cpi.extension.period
        goes_on = self._helped(section.cpi, cpi) or self._lasts(cpi, section.duration, trusted=trusted)
        return 0 if goes_on else without

    def _lasts(self, cpi: PlannedCpi, section: Time, *, trusted: bool) -> bool:
        """Whether the extension of a CPI suffices for all overruns of its period, in sections so long."""
        extension = cpi.extension
        if not cpi.overrun.rules.extends or extension is None:
            return False
        # within a period, each caller can be without a budget once for each part of it that comes back
        lacking = [name for name in cpi.tasks if self._lacks(name, trusted=trusted)]
        overruns = sum(self._planned[name].refills for name in lacking)
        shorter = all(extension.period <= self.times[name].period for name in lacking)
        return shorter and extension.budget >= overruns * section

    def extensions(self, task: WorkloadTask, *, trusted: bool) -> list[Load]:
        """The reservations that tasks of at least the same priority can use beside their budgets. Those of
        lower ones execute in sections that are waited for. A roll-back of its own request keeps it, too."""
        others = self._above(task)
        lacking = {other.name for other in others if self._lacks(other.name, trusted=trusted)}
        own = {task.name} if self._lacks(task.name, trusted=True) else set()
        found = [
            Load(f"extension of {cpi.name}", cpi.ceiling, cpi.extension.period, cpi.extension.budget)
            for cpi in self._cpis.values()
            if cpi.extension is not None
            and (cpi.overrun.rules.extends or cpi.overrun.rules.aborts)
            and not (lacking | own if cpi.overrun.rules.aborts else lacking).isdisjoint(cpi.tasks)
        ]
        for other in () if trusted else others:  # else their demand has it
            time = self.times[other.name]
            if time.overrun is OverrunPolicy.EXTEND and time.extension is not None:
                name = f"extension of {other.name}"
                found.append(Load(name, other.priority, time.extension.period, time.extension.budget))
        return found
