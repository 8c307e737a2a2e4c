# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""On an MCS kernel: which threads have no time, where scheduling contexts are that are not at home, and
whether each is used by whom it should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from camkes.capdl.model import Role
from camkes.protocols.cycles import reached
from camkes.protocols.plan import Plan
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Binding, Kind
from camkes.report.trace.lending import Waiter
from camkes.report.trace.model import Refused
from camkes.report.trace.names import NamedThread, TraceNames
from camkes.report.trace.sent import SentMessages
from camkes.report.trace.way_home import WayHome


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


class PaymentChecker(BudgetTracker):
    """A: a task pays for its own work, in whatever thread, and for what holds a lock with the policy `help`
    that it waits for; an extension only for its CPI or task. Each context is charged for exactly that, and no
    policy takes the end of a part of a budget for the end of the budget.

    `holders` and `queues` are those of each lock, `requests` the CPI and context of each worker; the owner
    keeps them up to date.
    """

    def __init__(
        self,
        names: TraceNames,
        plan: Plan,
        holders: Mapping[int, Sequence[int]],
        queues: Mapping[int, Sequence[Waiter]],
        requests: Mapping[int, tuple[int, int]],
    ) -> None:
        super().__init__(names, mcs=plan.mcs)
        self.mcs = plan.mcs
        self.holders, self.queues, self.requests = holders, queues, requests
        self.helping = {names.lock(cpi.id) for cpi in plan.cpis if cpi.overrun.rules.helps}
        suspending = {cpi.id for cpi in plan.cpis if cpi.overrun.rules.suspends}
        self.way_home = WayHome(names, holders, queues, requests, suspending)
        self.tasks: dict[int, int] = {}  # worker -> the task of its request
        self.running: int | None = None
        self.time = 0
        self.awake: set[int] = set()  # threads that could execute with time
        self.used: Counter[int] = Counter()  # since it was charged
        self.left: dict[int, int] = {}  # of the first refill of a context, when it was charged
        self.sent = SentMessages()
        self.stopped: set[int] = set()  # threads whose last message was sent, not called
        self.partly: dict[int, int] = {}  # thread -> the context of which only a part was used up

    def check(self, event: Event) -> Iterator[str]:
        """What is wrong with the time until a record, and with the record."""
        if not self.mcs:
            return
        yield from self._worked(event.time - self.time)
        self.time = event.time
        self.way_home.step(event)
        self._note_sent(event)
        kind, thread, args = event.kind, event.thread, event.args
        if kind in (Kind.SWITCH, Kind.IDLE):
            self.running = thread if kind is Kind.SWITCH else None
            self.partly.pop(thread if thread is not None else -1, None)
        elif kind is Kind.REQUEST_BEGIN and thread is not None:
            self.tasks[thread] = args[3]
        elif kind is Kind.CHARGE:
            self.left[args[0]] = args[2]
            worked = self.used.pop(args[0], 0)
            if worked != args[1]:
                yield f"{self.names.object_name(args[0])} is charged {args[1]} ns for {worked} ns of work"
        elif kind is Kind.TIMEOUT and thread is not None and self.left.get(args[0]):
            self.partly[thread] = args[0]
        else:
            yield from self._early(event)
        self.step(event)
        yield from self._idle(event)

    def _note_sent(self, event: Event) -> None:
        """Keeps which threads have received what was sent, so that they have no time."""
        kind, thread = event.kind, event.thread
        found: list[Refused] = []
        if kind is Kind.TRANSFER and thread is not None and event.other is not None:
            found = self.sent.transfer(event.time, thread, event.other, event.args)
            self.stopped.discard(event.other)
        elif kind is Kind.BLOCK and thread is not None:
            self.sent.blocked(thread, event.args)
        elif kind in (Kind.SWITCH, Kind.IDLE):
            found = self.sent.seen()
        self.stopped.update(each.thread for each in found)

    def _idle(self, event: Event) -> Iterator[str]:
        """Where nothing executes, each thread that could has a scheduling context, whose refill it waits for.
        Workers that were aborted wait for the extension of their CPI, or for the way home; one that received
        what was sent has no time, which is reported of the sender (E0807)."""
        if event.thread is not None and event.kind in (Kind.READY, Kind.SWITCH):
            self.awake.add(event.thread)
        elif event.kind in (Kind.BLOCK, Kind.FAULT, Kind.EXIT):
            self.awake.discard(event.thread if event.thread is not None else -1)
        for thread in (
            sorted(self.awake - self.way_home.aborted - self.stopped) if event.kind is Kind.IDLE else ()
        ):
            if self._context_of(thread) is None:
                yield f"{self.names.thread_name(thread)} could execute, but has no scheduling context"

    def _early(self, event: Event) -> Iterator[str]:
        """A thread whose budget is not used up gets other time, or its job is stopped."""
        about = event.other if event.kind is Kind.JOB_STOP else event.thread
        if about not in self.partly:
            return
        bound = event.kind is Kind.BIND and event.args[1] == Binding.BOUND
        if event.kind is Kind.JOB_STOP or (bound and event.args[0] != self.partly[about]):
            part = self.names.object_name(self.partly[about])
            yield f"{self.names.thread_name(about)} has overrun, but {part} has budget"

    def _worked(self, time: int) -> Iterator[str]:
        thread = self.names.thread(self.running)
        if thread is None or time <= 0:
            return
        context = self._context_of(thread.number)
        if context is None:
            yield f"{thread.name} executes without a scheduling context"
            return
        self.used[context] += time
        if not self._pays(context, thread):
            yield (
                f"{thread.name} executes on {self.names.object_name(context)}, which is that of no task that "
                "requests this or waits for it"
            )

    def _context_of(self, thread: int) -> int | None:
        return next((context for context, holder in self.bound.items() if holder == thread), None)

    def _pays(self, context: int, thread: NamedThread) -> bool:
        home = self.homes.get(context)
        owner = self.names.object_name(context).partition("!")[0] if home is None else ""
        if home == thread.number or owner == thread.name:
            return True
        if thread.number in self.way_home.aborted and owner == self.names.cpi_name(thread.cpi or 0):
            return True  # it rolls back, perhaps without having begun
        if thread.role is not Role.WORKER or thread.number not in self.requests:
            return thread.role is Role.INTERFACE  # without a protocol: on the time of its callers
        payers: set[int | None] = set()
        if home is not None:
            named = self.names.thread(home)
            payers.add(None if named is None else named.task)
        else:  # an extension: of a task, or of those whose requests the CPI serves
            payers |= {named.id for named in self.names.tasks if named.name == owner}
            payers |= {
                self.tasks[w] for w, (c, _) in self.requests.items() if self.names.cpi_name(c) == owner
            }
        task, origin = self.tasks[thread.number], self.requests[thread.number][1]
        return any(payer is not None and (payer == task or self._waits(payer, origin)) for payer in payers)

    def _waits(self, task: int, context: int) -> bool:
        """Whether a task waits for a lock with the policy `help` that a context holds, directly or not."""

        def waiting(holder: int) -> list[int]:
            chain = self._chain(holder)
            held = [lock for lock in self.helping if not chain.isdisjoint(self.holders[lock])]
            return [waiter.context for lock in held for waiter in self.queues[lock]]

        return any(self._task(waiter) == task for waiter in reached(waiting(context), waiting))

    def _served_by(self, context: int) -> int | None:
        """The worker whose requests have a context, which is that of a fixed CPI."""
        threads = ((w, self.names.thread(w)) for w in self.requests)
        return next((w for w, t in threads if t is not None and t.context == context), None)

    def _chain(self, context: int) -> set[int]:
        """A context, and if that is one of a fixed CPI those of its caller, and so on."""
        found: set[int] = set()
        while context not in found:
            found.add(context)
            worker = self._served_by(context)
            context = context if worker is None else self.requests[worker][1]
        return found

    def _task(self, context: int) -> int | None:
        """Whose time the requests of a context use: those of a fixed CPI use that of its caller."""
        own = next((task.id for task in self.names.tasks if task.context == context), None)
        worker = self._served_by(context)
        return own if own is not None or worker is None else self.tasks[worker]
