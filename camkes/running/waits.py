# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waits-for relations: why a thread waited when it stopped, and which threads wait for ever at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from camkes.capdl.model import Role
from camkes.capdl.uses import Gate
from camkes.running.holders import SyncState
from camkes.running.names import TraceNames


class Cause(StrEnum):
    """Why what a thread waits for cannot come."""

    FAULT = "fault"  # the thread that it waits for stopped at a fault
    ENDED = "ended"  # that thread's code has returned
    DEADLOCK = "deadlock"  # that thread waits for the one that waits for it
    SUSPENDED = "suspended"  # that thread is suspended, and was not resumed
    SILENCE = "silence"  # that thread waits for an event or a message, and the run is idle
    STARTING = "starting"  # the same while it initialises its instance, whatever others do


class WaitStep(Struct, frozen=True):
    """`thread` waits for `what`, which `by` (a thread, or None) would have to do. `cpi` is the CPI whose
    lock it is about, "": it is about no lock. It waits `since` then, and if `by` has what it waits for, that
    does since `held`; both in virtual nanoseconds."""

    thread: int
    what: str
    by: int | None
    cpi: str = ""
    since: int = 0
    held: int | None = None


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


class Deadlock(Struct, frozen=True):
    """Threads that wait for each other: `steps` go once around. `others` wait for ever because of it, each
    with the step that it begins with."""

    steps: tuple[WaitStep, ...]
    others: tuple[WaitStep, ...]


def deadlocks(waits: Iterable[Wait]) -> tuple[Deadlock, ...]:
    """The cycles in which these waits end, each once."""
    found: dict[frozenset[int], Deadlock] = {}
    for wait in waits:
        if wait.cause is Cause.DEADLOCK:
            first = next(at for at, step in enumerate(wait.steps) if step.thread == wait.root)
            cycle = wait.steps[first:]
            threads = frozenset(step.thread for step in cycle)
            known = found.get(threads, Deadlock(cycle, ()))
            more = tuple(step for step in wait.steps[:first] if step not in known.others)
            found[threads] = replace(known, others=(*known.others, *more))
    return tuple(found.values())


def step_words(step: WaitStep, names: TraceNames) -> str:
    """ "a waits for a reply of mid" """
    return f"{names.thread_name(step.thread)} waits for {step.what}"


def deadlock_words(found: Deadlock, names: TraceNames) -> str:
    """ "deadlock: a waits for a reply of mid; mid waits for a to receive its message" """
    return f"deadlock: {'; '.join(step_words(step, names) for step in found.steps)}"


def describe(wait: Wait, names: TraceNames) -> str:
    """ "a waits for a reply of mid; mid waits for the lock of store, held by b" """
    steps = [step_words(step, names) for step in wait.steps]
    root = names.thread_name(wait.root)
    end = {
        Cause.FAULT: "",
        Cause.ENDED: f"; the code of {root} has returned",
        Cause.DEADLOCK: "; this is a deadlock",
        Cause.SUSPENDED: f"; {root} is suspended",
        Cause.SILENCE: "",
        Cause.STARTING: ", in its initialisation",
    }
    return "; ".join(steps) + end[wait.cause]


class StepReport(Struct, frozen=True):
    """`thread` waits for something that thread `by` (null: no one) would have to do; `cpi` is that whose lock
    it is about, null: no lock. It waits `since` then; `held` is since when `by` has what it waits for, null:
    it has nothing."""

    thread: str
    what: str = field(name="for")
    by: str | None
    cpi: str | None
    since: int
    held: int | None


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
                since=step.since,
                held=step.held,
            )
            for step in wait.steps
        ),
    )


class AtEnd(Struct, frozen=True):
    """What a thread does at the end of a run. `gone`: why its code does not go on, None: it may. Else it can
    run, or it waits: for the `lock` of a CPI (id), for a reply of the thread `server`, for a thread to
    receive its message at an `object`, for a signal or for a message at one, or for a `condition` (id); and
    it does `since` then. `kept`: the server keeps the reply for later, and another thread may send it."""

    gone: Cause | None = None
    lock: int | None = None
    server: int | None = None
    object: int | None = None
    signal: int | None = None
    message: int | None = None
    condition: int | None = None
    since: int = 0
    kept: bool = False


class Standing(Struct, frozen=True):
    """The end of a run: threads by number; the holder of each lock (by the CPI's id), None: not known, and
    since when; the threads that receive at each object; mutexes, semaphores and events by their objects;
    those that initialise their instances, and those of tasks in a job that should end. `idle`: nothing more
    would have happened."""

    threads: Mapping[int, AtEnd]
    holders: Mapping[int, tuple[int | None, int]]
    receivers: Mapping[int, Sequence[int]]
    syncs: Mapping[int, SyncState]
    starting: Collection[int]
    in_jobs: Collection[int]
    idle: bool


def find_waits(end: Standing, names: TraceNames) -> tuple[Wait, ...]:
    """The threads that wait for what cannot come."""
    return tuple(_WaitFinder(end, names).waits())


#: what those do that end waits
_ENDS = {"mutex": "unlock", "event": "emit"}


class _WaitFinder:
    """`stuck` are the threads that go on only if another one of them does: each thread whose wait has an end
    in them alone, whatever timers do."""

    def __init__(self, end: Standing, names: TraceNames) -> None:
        self.end, self.names = end, names
        self.stuck = {number for number, state in end.threads.items() if state != AtEnd()}
        while free := {n for n in self.stuck if self._can_go_on(n)}:
            self.stuck -= free

    def waits(self) -> Iterator[Wait]:
        """Each chain of waits that cannot end, from the first thread of it. A thread that waits in the middle
        of another's chain has none of its own."""
        steps = {thread: step for thread in sorted(self.end.threads) if (step := self._step(thread))}
        self._add_signals(steps)
        steps |= {
            thread: step for thread in sorted(self.stuck - set(steps)) if (step := self._of_sync(thread))
        }
        holders = {step.by for step in steps.values() if step.held is not None and step.by is not None}
        steps |= {
            thread: step for thread in sorted(holders - set(steps)) if (step := self._of_request(thread))
        }
        followed = {step.by for step in steps.values()}
        shown: set[int] = set()
        for thread in sorted(self.end.starting):
            rest = (steps[thread],) if thread in steps else self._rest(thread)
            if rest and thread not in shown and (self.end.idle or thread in self.stuck):
                shown.add(thread)
                yield Wait(rest, thread, Cause.STARTING)
        # a deadlock has no first thread
        for thread in sorted(steps, key=lambda t: (t in followed, t)):
            if thread in shown:
                continue
            wait = self._follow(thread, steps)
            if (
                wait is not None
                and wait.cause in (Cause.ENDED, Cause.SUSPENDED, Cause.SILENCE)
                and not self._has_to_end(thread)
            ):
                continue  # it waits for the next event, and there is none
            if wait is not None and (thread not in followed or wait.cause is Cause.DEADLOCK):
                shown.update(step.thread for step in wait.steps)
                yield wait
        for thread in sorted(self.end.in_jobs) if self.end.idle else ():
            rest = self._rest(thread)
            if rest and thread not in shown:
                yield Wait(rest, thread, Cause.SILENCE)

    def _enders(self, thread: int) -> Collection[int] | None:
        """The threads that can end what this one waits for; None: others can, too, or time."""
        state = self.end.threads[thread]
        if state.lock is not None:
            holder = self.end.holders.get(state.lock, (None, 0))[0]
            return () if holder is None else (holder,)
        if state.server is not None:
            return None if state.kept else (state.server,)
        if state.object is not None:
            return self.end.receivers.get(state.object) or None
        if state.condition is not None:
            return self._helpers(state.condition)
        if state.signal is not None and state.signal in self.end.syncs:
            return self.end.syncs[state.signal].enders()
        number = state.message if state.signal is None else state.signal
        return (() if number is None else self.names.senders_at(number)) or None

    def _helpers(self, condition: int) -> Collection[int] | None:
        """The control threads of the tasks that alone can end a wait for a condition."""
        named = self.names.conditions[condition] if condition < len(self.names.conditions) else None
        if named is None or not named.alone:
            return None
        threads = self.names.threads
        return [t.number for t in threads if t.role is Role.CONTROL and t.instance in named.helpers]

    def _can_go_on(self, thread: int) -> bool:
        """Whether a thread that is not stuck can end what this one waits for."""
        if self.end.threads[thread].gone:
            return False
        enders = self._enders(thread)
        return enders is None or not self.stuck.issuperset(enders)

    def _add_signals(self, steps: dict[int, WaitStep]) -> None:
        """Steps of threads that wait for a signal which no thread can send any more, because of a fault.
        Other threads that wait for signals are at rest. A manager that waits for the release of its lock
        is not listed: the waiter of the lock is."""
        threads = self.end.threads
        failed = {number for number, state in threads.items() if state.gone is Cause.FAULT}
        managers = {thread.number for thread in self.names.threads if thread.role is Role.MANAGER}
        waiting = {n for n in self.stuck - managers if threads[n].signal is not None} if failed else set()
        while failed:
            found = {number for number, step in steps.items() if number not in failed and step.by in failed}
            for number in sorted(waiting - failed):
                signal = threads[number].signal
                senders = () if signal is None else self.names.senders_at(signal)
                sender = next((s for s in senders if s in failed), None)
                if sender is not None:
                    what = f"a signal of {self.names.thread_name(sender)}"
                    steps[number] = WaitStep(number, what, sender, since=threads[number].since)
                    found.add(number)
            if not found:
                break
            failed |= found

    def _of_sync(self, thread: int) -> WaitStep | None:
        """What a thread that is stuck waits for at a mutex, a semaphore or an event, or for a condition."""
        state = self.end.threads[thread]
        found = self._enders(thread)
        if state.gone is not None or found is None:
            return None
        enders = tuple(found)
        if state.condition is not None and enders:
            what = self.names.condition_name(state.condition)
            return WaitStep(thread, what, self._first(enders), since=state.since)
        sync = self.end.syncs.get(state.signal) if state.signal is not None else None
        if sync is None:
            return None
        what = f"the {sync.named.kind} {sync.named.name}"
        if not enders:
            what += f", which no code can {_ENDS.get(sync.named.kind, 'post')}"
            return WaitStep(thread, what, None, since=state.since)
        held = sync.holders
        if held and set(held) == set(enders):
            names = [self.names.thread_name(holder) for holder in held]
            by = self._first(tuple(held))
            return WaitStep(
                thread, f"{what}, held by {' and '.join(names)}", by, since=state.since, held=held[by]
            )
        return WaitStep(
            thread, f"{what}, {self._only(enders, sync.named.kind)}", self._first(enders), since=state.since
        )

    def _of_request(self, thread: int) -> WaitStep | None:
        """What a thread waits for that is stuck, has what others wait for, and serves no request."""
        state = self.end.threads[thread]
        clients = tuple(self._enders(thread) or ())
        if thread not in self.stuck or state.message is None or not clients:
            return None
        names = " or ".join(map(self.names.thread_name, clients))
        return WaitStep(
            thread, f"its next request, which only {names} can make", self._first(clients), since=state.since
        )

    def _first(self, threads: Sequence[int]) -> int:
        """Which of several threads that could end a wait is followed: one that is in a request, or in a
        job."""
        waits = self.end.threads
        return next((t for t in threads if waits[t].message is None and waits[t].gone is None), threads[0])

    def _only(self, threads: Sequence[int], kind: str) -> str:
        names = " or ".join(map(self.names.thread_name, threads))
        return f"which only {names} can {_ENDS.get(kind, 'post')}"

    def _follow(self, thread: int, steps: dict[int, WaitStep]) -> Wait | None:
        chain: list[WaitStep] = []
        at: int | None = thread
        while at is not None and at in steps:
            if any(step.thread == at for step in chain):
                return self._cycle(chain, at)
            chain.append(steps[at])
            at = steps[at].by
        cause = self.end.threads[at].gone if at is not None and at in self.end.threads else None
        if cause is not None:
            return Wait(tuple(chain), at, cause)
        never = at is None and bool(chain) and self.end.threads[chain[-1].thread].signal is not None
        silent = self.end.idle or never or (at is not None and self._serves_no_more(at, chain))
        return Wait((*chain, *self._rest(at)), at, Cause.SILENCE) if silent else None

    def _cycle(self, chain: Sequence[WaitStep], at: int) -> Wait | None:
        """A chain that comes back to the thread `at`: a deadlock, unless none has to go on there, as
        servers that wait for each other's events have not, or another thread could end one of the waits."""
        threads = [step.thread for step in chain]
        cycle = threads[threads.index(at) :]
        needed = any(self._has_to_end(thread) for thread in threads)
        return Wait(tuple(chain), at, Cause.DEADLOCK) if needed and self.stuck.issuperset(cycle) else None

    def _has_to_end(self, thread: int) -> bool:
        state = self.end.threads[thread]
        sync = self.end.syncs.get(state.signal) if state.signal is not None else None
        at_rest = state.condition is not None or (state.signal is not None and not (sync and sync.holders))
        return not at_rest or thread in self.end.in_jobs

    def _rest(self, thread: int | None) -> tuple[WaitStep, ...]:
        """What a thread waits for that others would signal: a mutex or a semaphore, an event, a condition."""
        state = None if thread is None else self.end.threads.get(thread)
        if thread is None or state is None or state.gone is not None:
            return ()
        if state.condition is not None:
            return (WaitStep(thread, self.names.condition_name(state.condition), None, since=state.since),)
        if state.signal is None:
            return ()
        sync = self.end.syncs.get(state.signal)
        if sync is None:
            what = self.names.object_name(state.signal).partition(":")[0]
        else:
            what = f"the {sync.named.kind} {sync.named.name}"
        return (WaitStep(thread, what, None, since=state.since),)

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
                return WaitStep(thread, f"the lock of {cpi}, which is free", None, cpi, state.since)
            holder, held = self.end.holders[state.lock]
            what = f"the lock of {cpi}, held by {self.names.thread_name(holder)}"
            return WaitStep(thread, what, holder, cpi, state.since, held)
        if state.server is not None:
            what = f"a reply of {self.names.thread_name(state.server)}"
            return WaitStep(thread, what, state.server, since=state.since)
        if state.object is not None:
            receivers = self.end.receivers.get(state.object, ())
            alive = [r for r in receivers if self.end.threads[r].gone is None]
            receiver = next(iter(alive or receivers), None)
            name = self.names.object_service(state.object)
            name = name if receiver is None else self.names.thread_name(receiver)
            what = f"{name} to receive its message"
            return WaitStep(thread, what, receiver, since=state.since)
        return None
