# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Response times on an MCS kernel: what a budget limits, and what the overrun policies of locks cost others.

A sporadic server of budget b and period T takes no more of the processor from others than a periodic task of
execution time b (Sprunt et al. 1989), also if several jobs of it wait for a budget; nor does one of constant
bandwidth, whose own jobs can each wait for T - b. docs/mcs.md has the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.blocking import PossibleWaits, waits
from camkes.analysis.demand import Requesting, Time, demands, requests_within
from camkes.analysis.ends import EndsModel
from camkes.analysis.overruns import Shortages
from camkes.analysis.platform import Platform
from camkes.analysis.response import Load, Response, response
from camkes.analysis.sections import RequestSection
from camkes.analysis.unbounded import NoBound
from camkes.analysis.verdict import ROUNDS, analyse, delayed, interruptions, no_bounds
from camkes.analysis.workload import Workload, WorkloadTask, workload_of
from camkes.model.overrun import ServerKind
from camkes.model.system import System
from camkes.protocols.plan import Plan
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


def budget_results(system: System, plan: Plan, platform: Platform) -> tuple[BudgetResult, ...]:
    """The responses of all tasks, from the highest priority; none without an MCS kernel."""
    if not plan.mcs:
        return ()
    workload = workload_of(system, plan)
    known = no_bounds(workload, platform)
    return tuple(
        each if each.task.name not in known else _obstructed(each, known[each.task.name])
        for each in _all_results(system, plan, workload, platform)
    )


def _obstructed(result: BudgetResult, why: NoBound) -> BudgetResult:
    """The same of a task that has no bound, whatever budgets are."""
    bounded = Bounded(None, f"no bound{why.words}")
    return replace(result, trusted=bounded, isolated=bounded)


def _all_results(
    system: System, plan: Plan, workload: Workload, platform: Platform
) -> tuple[BudgetResult, ...]:
    if plan.bands:
        return _with_bands(plan, workload, platform)
    setters = criticality_setters(system)
    for _ in range(ROUNDS):
        found = _results(plan, workload, platform, setters)
        latest = {each.task.name: each.trusted.latest for each in found if each.trusted.response is not None}
        later = delayed(workload, latest)
        if later is workload:
            late = [task.priority for task in workload.tasks if task.after and task.after not in latest]
            least = max(late, default=-1)
            return tuple(_no_bound(each) if each.task.priority <= least else each for each in found)
        workload = later
    return tuple(map(_no_bound, found))


def criticality_setters(system: System) -> Sequence[str]:
    """The instances whose code can set the criticality."""
    return [each.name for each in system.instances if each.type.criticality_span is not None]


def _no_bound(result: BudgetResult) -> BudgetResult:
    """The same where it is not known when the task is released, or others are."""
    reason = "it is not known how late events release jobs"
    return replace(result, trusted=Bounded(None, result.trusted.reason or reason))


def _results(
    plan: Plan, workload: Workload, platform: Platform, setters: Sequence[str]
) -> tuple[BudgetResult, ...]:
    needed = demands(workload, platform)
    ordered = sorted(workload.tasks, key=lambda task: (-task.priority, task.name))
    shortages = Shortages()
    while True:
        model = BudgetModel(plan, workload, needed, platform, shortages, setters=setters)
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
        more = model.more_shortages({each.task.name: each.trusted.response for each in found})
        if more == shortages:
            return found
        shortages = more


def _with_bands(plan: Plan, workload: Workload, platform: Platform) -> tuple[BudgetResult, ...]:
    """Where components order tasks: with budgets that never end the responses are those without. Nothing is
    isolated, as a job that takes longer keeps its early deadline."""
    model = BudgetModel(plan, workload, demands(workload, platform), platform)
    short = [task.name for task in workload.tasks if model.can_end(task)]
    found = []
    for each in analyse(replace(workload, background=()), platform).tasks:
        if short:
            trusted = Bounded(None, f"the budget of {short[0]} can be used up, and a component orders tasks")
        elif each.response is None:
            trusted = Bounded(None, "overload")
        else:
            trusted = Bounded(each.response.time, latest=each.response.latest)
        time, demand = model.times[each.task.name], each.demand.total
        isolated = Bounded(None, "a component orders tasks")
        found.append(BudgetResult(each.task, time, demand, trusted, isolated))
    return tuple(found)


class BudgetModel(EndsModel):
    """The longest responses of tasks with budgets, and what they take from others."""

    # Tasks ---------------------------------------------------------------------------------------

    def bound(self, task: WorkloadTask, *, trusted: bool) -> Bounded:
        """The longest response of a task."""
        if reason := self.too_short(task):
            return Bounded(None, reason)
        if not (trusted or task.timed):
            return Bounded(None, "other tasks release it")
        free = [other.name for other in self.above(task) if not self.limited(other.name)]
        if free and not trusted:
            return Bounded(None, f"{free[0]} has no budget")
        if raising := self._raising(task, trusted=trusted):
            return Bounded(None, f"{raising} can raise the criticality")
        blocking = self.blocking(task, trusted=trusted)
        if isinstance(blocking, str):
            return Bounded(None, blocking)
        others = (other for other in self.workload.tasks if other.name != task.name)
        loads = [self.load(other, trusted=trusted) for other in others]
        loads += self.extensions(task, trusted=trusted) + self.ends(task, trusted=trusted)
        loads += interruptions(self.workload, self._platform)
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
        if self.divided(task.name) and self.limited(task.name) and late + found.time > task.period:
            return Bounded(
                None, "a job can end after the next release, when parts of its budget are not back"
            )
        return Bounded(late + found.time, latest=late + found.latest)

    def _raising(self, task: WorkloadTask, *, trusted: bool) -> str:
        """What can raise the criticality above that of a task, or else with a cost."""
        own = self.times[task.name].criticality
        highest = max(time.criticality for time in self.times.values())
        if self._setters and (highest > own or (highest and self._platform.raised)):
            return self._setters[0]
        return next(
            (
                name
                for name, time in self.times.items()
                if time.overrun.rules.raises
                and name != task.name
                and (time.criticality > own or self._platform.raised)
                and self.lacks(name, trusted=trusted)
            ),
            "",
        )

    def can_end(self, task: WorkloadTask) -> bool:
        """Whether a task that keeps its execution times can be without a budget."""
        return bool(self.too_short(task)) or self.lacks(task.name, trusted=True)

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
        if self.lacks(name, trusted=True):
            if blocks and task.jitter:
                return "an event can come before its budget, which then can end in a lock"
            extends = self.times[name].overrun.rules.extends
            if extends and self.needed.of_task[name].parts and self.waits_in_request(name):
                return "it can use up its extension in a request, and wait for the next"
            if self.rolls_back_late(name):
                return "its budget can end in a request that waits to be rolled back"
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
        paid = blocking(task.period) if self.pays(task.name, trusted=trusted) else 0
        return self.budget(task.name) - self.used(task.name) - paid

    def too_short(self, task: WorkloadTask) -> str:
        """Why a task's own budget does not suffice for its jobs. An extension does not count: what the job
        before used of it, later in its period, may not be back."""
        if not self.limited(task.name):
            return ""
        time = self.times[task.name]
        if time.period != task.period:
            return "its budget has another period"
        if self.used(task.name) > self.budget(task.name):
            return "its budget is too short"
        if self.lacks(task.name, trusted=True):
            if time.overrun.rules.stops:
                return "its budget can end before the job, which is then stopped"
            requested = (self._planned_cpi.get(name) for name in task.requests)
            if any(cpi is not None and cpi.overrun.rules.suspends for cpi in requested):
                return "its budget can end in a request, and then it is suspended"
        return ""

    def _refilled_after(self, name: str) -> Time:
        """How long a task can be without time in each job, and then has its budget again. One of constant
        bandwidth in a job of any length, as its periods do not begin with the jobs, and for the least budget:
        the criticality can rise after that. One that raises the criticality, if its budget ends in a request
        that waits for the next one."""
        time, budget = self.times[name], self.budget(name)
        if time.server is ServerKind.CONSTANT_BANDWIDTH:
            return time.period - time.budgets[0]
        lower = {each for each in time.budgets[: self._level] if each < budget}
        waiting = time.overrun.rules.raises and self.lacks(name, trusted=True) and self.waits_in_request(name)
        return sum(time.period - each for each in lower) if waiting else 0

    def load(self, task: WorkloadTask, *, trusted: bool) -> Load:
        """What a task takes from others in each period, at most: what its jobs need, if they never wait for a
        budget; or else with one more job, which waits, or its budget, whatever its jobs need. Extensions are
        loads of their own."""
        name, time, demand = task.name, self.times[task.name], self.needed.of_task[task.name].total
        if self.takes_budget(name, trusted=trusted):
            used = max(self.budgets_used(name, trusted=trusted))
            # helpers have budgets of their own, so nothing limits what is waited for
            return Load(name, task.priority, time.period, time.period if self.is_helped(name) else used)
        carried = task.period if self.waits(name) else 0
        return Load(name, task.priority, task.period, demand, task.jitter + carried)

    def more_shortages(self, responses: Mapping[str, Time | None]) -> Shortages:
        """Those of the model, and what follows from the longest responses of jobs, where there are some."""
        found = self._shortages
        late, crowded = set(found.late), set(found.crowded)
        for task in self.workload.tasks:
            time = responses[task.name]
            if time is None or time > task.period or self._pays_late(task):
                late.add(task.name)
            left = 0 if time is None or task.name in late else task.period - time
            crowded |= {
                cpi.name
                for cpi in self._cpis.values()
                if cpi.extension is not None
                and cpi.extension.period > left
                and task.name in cpi.tasks
                and self.lacks(task.name, trusted=True)
            }
        return Shortages(frozenset(late), frozenset(crowded))

    def _pays_late(self, task: WorkloadTask) -> bool:
        """Whether a task that helps can be without a budget because the job before has paid."""
        if not self.limited(task.name) or not self.pays(task.name, trusted=True):
            return False
        paid = self.blocking(task, trusted=True)
        needed = self.used(task.name)
        return isinstance(paid, str) or self.budget(task.name) < 2 * (needed + paid(task.period))

    # Sections ------------------------------------------------------------------------------------

    def blocking(self, task: WorkloadTask, *, trusted: bool) -> Callable[[Time], Time] | str:
        """The blocking of a job in a window of so many nanoseconds, or why it has no bound."""
        found = waits(self.workload, self.needed, task)
        kept = self.kept(task, trusted=trusted, aborted=False)
        if reason := self._without_time(task, trusted=trusted):
            return reason
        sections = tuple(
            replace(
                s,
                duration=s.duration
                + self.longer(s.task, s.cpi, s.duration, trusted=trusted)
                + self.ended_in(s.task, s.cpi, s.duration, trusted=trusted),
            )
            for s in found.sections
        )
        by_requests = self._by_requests(task, sections, found, trusted=trusted)
        if kept:
            return by_requests or "lower tasks can be without a budget at a ceiling, or in several locks"
        found = replace(found, sections=sections)
        if not trusted:  # others request as often as they like
            found = replace(found, requests=dict.fromkeys(found.requests, _ALWAYS))
        blocking = found.blocking()
        if not self.kept(task, trusted=trusted, aborted=True):
            return lambda window: blocking(window).least
        # where others wait for an extension, lower tasks execute, and can come to sections again
        times = 1 + self.times_without(task.name)
        if by_requests is None:
            return lambda window: times * blocking(window).least
        return lambda window: min(times * blocking(window).least, by_requests(window))

    def _by_requests(
        self, task: WorkloadTask, sections: Sequence[RequestSection], found: PossibleWaits, *, trusted: bool
    ) -> Callable[[Time], Time] | None:
        """What a job can wait for lower tasks if these execute meanwhile, and come to locks again: each
        request, of the job or one above, for the longest section of its lock. None if there are ceilings, if
        locks are requested in sections, or if others request as often as they like."""
        longest: dict[str, Time] = {}
        for each in sections:
            longest[each.resource] = max(each.duration, longest.get(each.resource, 0))
        nested = set().union(*(found.inside.get(each.cpi, ()) for each in sections))
        others = set().union(*(self.locks(each.name) for each in self.above(task)))
        if (
            any(each.at_ceiling for each in sections)
            or not nested.isdisjoint(longest)
            or not (trusted or others.isdisjoint(longest))
        ):
            return None
        requests = found.requests
        return lambda window: sum(
            time * requests_within(requests[lock], window) for lock, time in longest.items()
        )

    def _without_time(self, task: WorkloadTask, *, trusted: bool) -> str:
        """Why there is no bound for how long helpers, or tasks of at least the same priority in locks, are
        without time."""
        if limited := [name for name in self.helpers if self.limited(name)]:
            return f"{limited[0]} has a budget, and others wait for it"
        above = (task, *self.above(task))
        for other in above[1:]:
            wanted = set().union(*(self.locks(each.name) for each in above if each is not other))
            if wanted & self.keeps(other.name, trusted=trusted, helped=True, aborted=False):
                return f"{other.name} can be without a budget in a lock"
            if wanted & self.keeps(other.name, trusted=trusted):
                return f"requests of {other.name} can wait to be rolled back, in a lock"
        return ""
