# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""On an MCS kernel: which threads have no time, and where scheduling contexts are that are not at home."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Binding, Kind
from camkes.report.trace.names import TraceNames


class BudgetTracker:
    """Follows scheduling contexts by the records of the kernel. `short` are the threads that have no time
    to execute; on another kernel there are none."""

    def __init__(self, names: TraceNames, *, mcs: bool) -> None:
        self.names = names
        self.bound: dict[int, int] = {}  # context -> thread
        self.postponed: set[int] = set()
        self.homes: dict[int, int] = {}  # context -> thread, of threads that began with one
        self.short = {thread.number for thread in names.threads} if mcs else set()

    def step(self, event: Event) -> None:
        if event.kind is Kind.BIND:
            self._bind(event.args[0], event.args[1], event.thread, event.other)
        elif event.kind is Kind.POSTPONE:
            self.postponed.add(event.args[0])
        elif event.kind is Kind.RELEASE:
            self.postponed.discard(event.args[0])
        else:
            return
        holder = self.bound.get(event.args[0])
        if holder is not None:
            (self.short.add if event.args[0] in self.postponed else self.short.discard)(holder)

    def _bind(self, context: int, how: int, thread: int | None, by: int | None) -> None:
        before = self.bound.pop(context, None)
        if before is not None:
            self.short.add(before)
        if thread is not None and how != Binding.UNBOUND:
            self.bound[context] = thread
            if by is None and how == Binding.BOUND:
                self.homes[context] = thread

    def away(self) -> Iterator[int]:
        """Each thread that began with a scheduling context and does not have it now."""
        return (thread for context, thread in self.homes.items() if self.bound.get(context) != thread)
