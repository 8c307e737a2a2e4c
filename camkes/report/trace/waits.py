# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Who waits for whom: for what a thread was doing when it stopped, and for who waits for ever at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from camkes.capdl.model import Role
from camkes.records import dataclass, field
from camkes.report.trace.events import NOBODY, Event
from camkes.report.trace.kinds import Block, End, KernelCall, Kind
from camkes.report.trace.names import TraceNames

_RECEIVING = (KernelCall.RECV, KernelCall.REPLYRECV, KernelCall.NBRECV)


class Cause(StrEnum):
    """Why what a thread waits for cannot come."""

    FAULT = "fault"  # the thread that it waits for stopped at a fault
    ENDED = "ended"  # that thread's code has returned
    DEADLOCK = "deadlock"  # that thread waits for the one that waits for it
    SILENCE = "silence"  # that thread waits for an event or a message, and the run is idle


@dataclass(frozen=True, slots=True)
class Step:
    """`thread` waits for `what`, which `by` (a thread, None: nobody) would have to do. `cpi` is the CPI whose
    lock it is about, "": it is about no lock."""

    thread: int
    what: str
    by: int | None
    cpi: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """A thread that waits for ever: `steps` lead from it to `root`, the thread that does not go on."""

    steps: tuple[Step, ...]
    root: int | None
    cause: Cause

    @property
    def thread(self) -> int:
        return self.steps[0].thread


@dataclass(frozen=True, slots=True)
class Stopped:
    """What a thread was doing when a fault stopped it. `time` is in virtual nanoseconds; `service` is the
    interface that it served, `client` the thread whose request that was and `task` the one that began it
    all ("": none). `holds` are the CPIs whose locks it held."""

    time: int
    thread: int
    service: str
    client: str
    task: str
    holds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Situation:
    """What faults and waits a run ended with."""

    stopped: tuple[Stopped, ...]
    waits: tuple[Wait, ...]

    def at(self, thread: int) -> Stopped | None:
        """The last stop of a thread."""
        return next((s for s in reversed(self.stopped) if s.thread == thread), None)

    def because_of(self, thread: int) -> tuple[Wait, ...]:
        """Who waits for ever because this thread stopped."""
        return tuple(w for w in self.waits if w.root == thread)


def situation(events: Iterable[Event], names: TraceNames) -> Situation:
    """The faults of a run, and who waits for what that cannot come at its end."""
    state = _Waits(names)
    for event in events:
        state.apply(event)
    return Situation(tuple(state.stopped), tuple(state.waits()))


def describe(wait: Wait, names: TraceNames) -> str:
    """ "a waits for a reply of mid; mid waits for the lock of store, held by b" """
    steps = [f"{names.thread_name(step.thread)} waits for {step.what}" for step in wait.steps]
    root = names.thread_name(wait.root)
    end = {
        Cause.FAULT: "",
        Cause.ENDED: f"; the code of {root} has returned",
        Cause.DEADLOCK: "; this is a deadlock",
        Cause.SILENCE: "",
    }
    return "; ".join(steps) + end[wait.cause]


def wait_dict(wait: Wait, names: TraceNames) -> dict[str, Any]:
    """For programs."""
    return {
        "thread": names.thread_name(wait.thread),
        "cause": wait.cause.value,
        "because": None if wait.root is None else names.thread_name(wait.root),
        "steps": [
            {
                "thread": names.thread_name(step.thread),
                "for": step.what,
                "by": None if step.by is None else names.thread_name(step.by),
                "cpi": step.cpi or None,
            }
            for step in wait.steps
        ],
    }


@dataclass(slots=True)
class _Thread:
    """What is known of a thread now. `client` is the thread whose call it serves, `server` the one that
    received its last message; `lock` is the CPI (id) in whose queue it stands."""

    runnable: bool = True
    reason: int = 0
    object: int = 0
    client: int | None = None
    server: int | None = None
    lock: int | None = None
    tasks: list[int] = field(default_factory=list)  # of the requests that it serves


class _Waits:
    """Who waits for whom, record by record."""

    def __init__(self, names: TraceNames) -> None:
        self.names = names
        self.stopped: list[Stopped] = []
        self.idle = False
        self.gone: dict[int, Cause] = {}
        self._threads: dict[int, _Thread] = {thread.number: _Thread() for thread in names.threads}
        self._holders: dict[int, int] = {}  # cpi -> context
        self._workers: dict[tuple[int, int], int] = {}  # (cpi, context) -> thread
        self._receivers: dict[int, list[int]] = {}  # object -> threads, in the order in which they came

    def state(self, thread: int) -> _Thread:
        return self._threads.setdefault(thread, _Thread())

    def apply(self, event: Event) -> None:
        kind, thread = event.kind, event.thread
        if kind is Kind.END:
            self.idle = event.args[0] == End.IDLE
        elif thread is None:
            return
        elif kind in (Kind.FAULT, Kind.EXIT):
            self.state(thread).runnable = False
            if kind is Kind.FAULT:
                self.gone[thread] = Cause.FAULT
                self.stopped.append(self._stop(event.time, thread))
            else:
                self.gone.setdefault(thread, Cause.ENDED)
        elif kind in (Kind.READY, Kind.SWITCH):
            self.state(thread).runnable = True
            self.gone.pop(thread, None)
        elif kind is Kind.BLOCK:
            state = self.state(thread)
            state.runnable, state.reason, state.object = False, event.args[0], event.args[1]
            if state.reason == Block.REPLY and state.server is not None:
                self.state(state.server).client = thread
        elif kind is Kind.KCALL and event.args[0] in _RECEIVING:
            receivers = self._receivers.setdefault(event.args[1], [])
            if thread not in receivers:
                receivers.append(thread)
        elif kind in (Kind.TRANSFER, Kind.REPLY):
            self._message(event, thread)
        else:
            self._annotation(event, thread)

    def _message(self, event: Event, thread: int) -> None:
        """A message is received, or answered. That it is a call shows when its sender waits for the reply."""
        other = event.other
        if other is None:
            return
        if event.kind is Kind.TRANSFER:
            self.state(other).client = None
            self.state(thread).server = other
        else:
            self.state(other).server = None
            if self.state(thread).client == other:
                self.state(thread).client = None

    def _annotation(self, event: Event, thread: int) -> None:
        kind, args = event.kind, event.args
        if kind is Kind.REQUEST_BEGIN:
            self._workers[args[0], args[1]] = thread
            self.state(thread).tasks.append(args[3])
        elif kind is Kind.REQUEST_END:
            if self.state(thread).tasks:
                self.state(thread).tasks.pop()
        elif kind is Kind.LOCK_WAIT:
            self.state(thread if event.other is None else event.other).lock = args[0]
        elif kind in (Kind.LOCK_TAKE, Kind.LOCK_GRANT):
            self._holders[args[0]] = args[1]
            worker = self._workers.get((args[0], args[1]))
            if worker is not None and self.state(worker).lock == args[0]:
                self.state(worker).lock = None
        elif kind is Kind.LOCK_FREE:
            self._holders.pop(args[0], None)

    def _task(self, thread: int) -> str:
        """The task on whose behalf a thread works, "": none that is known."""
        seen: set[int] = set()
        at: int | None = thread
        while at is not None and at not in seen:
            seen.add(at)
            named, state = self.names.thread(at), self.state(at)
            task = None
            if named is not None and named.role is Role.CONTROL:
                task = self.names.task(named.task)
            elif state.client is None and state.tasks and state.tasks[-1] != NOBODY:
                task = self.names.task(state.tasks[-1])
            if task is not None:
                return task.name
            at = state.client
        return ""

    def _service(self, thread: int) -> str:
        named = self.names.thread(thread)
        return named.service if named is not None and named.role is not Role.CONTROL else ""

    def _stop(self, time: int, thread: int) -> Stopped:
        client = self.state(thread).client
        return Stopped(
            time,
            thread,
            self._service(thread) if client is not None else "",
            "" if client is None else self.names.thread_name(client),
            self._task(thread),
            tuple(
                self.names.cpi_name(cpi)
                for cpi, context in sorted(self._holders.items())
                if self._workers.get((cpi, context)) == thread
            ),
        )

    def waits(self) -> Iterator[Wait]:
        """Each chain of waits that cannot end, from the first thread of it. A thread that waits in the middle
        of another's chain has none of its own."""
        steps = {thread: step for thread in sorted(self._threads) if (step := self._step(thread))}
        followed = {step.by for step in steps.values()}
        shown: set[int] = set()
        # a deadlock has no first thread
        for thread in sorted(steps, key=lambda t: (t in followed, t)):
            if thread in shown:
                continue
            wait = self._follow(thread, steps)
            if wait is not None and (thread not in followed or wait.cause is Cause.DEADLOCK):
                shown.update(step.thread for step in wait.steps)
                yield wait

    def _follow(self, thread: int, steps: dict[int, Step]) -> Wait | None:
        chain: list[Step] = []
        at: int | None = thread
        while at is not None and at in steps:
            if any(step.thread == at for step in chain):
                return Wait(tuple(chain), at, Cause.DEADLOCK)
            chain.append(steps[at])
            at = steps[at].by
        if at is not None and at in self.gone:
            return Wait(tuple(chain), at, self.gone[at])
        return Wait(tuple(chain), at, Cause.SILENCE) if self.idle else None

    def _step(self, thread: int) -> Step | None:
        """What a thread waits for that another one has to do."""
        state = self.state(thread)
        if thread in self.gone or state.runnable:
            return None
        if state.lock is not None:
            cpi = self.names.cpi_name(state.lock)
            context = self._holders.get(state.lock)
            if context is None:
                return Step(thread, f"the lock of {cpi}, which nobody holds", None, cpi)
            holder = self._workers.get((state.lock, context))
            return Step(thread, f"the lock of {cpi}, held by {self.names.thread_name(holder)}", holder, cpi)
        if state.reason == Block.REPLY and state.server is not None:
            return Step(thread, f"a reply of {self.names.thread_name(state.server)}", state.server)
        if state.reason in (Block.CALL, Block.SEND):
            receivers = self._receivers.get(state.object, [])
            alive = [r for r in receivers if r not in self.gone]
            receiver = next(iter(alive or receivers), None)
            name = self.names.thread_name(receiver)
            what = "a message to be received" if receiver is None else f"{name} to receive its message"
            return Step(thread, what, receiver)
        return None
