# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The longest responses of small systems, by enumeration of all that can happen in whole units of time,
written from the definitions: a task can be released at any time from a period after its last release on; a
job, and a request, does its work and its requests in any order, and can leave any of it out; which of equal
tasks executes is open at each unit of time, and so is which of equal waiters is served. Tasks of a band are
ordered by the deadlines of their jobs. A job that releases another task emits each of its events once at
most, at any time outside of its requests; a third event is lost while one job is under way and another one
waits.

At one instant, what takes no time comes in any order, but for jobs that have done all of it: when it is their
turn, they have ended before others are released.

    python -m tests.analysis.enumeration [--count SYSTEMS] [--seed FIRST] [--chains] [--bands]
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from camkes.analysis.assignment import changed
from camkes.analysis.platform import FREE
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import TABLE, Protocol

#: A request that is under way, or a job (the CPI -1): what is left of its work and its requests, and whether
#: it has been let in.
Frame = tuple[int, int, tuple[int, ...], bool]

#: For each task the time since its last release, up to its period; the first of its jobs that have not ended,
#: with its requests, the last one at the end; and for how long each of these jobs has been released, and the
#: first one of its chain.
State = tuple[tuple[int, tuple[Frame, ...], tuple[tuple[int, int], ...]], ...]


class TooLargeError(Exception):
    """The system has more states than were asked for."""


class Enumeration:
    """All states of a system. What comes after a response above its bound is left out."""

    def __init__(self, workload: Workload, bounds: Sequence[tuple[int, int]], most: int) -> None:
        """`bounds` are those of the response of each task, and of the end of its jobs after the release of
        the first one of their chain."""
        self.tasks = workload.tasks
        self.cpis = workload.order
        self.bounds = bounds
        self.most = most
        index = {cpi.name: i for i, cpi in enumerate(self.cpis)}
        self.rules = [TABLE[cpi.protocol] for cpi in self.cpis]
        self.lock = [workload.lock[cpi.name] for cpi in self.cpis]
        # for each task its events, each with the tasks that it releases
        self.events = [
            [
                [i for i, other in enumerate(self.tasks) if (other.after, other.event) == (task.name, event)]
                for event in dict.fromkeys(other.event for other in self.tasks if other.after == task.name)
            ]
            for task in self.tasks
        ]
        most_events = max(map(len, self.events))
        # the last numbers of a job are whether it can still emit its events
        self.job_of = [
            (*self._counts(task.requests, index), *(int(k < len(self.events[i])) for k in range(most_events)))
            for i, task in enumerate(self.tasks)
        ]
        self.body_of = [(*self._counts(cpi.requests, index), *[0] * most_events) for cpi in self.cpis]
        bands = {task.band for task in self.tasks if task.band}
        self.band = {band: min(task.priority for task in self.tasks if task.band == band) for band in bands}
        self.longest = [(0, 0)] * len(self.tasks)

    def _counts(self, requests: object, index: dict[str, int]) -> tuple[int, ...]:
        assert isinstance(requests, dict)
        counts = [0] * len(index)
        for name, count in requests.items():
            counts[index[name]] = count
        return tuple(counts)

    def run(self) -> Sequence[tuple[int, int]]:
        """The longest response of each task, and the longest end of its jobs after the first of their
        chain."""
        first: State = tuple((task.period, (), ()) for task in self.tasks)
        seen = {first}
        todo = [first]
        while todo:
            for state in self._next(todo.pop()):
                if state not in seen:
                    if len(seen) >= self.most:
                        raise TooLargeError
                    seen.add(state)
                    todo.append(state)
        return self.longest

    def _next(self, state: State) -> Iterator[State]:
        late = [t for t, (_, _, ages) in enumerate(state) if ages and self._is_late(t, ages[0])]
        for t in late:
            self._count(t, state[t][2][0])
        if late:
            return
        for t, (since, frames, ages) in enumerate(state):
            if since >= self.tasks[t].period and not self.tasks[t].after:
                yield (*state[:t], (0, frames or self._job(t), (*ages, (0, 0))), *state[t + 1 :])
        running = self._running(state)
        if not running:
            yield self._later(state)
        for t in running:
            frames = state[t][1]
            cpi, work, requests, _ = frames[-1]
            if work:
                done = (*frames[:-1], (cpi, work - 1, requests, True))
                yield self._ended(self._later(self._with(state, t, done)), t)
            for callee, count in enumerate(requests):
                if count:
                    fewer = (*requests[:callee], count - 1, *requests[callee + 1 :])
                    if callee >= len(self.cpis):
                        rest = self._with(state, t, (*frames[:-1], (cpi, work, fewer, True)))
                        yield self._emitted(rest, t, callee - len(self.cpis))
                        continue
                    body = self.body_of[callee]
                    let_in = not (self.rules[callee].lock and self._holder(state, callee) is not None)
                    inner = (callee, self.cpis[callee].work, body, let_in)
                    yield self._with(state, t, (*frames[:-1], (cpi, work, fewer, True), inner))
            yield from self._without_last(state, t)

    def _job(self, task: int) -> tuple[Frame, ...]:
        """A job at its beginning."""
        return ((-1, self.tasks[task].work, self.job_of[task], True),)

    def _with(self, state: State, task: int, frames: tuple[Frame, ...]) -> State:
        since, _, ages = state[task]
        return (*state[:task], (since, frames, ages), *state[task + 1 :])

    def _later(self, state: State) -> State:
        """A unit of time later."""
        return tuple(
            (min(since + 1, self.tasks[t].period), frames, tuple((age + 1, all + 1) for age, all in ages))
            for t, (since, frames, ages) in enumerate(state)
        )

    def _ended(self, state: State, task: int) -> State:
        """Requests and jobs with nothing left to do have ended, first those of the task that has executed,
        then of those that execute next. Of equal waiters the first is served: the other orders are those in
        which the request has been ended before."""
        while running := self._running(state):
            if task not in running:
                if any(self._has_left(state, t) for t in running):
                    break
                task = running[0]
            elif self._has_left(state, task):
                break
            for event, left in enumerate(state[task][1][-1][2][len(self.cpis) :]):
                state = self._emitted(state, task, event) if left else state
            state = next(self._without_last(state, task))
        return state

    def _has_left(self, state: State, task: int) -> bool:
        """Whether a task has something to do in its last request, or in its job."""
        _, work, requests, _ = state[task][1][-1]
        return bool(work or any(requests[: len(self.cpis)]))

    def _emitted(self, state: State, task: int, event: int) -> State:
        """An event of a job has been emitted."""
        first = state[task][2][0][1]
        for t in self.events[task][event]:
            since, frames, ages = state[t]
            if len(ages) < 2:
                state = (
                    *state[:t],
                    (since, frames or self._job(t), (*ages, (0, first))),
                    *state[t + 1 :],
                )
        return state

    def _is_late(self, task: int, ages: tuple[int, int]) -> bool:
        return ages[0] > self.bounds[task][0] or ages[1] > self.bounds[task][1]

    def _count(self, task: int, ages: tuple[int, int]) -> None:
        (response, end), (one, two) = self.longest[task], ages
        self.longest[task] = max(response, one), max(end, two)

    def _without_last(self, state: State, task: int) -> Iterator[State]:
        """The last request of a job, or the job, is over."""
        since, frames, ages = state[task]
        if len(frames) == 1:
            self._count(task, ages[0])
            yield (*state[:task], (since, self._job(task) if ages[1:] else (), ages[1:]), *state[task + 1 :])
            return
        after = self._with(state, task, frames[:-1])
        cpi = frames[-1][0]
        own = self.lock[cpi]
        waiting = [
            t for t, (_, of, _) in enumerate(after) if of and not of[-1][3] and self.lock[of[-1][0]] == own
        ]
        if not waiting or not self.rules[cpi].lock:
            yield after
            return
        urgent = [self._priority(after, t) for t in waiting]
        for t, priority in zip(waiting, urgent, strict=True):
            if priority == max(urgent):
                of = after[t][1]
                yield self._with(after, t, (*of[:-1], (*of[-1][:3], True)))

    def _running(self, state: State) -> Sequence[int]:
        """The tasks one of which executes: those of the highest effective priority that do not wait."""
        ready = [t for t, (_, frames, _) in enumerate(state) if frames and frames[-1][3]]
        priorities = [self._priority(state, t) for t in ready]
        return [t for t, priority in zip(ready, priorities, strict=True) if priority == max(priorities)]

    def _priority(self, state: State, task: int) -> tuple[int, int]:
        """The effective priority: its own, the ceiling of the last `fixed` CPI that it is in, and those of
        all that wait for a lock that it has; and within a band, how early the deadline is."""
        of = self.tasks[task]
        found = (of.priority, 0)
        if of.band:
            found = (self.band[of.band], state[task][2][0][0] - of.deadline)
        held = []
        for cpi, _, _, let_in in state[task][1][1:]:
            if let_in and self.rules[cpi].own_priority:
                found = max(found, (self.cpis[cpi].ceiling, 0))
            elif let_in and self.rules[cpi].inherits:
                held.append(self.lock[cpi])
        for t, (_, frames, _) in enumerate(state):
            if frames and not frames[-1][3] and self.lock[frames[-1][0]] in held:
                found = max(found, self._priority(state, t))
        return found

    def _holder(self, state: State, cpi: int) -> int | None:
        own = self.lock[cpi]
        holding = (
            t for t, (_, of, _) in enumerate(state) if any(f[3] and self._is_of(f[0], own) for f in of)
        )
        return next(holding, None)

    def _is_of(self, cpi: int, lock: str) -> bool:
        """Whether a CPI, not the job itself, has this lock."""
        return cpi >= 0 and self.lock[cpi] == lock


def small_workload(rng: random.Random) -> Workload:
    """Two to four tasks and up to three CPIs with all protocols, equal priorities among them."""
    level = {f"c{i}": rng.randrange(2) for i in range(rng.randint(1, 3))}
    share = rng.choice((0.4, 0.7))

    def requests(above: int) -> dict[str, int]:
        wanted = [name for name in level if level[name] > above and rng.random() < share]
        return {name: rng.choice((1, 1, 1, 2)) for name in wanted}

    cpis = tuple(
        WorkloadCpi(name, rng.choice([*Protocol]), rng.randint(1, 2), requests(level[name]))
        for name in sorted(level, key=lambda each: level[each])
    )
    count = rng.randint(2, 4)
    tasks = tuple(
        WorkloadTask(
            f"t{i}",
            rng.randint(1, count),
            period := rng.randint(4, 24),
            period,
            rng.randint(1, 2),
            requests(-1),
        )
        for i in range(count)
    )
    return changed(Workload(tasks, cpis))


def chained_workload(rng: random.Random) -> Workload:
    """The same, where events of tasks release others."""
    workload = small_workload(rng)
    tasks = list(workload.tasks)
    for i in range(1, len(tasks)):
        if i == 1 or rng.random() < 0.6:
            before = rng.choice(tasks[:i])
            tasks[i] = replace(
                tasks[i],
                after=before.name,
                period=before.period,
                deadline=before.period,
                timed=False,
                event=(f"{before.name}.{rng.choice('xyy')}",),
            )
    return replace(workload, tasks=tuple(tasks))


def banded_workload(rng: random.Random, *, chained: bool = False) -> Workload:
    """The same, where some of the tasks are ordered by their deadlines, and others have fixed priorities
    above and below."""
    workload = chained_workload(rng) if chained else small_workload(rng)
    count = len(workload.tasks)
    members = set(rng.sample(range(count), rng.randint(min(2, count), count)))
    lowest = 10
    highest = lowest + len(members)
    tasks = [
        replace(task, band="edf", deadline=rng.randint(max(2, task.period // 2), task.period * 3 // 2))
        if i in members
        else replace(task, priority=rng.choice((1, 2, highest + 1)))
        for i, task in enumerate(workload.tasks)
    ]
    # a request of such a task can arrive at the priority of the scheduler
    arriving = {task.name: highest if task.band else task.priority for task in tasks}
    cpis = changed(workload, arriving).cpis
    ranked = tuple(
        replace(
            task,
            priority=lowest
            + sum(other.band == task.band and other.deadline > task.deadline for other in tasks),
        )
        if task.band
        else task
        for task in tasks
    )
    return Workload(ranked, cpis)


def divided(workload: Workload, parts: int) -> Workload:
    """The same in times of which each unit has so many parts."""
    cpis = tuple(replace(cpi, work=parts * cpi.work) for cpi in workload.cpis)
    tasks = tuple(
        replace(task, period=parts * task.period, deadline=parts * task.deadline, work=parts * task.work)
        for task in workload.tasks
    )
    return replace(workload, tasks=tasks, cpis=cpis)


#: A task, or the chain to it, its bound, and the longest response, or end of a chain.
Row = tuple[str, int, int]


def compare(workload: Workload, most: int, bounds_of: Workload | None = None) -> Sequence[Row] | None:
    """For each task its bound and its longest response; None where there is no bound, or the system has more
    states. The bounds can be those of another system."""
    found = {each.task.name: each for each in analyse(bounds_of or workload, FREE).tasks}
    bounds = []
    for task in workload.tasks:
        response = found[task.name].response
        if response is None:
            return None
        bounds.append((int(response.time), int(response.latest)))
    try:
        longest = Enumeration(workload, bounds, most).run()
    except TooLargeError:
        return None
    rows = []
    for task, bound, worst in zip(workload.tasks, bounds, longest, strict=True):
        rows.append((task.name, bound[0], worst[0]))
        if task.after:
            rows.append((f"chain to {task.name}", bound[1], worst[1]))
    return rows


def searched(
    make: Callable[[random.Random], Workload], states: int, first: int = 0
) -> Iterator[tuple[int, Sequence[Row]]]:
    """The rows of all systems, from a seed on, all of whose bounds are known and that have no more states."""
    for seed in itertools.count(first):
        rows = compare(make(random.Random(seed)), states)
        if rows is not None:
            yield seed, rows


def report(make: Callable[[random.Random], Workload], systems: int, states: int, first: int) -> None:
    """Print the bounds of so many systems that are not the longest response, and how many are."""
    every: list[Row] = []
    last = first
    for last, rows in itertools.islice(searched(make, states, first), systems):
        every += rows
        for name, bound, worst in rows:
            if bound != worst:
                print(f"seed {last}: {name}: bound {bound}, longest response {worst}", flush=True)
    equal = sum(bound == worst for _, bound, worst in every)
    above = sum(worst > bound for _, bound, worst in every)
    ratios = sorted(bound / worst for _, bound, worst in every)
    print(f"{systems} systems of {last + 1 - first}, {len(every)} bounds: {equal} equal, {above} exceeded")
    print(f"bound to longest response: median {ratios[len(ratios) // 2]:.2f}, most {ratios[-1]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, metavar="SYSTEMS")
    parser.add_argument("--seed", type=int, default=0, metavar="FIRST")
    parser.add_argument("--states", type=int, default=200_000, metavar="MOST")
    parser.add_argument("--chains", action="store_true", help="events release some of the tasks")
    parser.add_argument("--bands", action="store_true", help="some tasks are ordered by their deadlines")
    given = parser.parse_args()
    make: Callable[[random.Random], Workload] = chained_workload if given.chains else small_workload
    if given.bands:
        make = partial(banded_workload, chained=given.chains)
    report(make, given.count, given.states, given.seed)


if __name__ == "__main__":
    main()
