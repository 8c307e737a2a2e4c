# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How long tasks of lower priority can keep a job waiting.

A task of lower priority executes while a job waits only in a section: while it holds a lock for which
a request of at least the job's priority can wait (`inherited`), or executes at a ceiling of at least that
priority (`fixed`). It was in its section, or in the queue for it, when the job was released, for it cannot
request anything more before the job ends. Hence each task counts once, with its outermost section, whole.

A lock counts as often as a task of at least the job's priority requests it while the job is under way: when
such a request is over, the lock goes to the next in the queue, which may be a task of lower priority, and the
next request finds it taken. Where each lock is requested once, it counts once, as in Lemma 2 of Cucinotta et
al.; for more requests the lemma does not hold.

Of the sections of `fixed` CPIs, and of the steps of requests that some runtimes execute at a ceiling, there
is at most one in all: a task in one keeps all others of lower priority from entering another.

docs/analysis.md has the arguments. Sources: Sudvarg et al. 2024, Eqs. 5 and 6, for `fixed`; Cucinotta et al.,
Eqs. 2 to 5, for `inherited` that is not nested. The nested case, and mixtures, are ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from math import inf

from msgspec import Struct

from camkes.analysis.choice import Choosing, Chosen, matched
from camkes.analysis.demand import Demands, Requesting, Time
from camkes.analysis.sections import Limits, RequestSection
from camkes.analysis.workload import Workload, WorkloadTask
from camkes.model.protocols import Rules

#: On how many ways lower tasks may come to CPIs for all to be looked at; else there is no exact blocking.
WAYS = 20_000


class Blocking(Struct, frozen=True):
    """The blocking of a task's job, in nanoseconds, each value at most the one before: `classic`, the lesser
    of two sums; `assignment`, no task twice and no CPI more often than it is requested; `least`, which
    counts: no two sections exclude each other. `sections` are those of the greatest sum that was found to be
    `possible`; where that is `least`, it is `exact`, and else the `gap` is between them."""

    classic: Time
    assignment: Time
    least: Time
    sections: tuple[RequestSection, ...]
    possible: Time

    @property
    def exact(self) -> Time | None:
        """The greatest sum of sections that exclude each other nowhere; None where it is not known."""
        return self.least if self.possible == self.least else None

    @property
    def gap(self) -> Time:
        """How far `least` can be above the exact value."""
        return self.least - self.possible


NONE = Blocking(0, 0, 0, (), 0)


class PossibleWaits(Struct, frozen=True, dict=True):
    """What a job of a task can wait for. `requests` are, for each lock of a section, the jobs that request it
    at the task's priority or above. `every_way`: `sections` has one for each set of locks that can be held
    around it; else it has one for each task and CPI, and there is no exact blocking."""

    sections: tuple[RequestSection, ...]
    requests: Mapping[str, tuple[Requesting, ...]]
    every_way: bool = True
    #: how often one request to a CPI leads to requests to which locks, for those that are whole sections
    inside: Mapping[str, Mapping[str, int]] = {}
    #: locks for which one request can wait for all lower tasks in the queue
    any_order: frozenset[str] = frozenset()

    @property
    def cpis(self) -> frozenset[str]:
        """Those of the sections."""
        return frozenset(section.cpi for section in self.sections)

    @cached_property
    def holders(self) -> Mapping[str, int]:
        """How many tasks have a section of each lock, outside of ceilings."""
        tasks: dict[str, set[str]] = {}
        for section in self.sections:
            if not section.at_ceiling:
                tasks.setdefault(section.resource, set()).add(section.task)
        return {lock: len(names) for lock, names in tasks.items()}

    @cached_property
    def nested(self) -> Mapping[str, int]:
        """How often all tasks together request each lock in their sections, each in the one where it does
        most; more than its holders make no difference."""
        own = self.own(1)  # not less in longer windows
        most = {lock: more for lock, holders in self.holders.items() if (more := holders - own[lock])}
        tasks: dict[str, dict[str, None]] = {}
        for section in self.sections:
            if section.cpi in self.inside:
                tasks.setdefault(section.cpi, {})[section.task] = None
        requesting: dict[str, list[tuple[str, int]]] = {}
        for cpi in tasks:
            counts = self.inside[cpi]
            for lock in most.keys() & counts.keys():
                requesting.setdefault(lock, []).append((cpi, counts[lock]))
        return {lock: _nested(requesting.get(lock, ()), tasks, most.get(lock, 0)) for lock in self.holders}

    @cached_property
    def sums(self) -> Sums:
        return sums(self.sections)

    def limits(self, window: Time) -> Limits:
        """How often each lock can make the job wait in a window of so many nanoseconds."""
        return self._limits(self.own(window))

    def _limits(self, own: Limits) -> Limits:
        return {cpi: min(own[cpi] + self.nested[cpi], most) for cpi, most in self.holders.items()}

    def own(self, window: Time) -> Limits:
        """The same without requests in sections, as far as more make a difference."""
        return {cpi: self._own(cpi, holders, window) for cpi, holders in self.holders.items()}

    def _own(self, cpi: str, holders: int, window: Time) -> int:
        limit = holders if cpi in self.any_order else 0
        for _, period, count, jitter in self.requests.get(cpi, ()):
            if limit >= holders:
                break
            limit += -(-(window + jitter) // period) * count
        return min(holders, limit)

    def blocking(self) -> Callable[[Time], Blocking]:
        """`within`, which remembers what it has found: many windows have the same limits."""
        found = cache(lambda own: self._within(dict(own)))
        return cache(lambda window: found(tuple(self.own(window).items())))

    def within(self, window: Time) -> Blocking:
        """The blocking in a window of so many nanoseconds."""
        return self._within(self.own(window))

    def assigned(self, window: Time) -> Time:
        """The assignment in a window of so many nanoseconds."""
        return total(assign(self.sections, self.limits(window)))

    @cached_property
    def _choosing(self) -> Choosing:
        return Choosing(self.sections, self.inside)

    def _within(self, own: Limits) -> Blocking:
        if not self.sections:
            return NONE
        limits = self._limits(own)
        assigned = assign(self.sections, limits)
        together = Together(own, self.inside)
        if not total(assigned) or together.possible(assigned):
            found = Chosen(assigned, total(assigned))  # the assignment is at least the exact one
        else:
            found = self._choosing.chosen(own, together.part_of(assigned))
        least = min(total(assigned), found.bound) if self.every_way else total(assigned)
        possible = total(found.sections)
        return Blocking(
            self.sums.within(limits),
            total(assigned),
            least,
            found.sections,
            possible,
        )


def _nested(requesting: Sequence[tuple[str, int]], tasks: Mapping[str, Iterable[str]], most: int) -> int:
    """How often all tasks request a lock in the sections in which each does most, up to `most`: so often in
    each of these CPIs, in which the tasks have sections."""
    found, counts = 0, dict[str, int]()
    for cpi, count in requesting:
        for task in tasks[cpi]:
            more = count - counts.get(task, 0)
            if more > 0:
                found += more
                counts[task] = count
        if found >= most:
            return most
    return found


class Together(Struct, frozen=True):
    """Which sections can keep a job waiting together. `own` is how often each lock is requested outside of
    sections, `inside` how often in one request to a CPI."""

    own: Limits = {}
    inside: Mapping[str, Mapping[str, int]] = {}

    def possible(self, sections: Sequence[RequestSection]) -> bool:
        """Whether no lock is held by two tasks, no section excludes another, and all are requested."""
        held = [name for section in sections for name in section.held]
        return (
            len(held) == len(set(held))
            and not any(one.excludes(two) for one in sections if one.enters for two in sections)
            and self.requested(sections)
        )

    def requested(self, sections: Iterable[RequestSection]) -> bool:
        """Whether each lock is requested as often as it has sections: outside, or in other sections."""
        counts = Counter(section.resource for section in sections if not section.at_ceiling)
        return all(
            count <= self.own.get(lock, count)
            or count <= self.own[lock] + sum(self.inside.get(s.cpi, {}).get(lock, 0) for s in sections)
            for lock, count in counts.items()
        )

    def part_of(self, sections: Iterable[RequestSection]) -> tuple[RequestSection, ...]:
        """Those of the sections, the longest first, that can keep a job waiting with those before them."""
        choice = _Choice()
        left = dict(self.own)
        for section in sorted(sections, key=lambda section: -section.duration):
            limited = not section.at_ceiling and section.resource in left
            if choice.allows(section) and not (limited and left[section.resource] <= 0):
                choice = choice.with_section(section)
                if limited:
                    left[section.resource] -= 1
                for name, count in self.inside.get(section.cpi, {}).items():
                    if name in left:
                        left[name] += count
        return choice.sections


def total(sections: Sequence[RequestSection]) -> Time:
    """The duration of all of them."""
    return sum(section.duration for section in sections)


def waits(workload: Workload, demands: Demands, task: WorkloadTask, *, equals: bool = False) -> PossibleWaits:
    """What a job of `task` can wait for. `equals`: tasks of the same priority, too, as Cucinotta et al. have
    it; what they do counts as interference already."""
    lower = [
        each
        for each in (*workload.tasks, *workload.background)
        if each.priority < task.priority + equals and each.name != task.name
    ]
    found = _Sections(workload, demands, task, WAYS)
    sections = found.of_all(lower)
    names = dict.fromkeys(section.cpi for section in sections)
    locks = dict.fromkeys(workload.lock[name] for name in names)
    requests = {lock: demands.requests_from(task.priority, lock) for lock in locks}
    inside = {
        name: workload.locks_below[name]
        for name in names
        if workload.rules[name].lock  # else a step of a request, in which none is made
    }
    return PossibleWaits(sections, requests, found.every_way, inside, workload.any_order)


class _Sections:
    """The sections of other tasks that can keep a job of `task` waiting.

    Where there are more than `most` ways on which the tasks come to CPIs, `every_way` is false and one way to
    each CPI is looked at: the same CPIs and durations, but not all sets of locks held around them."""

    def __init__(self, workload: Workload, demands: Demands, task: WorkloadTask, most: int) -> None:
        self._workload = workload
        self._most = most
        self._demands = demands
        self._task = task
        self._steps_differ = any(alone != below for alone, below in demands.steps.values())
        self._ways = 0
        self.every_way = True
        self._leads: set[str] = set()  # CPIs that a job may wait for, and those that request one
        for cpi in reversed(workload.order):
            own = workload.rules[cpi.name].own_priority
            highest = max(cpi.ceiling if own else 0, workload.urgent[workload.lock[cpi.name]][0])
            if highest >= task.priority or not self._leads.isdisjoint(cpi.requests):
                self._leads.add(cpi.name)

    def of_all(self, others: Sequence[WorkloadTask]) -> tuple[RequestSection, ...]:
        found = tuple(section for other in others for section in self._of(other))
        if self.every_way:
            return found
        return tuple(section for other in others for section in self._of(other))

    def _of(self, other: WorkloadTask) -> Iterator[RequestSection]:
        workload, steps = self._workload, self._demands.steps
        ways = [(name, frozenset[str]()) for name in other.requests if name in self._leads]
        seen = {self._key(*way) for way in ways}
        every_way = self.every_way
        fewest = {name: [held] for name, held in ways if self._enters_no_ceiling(name, held)}

        def section(name: str, held: frozenset[str], duration: Time, *, at_ceiling: bool) -> RequestSection:
            return RequestSection(
                task=other.name,
                cpi=name,
                duration=duration,
                held=held,
                at_ceiling=at_ceiling,
                priority=other.priority,
                enters=self._enters(other, held, at_ceiling=at_ceiling),
                lock=workload.lock[name],
            )

        for name, held in ways:
            self._ways += 1
            if every_way and self._ways > self._most:
                self.every_way = False
                return
            rules, lock = workload.rules[name], workload.lock[name]
            alone, below_lock = steps[name]
            step = below_lock if not workload.contended.isdisjoint(held) else alone
            if not self.every_way:  # there may be a way with other locks
                step = max(alone, below_lock)
            if step and other.priority < self._task.priority <= workload.urgent[lock][0]:
                yield section(name, held, step, at_ceiling=True)
            if self._waited_for(name, rules, other):
                duration = self._demands.of_request[name]
                yield section(name, held, duration, at_ceiling=rules.own_priority)
                continue
            below = held | {lock} if rules.lock else held
            for callee in workload.cpi[name].requests:
                key = self._key(callee, below)
                if key not in seen and callee in self._leads and not self._is_worse(callee, below, fewest):
                    seen.add(key)
                    ways.append((callee, below))

    def _is_worse(self, name: str, held: frozenset[str], fewest: dict[str, list[frozenset[str]]]) -> bool:
        """Whether there is a way to a CPI on which the task has fewer locks, and excludes nothing by
        ceilings: the same sections, which exclude less."""
        if self._steps_differ:  # by the locks that are held
            return False
        found = fewest.setdefault(name, [])
        if any(fewer <= held for fewer in found):
            return True
        if self._enters_no_ceiling(name, held):
            found.append(held)
        return False

    def _enters_no_ceiling(self, name: str, held: frozenset[str]) -> bool:
        """Whether no section at a CPI or below it has ceilings that it enters: `_enters` ends at the first
        lock for which the task may inherit."""
        if held:
            first = min(held, key=self._workload.position.__getitem__)
            return not self._workload.of_lock[first][0].protocol.own_priority
        return name not in self._demands.with_ceilings

    def _enters(
        self, other: WorkloadTask, held: frozenset[str], *, at_ceiling: bool
    ) -> tuple[tuple[int, float], ...]:
        """The ceilings on the way to a section, up to the first lock for which the task may inherit."""
        if not held and not at_ceiling:
            return ()
        found: list[tuple[int, float]] = []
        low = other.priority
        for lock in sorted(held, key=self._workload.position.__getitem__):
            cpi = self._workload.of_lock[lock][0]
            if not cpi.protocol.own_priority:
                return tuple(found)
            found.append((low, cpi.ceiling))
            low = max(low, cpi.ceiling)
        return (*found, (low, inf)) if at_ceiling else tuple(found)

    def _key(self, name: str, held: frozenset[str]) -> tuple[str, frozenset[str]]:
        """What no two ways have in common."""
        return name, held if self.every_way else frozenset()

    def _waited_for(self, name: str, rules: Rules, other: WorkloadTask) -> bool:
        """Whether the other task, while it is served by the CPI, can execute before the job."""
        if rules.own_priority:
            return other.priority < self._task.priority <= self._workload.cpi[name].ceiling
        highest, first, next_highest = self._workload.urgent[self._workload.lock[name]]
        arriving = next_highest if first == other.name else highest
        return rules.inherits and arriving >= self._task.priority


class Sums(Struct, frozen=True):
    """The sum of each task's longest section, and for each resource the longest section of each task in it,
    the longest first."""

    of_tasks: Time
    of_resources: Mapping[str, Sequence[Time]]

    def within(self, limits: Limits) -> Time:
        """The lesser of the sum over the tasks and the one over the CPIs."""
        longest = (sum(times[: limits.get(name, 1)]) for name, times in self.of_resources.items())
        return min(self.of_tasks, sum(longest))


def sums(found: Iterable[RequestSection]) -> Sums:
    by_task: dict[str, Time] = {}
    by_resource: dict[str, dict[str, Time]] = {}
    for section in found:
        by_task[section.task] = max(section.duration, by_task.get(section.task, 0))
        of_tasks = by_resource.setdefault(section.resource, {})
        of_tasks[section.task] = max(section.duration, of_tasks.get(section.task, 0))
    ordered = {name: sorted(of_tasks.values(), reverse=True) for name, of_tasks in by_resource.items()}
    return Sums(sum(by_task.values()), ordered)


def assign(found: Sequence[RequestSection], limits: Limits) -> tuple[RequestSection, ...]:
    """The sections of the greatest sum in which no task is there twice, and no CPI above its limit."""
    best: dict[str, dict[str, RequestSection]] = {}  # by task and resource
    for section in found:
        of_task = best.setdefault(section.task, {})
        before = of_task.get(section.resource)
        if before is None or before.duration < section.duration:
            of_task[section.resource] = section
    values = {
        task: {name: section.duration for name, section in of_task.items()} for task, of_task in best.items()
    }
    return tuple(best[task][name] for task, name in matched(values, limits).items())


class _Choice(Struct, frozen=True):
    """Sections that are compatible, and what decides whether another one is compatible with them."""

    sections: tuple[RequestSection, ...] = ()
    sum: Time = 0
    held: frozenset[str] = frozenset()
    #: between which priorities no other task can be
    closed: tuple[tuple[int, float], ...] = ()

    def allows(self, section: RequestSection) -> bool:
        return (
            self.held.isdisjoint(section.held)
            and not (self.closed and any(low < section.priority < high for low, high in self.closed))
            and not (section.enters and any(section.excludes(other) for other in self.sections))
        )

    def with_section(self, section: RequestSection) -> _Choice:
        return _Choice(
            (*self.sections, section),
            self.sum + section.duration,
            self.held | section.held,
            self.closed + section.enters,
        )
