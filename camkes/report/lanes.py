# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A trace seen from its tasks: for each what it did or waited for at every instant, and its jobs.

Work that a thread of a component does on behalf of a task belongs to the task's lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from camkes.capdl.model import Role
from camkes.records import dataclass, replace
from camkes.report.state import Tracker, endpoint_services
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Block, Kind
from camkes.report.trace.names import NamedTask, TraceNames


class Activity(Enum):
    RUNS = "runs"
    #: could run, but work of a higher (or equal) task does
    PREEMPTED = "preempted"
    #: could run, but work of a lower task does, at a raised priority
    HELD_UP = "held up"
    #: waits for a lock, or for a server that is busy
    WAITS = "waits"
    #: sleeps in the middle of a job
    SLEEPS = "sleeps"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a lane. `service` is where it happens: the interface it executes in, waits for, or that
    holds it up. `by` is the task that runs meanwhile, or holds what is waited for. `hindered`: lower work
    (or nobody) runs meanwhile, so this is blocking in the sense of the analysis."""

    start: int
    end: int
    activity: Activity
    service: str = ""
    priority: int = 0
    by: str = ""
    hindered: bool = False

    @property
    def duration(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Job:
    """`begin` and `end` are None if the job had not begun or ended when the run did."""

    index: int
    release: int
    begin: int | None = None
    end: int | None = None
    deadline: int | None = None  # absolute

    @property
    def response(self) -> int | None:
        return None if self.end is None else self.end - self.release

    def missed(self, now: int) -> bool:
        """The deadline passed before the job ended, or before the run did (at `now`)."""
        return self.deadline is not None and (now if self.end is None else self.end) > self.deadline


@dataclass(frozen=True, slots=True)
class Lane:
    task: NamedTask
    segments: tuple[Segment, ...]
    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True)
class Lanes:
    """Lanes by falling priority. `services` are the interfaces that work was done in, in name order.
    `scheduling`: the trace says who ran when; only a kernel can, and seL4 does not: then lanes have jobs
    and no segments."""

    lanes: tuple[Lane, ...]
    services: tuple[str, ...]
    end: int
    scheduling: bool = True


def build_lanes(events: Sequence[Event], names: TraceNames) -> Lanes:
    """The lanes of a whole trace: one a task, and one for any other control thread that does something."""
    names = _with_other_threads(names)
    control = {t.task: t.number for t in names.threads if t.role is Role.CONTROL and t.task is not None}
    tasks = [task for task in names.tasks if task.id in control]
    tasks.sort(key=lambda task: (-task.priority, task.id))
    tracker, where = Tracker(names), endpoint_services(events, names)
    segments: dict[int, list[Segment]] = {task.id: [] for task in tasks}
    jobs: dict[int, dict[int, Job]] = {task.id: {} for task in tasks}
    now, scheduling = 0, any(event.kind is Kind.SWITCH for event in events)
    for event in events:
        if event.time > now:
            for task in tasks if scheduling else ():
                segment = _look(tracker, where, task, control[task.id], now, event.time)
                if segment:
                    _append(segments[task.id], segment)
            now = event.time
        tracker.apply(event)
        if event.kind in (Kind.JOB_BEGIN, Kind.JOB_END):
            _note_job(jobs, names, event)
    lanes = tuple(
        Lane(task, tuple(segments[task.id]), tuple(sorted(jobs[task.id].values(), key=lambda job: job.index)))
        for task in tasks
        if task.id >= 0 or any(segment.activity is Activity.RUNS for segment in segments[task.id])
    )
    services = {s.service for lane in lanes for s in lane.segments if s.service}
    return Lanes(lanes, tuple(sorted(services)), now, scheduling)


def _with_other_threads(names: TraceNames) -> TraceNames:
    """The same names with a task, of a negative number, for each control thread that is none."""
    threads = list(names.threads)
    tasks = list(names.tasks)
    for thread in names.threads:
        if thread.role is Role.CONTROL and thread.task is None:
            task = NamedTask(-1 - thread.number, thread.name, thread.priority, -1)
            threads[thread.number] = replace(thread, task=task.id)
            tasks.append(task)
    return replace(names, threads=tuple(threads), tasks=tuple(tasks))


def _append(segments: list[Segment], new: Segment) -> None:
    """Add a segment, or make the last one longer if this is more of the same."""
    if segments:
        last = segments[-1]
        if last.end == new.start and replace(new, start=last.start) == replace(last, end=new.end):
            segments[-1] = replace(last, end=new.end)
            return
    segments.append(new)


def _look(
    tracker: Tracker, where: dict[int, str], task: NamedTask, control: int, start: int, end: int
) -> Segment | None:
    """What the task does now; None: it has nothing to do."""
    leaf = tracker.leaf(control)
    state = tracker.state(leaf)
    running = tracker.running
    worker = tracker.origin(running)
    by = worker.name if worker else (tracker.names.thread_name(running) if running is not None else "")
    service = tracker.service(leaf)
    if running is not None and worker is task:
        return Segment(start, end, Activity.RUNS, tracker.service(running), tracker.state(running).priority)
    lower = running is None or _base(tracker, running) < task.priority
    if state.runnable:
        if running is not None and lower:
            at = tracker.service(running)
            return Segment(start, end, Activity.HELD_UP, at, state.priority, by, True)
        return Segment(start, end, Activity.PREEMPTED, service, state.priority, by)
    if state.lock is not None:
        cpi = tracker.names.cpi_name(state.lock)
        return Segment(start, end, Activity.WAITS, cpi, state.priority, by, lower)
    if state.reason in (Block.CALL, Block.SEND):
        busy = where.get(state.object, tracker.names.object_name(state.object))
        return Segment(start, end, Activity.WAITS, busy, state.priority, by, lower)
    if state.reason is Block.REPLY and state.server is not None:
        return Segment(start, end, Activity.WAITS, tracker.service(state.server), state.priority, by, lower)
    if leaf != control or control in tracker.in_job:
        return Segment(start, end, Activity.SLEEPS, service, state.priority)
    return None


def _base(tracker: Tracker, thread: int) -> int:
    """Priority of the work a thread does, without what protocols add."""
    task = tracker.origin(thread)
    if task:
        return task.priority
    named = tracker.names.thread(thread)
    return named.priority if named else tracker.state(thread).priority


def _note_job(jobs: dict[int, dict[int, Job]], names: TraceNames, event: Event) -> None:
    named = names.thread(event.thread)
    task = names.task(named.task) if named else None
    if task is None or task.id not in jobs:
        return
    index, release = event.args
    deadline = None if task.deadline is None else release + task.deadline
    job = jobs[task.id].get(index, Job(index, release, deadline=deadline))
    if event.kind is Kind.JOB_BEGIN:
        job = replace(job, begin=event.time)
    elif event.kind is Kind.JOB_END:
        job = replace(job, end=event.time)
    jobs[task.id][index] = job
