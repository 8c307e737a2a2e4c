# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Makes a `Run` of the events of a trace: one pass, in a time that grows with the number of events.

Several events happen at one instant, in an order that follows from the steps of kernel and runtime. What a
thread or a task does is looked at when virtual time passes: then only what changed at the instant, and who
depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from msgspec.structs import replace

from camkes.capdl.model import Role
from camkes.model.limits import NO_NUMBER
from camkes.running.bounds import DamagedTraceError
from camkes.running.events import Event
from camkes.running.holders import SyncState
from camkes.running.jobs import Ending
from camkes.running.kinds import EndReason, FaultKind, Kind
from camkes.running.model import (
    Fault,
    FilledSlot,
    Holder,
    Inheritance,
    LockEvent,
    LockStep,
    Output,
    Refused,
    Run,
    ServedRequest,
    State,
    StateSegment,
    TracedThread,
    Wakeup,
)
from camkes.running.names import NamedTask, NamedThread, TraceNames
from camkes.running.sent import SentMessages
from camkes.running.spending import Spending
from camkes.running.states import Doing, TaskState, ThreadState, leave_out
from camkes.running.times import KERNEL_STEP
from camkes.running.waits import Standing, Wait, find_waits

Args = tuple[int, ...]
Handler = Callable[[ThreadState | None, ThreadState | None, Args], None]
Handling = tuple[Handler, ThreadState | None, ThreadState | None]

#: that a thread can be in at once: it ends one before it begins the next
_REQUESTS = 64

#: what threads wait for, by the kind of a `NamedSync`
_WAITS = {
    "mutex": State.WAITS_MUTEX,
    "semaphore": State.WAITS_SEMAPHORE,
    "binary semaphore": State.WAITS_SEMAPHORE,
    "event": State.WAITS_EVENT,
}


def _worked(lane: TaskState) -> int:
    """For how long its thread was executed: on seL4 each is at least for steps of the runtime."""
    return sum(each.end - each.start for each in lane.segments if each.state is State.RUNNING)


_UNKNOWN = NamedThread(-1, "?", "", "", Role.INTERFACE, 0)


class Decoder:
    """Takes the records of a trace one after the other."""

    def __init__(self, names: TraceNames) -> None:
        self.names = names
        self.now, self.scheduling = 0, False
        self.domain: int | None = None  # whose slot it is, None: there is no schedule
        self.threads = {named.number: ThreadState(named) for named in names.threads}
        self.running: ThreadState | None = None
        self.ready = set(self.threads.values())  # can run, and do not
        self.changed = set(self.threads.values())  # at this instant
        self.switched = True  # at this instant
        self.lanes = self._make_lanes()
        self.tasks = {lane.task.id: lane for lane in self.lanes if lane.task.id >= 0}
        self.timers = {lane.task.timer: lane for lane in self.tasks.values() if lane.task.timer is not None}
        self.events = {lane.task.event: lane for lane in self.tasks.values() if lane.task.event is not None}
        self.active = set(self.lanes)
        self.holders: dict[int, tuple[int, int, int]] = {}  # CPI of a lock -> (cpi, context, since when)
        self.syncs = {sync.object: SyncState(sync) for sync in names.syncs}
        #: object -> those that wait there for a signal, or to send
        self.queues: dict[int, dict[ThreadState, None]] = {}
        #: (cpi, context) -> the thread that serves its request
        self.workers: dict[tuple[int, int], ThreadState] = {}
        self.receivers: dict[int, dict[ThreadState, None]] = {}  # object -> who receives there, in order
        self.waiters: dict[tuple[int, int], ThreadState] = {}  # (cpi, context) -> worker
        self.requests: list[ServedRequest] = []
        self.locks: list[LockEvent] = []
        self.inheritances: list[Inheritance] = []
        self.outputs: list[Output] = []
        self.refusals: list[Refused] = []
        self.sent = SentMessages()
        self.faults: list[Fault] = []
        self.filled: list[FilledSlot] = []
        self.wakeups: list[Wakeup] = []
        self.slots_begin: int | None = None
        self.exits: dict[int, int] = {}
        self.ending: EndReason | None = None
        self.text = ""  # of the event
        self.damage = ""  # the event at which reading ended makes no sense
        self.spending = Spending(names, self._origin, lambda: self.now)
        self._on_job_left_out = leave_out
        # of the thread that runs now
        self.run_lane: TaskState | None = None
        self.run_name, self.run_base = "", -1

    def _make_lanes(self) -> list[TaskState]:
        """One a task, and one for each control thread that is not a task; by falling priority."""
        tasks = {task.id: task for task in self.names.tasks}
        lanes = []
        for thread in self.threads.values():
            named = thread.named
            if named.role is Role.CONTROL:
                other = NamedTask(-1 - named.number, named.name, named.priority, -1)
                thread.lane = TaskState(other if named.task is None else tasks.get(named.task, other), thread)
                lanes.append(thread.lane)
        return sorted(lanes, key=lambda lane: (-lane.task.priority, lane.task.id))

    def steps(self, events: Iterable[Event]) -> Iterator[tuple[int, Handling, Args, str]]:
        """What to do at each event."""
        for event in events:
            step = self.step(event.kind, event.thread, event.other)
            if step is not None:
                yield event.time, step, event.args, event.text

    def step(self, kind: Kind, number: int | None, other: int | None) -> Handling | None:
        """What to do at events of a kind that are about these threads; None: nothing."""
        name = f"on_{kind.name.lower()}"
        handle = getattr(self, f"_{name}", None) or getattr(self.spending, name, None)
        return None if handle is None else (handle, self._thread(number), self._thread(other))

    def _thread(self, number: int | None) -> ThreadState | None:
        if number is not None and number not in self.threads:  # it is not among the names
            named = replace(_UNKNOWN, number=number, name=self.names.thread_name(number))
            self.threads[number] = ThreadState(named)
        return None if number is None else self.threads[number]

    def run(self, records: Iterable[tuple[int, Handling, Args, str]]) -> Run:
        try:
            for time, (handle, thread, other), args, text in records:
                if time > self.now:
                    self._pass()
                    self.now = time
                self.text = text
                handle(thread, other, args)
        except DamagedTraceError as error:
            self.damage = str(error)
        return self._finish()

    def _on_output(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            self.outputs.append(Output(self.now, thread.named.number, self.text))

    # -- events of the kernel -------------------------------------------------------------------------

    def _on_switch(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        self._on_idle(None, None, ())
        self.refusals += self.sent.seen()
        if thread is not None:
            self.running, self.scheduling = thread, True
            thread.priority = args[0]
            thread.runnable = thread.started = thread.ran = True
            self.ready.discard(thread)
            self.changed.add(thread)

    def _on_idle(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        before, self.running, self.switched = self.running, None, True
        if before is not None:
            self.changed.add(before)
            if before.runnable:
                self.ready.add(before)

    def _on_ready(self, thread: ThreadState | None, by: ThreadState | None, args: Args) -> None:
        if thread is not None:
            if by is not None and thread.reason is State.WAITS_SIGNAL:
                what = self.names.object_name(thread.object)
                self.wakeups.append(Wakeup(self.now, by.named.number, thread.named.number, what))
            thread.runnable, thread.ran, thread.reason, thread.overrun = True, False, None, False
            self._leave_queue(thread)
            self.ready.add(thread)
            self.changed.add(thread)

    def _on_block(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            thread.object = args[1]
            self.sent.blocked(thread.named.number, args)
            reason = thread.blocked(args[0])
            self._stop(thread, reason)
            if reason is State.WAITS_REPLY and thread.receiver is not None:  # it was a call
                thread.server, thread.receiver.client = thread.receiver, thread
                thread.receiver = None
            elif reason is State.WAITS_MESSAGE:
                self.receivers.setdefault(args[1], {})[thread] = None
            elif reason is State.WAITS_SIGNAL or reason is State.WAITS_SERVER:
                thread.queue = self.queues.setdefault(args[1], {})
                thread.queue[thread] = None
            elif reason is State.FAULTED and self.faults and self.faults[-1].thread is thread.named:
                self.faults[-1] = replace(self.faults[-1], stopped=True)

    def _on_postpone(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            thread.postponed = len(args) > 1
            self.spending.postponed(args)
            self.changed.add(thread)

    _on_release = _on_postpone

    def _on_exit(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            self._stop(thread, State.ENDED)
            self.exits[thread.named.number] = args[0] if args else 0

    def _on_started(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            thread.starting = False

    def _stop(self, thread: ThreadState, reason: State | None) -> None:
        thread.runnable, thread.started, thread.reason, thread.stopped = False, True, reason, self.now
        self._leave_queue(thread)
        if reason is not State.WAITS_REPLY and thread.server is not None:  # its call is given up
            if thread.server.client is thread:
                thread.server.client = None
            thread.server = None
        self.ready.discard(thread)
        self.changed.add(thread)

    @staticmethod
    def _leave_queue(thread: ThreadState) -> None:
        if thread.queue is not None:
            thread.queue.pop(thread, None)
            thread.queue = None

    def _on_sync_take(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None and (sync := self.syncs.get(args[0])) is not None:
            sync.take(thread.named.number, self.now)
            self.changed.update(self.queues.get(args[0], ()))

    def _on_sync_post(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None and (sync := self.syncs.get(args[0])) is not None:
            sync.post(thread.named.number)
            self.changed.update(self.queues.get(args[0], ()))

    def _on_priority(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            thread.priority = args[1]
            thread.priorities.append((self.now, args[1]))
            self.changed.add(thread)

    def _on_transfer(self, thread: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        if thread is not None and other is not None:
            other.client, thread.server, thread.receiver = None, None, other
            other.served = self.now
            self.receivers.setdefault(args[0], {})[other] = None
            self.changed.update(self.queues.get(args[0], ()))
            self.refusals += self.sent.transfer(self.now, thread.named.number, other.named.number, args)

    def _on_reply(self, thread: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        if thread is not None and other is not None:
            other.server = None
            if thread.client is other:
                thread.client = None

    def _on_timer(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        lane = self.timers.get(args[0])
        if lane is not None:
            lane.release(args[1])

    def _on_signal(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        lane = self.events.get(args[0])
        if lane is not None:
            lane.event(self.now)

    def _on_fault(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is None:
            return
        kind, address, pc, offset = args
        if kind not in FaultKind._value2member_map_:
            raise DamagedTraceError(f"a fault of kind {kind}, which does not exist")
        lane = self._origin(thread)
        holds = (self.names.lock_name(cpi) for cpi in sorted(self.holders) if self._holder(cpi) is thread)
        self.faults.append(
            Fault(
                time=self.now,
                thread=thread.named,
                kind=FaultKind(kind),
                address=address,
                pc=pc,
                offset=offset,
                service=thread.service,
                task=lane.task.name if lane is not None and lane.task.id >= 0 else "",
                client="" if thread.client is None else thread.client.named.name,
                holds=tuple(holds),
                stopped=False,
            )
        )

    def _holder(self, cpi: int) -> ThreadState | None:
        return self.workers.get(self.holders[cpi][:2])

    def _on_end(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        self.ending = EndReason(args[0]) if args[0] in EndReason._value2member_map_ else None

    # -- events of the runtime ------------------------------------------------------------------------

    def _on_job_begin(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None and thread.lane is not None:
            thread.lane.begin(args[0], self.now, args[1])
            self.changed.add(thread)

    def _on_job_end(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None and thread.lane is not None:
            thread.lane.end(args[0], self.now)
            self.changed.add(thread)

    def _on_job_stop(self, _: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        if other is not None and other.lane is not None:
            other.lane.end(args[0], None)
            self.changed.add(other)

    def _on_request_begin(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            if len(thread.requests) == _REQUESTS:
                raise DamagedTraceError(f"{thread.named.name} begins requests and does not end them")
            thread.requests.append((self.now, args))
            self.workers[args[0], args[1]] = thread

    def _on_request_end(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None and thread.requests:
            begin, (cpi, context, priority, task, sequence, *method) = thread.requests.pop()
            self.requests.append(
                ServedRequest(
                    thread=thread.named.number,
                    start=begin,
                    end=self.now,
                    cpi=cpi,
                    context=context,
                    priority=priority,
                    task=None if task == NO_NUMBER else task,
                    sequence=sequence,
                    method=method[0] if method else None,
                )
            )

    def _on_method(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None and thread.requests:
            begin, known = thread.requests[-1]
            thread.requests[-1] = begin, (*known[:5], args[1])

    def _on_lock_wait(self, thread: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        worker = thread if other is None else other
        if worker is not None:
            self.waiters[args[0], args[1]] = worker
            worker.lock = self.names.lock(args[0])
            self.changed.add(worker)

    def _on_lock_grant(self, thread: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        self._lock_goes(LockStep.GETS, thread if other is None else other, args)

    def _on_lock_take(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        self._lock_goes(LockStep.TAKES, thread, args)

    def _lock_goes(self, step: LockStep, thread: ThreadState | None, args: Args) -> None:
        lock = self.names.lock(args[0])
        self.holders[lock] = args[0], args[1], self.now
        waiter = self.waiters.pop((args[0], args[1]), None)
        if waiter is not None:
            waiter.lock = None
            self.changed.add(waiter)
        self.changed.update(other for other in self.waiters.values() if other.lock == lock)
        if thread is not None:
            self.locks.append(LockEvent(self.now, step, thread.named.number, args[0], args[1]))

    def _on_lock_free(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        self.holders.pop(self.names.lock(args[0]), None)
        if thread is not None:
            self.locks.append(LockEvent(self.now, LockStep.FREES, thread.named.number, args[0], args[1]))

    def _on_inherit(self, _: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        cpi, context, before, after, cause = args
        heir = self._worker(cpi, context) if other is None else other
        if heir is not None:
            source = self._waiting_worker(cause) if after > before else None
            number = source.named.number if source is not None and source is not heir else None
            self.inheritances.append(
                Inheritance(
                    time=self.now,
                    heir=heir.named.number,
                    source=number,
                    cpi=cpi,
                    context=context,
                    cause=cause,
                    before=before,
                    after=after,
                )
            )

    def _on_slot(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        if self.slots_begin is None and self.domain is not None:
            self.slots_begin = self._schedule_began(self.domain, *args)
        self.domain = args[0]
        self.switched = True

    def _schedule_began(self, before: int, domain: int, start: int) -> int:
        """By the first change from one domain to another."""
        schedule, at = self.names.schedule, 0
        for (first, length), (second, _) in pairwise((*schedule, *schedule[:1])):
            at += length
            if (first, second) == (before, domain):
                return start - at
        return 0

    def _on_filled(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            self.filled.append(FilledSlot(self.now, thread.named.number, args[0]))

    def _on_cond_wait(self, _: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        if other is not None:
            other.condition = args[0] if len(args) > 2 else None
            self.changed.add(other)

    _on_cond_wake = _on_cond_expire = _on_cond_wait

    def _on_lend(self, _: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        context, before, after, cause = args
        if other is not None:
            source = self._waiting_worker(cause) if after > before else None
            number = None if source is None or source is other else source.named.number
            self.inheritances.append(
                Inheritance(
                    time=self.now,
                    heir=other.named.number,
                    source=number,
                    cpi=-1,
                    context=context,
                    cause=cause,
                    before=before,
                    after=after,
                )
            )

    def _on_refused(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            self.refusals.append(self.sent.refused(self.now, thread.named.number, args))

    def _worker(self, cpi: int, context: int) -> ThreadState | None:
        """The thread that serves a context at a CPI: its own, or the one of the pool that has its request."""
        for thread in self.threads.values():
            if any(args[:2] == (cpi, context) for _, args in thread.requests):
                return thread
        named = self.threads.values()
        return next((t for t in named if (t.named.cpi, t.named.context) == (cpi, context)), None)

    def _waiting_worker(self, context: int) -> ThreadState | None:
        """The thread of a context that waits for a lock or a condition, or that a task begins with."""
        threads = self.threads.values()
        waiting = (t for t in threads if t.is_queued and t.requests and t.requests[-1][1][1] == context)
        return next(waiting, None) or next((t for t in threads if t.named.context == context), None)

    # -- what threads and tasks do while time passes -----------------------------------------------------

    def _pass(self) -> None:
        """Time passes after the events of this instant."""
        self.run_lane, self.run_name, self.run_base = None, "", -1
        running = self.running
        if running is not None:
            lane = self.run_lane = self._origin(running)
            self.run_name = lane.task.name if lane is not None else running.named.name
            self.run_base = lane.task.priority if lane is not None else running.named.priority
        self.spending.passes(running, self.run_lane)
        if self.switched:
            self.changed |= self.ready
            self.switched = False
        for thread in self.changed:
            new = self._state(thread)
            if new != thread.current:
                if self.now > thread.since:
                    thread.segments.append(StateSegment(thread.since, self.now, *thread.current))
                thread.current, thread.since = new, self.now
            if thread.lane is not None:
                self.active.add(thread.lane)
        self.changed.clear()
        for lane in tuple(self.active):
            self._settle_lane(lane)

    def _origin(self, thread: ThreadState) -> TaskState | None:
        """The task on whose behalf a thread works: its own, or that of the call it serves."""
        for _ in self.threads:  # a chain is no longer than that
            if thread.lane is not None:
                return thread.lane
            if thread.client is None:
                break
            thread = thread.client
        return self.tasks.get(thread.requests[-1][1][3]) if thread.requests else None

    def _state(self, thread: ThreadState) -> Doing:
        if thread is self.running:
            return State.RUNNING, thread.service, thread.priority
        if thread.runnable and thread.postponed:
            return State.WAITS_BUDGET, thread.service, thread.priority
        if thread.runnable and self._waits_for_slot(thread):
            return State.WAITS_SLOT, f"domain {thread.named.domain}", thread.priority
        if thread.runnable:
            if self.running is not None and self.run_base < self._base(thread):
                return State.HELD_UP, self.running.service, self.running.priority
            if not thread.started:
                return State.NOT_STARTED, thread.service, thread.priority
            return State.PREEMPTED if thread.ran else State.READY, thread.service, thread.priority
        if thread.lock is not None and not thread.is_gone:
            return self._held(State.WAITS_LOCK, self.names.lock_name(thread.lock), thread)
        if thread.condition is not None and not thread.is_gone:
            return State.WAITS_HELPED, self.names.condition_name(thread.condition), thread.priority
        reason = thread.reason or State.SUSPENDED
        if reason is State.WAITS_SERVER:
            return self._held(reason, self.names.object_service(thread.object), thread)
        if reason is State.WAITS_REPLY and thread.server is not None:
            return reason, thread.server.service or thread.server.named.name, thread.priority
        if reason is State.WAITS_SIGNAL:
            lane = thread.lane
            if lane is not None and lane.task.id >= 0 and not lane.job:
                return State.WAITS_RELEASE, "", thread.priority
            if (sync := self.syncs.get(thread.object)) is not None:
                return self._held(_WAITS[sync.named.kind], sync.named.name, thread)
            return reason, self.names.object_name(thread.object), thread.priority
        return reason, thread.service, thread.priority

    def _waits_for_slot(self, thread: ThreadState) -> bool:
        return self.domain is not None and thread.named.domain != self.domain

    def _held(self, state: State, what: str, thread: ThreadState) -> Doing:
        """A wait for what others have."""
        found = tuple(
            Holder(holder.named.name, self._task_of(holder), since)
            for holder, since in self._holders_for(state, thread)
        )
        return (state, what, thread.priority, "", False, found) if found else (state, what, thread.priority)

    def _holders_for(self, state: State, thread: ThreadState) -> list[tuple[ThreadState, int]]:
        """Those that have what a thread waits for, and since when."""
        if state is State.WAITS_LOCK:
            assert thread.lock is not None
            holder = self._holder(thread.lock) if thread.lock in self.holders else None
            return [] if holder is None else [(holder, self.holders[thread.lock][2])]
        if state is State.WAITS_SERVER:
            servers = self.receivers.get(thread.object, ())
            return [(server, server.served) for server in servers if server.client is not None]
        held = self.syncs[thread.object].holders
        return [(self.threads[number], since) for number, since in held.items()]

    def _task_of(self, thread: ThreadState) -> str:
        """The task on whose behalf a thread works, "": there is none, or it is its own."""
        lane = None if thread.lane is not None else self._origin(thread)
        return "" if lane is None else lane.task.name

    def _base(self, thread: ThreadState) -> int:
        """Priority of the work that a thread does, without what protocols add."""
        lane = self._origin(thread)
        return lane.task.priority if lane is not None else thread.named.priority

    def _depends_on_others(self, lane: TaskState, leaf: ThreadState, state: State, held: bool) -> bool:
        """Whether a thread of another domain has to do something before a task goes on."""
        own = lane.thread.named.domain
        others = [holder for holder, _ in self._holders_for(state, leaf)] if held else []
        return any(thread.named.domain != own for thread in (leaf, *others))

    def _settle_lane(self, lane: TaskState) -> None:
        new = self._lane_state(lane)
        if new is None:
            self.active.discard(lane)
        if new != lane.current:
            if self.now > lane.since and lane.current is not None:
                lane.segments.append(StateSegment(lane.since, self.now, *lane.current))
            lane.current, lane.since = new, self.now

    def _lane_state(self, lane: TaskState) -> Doing | None:
        """What a task does: what the thread at the end of its chain of calls does. None: it is at rest."""
        if self.run_lane is lane and self.running is not None:
            return State.RUNNING, self.running.service, self.running.priority
        leaf = lane.thread.leaf()
        state, what, priority = leaf.current[:3]
        holders = leaf.current[5:]
        by, hindered = self.run_name, self.run_base < lane.task.priority
        elsewhere = self.domain is not None and self._depends_on_others(lane, leaf, state, bool(holders))
        if leaf.runnable and self._waits_for_slot(leaf):  # for a slot of another domain: it is blocked
            return State.WAITS_SLOT, what, priority, "", elsewhere
        if self._waits_for_slot(lane.thread):  # what runs has the processor for another reason than priority
            by, hindered = "", elsewhere
        if state in (State.FAULTED, State.SUSPENDED) and leaf is not lane.thread:  # no thread will reply
            return State.WAITS_REPLY, leaf.service, priority, by, hindered
        if state is State.FAULTED:
            return state, what, priority
        if state is State.WAITS_BUDGET:
            return state, what, priority, "", hindered
        if leaf.runnable:
            if state is State.READY and (lane.job or leaf is not lane.thread):
                state = State.PREEMPTED
            return state, what, priority, by, hindered
        if leaf.is_queued or self._is_owed(leaf, state):
            return (state, what, priority, by, hindered, *holders)
        if leaf is lane.thread and not lane.job:
            return None
        if state is State.ENDED or not self._can_come_from_others(leaf):
            return state, what, priority
        if leaf is lane.thread and not lane.must_end:  # as a server that waits for the next request
            return state, what, priority
        return (state, what, priority, by, hindered, *holders)

    def _is_owed(self, thread: ThreadState, state: State) -> bool:
        """Whether a thread waits for what certain others have: a server, a mutex, a semaphore that is a
        lock."""
        if state in (State.WAITS_SERVER, State.WAITS_REPLY, State.WAITS_MUTEX):
            return True
        return state is State.WAITS_SEMAPHORE and self.syncs[thread.object].is_lock

    def _can_come_from_others(self, thread: ThreadState) -> bool:
        """Whether threads can end its wait, and not timers or interrupts."""
        if thread.reason is not State.WAITS_SIGNAL:
            return True
        sync = self.syncs.get(thread.object)
        return bool(self.names.senders_at(thread.object)) if sync is None else sync.named.senders is not None

    # -- the end ----------------------------------------------------------------------------------------

    def _finish(self) -> Run:
        self.refusals += self.sent.seen()
        end, scheduling = self.now, self.scheduling
        for thread in self.threads.values():
            if end > thread.since:
                thread.segments.append(StateSegment(thread.since, end, *thread.current))
            while thread.requests:
                self._on_request_end(thread, None, ())
                self.requests[-1] = replace(self.requests[-1], open=True)
        for lane in self.lanes:
            if lane.current is not None and end > lane.since:
                lane.segments.append(StateSegment(lane.since, end, *lane.current))
        spent, payments, overruns, criticality = self.spending.finish()
        return Run(
            names=self.names,
            end=end,
            ending=self.ending,
            scheduling=scheduling,
            threads=tuple(
                TracedThread(t.named, tuple(t.segments) if scheduling else (), tuple(t.priorities))
                for _, t in sorted(self.threads.items())
            ),
            lanes=tuple(
                lane.finished(Ending(self.now, self.ending is EndReason.IDLE), scheduling)
                for lane in self.lanes
                if lane.task.id >= 0 or _worked(lane) >= min(KERNEL_STEP, end / 1000 or 1)
            ),
            requests=tuple(sorted(self.requests, key=lambda request: (request.start, request.thread))),
            locks=tuple(self.locks),
            inheritances=tuple(self.inheritances),
            outputs=tuple(self.outputs),
            refused=tuple(self.refusals),
            faults=tuple(self.faults),
            waits=self._waits(),
            last=self._last(),
            exits=self.exits,
            spent=spent,
            payments=payments,
            overruns=overruns,
            criticality=criticality,
            filled=tuple(self.filled),
            wakeups=tuple(self.wakeups),
            slots_begin=self.slots_begin or 0,
        )

    def _last(self) -> dict[int, StateSegment]:
        """What threads that cannot run do after the last event, which may be of this instant."""
        found = {}
        for number, thread in sorted(self.threads.items()):
            if not thread.runnable:
                doing = self._state(thread)
                same = doing[:2] == thread.current[:2]
                found[number] = StateSegment(thread.since if same else self.now, self.now, *doing)
        return found

    def _waits(self) -> tuple[Wait, ...]:
        holders = {cpi: self._holder(cpi) for cpi in self.holders}
        end = Standing(
            threads={number: thread.at_end() for number, thread in self.threads.items()},
            holders={
                cpi: (None if thread is None else thread.named.number, self.holders[cpi][2])
                for cpi, thread in holders.items()
            },
            receivers={
                item: [thread.named.number for thread in found] for item, found in self.receivers.items()
            },
            syncs=self.syncs,
            starting=[number for number, thread in self.threads.items() if thread.starting],
            in_jobs=[lane.thread.named.number for lane in self.lanes if lane.must_end],
            idle=self.ending is EndReason.IDLE,
        )
        return find_waits(end, self.names)
