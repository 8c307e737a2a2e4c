# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""States, jobs and faults of a run in words: the same in every output."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from string import ascii_letters, ascii_lowercase

from camkes.running.kinds import FaultKind
from camkes.running.model import Fault, Holder, Overrun, Payment, State, StateSegment
from camkes.running.names import NamedCondition, TraceNames
from camkes.running.times import format_time

_FAULTS = {
    FaultKind.READ: "invalid read",
    FaultKind.WRITE: "invalid write",
    FaultKind.EXECUTE: "invalid jump",
    FaultKind.STACK: "stack overflow",
    FaultKind.ARITHMETIC: "division by zero or arithmetic error",
    FaultKind.INSTRUCTION: "illegal instruction",
    FaultKind.ABORT: "abort",
    FaultKind.CAPABILITY: "invalid capability",
    FaultKind.LOOP: "loops without consuming virtual time",
    FaultKind.EXIT: "its component called exit",
    FaultKind.KILLED: "the process of its component was killed",
    FaultKind.SYSCALL: "system call of the workstation",
    FaultKind.BLOCKED: "waits for something outside the system",
    FaultKind.TIMEOUT: "its budget is used up",
    FaultKind.RECORD: "writes a record of the trace that is not its own",
}

_OF = {
    State.RUNNING: "running in",
    State.WAITS_LOCK: "waits for the lock of",
    State.WAITS_MUTEX: "waits for the mutex",
    State.WAITS_SEMAPHORE: "waits for the semaphore",
    State.WAITS_EVENT: "waits for the event",
    State.WAITS_HELPED: "blocked on",
    State.WAITS_SERVER: "waits for the server",
    State.WAITS_REPLY: "waits for a reply of",
    State.WAITS_SIGNAL: "waits for the signal",
    State.WAITS_SLOT: "waits for a slot of",
}


class Look(StrEnum):
    """How pictures draw a task that does not run, with the words of their legends."""

    WAITS = "waits for a lock or server"
    SIGNAL = "waits for an event or semaphore"
    HELD_UP = "held up by a raised priority"
    READY = "ready or preempted"
    SLEEPS = "sleeps"
    STOPPED = "stopped by a fault"
    SLOT = "waits for its slot"
    BUDGET = "out of budget"


#: of each state but RUNNING
LOOKS = {
    State.WAITS_LOCK: Look.WAITS,
    State.WAITS_MUTEX: Look.WAITS,
    State.WAITS_SEMAPHORE: Look.SIGNAL,
    State.WAITS_EVENT: Look.SIGNAL,
    State.WAITS_HELPED: Look.WAITS,
    State.WAITS_SERVER: Look.WAITS,
    State.WAITS_REPLY: Look.WAITS,
    State.HELD_UP: Look.HELD_UP,
    State.NOT_STARTED: Look.READY,
    State.READY: Look.READY,
    State.PREEMPTED: Look.READY,
    State.WAITS_RELEASE: Look.SLEEPS,
    State.WAITS_SIGNAL: Look.SLEEPS,
    State.WAITS_MESSAGE: Look.SLEEPS,
    State.SUSPENDED: Look.SLEEPS,
    State.ENDED: Look.SLEEPS,
    State.FAULTED: Look.STOPPED,
    State.WAITS_BUDGET: Look.BUDGET,
    State.WAITS_SLOT: Look.SLOT,
}


def letters(names: Iterable[str]) -> dict[str, str]:
    """A different letter for each name, one of its own if possible; `?` when there are no more letters."""
    found: dict[str, str] = {}
    for name in names:
        wanted = [c for c in name.lower() if c in ascii_lowercase] + list(ascii_letters)
        found[name] = next((c for c in wanted if c not in found.values()), "?")
    return found


def state_words(segment: StateSegment, names: TraceNames) -> str:
    """What a thread or a task does: "running in db.store", "waits for the lock of db.store", "blocked on
    log.full, helped by writer"."""
    state, what = segment.state, segment.what
    if state is State.WAITS_HELPED:
        return ", ".join(filter(None, (f"{_OF[state]} {what}", helped_words(names.condition(what)))))
    if state is State.HELD_UP:
        where = f"in {what} " if what else ""
        return f"held up by work {where}at priority {segment.priority}"
    words = f"{_OF[state]} {what}" if what and state in _OF else state.value
    return ", ".join((words, *(held_words(state, each) for each in segment.holders)))


def held_words(state: State, holder: Holder) -> str:
    """Who has what is waited for: "held by db.store for low since 3 ms", "which serves low since 3 ms"."""
    since = f"since {exact_time(holder.since)}"
    if state is State.WAITS_SERVER:
        return f"which serves {holder.task or 'another'} {since}"
    task = holder.task
    work = f" for {task}" if task and not holder.thread.endswith(f"@{task}") else ""
    return f"held by {holder.thread}{work} {since}"


def helped_words(condition: NamedCondition | None) -> str:
    """ "helped by writer"; empty for what is not a condition, or has no helpers."""
    return f"helped by {', '.join(condition.helpers)}" if condition is not None and condition.helpers else ""


def overrun_words(overrun: Overrun) -> str:
    """ "the budget of low is used up at 3 ms in store.s: help"."""
    where = f" in {overrun.what}" if overrun.what else ""
    return f"the budget of {overrun.payer} is used up at {exact_time(overrun.time)}{where}: {overrun.policy}"


def payment_words(payment: Payment) -> str:
    """ "low in store.s on the budget of high"."""
    where = f" in {payment.what}" if payment.what else ""
    return f"{payment.task}{where} on the budget of {payment.payer}"


def exact_time(ns: int) -> str:
    """A time to the nanosecond, in a fitting unit."""
    return format_time(ns, 9)


def fault_words(fault: Fault) -> str:
    """ "fault of db.store@t1 at 12 ms, working for t1: invalid read"."""
    work = f", working for {fault.task}" if fault.task and fault.task != fault.thread.name else ""
    handled = "" if fault.stopped else " (handled)"
    return f"fault of {fault.thread.name} at {exact_time(fault.time)}{work}: {_FAULTS[fault.kind]}{handled}"
