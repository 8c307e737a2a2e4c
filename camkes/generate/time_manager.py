# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The context of the time manager's address space."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from camkes.capdl import uses
from camkes.capdl.model import Thread
from camkes.capdl.time_manager import (
    IDLE,
    TIME_MANAGER,
    ManagedContext,
    critical_tasks,
    requested,
    servers,
    steered,
    workers,
)
from camkes.generate.facts import SystemFacts
from camkes.model.overrun import LEVELS
from camkes.protocols.groups import group_of
from camkes.protocols.plan import PlannedTask

Members = tuple[tuple[str, str | int], ...]


class ServerContext(Struct, frozen=True):
    """A scheduling context that the time manager configures, by the name of its thread: the members of its
    record."""

    name: str
    members: Members
    holders: tuple[int, ...]


class CriticalContext(Struct, frozen=True):
    """A task with a criticality, and the CPIs that it requests: `requests` are the members of their records.
    `server` is the index of its server, None: its budgets do not differ."""

    name: str
    members: Members
    server: int | None
    requests: tuple[Members, ...]


class ManagingThreadContext(Struct, frozen=True):
    """A thread of the time manager: the C name of its record, its function, and what that works with."""

    c_name: str
    start: str
    interface: str
    members: Members


class TimeManagerContext(Struct, frozen=True):
    """The time manager. `controls` are the slots of what it configures with, `idle` are
    the members of what its thread that waits for an idle processor uses."""

    source: str
    name: str
    threads: tuple[ManagingThreadContext, ...]
    space_threads: tuple[tuple[str, str], ...]
    servers: tuple[ServerContext, ...]
    controls: tuple[int, ...]
    members: Members
    critical: tuple[CriticalContext, ...]
    idle: Members


def time_manager(all_: SystemFacts) -> TimeManagerContext | None:
    """None: the system has none."""
    if TIME_MANAGER not in all_.spaces:
        return None
    managed = servers(all_.model, all_.plan)
    critical = critical_tasks(all_.plan)
    slots = all_.model.slots
    return TimeManagerContext(
        source=all_.source,
        name=TIME_MANAGER,
        threads=tuple(_thread(all_, thread) for thread in all_.spaces[TIME_MANAGER].threads),
        space_threads=all_.space_threads(TIME_MANAGER),
        servers=tuple(_server(all_, server) for server in managed),
        controls=tuple(dict.fromkeys(_control(all_, server) for server in managed)),
        members=(
            ("holds", _boolean(any(server.holders for server in managed))),
            ("endpoint", slots.get(uses.TimeManagerEnd(TIME_MANAGER), 0)),
            ("risen", slots.get(uses.IdleWake(TIME_MANAGER), 0)),
            ("highest", max((len(task.priorities) - 1 for task in critical), default=0)),
        ),
        critical=tuple(_critical(all_, task, managed) for task in critical),
        idle=(
            ("risen", slots.get(uses.IdleWake(TIME_MANAGER), 0)),
            ("manager", slots.get(uses.IdleCall(TIME_MANAGER), 0)),
        ),
    )


def by_level(values: Sequence[int]) -> str:
    """An array in C by criticality: above the highest one of the system, its value holds."""
    every = [*values, *[values[-1]] * (LEVELS - len(values))]
    return f"{{{', '.join(map(str, every))}}}"


def _thread(all_: SystemFacts, thread: Thread) -> ManagingThreadContext:
    idle = thread.name == IDLE
    return ManagingThreadContext(
        all_.thread_name(thread),
        "camkes_await_idle" if idle else "camkes_manage_time",
        "idle" if idle else "manager",
        (
            ("number", all_.numbers[thread.name]),
            ("priority", thread.priority),
            ("tcb", all_.model.slots[uses.Tcb(TIME_MANAGER, thread.index)]),
            ("reply", all_.model.slots[uses.OwnReply(TIME_MANAGER, thread.index)]),
        ),
    )


def _server(all_: SystemFacts, server: ManagedContext) -> ServerContext:
    name, granted = server.thread.name, server.granted
    return ServerContext(
        name,
        (
            ("time", all_.model.slots[uses.ManagedServer(TIME_MANAGER, name)]),
            ("control", _control(all_, server)),
            ("budget", by_level(server.budgets)),
            ("period", granted.period),
            ("extra", granted.refills - 2),
            ("badge", granted.data),
            ("sporadic", _boolean(granted.sporadic)),
        ),
        tuple(_tcb(all_, holder) for holder in server.holders),
    )


def _critical(all_: SystemFacts, task: PlannedTask, managed: Sequence[ManagedContext]) -> CriticalContext:
    assert task.time is not None
    groups = steered(all_.plan, task)
    helps = group_of(groups, task.name) is not None
    requests: list[Members] = [
        (("manager", _lend(all_, group.name)), ("context", task.context.id)) for group in groups
    ]
    for cpi in requested(all_.plan, task):
        if group_of(groups, cpi.name) is not None:
            continue
        if cpi.manager:
            slot = _lend(all_, cpi.name)
            own = (index for index, seat in enumerate(cpi.seats) if seat.context == task.context)
            requests += ((("manager", slot), ("context", index)) for index in own)
        else:
            names = (thread.name for thread in workers(all_.model, cpi, task))
            requests += ((("worker", _tcb(all_, name)),) for name in names)
    return CriticalContext(
        task.name,
        (
            ("task", task.id),
            ("criticality", task.time.criticality),
            ("priority", by_level(task.priorities)),
            ("control", 0 if helps else _tcb(all_, task.name)),
        ),
        next(
            (i for i, server in enumerate(managed) if server.thread.task == task.id and server.holders), None
        ),
        tuple(requests),
    )


def _tcb(all_: SystemFacts, thread: str) -> int:
    return all_.model.slots[uses.Executes(TIME_MANAGER, thread)]


def _lend(all_: SystemFacts, name: str) -> int:
    return all_.model.slots[uses.TimeManagerLend(TIME_MANAGER, name)]


def _control(all_: SystemFacts, server: ManagedContext) -> int:
    return all_.model.slots[uses.SchedControl(TIME_MANAGER, server.thread.affinity)]


def _boolean(value: bool) -> str:
    return "true" if value else "false"
