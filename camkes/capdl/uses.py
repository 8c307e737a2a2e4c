# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What instances have capabilities, empty slots and memory for: a record for each purpose. It says what the
object is, with the rights in brackets.

An own end of an endpoint is where its manager receives. `context` and `seat` are the names of a `Context` and
a `Seat` of `camkes.protocols.contexts`; `Badge` and `AT_MANAGERS` are of `camkes.capdl.time_manager`.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Use(Struct, frozen=True):
    """What `instance` ("": every instance of an address space) has something for."""

    instance: str


class OfInterface(Use, frozen=True):
    """`interface` is a name within the instance."""

    interface: str

    @property
    def end(self) -> str:
        """The name of the interface in the system."""
        return f"{self.instance}.{self.interface}"


class OfCpi(OfInterface, frozen=True):
    """`interface` is a CPI with a manager."""


class OfTask(Use, frozen=True):
    """The instance is a task."""


# threads and their start


class Tcb(Use, frozen=True):
    """The TCB of the thread with this index, unless that is not wanted and no manager has it."""

    index: int


class Gate(Use, frozen=True):
    """An endpoint (RW) at which threads wait until the control thread lets them begin."""

    @property
    def endpoint(self) -> str:
        """The name of the object."""
        return f"{self.instance}:gate"


class Ready(Use, frozen=True):
    """An endpoint (RW) at which the control thread waits for threads that initialise interfaces."""

    @property
    def endpoint(self) -> str:
        """The name of the object."""
        return f"{self.instance}:ready"


class OwnReply(Use, frozen=True):
    """On an MCS kernel, the reply object with which the thread with this index begins."""

    index: int


class LentPart(StrEnum):
    """On an MCS kernel, what passive threads need to come to where they wait for callers; the value is the
    member of struct camkes_lent."""

    #: a scheduling context that is lent to them
    CONTEXT = "context"
    #: the notification (RW) with which they report that they are done
    DONE = "done"
    #: the endpoint (RP) at which they wait for that context to be taken away
    GATE = "gate"


class Lent(Use, frozen=True):
    """With what the control thread starts the passive threads of the instance."""

    part: LentPart


# procedures


class PlainRequest(OfInterface, frozen=True):
    """uses: the endpoint (WP) of a server without a protocol, badge = sender id."""


class CpiRequest(OfInterface, frozen=True):
    """uses: the endpoint (WP) of a CPI for requests of this context, badge = 1 + index into the CPI's caller
    table."""

    context: str


class Update(OfInterface, frozen=True):
    """uses: the endpoint (WP) of a CPI's manager, or of its group's, for a caller whose priority can be
    raised while it requests for this context. Badge = number of seats + 1 + caller index; in a group with P
    parties, 1 + P + index of the party that is requested."""

    context: str


class Serve(OfInterface, frozen=True):
    """provides: the endpoint (R) that requests come to, also those of a scheduler; with a worker for each
    seat, one for each."""

    seat: str = ""


# events, time and synchronisation


class Receive(OfInterface, frozen=True):
    """consumes: the notification (R)."""


class Handoff(OfInterface, frozen=True):
    """consumes: a notification (RW) between the thread of the interface and component code."""


class Emit(OfInterface, frozen=True):
    """emits: the notification (W) of the consumer with this number."""

    consumer: int


class TimerEvent(OfInterface, frozen=True):
    """uses of the virtual time server: the notification (R) that its timers signal."""


class ClientTimer(OfInterface, frozen=True):
    """uses of the virtual time server: a timer that signals `TimerEvent`, one for each number."""

    number: int


class SyncNotification(Use, frozen=True):
    """The notification (RW) of a mutex or semaphore of this name."""

    name: str


# tasks


class Release(OfTask, frozen=True):
    """The notification (R) that releases the task."""


class ReleaseTimer(OfTask, frozen=True):
    """The timer that signals what releases the task."""


class TaskManager(OfTask, frozen=True):
    """Own end (R) of the manager of a task whose priority is set while it executes."""


class TaskManagerTcb(OfTask, frozen=True):
    """The TCB of the manager of a task, its authority to set priorities."""


class Settle(OfTask, frozen=True):
    """For the control thread of a task that has a manager: the endpoint (WP) of the manager of its group,
    badge = 1 + index of the party; of a task in a band, that of its own manager, badge = 1."""


class Turn(OfTask, frozen=True):
    """For a task in a band: the endpoint (WP) of the scheduler, badge = 1 + its place there."""


class OverrunHandler(OfTask, frozen=True):
    """On an MCS kernel, own end (R) of the handler of the task's overruns."""


class TaskTimeout(OfTask, frozen=True):
    """The endpoint (WP) of the handler of the task's overruns, for timeouts of the control thread and ends of
    jobs; badge = 1."""


class TaskTime(OfTask, frozen=True):
    """For the handler of the task's overruns: the scheduling context of the task."""


class TaskExtension(OfTask, frozen=True):
    """For the handler of the task's overruns: the scheduling context on which a job is extended."""


class Raise(OfTask, frozen=True):
    """For the handler of the task's overruns: the endpoint (WP) of the time manager, badge = `Badge.RAISE` +
    id of the task."""


class SetCriticality(Use, frozen=True):
    """For a component that sets the criticality: the endpoint (WP) of the time manager, badge =
    `Badge.SET`."""


# CPIs with a manager


class CpiManager(OfCpi, frozen=True):
    """Own end (R) of the manager of the CPI."""


class ManagerTcb(OfCpi, frozen=True):
    """The TCB of the manager of the CPI, its authority to set priorities."""


class WorkerTcb(OfCpi, frozen=True):
    """For the manager of the CPI: the TCB of the worker with this `Thread.part`, its seat or, in a pool, its
    number."""

    part: str


class WorkerCall(OfCpi, frozen=True):
    """For the worker of this seat: the endpoint (WP) of the manager of the CPI, badge = 1 + index of the
    seat; or of its group's, badge = 1 + index of the party."""

    seat: str


class CpiWake(OfCpi, frozen=True):
    """The notification (RW) at which the manager of the CPI waits while it keeps a reply."""


class CpiReply(OfCpi, frozen=True):
    """An empty slot for the saved reply capability of this seat. On an MCS kernel it has a reply object: the
    manager exchanges it for that with which it received the request."""

    seat: str


class CpiTime(OfCpi, frozen=True):
    """On an MCS kernel, for the manager of the CPI by its overrun policy: what requests can execute on, the
    scheduling context of a task, or of the extension of a task or CPI."""

    payer: str


class CpiTimeout(OfCpi, frozen=True):
    """On an MCS kernel, by the overrun policy of the CPI: the endpoint (WP) of its manager, for timeouts of
    the worker of this seat; badge = number of seats + number of callers + 1 + index of the seat."""

    seat: str


class CpiExtension(OfCpi, frozen=True):
    """On an MCS kernel, for the manager of the CPI by its overrun policy: the scheduling context of its own
    extension."""


class Home(OfCpi, frozen=True):
    """What a worker of the CPI has after an overrun, as `Lent`."""

    part: LentPart


# groups and schedulers


class OfGroup(Use, frozen=True):
    """`member`: the group's first condition, or without one its first monitor."""

    member: str

    @property
    def end(self) -> str:
        """The name of the group."""
        return f"{self.instance}.{self.member}"


class GroupManager(OfGroup, frozen=True):
    """Own end (R) of the manager of the group."""


class GroupLend(OfGroup, frozen=True):
    """For the manager of the group: the endpoint (WP) of the manager of this party, a task or a CPI;
    no badge."""

    party: str


class GroupReply(OfGroup, frozen=True):
    """As `CpiReply`, for the manager of the group: of the party with this number, and after the parties of
    the sleepers."""

    number: int


class WaitCall(Use, frozen=True):
    """The endpoint (WP) of the manager of the group of the condition, for the thread with this index; badge =
    1 + 2 P + its place among the sleepers of the group, which has P parties."""

    condition: str
    index: int

    @property
    def end(self) -> str:
        """The name of the condition in the system."""
        return f"{self.instance}.{self.condition}"


class SchedulerLend(OfInterface, frozen=True):
    """For the scheduler that serves this interface: the endpoint (WP) of the manager of the task, badge =
    2."""

    task: str


class SchedulerTime(OfInterface, frozen=True):
    """For the scheduler that serves this interface: the scheduling context of the task."""

    task: str


class OfAlarm(Use, frozen=True):
    """`owner`: the member that names a group, or the interface of a scheduler."""

    owner: str

    @property
    def end(self) -> str:
        """The name of the group, or of the scheduler's interface in the system."""
        return f"{self.instance}.{self.owner}"


class AlarmTimer(OfAlarm, frozen=True):
    """The timer of a group or a scheduler."""


class AlarmWake(OfAlarm, frozen=True):
    """The notification (R) that the timer signals, at which the thread of the alarm waits."""


class AlarmCall(OfAlarm, frozen=True):
    """The endpoint (WP) of the manager or scheduler, which the thread of the alarm then calls; badge = the
    one after all others."""


# the time manager of an MCS kernel


class SchedControl(Use, frozen=True):
    """The right to configure contexts on this core."""

    core: int


class ManagedServer(Use, frozen=True):
    """The scheduling context of this thread."""

    thread: str


class Executes(Use, frozen=True):
    """The TCB of this thread, whose priority or budget depends on the criticality of the system."""

    thread: str


class TimeManagerLend(Use, frozen=True):
    """The endpoint (WP) of the manager of this CPI or group, badge = `AT_MANAGERS`."""

    name: str


class TimeManagerEnd(Use, frozen=True):
    """Own end (R) of the time manager."""


class IdleCall(Use, frozen=True):
    """The endpoint (WP) of the time manager for its thread that waits for an idle processor, badge =
    `Badge.IDLE`."""


class IdleWake(Use, frozen=True):
    """The notification (RW) by which the time manager wakes its thread that waits for an idle processor."""


# what settings and templates ask for


class PoolObject(Use, frozen=True):
    """What has this number of what the setting `pool` asks for."""

    pool: str
    number: int


class TemplateSlot(Use, frozen=True):
    """An empty slot that a template of a connector asks for."""

    slot: int


# memory


class Data(OfInterface, frozen=True):
    """The memory of a dataport."""

    @property
    def variable(self) -> str:
        """The C variable in front of it."""
        return f"{self.interface}_data"


class Queue(OfInterface, frozen=True):
    """consumes: the counter of events."""

    @property
    def variable(self) -> str:
        """The C variable in front of it."""
        return f"{self.interface}_queue"


class EmitQueue(OfInterface, frozen=True):
    """emits: the counter of events of the consumer with this number."""

    consumer: int

    @property
    def variable(self) -> str:
        """The C variable in front of it."""
        return f"{self.interface}_queue{self.consumer}"


class Variable(Use, frozen=True):
    """Memory behind the C variable of this name."""

    variable: str


_OfThreads = Tcb | Gate | Ready | OwnReply | Lent
_OfProcedures = PlainRequest | CpiRequest | Update | Serve
_OfEvents = Receive | Handoff | Emit | TimerEvent | ClientTimer | SyncNotification
_OfManagedTasks = TaskManager | TaskManagerTcb | Settle | Turn
_OfOverruns = OverrunHandler | TaskTimeout | TaskTime | TaskExtension | Raise | SetCriticality
_OfTasks = Release | ReleaseTimer | _OfManagedTasks | _OfOverruns
_OfWorkers = ManagerTcb | WorkerTcb | WorkerCall
_OfCpis = CpiManager | _OfWorkers | CpiWake | CpiReply | CpiTime | CpiTimeout | CpiExtension | Home
_OfGroups = GroupManager | GroupLend | GroupReply | WaitCall | AlarmTimer | AlarmWake | AlarmCall
_OfSchedulers = SchedulerLend | SchedulerTime
_OfTimeManager = (
    SchedControl | ManagedServer | Executes | TimeManagerLend | TimeManagerEnd | IdleCall | IdleWake
)
_OfBuilds = PoolObject | TemplateSlot

#: what an instance has in its CSpace
CapUse = (
    _OfThreads
    | _OfProcedures
    | _OfEvents
    | _OfTasks
    | _OfCpis
    | _OfGroups
    | _OfSchedulers
    | _OfTimeManager
    | _OfBuilds
)
#: what is mapped into its address space
MemoryUse = Data | Queue | EmitQueue | Variable
