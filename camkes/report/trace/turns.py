# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The tasks of bands, for the property checker: what priorities they have, and whether these are in the
order of deadlines, which are computed from the releases of jobs and the text."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.capdl.model import Role
from camkes.model.system import System
from camkes.protocols.plan import Plan
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Kind
from camkes.report.trace.names import NamedThread


class TurnTracker:
    """`priority` is that of the control thread of each task of a band, by the id of its context. That of its
    requests is kept in `base`: while one is under way it only rises."""

    def __init__(self, plan: Plan, system: System | None, base: dict[int, int]) -> None:
        self._tasks = {task.context.id: task for task in plan.tasks if task.band is not None}
        self._contexts = {task.id: task.context.id for task in self._tasks.values()}
        self._base = base
        self._deadlines = {t.instance: t.relative_deadline for t in system.tasks} if system else {}
        #: the deadlines of jobs that are under way, by which they are ordered
        self._due: dict[int, int] = {}
        #: those that wait for a request
        self._asking: set[int] = set()
        self.priority = {context: task.highest for context, task in self._tasks.items()}

    def step(self, event: Event, thread: NamedThread | None) -> Iterator[str]:
        """Note a decision; what is wrong when a job begins, of which `thread` is the control thread."""
        if event.kind is Kind.TURN:
            self._decided(*event.args)
        elif event.kind in (Kind.CALL_BEGIN, Kind.CALL_END) and thread is not None:
            if thread.role is Role.CONTROL and thread.task in self._contexts:
                self._asks(self._contexts[thread.task], event.kind is Kind.CALL_BEGIN)
        elif event.kind is Kind.JOB_BEGIN and thread is not None and thread.task in self._contexts:
            yield from self._begins(self._contexts[thread.task], event.args[1])
            yield from self._out_of_order()

    def _decided(self, context: int, priority: int, due: int) -> None:
        task = self._tasks.get(context)
        if task is None or task.band is None:
            return  # no scheduler decides about it
        self.priority[context] = priority
        self._set_base(context)
        if priority == task.band.highest:
            self._due.pop(context, None)
        elif task.band.order.moves_requests:
            self._due[context] = due

    def _asks(self, context: int, begins: bool) -> None:
        """A request of a task begins or ends."""
        if begins:
            self._asking.add(context)
        else:
            self._asking.discard(context)
            self._set_base(context)

    def _set_base(self, context: int) -> None:
        band = self._tasks[context].band
        assert band is not None
        before = self._base[context] if context in self._asking else 0
        self._base[context] = max(self.priority[context], band.base, before)

    def _begins(self, context: int, release: int) -> Iterator[str]:
        task = self._tasks[context]
        true = release + (self._deadlines.get(task.name) or 0)
        if self.priority[context] == task.highest:
            yield f"a job of {task.name} begins at the priority of its scheduler"
        elif self._due.get(context, true) != true:
            yield f"a job of {task.name} is ordered by {self._due[context]} ns; its deadline is {true} ns"

    def _out_of_order(self) -> Iterator[str]:
        """Pairs of jobs of a band of which the one with the later deadline has not the lower priority."""
        due = sorted(self._due, key=self._due.__getitem__)
        for index, first in enumerate(due):
            for second in due[index + 1 :]:
                one, other = self._tasks[first], self._tasks[second]
                later = one.band is other.band and self._due[first] < self._due[second]
                if later and self.priority[first] <= self.priority[second]:
                    yield f"{one.name} has the earlier deadline and no higher priority than {other.name}"
