# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Replays the events of a run and reports where a property of the protocols does not hold.

The checker shares nothing with the runtime. From the LOCK_* and REQUEST_* records it rebuilds which contexts
hold and wait for locks, computes every effective priority anew from its definition

    eff(o) = max(base(o), max { eff(w) : w waits for a lock that o holds, or for what o helps to end })

and compares with what was executed by the kernel's records. The runtime's own records of inheritance
(INHERIT, UPDATE, CLEAR, LEND) are not read.

When things are compared: P at every SWITCH, and again whenever virtual time passes; the rest where it
happens. A protocol step is several records at one instant, and between them a thread's priority in the
kernel may not have its final value yet. So the priority that a thread should have decides at a SWITCH (of
managers, and of workers of a pool outside a request, that is the ceiling), and only when time passes must
the kernel's value for each running worker be exactly that.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from camkes.capdl.model import Role
from camkes.model.system import System
from camkes.protocols.cycles import reached
from camkes.protocols.groups import find_groups
from camkes.protocols.plan import Plan, PlannedCpi
from camkes.report.trace.budgets import PaymentChecker
from camkes.report.trace.ceilings import ceilings
from camkes.report.trace.demands import Property
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Blocked, EndReason, Kind
from camkes.report.trace.lending import Waiter, WaitTracker, wait_cycle
from camkes.report.trace.messages import MessageTracker
from camkes.report.trace.names import NamedThread, TraceNames
from camkes.report.trace.turns import TurnTracker

LIMIT = 100  # violations that are looked for


class Violation(Struct, frozen=True):
    """`record` is the index of the event at which it showed."""

    time: int
    property: Property
    explanation: str
    record: int

    def __str__(self) -> str:
        return f"{self.time} ns: {self.property.value}: {self.explanation}"


class PropertyChecker:
    """Takes the events of a run one after the other; `violations` are those found so far, at most `limit`."""

    def __init__(
        self,
        names: TraceNames,
        plan: Plan,
        system: System | None,
        limit: int = LIMIT,
        *,
        at_any_time: bool = False,
    ) -> None:
        """`at_any_time`: timers fired at the points of a schedule, not at their times."""
        self.limit = limit
        self.names = names
        self.cpis = {cpi.id: cpi for cpi in plan.cpis}
        suspending = {cpi.id for cpi in plan.cpis if cpi.overrun.rules.suspends}
        self.messages = MessageTracker(names, suspending, at_any_time=at_any_time)
        self.base = {context.id: context.base_priority for context in plan.contexts}
        self.raised = {task.context.id: task.priorities for task in plan.tasks if task.priorities}
        self.violations: list[Violation] = []
        self.time = 0
        self.record = -1  # no event yet
        self.priority = {thread.number: thread.priority for thread in names.threads}
        self.runnable = set(self.priority)
        self.gone: set[int] = set()
        self.reason: dict[int, int] = {}
        self.running: int | None = None
        self.started = False
        self.requests: dict[int, tuple[int, int]] = {}  # worker -> (cpi, context)
        self.calls: dict[int, tuple[int, int]] = {}  # thread -> (cpi, context)
        # threads of pools: at the ceiling until their manager begins a request, and from its end until they
        # have the ceiling again, with its context
        self.arriving: set[int] = set()
        self.leaving: dict[int, int] = {}
        #: each CPI -> the one that represents its lock: the first of a monitor
        self.lock = {cpi: names.lock(cpi) for cpi in self.cpis}
        self.holders: dict[int, list[int]] = {cpi: [] for cpi in self.lock.values()}
        self.queues: dict[int, list[Waiter]] = {cpi: [] for cpi in self.lock.values()}
        self.lending = WaitTracker(plan)
        self.budgets = PaymentChecker(names, plan, self.holders, self.queues, self.requests)
        self.way_home = self.budgets.way_home
        self.grouped = {cpi.id for group in find_groups(plan) for cpi in group.cpis}
        self.arrivals = 0
        self._reported: set[tuple[object, ...]] = set()
        self.ceilings = {cpi.id: cpi.ceiling for cpi in plan.cpis}
        if system is not None:
            self._compute_priorities(plan, system)
        self.turns = TurnTracker(plan, system, self.base)

    def _compute_priorities(self, plan: Plan, system: System) -> None:
        """Priorities of tasks and ceilings of CPIs from the text, and where the plan has others."""
        stated = {task.instance: task.priority or 0 for task in system.tasks}
        raised = {task.name: max(task.priorities) for task in plan.tasks if task.priorities}
        computed = ceilings(system, plan.requests, [c.lending for c in plan.conditions], raised)
        self.ceilings = {cpi.id: computed[cpi.name] for cpi in plan.cpis}
        self.base = {c.id: stated[c.name] if c.is_task else computed[c.name] for c in plan.contexts}
        for cpi in plan.cpis:
            if cpi.ceiling != computed[cpi.name]:
                ceiling, true = cpi.ceiling, computed[cpi.name]
                wrong = f"the plan's ceiling of {cpi.name} is {ceiling}; expected {true}"
                self._report(Property.PRIORITY, wrong)

    # -- records ------------------------------------------------------------------------------------

    def step(self, event: Event) -> None:
        if len(self.violations) >= self.limit:
            return
        if event.time > self.time:
            self._time_passes(event.time)
            self._reported.clear()
        self.time, self.record = event.time, self.record + 1
        kind, thread = event.kind, event.thread
        self._check_messages(event)
        if kind is Kind.COND_WAKE and event.other is not None:
            self._check_woken(event.other, event.args[1])
        self.lending.step(event)
        for wrong in self.turns.step(event, self.names.thread(event.thread)):
            self._report(Property.PRIORITY, wrong)
        for wrong in self.budgets.check(event):
            self._report(Property.ACCOUNTING, wrong)
        if kind is Kind.SWITCH and thread is not None:
            self.running, self.started = thread, True
            self.runnable.add(thread)
            self.reason.pop(thread, None)
            self._check_choice()
        elif kind is Kind.IDLE:
            self.running = None
            self._check_choice()
            self._check_residue()
        elif kind is Kind.READY and thread is not None:
            self.gone.discard(thread)  # a fault handler let it go on
            self.runnable.add(thread)
            self.reason.pop(thread, None)
        elif kind is Kind.BLOCK and thread is not None:
            self.runnable.discard(thread)
            self.reason[thread] = event.args[0]
        elif kind in (Kind.FAULT, Kind.EXIT) and thread is not None:
            self.runnable.discard(thread)
            if kind is Kind.FAULT:
                self.gone.add(thread)
        elif kind is Kind.PRIORITY and thread is not None:
            self.priority[thread] = event.args[1]
            self.arriving.discard(thread)
            cpi = self._cpi_of(self.names.thread(thread))
            if cpi is not None and event.args[1] == self.ceilings[cpi.id]:
                self.leaving.pop(thread, None)
            self._check_bound(thread)
        elif kind is Kind.END and event.args[0] == EndReason.IDLE:
            self._check_liveness()
            self._check_residue()
        elif thread is not None:
            self._annotation(event, thread)

    def _annotation(self, event: Event, thread: int) -> None:
        kind = event.kind
        if kind is Kind.CALL_BEGIN:
            self.calls[thread] = (event.args[0], event.args[1])
        elif kind in (Kind.CALL_END, Kind.JOB_STOP):
            self.calls.pop(thread if event.other is None else event.other, None)
        elif kind is Kind.REQUEST_BEGIN:
            self._request_begins(thread, event.args[0], event.args[1])
        elif kind is Kind.REQUEST_END:
            ended = self.requests.pop(thread, None)
            self.calls.pop(thread, None)  # it was aborted in one
            if ended is not None and ended[0] in self.cpis and self.cpis[ended[0]].pooled:
                self.leaving[thread] = ended[1]
        elif kind is Kind.CRITICALITY:
            level = event.args[0]
            self.base |= {c: values[min(level, len(values) - 1)] for c, values in self.raised.items()}
        elif kind in (Kind.LOCK_TAKE, Kind.LOCK_GRANT, Kind.LOCK_WAIT, Kind.LOCK_FREE):
            cpi, context = event.args[0], event.args[1]
            if cpi not in self.cpis or context not in self.base:
                self._report(
                    Property.MUTUAL_EXCLUSION,
                    f"a lock record names CPI {cpi} and context {context}, which are not in the plan",
                )
            elif kind is Kind.LOCK_TAKE:
                self._taken(self.lock[cpi], context)
            elif kind is Kind.LOCK_GRANT:
                self._granted(self.lock[cpi], context)
            elif kind is Kind.LOCK_WAIT:
                self._waits(self.lock[cpi], context)
            else:
                self._freed(self.lock[cpi], context)

    def _request_begins(self, thread: int, cpi_id: int, context: int) -> None:
        cpi = self.cpis.get(cpi_id)
        named = self.names.thread(thread)
        if cpi is None or context not in self.base:
            self._report(
                Property.SAFE_METADATA,
                f"{self._who(thread)} serves a request of CPI {cpi_id} and context {context}, "
                "which are not in the plan",
            )
            return
        if named and named.context is not None and not cpi.one_endpoint and named.context != context:
            wrong = f"{self._who(thread)} serves a request as one of context {self._ctx(context)}"
            self._report(Property.SAFE_METADATA, wrong)
        others = [t for t, (c, _) in self.requests.items() if c == cpi_id and t != thread]
        if cpi.alone and others:
            self._report(
                Property.MUTUAL_EXCLUSION,
                f"{self._who(thread)} begins a request at {cpi.name} while {self._who(others[0])} serves one",
            )
        self.leaving.pop(thread, None)
        if cpi.pooled:
            self.arriving.add(thread)
        self.requests[thread] = (cpi_id, context)

    def _taken(self, cpi: int, context: int) -> None:
        if self.queues[cpi]:
            first = self._ctx(self._best(cpi).context)
            self._report(
                Property.HAND_OVER,
                f"{self._ctx(context)} takes the lock of {self._lock(cpi)} before {first}, which is waiting "
                "for it",
            )
        self._hold(cpi, context)

    def _granted(self, cpi: int, context: int) -> None:
        queue = self.queues[cpi]
        waiter = next((w for w in queue if w.context == context), None)
        if waiter is None:
            self._report(
                Property.HAND_OVER,
                f"the lock of {self._lock(cpi)} goes to {self._ctx(context)}, which does not wait for it",
            )
        else:
            best = self._best(cpi)
            earlier = ", earlier" if best.arrival < waiter.arrival else ""
            if waiter not in (best, self._best(cpi, settled=True)):
                self._report(
                    Property.HAND_OVER,
                    f"the lock of {self._lock(cpi)} goes to {self._ctx(context)} "
                    f"(priority {self.eff(context)}) and not to {self._ctx(best.context)} "
                    f"(priority {self.eff(best.context)}{earlier})",
                )
            queue.remove(waiter)
        self._hold(cpi, context)

    def _hold(self, cpi: int, context: int) -> None:
        holders = self.holders[cpi]
        if holders:
            self._report(
                Property.MUTUAL_EXCLUSION,
                f"{self._ctx(context)} gets the lock of {self._lock(cpi)}, "
                f"which {self._ctx(holders[0])} holds",
            )
        if context not in holders:
            holders.append(context)

    def _waits(self, cpi: int, context: int) -> None:
        if any(waiter.context == context for waiter in self.queues[cpi]):
            return  # it does already
        self.arrivals += 1
        self.queues[cpi].append(Waiter(context, self.arrivals))
        queues = {cpi: [waiter.context for waiter in queue] for cpi, queue in self.queues.items()}
        chain = wait_cycle(context, queues, self.way_home.others())
        if chain:
            self._report(
                Property.LIVENESS,
                "a deadlock: " + " waits for ".join(self._ctx(c) for c in (*chain, chain[0])),
            )

    def _freed(self, cpi: int, context: int) -> None:
        if context in self.holders[cpi]:
            self.holders[cpi].remove(context)
        else:
            wrong = f"{self._ctx(context)} frees the lock of {self._lock(cpi)}, which it does not hold"
            self._report(Property.MUTUAL_EXCLUSION, wrong)

    # -- definitions --------------------------------------------------------------------------------

    def eff(self, context: int, *, settled: bool = False) -> int:
        """The effective priority of a context, from its definition; `settled`: without what a manager that is
        at it may not have made known yet."""

        def waiting(holder: int) -> Iterator[int]:
            yield from self.lending.waiters(holder)
            for cpi, holders in self.holders.items():
                unknown = self.way_home.rolls_back(cpi, holder) or (settled and self._is_busy(cpi))
                inherits = not self.cpis[cpi].protocol.own_priority
                if inherits and holder in holders and not unknown:
                    yield from (waiter.context for waiter in self.queues[cpi])

        return max(self.base.get(each, 0) for each in reached([context], waiting))

    def expected_priority(self, thread: int) -> int:
        """The priority that a thread should have now."""
        named = self.names.thread(thread)
        cpi = self._cpi_of(named)
        if named is None:
            return self.priority.get(thread, 0)
        if named.role is Role.CONTROL and named.context in self.base:
            context = named.context
            own = self.turns.priority.get(context, self.base[context])
            return self.eff(context) if self.lending.helps(context) else own
        if named.role is Role.MANAGER and cpi:
            return named.priority if cpi.id in self.grouped else self.ceilings[cpi.id]
        if named.role is Role.WORKER and cpi:
            if cpi.protocol.own_priority:
                return self.ceilings[cpi.id]
            waiting = [self.eff(waiter.context) for waiter in self.way_home.waiters(thread)]
            if self.way_home.has(thread):
                return max(self.priority[thread], *waiting, 0)
            if thread in self.requests:
                return max(self.eff(self.requests[thread][1]), *waiting, 0)
            if thread in self.leaving:
                return self.eff(self.leaving[thread])
            way_home = cpi.overrun.rules.binds and self.priority[thread] == self.ceilings[cpi.id]
            if cpi.pooled or way_home:
                return self.ceilings[cpi.id]
            if named.context is not None:
                return self.eff(named.context)
        return self.priority[thread]

    def _best(self, cpi: int, *, settled: bool = False) -> Waiter:
        return min(self.queues[cpi], key=lambda w: (-self.eff(w.context, settled=settled), w.arrival))

    def _is_busy(self, cpi: int) -> bool:
        """Whether the manager of a CPI has taken a message and does not yet wait for the next."""
        managers = [t.number for t in self.names.threads if t.role is Role.MANAGER and t.cpi == cpi]
        return any(self.reason.get(manager) != Blocked.RECV for manager in managers)

    # -- comparisons --------------------------------------------------------------------------------

    def _check_choice(self) -> None:
        """P: no thread that could run should have a higher priority than the one that does."""
        if not self.started:
            return
        mine = -1 if self.running is None else self.expected_priority(self.running)
        if self.running in self.arriving:
            mine = self.priority[self.running]
        for thread in sorted(self.runnable - self.budgets.short):
            if thread != self.running and self.expected_priority(thread) > mine:
                who = "no thread" if self.running is None else f"{self._who(self.running)} (priority {mine})"
                self._report(
                    Property.PRIORITY,
                    f"{who} runs while {self._who(thread)} (priority {self.expected_priority(thread)}) could",
                    self.running,
                    thread,
                )

    def _time_passes(self, until: int) -> None:
        self._check_choice()
        running = self.running
        named = self.names.thread(running)
        if running is not None and named and (named.role is Role.WORKER or named.task is not None):
            mine, true = self.priority[running], self.expected_priority(running)
            if mine != true:
                wrong = f"runs at {mine} until {until} ns; its effective priority is {true}"
                self._report(Property.PRIORITY, f"{self._who(running)} {wrong}", running)
            self._check_inside(running)
        for cpi, queue in self.queues.items():
            if queue and not self.holders[cpi]:
                waiting = ", ".join(self._ctx(w.context) for w in queue)
                self._report(
                    Property.HAND_OVER,
                    f"the lock of {self._lock(cpi)} is free, but {waiting} waits for it",
                    cpi,
                )

    def _check_inside(self, thread: int) -> None:
        """M: who executes in an inherited CPI that contexts can contend for holds its lock."""
        cpi_id, context = self.requests.get(thread, (-1, -1))
        cpi = self.cpis.get(cpi_id)
        if (
            cpi is not None
            and cpi.protocol.inherits
            and (len(cpi.contexts) > 1 or cpi.monitor is not None)
            and context not in self.holders[self.lock[cpi_id]]
        ):
            self._report(
                Property.MUTUAL_EXCLUSION,
                f"{self._who(thread)} executes in {cpi.name} without its lock",
                thread,
            )

    def _check_bound(self, thread: int) -> None:
        """S: no worker above the ceiling of its CPI."""
        cpi, priority = self._cpi_of(self.names.thread(thread)), self.priority[thread]
        if cpi and priority > self.ceilings[cpi.id]:
            wrong = f"{self._who(thread)} is set to {priority}, above the ceiling {self.ceilings[cpi.id]}"
            self._report(Property.SAFE_METADATA, wrong)

    def _check_woken(self, thread: int, context: int) -> None:
        """H: the first wait for a condition to end is that of the highest effective priority, among equals
        that of the first that came."""
        mine = self.eff(context)
        for other, earlier in self.lending.others(thread):
            if self.eff(other) > mine or (earlier and self.eff(other) == mine):
                self._report(
                    Property.HAND_OVER,
                    f"the wait of {self._ctx(context)} (priority {mine}) ends before that of "
                    f"{self._ctx(other)} (priority {self.eff(other)}{', earlier' * earlier})",
                )

    def _check_messages(self, event: Event) -> None:
        """L: a server that waits for its next message has answered the last. S: requests are of the task that
        they claim, and jobs are released at the times in the text."""
        for client, server in self.messages.lost_replies(event):
            reply = f"a reply of {self._who(server)}, which waits for the next message"
            self._report(Property.LIVENESS, f"{self._who(client)} waits for {reply}")
        self.messages.step(event)
        origin = self.messages.wrong_origin(event)
        if origin is not None:
            serving = self.names.thread_name(event.thread)
            claimed, true = (self._task(task) for task in origin)
            self._report(
                Property.SAFE_METADATA,
                f"{serving} serves a request as one of {claimed}; its own task is {true}",
            )
        if release := self.messages.wrong_release(event):
            self._report(Property.SAFE_METADATA, release)

    def _check_residue(self) -> None:
        """Z: with no request under way nothing is left over."""
        if self.requests or self.calls or self.gone:
            return
        for away in self.budgets.away():
            self._report(Property.NO_RESIDUE, f"the scheduling context of {self._who(away)} is not back")
        for cpi in self.queues:
            lock = self._lock(cpi)
            for context in self.holders[cpi]:
                self._report(Property.NO_RESIDUE, f"{self._ctx(context)} still holds the lock of {lock}")
            for waiter in self.queues[cpi]:
                waiting = self._ctx(waiter.context)
                self._report(Property.NO_RESIDUE, f"{waiting} is still in the queue of {lock}")
        for named in self.names.threads:
            ours = named.role is Role.WORKER or named.task is not None
            expected = named.priority if named.role is Role.WORKER else self.expected_priority(named.number)
            if ours and self.priority[named.number] != expected:
                self._report(
                    Property.NO_RESIDUE,
                    f"{named.name} is left at priority {self.priority[named.number]} and not at {expected}",
                )

    def _check_liveness(self) -> None:
        """L: at the end no thread waits. (A thread that stopped at a fault may keep others waiting.)"""
        if self.gone:
            return
        for cpi, queue in self.queues.items():
            for waiter in queue:
                self._report(
                    Property.LIVENESS,
                    f"{self._ctx(waiter.context)} waits for the lock of {self._lock(cpi)} for ever",
                )
        for thread, (cpi, _) in self.calls.items():
            if cpi not in self.messages.suspending:
                name = self.names.cpi_name(cpi)
                self._report(Property.LIVENESS, f"{self._who(thread)} waits for a reply of {name} for ever")
        for thread, reason in sorted(self.reason.items()):
            named = self.names.thread(thread)
            ours = named is not None and (named.task is not None or self._cpi_of(named) is not None)
            at_rest = thread in self.calls or self.lending.waits(thread)
            if ours and not at_rest and reason in (Blocked.SEND, Blocked.CALL, Blocked.REPLY):
                self._report(
                    Property.LIVENESS, f"{self._who(thread)} waits for ever ({Blocked(reason).name.lower()})"
                )

    # -- words --------------------------------------------------------------------------------------

    def _cpi_of(self, named: NamedThread | None) -> PlannedCpi | None:
        return self.cpis.get(named.cpi) if named and named.cpi is not None else None

    def _who(self, thread: int) -> str:
        return self.names.thread_name(thread)

    def _task(self, number: int) -> str:
        task = self.names.task(number)
        return "no task" if task is None else f"task {task.name}"

    def _ctx(self, context: int) -> str:
        return self.names.context_name(context)

    def _lock(self, cpi: int) -> str:
        return self.names.lock_name(cpi)

    def _report(self, which: Property, explanation: str, *key: object) -> None:
        """Report once an instant: with a `key` the words may differ and it is still the same."""
        same = (which, *(key or (explanation,)))
        if same not in self._reported and len(self.violations) < self.limit:
            self._reported.add(same)
            self.violations.append(Violation(self.time, which, explanation, self.record))
