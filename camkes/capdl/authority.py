# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Lists the capabilities of each component with their purpose, and the priorities that its threads can
set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from camkes.capdl.callers import Wiring
from camkes.capdl.details import Rights
from camkes.capdl.model import CapabilityModel, ObjectUse, Purpose, Role, Space
from camkes.capdl.time_manager import LEVEL_USE, TIME_MANAGER, servers
from camkes.diagnostics import Span
from camkes.documents import json_text
from camkes.model.bands import Band, scheduled_by
from camkes.model.system import Connection, System
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
    return tuple(h for space in model.spaces for h in _of_space(space, model, explainer))


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


def _of_space(space: Space, model: CapabilityModel, explainer: _Explainer) -> Iterator[Holding]:
    uses: dict[int, list[ObjectUse]] = {}
    for use, slot in model.slots.items():
        if use.instance in space.instances:
            uses.setdefault(slot, []).append(use)
    for cap in space.caps:
        if cap.slot not in uses:
            raise ValueError(f"slot {cap.slot} of {space.name} has no known purpose")
        why = [explainer.cap(use, cap.object) for use in uses[cap.slot]]
        reason = "; ".join(dict.fromkeys(r for r, _ in why))
        span = next((s for _, s in why if s is not None), None)
        instance = uses[cap.slot][0].instance
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


def _ordered(use: ObjectUse, band: Band) -> str:
    """Of the interface of a scheduler at user level."""
    match use.purpose:
        case Purpose.LEND:
            return f"asks the manager of {use.context} to set its priority"
        case Purpose.TIME:
            return f"asks how long {use.context} has executed"
        case Purpose.WAKE | Purpose.TIMER | Purpose.MANAGER:
            return "ends time slices"
    return f"orders the jobs of {', '.join(band.tasks)}"


class _Explainer:
    """The purpose of each use."""

    def __init__(self, system: System, plan: Plan, model: CapabilityModel) -> None:
        self._system = system
        self._model = model
        self._plan = plan
        self._wiring = Wiring(system)
        self._managers = {
            t.name: f"{t.instance}.{t.interface}"
            for s in model.spaces
            for t in s.threads
            if t.role is Role.MANAGER
        }

    def cap(self, use: ObjectUse, target: str) -> tuple[str, Span | None]:
        end = f"{use.instance}.{use.interface}"
        if use.instance == TIME_MANAGER and use.purpose not in (Purpose.THREAD, Purpose.OWN_REPLY):
            return self._managed(use), None
        task = next((t for t in self._system.tasks if t.instance == use.instance), None)
        match use.purpose:
            case Purpose.THREAD:
                cpi = self._plan.cpi(self._managers.get(target, ""))
                return f"thread {target} itself", None if cpi is None else cpi.span
            case Purpose.GATE | Purpose.READY:
                return "start-up of its threads", None
            case Purpose.LENT | Purpose.LENT_DONE | Purpose.LENT_GATE:
                return "start-up of its passive threads", None
            case Purpose.OWN_REPLY:
                return f"replies of thread {target.removesuffix(':reply')}", None
            case Purpose.RAISE if task is not None:
                return "raises the criticality of the system", task.spans["overrun"]
            case Purpose.SET_CRITICALITY:
                kind = next(i.type for i in self._system.instances if i.name == use.instance)
                return "sets the criticality of the system", kind.criticality_span
            case Purpose.RELEASE | Purpose.TIMER if task is not None and not use.interface:
                return f"releases of task {use.instance}", task.span
            case Purpose.SYNC:
                instance = self._system.instance(use.instance)
                syncs = () if instance is None else instance.type.syncs
                for sync in syncs:
                    if sync.name == use.interface:
                        return f"{sync.kind.replace('_', ' ')} {sync.name}", sync.span
        condition = self._plan.condition(end)
        helper = self._plan.task(use.instance) if not use.interface else None
        band = scheduled_by(self._plan.bands, use.instance)
        if band is not None and use.interface == band.interface:
            return _ordered(use, band), band.span
        if use.purpose is Purpose.SCHEDULER and helper is not None and helper.band is not None:
            return f"asks {helper.band.instance} for the priority of a job", helper.band.span
        monitor = next((c for c in self._plan.cpis if c.monitor is not None and c.lock_name == end), None)
        if monitor is not None:
            return self._waited(use, end), monitor.span
        if condition is not None and use.purpose in (
            *(Purpose.MANAGER, Purpose.WAIT, Purpose.LEND, Purpose.REPLY, Purpose.TIMER, Purpose.WAKE),
        ):
            return self._waited(use, end), condition.span
        if helper is not None and task is not None:
            who = f"control thread of {use.context} calls" if use.context else "serves as"
            return f"{who} the manager of task {use.instance}", task.span
        cpi, connection = self._plan.cpi(end), self._wiring.connection(end)
        if cpi is not None:
            return self._served(use, end), cpi.span
        if connection is not None:
            return self._connected(use, connection), connection.span
        raise ValueError(f"{use} has no known purpose")

    def memory(self, use: ObjectUse) -> tuple[str, Span | None]:
        if use == LEVEL_USE:
            return "the criticality of the system", None
        connection = self._wiring.connection(f"{use.instance}.{use.interface}")
        if connection is None:
            raise ValueError(f"memory {use.variable} of {use.instance} has no known purpose")
        what = "dataport" if use.purpose is Purpose.DATA else "counts events of"
        return f"{what} {use.interface}, connection {connection.name}", connection.span

    def _managed(self, use: ObjectUse) -> str:
        """Of the time manager."""
        match use.purpose:
            case Purpose.CONTROL:
                kept = any(server.holders for server in servers(self._model, self._plan))
                more = "" if kept else ", and is deleted before other threads execute"
                return f"configures servers{more}"
            case Purpose.SERVER:
                return f"configures the server of {use.context}"
            case Purpose.EXECUTES | Purpose.LEND:
                return f"changes the criticality of what {use.context} executes"
            case Purpose.MANAGER | Purpose.RAISE | Purpose.WAKE:
                return "changes the criticality of the system"
        raise ValueError(f"{use} has no known purpose")

    def _waited(self, use: ObjectUse, end: str) -> str:
        """Of an event, a semaphore, a condition or a monitor."""
        match use.purpose:
            case Purpose.WAIT:
                return f"waits for and signals {end}"
            case Purpose.LEND:
                return f"asks the manager of {use.context} to set lent priorities"
            case Purpose.REPLY:
                return f"a reply that the manager of the group of {end} keeps"
            case Purpose.TIMER | Purpose.WAKE:
                return f"ends waits in the group of {end} in time"
        return f"serves as the manager of the group of {end}"

    def _served(self, use: ObjectUse, end: str) -> str:
        """Of an interface that is a CPI."""
        match use.purpose:
            case Purpose.INTERFACE:
                origin = f" of {use.context}" if use.context else ""
                return f"serves requests{origin} at {end}"
            case Purpose.MANAGER:
                who = f"worker of {use.context} calls" if use.context else "serves as"
                return f"{who} the manager of {end}"
            case Purpose.WAKE:
                return f"wakes the manager of {end}"
            case Purpose.REPLY:
                return f"a reply that the manager of {end} keeps"
            case Purpose.TIME:
                return f"the manager of {end} lends the time of {use.context}"
            case Purpose.TIMEOUT:
                return f"overruns of {use.context} go to the manager of {end}"
            case Purpose.HOME | Purpose.HOME_DONE | Purpose.HOME_GATE:
                return f"workers of {end} after overruns"
            case Purpose.EXTENSION:
                return f"the manager of {end} extends requests"
            case Purpose.WORKER | Purpose.AUTHORITY:
                return f"the manager of {end} sets the priorities of its workers"
        raise ValueError(f"{use} has no known purpose")

    def _connected(self, use: ObjectUse, connection: Connection) -> str:
        """Of another interface."""
        name, end = use.interface, f"{use.instance}.{use.interface}"
        match use.purpose:
            case Purpose.MANAGER:
                return f"passes on the priority of {use.context} through {end}"
            case Purpose.TIMER:
                return f"time of {name}, connection {connection.name}"
            case Purpose.HANDOFF:
                return f"passes events of {name} to component code"
        instance = self._system.instance(use.instance)
        interface = None if instance is None else instance.type.interface(name)
        if interface is None or use.purpose not in (Purpose.INTERFACE, Purpose.CONSUMER):
            raise ValueError(f"{use} has no known purpose")
        others = ", ".join(e.name for e in connection.to_ends)
        what = {
            "uses": f"requests {others} through {name}",
            "provides": f"serves {name}",
            "emits": f"signals {others} through {name}",
            "consumes": f"waits for {name}",
        }[interface.kind]
        origin = f" for {use.context}" if use.context else ""
        return f"{what}{origin}, connection {connection.name}"
