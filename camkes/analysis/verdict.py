# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Whether each task of a workload meets its deadline, with the derivation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from functools import cache, cached_property, partial

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.assumptions import Assumption, AssumptionKind, assumed_of_tasks, find_assumptions
from camkes.analysis.blocking import NONE, Blocking, PossibleWaits, waits
from camkes.analysis.bounds import Bound, bounds, not_rate_monotonic
from camkes.analysis.chains import Chains, load_of
from camkes.analysis.codes import NO_TASKS
from camkes.analysis.deadlines import DeadlineBand
from camkes.analysis.demand import Demand, Demands, Time, demands, release_cost, turn_cost
from camkes.analysis.obstacles import Obstacle
from camkes.analysis.platform import FREE, Platform
from camkes.analysis.response import (
    OF_KERNEL,
    TICKS,
    UNINTERRUPTED,
    Load,
    Response,
    Unfinished,
    released,
    response,
)
from camkes.analysis.sections import RequestSection
from camkes.analysis.supply import ALWAYS, Supply
from camkes.analysis.unbounded import NoBound, Reason, concerned, spread, unbounded
from camkes.analysis.workload import NEVER, Workload, WorkloadTask, workload_of
from camkes.diagnostics import Sink
from camkes.model.limits import MAX_PRIORITY
from camkes.model.system import System
from camkes.protocols.plan import Plan

#: Tasks of the largest system whose responses `camkes plan` and the editor show.
BRIEF = 40

#: How often jitters are computed anew at most.
ROUNDS = 100


class Verdict(StrEnum):
    """Whether a task meets its deadline in every case."""

    MET = "met"
    MET_IF = "met if"  # it is met if what was assumed is so
    MISSED = "missed"  # it can be missed
    UNBOUNDED = "unbounded"  # responses can grow without end, or no bound was found


class TaskResult(Struct, frozen=True):
    """What was found about a task. `response` is None where there is no bound, or it takes too many steps to
    find it; `no_bound` is why. Responses of `at_least` so many nanoseconds can happen then, if that is known
    (else 0)."""

    task: WorkloadTask
    demand: Demand
    blocking: Blocking
    response: Response | None
    at_least: Time = 0
    no_bound: NoBound | None = None
    #: what the bound rests on that is not known
    assumptions: tuple[Assumption, ...] = ()
    #: whether its deadline can be missed because of budgets, which the other figures leave out
    late: bool = False
    #: the CPIs in which lower tasks can keep a job waiting
    waits_in: frozenset[str] = frozenset()
    #: the blocking if tasks of the same priority counted, too, as in Cucinotta et al. (Eqs. 2 to 5); 0 where
    #: it was not asked for
    with_equals: Time = 0

    @property
    def verdict(self) -> Verdict:
        if self.late:
            return Verdict.MISSED
        if self.response is None:
            return Verdict.MISSED if self.at_least > self.task.deadline else Verdict.UNBOUNDED
        if self.response.time > self.task.deadline:
            return Verdict.MISSED
        return Verdict.MET_IF if self.assumptions else Verdict.MET

    @property
    def slots(self) -> Time:
        """How long other domains have the processor in the window of the longest response."""
        found = self.response
        if found is None or found.phase is None:
            return 0
        needed = (found.job + 1) * self.demand.total + self.blocking.least
        return found.window - needed - sum(count * other.demand for other, count in found.interference)

    @property
    def fails(self) -> bool:
        """Whether it is not known that a deadline is met, where the task has one."""
        return self.task.has_deadline and self.verdict not in (Verdict.MET, Verdict.MET_IF)


class EventChain(Struct, frozen=True):
    """Tasks each of which releases the next one by an event, and the longest time from a release of the first
    to the end of the last; None where there is no bound."""

    tasks: tuple[str, ...]
    latency: Time | None


class DataAge(Struct, frozen=True):
    """How long before the end of a job of `reader` the first task of the chain was released that led to what
    `writer` wrote and the job read, at most; None where there is no bound."""

    writer: str
    reader: str
    age: Time | None


class Analysis(Struct, frozen=True, dict=True):
    """The result for all tasks, from the highest priority, equal ones by name, and for chains of them."""

    platform: Platform
    tasks: tuple[TaskResult, ...]
    bounds: tuple[Bound, ...]
    chains: tuple[EventChain, ...] = ()

    ages: tuple[DataAge, ...] = ()
    #: what keeps tasks from having a bound, with these tasks
    obstacles: tuple[tuple[Obstacle, tuple[str, ...]], ...] = ()
    #: nanoseconds that a release by a timer costs
    release: Time = 0

    @property
    def utilisation(self) -> float:
        """The part of the processor that jobs and their releases need."""
        return sum(
            float((result.demand.total + (self.release if result.task.timed else 0)) / result.task.period)
            for result in self.tasks
        )

    @cached_property
    def assumptions(self) -> Mapping[Assumption, int]:
        """Those of all bounds, each with its number, from 1."""
        found = dict.fromkeys(each for task in self.tasks for each in task.assumptions)
        return {each: number for number, each in enumerate(found, 1)}

    @property
    def verdict(self) -> Verdict:
        """The worst of all tasks that have a deadline."""
        found = {task.verdict for task in self.tasks if task.task.has_deadline}
        return max(found, key=list(Verdict).index, default=Verdict.UNBOUNDED)

    @property
    def good(self) -> bool:
        """Whether no deadline can be missed."""
        return not any(result.fails for result in self.tasks)


def analyse_system(
    system: System,
    plan: Plan,
    platform: Platform | None,
    sink: Sink,
    *,
    unread: Mapping[str, str] = {},
    progress: Callable[[str], None] = lambda _: None,
) -> Analysis | None:
    """The analysis of a planned system, for no `platform` with operations that cost nothing; None, and an
    error, where it has no tasks. What keeps a task with a deadline from having a bound is an error. `unread`
    is why code was not read (see `find_assumptions`). `progress` is called with what is done."""
    if not plan.tasks:
        sink.report(NO_TASKS, "the system has no tasks to analyse", help="write `requestor;` in a component")
        return None
    workload, machine = workload_of(system, plan), platform or FREE
    assumptions = find_assumptions(system, plan, platform=platform, unread=unread)
    found = with_equals(analyse(workload, machine, progress=progress), workload)
    waits_in = {each.task.name: each.waits_in for each in found.tasks}
    assumed = assumed_of_tasks(workload, waits_in, assumptions)
    results = (
        each if each.response is None else replace(each, assumptions=assumed[each.task.name])
        for each in found.tasks
    )
    found = replace(found, tasks=tuple(results), obstacles=tuple(concerned(workload).items()))
    failing = {each.task.name for each in found.tasks if each.fails}
    failing |= {each.no_bound.by for each in found.tasks if each.no_bound is not None and each.fails}
    for obstacle, tasks in found.obstacles:
        if not (tasks and failing.isdisjoint(tasks)):
            sink.add(obstacle.problem)
    return found


def with_budgets(analysis: Analysis, late: Set[str]) -> Analysis:
    """The same where `late` are the tasks that can miss a deadline because of budgets."""
    tasks = (
        replace(each, late=each.response is not None and each.task.name in late) for each in analysis.tasks
    )
    return replace(analysis, tasks=tuple(tasks))


def responses(system: System, plan: Plan, most: int = BRIEF) -> Analysis | None:
    """The analysis under the assumption that operations cost nothing, of a system all of whose times are
    stated; None for any other, without an error, and of one with more than `most` tasks, as this has to be
    quick."""
    if not any(task.wcet for task in system.tasks) or len(system.tasks) > most:
        return None
    found = analyse_system(system, plan, None, Sink())
    times = AssumptionKind.EXECUTION_TIME
    return None if found is None or any(each.kind is times for each in found.assumptions) else found


def analyse(
    workload: Workload,
    platform: Platform,
    *,
    exact: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> Analysis:
    """Execution times, blocking, bounds and response times of all tasks. Where they need not be `exact`,
    those above the deadline are any value above it.

    A task that an event releases has the latest end of the task before it as its jitter, which can make those
    end later: this is repeated until nothing changes (Tindell and Clark 1994). What the last round takes to
    have ended by some time ends by then in its results: the first job that did not would contradict them."""
    known = no_bounds(workload, platform)
    linked = any(task.after for task in workload.tasks)
    ended: dict[str, Time] = {}
    for _ in range(ROUNDS):
        before = ended
        found = _analyse(workload, platform, exact, next(iter(known), ""), before, progress)
        latest = {each.task.name: each.response.latest for each in found.tasks if each.response is not None}
        later = delayed(workload, latest)
        ended = {name: time for name, time in latest.items() if name not in known}
        if later is workload and (ended == before or not linked):
            tasks = _without_bound(workload, platform, found.tasks, known)
            latest = {name: time for name, time in latest.items() if name not in _names(tasks)}
            ages = tuple(_ages(workload, {each.task.name: each.response for each in tasks}))
            return replace(found, tasks=tasks, chains=_chains(workload, latest), ages=ages)
        workload = later
    none = NoBound(Reason.SEARCH)
    return replace(
        found, tasks=tuple(_no_bound(each, none) for each in found.tasks), chains=_chains(workload, {})
    )


def delayed(workload: Workload, latest: Mapping[str, Time]) -> Workload:
    """The workload in which each task that an event releases is as late as the task before it ends at the
    `latest`; the same one where it was so already."""
    jitters = {task.name: latest.get(task.after, 0) for task in workload.tasks}
    if all(task.jitter == jitters[task.name] for task in workload.tasks):
        return workload
    return replace(workload, tasks=tuple(replace(t, jitter=jitters[t.name]) for t in workload.tasks))


def _without_bound(
    workload: Workload, platform: Platform, results: Sequence[TaskResult], known: Mapping[str, NoBound]
) -> tuple[TaskResult, ...]:
    """The results, and those of tasks in the background, with what is `known` to have no bound, and what then
    has none either."""
    emitters = {task.after for task in workload.tasks}
    lost = {
        each.task.name: none for each in results if (none := each.no_bound) and each.task.name in emitters
    }
    found = spread(workload.tasks, {**lost, **known})
    needed = demands(replace(workload, tasks=workload.background), platform).of_task
    others = [TaskResult(task, needed[task.name], NONE, None) for task in workload.background]
    every = [
        _no_bound(each, found[each.task.name]) if each.task.name in found and each.no_bound is None else each
        for each in (*results, *others)
    ]
    return tuple(sorted(every, key=lambda each: _urgency(each.task)))


def no_bounds(workload: Workload, platform: Platform) -> dict[str, NoBound]:
    """The tasks that have no bound because of obstacles, and why."""
    found: dict[str, NoBound] = {}
    for _, part in workload.parts if workload.obstacles else ():
        needed = demands(part, platform)

        def sections(
            task: WorkloadTask, part: Workload = part, needed: Demands = needed
        ) -> Sequence[RequestSection]:
            return waits(part, needed, task).sections

        found.update(unbounded(part, sections))
    return dict(spread((*workload.tasks, *workload.background), found))


def _names(results: Sequence[TaskResult]) -> Set[str]:
    """Those of tasks without a bound."""
    return {each.task.name for each in results if each.response is None}


def _no_bound(result: TaskResult, why: NoBound) -> TaskResult:
    """The same without a bound."""
    least = result.demand.total if result.demand.total > result.task.deadline else 0
    return replace(result, response=None, at_least=least, no_bound=why)


def _chains(workload: Workload, latest: Mapping[str, Time]) -> tuple[EventChain, ...]:
    after = {task.name: task.after for task in workload.tasks if task.after}
    found = []
    for last in sorted(after.keys() - after.values()):
        names = [last]
        while names[-1] in after:
            names.append(after[names[-1]])
        bounded = latest.keys() >= set(names)
        found.append(EventChain(tuple(reversed(names)), latest[last] if bounded else None))
    return tuple(found)


def _ages(workload: Workload, responses: Mapping[str, Response | None]) -> Iterator[DataAge]:
    """What a job of the writer's chain leads to is there until the next one's is, a period and the longest
    latency after its release; the reader takes it at the end of that time, and then ends."""
    named = {task.name: task for task in workload.tasks}
    for reader in workload.tasks:
        for name in reader.reads:
            chain = [named[name]]
            while chain[-1].after:
                chain.append(named[chain[-1].after])
            written, read = responses[name], responses[reader.name]
            regular = chain[-1].timed and not any(_loses_events(each, responses) for each in chain[:-1])
            known = regular and written is not None and read is not None
            age = chain[-1].period + written.latest + read.time if known and written and read else None
            yield DataAge(name, reader.name, age)


def _loses_events(task: WorkloadTask, responses: Mapping[str, Response | None]) -> bool:
    """Whether two more events can come while a job that one released is under way: the second is lost."""
    found = responses[task.name]
    return found is None or found.time > 2 * task.period - task.jitter


def _analyse(
    workload: Workload,
    platform: Platform,
    exact: bool,
    unbounded: str,
    latest: Mapping[str, Time],
    progress: Callable[[str], None],
) -> Analysis:
    """One round; a task that is `unbounded` keeps utilisation bounds from being applied."""
    interrupts = interruptions(workload, platform)
    parts = [(supply, part, demands(part, platform)) for supply, part in workload.parts]
    of_parts = [_loads(sorted(part.tasks, key=_urgency), needed) for _, part, needed in parts]
    loads = {name: load for each in of_parts for name, load in each.items()}
    reason = not_rate_monotonic(list(loads.values()), {task.name: task.deadline for task in workload.tasks})
    if any(task.band for task in workload.tasks):
        reason = "tasks are ordered by their deadlines"
    if workload.supplies:
        reason = "tasks execute in slots of domains"
    if unbounded:
        reason = f"{unbounded} has no bound"
    results: list[TaskResult] = []
    in_period: dict[str, Time] = {}
    for (supply, part, needed), of_own in zip(parts, of_parts, strict=True):
        possible = cache(partial(_possible, part, needed))
        blocking = cache(partial(_blocking, possible))
        chains = Chains(part, latest)
        if chains and not any(task.band for task in part.tasks):
            results += _in_chains(part, chains, needed, platform, interrupts, exact, supply, progress)
        else:
            own = [*of_own.values(), *interrupts]
            alone = _counted([task for task in part.tasks if not task.band], progress)
            judged = [_result(task, needed, own, blocking(task.name), exact, supply) for task in alone]
            judged += _in_bands(part, needed, blocking, own)
            results += [replace(each, waits_in=possible(each.task.name).cpis) for each in judged]
        if not reason:
            in_period |= {task.name: blocking(task.name)(task.period).least for task in part.tasks}
    results.sort(key=lambda each: _urgency(each.task))
    found = bounds(*_with_interrupts(loads, interrupts, in_period), reason)
    return Analysis(platform, tuple(results), found, release=release_cost(workload, platform))


def _counted(tasks: Sequence[WorkloadTask], progress: Callable[[str], None]) -> Iterator[WorkloadTask]:
    """The tasks, each announced to `progress` before."""
    for number, task in enumerate(tasks, 1):
        progress(f"task {number} of {len(tasks)}: {task.name}")
        yield task


def _possible(part: Workload, needed: Demands, name: str) -> PossibleWaits:
    return waits(part, needed, next(each for each in part.tasks if each.name == name))


def _blocking(possible: Callable[[str], PossibleWaits], name: str) -> Callable[[Time], Blocking]:
    return possible(name).blocking()


def with_equals(analysis: Analysis, workload: Workload) -> Analysis:
    """The same with the blocking that each task of a workload would have with those of its own priority."""
    found = {each.task.name: each for each in analysis.tasks}
    for _, part in workload.parts:
        needed = demands(part, analysis.platform)
        for task in part.tasks:
            result = found[task.name]
            equals = result.blocking.assignment
            if _has_equals(part, task):
                window = task.period if result.response is None else result.response.window
                equals = waits(part, needed, task, equals=True).assigned(window)
            found[task.name] = replace(result, with_equals=equals)
    return replace(analysis, tasks=tuple(found.values()))


def _has_equals(workload: Workload, task: WorkloadTask) -> bool:
    """Whether tasks of the same priority make requests, which no scheduler orders by deadlines."""
    return not task.band and any(
        other.priority == task.priority and other.requests and other.name != task.name
        for other in workload.tasks
    )


def _urgency(task: WorkloadTask) -> tuple[int, str]:
    """The key by which tasks are listed."""
    return -task.priority, task.name


def _in_bands(
    part: Workload,
    needed: Demands,
    blocking: Callable[[str], Callable[[Time], Blocking]],
    loads: Sequence[Load],
) -> Iterator[TaskResult]:
    """The results of tasks that are ordered by their deadlines."""
    bands: dict[str, list[WorkloadTask]] = {}
    for task in part.tasks:
        if task.band:
            bands.setdefault(task.band, []).append(task)
    for tasks in bands.values():
        highest = max(task.priority for task in tasks)
        order = DeadlineBand(
            tasks,
            {task.name: load_of(task, needed) for task in tasks},
            [load for load in loads if load.priority > highest],
            {task.name: _least(blocking(task.name)) for task in tasks},
        )
        busy = order.busy()
        for task in tasks:
            if busy is None or isinstance(busy, Unfinished):
                yield _judged(task, needed, blocking(task.name), busy, ALWAYS)
            else:
                found, last = order.response(task, busy)
                yield _judged(task, needed, blocking(last), found, ALWAYS)


def _blocking_by(can_wait: PossibleWaits, sections: tuple[RequestSection, ...]) -> Callable[[Time], Blocking]:
    return replace(can_wait, sections=sections).blocking()


def _least(blocking: Callable[[Time], Blocking]) -> Callable[[Time], Time]:
    return lambda window: blocking(window).least


def analyse_task(workload: Workload, platform: Platform, name: str) -> TaskResult:
    """The same for one task."""
    if workload.obstacles or workload.supplies or any(task.after for task in workload.tasks):
        return next(each for each in analyse(workload, platform).tasks if each.task.name == name)
    needed = demands(workload, platform)
    task = next(each for each in workload.tasks if each.name == name)
    blocking = waits(workload, needed, task).blocking()
    loads = [*_loads(workload.tasks, needed).values(), *interruptions(workload, platform)]
    return _result(task, needed, loads, blocking)


def _loads(tasks: Sequence[WorkloadTask], needed: Demands) -> dict[str, Load]:
    return {task.name: load_of(task, needed) for task in tasks}


def interruptions(workload: Workload, platform: Platform) -> list[Load]:
    """What releases by timers need, what schedulers of bands do, interrupts of the kernel's clock, and the
    operation for a thread below that the kernel does first, above all tasks."""
    cost = release_cost(workload, platform)
    costs = {t.name: (cost if t.timed else 0) + turn_cost(workload, platform, t) for t in workload.tasks}
    of_kernel = (
        (TICKS, platform.tick.every, platform.tick.cost),
        (UNINTERRUPTED, NEVER, platform.timer.uninterrupted),
    )
    return [
        *(
            Load(task.name, MAX_PRIORITY, task.period, costs[task.name], task.jitter, interrupts=True)
            for task in workload.tasks
            if costs[task.name]
        ),
        *(
            Load(name, MAX_PRIORITY, every, platform.nanoseconds(cycles), interrupts=True)
            for name, every, cycles in of_kernel
            if cycles
        ),
    ]


def _with_interrupts(
    loads: Mapping[str, Load], interrupts: Sequence[Load], blocking: Mapping[str, Time]
) -> tuple[list[Load], dict[str, Time]]:
    """Jobs with their releases, and blocking with one release of each lower task: no more are in a period, as
    their periods are not shorter where bounds apply. What the kernel does in a period is blocking, too."""
    of_kernel = [each for each in interrupts if each.name in OF_KERNEL]
    cost = {each.name: each.demand for each in interrupts if each.name not in OF_KERNEL}
    waits = {
        name: time
        + sum(cost.get(o.name, 0) for o in loads.values() if o.priority < loads[name].priority)
        + released(of_kernel, loads[name].period)
        for name, time in blocking.items()
    }
    return [replace(each, demand=each.demand + cost.get(each.name, 0)) for each in loads.values()], waits


def _result(
    task: WorkloadTask,
    needed: Demands,
    loads: Sequence[Load],
    blocking: Callable[[Time], Blocking],
    exact: bool = True,
    supply: Supply = ALWAYS,
) -> TaskResult:
    own = next(load for load in loads if load.name == task.name)
    enough = None if exact else task.deadline
    others = [load for load in loads if load is not own]
    found = response(own, others, _least(blocking), enough, supply=supply)
    return _judged(task, needed, blocking, found, supply)


def _in_chains(
    part: Workload,
    chains: Chains,
    needed: Demands,
    platform: Platform,
    interrupts: Sequence[Load],
    exact: bool,
    supply: Supply,
    progress: Callable[[str], None],
) -> Iterator[TaskResult]:
    """The same where events release tasks: the longest of all that can be in a busy window."""
    ends: dict[tuple[str, str], Response] = {}
    results = []
    for task in _counted(part.tasks, progress):
        level = chains.level(task, needed)
        can_wait = waits(level.workload, demands(level.workload, platform), task)
        of_sections = cache(partial(_blocking_by, can_wait))
        blockings = [
            of_sections(tuple(s for s in can_wait.sections if chains.can_hold(task, s, way.heads)))
            for way in level.ways
        ]
        enough = None if exact else task.deadline
        goes_on = {each.name: each.goes_on for each in level.following}
        for name, left in ((task.name, 0), *level.left.items()):
            ways = [
                response(
                    replace(way.own, goes_on=goes_on.get(name, way.own.goes_on)),
                    [*way.others, *interrupts],
                    _least(blocking),
                    enough,
                    supply=supply,
                    following=level.following,
                    left=left,
                )
                for way, blocking in zip(level.ways, blockings, strict=True)
            ]
            ended = [each for each in ways if isinstance(each, Response)]
            known = len(ended) == len(ways)
            if known:
                ends[name, task.name] = max(ended, key=lambda each: each.time)
            if name != task.name:
                continue
            if not known:
                failed = next(i for i, each in enumerate(ways) if not isinstance(each, Response))
                judged = _judged(task, needed, blockings[failed], ways[failed], supply)
                results.append(replace(judged, waits_in=can_wait.cpis))
                continue
            own = []
            for way, blocking, each in zip(level.ways, blockings, ended, strict=True):
                blocked = blocking(each.window)
                counted = chains.from_release(task, way.own, each, blocked.least, supply)
                own.append((counted, blocked))
            found, blocked = max(own, key=lambda each: each[0].time)
            demand = needed.of_task[task.name]
            results.append(TaskResult(task, demand, blocked, found, waits_in=can_wait.cpis))
    latest = chains.latest(ends)
    for result in results:
        if result.response is None or result.task.name not in latest:
            yield result
        else:
            yield replace(result, response=replace(result.response, latest=latest[result.task.name]))


def _judged(
    task: WorkloadTask,
    needed: Demands,
    blocking: Callable[[Time], Blocking],
    found: Response | Unfinished | None,
    supply: Supply,
) -> TaskResult:
    if isinstance(found, Response):
        return TaskResult(task, needed.of_task[task.name], blocking(found.window), found)
    at_least = 0 if found is None else found.time
    reason = Reason.SEARCH
    if found is None:
        reason = Reason.OVERLOAD if supply.share else Reason.SLOTS
    none = NoBound(reason)
    return TaskResult(task, needed.of_task[task.name], blocking(task.period), None, at_least, none)
