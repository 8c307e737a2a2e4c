# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The model of a system for the analysis: tasks, CPIs, and how often each requests which CPI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from graphlib import TopologicalSorter
from heapq import nlargest
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.conditions import HelpedWait, helped_waits, servers
from camkes.analysis.obstacles import Obstacle, domain_of, endless_wait, find_obstacles, in_slots
from camkes.analysis.supply import ALWAYS, Supply, supply_of
from camkes.model.protocols import TABLE, Protocol, Rules
from camkes.model.system import System, Task
from camkes.protocols.cycles import reached
from camkes.protocols.jobs import find_jobs
from camkes.protocols.plan import Plan, PlannedTask
from camkes.protocols.releases import emitting_ends, writers

#: The period, in nanoseconds, of a task that has none, and the deadline of one that need not end.
NEVER = 1 << 62


class WorkloadCpi(Struct, frozen=True):
    """A component procedure interface. `work` is the execution time of one request without what it
    requests; `requests` says how many requests one makes to which CPIs; `ceiling` is the priority that a
    `fixed` CPI executes at, 255 for a non-preemptive one, and means nothing for the others. CPIs
    with the same `lock`, which are `inherited`, exclude each other: those of a monitor, and each `wait` for a
    signal of the same servers (see `camkes.analysis.conditions`); the others have locks of their own. Waits
    are served in `any_order`, or else the most urgent first, as all others are. `pool` threads serve requests
    of more tasks than these; 0: there is no pool, a request never waits for a thread in either case.
    `managed`: a manager keeps those that wait, also those for a `fixed` CPI, on an MCS kernel. `helpers` end
    a wait. `domain` is that of its threads."""

    name: str
    protocol: Protocol
    work: int
    requests: Mapping[str, int] = {}
    ceiling: int = 0
    lock: str = ""
    any_order: bool = False
    pool: int = 0
    wait: bool = False
    managed: bool = False
    helpers: tuple[str, ...] = ()
    domain: int = 0


class WorkloadTask(Struct, frozen=True):
    """A task. `work` is the execution time of a job without its requests, `period` the least time between
    two releases, `deadline` counts from the release and may be longer than the period. `after` is the task
    whose jobs release its jobs, by an event; then these come up to `jitter` after the first of such a chain
    was released, of whose task the period is. `timed`: a timer releases its jobs. The period and the deadline
    can be `NEVER`.
    `reads`: tasks that write, in each job, what its jobs read. `band`: what orders it by its deadlines, among
    tasks of this band; the priority is then its place in the order of relative deadlines. `domain`: the
    scheduling domain in whose slots it executes."""

    name: str
    priority: int
    period: int
    deadline: int
    work: int
    requests: Mapping[str, int] = {}
    after: str = ""
    jitter: int | Fraction = 0
    timed: bool = True
    reads: tuple[str, ...] = ()
    band: str = ""
    domain: int = 0
    #: the interfaces ("inst.iface") that emit the event of `after`
    event: tuple[str, ...] = ()

    @property
    def has_deadline(self) -> bool:
        """Whether its jobs have to end in some time."""
        return self.deadline < NEVER


_Party = TypeVar("_Party", WorkloadTask, WorkloadCpi)


class Workload(Struct, frozen=True, dict=True):
    """Tasks and CPIs of one processor. Requests have no cycle: those of waits that would close one, and so
    have no bound, are left out. `background` are tasks of which it is not known when they are released: they
    have no bound, and neither have tasks up to their priorities; those above wait for their sections.
    `obstacles` keep responses from having a bound. `supplies`: what a schedule gives the domains of tasks;
    none where they have the processor at all times."""

    tasks: tuple[WorkloadTask, ...]
    cpis: tuple[WorkloadCpi, ...]
    background: tuple[WorkloadTask, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    supplies: Mapping[int, Supply] = {}

    @cached_property
    def parts(self) -> tuple[tuple[Supply, Workload], ...]:
        """What each domain gets, and its tasks and CPIs: none is executed, or waits, for those of another."""
        if not self.supplies:
            return ((ALWAYS, self),)
        return tuple((supply, self._part(domain)) for domain, supply in self.supplies.items())

    def part_of(self, name: str) -> tuple[Supply, Workload]:
        """What the domain of a task gets, and its tasks and CPIs; all of them where there is no such task."""
        parts = (each for each in self.parts if any(task.name == name for task in each[1].tasks))
        return next(parts, (ALWAYS, self))

    def _part(self, domain: int) -> Workload:
        """The tasks and CPIs of a domain. Requests to others, which have no bound, are left out."""
        names = {cpi.name for cpi in self.cpis if cpi.domain == domain}

        def own(items: Iterable[_Party]) -> tuple[_Party, ...]:
            return tuple(
                replace(each, requests={k: n for k, n in each.requests.items() if k in names})
                for each in items
                if each.domain == domain
            )

        obstacles = (o if o.domain in (None, domain) else replace(o, priority=-1) for o in self.obstacles)
        return Workload(own(self.tasks), own(self.cpis), own(self.background), tuple(obstacles))

    @cached_property
    def lowest(self) -> Mapping[str, int]:
        """The lowest priority of each band."""
        found: dict[str, int] = {}
        for task in self.tasks:
            if task.band:
                found[task.band] = min(task.priority, found.get(task.band, task.priority))
        return found

    @cached_property
    def cpi(self) -> Mapping[str, WorkloadCpi]:
        """Each CPI by its name."""
        return {cpi.name: cpi for cpi in self.cpis}

    @cached_property
    def lock(self) -> Mapping[str, str]:
        """The lock of each CPI; one without a protocol of locks has a name for it all the same."""
        return {cpi.name: cpi.lock or cpi.name for cpi in self.cpis}

    @cached_property
    def any_order(self) -> frozenset[str]:
        """The locks whose requests are served in any order."""
        return frozenset(cpi.lock for cpi in self.cpis if cpi.any_order)

    @cached_property
    def rules(self) -> Mapping[str, Rules]:
        """What the protocol of each CPI means."""
        return {cpi.name: TABLE[cpi.protocol] for cpi in self.cpis}

    @cached_property
    def order(self) -> tuple[WorkloadCpi, ...]:
        """All CPIs, each before those that it requests."""
        graph = {cpi.name: cpi.requests.keys() for cpi in self.cpis}
        return tuple(self.cpi[name] for name in reversed([*TopologicalSorter(graph).static_order()]))

    @cached_property
    def contended(self) -> frozenset[str]:
        """The `inherited` CPIs for whose lock a request of another task may wait."""
        return frozenset(
            cpi.name
            for cpi in self.cpis
            if self.rules[cpi.name].inherits and (cpi.lock or len(self.arrivals[cpi.name]) > 1)
        )

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where each CPI is in `order`."""
        return {cpi.name: index for index, cpi in enumerate(self.order)}

    @cached_property
    def below(self) -> Mapping[str, Mapping[str, int]]:
        """How often one request to each CPI leads to requests to which others, on all ways."""
        found: dict[str, dict[str, int]] = {}
        for cpi in reversed(self.order):
            counts = found[cpi.name] = dict(cpi.requests)
            for name, count in cpi.requests.items():
                for callee, each in found[name].items():
                    counts[callee] = counts.get(callee, 0) + count * each
        return found

    @cached_property
    def locks_below(self) -> Mapping[str, Mapping[str, int]]:
        """How often one request to each CPI leads to requests to which locks."""
        found: dict[str, dict[str, int]] = {}
        for name, counts in self.below.items():
            locks = found[name] = {}
            for callee, count in counts.items():
                locks[self.lock[callee]] = locks.get(self.lock[callee], 0) + count
        return found

    @cached_property
    def urgent(self) -> Mapping[str, tuple[int, str, int]]:
        """For each lock the highest priority in `arrivals` of its CPIs, its task, and the highest of all
        other tasks; -1 where there is none."""
        merged: dict[str, dict[str, int]] = {}
        for name, arriving in self.arrivals.items():
            arrivals = merged.setdefault(self.lock[name], {})
            for task, priority in arriving.items():
                arrivals[task] = max(priority, arrivals.get(task, 0))
        found = {}
        for name, arrivals in merged.items():
            first, second = (*nlargest(2, ((arrivals[task], task) for task in arrivals)), (-1, ""), (-1, ""))[
                :2
            ]
            found[name] = (*first, second[0])
        return found

    @cached_property
    def arrivals(self) -> Mapping[str, Mapping[str, int]]:
        """For each CPI the tasks whose requests arrive there, each with the highest base priority that such a
        request can have: that of the task, or the ceiling of a `fixed` CPI on the way."""
        found: dict[str, dict[str, int]] = {cpi.name: {} for cpi in self.cpis}
        for task in (*self.tasks, *self.background):
            for name in task.requests:
                found[name][task.name] = task.priority
        for cpi in self.order:
            own = self.rules[cpi.name].own_priority
            for name in cpi.requests:
                arrivals = found[name]
                for task_name, priority in found[cpi.name].items():
                    base = cpi.ceiling if own else priority
                    arrivals[task_name] = max(base, arrivals.get(task_name, 0))
        return found


def workload_of(system: System, plan: Plan) -> Workload:
    """The workload of a planned system. Servers, which execute for jobs that wait, are left out."""
    counts: dict[str, dict[str, int]] = {}
    for request in plan.requests:
        callees = counts.setdefault(request.caller, {})
        callees[request.callee] = callees.get(request.callee, 0) + request.count
    serving = servers(system, plan)
    waits = tuple(helped_waits(plan, serving))
    for wait in waits:
        for caller in wait.waiting:
            counts.setdefault(caller, {})[wait.condition] = 1
    planned = {task.name: task for task in plan.tasks}
    jobs, read = find_jobs(system, plan), writers(system, plan)
    supplies = _supplies(system, plan)
    ends = emitting_ends(system)

    def task_of(task: Task) -> WorkloadTask:
        own = jobs[task.instance]
        return WorkloadTask(
            name=task.instance,
            priority=_priority(planned[task.instance], system),
            period=NEVER if own.period is None else own.period,
            deadline=NEVER if own.deadline is None else own.deadline,
            work=task.wcet or 0,
            requests=counts.get(task.instance, {}),
            after=own.follows,
            timed=not task.release,
            reads=tuple(n for n in read.get(task.instance, ()) if jobs[n].period is not None),
            band="" if (band := planned[task.instance].band) is None else band.instance,
            domain=domain_of(system, task.instance),
            event=ends.get(task.instance, ()) if own.follows else (),
        )

    tasks = [task_of(task) for task in system.tasks if task.instance not in serving]
    ceilings = {cpi.name: cpi.ceiling for cpi in plan.cpis}
    pools = {cpi.name: cpi.threads for cpi in plan.cpis if cpi.pooled}
    managed = {cpi.name for cpi in plan.cpis if cpi.manager and len(cpi.contexts) > 1}
    cpis = tuple(
        WorkloadCpi(
            cpi.name,
            cpi.protocol,
            cpi.wcet or 0,
            counts.get(cpi.name, {}),
            ceilings[cpi.name],
            "" if cpi.monitor is None else cpi.lock_name,
            pool=pools.get(cpi.name, 0),
            managed=cpi.name in managed,
            domain=domain_of(system, cpi.instance, cpi.interface),
        )
        for cpi in system.cpis
    )
    any_order = {wait.lock for wait in waits if not all(_urgent_first(system, name) for name in wait.helpers)}
    of_waits = [
        _cpi_of(wait, counts, wait.lock in any_order, domain_of(system, wait.condition.partition(".")[0]))
        for wait in waits
    ]
    called = {cpi.name: cpi.requests.keys() for cpi in (*cpis, *of_waits)}
    back = {
        wait.name: {name for name in wait.requests if wait.name in reached([name], called.__getitem__)}
        for wait in of_waits
    }
    of_waits = [
        replace(wait, requests={k: n for k, n in wait.requests.items() if k not in back[wait.name]})
        for wait in of_waits
    ]
    endless = [endless_wait(plan, name) for name, found in back.items() if found]
    return Workload(
        tasks=tuple(task for task in tasks if task.period < NEVER),
        cpis=(*cpis, *of_waits),
        background=tuple(task for task in tasks if task.period == NEVER),
        obstacles=(*find_obstacles(system, plan), *endless) if plan.tasks else (),
        supplies=supplies,
    )


def _supplies(system: System, plan: Plan) -> Mapping[int, Supply]:
    """What the schedule of domains gives those that tasks are in. Tasks of an MCS kernel are not analysed
    under one (`obstacles`)."""
    if not in_slots(system):
        return {}
    domains = sorted({domain_of(system, task.name) for task in plan.tasks})
    return {domain: supply_of(system.slots, domain) for domain in domains}


def _priority(task: PlannedTask, system: System) -> int:
    """Its own, or in a band one more for each task with a longer relative deadline."""
    if task.band is None:
        return task.priority
    deadlines = {t.instance: t.relative_deadline or 0 for t in system.tasks}
    longer = sum(deadlines[name] > deadlines[task.name] for name in task.band.tasks)
    return task.band.lowest + longer


def _urgent_first(system: System, name: str) -> bool:
    instance = system.instance(name)
    return instance is not None and bool(instance.configured.control.urgent_first)


def _cpi_of(
    wait: HelpedWait, counts: Mapping[str, Mapping[str, int]], any_order: bool, domain: int
) -> WorkloadCpi:
    """A wait as a request, in which its helpers request what they do in a job."""
    requests = dict.fromkeys(wait.conditions, 1)
    for helper in wait.helpers:
        requests |= counts.get(helper, {})
    inherited = next(protocol for protocol in Protocol if protocol.inherits)
    return WorkloadCpi(
        name=wait.condition,
        protocol=inherited,
        work=wait.work,
        requests=requests,
        lock=wait.lock,
        any_order=any_order,
        wait=True,
        helpers=wait.helpers,
        domain=domain,
    )
