# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waits-for relations: why a thread waited when it stopped, and which threads wait for ever at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from camkes.capdl.model import Role
from camkes.capdl.uses import Gate
from camkes.running.names import TraceNames


class Cause(StrEnum):
    """Why what a thread waits for cannot come."""

    FAULT = "fault"  # the thread that it waits for stopped at a fault
    ENDED = "ended"  # that thread's code has returned
    DEADLOCK = "deadlock"  # that thread waits for the one that waits for it
    SUSPENDED = "suspended"  # that thread is suspended, and was not resumed
    SILENCE = "silence"  # that thread waits for an event or a message, and the run is idle


class WaitStep(Struct, frozen=True):
    """`thread` waits for `what`, which `by` (a thread, or None) would have to do. `cpi` is the CPI whose
    lock it is about, "": it is about no lock."""

    thread: int
    what: str
    by: int | None
    cpi: str = ""


class Wait(Struct, frozen=True):
    """A thread that waits for ever: `steps` lead from it to `root`, the thread that does not go on."""

    steps: tuple[WaitStep, ...]
    root: int | None
    cause: Cause

    @property
    def thread(self) -> int:
        return self.steps[0].thread


class Stopped(Struct, frozen=True):
    """What a thread was doing when a fault stopped it. `time` is in virtual nanoseconds; `service` is the
    interface that it served, `client` the thread whose request that was and `task` the one that began it
    all ("": none). `holds` are the CPIs whose locks it held."""

    time: int
    thread: int
    service: str
    client: str
    task: str
    holds: tuple[str, ...]


class Situation(Struct, frozen=True):
    """What faults and waits a run ended with."""

    stopped: tuple[Stopped, ...]
    waits: tuple[Wait, ...]

    def at(self, thread: int) -> Stopped | None:
        """The last stop of a thread."""
        return next((s for s in reversed(self.stopped) if s.thread == thread), None)

    def because_of(self, thread: int) -> tuple[Wait, ...]:
        """The threads that wait for ever because this thread stopped."""
        return tuple(w for w in self.waits if w.root == thread)


def describe(wait: Wait, names: TraceNames) -> str:
    """ "a waits for a reply of mid; mid waits for the lock of store, held by b" """
    steps = [f"{names.thread_name(step.thread)} waits for {step.what}" for step in wait.steps]
    root = names.thread_name(wait.root)
    end = {
        Cause.FAULT: "",
        Cause.ENDED: f"; the code of {root} has returned",
        Cause.DEADLOCK: "; this is a deadlock",
        Cause.SUSPENDED: f"; {root} is suspended",
        Cause.SILENCE: "",
    }
    return "; ".join(steps) + end[wait.cause]


class StepReport(Struct, frozen=True):
    """`thread` waits for something that thread `by` (null: no one) would have to do; `cpi` is that whose lock
    it is about, null: no lock."""

    thread: str
    what: str = field(name="for")
    by: str | None
    cpi: str | None


class WaitReport(Struct, frozen=True):
    """A thread that waits for ever: the steps lead from it to the thread `because` of which it does, null if
    there is no such thread."""

    thread: str
    cause: Cause
    because: str | None
    steps: tuple[StepReport, ...]


def wait_report(wait: Wait, names: TraceNames) -> WaitReport:
    return WaitReport(
        thread=names.thread_name(wait.thread),
        cause=wait.cause,
        because=None if wait.root is None else names.thread_name(wait.root),
        steps=tuple(
            StepReport(
                thread=names.thread_name(step.thread),
                what=step.what,
                by=None if step.by is None else names.thread_name(step.by),
                cpi=step.cpi or None,
            )
            for step in wait.steps
        ),
    )


class AtEnd(Struct, frozen=True):
    """What a thread does at the end of a run. `gone`: why its code does not go on, None: it may. Else it can
    run, or it waits: for the `lock` of a CPI (id), for a reply of the thread `server`, for a thread to
    receive its message at an `object`, for a signal or for a message at one, or for a `condition` (id)."""

    gone: Cause | None = None
    lock: int | None = None
    server: int | None = None
    object: int | None = None
    signal: int | None = None
    message: int | None = None
    condition: int | None = None


class Standing(Struct, frozen=True):
    """The end of a run: threads by number, the thread that holds each lock (by the CPI's id; None: not
    known), the threads that receive at each object, those of tasks in a job that should end. `idle`: nothing
    more would have happened."""

    threads: Mapping[int, AtEnd]
    holders: Mapping[int, int | None]
    receivers: Mapping[int, Sequence[int]]
    in_jobs: Collection[int]
    idle: bool


def find_waits(end: Standing, names: TraceNames) -> tuple[Wait, ...]:
    """The threads that wait for what cannot come."""
    return tuple(_WaitFinder(end, names).waits())


#: what threads wait for at a notification, by the kind in its name
_SIGNALLED = {
    "mutex": "mutex",
    "semaphore": "semaphore",
    "binary_semaphore": "binary semaphore",
    "notification": "event",
    "handoff": "event",
}


class _WaitFinder:
    def __init__(self, end: Standing, names: TraceNames) -> None:
        self.end, self.names = end, names

    def waits(self) -> Iterator[Wait]:
        """Each chain of waits that cannot end, from the first thread of it. A thread that waits in the middle
        of another's chain has none of its own."""
        steps = {thread: step for thread in sorted(self.end.threads) if (step := self._step(thread))}
        self._add_signals(steps)
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
        for thread in sorted(self.end.in_jobs) if self.end.idle else ():
            rest = self._rest(thread)
            if rest and thread not in shown:
                yield Wait(rest, thread, Cause.SILENCE)

    def _add_signals(self, steps: dict[int, WaitStep]) -> None:
        """Steps of threads that wait for a signal which no thread can send any more, because of a fault.
        Other threads that wait for signals are at rest. A manager that waits for the release of its lock
        is not listed: the waiter of the lock is."""
        threads = self.end.threads
        failed = {number for number, state in threads.items() if state.gone is Cause.FAULT}
        stuck = self._stuck() if failed else set()
        managers = {thread.number for thread in self.names.threads if thread.role is Role.MANAGER}
        waiting = {number for number in stuck - managers if threads[number].signal is not None}
        while failed:
            found = {number for number, step in steps.items() if number not in failed and step.by in failed}
            for number in sorted(waiting - failed):
                sender = next((s for s in self._senders(threads[number].signal) if s in failed), None)
                if sender is not None:
                    steps[number] = WaitStep(number, f"a signal of {self.names.thread_name(sender)}", sender)
                    found.add(number)
            if not found:
                break
            failed |= found

    def _senders(self, number: int | None) -> tuple[int, ...]:
        return () if number is None else self.names.senders_at(number)

    def _stuck(self) -> set[int]:
        """The threads that go on only if another one of them does."""
        threads = self.end.threads
        stuck = {number for number, state in threads.items() if state != AtEnd()}
        while free := {n for n in stuck if not threads[n].gone and self._can_go_on(threads[n], stuck)}:
            stuck -= free
        return stuck

    def _can_go_on(self, state: AtEnd, stuck: set[int]) -> bool:
        """Whether a thread that is not one of these can end what this one waits for."""
        if state.lock is not None:
            holder = self.end.holders.get(state.lock)
            return holder is not None and holder not in stuck
        if state.server is not None:
            return state.server not in stuck
        if state.object is not None:
            return not stuck.issuperset(self.end.receivers.get(state.object, ()))
        senders = self._senders(state.message if state.signal is None else state.signal)
        return not (senders and stuck.issuperset(senders))

    def _follow(self, thread: int, steps: dict[int, WaitStep]) -> Wait | None:
        chain: list[WaitStep] = []
        at: int | None = thread
        while at is not None and at in steps:
            if any(step.thread == at for step in chain):
                return Wait(tuple(chain), at, Cause.DEADLOCK)
            chain.append(steps[at])
            at = steps[at].by
        cause = self.end.threads[at].gone if at is not None and at in self.end.threads else None
        if cause is not None:
            return Wait(tuple(chain), at, cause)
        silent = self.end.idle or (at is not None and self._serves_no_more(at, chain))
        return Wait((*chain, *self._rest(at)), at, Cause.SILENCE) if silent else None

    def _rest(self, thread: int | None) -> tuple[WaitStep, ...]:
        """What a thread waits for that others would signal: a mutex or a semaphore, an event, a condition."""
        state = None if thread is None else self.end.threads.get(thread)
        if thread is None or state is None or state.gone is not None:
            return ()
        if state.condition is not None:
            return (WaitStep(thread, self.names.condition_name(state.condition), None),)
        if state.signal is None:
            return ()
        name, _, kind = self.names.object_name(state.signal).partition(":")
        what = f"the {_SIGNALLED[kind]} {name}" if kind in _SIGNALLED else name
        return (WaitStep(thread, what, None),)

    def _serves_no_more(self, thread: int, chain: Sequence[WaitStep]) -> bool:
        """Whether a thread that owes a reply waits at the gate of its instance, as mocks do that never
        answer: nothing comes there once threads serve requests."""
        waiting = self.end.threads[thread].message
        owes = bool(chain) and self.end.threads[chain[-1].thread].server == thread
        gate = Gate(self.names.threads[thread].instance).endpoint
        return owes and waiting is not None and self.names.object_name(waiting) == gate

    def _step(self, thread: int) -> WaitStep | None:
        """What a thread waits for that another one has to do."""
        state = self.end.threads[thread]
        if state.gone is not None:
            return None
        if state.lock is not None:
            cpi = self.names.lock_name(state.lock)
            if state.lock not in self.end.holders:
                return WaitStep(thread, f"the lock of {cpi}, which is free", None, cpi)
            holder = self.end.holders[state.lock]
            return WaitStep(
                thread, f"the lock of {cpi}, held by {self.names.thread_name(holder)}", holder, cpi
            )
        if state.server is not None:
            return WaitStep(thread, f"a reply of {self.names.thread_name(state.server)}", state.server)
        if state.object is not None:
            receivers = self.end.receivers.get(state.object, ())
            alive = [r for r in receivers if self.end.threads[r].gone is None]
            receiver = next(iter(alive or receivers), None)
            name = self.names.thread_name(receiver)
            what = "its message to be received" if receiver is None else f"{name} to receive its message"
            return WaitStep(thread, what, receiver)
        return None
