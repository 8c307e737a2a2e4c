# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""On an MCS kernel: workers between the answer to a request, or its abort, and the next message that they
receive. A roll-back has the lock of its request until it ends, but what its caller does meanwhile is another
matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from camkes.capdl.model import Role
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import KernelCall, Kind
from camkes.report.trace.lending import Waiter
from camkes.report.trace.names import TraceNames


class WayHome:
    """Follows the records of messages. `holders` and `queues` are those of each lock, `requests` the CPI and
    context of each worker; the owner keeps them up to date. The CPIs `suspending` need not answer."""

    def __init__(
        self,
        names: TraceNames,
        holders: Mapping[int, Sequence[int]],
        queues: Mapping[int, Sequence[Waiter]],
        requests: Mapping[int, tuple[int, int]],
        suspending: Set[int],
    ) -> None:
        self._names, self._suspending = names, suspending
        self._holders, self._queues, self._requests = holders, queues, requests
        self._restarting: int | None = None  # a manager
        self._clients: dict[int, int] = {}  # worker -> the thread whose request it has
        self._answered: set[int] = set()
        self.aborted: set[int] = set()  # workers that were restarted
        self._locks: dict[int, tuple[int, int]] = {}  # of these -> the lock and the context that has it

    def step(self, event: Event) -> None:
        """Note what a record means."""
        kind, thread, other = event.kind, event.thread, event.other
        if thread is None:
            return
        if kind is Kind.KCALL:
            self._restarting = thread if event.args[0] == KernelCall.RESUME else None
        elif kind is Kind.READY and other is not None and other == self._restarting:
            if self._role(thread) is Role.WORKER:
                self._abort(thread)
        elif kind is Kind.REPLY:
            for worker in [w for w, client in self._clients.items() if client == other]:
                del self._clients[worker]
                self._answered.add(worker)
        elif kind is Kind.TRANSFER and other is not None and self._role(thread) is not Role.MANAGER:
            self._clients[other] = thread
            self._answered.discard(other)
            self.aborted.discard(other)
        elif kind is Kind.LOCK_FREE:
            freed = (self._names.lock(event.args[0]), event.args[1])
            self._locks = {worker: held for worker, held in self._locks.items() if held != freed}

    def _abort(self, worker: int) -> None:
        self.aborted.add(worker)
        cpi, context = self._requests.get(worker, (-1, -1))
        lock = self._names.lock(cpi)
        if context in self._holders.get(lock, ()):
            self._locks[worker] = (lock, context)
        if cpi in self._suspending and self._clients.pop(worker, None) is not None:
            self._answered.add(worker)

    def has(self, worker: int) -> bool:
        """Whether no caller waits for a worker any more."""
        return worker in self._answered

    def waiters(self, worker: int) -> Sequence[Waiter]:
        """Those that wait for the lock of a request that it rolls back."""
        return self._queues[self._locks[worker][0]] if worker in self._locks else ()

    def rolls_back(self, lock: int, context: int) -> bool:
        """Whether a context has a lock for the roll-back of its request alone."""
        return (lock, context) in self._locks.values()

    def others(self) -> dict[int, list[int]]:
        """Those that hold each lock, but for roll-backs."""
        return {
            lock: [context for context in held if not self.rolls_back(lock, context)]
            for lock, held in self._holders.items()
        }

    def _role(self, thread: int) -> Role | None:
        named = self._names.thread(thread)
        return None if named is None else named.role
