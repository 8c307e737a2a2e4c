# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How long tasks of lower priority can keep a job waiting.

A task of lower priority executes while a job waits only in a section: while it holds a lock for which
a request of at least the job's priority can wait (`inherited`), or executes at a ceiling of at least that
priority (`fixed`). It was in its section, or in the queue for it, when the job was released, for it cannot
request anything more before the job ends. Hence each task counts once, with its outermost section, whole.

A lock counts as often as a task of at least the job's priority requests it while the job is under way: when
such a
request is over, the lock goes to the next in the queue, who may be a task of lower priority, and the next
request finds it taken. Where each lock is requested once, it counts once, as in Lemma 2 of Cucinotta et al.;
for more requests the lemma does not hold.

Of the sections of `fixed` CPIs, and of the halves of requests that some runtimes execute at a ceiling, there
is at most one in all: who is in one keeps all others of lower priority from entering another.

docs/analysis.md has the arguments. Sources: Sudvarg et al. 2024, Eqs. 5 and 6, for `fixed`; Cucinotta et al.,
Eqs. 2 to 5, for `inherited` that is not nested. The nested case, and mixtures, are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from camkes.analysis.demand import Demands, Time
from camkes.analysis.platform import Platform
from camkes.analysis.workload import Cpi, Task, Workload

#: How many partial choices the exact search looks at.
SEARCH_LIMIT = 20_000

#: Stands for the one section at a ceiling that a job can wait for.
_CEILING = "at a ceiling"


class Section(Struct, frozen=True):
    """A section of `task`, of base priority `priority`, that can keep a job waiting: a request to `cpi` for
    `duration` nanoseconds. While it lasts, the task is also in the CPIs `held`, which no task of the job's
    priority has need."""

    task: str
    cpi: str
    duration: Time
    held: frozenset[str] = frozenset()
    at_ceiling: bool = False
    priority: int = 0

    def excludes(self, other: Section) -> bool:
        """Whether a task cannot have entered this section while another one was in `other`: at a ceiling that
        it enters with its own priority, which is lower. Whoever keeps the other from ending goes first."""
        return self.at_ceiling and not self.held and self.priority < other.priority

    @property
    def resource(self) -> str:
        """What two sections of different tasks cannot both have."""
        return _CEILING if self.at_ceiling else self.cpi


class Blocking(Struct, frozen=True):
    """The blocking of a task's job, in nanoseconds: `classic`, the lesser of two sums; `assignment`, no
    task twice and no CPI more often than it is requested; `exact`, and no two sections exclude each other.
    `assignment` is None where SciPy is not installed and `exact` where the search did not end within its
    limit. `sections` are those that make the least of them, where it is one of these two."""

    classic: Time
    assignment: Time | None
    exact: Time | None
    sections: tuple[Section, ...]

    @property
    def least(self) -> Time:
        return next(each for each in (self.exact, self.assignment, self.classic) if each is not None)


NONE = Blocking(0, 0, 0, ())

#: How often each resource can make a job wait; once, where nothing is said.
Limits = Mapping[str, int]


class Waits(Struct, frozen=True):
    """What a job of a task can wait for. `requests` are, for each CPI, the jobs that request it at the task's
    priority or above: (period, requests of a job). `nested` are the requests to it in all sections."""

    sections: tuple[Section, ...]
    requests: Mapping[str, tuple[tuple[int, int], ...]]
    nested: Mapping[str, int]

    def limits(self, window: Time) -> Limits:
        """How often each CPI can make the job wait in a window of so many nanoseconds."""
        tasks: dict[str, set[str]] = {}
        for section in self.sections:
            if not section.at_ceiling:
                tasks.setdefault(section.cpi, set()).add(section.task)
        return {
            cpi: min(
                len(names),
                self.nested.get(cpi, 0)
                + sum(-(-window // period) * count for period, count in self.requests.get(cpi, ())),
            )
            for cpi, names in tasks.items()
        }

    def within(self, window: Time, limit: int = SEARCH_LIMIT) -> Blocking:
        """The blocking in a window of so many nanoseconds; `limit` is that of the exact search."""
        if not self.sections:
            return NONE
        limits = self.limits(window)
        assigned = assign(self.sections, limits)
        searched = assigned if assigned is not None and compatible(assigned) else None
        if searched is None:
            searched = search(self.sections, limits, limit)
        return Blocking(
            classic(self.sections, limits),
            None if assigned is None else total(assigned),
            None if searched is None else total(searched),
            next((chosen for chosen in (searched, assigned) if chosen is not None), ()),
        )


def compatible(sections: Sequence[Section]) -> bool:
    """Whether no lock is held by two tasks and no section excludes another."""
    return all(
        one.held.isdisjoint(two.held) and not one.excludes(two) and not two.excludes(one)
        for one, two in combinations(sections, 2)
    )


def total(sections: Sequence[Section]) -> Time:
    """The duration of all of them."""
    return sum(section.duration for section in sections)


def waits(workload: Workload, demands: Demands, platform: Platform, task: Task) -> Waits:
    """What a job of `task` can wait for."""
    found: dict[tuple[str, str, frozenset[str]], Section] = {}
    for other in workload.tasks:
        if other.name != task.name and other.priority <= task.priority:
            for section in _Sections(workload, demands, platform, task, other).all():
                found[section.task, section.cpi, section.held] = section
    requests: dict[str, tuple[tuple[int, int], ...]] = {}
    for other in workload.tasks:
        if other.priority >= task.priority:
            for part in demands.of_task[other.name].parts:
                requests[part.cpi] = (*requests.get(part.cpi, ()), (other.period, part.count))
    return Waits(tuple(found.values()), requests, _nested(workload, found.values()))


def _nested(workload: Workload, found: Iterable[Section]) -> Mapping[str, int]:
    """How often all tasks together request each CPI in their sections, each in the one where it does most."""
    below: dict[str, dict[str, int]] = {}
    for cpi in reversed(workload.order):
        counts = below[cpi.name] = dict(cpi.requests)
        for name, count in cpi.requests.items():
            for callee, each in below[name].items():
                counts[callee] = counts.get(callee, 0) + count * each
    most: dict[tuple[str, str], int] = {}
    for section in found:
        if section.at_ceiling and not workload.cpi[section.cpi].protocol.own_priority:
            continue  # half of a request, in which none is made
        for callee, count in below[section.cpi].items():
            most[section.task, callee] = max(count, most.get((section.task, callee), 0))
    sums: dict[str, int] = {}
    for (_, callee), count in most.items():
        sums[callee] = sums.get(callee, 0) + count
    return sums


class _Sections(Struct, frozen=True):
    """The sections of `other` that can keep a job of `task` waiting."""

    workload: Workload
    demands: Demands
    platform: Platform
    task: Task
    other: Task

    def all(self) -> Iterator[Section]:
        ways: list[tuple[str, frozenset[str]]] = [(name, frozenset()) for name in self.other.requests]
        seen = set(ways)
        for name, held in ways:
            cpi = self.workload.cpi[name]
            if self._waited_for(cpi):
                fixed = cpi.protocol.own_priority
                yield Section(
                    self.other.name, name, self.demands.of_request[name], held, fixed, self.other.priority
                )
                continue
            if not cpi.protocol.lock:
                below = held
                brief = self.platform.nanoseconds(self.platform.blocking_cycles())
                if brief and self._below_ceiling(max(self.workload.arrivals[name].values())):
                    yield Section(self.other.name, name, brief, held, True, self.other.priority)
            else:
                below = held | {name}
            for way in ((callee, below) for callee in cpi.requests):
                if way not in seen:
                    seen.add(way)
                    ways.append(way)

    def _waited_for(self, cpi: Cpi) -> bool:
        """Whether the other task, while it is served by the CPI, can execute before the job."""
        if cpi.protocol.own_priority:
            return self._below_ceiling(cpi.ceiling)
        arrivals = self.workload.arrivals[cpi.name].items()
        return cpi.protocol.inherits and any(
            priority >= self.task.priority for name, priority in arrivals if name != self.other.name
        )

    def _below_ceiling(self, ceiling: int) -> bool:
        return self.other.priority < self.task.priority <= ceiling


def classic(found: Sequence[Section], limits: Limits) -> Time:
    """The lesser of two sums: of each task's longest section, and of the longest sections of each CPI."""
    by_task: dict[str, Time] = {}
    by_resource: dict[str, dict[str, Time]] = {}
    for section in found:
        by_task[section.task] = max(section.duration, by_task.get(section.task, 0))
        of_tasks = by_resource.setdefault(section.resource, {})
        of_tasks[section.task] = max(section.duration, of_tasks.get(section.task, 0))
    longest = [
        sum(sorted(of_tasks.values(), reverse=True)[: limits.get(name, 1)])
        for name, of_tasks in by_resource.items()
    ]
    return min(sum(by_task.values()), sum(longest))


def assign(found: Sequence[Section], limits: Limits) -> tuple[Section, ...] | None:
    """The sections of the greatest sum in which no task is there twice, and no CPI above its limit. None
    where it takes SciPy, which is not installed."""
    best: dict[tuple[str, str], Section] = {}
    for section in found:
        key = section.task, section.resource
        if key not in best or best[key].duration < section.duration:
            best[key] = section
    tasks = list(dict.fromkeys(name for name, _ in best))
    names = dict.fromkeys(name for _, name in best)
    resources = [name for name in names for _ in range(limits.get(name, 1))]
    if len(tasks) == 1 or len(resources) == 1:
        return (max((best[t, r] for t, r in best if r in resources), key=lambda each: each.duration),)
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        return None

    matrix = [[float(best[t, r].duration) if (t, r) in best else 0.0 for r in resources] for t in tasks]
    pairs = zip(*linear_sum_assignment(matrix, maximize=True), strict=True)
    keys = ((tasks[row], resources[column]) for row, column in pairs)
    return tuple(best[key] for key in keys if key in best)


def search(found: Sequence[Section], limits: Limits, limit: int = SEARCH_LIMIT) -> tuple[Section, ...] | None:
    """The sections of the greatest sum in which no task is there twice, no CPI above its limit, no lock is
    held by two tasks, and no section excludes another; None if there are more choices than `limit`."""
    options: dict[str, list[Section]] = {}
    for section in sorted(found, key=lambda section: -section.duration):
        options.setdefault(section.task, []).append(section)
    return _Search(list(options.values()), limits, limit).best()


class _Search:
    """Depth first, a task at a time, with the rest's longest sections as the bound."""

    def __init__(self, options: list[list[Section]], limits: Limits, limit: int) -> None:
        self._options = sorted(options, key=lambda sections: -sections[0].duration)
        longest = [sections[0].duration for sections in self._options]
        self._rest = [sum(longest[i:]) for i in range(len(longest) + 1)]
        self._limits = limits
        self._left = limit
        self._sum: Time = -1
        self._chosen: tuple[Section, ...] = ()

    def best(self) -> tuple[Section, ...] | None:
        return self._chosen if self._try(0, 0, ()) else None

    def _try(self, depth: int, sum_before: Time, chosen: tuple[Section, ...]) -> bool:
        """Whether all choices from here on were looked at."""
        if sum_before + self._rest[depth] <= self._sum:
            return True
        if depth == len(self._options):
            self._sum, self._chosen = sum_before, chosen
            return True
        self._left -= 1
        if self._left < 0:
            return False
        for section in self._options[depth]:
            if self._fits(section, chosen) and not self._try(
                depth + 1, sum_before + section.duration, (*chosen, section)
            ):
                return False
        return self._try(depth + 1, sum_before, chosen)

    def _fits(self, section: Section, chosen: Sequence[Section]) -> bool:
        taken = sum(each.resource == section.resource for each in chosen)
        return taken < self._limits.get(section.resource, 1) and all(
            compatible((section, each)) for each in chosen
        )
