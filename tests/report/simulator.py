# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A small reference: tasks, CPIs and locks with correct protocols, which writes the trace of its run.

It is not how the runtime works: after every step it computes all effective priorities from their
definition and sets them. So its traces are right by construction, and tests break them on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from camkes.capdl.model import Role
from camkes.diagnostics import SourceFile, Span
from camkes.model.protocols import Protocol
from camkes.protocols.contexts import Context, Seat
from camkes.protocols.plan import Plan, PlannedCpi, PlannedTask, Request
from camkes.running.events import Event
from camkes.running.kinds import Blocked, EndReason, KernelCall, Kind
from camkes.running.names import NamedContext, NamedCpi, NamedTask, NamedThread, TraceNames

SPAN = Span(SourceFile(Path("system.camkes"), "assembly {}"), 1, 1, 1, 9)

Step = int | str  # work for so many ns, or a request to this CPI


@dataclass(frozen=True)
class TaskSpec:
    name: str
    priority: int
    releases: tuple[int, ...]
    body: tuple[Step, ...]
    period: int | None = None


@dataclass(frozen=True)
class CpiSpec:
    name: str  # inst.iface
    protocol: Protocol
    body: tuple[Step, ...]
    ceiling: int | None = None


def requested(tasks: Iterable[TaskSpec], cpis: Mapping[str, CpiSpec]) -> set[str]:
    """The CPIs that tasks request, directly or nested."""
    found: set[str] = set()
    pending = [step for task in tasks for step in task.body if isinstance(step, str)]
    while pending:
        name = pending.pop()
        found.add(name)
        pending += [step for step in cpis[name].body if isinstance(step, str)]
    return found


@dataclass
class Flow:
    """A task being executed: the threads of its nested requests, its own first."""

    task: TaskSpec
    context: int
    control: int
    stack: list[tuple[int, int, int | None]] = field(default_factory=list)  # (thread, context, cpi)
    steps: list[Iterator[Step]] = field(default_factory=list)
    left: int = 0
    job: int = -1
    waits: int | None = None  # for the lock of this CPI
    queued: int | None = None  # at the endpoint of this fixed CPI
    returning: tuple[int, int] | None = None  # (cpi, context) of a reply that it has not seen yet
    active: bool = False

    @property
    def thread(self) -> int:
        return self.stack[-1][0] if self.stack else self.control

    @property
    def can_run(self) -> bool:
        return self.active and self.waits is None and self.queued is None


def make_plan(tasks: Sequence[TaskSpec], cpis: Sequence[CpiSpec]) -> Plan:
    """The plan of such a system; CPIs are listed callers first."""
    specs = {cpi.name: cpi for cpi in cpis}
    contexts = [Context(i, t.name, True, t.priority) for i, t in enumerate(tasks)]
    origins: dict[str, list[Context]] = {cpi.name: [] for cpi in cpis}
    who: dict[str, list[str]] = {cpi.name: [] for cpi in cpis}
    requests: list[Request] = []

    def arrive(name: str, context: Context, task: str) -> None:
        if context not in origins[name]:
            origins[name].append(context)
        if task not in who[name]:
            who[name].append(task)

    for task, context in zip(tasks, tuple(contexts), strict=True):
        for callee in dict.fromkeys(s for s in task.body if isinstance(s, str)):
            requests.append(Request(task.name, f"{task.name}.x", callee, "c", "control", SPAN))
            arrive(callee, context, task.name)
    planned = []
    for number, cpi in enumerate(cpis):
        mine = sorted(origins[cpi.name], key=lambda c: c.id)
        ceiling = cpi.ceiling or max((c.base_priority for c in mine), default=1)
        callees = tuple(dict.fromkeys(s for s in cpi.body if isinstance(s, str)))
        onward = mine
        if cpi.protocol is Protocol.FIXED:
            own = Context(len(contexts), cpi.name, False, ceiling)
            contexts.append(own)
            onward = [own]
        for callee in callees:
            requests.append(Request(cpi.name, f"{cpi.name}x", callee, "c", "clause", SPAN))
            for context in onward:
                for name in who[cpi.name]:
                    arrive(callee, context, name)
        instance, interface = cpi.name.split(".")
        planned.append(
            PlannedCpi(
                number, cpi.name, instance, interface, cpi.protocol, ceiling, tuple(who[cpi.name]),
                tuple(mine),
                1 if cpi.protocol is Protocol.FIXED else len(mine), 1, False,
                cpi.protocol is Protocol.INHERITED and len(mine) > 1, False, callees, SPAN,
                alone=cpi.protocol is Protocol.FIXED,
                seats=tuple(map(Seat, mine)),
            )
        )  # fmt: skip
    assert list(specs) == [c.name for c in planned]
    return Plan(
        tuple(PlannedTask(t.name, i, t.priority, contexts[i]) for i, t in enumerate(tasks)),
        tuple(planned),
        tuple(contexts),
        tuple(requests),
    )


def make_names(tasks: Sequence[TaskSpec], plan: Plan) -> TraceNames:
    threads: list[NamedThread] = []

    def add(name: str, role: Role, priority: int, instance: str, service: str = "", cpi: int | None = None,
            context: int | None = None, task: int | None = None) -> None:  # fmt: skip
        threads.append(
            NamedThread(len(threads), name, instance, instance, role, priority, service, cpi, context, task)
        )

    for number, task in enumerate(tasks):
        add(task.name, Role.CONTROL, task.priority, task.name, task=number, context=number)
    for cpi in plan.cpis:
        if cpi.protocol is Protocol.FIXED:
            add(cpi.name, Role.WORKER, cpi.ceiling, cpi.instance, cpi.name, cpi.id)
        else:
            for context in cpi.contexts:
                name = f"{cpi.name}@{context.name}"
                add(name, Role.WORKER, context.base_priority, cpi.instance, cpi.name, cpi.id, context.id)
        if cpi.manager:
            add(f"{cpi.name}!manager", Role.MANAGER, cpi.ceiling, cpi.instance, cpi.name, cpi.id)
    return TraceNames(
        tuple(threads),
        tuple(
            NamedTask(
                i,
                t.name,
                t.priority,
                i,
                t.period,
                t.period,
                t.releases[0] if t.releases else 0,
                len(plan.cpis) + i,
            )
            for i, t in enumerate(tasks)
        ),
        tuple(NamedContext(c.id, c.name, c.is_task, c.base_priority) for c in plan.contexts),
        tuple(NamedCpi(c.id, c.name, c.protocol, c.ceiling) for c in plan.cpis),
        (*(c.name for c in plan.cpis), *(f"{t.name}:timer" for t in tasks)),
    )


class Simulation:
    """`run` executes all jobs and returns the trace."""

    def __init__(self, tasks: Sequence[TaskSpec], cpis: Sequence[CpiSpec], inherit: bool = True) -> None:
        self.tasks, self.specs = tasks, {cpi.name: cpi for cpi in cpis}
        self.plan = make_plan(tasks, cpis)
        self.names = make_names(tasks, self.plan)
        self.inherit = inherit
        self.number = {t.name: t.number for t in self.names.threads}
        self.priority = {t.number: t.priority for t in self.names.threads}
        self.holder: dict[int, int] = {}
        self.queue: dict[int, list[Flow]] = {c.id: [] for c in self.plan.cpis}
        self.busy: dict[int, list[Flow]] = {c.id: [] for c in self.plan.cpis}
        self.flows = [Flow(t, i, i) for i, t in enumerate(tasks)]
        self.events: list[Event] = []
        self.now = 0
        self.running: int | None = None
        self.last: Flow | None = None

    def emit(
        self, kind: Kind, thread: int | None = None, other: int | None = None, *args: int, text: str = ""
    ) -> None:
        self.events.append(Event(self.now, kind, thread, other, args, text))

    # effective priorities, from their definition

    def base(self, context: int) -> int:
        return self.plan.contexts[context].base_priority

    def eff(self, context: int) -> int:
        value = self.base(context)
        for cpi, holder in self.holder.items():
            if holder == context:
                for flow in self.queue[cpi]:
                    value = max(value, self.eff(flow.stack[-1][1]))
        return value

    def worker_priority(self, flow: Flow, depth: int) -> int:
        """Of the worker at a depth of nested requests: it inherits through its lock and those above it. Those
        below it belong to requests that it waits for itself."""
        value = self.base(flow.stack[depth][1])
        for _, context, cpi in flow.stack[: depth + 1]:
            if cpi is not None and self.holder.get(cpi) == context:
                value = max([value, *(self.eff(f.stack[-1][1]) for f in self.queue[cpi])])
        return value

    def settle(self) -> None:
        """Set the priority of every worker to what it ought to be."""
        active = {t: (f, depth) for f in self.flows for depth, (t, *_) in enumerate(f.stack)}
        for named in self.names.threads:
            if named.role is not Role.WORKER or named.context is None:
                continue
            want = named.priority
            if self.inherit and named.number in active:
                want = self.worker_priority(*active[named.number])
            have = self.priority[named.number]
            if have != want:
                assert named.cpi is not None
                self.priority[named.number] = want
                manager = self.number.get(f"{named.service}!manager")
                self.emit(Kind.PRIORITY, named.number, manager, have, want)
                waiting = [
                    f.stack[-1][1] for q in self.queue.values() for f in q if self.eff(f.stack[-1][1]) == want
                ]
                cause = waiting[0] if waiting else named.context
                self.emit(Kind.INHERIT, manager, named.number, named.cpi, named.context, have, want, cause)

    # steps

    def call(self, flow: Flow, name: str) -> None:
        cpi = self.plan.cpi(name)
        assert cpi is not None
        caller, context = (
            (flow.stack[-1][0], flow.stack[-1][1]) if flow.stack else (flow.control, flow.context)
        )
        self.emit(Kind.CALL_BEGIN, caller, None, cpi.id, context, self.eff(context))
        self.emit(Kind.KCALL, caller, None, KernelCall.CALL, cpi.id)
        if cpi.protocol is Protocol.FIXED and self.busy[cpi.id]:
            self.busy[cpi.id].append(flow)
            flow.queued = cpi.id
            self.emit(Kind.BLOCK, caller, None, Blocked.CALL, cpi.id)
            return
        self.deliver(flow, cpi)

    def deliver(self, flow: Flow, cpi: PlannedCpi) -> None:
        caller, context = (
            (flow.stack[-1][0], flow.stack[-1][1]) if flow.stack else (flow.control, flow.context)
        )
        if cpi.protocol is Protocol.FIXED:
            server, inside = (
                self.number[cpi.name],
                next(c.id for c in self.plan.contexts if c.name == cpi.name),
            )
            if flow.queued is None:
                self.busy[cpi.id].append(flow)
            flow.queued = None
        else:
            inside = context
            server = self.number[f"{cpi.name}@{self.plan.contexts[context].name}"]
        self.emit(Kind.TRANSFER, caller, server, cpi.id, 1, 0, 2)
        self.emit(Kind.READY, server, caller)
        self.emit(Kind.BLOCK, caller, None, Blocked.REPLY, cpi.id)
        self.switch(server)
        task = self.flows.index(flow)
        self.emit(Kind.REQUEST_BEGIN, server, None, cpi.id, context, self.eff(context), task, flow.job)
        flow.stack.append((server, inside, cpi.id))
        flow.steps.append(iter(self.specs[cpi.name].body))
        if cpi.protocol is Protocol.INHERITED:
            if cpi.id in self.holder:
                manager = self.number.get(f"{cpi.name}!manager")
                self.queue[cpi.id].append(flow)
                flow.waits = cpi.id
                self.emit(Kind.LOCK_WAIT, manager, server, cpi.id, inside, self.eff(inside))
                self.emit(Kind.BLOCK, server, None, Blocked.REPLY, cpi.id)
            else:
                self.holder[cpi.id] = inside
                self.emit(Kind.LOCK_TAKE, server, None, cpi.id, inside)
        self.settle()

    def finish(self, flow: Flow) -> None:
        if not flow.stack:
            self.emit(Kind.JOB_END, flow.control, None, flow.job, flow.task.releases[flow.job])
            self.next_job(flow)
            return
        server, inside, number = flow.stack.pop()
        flow.steps.pop()
        assert number is not None
        cpi = self.plan.cpis[number]
        caller, context = (
            (flow.stack[-1][0], flow.stack[-1][1]) if flow.stack else (flow.control, flow.context)
        )
        if cpi.protocol is Protocol.INHERITED:
            del self.holder[number]
            self.emit(Kind.LOCK_FREE, server, None, number, inside)
            if self.queue[number]:
                best = min(
                    self.queue[number], key=lambda f: -self.eff(f.stack[-1][1])
                )  # min: the first of equals
                self.queue[number].remove(best)
                best.waits = None
                worker, holder, _ = best.stack[-1]
                self.holder[number] = holder
                self.emit(Kind.LOCK_GRANT, self.number.get(f"{cpi.name}!manager"), worker, number, holder)
                self.emit(Kind.READY, worker, server)
        self.emit(Kind.REQUEST_END, server, None, number, context)
        self.emit(Kind.REPLY, server, caller, 0, 1)
        self.emit(Kind.READY, caller, server)
        self.emit(Kind.BLOCK, server, None, Blocked.RECV, number)
        self.settle()
        if cpi.protocol is Protocol.FIXED:
            self.busy[number].remove(flow)
            if self.busy[number]:
                self.deliver(self.busy[number][0], cpi)
        flow.returning = (number, context)

    def next_job(self, flow: Flow) -> None:
        flow.job += 1
        flow.active = False
        if flow.job < len(flow.task.releases) and flow.task.releases[flow.job] <= self.now:
            self.begin(flow)
        else:
            self.emit(Kind.BLOCK, flow.control, None, Blocked.NOTIFICATION, 0)

    def begin(self, flow: Flow) -> None:
        flow.active = True
        flow.steps = [iter(flow.task.body)]
        release = flow.task.releases[flow.job]
        self.emit(Kind.JOB_BEGIN, flow.control, None, flow.job, release)

    # scheduling

    def switch(self, thread: int | None) -> None:
        if thread != self.running:
            before, self.running = self.running, thread
            if thread is None:
                self.emit(Kind.IDLE, None, before)
            else:
                self.emit(Kind.SWITCH, thread, before, self.priority[thread])

    def reschedule(self) -> Flow | None:
        ready = [f for f in self.flows if f.can_run]
        best = min(ready, key=lambda f: (-self.priority[f.thread], f is not self.last), default=None)
        self.switch(best.thread if best else None)
        self.last = best
        return best

    def next_release(self) -> int | None:
        times = [
            f.task.releases[f.job] for f in self.flows if not f.active and 0 <= f.job < len(f.task.releases)
        ]
        return min(times, default=None)

    def run(self, until: int | None = None) -> list[Event]:
        self.emit(Kind.BOOT)
        for named in self.names.threads:
            self.emit(
                Kind.BLOCK,
                named.number,
                None,
                Blocked.RECV if named.role is not Role.CONTROL else Blocked.NOTIFICATION,
                0,
            )
        for flow in self.flows:
            flow.job = 0
        while until is None or self.now < until:
            for flow in self.flows:
                releases = flow.task.releases
                if not flow.active and flow.job < len(releases) and releases[flow.job] <= self.now:
                    timer = self.names.tasks[flow.context].timer
                    assert timer is not None
                    self.emit(Kind.TIMER, None, None, timer, flow.job + 1)
                    self.emit(Kind.SIGNAL, None, flow.control, 0, 1)
                    self.emit(Kind.READY, flow.control)
                    self.begin(flow)
            flow_now = self.reschedule()
            if flow_now is None:
                arrival = self.next_release()
                if arrival is None:
                    break
                self.now = arrival
                continue
            flow = flow_now
            if flow.returning:
                self.emit(Kind.CALL_END, flow.thread, None, *flow.returning)
                flow.returning = None
            if flow.left == 0:
                step = next(flow.steps[-1], None)
                if step is None:
                    self.finish(flow)
                elif isinstance(step, str):
                    self.call(flow, step)
                else:
                    flow.left = step
                    self.emit(Kind.WORK, flow.thread, None, step)
                continue
            arrival = self.next_release()
            stop = self.now + flow.left
            if arrival is not None:
                stop = min(stop, arrival)
            flow.left -= stop - self.now
            self.now = stop
        reason = EndReason.IDLE if self.running is None else EndReason.TIME
        self.emit(Kind.END, None, None, reason)
        return self.events


def simulate(
    tasks: Sequence[TaskSpec], cpis: Sequence[CpiSpec], inherit: bool = True, until: int | None = None
) -> tuple[list[Event], TraceNames, Plan]:
    simulation = Simulation(tasks, cpis, inherit)
    return simulation.run(until), simulation.names, simulation.plan


MS = 1_000_000

#: the textbook case: a high task is held up by a lock of a low one, and a middle one would make it worse
INVERSION: Mapping[str, Sequence[TaskSpec] | Sequence[CpiSpec]] = {
    "tasks": (
        TaskSpec("low", 10, (0,), (1 * MS, "lock.p", 1 * MS), 40 * MS),
        TaskSpec("middle", 20, (3 * MS,), (8 * MS,), 40 * MS),
        TaskSpec("high", 30, (2 * MS, 22 * MS), (1 * MS, "lock.p", 1 * MS), 20 * MS),
    ),
    "cpis": (CpiSpec("lock.p", Protocol.INHERITED, (4 * MS,)),),
}


def nested() -> tuple[list[TaskSpec], list[CpiSpec]]:
    """Two pairs of tasks, each with a locked component; both go through to shared ones."""
    tasks = [
        TaskSpec("t1", 40, (3 * MS, 23 * MS), (1 * MS, "a.p", 1 * MS), 20 * MS),
        TaskSpec("t2", 30, (2 * MS, 42 * MS), (1 * MS, "a.p", 1 * MS), 40 * MS),
        TaskSpec("t3", 20, (1 * MS, 41 * MS), (1 * MS, "b.p", 1 * MS), 40 * MS),
        TaskSpec("t4", 10, (0,), (500_000, "b.p", 1 * MS), 80 * MS),
    ]
    cpis = [
        CpiSpec("a.p", Protocol.INHERITED, (1 * MS, "c.p", 500_000)),
        CpiSpec("b.p", Protocol.INHERITED, (1 * MS, "c.p", "d.p", 500_000)),
        CpiSpec("c.p", Protocol.INHERITED, (2 * MS, "e.p")),
        CpiSpec("d.p", Protocol.PROPAGATED, (1 * MS,)),
        CpiSpec("e.p", Protocol.FIXED, (500_000,)),
    ]
    return tasks, cpis
