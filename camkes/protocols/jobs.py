# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the jobs of each task do: when they are released, when they have to end, and what they request. Every
command has this from here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Span
from camkes.model.system import System, Task
from camkes.protocols.plan import Plan
from camkes.protocols.releases import emitters, emitting_ends
from camkes.protocols.requests import Counted, Request


class Source(StrEnum):
    """Where a value is from."""

    STATED = "stated"
    EMITTER = "emitter"  # the period of the task whose events release the jobs
    DEFAULT = "default"  # the deadline is the period


class Emission(Struct, frozen=True):
    """How often a job of the emitter emits the event that releases a task: `count` times, None: that has no
    bound, for the reason in `problem`."""

    count: int | None
    counted: Counted
    problem: Diagnostic | None = None


class TaskJobs(Struct, frozen=True):
    """The jobs of a task; times are nanoseconds, None: not known, or none.

    `release`: at boot there is one job. `event` is what releases the others ("inst.iface"), `emitter` the
    only task that emits it, `emission` how often. `period` is the least time between two releases, `deadline`
    counts from one. `overruled` is a period that is stated and does not count. `requests` are those of the
    task's own code.
    """

    task: str
    release: Literal["boot", "timer", "event"]
    event: str
    emitter: str
    emission: Emission | None
    period: int | None
    period_source: Source | None
    deadline: int | None
    deadline_source: Source | None
    overruled: int | None
    requests: tuple[Request, ...]
    span: Span

    @property
    def follows(self) -> str:
        """The task each of whose jobs releases one of these, at most; empty: there is none."""
        return self.emitter if self.period_source is Source.EMITTER else ""


def find_jobs(system: System, plan: Plan) -> Mapping[str, TaskJobs]:
    """The jobs of all tasks, by their names."""
    after = emitters(system, plan)
    ends = emitting_ends(system) if after else {}
    emission = {name: _emission(plan, ends[name], emitter) for name, emitter in after.items()}
    derived = {name: emitter for name, emitter in after.items() if emission[name].count == 1}
    stated = {task.instance: task for task in system.tasks}
    requests: dict[str, list[Request]] = {}
    for request in plan.requests:
        requests.setdefault(request.caller, []).append(request)
    found = {}
    for name, task in stated.items():
        period, own = _period(name, stated, derived), requests.get(name, ())
        found[name] = _jobs_of(task, after.get(name, ""), emission.get(name), period, own)
    return found


def _period(
    name: str, stated: Mapping[str, Task], derived: Mapping[str, str]
) -> tuple[int | None, Source | None]:
    """The period of a task: of one that another releases once in each job, that of the other."""
    source = name
    for _ in stated:  # a chain is no longer than that
        source = derived.get(source, source)
    period = stated[source].period if source not in derived else None
    if period is None:
        return None, None
    return period, Source.STATED if source == name else Source.EMITTER


def _jobs_of(
    task: Task,
    emitter: str,
    emission: Emission | None,
    known: tuple[int | None, Source | None],
    requests: Iterable[Request],
) -> TaskJobs:
    period, source = known
    if source is None and task.release and task.period is not None:
        period, source = task.period, Source.STATED  # in a cycle of emitters
    deadline = period if task.deadline is None else task.deadline
    own = Source.DEFAULT if task.deadline is None else Source.STATED
    overruled = source is Source.EMITTER and task.period not in (None, period)
    return TaskJobs(
        task=task.instance,
        release="event" if task.release else "boot" if task.period is None else "timer",
        event=f"{task.instance}.{task.release}" if task.release else "",
        emitter=emitter,
        emission=emission,
        period=period,
        period_source=source,
        deadline=deadline,
        deadline_source=None if deadline is None else own,
        overruled=task.period if overruled else None,
        requests=tuple(requests),
        span=task.span,
    )


def _emission(plan: Plan, ends: Sequence[str], emitter: str) -> Emission:
    """How often a job of the emitter emits the event of these interfaces that releases a task."""
    total, counted = 0, Counted.CODE
    for caller, times, known in _served(plan, emitter):
        for end in ends:
            instance, _, interface = end.rpartition(".")
            if instance not in (caller, caller.rpartition(".")[0]):
                continue
            found = plan.counts.get((caller, interface))
            if isinstance(found, Diagnostic):
                return Emission(None, Counted.CODE, found)
            if isinstance(times, Diagnostic):
                return Emission(None, Counted.CODE, times) if found != 0 else Emission(0, Counted.CODE)
            if found is None:
                return Emission(1, Counted.TEXT)
            counted = known if found and known is Counted.TEXT else counted
            total += times * found
    return Emission(1, Counted.TEXT) if counted is Counted.TEXT else Emission(total, counted)


def _served(plan: Plan, task: str) -> Iterator[tuple[str, int | Diagnostic, Counted]]:
    """A task and all CPIs that its jobs request, how often a job leads there, and how that is known."""
    times: dict[str, int | Diagnostic] = {task: 1}
    known = {task: Counted.CODE}
    waiting = [task]
    outgoing: dict[str, list[Request]] = {}
    for request in plan.requests:
        outgoing.setdefault(request.caller, []).append(request)
    order: list[str] = []
    seen: set[str] = set()
    while waiting:  # callers before what they request: there are no cycles
        name = waiting[-1]
        rest = [r.callee for r in outgoing.get(name, ()) if r.callee not in seen]
        if rest:
            seen.add(rest[0])
            waiting.append(rest[0])
        else:
            order.append(waiting.pop())
    for name in reversed(order):
        for request in outgoing.get(name, ()):
            before, own = times.get(request.callee, 0), times[name]
            parts = (request.uncounted, before, own)
            problem = next((each for each in parts if isinstance(each, Diagnostic)), None)
            if problem is not None:
                times[request.callee] = problem
            elif isinstance(before, int) and isinstance(own, int):
                times[request.callee] = before + own * request.count
            assumed = Counted.TEXT in (request.counted, known[name], known.get(request.callee))
            known[request.callee] = Counted.TEXT if assumed else Counted.CODE
    for name in order:
        yield name, times[name], known[name]
