# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The model of a system for the analysis: tasks, CPIs, and how often each requests which CPI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from heapq import nlargest
from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.conditions import HelpedWait, helped_waits, servers
from camkes.analysis.methods import methods_of
from camkes.analysis.obstacles import Obstacle, domain_of, endless_wait, find_obstacles, in_slots
from camkes.analysis.supply import ALWAYS, Supply, supply_of
from camkes.model.protocols import TABLE, Protocol, Rules
from camkes.model.system import System, Task
from camkes.protocols.cycles import reached
from camkes.protocols.jobs import find_jobs
from camkes.protocols.plan import Plan, PlannedTask
from camkes.protocols.releases import emissions, emitting_ends, writers
from camkes.protocols.requests import method_node
from camkes.protocols.timers import timer_count

#: The period, in nanoseconds, of a task that has none, and the deadline of one that need not end.
NEVER = 1 << 62


class WorkloadCpi(Struct, frozen=True):
    """A component procedure interface, or methods of one. `work` is the execution time of one request without
    what it requests; `requests` says how many requests one makes to which CPIs; `ceiling` is the priority
    that a `fixed` CPI executes at, 255 for a non-preemptive one, and means nothing for the others. CPIs with
    the same `lock`, of the same protocol and ceiling, exclude each other: the methods of an interface, where
    these differ, the CPIs of a monitor, and each `wait` for a signal of the same servers (see
    `camkes.analysis.conditions`); the others have locks of their own. `methods` of the CPI `interface`
    (empty: itself) are those that one can be a request to. Waits are served in `any_order`, or else the most
    urgent first, as all others are. `pool` threads serve requests of more tasks than these; 0: there is no
    pool, a request never waits for a thread in either case. `managed`: a manager keeps those that wait, also
    those for a `fixed` CPI, on an MCS kernel; there, `limited` says that requests to it have budgets that can
    end. `helpers` end a wait. `domain` is that of its threads. `emits`: a request emits so many events, and a
    wait those of its helpers, at most."""

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
    limited: bool = False
    helpers: tuple[str, ...] = ()
    domain: int = 0
    interface: str = ""
    methods: tuple[str, ...] = ()
    emits: int = 0

    @property
    def cpi(self) -> str:
        """The CPI that it is, or has methods of."""
        return self.interface or self.name

    @property
    def names(self) -> frozenset[str]:
        """What is about it: its own name, that of its CPI, and those of its methods (`method_node`)."""
        return frozenset({self.name, self.cpi, *(method_node(self.cpi, method) for method in self.methods)})


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
    #: how many events a job's own code emits, at most
    emits: int = 0

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
    none where they have the processor at all times. `timers` are those that the system has beside the timed
    ones of `tasks`."""

    tasks: tuple[WorkloadTask, ...]
    cpis: tuple[WorkloadCpi, ...]
    background: tuple[WorkloadTask, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    supplies: Mapping[int, Supply] = {}
    timers: int = 0

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
    def of_lock(self) -> Mapping[str, tuple[WorkloadCpi, ...]]:
        """The CPIs that have each lock."""
        found: dict[str, list[WorkloadCpi]] = {}
        for cpi in self.cpis:
            found.setdefault(self.lock[cpi.name], []).append(cpi)
        return {lock: tuple(cpis) for lock, cpis in found.items()}

    @cached_property
    def order(self) -> tuple[WorkloadCpi, ...]:
        """All CPIs, each before those that it requests; those that have a lock follow each other, where no
        request to one leads to another one with its lock."""
        locks = {
            lock: {self.lock[name]: None for cpi in cpis for name in cpi.requests}
            for lock, cpis in self.of_lock.items()
        }
        try:
            found = [cpi for lock in TopologicalSorter(locks).static_order() for cpi in self.of_lock[lock]]
        except CycleError:
            graph = {cpi.name: cpi.requests.keys() for cpi in self.cpis}
            found = [self.cpi[name] for name in TopologicalSorter(graph).static_order()]
        return tuple(reversed(found))

    @cached_property
    def contended(self) -> frozenset[str]:
        """The locks of `inherited` CPIs for which a request of another task may wait."""
        return frozenset(
            lock
            for lock, cpis in self.of_lock.items()
            if cpis[0].protocol.inherits
            and (
                any(cpi.lock and cpi.lock != cpi.cpi for cpi in cpis)
                or len(set().union(*(self.arrivals[cpi.name] for cpi in cpis))) > 1
            )
        )

    @cached_property
    def taking_turns(self) -> frozenset[str]:
        """The locks of `fixed` CPIs at whose ceiling requests of several tasks arrive. One can be made while
        another is served, as threads of equal priority take turns."""

        def at_ceiling(cpi: WorkloadCpi) -> set[str]:
            return {task for task, priority in self.arrivals[cpi.name].items() if priority >= cpi.ceiling}

        return frozenset(
            lock
            for lock, cpis in self.of_lock.items()
            if cpis[0].protocol.own_priority and len(set().union(*map(at_ceiling, cpis))) > 1
        )

    @cached_property
    def often_taken(self) -> frozenset[str]:
        """The locks of `fixed` CPIs with managers that any request can find taken: its holder can be without
        a budget, or give way to an equal, or wait for a signal. Others are found taken only by tasks of the
        ceiling's priority (docs/analysis.md)."""

        def often(cpi: WorkloadCpi) -> bool:
            return cpi.limited or any(self.cpi[name].wait for name in self.below[cpi.name])

        return frozenset(
            lock
            for lock, cpis in self.of_lock.items()
            if any(cpi.protocol.own_priority and cpi.managed for cpi in cpis)
            and (lock in self.taking_turns or any(map(often, cpis)))
        )

    @cached_property
    def waits_in_kernel(self) -> bool:
        """Whether requests of several tasks to a `fixed` CPI wait in the kernel, without a manager."""
        return any(
            cpi.protocol.own_priority and not cpi.managed and len(self.arrivals[cpi.name]) > 1
            for cpi in self.cpis
        )

    @cached_property
    def most_following(self) -> int:
        """The most tasks that follow one task by events."""
        heads: dict[str, int] = {}
        before = {task.name: task.after for task in self.tasks}
        for task in self.tasks:
            head = task.name
            for _ in self.tasks:  # no chain is longer
                head = before.get(head) or head
            heads[head] = heads.get(head, -1) + 1
        return max(heads.values(), default=0)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where the CPIs of each lock are in `order`, the first of them."""
        found: dict[str, int] = {}
        for index, cpi in enumerate(self.order):
            found.setdefault(self.lock[cpi.name], index)
        return found

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
        """For each lock the highest priority in `pressing` of its CPIs, its task, and the highest of all
        other tasks; -1 where there is none."""
        merged: dict[str, dict[str, int]] = {}
        for name, arriving in self.pressing.items():
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
    def pressing(self) -> Mapping[str, Mapping[str, int]]:
        """The same as `arrivals`, and the tasks that can wait for a request there, as they wait for the lock
        of one that makes it at another CPI with this lock: its holder inherits from them, too."""
        if all(len(cpis) == 1 for cpis in self.of_lock.values()):
            return self.arrivals
        found = {name: dict(arriving) for name, arriving in self.arrivals.items()}
        grown = True
        while grown:
            grown = False
            for cpi in self.order:
                others = self.of_lock[self.lock[cpi.name]]
                if self.rules[cpi.name].own_priority or not cpi.requests:
                    continue  # whoever requests it has its ceiling
                for task_name, priority in [pair for o in others for pair in found[o.name].items()]:
                    for name in cpi.requests:
                        if found[name].get(task_name, -1) < priority:
                            found[name][task_name] = priority
                            grown = True
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


def with_emissions(workload: Workload, counted: Mapping[str, int] = MappingProxyType({})) -> Workload:
    """The workload in which tasks and CPIs have how many events they emit. Where that is not `counted`, they
    emit one for each task that their events release: where it is not known which interface emits it, it is
    one of the task."""
    every = (*workload.tasks, *workload.background)
    emitted = Counter(
        instance
        for task in every
        if task.after
        for instance in {end.rpartition(".")[0] for end in task.event} or {task.after}
    )

    def emits(name: str, instance: str) -> int:
        return counted[name] if name in counted else emitted[instance]

    return replace(
        workload,
        tasks=tuple(replace(task, emits=emits(task.name, task.name)) for task in workload.tasks),
        background=tuple(replace(task, emits=emits(task.name, task.name)) for task in workload.background),
        cpis=tuple(
            replace(
                cpi,
                emits=emits(cpi.cpi, cpi.cpi.rpartition(".")[0]) + sum(emits(h, h) for h in cpi.helpers),
            )
            for cpi in workload.cpis
        ),
    )


def workload_of(system: System, plan: Plan) -> Workload:
    """The workload of a planned system. Servers, which execute for jobs that wait, are left out."""
    serving = servers(system, plan)
    waits = tuple(helped_waits(plan, serving))
    methods = methods_of(system, plan)
    counts: dict[str, dict[str, int]] = {name: dict(requests) for name, requests in methods.requests.items()}
    for wait in waits:
        for caller in wait.waiting:
            for name in methods.of_cpi.get(caller, (caller,)):
                counts.setdefault(name, {})[wait.condition] = 1
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
    with_budgets = {task.name for task in plan.tasks if task.time is not None and task.time.limited}
    limited = {cpi.name for cpi in plan.cpis if not with_budgets.isdisjoint(cpi.tasks)}
    cpis = tuple(
        WorkloadCpi(
            name,
            cpi.protocol,
            methods.work[name],
            counts.get(name, {}),
            ceilings[cpi.name],
            cpi.lock_name if cpi.monitor is not None or (several and cpi.protocol.lock) else "",
            pool=pools.get(cpi.name, 0),
            managed=cpi.name in managed,
            limited=cpi.name in limited,
            domain=domain_of(system, cpi.instance, cpi.interface),
            interface=cpi.name,
            methods=methods.methods[name],
        )
        for cpi in system.cpis
        for several in (len(methods.of_cpi[cpi.name]) > 1,)
        for name in methods.of_cpi[cpi.name]
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
    return with_emissions(
        Workload(
            tasks=tuple(task for task in tasks if task.period < NEVER),
            cpis=(*cpis, *of_waits),
            background=tuple(task for task in tasks if task.period == NEVER),
            obstacles=(*find_obstacles(system, plan), *endless) if plan.tasks else (),
            supplies=supplies,
            timers=timer_count(system, plan) - sum(task.timed and task.period < NEVER for task in tasks),
        ),
        _counted_emissions(system, plan),
    )


def _counted_emissions(system: System, plan: Plan) -> Mapping[str, int]:
    """How many events tasks and CPIs emit, where that is known of all."""
    found = {}
    for name, ends in emissions(system, plan).items():
        known = [count for count in ends.values() if count is not None]
        if len(known) == len(ends):
            found[name] = sum(known)
    return found


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
