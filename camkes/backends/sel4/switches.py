# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""When seL4 switched between threads, from what threads recorded.

A thread makes a record before each of its kernel calls, when it runs again after one that can block, and when
it finds that it was preempted while it worked. On one core the records are in the order in which they were
made, and whoever makes a record runs. What is between two records follows from the rules of the kernel
(`kernel_model`). What cannot be is a contradiction, and then nothing is said about switches: it comes from
kernel calls that were not recorded.

The judge of runs counts time as the host kernel does, where steps of kernel and runtime take none. It gets
the same records, with the time in which code of components ran.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from camkes.backends.sel4.kernel_model import (
    SENDABLE,
    KernelModel,
    ModelContext,
    ModelMessage,
    ModelRefills,
    ModelThread,
    number_of,
)
from camkes.backends.sel4.recorded_system import RecordedCap, RecordedSystem
from camkes.backends.sel4.trace import FAILED, GAP, RETURN, Record
from camkes.capdl.model import ObjectKind, Role
from camkes.model.limits import NO_NUMBER
from camkes.running.kinds import Blocked, KernelCall, Kind
from camkes.running.names import NamedThread
from camkes.running.times import format_time

#: what CONTEXT, CNODE and REGISTERS do: see runtime/include/camkes/recorded_calls_sel4.h
UNBINDS, BINDS, UNBINDS_OBJECT, DELETES, BINDS_NOTIFICATION, _LOOKS, RESUMES = range(7)

#: what is not in the records of a run
_OF_CALLS = (RETURN, GAP, FAILED)

#: what the kernel counts as used of a budget, and a recording does not show: nanoseconds, or a part of it
_UNCOUNTED, _PART = 100_000, 20

#: of a slot of a domain: it may begin and end so much later than the slots before it say
_LATE = 10


class ContradictionError(Exception):
    """A record is of a thread that could not run, by all records before it."""


class Unsure(NamedTuple):
    """A switch between these times, of which no record shows when it was: the end is taken for it."""

    after: int
    before: int


@dataclass(frozen=True)
class Followed:
    """`records` are those of a trace file; `judged` the same with the times of the judge. `unsure` are
    switches whose time is not known."""

    records: tuple[Record, ...]
    judged: tuple[Record, ...]
    unsure: tuple[Unsure, ...]


def follow(records: Sequence[Record], system: RecordedSystem) -> Followed:
    """The records of an image with the switches between threads. Raises ContradictionError."""
    if system.several_cores:
        raise ContradictionError(
            "threads run on several cores, and records of one do not order those of another"
        )
    follower = _Follower(system, records)
    for place, record in enumerate(records):
        follower.take(place, record)
    follower.finish()
    return Followed(tuple(follower.out), tuple(follower.judged), tuple(follower.unsure))


def without_switches(records: Sequence[Record]) -> tuple[Record, ...]:
    """What the runtime recorded, without what only shows when threads run."""
    return tuple(record for record in records if record.kind not in (Kind.KCALL, *_OF_CALLS))


class _Follower:
    def __init__(self, system: RecordedSystem, records: Sequence[Record]) -> None:
        self.system = system
        self.out: list[Record] = []
        self.judged: list[Record] = []
        self.unsure: list[Unsure] = []
        self.now = self.worked = 0  # of the last record, and the time of the judge then
        self.in_code = False  # code of a component runs from `now` on
        self.exact = False  # the record says from when on its thread runs
        self.gaps: dict[int, list[int]] = {}  # when threads were preempted that have seen it
        for record in records:
            if record.kind == GAP:
                self.gaps.setdefault(record.thread, []).append(record.arguments[0])
        self.coding: dict[ModelThread, bool] = {}  # and does in these threads, when they run
        self.kernel = KernelModel(system, self._tell)
        self.shown: ModelThread | None = None  # runs, by the records
        self.chosen_at = 0  # when the kernel chose the thread that runs
        self.sure = False  # it was seen to run since
        self.seen_at = 0  # when a record was made last
        self.called: ModelThread | None = None  # the thread that made it before a kernel call
        self.code = _component_code(records, system)
        self.failed = _failed(records)
        self.slot, self.slot_start = 0, 0
        self.aligned = False  # when slots begin is known
        self.used: ModelContext | None = None  # who pays, and since when
        self.used_since = self.used_worked = 0
        self.outside = set(system.outside)
        if system.schedule:
            self.slot = next((i for i, (d, _) in enumerate(system.schedule) if d == 0), 0)
            self.kernel.domain = system.schedule[self.slot][0]
            self._tell(Kind.SLOT, None, None, self.kernel.domain, 0)
        self.kernel.begin()

    # -- records ----------------------------------------------------------------------------------------

    def _pass(self, until: int) -> None:
        """Time passes, in which the thread that is shown runs."""
        if until > self.now:
            self.worked += until - self.now if self.in_code else 0
            self.now = until

    def _tell(
        self, kind: Kind, thread: ModelThread | None, other: ModelThread | None, *arguments: int
    ) -> None:
        numbers = tuple(map(int, arguments))
        self._add(Record(self.now, kind, number_of(thread), number_of(other), numbers))

    def _add(self, record: Record, worked: tuple[int, ...] | None = None) -> None:
        self.out.append(record)
        arguments = record.arguments if worked is None else worked
        self.judged.append(record._replace(time=self.worked, arguments=arguments))

    def _charge(self, time: int) -> None:
        """The context that is used changes with the thread that runs."""
        current = self.kernel.current
        context = None if current is None else current.context
        if context is self.used:
            return
        self._charge_used(time)
        self.used = context
        if context is not None:
            context.refills.begin_use(time)

    def _charge_used(self, time: int, *, all_of_it: bool = False) -> None:
        """What was used of the context that is in use; `all_of_it`: the records show that nothing is left."""
        used = self.used
        if used is not None and time > self.used_since:
            spent, worked = time - self.used_since, self.worked - self.used_worked
            used.refills.charge(max(spent, used.refills.left(time)) if all_of_it else spent)
            left = 0 if all_of_it else max(used.refills.left(time), 1)
            numbers = number_of(self.shown), number_of(used.thread)
            record = Record(time, Kind.CHARGE, *numbers, (used.object, spent, left))
            self._add(record, (used.object, worked, left))
        self.used_since, self.used_worked = time, self.worked

    def _show(self) -> None:
        """The choice of the kernel is known to be so."""
        current = self.kernel.current
        self._pass(self.chosen_at)
        if self.system.mcs:
            self._charge(self.now)
        if current is not self.shown or not self.out:
            kind = Kind.IDLE if current is None else Kind.SWITCH
            arguments = () if current is None else (current.priority,)
            self._add(
                Record(self.now, kind, number_of(current), number_of(self.shown), arguments),
            )
            self.in_code = current is not None and self.coding.get(current, False)
        self.shown, self.sure = current, True

    # -- who runs --------------------------------------------------------------------------------------------

    def _decide(self, time: int) -> None:
        self.kernel.decide()
        if self.kernel.current is not self.shown or not self.sure:
            self.chosen_at, self.sure = time, False

    def take(self, place: int, record: Record) -> None:
        """The next record of the image."""
        at = record.arguments[1] if record.kind == GAP else record.time
        at = min(max(at, self.now, self.chosen_at), record.time)
        self.exact = record.kind == GAP
        thread = self.kernel.threads[record.thread] if record.thread < len(self.kernel.threads) else None
        self._slots_before(at)
        if thread is not None:
            self._find(thread, at)
        elif record.kind == Kind.IDLE:
            self._find_idle(at)
            self._pass(record.time)
            return
        if record.kind == Kind.END:
            self._show_before(max(record.time, self.now))
            self._add(record._replace(time=self.now))
            return
        self._pass(record.time)
        self.seen_at, self.called = record.time, thread if record.kind == Kind.KCALL else None
        if thread is None:
            self._add(record)
        else:
            self._do(thread, record, place in self.failed)
            self.coding[thread] = place in self.code
            self.in_code = self.shown is not None and self.coding.get(self.shown, False)

    def _find(self, thread: ModelThread, at: int) -> None:
        """Something happened, if this is not the thread that was thought to run."""
        for _ in range(2 * len(self.kernel.threads) + 2 * len(self.system.schedule) + 2):
            if self.kernel.current is thread:
                if not self.sure:
                    self._show()
                return
            self._explain(thread, at)
        raise ContradictionError(self._wrong(thread, "it cannot have been chosen"))

    def _explain(self, thread: ModelThread, at: int) -> None:
        current, schedule = self.kernel.current, self.system.schedule
        if thread.blocked is not None:
            self._woken(thread, at)
        elif schedule and thread.named.domain != self.kernel.domain:
            self._show_before(at)
            self._next_slot(at, thread.named.domain)
        elif thread.postponed:
            self._show_before(at)
            self.kernel.release(thread)
            self.kernel.wake(thread)
            self._decide(at)
        elif current is None:
            raise ContradictionError(self._wrong(thread, "the kernel had no thread to run"))
        elif not self.sure and current.priority == thread.priority:
            # the order among equals at the start is that in which the loader has resumed them
            self.kernel.give_way(current)
            self._decide(self.chosen_at)
        elif self.system.mcs and current.priority >= thread.priority and not self.kernel.timeless(thread):
            self._spent(current, at, equal=current.priority == thread.priority)
        elif current.priority == thread.priority:
            self._turn(current, at)
        else:
            why = f"{current.name} (priority {current.priority}) could"
            raise ContradictionError(self._wrong(thread, why))

    def _wrong(self, thread: ModelThread, why: str) -> str:
        return f"{thread.name} runs, at priority {thread.priority}, though {why}"

    def _show_before(self, at: int) -> None:
        """What was chosen ran until now."""
        if not self.sure:
            self._show()
        self._pass(at)

    def _woken(self, thread: ModelThread, at: int) -> None:
        """By an interrupt, or by the fault of the thread that ran."""
        waits = thread.at
        bound = thread.bound
        current = self.kernel.current
        if thread.blocked is Blocked.NOTIFICATION and waits is not None and waits.object in self.outside:
            source = waits.object
        elif thread.blocked is Blocked.RECV and bound is not None and bound.object in self.outside:
            source = bound.object
        elif thread.blocked is Blocked.RECV and waits is not None and self._of_faults(thread, waits.object):
            if current is None:
                raise ContradictionError(self._wrong(thread, "no thread ran that can have had a fault"))
            if current.timeouts == waits.object:
                self.exact = True  # nothing else runs before the handler
                self._spent(current, at, equal=False)
                return
            self._show_before(at)
            self.kernel.fault(current, waits.object, Kind.FAULT)
            self._decide(at)
            return
        else:
            reason = "none" if thread.blocked is None else thread.blocked.name.lower()
            raise ContradictionError(self._wrong(thread, f"it waits in the kernel ({reason})"))
        if not self.sure and self.shown is thread:
            self._not_blocked(thread, source)
            return
        self._show_before(at)
        self.kernel.signal(source, 0, None)
        self._decide(at)

    def _not_blocked(self, thread: ModelThread, source: int) -> None:
        """The interrupt came before it would have waited."""
        kernel = self.kernel
        if kernel.current is not None:
            kernel.prepend(kernel.current)
        kernel.current = thread
        kernel.signal(source, 0, None)
        kernel.candidate, kernel.again, self.sure = None, False, True

    def _of_faults(self, thread: ModelThread, number: int) -> bool:
        return thread.named.role is Role.FAULT_HANDLER or any(
            each.timeouts == number for each in self.kernel.threads
        )

    def _spent(self, thread: ModelThread, at: int, *, equal: bool) -> None:
        """The budget of the thread that ran is used up."""
        at = self._when(thread, at)
        self._show_before(at)
        context = thread.context
        if context is None:
            raise ContradictionError(f"{thread.name} runs without a scheduling context")
        if equal and context.round_robin:
            self.kernel.give_way(thread)
        else:
            self._check_spent(thread, context, at)
            self._charge_used(at, all_of_it=True)
            if thread.timeouts is not None:
                self.kernel.fault(thread, thread.timeouts, Kind.TIMEOUT)
                self._decide(at)
                return
            self.kernel.postpone(thread, max(context.refills.list[0][0], at))
            self.kernel.again = True
        self._decide(at)

    def _check_spent(self, thread: ModelThread, context: ModelContext, at: int) -> None:
        """Another thread may run for that reason only where not much can be left."""
        since = self.used_since if context is self.used else at
        left = context.refills.left(since) - (at - since)
        if context.round_robin or left > max(_UNCOUNTED, context.refills.budget // _PART):
            had = "all" if context.round_robin else format_time(left, 6)
            raise ContradictionError(f"{thread.name} does not run, and has {had} of its budget left")

    def _turn(self, thread: ModelThread, at: int) -> None:
        """The time slice of the thread that ran is over."""
        at = self._when(thread, at)
        self._show_before(at)
        self.kernel.give_way(thread)
        self._decide(at)

    def _when(self, thread: ModelThread, at: int) -> int:
        """When a thread was preempted, by its own clock, or that of the next one, or at the latest now."""
        after = max(self.seen_at, self.chosen_at, self.now)
        gaps = self.gaps.get(thread.number, [])
        place = bisect_left(gaps, after)
        if place < len(gaps) and gaps[place] <= at:
            return gaps[place]
        if self.exact:
            return at
        if self.system.mcs and self.called is thread and self.chosen_at <= self.seen_at:
            return max(self.seen_at, self.now)  # the kernel looks at budgets when it is called
        context = thread.context
        if context is not None and context is self.used and not context.round_robin:
            end = self.used_since + context.refills.left(self.used_since)
            if after <= end <= at:
                return end
        if after < at:
            self.unsure.append(Unsure(after, at))
        return at

    def _find_idle(self, at: int) -> None:
        """The printer of records ran, which has the lowest priority and domain 0."""
        for _ in range(2 * len(self.kernel.threads) + 2 * len(self.system.schedule) + 2):
            current = self.kernel.current
            if self.system.schedule and self.kernel.domain != 0:
                self._show_before(at)
                self._next_slot(at, 0)
            elif current is None:
                if not self.sure:
                    self._show()
                return
            elif current.priority == 0:
                return  # they take turns
            elif self.system.mcs:
                self._spent(current, at, equal=False)
            else:
                raise ContradictionError(f"no thread runs though {current.name} could")
        raise ContradictionError("no thread runs, for no reason that is known")

    # -- slots of domains ------------------------------------------------------------------------------------

    def _next_slot(self, at: int, domain: int) -> None:
        """The slot is over, as a thread of this domain runs, or nothing does that could."""
        schedule = self.system.schedule
        end = self.slot_start + schedule[self.slot][1] if self.aligned else at
        following = (self.slot + 1) % len(schedule)
        seen = self.exact and schedule[following][0] == domain
        start = at if seen else min(max(end, self.now, self.chosen_at), at)
        self._begin_slot(following, start)

    def _slots_before(self, at: int) -> None:
        """Slots that are over for so long that a record of this time cannot be in them."""
        schedule = self.system.schedule
        while self.aligned and schedule:
            length = schedule[self.slot][1]
            if at <= self.slot_start + length + length // _LATE:
                return
            self._show_before(max(self.slot_start + length, self.now))
            self._begin_slot((self.slot + 1) % len(schedule), max(self.slot_start + length, self.now))

    def _begin_slot(self, slot: int, start: int) -> None:
        self.slot, self.slot_start = slot, start
        self.aligned = True
        domain = self.system.schedule[slot][0]
        if domain != self.kernel.domain:
            self.kernel.domain = domain
            current = self.kernel.current
            if current is not None and current.blocked is None:
                self.kernel.prepend(current)
            self.kernel.current, self.kernel.again = None, True
            self._pass(start)
            self._tell(Kind.SLOT, None, None, domain, start)
            self._decide(start)

    # -- kernel calls ------------------------------------------------------------------------------------

    def _do(self, thread: ModelThread, record: Record, failed: bool) -> None:
        if record.kind == Kind.KCALL and not failed:
            self._call(thread, *record.arguments, *[0] * (5 - len(record.arguments)))
            self._decide(self.now)
        elif record.kind == Kind.KCALL:
            self._tell(Kind.KCALL, thread, None, record.arguments[0], NO_NUMBER)
        elif record.kind == Kind.TIMER:
            self._add(record._replace(thread=NO_NUMBER))
        elif record.kind not in _OF_CALLS:
            self._add(record)

    def finish(self) -> None:
        """There are no more records."""
        if not self.sure and self.chosen_at <= self.now and (not self.out or self.out[-1].kind != Kind.END):
            self._show()

    def _call(
        self, thread: ModelThread, operation: int, slot: int, word: int, second: int, third: int
    ) -> None:
        """A kernel call of a thread."""
        kernel, slots = self.kernel, self.system.slots(thread.number)
        cap = slots.get(slot)
        self._tell(Kind.KCALL, thread, None, operation, NO_NUMBER if cap is None else cap.object)
        match operation:
            case KernelCall.CALL | KernelCall.SEND | KernelCall.NBSEND | KernelCall.SIGNAL:
                thread.message = ModelMessage(word)
                blocks = operation in (KernelCall.CALL, KernelCall.SEND)
                self._send(thread, slot, cap, blocks=blocks, call=operation == KernelCall.CALL)
            case KernelCall.RECV | KernelCall.WAIT | KernelCall.NBRECV | KernelCall.POLL:
                blocks = operation in (KernelCall.RECV, KernelCall.WAIT)
                self._receive(thread, cap, slots.get(second), blocks=blocks)
            case KernelCall.REPLY:
                thread.message = ModelMessage(word)
                self._reply(thread)
            case KernelCall.REPLYRECV:
                thread.message = ModelMessage(word)
                if self.system.mcs:
                    self._send(thread, second, slots.get(second), blocks=False, call=False)
                else:
                    self._reply(thread)
                self._receive(thread, cap, slots.get(second), blocks=True)
            case KernelCall.NBSENDRECV | KernelCall.NBSENDWAIT:
                thread.message = ModelMessage(word)
                self._send(thread, slot, cap, blocks=False, call=False, gives=True)
                self._receive(thread, slots.get(third), slots.get(second), blocks=True)
            case KernelCall.YIELD:
                kernel.give_way(thread)
            case KernelCall.SAVECALLER:
                if thread.caller is not None:
                    kernel.saved[thread.named.space, slot] = thread.caller
                    thread.caller = None
            case KernelCall.CNODE:
                self._on_slot(thread, cap, slot, slots.get(word), third)
            case KernelCall.CONTEXT if cap is not None:
                self._on_context(thread, kernel.contexts[cap.object], slots.get(word), third)
            case KernelCall.SETTIMEOUT if cap is not None and cap.thread is not None:
                handler = slots.get(word)
                kernel.threads[cap.thread].timeouts = None if handler is None else handler.object
            case KernelCall.CONFIGURE if cap is not None:
                self._configure(kernel.contexts[cap.object], word, second, third)
            case _:
                if cap is not None and cap.thread is not None:
                    self._on_thread(thread, kernel.threads[cap.thread], cap, operation, word, third)

    def _send(
        self,
        thread: ModelThread,
        slot: int,
        cap: RecordedCap | None,
        *,
        blocks: bool,
        call: bool,
        gives: bool | None = None,
    ) -> None:
        kernel = self.kernel
        if cap is None:
            caller = kernel.saved.pop((thread.named.space, slot), None)
            if caller is not None:
                kernel.answer(thread, caller)
        elif cap.kind is ObjectKind.ENDPOINT:
            kernel.send(
                thread,
                cap.object,
                cap.badge,
                blocks=blocks,
                call=call,
                gives=call if gives is None else gives,
            )
        elif cap.kind is ObjectKind.NOTIFICATION:
            kernel.signal(cap.object, cap.badge, thread)
        elif cap.kind is ObjectKind.REPLY:
            kernel.reply_to(thread, kernel.reply_object(cap.object))

    def _reply(self, thread: ModelThread) -> None:
        caller, thread.caller = thread.caller, None
        if caller is not None:
            self.kernel.answer(thread, caller)

    def _receive(
        self, thread: ModelThread, cap: RecordedCap | None, reply: RecordedCap | None, *, blocks: bool
    ) -> None:
        kernel = self.kernel
        if cap is None or cap.kind not in SENDABLE:
            return
        if cap.kind is ObjectKind.NOTIFICATION:
            kernel.wait(thread, cap.object, blocks=blocks)
            return
        if reply is not None and reply.kind is ObjectKind.REPLY:
            kernel.receive_with(thread, kernel.reply_object(reply.object))
        kernel.receive(thread, cap.object, blocks=blocks)
        kernel.drop_reply(thread)

    def _on_thread(
        self, by: ModelThread, thread: ModelThread, cap: RecordedCap, operation: int, word: int, third: int
    ) -> None:
        kernel = self.kernel
        if operation == KernelCall.SETPRIORITY:
            kernel.set_priority(thread, word, by)
        elif operation == KernelCall.SUSPEND:
            kernel.suspend(thread, by, cap.object)
        elif operation == KernelCall.RESUME or (operation == KernelCall.REGISTERS and third == RESUMES):
            kernel.resume(thread, by)

    def _on_slot(
        self, thread: ModelThread, cap: RecordedCap | None, slot: int, other: RecordedCap | None, what: int
    ) -> None:
        kernel = self.kernel
        if what == DELETES:
            caller = kernel.saved.pop((thread.named.space, slot), None)
            if caller is not None:
                kernel.suspend(caller, thread, NO_NUMBER)
        elif what == BINDS_NOTIFICATION and cap is not None and other is not None and cap.thread is not None:
            bound = kernel.notification(other.object)
            bound.bound, kernel.threads[cap.thread].bound = kernel.threads[cap.thread], bound

    def _on_context(
        self, by: ModelThread, context: ModelContext, other: RecordedCap | None, what: int
    ) -> None:
        kernel = self.kernel
        holder = None if other is None or other.thread is None else kernel.threads[other.thread]
        notification = other is not None and other.kind is ObjectKind.NOTIFICATION
        if what == BINDS and holder is not None:
            kernel.bind(context, holder, by)
        elif what == BINDS and notification and other is not None:
            context.notification = kernel.notification(other.object)
            context.notification.context = context
        elif what == UNBINDS or (what == UNBINDS_OBJECT and holder is not None):
            if what == UNBINDS_OBJECT and context.thread is not holder:
                return
            kernel.unbind(context, by)
            if what == UNBINDS:
                self._unbind_notification(context)
                kernel.forget_calls(context)
        elif what == UNBINDS_OBJECT:
            self._unbind_notification(context)

    @staticmethod
    def _unbind_notification(context: ModelContext) -> None:
        if context.notification is not None:
            context.notification.context = None
            context.notification = None

    def _configure(self, context: ModelContext, budget: int, period: int, more: int) -> None:
        refills = (more >> 1) + 2
        context.refills = ModelRefills(1_000 * budget, 1_000 * period, refills)
        arguments = (context.object, 1_000 * budget, 1_000 * period, refills, more & 1)
        holder = context.thread
        if holder is not None and holder.postponed:
            self.kernel.release(holder)
            self.kernel.wake(holder)
        self._tell(Kind.BUDGET, holder, None, *arguments)


def _failed(records: Sequence[Record]) -> frozenset[int]:
    """The places of kernel calls that were errors."""
    last: dict[int, int] = {}
    found = set()
    for place, record in enumerate(records):
        if record.kind == FAILED and record.thread in last:
            found.add(last[record.thread])
        last[record.thread] = place
    return frozenset(found)


#: after these, a thread is in the kernel, or in the runtime
_NOT_CODE = (Kind.KCALL, Kind.LOCK_FREE)


class _CodeOf:
    """Follows where a thread is: in the code of a component, or in the kernel and the runtime, which take no
    time on the host kernel."""

    def __init__(self, thread: NamedThread) -> None:
        self.thread = thread
        self.last: int | None = None  # its last record
        self.inside = self.calls = 0  # jobs and requests that it is in, requests that it has made
        self.started = self.leaves = False  # it has given back the lock of its request

    def works(self) -> bool:
        if self.calls or self.leaves or self.thread.role in (Role.MANAGER, Role.FAULT_HANDLER):
            return False
        if self.thread.role is Role.CONTROL and self.thread.task is None:
            return self.started
        return self.inside > 0

    def take(self, kind: int) -> None:
        if kind == Kind.STARTED:
            self.started = True
        elif kind in (Kind.JOB_BEGIN, Kind.REQUEST_BEGIN):
            self.inside += 1
        elif kind in (Kind.JOB_END, Kind.REQUEST_END):
            self.inside, self.leaves = max(self.inside - 1, 0), False
        elif kind == Kind.CALL_BEGIN:
            self.calls += 1
        elif kind == Kind.CALL_END:
            self.calls = max(self.calls - 1, 0)


def _component_code(records: Sequence[Record], system: RecordedSystem) -> frozenset[int]:
    """The places of records after which code of a component runs, until the next record of that thread."""
    threads = [_CodeOf(thread) for thread in system.threads]
    serving: dict[tuple[int, int], _CodeOf] = {}  # by lock and context
    found: set[int] = set()
    for place, record in enumerate(records):
        if record.thread >= len(threads):
            continue
        own = threads[record.thread]
        coding = own.last is not None and own.works() and records[own.last].kind not in _NOT_CODE
        if coding and own.last is not None and not _is_of_runtime(record, system):
            found.add(own.last)
        own.last = place
        own.take(record.kind)
        if record.kind in (Kind.REQUEST_BEGIN, Kind.LOCK_FREE):
            cpi, context = record.arguments[:2]
            place_of = system.locks.get(cpi, cpi), context
            if record.kind == Kind.REQUEST_BEGIN:
                serving[place_of] = own
            elif place_of in serving:
                serving[place_of].leaves = True
    for own in threads:
        if own.last is not None and own.works() and records[own.last].kind not in _NOT_CODE:
            found.add(own.last)
    return frozenset(found)


def _is_of_runtime(record: Record, system: RecordedSystem) -> bool:
    """Whether what comes before this record is a step of the runtime: a lock is taken, or asked for."""
    if record.kind == Kind.LOCK_TAKE:
        return True
    if record.kind != Kind.KCALL:
        return False
    operation, slot = record.arguments[:2]
    cap = system.slots(record.thread).get(slot)
    return operation == KernelCall.CALL and cap is not None and "!manager" in system.objects[cap.object]


def uncertainty(unsure: Sequence[Unsure]) -> str:
    """In words."""
    longest = max(each.before - each.after for each in unsure)
    return f"{len(unsure)} of its switches are known to within {format_time(longest, 6)} only"
