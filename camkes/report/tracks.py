# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A trace as tracks for a trace viewer: slices, counters, instants and arrows, before any file format."""

from __future__ import annotations

from collections.abc import Iterable

from camkes.records import dataclass
from camkes.report.state import Tracker
from camkes.report.trace.events import NOBODY, Event
from camkes.report.trace.kinds import Block, Kind
from camkes.report.trace.names import TraceNames


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of a track. Slices of one track do not overlap."""

    thread: int
    start: int
    end: int
    name: str
    details: tuple[tuple[str, str | int], ...] = ()


@dataclass(frozen=True, slots=True)
class Instant:
    """Something that happens at an instant on the track of a thread. `flow` begins at the first instant
    that has its number and ends at the second."""

    thread: int
    time: int
    name: str
    details: tuple[tuple[str, str | int], ...] = ()
    flow: int | None = None
    flow_ends: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """A thread's priority from an instant on."""

    thread: int
    time: int
    value: int


@dataclass(frozen=True, slots=True)
class Tracks:
    """All there is to show, each list by time. `jobs` are slices on the track of a task's own thread."""

    states: tuple[Slice, ...]
    requests: tuple[Slice, ...]
    jobs: tuple[Slice, ...]
    instants: tuple[Instant, ...]
    priorities: tuple[Sample, ...]
    end: int


def build_tracks(events: Iterable[Event], names: TraceNames) -> Tracks:
    """Turn the records of a run into tracks."""
    builder = _Builder(names)
    for event in events:
        builder.step(event)
    return builder.finish()


_BLOCKED = {
    Block.SEND: "waits for a receiver",
    Block.CALL: "waits for a server",
    Block.REPLY: "waits for a reply",
    Block.RECV: "waits for a message",
    Block.NOTIFICATION: "waits for a signal",
    Block.SUSPENDED: "suspended",
    Block.FAULT: "stopped by a fault",
}


class _Builder:
    def __init__(self, names: TraceNames) -> None:
        self.names = names
        self.tracker = Tracker(names)
        self.now = 0
        self.states: list[Slice] = []
        self.requests: list[Slice] = []
        self.jobs: list[Slice] = []
        self.instants: list[Instant] = []
        self.priorities = [Sample(t.number, 0, t.priority) for t in names.threads]
        self.flows = 0
        self._state: dict[int, tuple[int, str]] = {t.number: (0, "ready") for t in names.threads}
        self._request: dict[int, tuple[int, str, tuple[tuple[str, str | int], ...]]] = {}
        self._job: dict[int, tuple[int, int]] = {}

    def step(self, event: Event) -> None:
        self.now = event.time
        before = self.tracker.running
        self.tracker.apply(event)
        thread, kind = event.thread, event.kind
        for changed in {before, thread, event.other if kind is Kind.LOCK_WAIT else thread}:
            if changed is not None:
                self._changed(changed)
        if thread is None:
            return
        if kind is Kind.PRIORITY:
            self.priorities.append(Sample(thread, self.now, event.args[1]))
        elif kind is Kind.REQUEST_BEGIN:
            self._begin_request(thread, event)
        elif kind is Kind.REQUEST_END:
            self._end_request(thread)
        elif kind is Kind.JOB_BEGIN:
            self._job[thread] = (self.now, event.args[0])
        elif kind is Kind.JOB_END:
            self._end_job(thread)
        else:
            self._instant(thread, event)

    def finish(self) -> Tracks:
        for thread, (start, name) in self._state.items():
            self._slice(thread, start, name)
        for thread in tuple(self._request):
            self._end_request(thread)
        for thread in tuple(self._job):
            self._end_job(thread)
        return Tracks(
            tuple(sorted(self.states, key=lambda s: (s.start, s.thread))),
            tuple(sorted(self.requests, key=lambda s: (s.start, s.thread))),
            tuple(sorted(self.jobs, key=lambda s: (s.start, s.thread))),
            tuple(self.instants),
            tuple(self.priorities),
            self.now,
        )

    # -- states -------------------------------------------------------------------------------------

    def _changed(self, thread: int) -> None:
        """The state of a thread may be another now."""
        name = self._name_of_state(thread)
        start, last = self._state.get(thread, (self.now, ""))
        if name != last:
            self._slice(thread, start, last)
            self._state[thread] = (self.now, name)

    def _name_of_state(self, thread: int) -> str:
        state = self.tracker.state(thread)
        if self.tracker.running == thread:
            return "running"
        if state.runnable:
            return "ready"
        if state.lock is not None:
            return f"waits for the lock of {self.names.cpi_name(state.lock)}"
        words = _BLOCKED.get(state.reason, "blocked") if state.reason else "blocked"
        if state.reason in (Block.SEND, Block.CALL):
            words += f" ({self.names.object_name(state.object)})"
        elif state.reason is Block.REPLY and state.server is not None:
            words += f" of {self.names.thread_name(state.server)}"
        return words

    def _slice(self, thread: int, start: int, name: str) -> None:
        if name and self.now > start:
            self.states.append(Slice(thread, start, self.now, name))

    # -- requests and jobs --------------------------------------------------------------------------

    def _begin_request(self, thread: int, event: Event) -> None:
        self._end_request(thread)
        cpi, context, priority, task, sequence = event.args
        requestor = self.names.task(task)
        details: tuple[tuple[str, str | int], ...] = (
            ("context", self.names.context_name(context)),
            ("priority", priority),
            ("task", requestor.name if requestor else ("?" if task == NOBODY else str(task))),
            ("sequence", sequence),
        )
        self._request[thread] = (self.now, self.names.cpi_name(cpi), details)

    def _end_request(self, thread: int) -> None:
        begun = self._request.pop(thread, None)
        if begun and self.now > begun[0]:
            self.requests.append(Slice(thread, begun[0], self.now, begun[1], begun[2]))

    def _end_job(self, thread: int) -> None:
        begun = self._job.pop(thread, None)
        if begun and self.now > begun[0]:
            self.jobs.append(Slice(thread, begun[0], self.now, f"job {begun[1]}"))

    # -- instants -----------------------------------------------------------------------------------

    def _instant(self, thread: int, event: Event) -> None:
        names, kind, args = self.names, event.kind, event.args
        if kind is Kind.OUTPUT:
            self._mark(thread, event.text.rstrip("\n") or "(empty line)")
        elif kind is Kind.FAULT:
            self._mark(thread, "fault", ("address", hex(args[1])), ("pc", hex(args[2])))
        elif kind is Kind.LOCK_TAKE:
            self._mark(
                thread,
                f"takes the lock of {names.cpi_name(args[0])}",
                ("context", names.context_name(args[1])),
            )
        elif kind is Kind.LOCK_GRANT:
            to = thread if event.other is None else event.other
            self._mark(
                to, f"gets the lock of {names.cpi_name(args[0])}", ("context", names.context_name(args[1]))
            )
        elif kind is Kind.LOCK_FREE:
            self._mark(
                thread,
                f"frees the lock of {names.cpi_name(args[0])}",
                ("context", names.context_name(args[1])),
            )
        elif kind is Kind.INHERIT:
            heir = self._worker(args[0], args[1]) if event.other is None else event.other
            if heir is not None:
                self._inherits(heir, event)

    def _inherits(self, heir: int, event: Event) -> None:
        """An arrow from the waiter to the thread that gets its priority; only on the way up."""
        cpi, context, low, high, cause = event.args
        at = ("at", self.names.cpi_name(cpi))
        if high <= low:
            self._mark(heir, f"back to {high}", at)
            return
        name = self.names.context_name(cause)
        source = self._waiting_worker(cause)
        flow = None
        if source is not None and source != heir:
            self.flows += 1
            flow = self.flows
            words = f"lends {high} to {self.names.context_name(context)}"
            self.instants.append(Instant(source, self.now, words, (at,), flow))
        self.instants.append(Instant(heir, self.now, f"inherits {high} from {name}", (at,), flow, True))

    def _worker(self, cpi: int, context: int) -> int | None:
        """The thread that serves a context at a CPI: its own, or the one of the pool that has its request."""
        for number, state in self.tracker.threads.items():
            if any(request[:2] == (cpi, context) for request in state.requests):
                return number
        return next((t.number for t in self.names.threads if (t.cpi, t.context) == (cpi, context)), None)

    def _waiting_worker(self, context: int) -> int | None:
        """The thread of a context that waits for a lock, or that a task begins with."""
        for number, state in self.tracker.threads.items():
            if state.lock is not None and state.requests and state.requests[-1][1] == context:
                return number
        return next((t.number for t in self.names.threads if t.context == context), None)

    def _mark(self, thread: int, name: str, *details: tuple[str, str | int]) -> None:
        self.instants.append(Instant(thread, self.now, name, details))
