# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Simulates a workload whose jobs do stated steps, on one processor under the protocols.

What scheduling leaves open is decided as the host kernel decides it, but for the order among equal
priorities: what a job does at the instant at which a piece of its work ends comes before releases of that
instant, all of which come before further work. A job that releases others emits its events at a step
`EMIT`, or else when it has done its work. Jobs of a band are ordered by their deadlines, of equal ones by
when they began. Among equal priorities the program states who goes first; else it is who was preempted or
woken last, but behind an equal that is running. A run can have another order. Operations take no time, but
for releases by timers: `costed` makes them part of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heapreplace
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.demand import demands, overheads_of
from camkes.analysis.platform import Platform
from camkes.analysis.supply import Phase
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask

#: Work for so many nanoseconds, a request to this CPI, or `EMIT`.
Step = int | str

#: The step in which a job releases others.
EMIT = ""


class SimulatedProgram(Struct, frozen=True):
    """What each job and each request does, and the first release of each task, in nanoseconds; later ones are
    a period apart. `phase`: the slots in which all of this executes. `equals`: tasks each of which goes first
    among equal priorities, before those named earlier and those that are not named."""

    tasks: Mapping[str, tuple[Step, ...]]
    cpis: Mapping[str, tuple[Step, ...]]
    offsets: Mapping[str, int]
    phase: Phase | None = None
    equals: tuple[str, ...] = ()


class SimulatedJob(NamedTuple):
    """A job that was released; `end` is None where it had not ended yet."""

    task: str
    release: int
    end: int | None

    def took(self, now: int) -> int:
        """Its response; where it has not ended, how long it has taken until now."""
        return (now if self.end is None else self.end) - self.release


class Slice(NamedTuple):
    """A task in a job from `start` to `end`: it executes in a CPI, or itself where that is empty, or it waits
    for the CPI."""

    task: str
    cpi: str
    waits: bool
    start: int
    end: int


def steps(work: int, requests: Mapping[str, int]) -> tuple[Step, ...]:
    """The work, and then all requests."""
    return (*((work,) if work else ()), *(name for name, count in requests.items() for _ in range(count)))


def program(workload: Workload) -> SimulatedProgram:
    """Every job and request works first and makes its requests then; all tasks are released at 0."""
    return SimulatedProgram(
        {task.name: steps(task.work, task.requests) for task in workload.tasks},
        {cpi.name: steps(cpi.work, cpi.requests) for cpi in workload.cpis},
        {task.name: 0 for task in workload.tasks},
    )


def costed(workload: Workload, platform: Platform) -> Workload:
    """The workload in which the overhead of a request, in whole nanoseconds, is work of its CPI, and what
    else operations take is work of the job."""
    overheads, needed = overheads_of(workload, platform), demands(workload, platform).of_task
    cpis = (replace(cpi, work=cpi.work + int(overheads[cpi.name])) for cpi in workload.cpis)
    tasks = (replace(task, work=task.work + int(needed[task.name].operations)) for task in workload.tasks)
    return replace(workload, cpis=tuple(cpis), tasks=tuple(tasks))


def _level(priority: int, due: int = 0, begun: int = 0) -> int:
    """A number that orders priorities, and within one of them jobs by when they are due, and then by how many
    began before."""
    return (priority << 128) - (due << 32) - begun


class _RequestFrame:
    """A job, or a request that it makes; `base` is its priority while it inherits none, as a level."""

    __slots__ = ("base", "cpi", "steps")

    def __init__(self, steps: Sequence[Step], cpi: WorkloadCpi | None, base: int) -> None:
        self.steps: Iterator[Step] = iter(steps)
        self.cpi = cpi
        self.base = base


class _Flow:
    """A task: the job that is under way and its nested requests, and the releases that wait."""

    __slots__ = (
        "ahead",
        "blocked",
        "left",
        "locks",
        "order",
        "release",
        "released",
        "stack",
        "task",
        "waits",
    )

    def __init__(self, task: WorkloadTask, ahead: int) -> None:
        self.task = task
        self.ahead = ahead  # among equals, the greatest is first, then that of the greatest order
        self.stack: list[_RequestFrame] = []
        self.left = 0  # of the current piece of work
        self.blocked = False
        self.waits = ""  # the CPI that it waits for
        self.locks: list[str] = []  # that it holds
        self.release = 0  # of the job under way
        self.released: list[int] = []  # jobs that wait for the one under way
        self.order = 0


class Simulation:
    """One run, in which a release by a timer takes `release` nanoseconds of the processor. `taken` counts the
    steps that it took, as a measure of its cost; `instants` are those at which a request began or ended, or
    events were emitted, `slices` the intervals of execution, if that is to be recorded."""

    def __init__(
        self, workload: Workload, what: SimulatedProgram, *, release: int = 0, record: bool = False
    ) -> None:
        self.release = release
        self._interrupted = 0  # nanoseconds that releases still take
        self._edge = -1  # the end of a slot, before the releases of that instant
        self.record = record
        self.slices: list[Slice] = []
        self.instants: dict[int, None] = {}
        self.workload = workload
        self.what = what
        self.now = 0
        self.taken = 0
        self.jobs: list[SimulatedJob] = []
        ahead = {name: place for place, name in enumerate(what.equals, 1)}
        self._flows = [_Flow(task, ahead.get(task.name, 0)) for task in workload.tasks]
        self._emitters = {task.after for task in workload.tasks if task.after}
        self._ready: list[_Flow] = []
        self._running: _Flow | None = None
        self._rival: _Flow | None = None  # the first of all others that are ready
        self._changed = True  # so that it can be another one
        self._count = 0
        self._holder: dict[str, _Flow] = {}
        self._waiting: dict[str, list[_Flow]] = {lock: [] for lock in workload.lock.values()}
        self._timers = [
            (what.offsets[flow.task.name], i) for i, flow in enumerate(self._flows) if not flow.task.after
        ]
        heapify(self._timers)

    def run(
        self, until: int, stop: Callable[[SimulatedJob], bool] = lambda job: False, most: int = 0
    ) -> list[SimulatedJob]:
        """All jobs that are released before `until`, in the order of their ends, then those without end. Ends
        early when `stop` is true of a job that has ended, or after `most` steps (0: any)."""
        while self.now < until and (not most or self.taken < most):
            self.taken += 1
            if self._interrupted:
                upcoming = min(self.now + self._interrupted, self._timers[0][0], until)
                self._interrupted -= upcoming - self.now
                self.now = upcoming
                self._release_due()
                continue
            flow = self._pick()
            if flow is None or flow.left or self._pauses():
                if self._release_due():
                    self._edge = -1
                    continue
                has, change = (True, until) if self.what.phase is None else self.what.phase.at(self.now)
                upcoming = min(self._timers[0][0], until, change)
                flow = flow if has else None
                if flow is not None:
                    upcoming = min(upcoming, self.now + flow.left)
                    flow.left -= upcoming - self.now
                if self.record:
                    self._note(upcoming, flow)
                self.now = upcoming
                if has and upcoming == change:
                    self._edge = upcoming
            else:
                ended = len(self.jobs)
                self._step(flow)
                if len(self.jobs) > ended and stop(self.jobs[-1]):
                    break
        return self.jobs + [
            SimulatedJob(flow.task.name, release, None)
            for flow in self._flows
            for release in ((flow.release, *flow.released) if flow.stack else ())
        ]

    def _note(self, until: int, running: _Flow | None) -> None:
        """What everybody does from now on; it is joined with the same before."""
        for flow in self._flows:
            if not flow.stack or not (flow.blocked or flow is running):
                continue
            cpi = flow.waits or (flow.stack[-1].cpi.name if flow.stack[-1].cpi else "")
            name = flow.task.name
            before = next((each for each in reversed(self.slices) if each.task == name), None)
            if before is not None and before[1:3] == (cpi, flow.blocked) and before.end == self.now:
                self.slices[self.slices.index(before)] = before._replace(end=until)
            else:
                self.slices.append(Slice(name, cpi, flow.blocked, self.now, until))

    def _pauses(self) -> bool:
        """Whether other domains have the processor. At the end of a slot, what takes no time comes first."""
        phase = self.what.phase
        return phase is not None and self._edge != self.now and not phase.at(self.now)[0]

    def _pick(self) -> _Flow | None:
        before = self._running
        if self._changed:
            others = (flow for flow in self._ready if flow is not before)
            self._rival, self._changed = max(others, key=self._urgency, default=None), False
        best = self._rival
        if before is not None and before.stack and not before.blocked:
            if best is None or self._urgency(best) < self._urgency(before):
                return before
            self._count += 1
            before.order = self._count
        if best is not before:
            self._changed = True
            if best is not None:
                self._count += 1
                best.order = self._count
            self._running = best
        return best

    def _urgency(self, flow: _Flow) -> tuple[int, int, bool, int]:
        """Of those that are ready, the one with the greatest executes."""
        return self._priority(flow), flow.ahead, flow is self._running, flow.order

    def _priority(self, flow: _Flow) -> int:
        value = flow.stack[-1].base
        for lock in flow.locks:
            for other in self._waiting[lock]:
                value = max(value, self._priority(other))
        return value

    def _release_due(self) -> bool:
        due = False
        while self._timers[0][0] <= self.now:
            due = True
            self._interrupted += self.release
            time, number = self._timers[0]
            flow = self._flows[number]
            heapreplace(self._timers, (time + flow.task.period, number))
            if flow.stack:
                flow.released.append(time)
            else:
                self._begin(flow, time)
        return due

    def _event(self, flow: _Flow) -> None:
        """A job is released by an event of another job; one event can wait for its job."""
        if not flow.stack:
            self._begin(flow, self.now)
        elif not flow.released:
            flow.released.append(self.now)

    def _begin(self, flow: _Flow, release: int) -> None:
        flow.release = release
        body = self.what.tasks[flow.task.name]
        if flow.task.name in self._emitters and EMIT not in body:
            body = (*body, EMIT)
        flow.stack.append(_RequestFrame(body, None, self._base(flow)))
        self._wake(flow)

    def _base(self, flow: _Flow) -> int:
        """The level of a job that begins."""
        task = flow.task
        if not task.band:
            return _level(task.priority)
        self._count += 1
        lowest = self.workload.lowest[task.band]
        return _level(lowest + 1, flow.release + task.deadline, self._count)

    def _wake(self, flow: _Flow) -> None:
        flow.blocked = False
        flow.waits = ""
        self._count += 1
        running = self._running
        behind = running is not None and running.stack and self._priority(running) == self._priority(flow)
        flow.order = -self._count if behind else self._count
        self._ready.append(flow)
        self._changed = True

    def _block(self, flow: _Flow, cpi: WorkloadCpi) -> None:
        """The task waits for a CPI."""
        self._waiting[self.workload.lock[cpi.name]].append(flow)
        flow.blocked = True
        flow.waits = cpi.name
        self._ready.remove(flow)
        self._changed = True  # others inherit from it

    def _step(self, flow: _Flow) -> None:
        step = next(flow.stack[-1].steps, None)
        if step is None:
            self._return(flow)
        elif isinstance(step, int):
            flow.left = step
        elif step == EMIT:
            self.instants[self.now] = None
            for other in self._flows:
                if other.task.after == flow.task.name:
                    self._event(other)
        else:
            self.instants[self.now] = None
            self._request(flow, self.workload.cpi[step])

    def _request(self, flow: _Flow, cpi: WorkloadCpi) -> None:
        base = _level(cpi.ceiling) if cpi.protocol.own_priority else flow.stack[-1].base
        held = self.workload.lock[cpi.name] in self._holder
        if cpi.protocol.own_priority and held:
            self._block(flow, cpi)
            return
        flow.stack.append(_RequestFrame(self.what.cpis[cpi.name], cpi, base))
        if cpi.protocol.inherits and held:
            self._block(flow, cpi)
        elif cpi.protocol.lock:
            self._take(flow, cpi)

    def _take(self, flow: _Flow, cpi: WorkloadCpi) -> None:
        lock = self.workload.lock[cpi.name]
        self._holder[lock] = flow
        if cpi.protocol.inherits:
            flow.locks.append(lock)

    def _return(self, flow: _Flow) -> None:
        cpi = flow.stack.pop().cpi
        if cpi is None:
            self.jobs.append(SimulatedJob(flow.task.name, flow.release, self.now))
            self._ready.remove(flow)
            if flow.released:
                self._begin(flow, flow.released.pop(0))
            return
        self.instants[self.now] = None
        if cpi.protocol.lock:
            lock = self.workload.lock[cpi.name]
            del self._holder[lock]
            if cpi.protocol.inherits:
                flow.locks.remove(lock)
            self._hand_over(cpi)

    def _hand_over(self, cpi: WorkloadCpi) -> None:
        waiting = self._waiting[self.workload.lock[cpi.name]]
        if not waiting:
            return
        if cpi.protocol.own_priority:
            chosen = waiting.pop(0)
            cpi = self.workload.cpi[chosen.waits]
            chosen.stack.append(_RequestFrame(self.what.cpis[cpi.name], cpi, _level(cpi.ceiling)))
        else:
            chosen = waiting[0] if cpi.any_order else max(waiting, key=self._priority)  # the first of equals
            waiting.remove(chosen)
        self._take(chosen, cpi)
        self._wake(chosen)
