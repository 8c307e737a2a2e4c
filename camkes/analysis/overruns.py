# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which tasks can be without a budget, and how long their requests last then, by the policies of CPIs.

A server without time has some again after T - b at most, as the budget that was used was used within the T
before: a holder that needs S under `wait` has it after S + ceil(S / b) (T - b). A roll-back waits for the
extension for its period at most, if others can have used it. docs/mcs.md has the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import cache
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.demand import Demands, Time, release_cost
from camkes.analysis.platform import Platform
from camkes.analysis.response import Load
from camkes.analysis.workload import Workload, WorkloadTask
from camkes.model.overrun import Degraded, ServerKind
from camkes.protocols.groups import find_groups
from camkes.protocols.plan import Plan, PlannedCpi
from camkes.protocols.time import LEAST_REFILLS, Reservation

#: the period of what happens once
ONCE = 1 << 60


class Shortages(Struct, frozen=True):
    """What has been found of responses, if all tasks keep their times. Tasks are `late` if jobs can end after
    the next release, or pay for others: then several need a budget in one period. `crowded` are CPIs of which
    a roll-back can come so soon after another one that the extension is not back."""

    late: Set[str] = frozenset()
    crowded: Set[str] = frozenset()

    def __or__(self, other: Shortages) -> Shortages:
        return Shortages(self.late | other.late, self.crowded | other.crowded)


def lasting_budgets(plan: Plan, workload: Workload) -> Mapping[str, int]:
    """For each task whose budget can end the nanoseconds of which a job has to need less, with all its
    requests, to end before its budget, if each job ends before the next release: then all that was used
    before is back, or half of it where a job can block. 0 where that is not so."""
    helpers = {name for each in plan.conditions for name in each.lending.tasks()}
    named = {task.name: task for task in workload.tasks}
    found = {}
    for planned in plan.tasks:
        if (time := planned.time) is not None and time.limited:
            task = named.get(planned.name)
            regular = task is not None and not task.after and time.period == task.period
            same = time.server is ServerKind.SPORADIC and len(time.budgets) == 1
            lasts = regular and same and planned.name not in helpers
            found[planned.name] = time.budgets[0] // (1 + (planned.blocks > 0)) + 1 if lasts else 0
    return found


def used_beside_demand(workload: Workload, platform: Platform, period: int) -> Time:
    """What a job of a task with this period uses of its budget beside its demand, in nanoseconds: its own
    release, and each time that it goes on after another one a part of what the kernel does. 0 where a profile
    does not have that."""
    if not platform.overrun.wait:
        return 0
    often = sum(ceil(period / other.period) for other in workload.tasks if other.timed)
    return release_cost(workload, platform) + platform.nanoseconds(often * platform.overrun.wait)


class OverrunModel:
    """The tasks of a workload with their budgets and the overrun policies of their CPIs. `trusted`: all tasks
    keep their execution times."""

    def __init__(
        self,
        plan: Plan,
        workload: Workload,
        needed: Demands,
        platform: Platform,
        shortages: Shortages = Shortages(),  # noqa: B008 - it is frozen
        level: int | None = None,
        setters: Sequence[str] = (),
    ) -> None:
        """`needed` are the demands at the criticality `level` of the system, which no job of the model sees
        exceeded; None: they are those at 0, and it can rise. `setters` are instances that can set it."""
        self._level = level or 0
        self._rises = level is None
        self._setters = setters
        self._shortages = shortages
        self.workload = workload
        self.needed = needed
        self._platform = platform
        self._cpis: Mapping[str, PlannedCpi] = {cpi.name: cpi for cpi in plan.cpis}
        #: by the names in the workload, which has methods of CPIs
        self._planned_cpi = {c.name: self._cpis[c.cpi] for c in workload.cpis if c.cpi in self._cpis}
        #: those whose manager knows those that wait for the same CPI only
        self._grouped = frozenset(cpi.name for group in find_groups(plan) for cpi in group.cpis)
        self.helpers = {name for each in plan.conditions for name in each.lending.tasks()}
        self._jitters = {task.name: task.jitter for task in workload.tasks}
        self.times = {task.name: task.time for task in plan.tasks if task.time is not None}
        self._planned = {task.name: task for task in plan.tasks}
        self.intervals = cache(self._intervals)
        self.used = cache(self._used_by_job)

    def budget(self, name: str) -> int:
        """The budget of a task at the criticality of the model, or at its own if that is lower."""
        time = self.times[name]
        return time.budgets[min(self._level, time.criticality)]

    def limited(self, name: str) -> bool:
        """Whether a task has a budget below its period, at this criticality or before it was reached."""
        return self.times[name].budgets[0] < self.times[name].period

    def lacks(self, name: str, *, trusted: bool) -> bool:
        """Whether a task can be without a budget while it holds a lock."""
        if name not in self.times or not self.limited(name):
            return False
        constant = self.times[name].server is ServerKind.CONSTANT_BANDWIDTH
        late = name in self._shortages.late
        if not trusted or name not in self.needed.of_task or constant or late:
            return True
        return self._least(name) < self._used(name)

    def after_fall(self, found: Shortages) -> Shortages:
        """What lasts of these when the criticality falls, as the processor is idle. A job that was released
        has ended then if there was a budget for it: the one that was there when its thread became ready, for
        a task that begins none while it is degraded or whose budget is not divided."""
        behind = {
            name
            for name in found.late
            if self.limited(name)
            and (
                (self.divided(name) and not self._is_suspended(name))
                or self.times[name].server is ServerKind.CONSTANT_BANDWIDTH
                or self.budget(name) < self._used(name)
            )
        }
        return replace(found, late=behind)

    def _is_suspended(self, name: str) -> bool:
        """Whether a task begins no job at the criticality of the model."""
        time = self.times[name]
        return time.criticality < self._level and time.degraded.kind is Degraded.SUSPEND

    def divided(self, name: str) -> bool:
        """Whether parts of what a job uses of its budget can come back later than others: when it blocks, or
        something handles the end of a part."""
        rules = self.times[name].overrun.rules
        return self._planned[name].blocks > 0 or rules.extends or rules.stops or rules.raises

    def waits(self, name: str) -> bool:
        """Whether a task that keeps its times can have to wait for a budget: not where it raises the
        criticality instead."""
        if not self.lacks(name, trusted=True):
            return False
        raises = self.times[name].overrun.rules.raises and name not in self._shortages.late
        return not raises or (
            self.budget(name) < self._used(name) or self.waits_in_request(name) or self.rolls_back_late(name)
        )

    def pays(self, name: str, *, trusted: bool) -> bool:
        """Whether a task's budget can be used for a holder that it waits for."""
        return any(
            cpi.overrun.rules.helps
            and name in cpi.payers
            and any(self.lacks(other, trusted=trusted) for other in cpi.tasks if other != name)
            for cpi in self._cpis.values()
        )

    def takes_budget(self, name: str, *, trusted: bool) -> bool:
        """Whether the budget of a task limits what it takes from others, and not what its jobs need."""
        if not trusted or self.pays(name, trusted=True):
            return True
        short = 2 * self.used(name) > self.budget(name) and not self.is_helped(name)
        return self.waits(name) and (short or name in self._shortages.late)

    def is_helped(self, name: str) -> bool:
        """Whether helpers execute for a task."""
        return any(self.workload.cpi[part.cpi].wait for part in self.needed.of_task[name].parts)

    def budgets_used(self, name: str, *, trusted: bool) -> Set[int]:
        """The budgets that a task can use while others are kept waiting: that of the model, and those of the
        criticalities before, as the switch gives it all of the next one."""
        time = self.times[name]
        reached = self.reached(trusted=trusted) if self._rises else self._level
        return set(time.budgets[: min(reached, time.criticality) + 1])

    def reached(self, *, trusted: bool) -> int:
        """The highest criticality to which tasks or instances can raise that of the system."""
        raising = (n for n, time in self.times.items() if time.overrun.rules.raises)
        names = self.times if self._setters else {n for n in raising if self.lacks(n, trusted=trusted)}
        return max((self.times[name].criticality for name in names), default=0)

    def waits_in_request(self, name: str) -> bool:
        """Whether a task can be without a budget in a request, and waits for the next one."""
        return any(
            not (cpi.overrun.rules.aborts or self._lasts(cpi, self.needed.of_request[part.cpi], trusted=True))
            for part in self.needed.of_task[name].parts
            for cpi in self._policies(part.cpi)
        )

    def rolls_back_late(self, name: str) -> bool:
        """Whether a request of a task that keeps its times can have to wait to be rolled back."""
        parts = self.needed.of_task[name].parts
        return any(self._waits_to_roll_back(part.cpi, trusted=True) for part in parts)

    def longer(self, task: str, name: str, duration: Time, *, trusted: bool) -> Time:
        """How long a request of a task to a CPI, which executes for `duration`, can be without time."""
        if not self.lacks(task, trusted=trusted):
            return 0
        without = self._refilled(task, duration) if self._stalls(name, duration, trusted=trusted) else 0
        return without + self._rolled_back(name, trusted=trusted)

    def keeps(self, name: str, *, trusted: bool, helped: bool = False, aborted: bool = True) -> Set[str]:
        """The locks that a task can have while it is without time: it waits for it, is `helped`, or waits for
        the extension on which an `aborted` request is rolled back."""
        if not self.lacks(name, trusted=trusted):
            return set()
        found = set()
        for part in self.needed.of_task[name].parts:
            helps = helped and any(cpi.overrun.rules.helps for cpi in self._policies(part.cpi))
            if (
                helps
                or self._stalls(part.cpi, self.needed.of_request[part.cpi], trusted=trusted)
                or (aborted and self._waits_to_roll_back(part.cpi, trusted=trusted))
            ):
                found.add(self.workload.lock[part.cpi])
        return found & self.locks(name)

    def kept(self, task: WorkloadTask, *, trusted: bool, aborted: bool) -> Set[str]:
        """The locks that lower tasks can keep a job waiting for while they have no time, or wait to be rolled
        back."""
        wanted = set().union(*(self.locks(each.name) for each in (task, *self.above(task))))
        lower = (other for other in self.workload.tasks if other.priority < task.priority)
        return wanted & set().union(
            *(self.keeps(other.name, trusted=trusted, aborted=aborted) for other in lower)
        )

    def locks(self, name: str) -> Set[str]:
        """The locks that a task requests, itself or in its requests."""
        parts = self.needed.of_task[name].parts
        return {self.workload.lock[part.cpi] for part in parts if self.workload.rules[part.cpi].lock}

    def times_without(self, name: str) -> int:
        """In how many pieces of time, at most, a job of a task can wait for roll-backs of others while these
        wait for extensions."""
        return sum(
            part.count * self.intervals(self.workload.lock[part.cpi])
            for part in self.needed.of_task[name].parts
            if self.workload.rules[part.cpi].lock
        )

    def _intervals(self, lock: str) -> int:
        """The same for one request to a lock: in the section of its holder, and of those that this waits
        for, which can have come to their locks since."""
        cpis = [name for name, own in self.workload.lock.items() if own == lock]
        counts = [self._counts(name) for name in cpis]
        own = max(sum(c for n, c in count.items() if self._undone(n) is not None) for count in counts)
        below: dict[str, int] = {}
        for name in cpis:
            for inner, count in self.workload.locks_below[name].items():
                below[inner] = max(count, below.get(inner, 0))
        return own + sum(count * self.intervals(inner) for inner, count in below.items())

    def _undone(self, name: str) -> Reservation | None:
        """What the roll-backs of a CPI execute on."""
        cpi = self._planned_cpi.get(name)
        return cpi.extension if cpi is not None and cpi.overrun.rules.aborts else None

    def _waits_to_roll_back(self, name: str, *, trusted: bool) -> bool:
        """Whether a request to a CPI can have to wait until it is rolled back, there or in one of its own."""
        undone = (each for each in self._counts(name) if self._undone(each) is not None)
        return any(self._is_crowded(self._planned_cpi[each], trusted=trusted) for each in undone)

    def _used(self, name: str) -> Time:
        """What a task can use of its budget within a period: what was used after a wait for a lock comes back
        later than the next release, and events can release jobs in less than a period."""
        early = ceil(self._jitters[name] / self.times[name].period)
        return (1 + early + (self._planned[name].blocks > 0)) * self.used(name)

    def _used_by_job(self, name: str) -> Time:
        """What a job uses of its budget: what it demands, its own release, and each time that it goes on
        after another one a part of what the kernel does, where a profile has that."""
        beside = used_beside_demand(self.workload, self._platform, self.times[name].period)
        return self.needed.of_task[name].total + beside

    def _least(self, name: str) -> int:
        """The least budget that can be used up by a job: before the criticality rises, or of constant
        bandwidth, partly by the job before."""
        time = self.times[name]
        early = time.overrun.rules.raises or time.server is ServerKind.CONSTANT_BANDWIDTH
        return time.budgets[0] if early else self.budget(name)

    def _refilled(self, task: str, duration: Time) -> Time:
        """How long a task waits for budgets until it has had so much time: its own ones or, in a request that
        began on it, its extension."""
        time, budget = self.times[task], self._least(task)
        servers = [Reservation(budget, time.period)]
        if time.overrun.rules.extends and time.extension is not None:
            servers.append(time.extension)
        return max(ceil(duration / each.budget) * (each.period - each.budget) for each in servers)

    def _counts(self, name: str) -> Mapping[str, int]:
        """A CPI and those that one request to it requests, and how often."""
        return {name: 1, **self.workload.below[name]}

    def _policies(self, name: str) -> list[PlannedCpi]:
        """Those of them that have a policy."""
        return [self._planned_cpi[each] for each in self._counts(name) if each in self._planned_cpi]

    def _stalls(self, name: str, duration: Time, *, trusted: bool) -> bool:
        """Whether a request to a CPI without a budget waits for the next one, there or in a request of its
        own."""
        return any(
            not (
                cpi.overrun.rules.aborts
                or self._helped(name, cpi)
                or self._lasts(cpi, duration, trusted=trusted)
            )
            for cpi in self._policies(name)
        )

    def _rolled_back(self, name: str, *, trusted: bool) -> Time:
        """How long all that is rolled back in a request to a CPI takes, with what it waits for extensions."""
        found: Time = 0
        for each, count in self._counts(name).items():
            if (extension := self._undone(each)) is not None:
                crowded = self._is_crowded(self._planned_cpi[each], trusted=trusted)
                found += count * (extension.period if crowded else extension.budget)
        return found

    def _is_crowded(self, cpi: PlannedCpi, *, trusted: bool) -> bool:
        """Whether the extension of a CPI can have been used when a roll-back begins."""
        if not trusted or cpi.name in self._shortages.crowded:
            return True
        counts = {name: self._count(name, cpi.name) for name in cpi.tasks if self.lacks(name, trusted=True)}
        return sum(counts.values()) > 1

    def _count(self, task: str, cpi: str) -> int:
        if task not in self.needed.of_task:
            return 2
        parts = self.needed.of_task[task].parts
        return sum(part.count for part in parts if self.workload.cpi[part.cpi].cpi == cpi)

    def _helped(self, name: str, cpi: PlannedCpi) -> bool:
        """Whether all that wait for a request to a CPI pay for one to `cpi` in it. They do where each CPI on
        the way helps: else its manager keeps only who is the most urgent, or at a ceiling no one. And where
        none of them is one of several of a manager, as in a monitor."""
        named = [each.name for each in self.workload.cpis if each.cpi == cpi.name]
        below = self.workload.below
        ways = [each for each in self._counts(name) if not below[each].keys().isdisjoint(named)]
        planned = [self._planned_cpi.get(each) for each in ways]
        return (
            cpi.overrun.rules.helps
            and self._grouped.isdisjoint((*(each.name for each in planned if each is not None), cpi.name))
            and all(each is not None and each.overrun.rules.helps for each in planned)
        )

    def _lasts(self, cpi: PlannedCpi, section: Time, *, trusted: bool) -> bool:
        """Whether the extension of a CPI suffices for all overruns of its period, in sections so long."""
        extension = cpi.extension
        if not cpi.overrun.rules.extends or extension is None:
            return False
        # within a period, each caller can be without a budget once for each part of it that comes back
        lacking = [name for name in cpi.tasks if self.lacks(name, trusted=trusted)]
        overruns = sum(self._planned[name].refills for name in lacking)
        overruns += sum(LEAST_REFILLS for name in lacking if self.times[name].overrun.rules.extends)
        shorter = all(extension.period <= self.times[name].period for name in lacking)
        return shorter and extension.budget >= overruns * section

    def extensions(self, task: WorkloadTask, *, trusted: bool) -> list[Load]:
        """What tasks of at least the same priority can use beside their budgets. The extensions of
        lower ones execute in sections that are waited for. A roll-back of its own request keeps it, too."""
        others = self.above(task)
        lacking = {other.name for other in others if self.lacks(other.name, trusted=trusted)}
        own = {task.name} if self.lacks(task.name, trusted=True) else set()
        found = [
            Load(f"extension of {cpi.name}", cpi.ceiling, cpi.extension.period, cpi.extension.budget)
            for cpi in self._cpis.values()
            if cpi.extension is not None
            and (cpi.overrun.rules.extends or cpi.overrun.rules.aborts)
            and not (lacking | own if cpi.overrun.rules.aborts else lacking).isdisjoint(cpi.tasks)
        ]
        found += self._paid_by_lower(task, {o.name for o in others} & lacking)
        for other in others:
            time = self.times[other.name]
            lacks = other.name in lacking or self.pays(other.name, trusted=trusted)
            if lacks and time.overrun.rules.extends and time.extension is not None:
                name = f"extension of {other.name}"
                found.append(Load(name, other.priority, time.extension.period, time.extension.budget))
            budgets = self.budgets_used(other.name, trusted=trusted)
            if len(budgets) > 1 and self.takes_budget(other.name, trusted=trusted):
                before = sum(budgets) - max(budgets)
                found.append(Load(f"{other.name} before a switch", other.priority, ONCE, before))
        return found

    def _paid_by_lower(self, task: WorkloadTask, holders: Set[str]) -> list[Load]:
        """What lower tasks pay for `holders`, which execute on their budgets then, before the task."""
        lower = [o for o in self.workload.tasks if o.priority < task.priority]
        helping = [cpi for cpi in self._cpis.values() if cpi.overrun.rules.helps]
        return [
            Load(
                f"paid by {o.name}", task.priority, time.period, max(self.budgets_used(o.name, trusted=False))
            )
            for o in lower
            if (time := self.times.get(o.name)) is not None
            and any(o.name in cpi.payers and not holders.isdisjoint(cpi.tasks) for cpi in helping)
        ]

    def above(self, task: WorkloadTask) -> list[WorkloadTask]:
        """The others of at least its priority."""
        return [o for o in self.workload.tasks if o.name != task.name and o.priority >= task.priority]
