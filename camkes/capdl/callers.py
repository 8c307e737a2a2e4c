# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The callers of a CPI: the table that defines the meaning of each badge."""

from __future__ import annotations

from msgspec import Struct

from camkes.model.system import Connection, ConnectionEnd, System
from camkes.protocols.contexts import Context, Seat
from camkes.protocols.plan import Plan, PlannedCpi


class CallerEntry(Struct, frozen=True):
    """Requests of `context` through the from end `end`. `badge` is the request's badge, 1 + `index`.

    `sender_id` numbers the from ends for user code, as with plain RPC. `bound` limits what a label may
    claim: the ceiling of the calling CPI, or the highest priority of a calling task. `tasks` are the ids of
    the tasks whose requests can come this way, and `callers` the tasks and CPIs that use this entry. `seat`
    is where they come to.
    `manager_badge` is the badge of updates from this caller, None where its priority cannot change.
    """

    index: int
    end: ConnectionEnd
    sender_id: int
    seat: Seat
    bound: int
    tasks: tuple[int, ...]
    callers: tuple[str, ...]
    manager_badge: int | None

    @property
    def badge(self) -> int:
        return self.index + 1

    @property
    def context(self) -> Context:
        return self.seat.context


class Wiring:
    """Which connection an interface is part of; every interface is part of one at most."""

    __slots__ = ("_by_end",)

    def __init__(self, system: System) -> None:
        self._by_end: dict[str, Connection] = {}
        for connection in system.connections:
            for end in (*connection.from_ends, *connection.to_ends):
                self._by_end.setdefault(end.name, connection)

    def connection(self, end: str) -> Connection | None:
        return self._by_end.get(end)


def sender_ids(system: System, connection: Connection) -> tuple[int, ...]:
    """A number for each from end: the user's choice, else counted from 1 past the chosen ones."""
    chosen: list[int | None] = []
    for end in connection.from_ends:
        instance = system.instance(end.instance)
        chosen.append(None if instance is None else instance.configured.interface(end.interface).attributes)
    taken = {badge for badge in chosen if badge is not None}
    result: list[int] = []
    candidate = 1
    for badge in chosen:
        if badge is None:
            while candidate in taken:
                candidate += 1
            badge = candidate
            candidate += 1
        result.append(badge)
    return tuple(result)


def can_be_raised(cpi: PlannedCpi) -> bool:
    """Can requests made by this CPI have more than their base priority?"""
    if cpi.protocol.own_priority:
        return False
    contends = cpi.protocol.inherits and (len(cpi.contexts) >= 2 or cpi.monitor is not None)
    return contends or cpi.inherits_from_above


def caller_table(system: System, plan: Plan, cpi: PlannedCpi) -> tuple[CallerEntry, ...]:
    """For each from end in connection order, for each context of the CPI that can arrive through it."""
    connection = next((c for c in system.connections for e in c.to_ends if e.name == cpi.name), None)
    if connection is None:
        return ()
    numbers = sender_ids(system, connection)
    entries: list[CallerEntry] = []
    for end, number in zip(connection.from_ends, numbers, strict=True):
        for seat in cpi.seats:
            context = seat.context
            if seat.client not in ("", end.instance):
                continue
            callers = _callers(plan, cpi, end, context)
            if not callers:
                continue
            index = len(entries)
            calling = [c for c in map(plan.cpi, callers) if c is not None]
            helper = next((t for t in plan.tasks if t.name in callers and t.rises), None)
            own = _highest(plan, context) if helper is None else helper.highest
            bound = max([c.ceiling for c in calling], default=own)
            # the manager of a CPI without inheritance keeps the order of those that wait for the lock
            ordered = cpi.manager and (not cpi.protocol.own_priority or len(cpi.contexts) > 1)
            raised = ordered and (helper is not None or any(can_be_raised(c) for c in calling))
            manager_badge = len(cpi.seats) + 1 + index if raised else None
            tasks = _tasks(plan, context)
            entries.append(
                CallerEntry(
                    index=index,
                    end=end,
                    sender_id=number,
                    seat=seat,
                    bound=bound,
                    tasks=tasks,
                    callers=callers,
                    manager_badge=manager_badge,
                )
            )
    return tuple(entries)


def _highest(plan: Plan, context: Context) -> int:
    """The priority of a context while nothing is inherited, at the highest criticality of the system."""
    task = plan.task(context.name) if context.is_task else None
    return max((context.base_priority, *(() if task is None else task.priorities)))


def _tasks(plan: Plan, context: Context) -> tuple[int, ...]:
    """The ids of the tasks that requests of a context are for: its own, or all that reach a fixed CPI."""
    cpi = None if context.is_task else plan.cpi(context.name)
    names = (context.name,) if cpi is None else cpi.tasks
    return tuple(task.id for task in plan.tasks if task.name in names)


def _callers(plan: Plan, cpi: PlannedCpi, end: ConnectionEnd, context: Context) -> tuple[str, ...]:
    """The tasks and CPIs whose requests arrive at `cpi` through `end` as `context`."""
    result: dict[str, None] = {}
    for request in plan.requests:
        if request.callee != cpi.name or request.via != end.name:
            continue
        caller = plan.cpi(request.caller)
        if caller is None:
            arrives = context.is_task and context.name == request.caller
        elif caller.protocol.own_priority:
            arrives = context.name == caller.name
        else:
            arrives = any(c.id == context.id for c in caller.contexts)
        if arrives:
            result[request.caller] = None
    return tuple(result)
