# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What seL4's operations do to threads: which of them wait, and for what, and which one the kernel chooses.

A recording has the operations, in the order in which they were made. Their effects follow from the rules of
the kernel. Each effect is a record, the one that the host kernel makes of it (`kernel/host/src/objects`
and `scheduling`), so that all that reads runs of that kernel reads recordings, too.
"""

from __future__ import annotations

from collections.abc import Callable

from camkes.backends.sel4.recorded_system import RecordedContext, RecordedSystem
from camkes.capdl.model import ObjectKind
from camkes.model.limits import NO_NUMBER
from camkes.running.kinds import Binding, Blocked, Kind
from camkes.running.names import NamedThread

#: the bits of a message's first word
_LENGTH, _LABEL = 0x7F, 12
#: that of a message about a budget that is used up
TIMEOUT = 5 << _LABEL | 2


class ModelMessage:
    """The first word of a message."""

    __slots__ = ("label", "length")

    def __init__(self, word: int) -> None:
        self.label, self.length = word >> _LABEL, word & _LENGTH


class ModelRefills:
    """What is left of a budget, by the rules of seL4's sporadic servers (`kernel/host/src/time/refill.c`):
    (time, amount) of each refill, the first is used now or next. A recording shows when a budget was used up;
    this says what was left before."""

    def __init__(self, budget: int, period: int, most: int) -> None:
        self.period, self.most = 0 if budget == period else period, most
        self.budget = budget
        self.list = [(0, budget)]

    def left(self, now: int) -> int:
        time, amount = self.list[0]
        return amount if self.period == 0 or time <= now else 0

    def _give_back(self, time: int, amount: int) -> None:
        last, had = self.list[-1]
        if last + had >= time:
            self.list[-1] = last, had + amount
        elif len(self.list) < self.most:
            self.list.append((time, amount))
        else:
            self.list[-1] = time - had, had + amount

    def charge(self, used: int) -> None:
        time, amount = self.list[0]
        if self.period == 0:
            self.list = [(time, amount - used if used < amount else self.budget)]
            return
        while used >= amount:
            used -= amount
            if len(self.list) == 1:
                self.list = [(time + self.period, amount)]
            else:
                del self.list[0]
                self._give_back(time + self.period, amount)
            time, amount = self.list[0]
        if used > 0:
            self.list[0] = time + used, amount - used
            self._give_back(time + self.period, used)

    def begin_use(self, now: int) -> None:
        """What could have been used before can be used from now on."""
        if self.period == 0 or self.list[0][0] > now:
            return
        self.list[0] = now, self.list[0][1]
        while len(self.list) > 1 and self.list[1][0] <= self.list[0][0] + self.list[0][1]:
            (time, amount), (_, more), *rest = self.list
            self.list = [(time, amount + more), *rest]


class ModelContext:
    """A scheduling context. `reply` is the last reply object of the calls that it was given with, and
    `notification` what gives it to the thread that gets its signals."""

    __slots__ = ("notification", "object", "refills", "reply", "thread")

    def __init__(self, granted: RecordedContext) -> None:
        self.object = granted.object
        self.refills = ModelRefills(granted.budget, granted.period, granted.refills)
        self.thread: ModelThread | None = None
        self.reply: ModelReply | None = None
        self.notification: ModelNotification | None = None

    @property
    def round_robin(self) -> bool:
        """Its whole budget comes back at once: threads of a priority take turns."""
        return self.refills.period == 0


class ModelReply:
    """A reply object: `thread` receives with it, or waits for an answer through it."""

    __slots__ = ("context", "earlier", "later", "object", "thread")

    def __init__(self, number: int) -> None:
        self.object = number
        self.thread: ModelThread | None = None
        self.earlier: ModelReply | None = None
        self.later: ModelReply | None = None
        self.context: ModelContext | None = None


class ModelEndpoint:
    __slots__ = ("object", "receivers", "senders")

    def __init__(self, number: int) -> None:
        self.object = number
        self.receivers: list[ModelThread] = []
        self.senders: list[ModelThread] = []


class ModelNotification:
    __slots__ = ("active", "bound", "context", "object", "waiters")

    def __init__(self, number: int) -> None:
        self.object, self.active = number, 0
        self.waiters: list[ModelThread] = []
        self.bound: ModelThread | None = None
        self.context: ModelContext | None = None


class ModelThread:
    """`blocked` is why it cannot run, None: it can. `waits` is the queue it is in, at `at`."""

    __slots__ = (
        "at", "badge", "blocked", "bound", "caller", "context", "fault", "is_call", "message", "named",
        "number", "postponed", "priority", "reply", "timeouts", "waits",
    )  # fmt: skip

    def __init__(self, named: NamedThread) -> None:
        self.named, self.number, self.priority = named, named.number, named.priority
        self.blocked: Blocked | None = None
        self.at: ModelEndpoint | ModelNotification | None = None
        self.waits: list[ModelThread] | None = None
        self.message, self.badge, self.is_call = ModelMessage(0), 0, False
        self.caller: ModelThread | None = None  # whom it can answer
        self.bound: ModelNotification | None = None
        self.context: ModelContext | None = None
        self.reply: ModelReply | None = None
        self.postponed = False
        self.fault: Kind | None = None  # FAULT or TIMEOUT: its message is about that
        self.timeouts: int | None = None  # the endpoint to which that goes when its budget is used up

    @property
    def name(self) -> str:
        return self.named.name


class KernelModel:
    """`tell` gets the records; `current` is the thread that the kernel has chosen, None: none can run."""

    def __init__(self, system: RecordedSystem, tell: Callable[..., None]) -> None:
        self.system, self.tell, self.mcs = system, tell, system.mcs
        self.threads = [ModelThread(named) for named in system.threads]
        self.contexts = {each.object: ModelContext(each) for each in system.contexts}
        self.objects: dict[int, ModelEndpoint | ModelNotification | ModelReply] = {}
        self.saved: dict[tuple[str, int], ModelThread] = {}  # callers, by space and slot
        self.domain = 0
        self.ready: dict[tuple[int, int], list[ModelThread]] = {}  # by domain and priority
        self.current: ModelThread | None = None
        self.again = False  # who runs is decided anew
        self.candidate: ModelThread | None = None  # that may run at once

    def begin(self) -> None:
        """All threads can run."""
        for granted in self.system.contexts:
            context = self.contexts[granted.object]
            holder = None if granted.thread is None else self.threads[granted.thread]
            numbers = (granted.object, granted.budget, granted.period, granted.refills)
            self.tell(Kind.BUDGET, holder, None, *numbers, granted.sporadic)
            if holder is not None:
                context.thread, holder.context = holder, context
            self.tell(Kind.BIND, holder, None, granted.object, Binding.BOUND)
        for thread in self.threads:
            self.append(thread)
        self.choose()

    # -- who runs -------------------------------------------------------------------------------------

    def timeless(self, thread: ModelThread) -> bool:
        return self.mcs and (thread.context is None or thread.postponed)

    def _queue(self, thread: ModelThread) -> list[ModelThread]:
        return self.ready.setdefault((thread.named.domain, thread.priority), [])

    def append(self, thread: ModelThread) -> None:
        if not self.timeless(thread) and thread not in self._queue(thread):
            self._queue(thread).append(thread)

    def prepend(self, thread: ModelThread) -> None:
        if not self.timeless(thread) and thread not in self._queue(thread):
            self._queue(thread).insert(0, thread)

    def remove(self, thread: ModelThread) -> None:
        if thread in self._queue(thread):
            self._queue(thread).remove(thread)

    def highest(self) -> int:
        """The highest priority with a ready thread of the domain, or -1."""
        found = (p for (domain, p), queue in self.ready.items() if domain == self.domain and queue)
        return max(found, default=-1)

    def reconsider(self) -> None:
        if self.candidate is not None:
            self.prepend(self.candidate)
            self.candidate = None
        self.again = True

    def choose(self) -> None:
        priority = self.highest()
        self.current = self.ready[self.domain, priority].pop(0) if priority >= 0 else None

    def can_go_on(self) -> bool:
        current = self.current
        return current is not None and current.blocked is None and not self.timeless(current)

    def decide(self) -> None:
        """After an operation, or when another reason to switch is known."""
        current, candidate, on = self.current, self.candidate, self.can_go_on()
        if candidate is None and not self.again and on:
            return
        if on and current is not None:
            self.prepend(current)
        if self.again or candidate is None:
            if candidate is not None:
                self.prepend(candidate)
            self.choose()
        elif current is None or candidate.priority < current.priority:
            self.prepend(candidate)
            self.choose()
        elif on and candidate.priority == current.priority:
            self.append(candidate)
            self.choose()
        else:
            self.remove(candidate)
            self.current = candidate
        self.again, self.candidate = False, None

    def wake(self, thread: ModelThread) -> None:
        """It can run; perhaps it should at once."""
        if self.timeless(thread):
            return
        if thread.named.domain != self.domain:
            self.prepend(thread)
        elif self.candidate is None and not self.again:
            self.candidate = thread
        else:
            self.reconsider()
            self.prepend(thread)

    def make_ready(self, thread: ModelThread, by: ModelThread | None) -> None:
        thread.blocked = None
        self.tell(Kind.READY, thread, by)
        self.wake(thread)

    def _block(self, thread: ModelThread, why: Blocked, number: int, by: ModelThread | None = None) -> None:
        if not self.mcs and thread is self.current and self.candidate is None:
            self.again = True
        thread.blocked = why
        self.remove(thread)
        self.tell(Kind.BLOCK, thread, by, why, number)

    def _wait(
        self, thread: ModelThread, at: ModelEndpoint | ModelNotification, queue: list[ModelThread]
    ) -> None:
        place = len(queue)
        while self.mcs and place > 0 and queue[place - 1].priority < thread.priority:
            place -= 1
        queue.insert(place, thread)
        thread.at, thread.waits = at, queue

    def _leave(self, thread: ModelThread) -> None:
        if thread.waits is not None:
            thread.waits.remove(thread)
        thread.at = thread.waits = None

    def set_priority(self, thread: ModelThread, priority: int, by: ModelThread) -> None:
        self.tell(Kind.PRIORITY, thread, by, thread.priority, priority)
        self.remove(thread)
        thread.priority = priority
        if self.mcs and thread.waits is not None and thread.at is not None:
            queue, at = thread.waits, thread.at
            self._leave(thread)
            self._wait(thread, at, queue)
        elif thread.blocked is not None:
            return
        elif self.mcs or thread is self.current:
            self.reconsider()
            if thread is not self.current:
                self.prepend(thread)
        else:
            self.wake(thread)

    def give_way(self, thread: ModelThread) -> None:
        """To the others of its priority."""
        self.append(thread)
        self.again = True
        if thread is self.current:
            self.current = None

    # -- messages ---------------------------------------------------------------------------------------

    def endpoint(self, number: int) -> ModelEndpoint:
        found = self.objects.setdefault(number, ModelEndpoint(number))
        assert isinstance(found, ModelEndpoint)
        return found

    def notification(self, number: int) -> ModelNotification:
        found = self.objects.setdefault(number, ModelNotification(number))
        assert isinstance(found, ModelNotification)
        return found

    def reply_object(self, number: int) -> ModelReply:
        found = self.objects.setdefault(number, ModelReply(number))
        assert isinstance(found, ModelReply)
        return found

    def _transfer(self, sender: ModelThread, receiver: ModelThread, at: ModelEndpoint, badge: int) -> None:
        message = sender.message
        self.tell(Kind.TRANSFER, sender, receiver, at.object, badge, message.label, message.length)

    def send(
        self, sender: ModelThread, number: int, badge: int, *, blocks: bool, call: bool, gives: bool
    ) -> None:
        """`gives`: a receiver without time gets that of the sender."""
        at = self.endpoint(number)
        if at.receivers:
            receiver = at.receivers[0]
            self._leave(receiver)
            self._transfer(sender, receiver, at, badge)
            if not self.mcs:
                self.make_ready(receiver, sender)
            if call:
                self._expect_reply(sender, receiver, number)
            elif gives and sender.context is not None and receiver.context is None:
                self._donate(sender.context, receiver, Binding.CALL)
            if self.mcs:
                self._take_reply(receiver)
                self.make_ready(receiver, sender)
        elif blocks:
            sender.badge, sender.is_call = badge, call
            self._wait(sender, at, at.senders)
            why = Blocked.FAULT if sender.fault else Blocked.CALL if call else Blocked.SEND
            self._block(sender, why, number)

    def fault(self, thread: ModelThread, number: int, what: Kind) -> None:
        """The kernel calls an endpoint for a thread that cannot go on."""
        thread.fault = what
        thread.message = ModelMessage(TIMEOUT if what is Kind.TIMEOUT else 0)
        if what is Kind.TIMEOUT and thread.context is not None:
            self.tell(what, thread, None, thread.context.object, 0, 0)
        self.remove(thread)
        if thread is self.current:
            self.current = None
        self.send(thread, number, 0, blocks=True, call=True, gives=False)

    def _expect_reply(self, caller: ModelThread, receiver: ModelThread, number: int) -> None:
        if self.mcs:
            self._push(caller, receiver)
        else:
            receiver.caller = caller
        self._block(caller, Blocked.FAULT if caller.fault else Blocked.REPLY, number)

    def receive(self, receiver: ModelThread, number: int, *, blocks: bool) -> None:
        bound = receiver.bound
        if bound is not None and bound.active:
            bound.active = 0
            return
        at = self.endpoint(number)
        receiver.caller = None
        if at.senders:
            sender = at.senders[0]
            self._leave(sender)
            self._transfer(sender, receiver, at, sender.badge)
            if sender.is_call:
                self._expect_reply(sender, receiver, number)
            else:
                self.make_ready(sender, receiver)
        elif blocks:
            self._wait(receiver, at, at.receivers)
            self._block(receiver, Blocked.RECV, number)

    def answer(self, sender: ModelThread, receiver: ModelThread) -> None:
        message = sender.message
        self.tell(Kind.REPLY, sender, receiver, message.label, message.length)
        faulted, receiver.fault = receiver.fault, None
        if faulted is not None and message.label != 0:
            receiver.blocked = Blocked.SUSPENDED
        else:
            self.make_ready(receiver, sender)

    def reply_to(self, sender: ModelThread, reply: ModelReply) -> None:
        receiver = reply.thread
        if receiver is not None and receiver.blocked in (Blocked.REPLY, Blocked.FAULT):
            self._pop(reply)
            self.answer(sender, receiver)

    # -- signals ----------------------------------------------------------------------------------------

    def signal(self, number: int, badge: int, by: ModelThread | None) -> None:
        at = self.notification(number)
        self.tell(Kind.SIGNAL, by, None, number, badge)
        waiter = at.waiters[0] if at.waiters else None
        if waiter is None and at.bound is not None and at.bound.blocked is Blocked.RECV:
            waiter = at.bound
        if waiter is None:
            at.active |= badge or 1
            return
        self._leave(waiter)
        self._take_reply(waiter)
        self._lend(at, waiter)
        self.make_ready(waiter, by)

    def wait(self, thread: ModelThread, number: int, *, blocks: bool) -> None:
        at = self.notification(number)
        if at.active:
            at.active = 0
            self._lend(at, thread)
        elif blocks:
            self._wait(thread, at, at.waiters)
            context = at.context
            if context is not None and thread.context is context:
                self._detach(context)
                self.tell(Kind.BIND, None, thread, context.object, Binding.UNBOUND)
            self._block(thread, Blocked.NOTIFICATION, number)

    def _lend(self, at: ModelNotification, thread: ModelThread) -> None:
        context = at.context
        if context is not None and thread.context is None and context.thread is None:
            self._donate(context, thread, Binding.SIGNAL)

    # -- stopped from outside ---------------------------------------------------------------------------

    def _cancel(self, thread: ModelThread) -> None:
        self._leave(thread)
        thread.fault = None
        if thread.blocked in (Blocked.REPLY, Blocked.FAULT):
            if thread.reply is not None:
                self._unlink(thread.reply, None)
            for other in self.threads:
                if other.caller is thread:
                    other.caller = None
            self.saved = {slot: caller for slot, caller in self.saved.items() if caller is not thread}
        else:
            self._take_reply(thread)

    def suspend(self, thread: ModelThread, by: ModelThread | None, number: int) -> None:
        if thread.blocked is Blocked.SUSPENDED:
            return
        self._cancel(thread)
        if self.candidate is thread:
            self.candidate, self.again = None, True
        self.release(thread)
        self._block(thread, Blocked.SUSPENDED, number, by)

    def resume(self, thread: ModelThread, by: ModelThread) -> None:
        if thread.blocked is not None:
            self._cancel(thread)
            self.make_ready(thread, by)

    # -- time -------------------------------------------------------------------------------------------

    def postpone(self, thread: ModelThread, until: int) -> None:
        """Its budget is used up."""
        assert thread.context is not None
        self.remove(thread)
        thread.postponed = True
        self.tell(Kind.POSTPONE, thread, None, thread.context.object, until)

    def release(self, thread: ModelThread) -> None:
        """Its budget is not used up any more."""
        if thread.postponed and thread.context is not None:
            self.tell(Kind.RELEASE, thread, None, thread.context.object)
        thread.postponed = False

    def _detach(self, context: ModelContext) -> None:
        thread = context.thread
        assert thread is not None
        self.remove(thread)
        thread.context = context.thread = None
        thread.postponed = False
        if self.candidate is thread:
            self.candidate, self.again = None, True

    def _donate(self, context: ModelContext, to: ModelThread, how: Binding) -> None:
        holder = context.thread
        if holder is not None:
            self._detach(context)
        context.thread, to.context = to, context
        self.tell(Kind.BIND, to, holder, context.object, how)

    def bind(self, context: ModelContext, thread: ModelThread, by: ModelThread) -> None:
        if context.thread is not None or thread.context is not None:
            return
        context.thread, thread.context = thread, context
        self.tell(Kind.BIND, thread, by, context.object, Binding.BOUND)
        if thread.blocked is None:
            self.reconsider()
            self.prepend(thread)

    def unbind(self, context: ModelContext, by: ModelThread) -> None:
        if context.thread is not None and context.thread is not by:
            self._detach(context)
            self.tell(Kind.BIND, None, by, context.object, Binding.UNBOUND)

    def forget_calls(self, context: ModelContext) -> None:
        """It does not go back to callers."""
        if context.reply is not None:
            context.reply.context = None
            context.reply = None

    def receive_with(self, thread: ModelThread, reply: ModelReply) -> None:
        if reply.thread is not None and reply.thread is not thread:
            other = reply.thread
            self._unlink(reply, None)
            self._block(other, Blocked.SUSPENDED, reply.object, thread)
        reply.thread, thread.reply = thread, reply

    def _take_reply(self, thread: ModelThread) -> ModelReply | None:
        reply = thread.reply
        if reply is not None:
            reply.thread = thread.reply = None
        return reply

    def drop_reply(self, thread: ModelThread) -> None:
        """It has received, and waits for nothing."""
        if thread.blocked is None:
            self._take_reply(thread)

    def _push(self, caller: ModelThread, receiver: ModelThread) -> None:
        reply, given = self._take_reply(receiver), caller.context
        if reply is None:
            return
        reply.thread, caller.reply = caller, reply
        if given is None or receiver.context is not None or caller.fault is Kind.TIMEOUT:
            return
        earlier = given.reply
        if earlier is not None:
            earlier.later, earlier.context = reply, None
        reply.earlier, reply.context, given.reply = earlier, given, reply
        self._donate(given, receiver, Binding.CALL)

    def _unlink(self, reply: ModelReply, heir: ModelReply | None) -> None:
        context, later, earlier = reply.context, reply.later, reply.earlier
        if context is not None:
            context.reply = heir
        if later is not None:
            later.earlier = None
        if earlier is not None:
            earlier.later = None
            earlier.context = context if heir is not None else None
        if reply.thread is not None:
            reply.thread.reply = None
        reply.thread = reply.context = reply.later = reply.earlier = None

    def _pop(self, reply: ModelReply) -> None:
        context, caller = reply.context, reply.thread
        self._unlink(reply, reply.earlier if context is not None else None)
        if context is not None and caller is not None and caller.context is None:
            self._donate(context, caller, Binding.REPLY)


def number_of(thread: ModelThread | None) -> int:
    return NO_NUMBER if thread is None else thread.number


#: what can be sent to, and received from
SENDABLE = (ObjectKind.ENDPOINT, ObjectKind.NOTIFICATION, ObjectKind.REPLY)
