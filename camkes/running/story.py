# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A schedule as a story: numbered steps with who ran, where it was preempted, by whom and why.

Virtual time may stand still in a schedule, so its pictures have an axis of steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from camkes.capdl.model import Role
from camkes.running.decode import decode
from camkes.running.decoder import Args, Decoder
from camkes.running.events import Event
from camkes.running.kinds import Blocked, KernelCall, Kind
from camkes.running.model import Lane, Run, State, StateSegment
from camkes.running.names import TraceNames
from camkes.running.states import ThreadState


class CodePlace(Struct, frozen=True):
    """A line of the user's C code; `text` is without what is left and right of it."""

    file: Path
    line: int
    text: str


class Moment(NamedTuple):
    """What happened, None: the thread `at` makes way, or stops to run. `at` is the thread that runs then, and
    `place` where it is in the user's code."""

    event: Event | None
    at: int | None
    place: CodePlace | None


class StepKind(StrEnum):
    JOB = "job"  # it begins
    CALL = "call"
    ANSWER = "answer"
    TAKE = "take"  # a lock, a mutex, a semaphore
    FREE = "free"
    WAIT = "wait"
    SIGNAL = "signal"
    PREEMPTED = "preempted"
    RESUME = "resume"
    INHERIT = "inherit"
    END = "end"  # of a job
    BUDGET = "budget"  # it is used up
    FAULT = "fault"
    VIOLATION = "violation"


class StoryStep(Struct, frozen=True, kw_only=True):
    """Of a story, counted from 1. `thread` did `what`, for `task` ("": for none, or it is its own), because
    of `cause` ("": of itself), at a virtual `time` in nanoseconds. `place` is where the thread was then."""

    number: int
    kind: StepKind
    thread: str
    task: str
    what: str
    cause: str
    time: int
    place: CodePlace | None


class Story(Struct, frozen=True):
    """`run` has the states of threads and tasks at each step: instant N of it is step N + 1."""

    steps: tuple[StoryStep, ...]
    run: Run


def tell(moments: Sequence[Moment], names: TraceNames, violation: str) -> Story:
    """The story of a schedule; its last step is the `violation`, in words, "": there is none."""
    told = list(_Teller(names).tell(moments))
    if violation:
        time = moments[-1].event.time if moments and moments[-1].event is not None else 0
        now = max([time, *(each.time for each in told)])
        told.append(_Told(StepKind.VIOLATION, None, "", violation, time=now, first=len(moments)))
    groups = _folded(told)
    return Story(
        tuple(_step(number, group, told) for number, group in enumerate(groups, 1)),
        _on_steps(moments, names, told, groups),
    )


class _Told(Struct):
    """A step before what adds nothing is folded. `first` is the number of the moment that it begins with."""

    kind: StepKind
    thread: ThreadState | None
    task: str
    what: str
    cause: str = ""
    time: int = 0
    first: int = 0
    place: CodePlace | None = None
    subject: str = ""  # what is called, taken or freed
    runs: int | None = None  # the task that goes on from it, or waits


class _Fold(Struct):
    """Steps that are one in the story, by their numbers."""

    first: int
    last: int
    what: str
    shown: int  # that has its cause and place


class _Teller(Decoder):
    """Looks at each record before the decoder has it."""

    def __init__(self, names: TraceNames) -> None:
        super().__init__(names)
        self.places: dict[int, CodePlace | None] = {}
        self.begun: set[int] = set()  # came to the user's code
        self.why: dict[ThreadState, str] = {}  # it became ready
        self.stopped: set[ThreadState] = set()  # was preempted, and did not go on since
        self.calls: dict[ThreadState, list[str]] = {}  # of CPIs, which have records of their own
        self.plain: dict[ThreadState, str] = {}  # waits for a reply of this, which has no protocol
        self.runner: ThreadState | None = None  # the thread that ran last
        self.fired: int | None = None  # the timer
        self.takers: dict[int, list[ThreadState]] = {}  # of mutexes and semaphores, by their objects
        self.told: list[_Told] = []
        self.moment = 0

    def tell(self, moments: Sequence[Moment]) -> Iterator[_Told]:
        for self.moment, (event, at, place) in enumerate(moments):
            if at is not None:
                self.places[at] = place
                self.begun |= set() if place is None else {at}
            if event is None:
                continue
            self.now = event.time
            look = getattr(self, f"_tell_{event.kind.name.lower()}", None)
            if look is not None:
                look(self._thread(event.thread), self._thread(event.other), event.args)
            if (step := self.step(event.kind, event.thread, event.other)) is not None:
                handle, thread, other = step
                handle(thread, other, event.args)
        return iter(self.told)

    def _add(
        self,
        kind: StepKind,
        thread: ThreadState,
        what: str,
        cause: str = "",
        *,
        subject: str = "",
        placed: bool = True,
        by: ThreadState | None = None,
    ) -> None:
        """`placed`: where the thread is says more than the step alone. `by` runs in place of it."""
        lane = self._origin(thread)
        runs = lane if by is None else self._origin(by)
        if _is_tools(thread) and lane is not None:  # it is a part of the request
            thread = lane.thread
        self.told.append(
            _Told(
                kind,
                thread,
                lane.task.name if lane is not None and lane.thread is not thread else "",
                what,
                cause,
                self.now,
                self.moment,
                self.places.get(thread.named.number) if placed else None,
                subject,
                None if runs is None else runs.task.id,
            )
        )

    # -- who runs -------------------------------------------------------------------------------------

    def _tell_switch(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is None:
            return
        before, self.runner = self.runner, thread
        if before is not None and before is not thread and before.runnable and self._counts(before, thread):
            self.stopped.add(before)
            what = f"is preempted by {thread.named.name}"
            self._add(StepKind.PREEMPTED, before, what, self._reason(thread, before, args[0]), by=thread)
        elif before is not None and not before.runnable and thread in self.why:
            leaf = before.leaf()  # who has its request, and would run
            if leaf is not before and leaf is not thread and leaf.runnable and leaf not in self.stopped:
                self.stopped.add(leaf)
                what = f"makes way for {thread.named.name} before it begins"
                self._add(
                    StepKind.PREEMPTED,
                    leaf,
                    what,
                    self._reason(thread, leaf, args[0]),
                    placed=False,
                    by=thread,
                )
        if thread in self.stopped and before is not thread:
            self.stopped.discard(thread)
            self._add(StepKind.RESUME, thread, "goes on")

    def _counts(self, before: ThreadState, thread: ThreadState) -> bool:
        """Whether one thread in place of another is a preemption of the user's work, and not a part of what a
        protocol does."""
        if _is_tools(before):
            return not _is_tools(thread) and thread in self.why and self._origin(before) is not None
        return not _is_tools(thread) and before.named.number in self.begun

    def _tell_idle(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        self.runner = None

    def _reason(self, thread: ThreadState, before: ThreadState, priority: int) -> str:
        """Why a thread runs in place of one that could go on."""
        own = before.priority
        rank = f"priority {priority} is above {own}" if priority > own else "of equal priority"
        return ", ".join(filter(None, (self.why.pop(thread, ""), rank)))

    def _tell_ready(self, thread: ThreadState | None, by: ThreadState | None, args: Args) -> None:
        if thread is None:
            return
        if by is None:
            released = thread.lane is not None and self.fired == thread.lane.task.timer
            self.why[thread] = "released by its timer" if released else "its timer fires"
        elif (
            _is_tools(by)
            or thread in self.plain
            or (by.named.service and by.named.service == thread.named.service)
        ):
            self.why.pop(thread, None)
        else:
            self.why[thread] = f"woken by {by.named.name}"

    @staticmethod
    def _serve_the_same(one: ThreadState, other: ThreadState) -> bool:
        return one.named.service != "" and one.named.service == other.named.service

    def _tell_timer(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        self.fired = args[0]

    # -- jobs -----------------------------------------------------------------------------------------

    def _tell_job_begin(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            self._add(StepKind.JOB, thread, "begins its job", self.why.pop(thread, ""), placed=False)

    def _tell_job_end(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            self._add(StepKind.END, thread, "ends its job", placed=False)

    # -- requests ---------------------------------------------------------------------------------------

    def _tell_call_begin(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            name = self.names.cpi_name(args[0])
            self.calls.setdefault(thread, []).append(name)
            self._add(StepKind.CALL, thread, f"calls {name}", subject=name)

    def _tell_call_end(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            name = self.names.cpi_name(args[0])
            if self.calls.get(thread):
                self.calls[thread].pop()
            self._add(StepKind.ANSWER, thread, f"has the answer of {name}", subject=name)

    def _tell_kcall(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        operation, number = args[:2]
        if thread is None or _is_tools(thread) or self.calls.get(thread) or operation != KernelCall.CALL:
            return
        if not _is_internal(self.names.object_name(number)):
            name = self.plain[thread] = self.names.object_service(number)
            self._add(StepKind.CALL, thread, f"calls {name}", subject=name)

    def _tell_reply(self, thread: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        if other is not None and other in self.plain:
            name = self.plain.pop(other)
            self._add(StepKind.ANSWER, other, f"has the answer of {name}", subject=name, placed=False)

    # -- waits ----------------------------------------------------------------------------------------

    def _tell_lock_take(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            name = self.names.lock_name(args[0])
            self._add(StepKind.TAKE, thread, f"takes the lock of {name}", subject=name, placed=False)

    def _tell_lock_wait(self, thread: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        waiter = thread if other is None else other
        if waiter is not None:
            lock = self.names.lock(args[0])
            holder = self._holder(lock) if lock in self.holders else None
            name = self.names.lock_name(args[0])
            held = "" if holder is None else f", held by {holder.named.name}"
            self._add(StepKind.WAIT, waiter, f"waits for the lock of {name}{held}", subject=name)

    def _tell_lock_grant(self, thread: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        taker = thread if other is None else other
        if taker is not None:
            name = self.names.lock_name(args[0])
            self._add(StepKind.TAKE, taker, f"gets the lock of {name}", subject=name, placed=False)

    def _tell_lock_free(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        owner = self.workers.get((args[0], args[1]), thread)
        if owner is not None:
            name = self.names.lock_name(args[0])
            self._add(StepKind.FREE, owner, f"frees the lock of {name}", subject=name)

    def _tell_sync_take(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            name = _object_words(self.names.object_name(args[0]))
            self.takers.setdefault(args[0], []).append(thread)
            self._add(StepKind.TAKE, thread, f"takes {name}", subject=name)

    def _tell_sync_post(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            name = _object_words(self.names.object_name(args[0]))
            takers = self.takers.get(args[0], [])
            if thread in takers:
                takers.remove(thread)
            self._add(StepKind.FREE, thread, f"gives back {name}", subject=name)

    def _tell_cond_wait(self, _: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        if other is not None:
            self._add(StepKind.WAIT, other, f"waits for {self.names.condition_name(args[0])}")

    def _tell_signal(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        name = self.names.object_name(args[0])
        if thread is not None and not _is_tools(thread) and not _is_internal(name):
            self._add(StepKind.SIGNAL, thread, f"signals {_object_words(name)}")

    def _tell_block(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        reason, number = args[:2]
        if thread is None or _is_tools(thread) or thread.is_queued or thread.named.number not in self.begun:
            return
        if reason == Blocked.NOTIFICATION:
            lane = thread.lane
            at_rest = lane is not None and lane.task.id >= 0 and not lane.job
            name = self.names.object_name(number)
            if not at_rest and not _is_internal(name):
                takers = self.takers.get(number, ())
                held = f", held by {', '.join(t.named.name for t in takers)}" if takers else ""
                self._add(StepKind.WAIT, thread, f"waits for {_object_words(name)}{held}")
        elif reason in (Blocked.SEND, Blocked.CALL):
            name = self.names.object_service(number)
            busy = [t for t in self.receivers.get(number, ()) if t.client is not None]
            whose = f", which serves {busy[0].client.named.name}" if busy and busy[0].client else ""
            self._add(StepKind.WAIT, thread, f"waits until {name} receives its message{whose}")
        elif reason == Blocked.SUSPENDED:
            self._add(StepKind.WAIT, thread, "is suspended")

    def _tell_inherit(self, _: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        cpi, context, before, after, cause = args
        self._raised(other or self._worker(cpi, context), before, after, cause)

    def _tell_lend(self, _: ThreadState | None, other: ThreadState | None, args: Args) -> None:
        self._raised(other, *args[1:4])

    def _raised(self, heir: ThreadState | None, before: int, after: int, cause: int) -> None:
        if heir is not None and after > before:
            source = self._waiting_worker(cause)
            why = "" if source is None or source is heir else f"{source.named.name} waits for it"
            self._add(
                StepKind.INHERIT, heir, f"runs at priority {after} in place of {before}", why, placed=False
            )

    def _tell_timeout(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            self._add(StepKind.BUDGET, thread, "has used up its budget")

    def _tell_fault(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        if thread is not None:
            self._add(StepKind.FAULT, thread, "stops at a fault")


def _is_tools(thread: ThreadState) -> bool:
    """Whether it does only what a protocol needs."""
    return thread.named.role in (Role.MANAGER, Role.FAULT_HANDLER)


_INTERNAL = ("gate", "ready", "turn", "release", "passive-gate", "passive-ready", "passive-done")


def _is_internal(name: str) -> bool:
    """Whether an object is one of the runtime's own."""
    return "!" in name or name.partition(":")[2] in _INTERNAL


def _object_words(name: str) -> str:
    """ "m:mutex" in words."""
    what, _, kind = name.partition(":")
    known = {"notification": "event", "handoff": "event"}
    return f"the {known.get(kind, kind.replace('_', ' '))} {what}" if kind else what


# -- folding ----------------------------------------------------------------------------------------------

#: what can be left out between a call and its answer, or within a job
_QUIET = (StepKind.CALL, StepKind.ANSWER, StepKind.TAKE, StepKind.FREE)


def _folded(told: Sequence[_Told]) -> list[_Fold]:
    """One after the other: a whole job without interruption, a call with its answer, a call and the free lock
    that it gets, are one step each; and so is what a thread does first when it goes on."""
    groups: list[_Fold] = []
    at = 0
    while at < len(told):
        group = _fold_at(told, at)
        groups.append(group)
        at = group.last + 1
    return groups


def _fold_at(told: Sequence[_Told], at: int) -> _Fold:
    one = told[at]
    if one.kind is StepKind.JOB and (end := _end_of(told, at, StepKind.END, one.what)) is not None:
        calls = dict.fromkeys(t.subject for t in told[at:end] if t.kind is StepKind.CALL)
        what = f"runs its whole job{', with calls of ' if calls else ''}{', '.join(calls)}"
        return _Fold(at, end, what, at)
    if one.kind is StepKind.CALL:
        if (end := _end_of(told, at, StepKind.ANSWER, one.subject)) is not None:
            return _Fold(at, end, f"{one.what}, and has its answer", at)
        taking = told[at + 1] if at + 1 < len(told) else None
        if taking is not None and taking.kind is StepKind.TAKE and taking.subject == one.subject:
            return _Fold(at, at + 1, f"{one.what}, whose lock is free", at)
    if one.kind is StepKind.FREE and at + 1 < len(told):
        first = told[at + 1]
        if first.kind is StepKind.TAKE and first.subject == one.subject and first.thread is not one.thread:
            who = "" if first.thread is None else first.thread.named.name
            return _Fold(at, at + 1, f"{one.what}, which {who} gets", at)
    if one.kind is StepKind.ANSWER and at + 1 < len(told):
        first = told[at + 1]
        if first.kind is StepKind.END and first.thread is one.thread:
            return _Fold(at, at + 1, f"{one.what} and {first.what}", at)
    if one.kind in (StepKind.RESUME, StepKind.INHERIT) and at + 1 < len(told):
        following = _fold_at(told, at + 1)
        first = told[at + 1]
        if one.kind is StepKind.INHERIT and first.thread is one.thread and first.kind is StepKind.RESUME:
            return _Fold(at, at + 1, f"{first.what} and {one.what}", at)
        if (
            one.kind is StepKind.RESUME
            and first.thread is one.thread
            and first.kind is not StepKind.PREEMPTED
        ):
            return _Fold(at, following.last, f"{one.what} and {following.what}", following.shown)
    return _Fold(at, at, one.what, at)


def _end_of(told: Sequence[_Told], at: int, kind: StepKind, subject: str) -> int | None:
    """Where what begins at a step comes to its end, if nothing of interest is in between."""
    one = told[at]
    for number in range(at + 1, len(told)):
        other = told[number]
        same = kind is StepKind.END or other.subject == subject
        if other.kind is kind and other.thread is one.thread and same:
            return number
        if other.kind not in _QUIET:
            return None
    return None


def _step(number: int, group: _Fold, told: Sequence[_Told]) -> StoryStep:
    first, shown = told[group.first], told[group.shown]
    return StoryStep(
        number=number,
        kind=shown.kind,
        thread="" if shown.thread is None else shown.thread.named.name,
        task=shown.task,
        what=group.what,
        cause=shown.cause,
        time=first.time,
        place=shown.place or first.place,
    )


# -- the axis of steps ------------------------------------------------------------------------------------


def _on_steps(
    moments: Sequence[Moment], names: TraceNames, told: Sequence[_Told], groups: Sequence[_Fold]
) -> Run:
    """What threads and tasks do at each step."""
    tasks = (replace(task, period=None, deadline=None, offset=0, timer=None) for task in names.tasks)
    run = decode(_numbered(moments), replace(names, tasks=tuple(tasks)))
    lanes = (replace(lane, jobs=(), segments=tuple(_segments(lane, told, groups))) for lane in run.lanes)
    return replace(run, end=len(groups), lanes=tuple(lane for lane in lanes if lane.segments))


def _numbered(moments: Sequence[Moment]) -> Iterator[Event]:
    """The events, where the time of each is its number; that of what a timer does is the number of what comes
    of it."""
    kept: list[Event] = []
    for number, moment in enumerate(moments):
        event = moment.event
        if event is None or event.kind is Kind.FAULT:
            continue
        kept.append(event)
        of_timer = event.kind is Kind.READY and event.other is None
        of_timer |= event.kind is Kind.SIGNAL and event.thread is None
        if not of_timer and event.kind is not Kind.TIMER:
            yield from (each._replace(time=number) for each in kept)
            kept.clear()
    yield Event(len(moments) + 1, Kind.END, args=(0,))


def _segments(lane: Lane, told: Sequence[_Told], groups: Sequence[_Fold]) -> Iterator[StateSegment]:
    """What a lane does at each step, a segment each. Of a step, the task that it lets run runs, and the
    others do not, though managers do something for them in it."""
    starts = [told[group.first].first for group in groups]
    ends = [*starts[1:], told[-1].first + 1 if told else 0]
    for number, (start, end, group) in enumerate(zip(starts, ends, groups, strict=True)):
        found = [s for s in lane.segments if s.start < end and s.end > start]
        one = told[group.last]
        runs = one.runs == lane.task.id and one.kind is not StepKind.WAIT
        wanted = [s for s in found if (s.state is State.RUNNING) == runs]
        later = () if runs else (s for s in lane.segments if s.start >= end and s.state is not State.RUNNING)
        is_waiting = one.runs == lane.task.id and one.kind is StepKind.WAIT
        chosen = wanted[-1] if wanted else next(iter(later if is_waiting else found[-1:]), None)
        if chosen is not None:
            yield replace(chosen, start=number, end=number + 1)
