# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Follows a trace record by record and knows at each instant who runs, who waits, and on whose behalf."""

from __future__ import annotations

from collections.abc import Iterable

from camkes.capdl.model import Role
from camkes.records import dataclass, field
from camkes.report.trace.events import NOBODY, Event
from camkes.report.trace.kinds import Block, KernelCall, Kind
from camkes.report.trace.names import NamedTask, TraceNames

_REASONS = {int(reason): reason for reason in Block}


@dataclass(slots=True)
class ThreadState:
    """What is known of a thread now. `client` is the thread whose call it serves, `server` the thread
    that received its own call; `lock` is the CPI (id) in whose queue it stands."""

    priority: int
    runnable: bool = True
    reason: Block | None = None
    object: int = 0
    operation: int = 0
    client: int | None = None
    server: int | None = None
    lock: int | None = None
    requests: list[tuple[int, int, int]] = field(default_factory=list)  # (cpi, context, task), open


class Tracker:
    """The state of a run. `apply` takes it over one record."""

    def __init__(self, names: TraceNames) -> None:
        self.names = names
        self.threads: dict[int, ThreadState] = {
            thread.number: ThreadState(thread.priority) for thread in names.threads
        }
        self.running: int | None = None
        self.in_job: dict[int, int] = {}  # control thread -> index of the job it is in
        self._waiters: dict[tuple[int, int], int] = {}  # (cpi, context) -> worker

    def state(self, thread: int) -> ThreadState:
        return self.threads.setdefault(thread, ThreadState(0))

    def apply(self, event: Event) -> None:
        kind, thread, other = event.kind, event.thread, event.other
        if kind is Kind.IDLE:
            self.running = None
        if thread is None:
            return
        state = self.state(thread)
        if kind is Kind.SWITCH:
            self.running, state.priority = thread, event.args[0]
            state.runnable, state.reason = True, None
        elif kind is Kind.READY:
            state.runnable, state.reason = True, None
        elif kind is Kind.BLOCK:
            state.runnable = False
            state.reason = _REASONS.get(event.args[0])
            state.object = event.args[1]
        elif kind in (Kind.FAULT, Kind.EXIT):
            state.runnable, state.reason = False, Block.FAULT
        elif kind is Kind.PRIORITY:
            state.priority = event.args[1]
        elif kind is Kind.KCALL:
            state.operation = event.args[0]
        elif kind is Kind.TRANSFER and other is not None:
            called = state.reason is Block.CALL or state.operation == KernelCall.CALL
            self.state(other).client = thread if called else None
            state.server = other if called else None
        elif kind is Kind.REPLY and other is not None:
            self.state(other).server = None
            if state.client == other:
                state.client = None
        elif kind is Kind.REQUEST_BEGIN:
            state.requests.append((event.args[0], event.args[1], event.args[3]))
        elif kind is Kind.REQUEST_END:
            if state.requests:
                state.requests.pop()
        elif kind is Kind.LOCK_WAIT:
            worker = thread if other is None else other
            self._waiters[event.args[0], event.args[1]] = worker
            self.state(worker).lock = event.args[0]
        elif kind in (Kind.LOCK_GRANT, Kind.LOCK_TAKE):
            waiter = self._waiters.pop((event.args[0], event.args[1]), None)
            if waiter is not None:
                self.state(waiter).lock = None
        elif kind is Kind.JOB_BEGIN:
            self.in_job[thread] = event.args[0]
        elif kind is Kind.JOB_END:
            self.in_job.pop(thread, None)

    def origin(self, thread: int | None) -> NamedTask | None:
        """The task on whose behalf a thread works: its own, or that of the call it serves."""
        seen: set[int] = set()
        while thread is not None and thread not in seen:
            seen.add(thread)
            named, state = self.names.thread(thread), self.state(thread)
            if named and named.role is Role.CONTROL and named.task is not None:
                return self.names.task(named.task)
            if state.client is None and state.requests and state.requests[-1][2] != NOBODY:
                return self.names.task(state.requests[-1][2])
            thread = state.client
        return None

    def leaf(self, thread: int) -> int:
        """The thread at the end of a chain of calls that begins at `thread`: the one to be executed."""
        seen = {thread}
        while True:
            state = self.state(thread)
            server = state.server
            if (
                server is None
                or server in seen
                or state.lock is not None
                or self.state(server).client != thread
            ):
                return thread
            seen.add(server)
            thread = server

    def service(self, thread: int | None) -> str:
        """The interface ("inst.iface") that a thread serves; empty for control threads."""
        named = self.names.thread(thread)
        return named.service if named and named.role is not Role.CONTROL else ""


def endpoint_services(events: Iterable[Event], names: TraceNames) -> dict[int, str]:
    """For each object through which messages went: the interface of the thread that received them."""
    services: dict[int, str] = {}
    for event in events:
        if event.kind is Kind.TRANSFER:
            receiver = names.thread(event.other)
            if receiver and receiver.service and receiver.role is not Role.CONTROL:
                services.setdefault(event.args[0], receiver.service)
    return services
