# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The states of threads and tasks at an instant, while a trace is decoded."""

from __future__ import annotations

from camkes.capdl.model import Role
from camkes.running.bounds import DamagedTraceError
from camkes.running.jobs import Ending, make_jobs
from camkes.running.kinds import Blocked
from camkes.running.model import Holder, Lane, State, StateSegment
from camkes.running.names import NamedTask, NamedThread
from camkes.running.waits import AtEnd, Cause

BLOCKED: dict[int, State] = {
    Blocked.SEND: State.WAITS_SERVER,
    Blocked.CALL: State.WAITS_SERVER,
    Blocked.REPLY: State.WAITS_REPLY,
    Blocked.RECV: State.WAITS_MESSAGE,
    Blocked.NOTIFICATION: State.WAITS_SIGNAL,
    Blocked.SUSPENDED: State.SUSPENDED,
    Blocked.FAULT: State.FAULTED,
}

_GONE = {State.FAULTED: Cause.FAULT, State.ENDED: Cause.ENDED, State.SUSPENDED: Cause.SUSPENDED}


#: state, what, priority, by, hindered and holders of a segment; the last three are left out where there is
#: nothing
Doing = (
    tuple[State, str, int]
    | tuple[State, str, int, str, bool]
    | tuple[State, str, int, str, bool, tuple[Holder, ...]]
)

#: Jobs that have no record each: of releases that come faster than records of them are made.
_UNSEEN = 10_000


class ThreadState:
    """What is known of a thread now. `client` is the thread whose call it serves, `server` the one that
    received its own call; `lock` is the CPI (id) in whose queue it stands, `condition` what it waits for (id)
    with helpers; `queue` are those that wait where it does. `stopped`: when it did, `served`: when it
    received the request of its client."""

    __slots__ = (
        "client", "condition", "current", "lane", "lock", "named", "object", "overrun", "postponed",
        "priorities", "priority", "queue", "ran", "reason", "receiver", "requests", "runnable", "segments",
        "served", "server", "service", "since", "started", "starting", "stopped",
    )  # fmt: skip

    def __init__(self, named: NamedThread) -> None:
        self.named = named
        self.service = "" if named.role is Role.CONTROL else named.service
        self.priority = named.priority
        self.priorities = [(0, named.priority)]
        self.runnable, self.started, self.ran = True, False, False
        self.starting = named.role is Role.CONTROL  # its instance is not initialised
        self.postponed = False
        self.overrun = False  # it caused a timeout fault, which was not answered yet
        self.reason: State | None = None
        self.object = 0
        self.client: ThreadState | None = None
        self.server: ThreadState | None = None
        self.receiver: ThreadState | None = None  # of the message that it has just sent
        self.stopped = self.served = 0
        self.queue: dict[ThreadState, None] | None = None
        self.lock: int | None = None
        self.condition: int | None = None
        self.requests: list[tuple[int, tuple[int, ...]]] = []  # (begin, arguments of the record)
        self.lane: TaskState | None = None
        self.current: Doing = (State.NOT_STARTED, "", named.priority)
        self.since = 0
        self.segments: list[StateSegment] = []

    def blocked(self, why: int) -> State | None:
        """What it does when the kernel has blocked it."""
        state = BLOCKED.get(why)
        return State.WAITS_BUDGET if self.overrun and state is State.FAULTED else state

    @property
    def is_gone(self) -> bool:
        return self.reason in _GONE

    @property
    def is_queued(self) -> bool:
        """Whether a manager keeps it in a queue."""
        return self.lock is not None or self.condition is not None

    def leaf(self) -> ThreadState:
        """The thread at the end of the chain of calls that begins here: the one to be executed."""
        thread, seen = self, {self}
        while not thread.is_queued and (server := thread.server) is not None:
            if server.client is not thread or server in seen:
                break
            seen.add(server)
            thread = server
        return thread

    def at_end(self) -> AtEnd:
        """What it does when a run ends."""
        if self.runnable or self.reason is None:
            return AtEnd()
        if self.condition is not None and self.reason not in _GONE:
            return AtEnd(condition=self.condition, since=self.stopped)
        at = {self.reason: self.object}
        return AtEnd(
            _GONE.get(self.reason),
            self.lock,
            self.server.named.number if self.reason is State.WAITS_REPLY and self.server else None,
            at.get(State.WAITS_SERVER),
            at.get(State.WAITS_SIGNAL),
            at.get(State.WAITS_MESSAGE),
            since=self.stopped,
            kept=self.server is not None
            and (self.server.client is not self or self.server.reason is State.WAITS_MESSAGE),
        )


class TaskState:
    """What is known of a task now."""

    __slots__ = (
        "begins", "current", "ends", "job", "left_out", "most", "pending", "released", "releases", "segments",
        "since", "stopped", "task", "thread", "woken",
    )  # fmt: skip

    def __init__(self, task: NamedTask, thread: ThreadState) -> None:
        self.task, self.thread = task, thread
        self.released = 0
        self.releases: list[int] = []  # by events
        self.pending = False  # the notification of the event is signalled
        self.woken = False  # by the event, and its job has not begun
        self.job = False  # one is under way
        self.begins: dict[int, tuple[int, int]] = {}
        self.ends: dict[int, int] = {}
        self.stopped: set[int] = set()
        self.left_out: set[int] = set()
        self.current: Doing | None = None
        self.since = 0
        self.segments: list[StateSegment] = []
        self.most = _UNSEEN  # jobs that there can be

    def _check(self, jobs: int) -> None:
        """Each record about a job makes one more possible; there are so few without, that a trace cannot
        make its readers do more than its size."""
        self.most += 1
        if jobs > self.most:
            raise DamagedTraceError(f"a record of job {jobs - 1} of {self.task.name}")

    def release(self, jobs: int) -> None:
        """A timer has released so many jobs."""
        self._check(jobs)
        self.released = max(self.released, jobs)

    def event(self, now: int) -> None:
        """The event that releases jobs was emitted: it wakes the task, or waits, unless one does already."""
        thread = self.thread
        waits = (
            not thread.runnable and thread.reason is State.WAITS_SIGNAL and thread.object == self.task.event
        )
        if waits or not self.pending:
            self.releases.append(now)
            self.woken, self.pending = self.woken or waits, self.pending or not waits

    def begin(self, job: int, now: int, planned: int) -> None:
        """A job begins, which was released when it was `planned`, or by an event."""
        self._check(job + 1)
        self.begins[job] = (now, self.releases[job] if job < len(self.releases) else planned)
        self.pending = self.pending and self.woken
        self.woken = False
        self.job = True

    @property
    def must_end(self) -> bool:
        """Whether it is in a job that another one will follow, or that has a deadline."""
        task = self.task
        return self.job and (task.period is not None or task.deadline is not None or task.event is not None)

    def end(self, job: int, now: int | None) -> None:
        """A job ends; None: it was stopped."""
        self._check(job + 1)
        self.job = False
        if now is None:
            self.stopped.add(job)
        else:
            self.ends[job] = now

    def finished(self, ending: Ending, scheduling: bool) -> Lane:
        """The task at the end of a run; `scheduling`: the trace shows who executed."""
        released = self.released
        if self.task.id >= 0 and self.task.timer is None:
            released = 1 if self.task.event is None else len(self.releases)  # at boot, or by events
        segments = tuple(self.segments) if scheduling else None
        jobs = make_jobs(
            self.task, released, self.begins, self.ends, ending, segments, self.releases, self.stopped
        )
        begun = tuple(job for job in jobs if job.number not in self.left_out)
        return Lane(self.task, self.thread.named.number, segments or (), begun)


def leave_out(thread: ThreadState | None, _: ThreadState | None, args: tuple[int, ...]) -> None:
    """The task of a thread is degraded, and does not begin a job."""
    if thread is not None and thread.lane is not None:
        thread.lane.left_out.add(args[0])
