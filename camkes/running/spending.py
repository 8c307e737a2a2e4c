# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What was used of the scheduling contexts of an MCS kernel, and for whom, while a trace is decoded."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from camkes.capdl.model import EXTENSION
from camkes.running.model import Overrun, Payment, Spent
from camkes.running.names import TraceNames
from camkes.running.states import TaskState, ThreadState

Args = tuple[int, ...]

_EXTENSION = f"{EXTENSION}:sc"


class Spending:
    """By the objects of the contexts. `origin` is the task on whose behalf a thread works, `now` the time.
    The functions `on_...` are those of the decoder for records of these kinds."""

    def __init__(
        self,
        names: TraceNames,
        origin: Callable[[ThreadState], TaskState | None],
        now: Callable[[], int],
    ) -> None:
        self.names, self.origin, self.now = names, origin, now
        self.contexts: dict[int, Spent] = {}
        self.users: dict[int, ThreadState | None] = {}  # the threads that have the contexts
        self.left: dict[int, list[tuple[int, int]]] = {}
        self.refilled: dict[int, int] = {}  # when, and not used since
        self.charged: dict[int, int] = {}  # what was left after the last use
        self.payments: list[Payment] = []
        self.overruns: list[Overrun] = []
        self.criticality: list[tuple[int, int]] = []
        self.payers = {task.name for task in names.tasks}
        self.paid: tuple[str, str, str] | None = None  # payer, task, where: now
        self.since = 0

    def on_budget(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        name = self.names.object_name(args[0]) if thread is None else thread.named.name
        if name.endswith(_EXTENSION):
            name = f"extension of {name.removesuffix(_EXTENSION)}"
            self.payers.add(name)
        spent = self.contexts.get(args[0], Spent(name, 0, 0))
        self.contexts[args[0]] = replace(spent, budget=args[1], period=args[2])

    def on_bind(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        self.users[args[0]] = thread

    def on_charge(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        if (spent := self.contexts.get(args[0])) is not None:
            used, left = args[1:]
            self.charged[args[0]] = left
            self.contexts[args[0]] = replace(spent, used=spent.used + used)
            corners = self.left.setdefault(args[0], [(0, spent.budget)])
            start, before, last = self.now() - used, min(used + left, spent.budget), corners[-1][1]
            refilled = self.refilled.pop(args[0], start)
            found = [(refilled, last), (refilled, before)] if last != before else []
            for corner in (*found, (start, before), (self.now(), left)):
                if corner != corners[-1]:
                    corners.append(corner)

    def on_criticality(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        self.criticality.append((self.now(), args[0]))

    def on_timeout(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if (spent := self.contexts.get(args[0])) is None or thread is None:
            return
        thread.overrun = True
        if self.charged.get(args[0]):
            return  # a part is used up and not the budget: its handler lets the thread go on
        self.contexts[args[0]] = replace(spent, timeouts=spent.timeouts + 1)
        lane = self.origin(thread)
        cpi = self.names.cpi(thread.named.cpi)
        task = lane.task if lane is not None and lane.task.id >= 0 else None
        policy = cpi.overrun if cpi is not None else task.overrun if task is not None else ""
        self.overruns.append(
            Overrun(
                self.now(), spent.name, thread.named.name, task.name if task is not None else "",
                thread.service, policy,
            )
        )  # fmt: skip

    def postponed(self, args: Args) -> None:
        if len(args) == 1:
            self.refilled[args[0]] = self.now()
        elif (spent := self.contexts.get(args[0])) is not None:
            self.contexts[args[0]] = replace(spent, waits=spent.waits + 1)

    def passes(self, running: ThreadState | None, lane: TaskState | None) -> None:
        """Time passes, in which a thread works for a task."""
        paid = None
        if self.users and running is not None and lane is not None and lane.task.id >= 0:
            context = next((c for c, user in self.users.items() if user is running), -1)
            spent = self.contexts.get(context)
            if spent is not None and spent.name in self.payers and spent.name != lane.task.name:
                paid = (spent.name, lane.task.name, running.service)
        if paid != self.paid:
            self._close()
            self.paid, self.since = paid, self.now()

    def _close(self) -> None:
        if self.paid is not None and self.now() > self.since:
            self.payments.append(Payment(self.since, self.now(), *self.paid))

    def finish(
        self,
    ) -> tuple[tuple[Spent, ...], tuple[Payment, ...], tuple[Overrun, ...], tuple[tuple[int, int], ...]]:
        self._close()
        spent = (
            replace(each, left=tuple(self.left.get(context, ())))
            for context, each in self.contexts.items()
            if each.budget < each.period
        )
        return tuple(spent), tuple(self.payments), tuple(self.overruns), tuple(self.criticality)
