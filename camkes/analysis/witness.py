# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A case for each response time: releases, and an order of work and requests, under which a task responds as
late as a directed search found.

The first case is built from what makes the bound: each lower task that blocks has just entered its section
when the task and all above it are released. From there the search changes one release, one order of work,
requests and events, or who goes first among equal priorities, at a time and keeps what is not better for the
task. It is deterministic, and limited by a number of steps.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE
from camkes.analysis.sections import RequestSection
from camkes.analysis.simulation import (
    EMIT,
    SimulatedJob,
    SimulatedProgram,
    Simulation,
    Step,
    costed,
    program,
)
from camkes.analysis.supply import Supply
from camkes.analysis.verdict import Analysis, TaskResult
from camkes.analysis.workload import Workload, WorkloadTask
from camkes.protocols.cycles import path, walk

#: Steps of simulations for all tasks together, and the most for one case.
EFFORT = 400_000
_CASE = 100_000

#: How many cases are tried for a task.
_CASES = 300


class Quality(StrEnum):
    """What a witness shows of the bound."""

    ATTAINED = "attained"  # the response is the bound
    MISS = "miss"  # a deadline is missed in it, as in the verdict
    GAP = "gap"  # the worst that was found; the bound may be above what can happen


class Witness(Struct, frozen=True):
    """A case in which a job of `task`, released at `release`, responds after `response` nanoseconds. `bound`
    is that of the analysis, None if there is none. `duration` is how long the case takes."""

    task: str
    deadline: int
    bound: int | None
    response: int
    release: int
    duration: int
    program: SimulatedProgram

    @property
    def quality(self) -> Quality:
        if self.response > self.deadline:
            return Quality.MISS
        return Quality.ATTAINED if self.response == self.bound else Quality.GAP


def witnesses(workload: Workload, analysis: Analysis, effort: int = EFFORT) -> dict[str, Witness]:
    """A witness for each task, as far as the effort goes. What operations cost is work of the CPIs."""
    parts = [(supply, costed(part, analysis.platform)) for supply, part in workload.parts]
    of_task = {task.name: each for each in parts for task in each[1].tasks}
    found: dict[str, Witness] = {}
    left = effort
    for count, result in enumerate(analysis.tasks):
        if left <= 0:
            break
        if result.no_bound is not None and not result.no_bound.searched:
            continue
        supply, model = of_task[result.task.name]
        share = max(left // (len(analysis.tasks) - count), _CASE // 10)
        search = _WitnessSearch(model, supply, result, int(analysis.release), share)
        found[result.task.name] = search.best()
        left -= search.taken
    return found


class _WitnessSearch:
    def __init__(
        self, workload: Workload, supply: Supply, result: TaskResult, release: int, effort: int
    ) -> None:
        self.supply = supply
        self.release = release
        self.workload = workload
        self.result = result
        self.task = result.task
        self.bound = None if result.response is None else ceil(result.response.time)
        self.taken = 0
        self._emitters = {task.after for task in workload.tasks}
        self._effort = effort
        self._rng = random.Random(0)

    def best(self) -> Witness:
        """The worst case that was found."""
        starts = self._starts()
        best, instants = self._judge(next(starts))
        for start in starts:
            if best.response == self.bound:
                return best
            found, when = self._judge(start)
            if found.response > best.response:
                best, instants = found, when
        for _ in range(_CASES):
            if best.response == self.bound or self.taken >= self._effort:
                break
            if self.bound is None and best.quality is Quality.MISS:
                break
            found, when = self._judge(self._changed(best.program, instants))
            same_order = found.program.equals == best.program.equals
            if found.response > best.response or (same_order and found.response == best.response):
                best, instants = found, when
        return best

    def _starts(self) -> Iterator[SimulatedProgram]:
        """Cases to begin with."""
        start = aligned(self.workload, self.task, self.result.blocking.sections, self.release)
        response = self.result.response
        if self.task.band and response is not None:  # others that are due as early are released before
            begin = start.offsets[self.task.name]
            own = begin + ceil(response.window - response.time) - response.job * self.task.period
            start = replace(start, offsets={**start.offsets, self.task.name: max(begin, own)})
        phase = None if response is None else response.phase
        if phase is None and self.supply.phases:
            phase = self.supply.phases[0]
        if phase is not None:
            start = replace(start, phase=replace(phase, begin=start.offsets[self.task.name]))
        yield start
        lower = {section.task for section in self.result.blocking.sections}
        released = sorted(lower & start.offsets.keys(), key=lambda name: start.offsets[name])
        if released:  # who is released later interrupts an equal that is at a ceiling
            yield replace(start, equals=tuple(released))
        if self.task.after in start.tasks:  # what emits does all the rest later
            body = (EMIT, *start.tasks[self.task.after])
            yield replace(start, tasks={**start.tasks, self.task.after: body})

    def _horizon(self, release: int) -> int:
        """Until when the response of a job that matters is known."""
        if self.result.response is not None:
            return release + ceil(self.result.response.window + self.task.jitter) + 1
        used = sum(
            self.result.demand.total / self.task.period if each is self.task else _share(self.workload, each)
            for each in self.workload.tasks
            if each.priority >= self.task.priority
        )
        excess = float(used / self.supply.share) - 1
        longest = max(task.period for task in self.workload.tasks)
        return release + int((self.task.deadline + longest) * (2 + 4 / max(excess, 1e-3)))

    def _judge(self, what: SimulatedProgram) -> tuple[Witness, Sequence[int]]:
        """The longest response in a case, and the instants of its requests and events."""
        release = what.offsets[self.task.name]
        simulation = Simulation(self.workload, what, release=self.release)
        until = self._horizon(release)

        def late(job: SimulatedJob) -> bool:
            return self.bound is None and job.task == self.task.name and job.took(until) > self.task.deadline

        jobs = simulation.run(until, late, most=_CASE)
        self.taken += simulation.taken
        end = simulation.now
        mine = [job for job in jobs if job.task == self.task.name]
        worst = max(mine, key=lambda job: job.took(end), default=None)
        response = 0 if worst is None else worst.took(end)
        first = release if worst is None else worst.release
        found = Witness(self.task.name, self.task.deadline, self.bound, response, first, end, what)
        return found, list(simulation.instants)

    def _changed(self, what: SimulatedProgram, instants: Sequence[int]) -> SimulatedProgram:
        """One release or one order is another, or the schedule of domains begins at another time. Releases
        come just before or after others, or with a request, or its end, at one of the `instants`."""
        rng = self._rng
        if what.phase is not None and rng.random() < 0.2:
            near = what.offsets[rng.choice(list(what.offsets))]
            phase = rng.choice(self.supply.phases)
            return replace(
                what, phase=replace(phase, begin=near + rng.choice((0, 0, 1, -1, phase.slots[0][0])))
            )
        names = [task.name for task in self.workload.tasks]
        if rng.random() < 0.1:
            name = rng.choice(names)
            equals = [each for each in what.equals if each != name]
            equals.insert(rng.randint(0, len(equals)), name)
            return replace(what, equals=tuple(equals))
        if rng.random() < 0.5:
            name = rng.choice(names)
            lengths = [
                step
                for body in (*what.tasks.values(), *what.cpis.values())
                for step in body
                if isinstance(step, int)
            ]
            near = what.offsets[rng.choice(list(what.offsets))]
            with_request = rng.choice(instants or [near])
            time = rng.choice(
                (
                    what.offsets[name] - 1,
                    what.offsets[name] + 1,
                    near,
                    near + rng.choice(lengths or [1]),
                    with_request,
                    with_request + 1,
                )
            )
            time = min(max(time, 0), 2 * self.task.period)
            return replace(what, offsets={**what.offsets, name: time})
        if rng.random() < 0.6:
            name = rng.choice(list(what.tasks))
            body = what.tasks[name]
            if name in self._emitters and EMIT not in body:
                body = (*body, EMIT)
            return replace(what, tasks={**what.tasks, name: _reordered(body, rng)})
        if not what.cpis:
            return what
        name = rng.choice(list(what.cpis))
        return replace(what, cpis={**what.cpis, name: _reordered(what.cpis[name], rng)})


def _share(workload: Workload, task: WorkloadTask) -> float:
    return float(demands(workload, FREE).of_task[task.name].total / task.period)


def _reordered(body: Sequence[Step], rng: random.Random) -> tuple[Step, ...]:
    """The same work, requests and events in another order, with the work split at one place."""
    work = sum(step for step in body if isinstance(step, int))
    requests: list[Step] = [step for step in body if isinstance(step, str)]
    rng.shuffle(requests)
    if not work:
        return tuple(requests)
    first = rng.choice((0, 1, work, rng.randint(0, work)))
    place = rng.randint(0, len(requests))
    pieces: list[Step] = [*requests[:place], work - first, *requests[place:]]
    return tuple(step for step in (first, *pieces) if step != 0)


def aligned(
    workload: Workload, task: WorkloadTask, sections: Sequence[RequestSection], release: int = 0
) -> SimulatedProgram:
    """The case in which each lower task is at the beginning of its section when the task and those above it
    are released. Lower tasks are released one after the other, the least urgent first, each when the one
    before it has come there."""
    plain = program(workload)
    tasks, cpis = dict(plain.tasks), dict(plain.cpis)
    named = {each.name: each for each in workload.tasks}
    ways: dict[str, list[str]] = {}
    simulated = (each for each in sections if each.task in named)  # not those in the background
    for section in sorted(simulated, key=lambda each: (named[each.task].priority, each.at_ceiling)):
        way = ways[section.task] = _way(workload, named[section.task], section)
        tasks[section.task] = _first(plain.tasks[section.task], way[0], 1)
        for cpi, callee in pairwise(way):
            cpis[cpi] = _first(plain.cpis[cpi], callee, 0)
    offsets: dict[str, int] = {}
    time = 0
    whole = demands(workload, FREE).of_request
    for name, way in ways.items():
        offsets[name] = time
        bodies = (tasks[name], *(cpis[cpi] for cpi in way[:-1]))
        before = [
            step for body, callee in zip(bodies, way, strict=True) for step in body[: body.index(callee)]
        ]
        time += release + max(1, sum(step if isinstance(step, int) else ceil(whole[step]) for step in before))
    for each in workload.tasks:
        offsets.setdefault(each.name, time)
    return SimulatedProgram(tasks, cpis, {each.name: offsets[each.name] for each in workload.tasks})


def _first(body: Sequence[Step], request: str, before: int) -> tuple[Step, ...]:
    """The body with a request before all else but `before` nanoseconds of work, as far as there is work."""
    work = sum(step for step in body if isinstance(step, int))
    rest: list[Step] = [step for step in body if isinstance(step, str)]
    rest.remove(request)
    before = min(before, work)
    return tuple(step for step in (before, request, *rest, work - before) if step)


def _way(workload: Workload, task: WorkloadTask, section: RequestSection) -> list[str]:
    """CPIs from a task's request down to that of a section, through those whose locks it holds meanwhile, and
    such without locks; the fewest."""

    def requests(place: tuple[str, frozenset[str]]) -> Iterator[tuple[tuple[str, frozenset[str]], str]]:
        name, held = place
        if workload.rules[name].lock:
            held |= {workload.lock[name]}
        if held <= section.held:
            yield from (((callee, held), callee) for callee in workload.cpi[name].requests)

    goal = section.cpi, section.held
    found = walk([(name, frozenset[str]()) for name in task.requests], requests)
    first = goal
    while (before := found[first]) is not None:
        first = before[0]
    return [first[0], *path(found, goal)]
