# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the property checker derives from the kernel's records of messages and timers alone: which threads
wait for whose reply, on behalf of which task a request is made, and when jobs are released."""

from __future__ import annotations

from collections.abc import Iterator, Set

from camkes.capdl.model import Role
from camkes.model.limits import NO_NUMBER
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Blocked, KernelCall, Kind
from camkes.report.trace.names import TraceNames

_SERVING = (Role.WORKER, Role.MANAGER, Role.INTERFACE)
#: what ends a wait in a queue
_LEAVES = {
    Kind.LOCK_GRANT: Kind.LOCK_WAIT,
    Kind.COND_WAKE: Kind.COND_WAIT,
    Kind.COND_EXPIRE: Kind.COND_WAIT,
}
_JOBS = (Kind.JOB_BEGIN, Kind.JOB_END)


class MessageTracker:
    """Follows messages record by record. `lost_replies` and the others give what is wrong at a record."""

    def __init__(self, names: TraceNames, suspending: Set[int], *, at_any_time: bool = False) -> None:
        """`suspending` are the CPIs that answer the requests of suspended tasks when they see fit."""
        self._names = names
        self.suspending = suspending
        self._at_any_time = at_any_time
        self._receiver: dict[int, int] = {}  # thread -> who received its last message, until it goes on
        self._clients: dict[int, dict[int, None]] = {}  # thread -> those that wait for its reply
        self._sender: dict[int, int] = {}  # thread -> whose message it received last
        # in the queue of a lock or a condition, or of both: their replies are kept
        self._queued: set[tuple[Kind, int]] = set()
        self._origins: dict[int, int] = {}  # thread in a request -> the task that began it all
        self._timers = {task.timer: task for task in names.tasks if task.timer is not None}

    def step(self, event: Event) -> None:
        """Note what a record means for messages."""
        kind, thread, other = event.kind, event.thread, event.other
        if thread is None:
            return
        if kind is Kind.TRANSFER and other is not None:
            self._receiver[thread] = other
            self._sender[other] = thread
        elif kind is Kind.BLOCK and event.args[0] == Blocked.REPLY:
            if thread in self._receiver:
                self._clients.setdefault(self._receiver[thread], {})[thread] = None
        elif kind in (Kind.READY, Kind.FAULT, Kind.EXIT) or (
            kind is Kind.BLOCK and event.args[0] == Blocked.SUSPENDED
        ):
            server = self._receiver.pop(thread, None)
            if server is not None:
                self._clients.get(server, {}).pop(thread, None)
        elif kind is Kind.KCALL and event.args[0] == KernelCall.SAVECALLER:
            if self._role(thread) is not Role.MANAGER:
                self._clients.pop(thread, None)  # answered later, when the component sees fit
        elif kind in (Kind.LOCK_WAIT, Kind.COND_WAIT):
            self._queued.add((kind, thread if other is None else other))
        elif kind in _LEAVES:
            self._queued.discard((_LEAVES[kind], thread if other is None else other))
        elif kind is Kind.REQUEST_END:
            self._origins.pop(thread, None)

    def lost_replies(self, event: Event) -> Iterator[tuple[int, int]]:
        """The threads that wait for the reply of another, which waits for the next message instead, or uses
        the reply for that. (Those in the queue of a manager are to wait.)"""
        thread = event.thread
        if thread is not None and event.kind is Kind.BLOCK and event.args[0] == Blocked.SUSPENDED:
            server = self._receiver.get(thread)
            if server is not None and server == event.other and thread in self._clients.get(server, {}):
                yield thread, server
        if thread is None or event.kind is not Kind.BLOCK or event.args[0] != Blocked.RECV:
            return
        if self._role(thread) in _SERVING and self._cpi(thread) not in self.suspending:
            for client in self._clients.pop(thread, {}):
                queued = any((kind, client) in self._queued for kind in _LEAVES.values())
                if queued:
                    self._clients.setdefault(thread, {})[client] = None
                else:
                    yield client, thread

    def wrong_origin(self, event: Event) -> tuple[int, int] | None:
        """The task that a request claims to be of, and its true task, if these differ."""
        thread = event.thread
        if event.kind is not Kind.REQUEST_BEGIN or thread is None:
            return None
        claimed, true = event.args[3], self._origin(self._sender.get(thread))
        self._origins[thread] = claimed if true is None else true
        return None if true is None or true == claimed else (claimed, true)

    def _origin(self, thread: int | None) -> int | None:
        """The task on whose behalf a thread sends requests; None: the records do not show it."""
        named = self._names.thread(thread)
        if named is not None and named.role is Role.CONTROL:
            return NO_NUMBER if named.task is None else named.task
        return None if thread is None else self._origins.get(thread)

    def wrong_release(self, event: Event) -> str:
        """What is wrong with a release, by the task's period and offset in the text; "": nothing."""
        if event.kind is Kind.TIMER and self._at_any_time:
            return ""
        if event.kind is Kind.TIMER and event.args[0] in self._timers:
            task = self._timers[event.args[0]]
            number, when = event.args[1] - 1, event.time
        elif event.kind in _JOBS and event.thread is not None:
            named = self._names.thread(event.thread)
            found = self._names.task(named.task) if named is not None else None
            if found is None:
                return ""
            task, (number, when) = found, event.args
        else:
            return ""
        if not task.period and (number > 0 or not task.offset):
            return ""
        true = task.offset + number * (task.period or 0)
        if event.time < true:
            return f"job {number} of {task.name} begins before its release at {true} ns"
        return (
            ""
            if when == true
            else f"job {number} of {task.name} is released at {when} ns and not at {true} ns"
        )

    def _cpi(self, thread: int) -> int | None:
        named = self._names.thread(thread)
        return None if named is None else named.cpi

    def _role(self, thread: int) -> Role | None:
        named = self._names.thread(thread)
        return None if named is None else named.role
