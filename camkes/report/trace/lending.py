# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The threads that wait for conditions and their helpers, for the property checker: from records of waits
alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from camkes.protocols.plan import Plan
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Kind


class Waiter(Struct, frozen=True):
    """A context in the queue of a lock."""

    context: int
    arrival: int


class WaitTracker:
    """Waits under way. The runtime's own records of what is lent (LEND) are not read."""

    def __init__(self, plan: Plan) -> None:
        contexts = {task.name: task.context.id for task in plan.tasks}
        self._helpers = {c.id: {contexts[task] for task in c.lending.tasks()} for c in plan.conditions}
        self._names = {c.id: c.name for c in plan.conditions}
        #: threads that wait: the condition, and the context that they work for
        self._waits: dict[int, tuple[int, int]] = {}

    def step(self, event: Event) -> None:
        """Note what a record means for waits."""
        if event.other is not None and event.kind is Kind.COND_WAIT:
            self._waits[event.other] = event.args[0], event.args[1]
        elif event.other is not None and event.kind in (Kind.COND_WAKE, Kind.COND_EXPIRE):
            self._waits.pop(event.other, None)

    def others(self, thread: int) -> Iterator[tuple[int, bool]]:
        """The contexts that wait for the same as a thread, and whether they began before it."""
        condition = self._waits.get(thread, (None, 0))[0]
        before = True
        for other, (each, context) in self._waits.items():
            if other == thread:
                before = False
            elif each == condition:
                yield context, before

    def waits(self, thread: int) -> bool:
        """Whether a thread waits for a condition."""
        return thread in self._waits

    def helps(self, context: int) -> bool:
        """Whether a context is that of a task that can be lent priorities."""
        return any(context in helpers for helpers in self._helpers.values())

    def waiters(self, helper: int) -> Sequence[int]:
        """The contexts that wait for what a context can signal."""
        return [c for k, c in self._waits.values() if c != helper and helper in self._helpers.get(k, ())]


def wait_cycle(
    context: int, queues: Mapping[int, Sequence[int]], holders: Mapping[int, list[int]]
) -> list[int]:
    """Contexts each of which waits for a lock of the next, if following them leads back to `context`.
    `queues` are the contexts that wait for the lock of each CPI, `holders` those that hold it."""
    waits_for = {
        waiter: holder for cpi, queue in queues.items() for waiter in queue for holder in holders[cpi][:1]
    }
    chain = [context]
    while (following := waits_for.get(chain[-1])) is not None and following not in chain:
        chain.append(following)
    return chain if following == context else []
