# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What happened in a run, as typed structures. All times are virtual nanoseconds since boot.

`camkes.running.decode` makes a `Run` from the events of a trace. Every table, picture, summary and file
for other tools is a rendering of a `Run`: none looks at events, so that no two can differ.
A run has many of the records with `gc=False`; they refer to nothing that could lead back to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from camkes.running.kinds import EndReason, FaultKind
from camkes.running.names import NamedTask, NamedThread, TraceNames
from camkes.running.waits import Situation, Stopped, Wait


class State(StrEnum):
    """What a thread, or a task, does at an instant."""

    NOT_STARTED = "not started"  # can run since boot and never did
    RUNNING = "running"
    READY = "ready"  # can run and has not begun; work of the same or a higher priority runs
    PREEMPTED = "preempted"  # has begun and can run; work of the same or a higher priority runs
    HELD_UP = "held up"  # can run; work of a lower priority runs at a raised priority
    WAITS_LOCK = "waits for lock"  # of a CPI
    WAITS_MUTEX = "waits for mutex"
    WAITS_SEMAPHORE = "waits for semaphore"
    WAITS_EVENT = "waits for event"
    WAITS_HELPED = "blocked on"  # an event or semaphore with helpers
    WAITS_SLOT = "waits for its slot"  # can run; another domain has the processor
    WAITS_BUDGET = "waits for its budget"  # to be refilled, on an MCS kernel
    WAITS_SERVER = "waits for server"  # its message was not received yet
    WAITS_REPLY = "waits for reply"
    WAITS_RELEASE = "waits for release"
    WAITS_SIGNAL = "waits for signal"
    WAITS_MESSAGE = "waits for message"
    SUSPENDED = "suspended"
    FAULTED = "stopped by a fault"
    ENDED = "ended"


class Holder(Struct, frozen=True, gc=False):
    """Who has what others wait for: a thread, the task on whose behalf it works ("": its own, or none), and
    since when, in virtual nanoseconds."""

    thread: str
    task: str
    since: int


class StateSegment(Struct, frozen=True, gc=False):
    """A stretch of time in one state.

    `what`: where a thread runs, or what it waits for: an interface ("inst.iface"), the CPI of a lock, an
    object; for HELD_UP where the work is that runs instead. `priority` is the priority in force; for HELD_UP
    that of the work that runs instead. `holders` have what it waits for: a lock, a mutex, a semaphore, or a
    server that serves another request. Of tasks only: `by` is the task (or thread) that runs meanwhile, and
    `hindered`: the job is not finished, and this is work of a lower base priority, or no thread runs while it
    waits for others; docs/running.md has the definition.
    """

    start: int
    end: int
    state: State
    what: str = ""
    priority: int = 0
    by: str = ""
    hindered: bool = False
    holders: tuple[Holder, ...] = ()

    @property
    def duration(self) -> int:
        return self.end - self.start


class JobOutcome(StrEnum):
    """What became of a job until the end of the run."""

    COMPLETED = "completed"
    LATE = "completed late"
    OVERDUE = "unfinished, deadline missed"
    OPEN = "open"  # unfinished, and its deadline (if it has one) can still be met


class Job(Struct, frozen=True, gc=False):
    """A released job, counted from 0. `deadline` is an instant; `begin` and `end` are None if the run ended
    before them.

    `blocked` is the time from release to end (of the job or the run) in which work of a lower base priority
    ran, or no thread while it waited for others; None: the trace does not show who ran."""

    number: int
    release: int
    begin: int | None
    end: int | None
    deadline: int | None
    outcome: JobOutcome
    blocked: int | None = None

    @property
    def response(self) -> int | None:
        return None if self.end is None else self.end - self.release

    @property
    def missed(self) -> bool:
        return self.outcome in (JobOutcome.LATE, JobOutcome.OVERDUE)


class Lane(Struct, frozen=True):
    """A task with all that was done on its behalf, by its own thread and by those that served it. A task at
    rest (between jobs, ended) has no segment. Control threads that are not tasks have lanes too, if they
    ever work: those have a task of a negative id, and no jobs."""

    task: NamedTask
    thread: int
    segments: tuple[StateSegment, ...]
    jobs: tuple[Job, ...]

    @property
    def is_task(self) -> bool:
        return self.task.id >= 0


class TracedThread(Struct, frozen=True):
    """`segments` cover the whole run. `priorities` are (time, priority from then on)."""

    named: NamedThread
    segments: tuple[StateSegment, ...]
    priorities: tuple[tuple[int, int], ...]


class ServedRequest(Struct, frozen=True, gc=False):
    """A request that a thread served; `context` and `cpi` are ids, `task` is the id of the task that began
    the chain of requests, None: not known. `open`: it had not ended at the end of the run, which is `end`.
    `method` is its index among those of the CPI, None where there is one."""

    thread: int
    start: int
    end: int
    cpi: int
    context: int
    priority: int
    task: int | None
    sequence: int
    open: bool = False
    method: int | None = None


class LockStep(StrEnum):
    TAKES = "takes"
    GETS = "gets"  # from the thread that held it
    FREES = "frees"


class LockEvent(Struct, frozen=True, gc=False):
    """`thread` is the one that does so; for GETS the one that waited."""

    time: int
    step: LockStep
    thread: int
    cpi: int
    context: int


class Inheritance(Struct, frozen=True, gc=False):
    """The priority of `heir` changes because of requests that wait for it. `source` is the thread whose
    priority it gets, None: not known, or the priority falls. `context` is the heir's, `cause` that of the
    source. `cpi` is where the heir serves, -1: it is the control thread of a task that helps."""

    time: int
    heir: int
    source: int | None
    cpi: int
    context: int
    cause: int
    before: int
    after: int


class Wakeup(Struct, frozen=True, gc=False):
    """`emitter` ended the wait of `receiver` for the object `what`: it emitted the event, or posted the
    semaphore. Both are numbers of threads."""

    time: int
    emitter: int
    receiver: int
    what: str


class Output(Struct, frozen=True, gc=False):
    time: int
    thread: int
    text: str


#: the error of a message that was sent and not called
MESSAGE_SENT = 17


class Refused(Struct, frozen=True, gc=False):
    """A message that `thread` did not take as a request, or was not called: `badge` is that of the sender,
    `error` one of those in runtime/include/camkes/message_error.h. `sender` is the thread, if it is known."""

    time: int
    thread: int
    badge: int
    error: int
    sender: int | None = None


class Fault(Struct, frozen=True):
    """A thread that could not go on. `service` is the interface that it served ("": its own code), `task` the
    name of the task on whose behalf it ran ("": none). `address` is the memory it is about (of CAPABILITY:
    the slot, of EXIT: the status, of KILLED: the signal); `offset` is where, in the module of its code.
    `stopped`: no handler let it go on. `client` is the thread whose request it served ("": none), `holds` the
    CPIs whose locks it held."""

    time: int
    thread: NamedThread
    kind: FaultKind
    address: int
    pc: int
    offset: int
    service: str
    task: str
    client: str
    holds: tuple[str, ...]
    stopped: bool


class Spent(Struct, frozen=True, gc=False):
    """Of a scheduling context, by the name of its thread (or its own): `budget` ns in each `period`; `used`
    ns were charged to it in the run. `waits`: how often its thread waited for a refill; `timeouts`: how often
    the end of the budget was a message to a handler. `left`: (time, ns that are left until the next refill),
    at the corners of a line."""

    name: str
    budget: int
    period: int
    used: int = 0
    waits: int = 0
    timeouts: int = 0
    left: tuple[tuple[int, int], ...] = ()

    @property
    def most(self) -> int:
        """The largest budget that it had, at least 1: some are larger while the criticality is raised."""
        return max([1, self.budget, *(left for _, left in self.left)])


class Payment(Struct, frozen=True, gc=False):
    """From `start` to `end` the work of `task`, in `what` ("": its own code), used the budget of `payer`: a
    task that waits for it, or an extension."""

    start: int
    end: int
    payer: str
    task: str
    what: str


class Overrun(Struct, frozen=True, gc=False):
    """The budget of `payer` was used up by `thread`, in `what` ("": its own code), for `task` ("": none).
    `policy` says what happens then."""

    time: int
    payer: str
    thread: str
    task: str
    what: str
    policy: str


class FilledSlot(Struct, frozen=True, gc=False):
    """At `time` a loop of the thread in no time was given the rest of its slot: `rest` nanoseconds."""

    time: int
    thread: int
    rest: int


class Run(Struct, frozen=True):
    """A run from boot to `end`. `ending`: why it ended, None: the trace is cut. `scheduling`: the trace shows
    who ran when; only a kernel can record that, and seL4 does not: then there are jobs, and no segments.

    `threads` are in the order of their numbers, `lanes` by falling priority. `waits`: the threads that wait
    at the end for what cannot come; `last`: what threads do after the last record that cannot run, by their
    numbers, each since when. `exits`: by the numbers of threads that ended, with which status.
    On an MCS kernel, `spent` is about the budgets that can be used up; payments and overruns by time.
    `criticality`: (time, that of the system from then on). `wakeups`: signals for which a thread waited, by
    time; a trace of seL4 has none."""

    names: TraceNames
    end: int
    ending: EndReason | None
    scheduling: bool
    threads: tuple[TracedThread, ...]
    lanes: tuple[Lane, ...]
    requests: tuple[ServedRequest, ...]
    locks: tuple[LockEvent, ...]
    inheritances: tuple[Inheritance, ...]
    outputs: tuple[Output, ...]
    refused: tuple[Refused, ...]
    faults: tuple[Fault, ...]
    waits: tuple[Wait, ...]
    exits: Mapping[int, int]
    spent: tuple[Spent, ...] = ()
    payments: tuple[Payment, ...] = ()
    overruns: tuple[Overrun, ...] = ()
    criticality: tuple[tuple[int, int], ...] = ()
    filled: tuple[FilledSlot, ...] = ()
    slots_begin: int = 0  # when the schedule of domains has begun, before or after boot
    last: Mapping[int, StateSegment] = {}
    wakeups: tuple[Wakeup, ...] = ()

    @property
    def situation(self) -> Situation:
        """What faults and waits the run ended with."""
        stopped = (
            Stopped(f.time, f.thread.number, f.service if f.client else "", f.client, f.task, f.holds)
            for f in self.faults
        )
        return Situation(tuple(stopped), self.waits)

    @property
    def tasks(self) -> tuple[Lane, ...]:
        return tuple(lane for lane in self.lanes if lane.is_task)

    @property
    def services(self) -> tuple[str, ...]:
        """The interfaces that lanes name, in name order."""
        return tuple(sorted({s.what for lane in self.lanes for s in lane.segments if s.what}))
