# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Lists the capabilities of each component with their purpose, and the priorities that its threads can
set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar, assert_never

from msgspec import Struct

from camkes.capdl import uses
from camkes.capdl.callers import Wiring
from camkes.capdl.codes import NOT_LISTED
from camkes.capdl.details import Rights
from camkes.capdl.model import CapabilityModel, Role, Space
from camkes.capdl.time_manager import LEVEL_USE, servers
from camkes.diagnostics import Diagnostic, Span
from camkes.diagnostics.words import listing
from camkes.documents import json_text
from camkes.model.bands import Band
from camkes.model.connectors import is_left_to_build
from camkes.model.system import Connection, Sync, System
from camkes.protocols.plan import Plan


class Holding(Struct, frozen=True):
    """One capability or mapping of an instance. `slot` is None for memory; `reason` is what needs it and
    `span` where the user asked for that (None: the tool's own, every thread has it)."""

    space: str
    instance: str
    slot: int | None
    object: str
    rights: Rights
    badge: int
    reason: str
    span: Span | None


def authority(system: System, plan: Plan, model: CapabilityModel) -> tuple[Holding, ...]:
    """Every capability with its reason, by address space and slot. A capability without a reason does not
    occur: it would be a ValueError, for no part of the system would need it."""
    explainer = _Explainer(system, plan, model)
    held = model.uses()
    return tuple(h for space in model.spaces for h in _of_space(space, held[space.name], explainer))


def unlisted(system: System, rendered: frozenset[str]) -> Iterator[Diagnostic]:
    """A note for each connector whose capabilities are not in the model, as a build allocates them. Those in
    `rendered` have templates of their own."""
    found: dict[str, list[Connection]] = {}
    for connection in system.connections:
        if is_left_to_build(connection.connector, rendered):
            found.setdefault(connection.connector.name, []).append(connection)
    for name, connections in found.items():
        names = listing(each.names[0] for each in connections)
        why = f"templates of `{name}` allocate them"
        if name not in rendered:
            why = "those to devices depend on the machine"
        yield Diagnostic(
            NOT_LISTED,
            f"the capabilities for {names} are not listed: {why}",
            connections[0].span,
            help="a build for seL4 writes NAME.cdl, which has all capabilities",
        )


class ThreadAuthority(Struct, frozen=True):
    """What the code of a component can do with priorities. `max_priority` is the highest that can be set with
    the thread's own capability as the authority. All threads of an address space share its capabilities:
    each can set every thread in `sets` to priorities up to `reach`, the highest maximum among them."""

    space: str
    instance: str
    name: str
    role: Role
    priority: int
    max_priority: int
    sets: tuple[str, ...]
    reach: int


def thread_authority(model: CapabilityModel) -> tuple[ThreadAuthority, ...]:
    """All threads, by address space and index."""
    threads = {thread.name: thread for space in model.spaces for thread in space.threads}
    result: list[ThreadAuthority] = []
    for space in model.spaces:
        held = [threads[cap.object] for cap in space.caps if cap.object in threads]
        reach = max((thread.max_priority for thread in held), default=0)
        for thread in space.threads:
            result.append(
                ThreadAuthority(
                    space=space.name,
                    instance=thread.instance,
                    name=thread.name,
                    role=thread.role,
                    priority=thread.priority,
                    max_priority=thread.max_priority,
                    sets=tuple(other.name for other in held),
                    reach=reach,
                )
            )
    return tuple(result)


def threads_to_text(threads: Sequence[ThreadAuthority]) -> str:
    """A table for people: each thread, and how far the threads of its address space can be set."""
    head = ("component", "thread", "role", "priority", "maximum", "threads it can set")
    rows = [head]
    for thread in threads:
        others = ", ".join(name for name in thread.sets if name != thread.name)
        sets = f"itself{', ' * bool(others)}{others}: up to {thread.reach}" if thread.sets else "-"
        values = (thread.instance, thread.name, thread.role.value, str(thread.priority))
        rows.append((*values, str(thread.max_priority), sets))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    )


def to_text(holdings: Sequence[Holding]) -> str:
    """A table for people: for each address space what it holds, with which rights, and why."""
    lines: list[str] = []
    width = max((len(h.object) for h in holdings), default=0)
    space = None
    for holding in holdings:
        if holding.space != space:
            lines += [*([""] if lines else []), f"{holding.space}:"]
            space = holding.space
        slot = "memory" if holding.slot is None else str(holding.slot)
        badge = f" badge {holding.badge}" if holding.badge else ""
        rights = str(holding.rights) or "-"
        lines.append(f"  {slot:>6}  {holding.object:<{width}}  {rights:<3}  {holding.reason}{badge}")
    return "\n".join(lines)


def to_json(holdings: Sequence[Holding], threads: Sequence[ThreadAuthority] = ()) -> str:
    """Both tables for programs: "thread" of a thread's capability in its own address space is its row."""
    by_name = {thread.name: thread for thread in threads}
    records = [_record(h, by_name.get(h.object)) for h in holdings]
    return json_text(records)


class StatedAt(Struct, frozen=True):
    """A line of a file."""

    file: str
    line: int


class ReachReport(Struct, frozen=True):
    """What the code of a thread can do with priorities: set those of the threads in `sets`, up to `reach`."""

    role: Role
    priority: int
    max_priority: int
    sets: tuple[str, ...]
    reach: int


class HoldingReport(Struct, frozen=True):
    """A capability or a mapping of an address space. `slot` is null for memory. `place` is where the user
    asked for it, null: each thread has it. `thread` is there for a thread of that address space."""

    space: str
    instance: str
    slot: int | None
    object: str
    rights: str
    badge: int
    reason: str
    place: StatedAt | None
    thread: ReachReport | None


def _record(holding: Holding, thread: ThreadAuthority | None) -> HoldingReport:
    sets = None
    if thread is not None:
        sets = ReachReport(thread.role, thread.priority, thread.max_priority, thread.sets, thread.reach)
    place = None
    if holding.span is not None:
        place = StatedAt(str(holding.span.file.path), holding.span.line)
    return HoldingReport(
        space=holding.space,
        instance=holding.instance,
        slot=holding.slot,
        object=holding.object,
        rights=str(holding.rights),
        badge=holding.badge,
        reason=holding.reason,
        place=place,
        thread=sets,
    )


def _of_space(
    space: Space, held: Mapping[int, Sequence[uses.CapUse]], explainer: _Explainer
) -> Iterator[Holding]:
    for cap in space.caps:
        if cap.slot not in held:
            raise ValueError(f"slot {cap.slot} of {space.name} has no known purpose")
        why = [explainer.cap(use, cap.object) for use in held[cap.slot]]
        reason = "; ".join(dict.fromkeys(r for r, _ in why))
        span = next((s for _, s in why if s is not None), None)
        instance = held[cap.slot][0].instance
        yield Holding(
            space=space.name,
            instance=instance,
            slot=cap.slot,
            object=cap.object,
            rights=cap.rights,
            badge=cap.badge,
            reason=reason,
            span=span,
        )
    for mapping in space.mappings:
        instance = mapping.use.instance
        reason, span = explainer.memory(mapping.use)
        yield Holding(
            space=space.name,
            instance=instance,
            slot=None,
            object=mapping.region,
            rights=mapping.rights,
            badge=0,
            reason=reason,
            span=span,
        )


_Found = TypeVar("_Found")


def _unknown(use: uses.Use) -> ValueError:
    return ValueError(f"{use} has no known purpose")


def _known(found: _Found | None, use: uses.Use) -> _Found:
    if found is None:
        raise _unknown(use)
    return found


class _Explainer:
    """The purpose of each use, and where the user asked for it."""

    def __init__(self, system: System, plan: Plan, model: CapabilityModel) -> None:
        self._system = system
        self._model = model
        self._plan = plan
        self._wiring = Wiring(system)
        self._tasks = {task.instance: task for task in system.tasks}
        self._managers = {
            t.name: f"{t.instance}.{t.interface}"
            for s in model.spaces
            for t in s.threads
            if t.role is Role.MANAGER
        }

    def cap(self, use: uses.CapUse, target: str) -> tuple[str, Span | None]:
        return self._reason(use, target), self._place(use, target)

    def _reason(self, use: uses.CapUse, target: str) -> str:
        match use:
            case uses.Tcb():
                return f"thread {target} itself"
            case uses.OwnReply():
                return f"replies of thread {target.removesuffix(':reply')}"
            case uses.Gate() | uses.Ready():
                return "start-up of its threads"
            case uses.Lent():
                return "start-up of its passive threads"
            case uses.PlainRequest() | uses.TimerEvent():
                return self._connected(use, f"requests {self._others(use)} through {use.interface}")
            case uses.CpiRequest():
                what = f"requests {self._others(use)} through {use.interface} for {use.context}"
                return self._connected(use, what)
            case uses.Update():
                return f"passes on the priority of {use.context} through {use.end}"
            case uses.Serve():
                band = self._band(use.end)
                if band is not None:
                    return f"orders the jobs of {', '.join(band.tasks)}"
                if self._plan.cpi(use.end) is None:
                    return self._connected(use, f"serves {use.interface}")
                return f"serves requests{f' of {use.seat}' if use.seat else ''} at {use.end}"
            case uses.Receive():
                return self._connected(use, f"waits for {use.interface}")
            case uses.Handoff():
                return f"passes events of {use.interface} to component code"
            case uses.Emit():
                return self._connected(use, f"signals {self._others(use)} through {use.interface}")
            case uses.ClientTimer():
                return self._connected(use, f"time of {use.interface}")
            case uses.SyncNotification():
                return f"{self._sync(use).kind.replace('_', ' ')} {use.name}"
            case uses.Release() | uses.ReleaseTimer():
                return f"releases of task {use.instance}"
            case uses.Settle():
                return f"control thread of {use.instance} calls the manager of task {use.instance}"
            case (
                uses.TaskManager()
                | uses.TaskManagerTcb()
                | uses.OverrunHandler()
                | uses.TaskTimeout()
                | uses.TaskTime()
                | uses.TaskExtension()
            ):
                return f"serves as the manager of task {use.instance}"
            case uses.Turn():
                return f"asks {self._ordering(use).instance} for the priority of a job"
            case uses.Raise():
                return "raises the criticality of the system"
            case uses.SetCriticality():
                return "sets the criticality of the system"
            case uses.CpiManager():
                return f"serves as the manager of {use.end}"
            case uses.ManagerTcb() | uses.WorkerTcb():
                return f"the manager of {use.end} sets the priorities of its workers"
            case uses.WorkerCall():
                return f"worker of {use.seat} calls the manager of {use.end}"
            case uses.CpiWake():
                return f"wakes the manager of {use.end}"
            case uses.CpiReply():
                return f"a reply that the manager of {use.end} keeps"
            case uses.CpiTime():
                return f"the manager of {use.end} lends the time of {use.payer}"
            case uses.CpiTimeout():
                return f"overruns of {use.seat} go to the manager of {use.end}"
            case uses.CpiExtension():
                return f"the manager of {use.end} extends requests"
            case uses.Home():
                return f"workers of {use.end} after overruns"
            case uses.GroupManager():
                return f"serves as the manager of the group of {use.end}"
            case uses.GroupLend():
                return f"asks the manager of {use.party} to set lent priorities"
            case uses.GroupReply():
                return f"a reply that the manager of the group of {use.end} keeps"
            case uses.WaitCall():
                return f"waits for and signals {use.end}"
            case uses.SchedulerLend():
                return f"asks the manager of {use.task} to set its priority"
            case uses.SchedulerTime():
                return f"asks how long {use.task} has executed"
            case uses.AlarmTimer() | uses.AlarmWake() | uses.AlarmCall():
                if self._band(use.end) is not None:
                    return "ends time slices"
                if isinstance(use, uses.AlarmCall):
                    return f"serves as the manager of the group of {use.end}"
                return f"ends waits in the group of {use.end} in time"
            case uses.SchedControl():
                kept = any(server.holders for server in servers(self._model, self._plan))
                return f"configures servers{'' if kept else ', and is deleted before other threads execute'}"
            case uses.ManagedServer():
                return f"configures the server of {use.thread}"
            case uses.Executes():
                return f"changes the criticality of what {use.thread} executes"
            case uses.TimeManagerLend():
                return f"changes the criticality of what {use.name} executes"
            case uses.TimeManagerEnd() | uses.IdleCall() | uses.IdleWake():
                return "changes the criticality of the system"
            case uses.PoolObject() | uses.TemplateSlot():
                raise _unknown(use)  # of a build, which gives no reasons
        assert_never(use)

    def _place(self, use: uses.CapUse, target: str) -> Span | None:
        match use:
            case uses.Tcb():
                cpi = self._plan.cpi(self._managers.get(target, ""))
                return None if cpi is None else cpi.span
            case uses.Serve():
                return (self._band(use.end) or self._plan.cpi(use.end) or self._connection(use)).span
            case uses.OfCpi():
                return _known(self._plan.cpi(use.end), use).span
            case uses.SchedulerLend() | uses.SchedulerTime():
                return _known(self._band(use.end), use).span
            case uses.OfInterface():
                return self._connection(use).span
            case uses.OfGroup() | uses.OfAlarm() | uses.WaitCall():
                return self._waited(use)
            case uses.SyncNotification():
                return self._sync(use).span
            case uses.Turn():
                return self._ordering(use).span
            case uses.Raise():
                return _known(self._tasks.get(use.instance), use).spans["overrun"]
            case uses.OfTask():
                return _known(self._tasks.get(use.instance), use).span
            case uses.SetCriticality():
                return _known(self._system.instance(use.instance), use).type.criticality_span
            case _:
                return None  # the tool's own

    def memory(self, use: uses.MemoryUse) -> tuple[str, Span | None]:
        match use:
            case uses.Variable():
                if use != LEVEL_USE:
                    raise _unknown(use)
                return "the criticality of the system", None
            case uses.Data():
                what = f"dataport {use.interface}"
            case uses.Queue() | uses.EmitQueue():
                what = f"counts events of {use.interface}"
            case _:
                assert_never(use)
        return self._connected(use, what), self._connection(use).span

    def _connection(self, use: uses.OfInterface) -> Connection:
        return _known(self._wiring.connection(use.end), use)

    def _connected(self, use: uses.OfInterface, what: str) -> str:
        return f"{what}, connection {self._connection(use).name}"

    def _others(self, use: uses.OfInterface) -> str:
        return ", ".join(end.name for end in self._connection(use).to_ends)

    def _band(self, end: str) -> Band | None:
        """The band whose scheduler serves this interface."""
        return next((b for b in self._plan.bands if f"{b.instance}.{b.interface}" == end), None)

    def _ordering(self, use: uses.OfTask) -> Band:
        """The band that the task is in."""
        task = self._plan.task(use.instance)
        return _known(None if task is None else task.band, use)

    def _waited(self, use: uses.OfGroup | uses.OfAlarm | uses.WaitCall) -> Span:
        """Of a scheduler, a monitor or a condition."""
        band, condition = self._band(use.end), self._plan.condition(use.end)
        monitors = (cpi.span for cpi in self._plan.cpis if cpi.monitor and cpi.lock_name == use.end)
        spans = (*monitors, *(each.span for each in (band, condition) if each is not None))
        return _known(next(iter(spans), None), use)

    def _sync(self, use: uses.SyncNotification) -> Sync:
        instance = self._system.instance(use.instance)
        syncs = () if instance is None else instance.type.syncs
        return _known(next((sync for sync in syncs if sync.name == use.name), None), use)
