# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Execution times across CPIs (Sudvarg et al. 2024, Eqs. 1, 7 and 8)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Set
from fractions import Fraction
from operator import itemgetter

from msgspec import Struct

from camkes.analysis.platform import Platform
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol

#: Nanoseconds; a fraction if a number of cycles is not a whole number of nanoseconds.
Time = int | Fraction


#: How jobs of a task request a lock: -priority, period, requests of a job, jitter.
Requesting = tuple[int, int, int, Time]


def requests_within(requests: Iterable[Requesting], window: Time) -> int:
    """How many such requests can be made in a window of so many nanoseconds, at most."""
    return sum(int(-(-(window + jitter) // period)) * count for _, period, count, jitter in requests)


class DemandPart(Struct, frozen=True):
    """What requests to one CPI add to a job: `count` requests of `work` and `overhead` nanoseconds each,
    without those that the CPI makes itself."""

    cpi: str
    count: int
    work: int
    overhead: Time

    @property
    def total(self) -> Time:
        return self.count * (self.work + self.overhead)


class Demand(Struct, frozen=True):
    """The execution time of a job: its own `work` and that of all its requests, what the managers of `fixed`
    CPIs take that it finds `taken`, and what `events` take: the one that releases it, and those that it
    emits."""

    work: int
    parts: tuple[DemandPart, ...]
    taken: Time = 0
    events: Time = 0

    @property
    def total(self) -> Time:
        return self.work + sum(part.total for part in self.parts) + self.operations

    @property
    def operations(self) -> Time:
        """What takes time beside its work and its requests."""
        return self.taken + self.events


class Demands(Struct, frozen=True):
    """For each task a job's execution time; for each CPI that of one request with all that it requests."""

    of_task: Mapping[str, Demand]
    of_request: Mapping[str, Time]
    #: for each lock the tasks that request it, the highest first
    requests: Mapping[str, tuple[Requesting, ...]]
    #: what a request to each CPI may do at its ceiling, outside and inside of a lock that others request
    steps: Mapping[str, tuple[Time, Time]]
    #: the CPIs at or below which a request enters a ceiling
    with_ceilings: Set[str]

    def requests_from(self, priority: int, lock: str) -> tuple[Requesting, ...]:
        """Those of tasks of this priority or a higher one."""
        found = self.requests[lock]
        return found[: bisect_right(found, -priority, key=itemgetter(0))]


def demands(workload: Workload, platform: Platform) -> Demands:
    """Execution times of all jobs and requests on a machine."""
    overheads = overheads_of(workload, platform)
    whole: dict[str, Time] = {}
    for cpi in reversed(workload.order):
        below = sum(count * whole[name] for name, count in cpi.requests.items())
        whole[cpi.name] = cpi.work + overheads[cpi.name] + below
    of_task = {task.name: _demand(workload, task, overheads, platform) for task in workload.tasks}
    steps = {cpi.name: _steps(platform, cpi) for cpi in workload.cpis}
    with_ceilings: set[str] = set()
    for cpi in reversed(workload.order):
        own = workload.rules[cpi.name].own_priority or any(steps[cpi.name])
        if own or not with_ceilings.isdisjoint(cpi.requests):
            with_ceilings.add(cpi.name)
    return Demands(of_task, whole, _requests(workload, of_task), steps, with_ceilings)


def _steps(platform: Platform, cpi: WorkloadCpi) -> tuple[Time, Time]:
    alone, below = (
        platform.blocking_cycles(cpi.protocol, below_lock=below, pool=cpi.pool > 0, managed=cpi.managed)
        for below in (False, True)
    )
    return platform.nanoseconds(alone), platform.nanoseconds(below)


def turn_cost(workload: Workload, platform: Platform, task: WorkloadTask) -> Time:
    """Nanoseconds that a job of a band costs beside its own work: two calls of the scheduler, and of the
    manager of each task of the band that gets another priority; a request is announced to the manager of
    the CPI, and its end is."""
    if not task.band:
        return 0
    members = sum(other.band == task.band for other in workload.tasks)
    plain, lock = platform.plain.both, platform.inherited
    each = lock.update + lock.settle + lock.clear
    cycles = 2 * plain + (members + 1) * (plain + platform.raised) + sum(task.requests.values()) * each
    return platform.nanoseconds(cycles)


def release_cost(workload: Workload, platform: Platform) -> Time:
    """Nanoseconds that a release by a timer costs. A request of a lower task to a `fixed` CPI takes longer to
    end when a task above it has become ready meanwhile: once for each job that is so released, those that
    follow it by events among them."""
    cycles = platform.release_cycles(workload.timers + sum(task.timed for task in workload.tasks))
    if workload.waits_in_kernel:
        cycles += platform.fixed.waiting * (1 + workload.most_following)
    return platform.nanoseconds(cycles)


def request_parts(workload: Workload, platform: Platform, name: str) -> tuple[DemandPart, ...]:
    """What one request to a CPI consists of: itself, and all that are made in it."""
    overheads = overheads_of(workload, platform)
    counts = {name: 1, **workload.below[name]}
    return tuple(
        DemandPart(cpi.name, counts[cpi.name], cpi.work, overheads[cpi.name])
        for cpi in workload.order
        if counts.get(cpi.name)
    )


def _requests(workload: Workload, of_task: Mapping[str, Demand]) -> dict[str, tuple[Requesting, ...]]:
    found: dict[str, list[Requesting]] = {}
    for task in sorted(workload.tasks, key=lambda task: -task.priority):
        for part in of_task[task.name].parts:
            found.setdefault(workload.lock[part.cpi], []).append(
                (-task.priority, task.period, part.count, task.jitter)
            )
    return {name: tuple(each) for name, each in found.items()}


def overheads_of(workload: Workload, platform: Platform) -> Mapping[str, Time]:
    """Nanoseconds that one request to each CPI costs beside the CPI's work."""
    chains: dict[str, tuple[Protocol, ...]] = {}
    overheads: dict[str, Time] = {}
    for cpi in reversed(workload.order):
        if cpi.name not in chains:  # a priority goes down from whoever has the lock
            holders = workload.of_lock[workload.lock[cpi.name]]
            longest = max(
                (_longest_chain(workload, each, chains, platform) for each in holders),
                key=platform.update_cycles,
            )
            chains |= dict.fromkeys((each.name for each in holders), longest)
        cycles = platform.overhead_cycles(
            cpi.protocol,
            chains[cpi.name],
            pool=cpi.pool > 0,
            managed=workload.lock[cpi.name] in workload.often_taken,
            waits=workload.lock[cpi.name] in workload.taking_turns,
        )
        overheads[cpi.name] = platform.nanoseconds(cycles + cpi.emits * platform.event.emit)
    return overheads


def _longest_chain(
    workload: Workload, cpi: WorkloadCpi, chains: Mapping[str, tuple[Protocol, ...]], platform: Platform
) -> tuple[Protocol, ...]:
    """The protocols of the CPIs below, on the way that a priority takes longest to go down. A `fixed` CPI
    ends it: its priority does not change."""
    ways = [
        (workload.cpi[name].protocol, *chains[name])
        for name in cpi.requests
        if not workload.cpi[name].protocol.own_priority and name in chains
    ]
    return max(ways, key=platform.update_cycles, default=())


def _demand(
    workload: Workload, task: WorkloadTask, overheads: Mapping[str, Time], platform: Platform
) -> Demand:
    counts: dict[str, int] = dict(task.requests)
    parts = []
    for cpi in workload.order:
        count = counts.get(cpi.name, 0)
        if count:
            parts.append(DemandPart(cpi.name, count, cpi.work, overheads[cpi.name]))
            for name, each in cpi.requests.items():
                counts[name] = counts.get(name, 0) + count * each
    taken = _found_taken(workload, task, parts) * platform.contention_cycles
    events = task.emits * platform.event.emit + (0 if task.timed else platform.event.release)
    return Demand(task.work, tuple(parts), platform.nanoseconds(taken), platform.nanoseconds(events))


def _found_taken(workload: Workload, task: WorkloadTask, parts: Iterable[DemandPart]) -> int:
    """How many requests of a job can find a `fixed` CPI taken that is not so often: of those at whose ceiling
    they arrive, one each time that the job becomes ready, at its release and after it has waited."""
    at_ceiling, waits = 0, 0
    for part in parts:
        cpi, lock = workload.cpi[part.cpi], workload.lock[part.cpi]
        arriving = workload.arrivals[part.cpi]
        if cpi.protocol.own_priority and cpi.managed and lock not in workload.often_taken:
            shared = len(set().union(*(workload.arrivals[o.name] for o in workload.of_lock[lock]))) > 1
            at_ceiling += part.count if shared and arriving[task.name] >= cpi.ceiling else 0
        waits += part.count if cpi.wait or lock in workload.contended else 0
    return min(at_ceiling, 1 + waits)
