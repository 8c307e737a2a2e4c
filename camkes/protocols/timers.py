# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The timers of a system: those that release tasks, and others."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.model.connectors import carries_time
from camkes.model.system import Connection, System
from camkes.protocols.groups import find_groups
from camkes.protocols.plan import Plan


def timer_count(system: System, plan: Plan) -> int:
    """How many timers the kernel, or the timer driver, looks through for an interrupt."""
    tasks = sum(not task.release for task in system.tasks)
    return tasks + sum(count for _, count in other_timers(system, plan))


def other_timers(system: System, plan: Plan) -> Iterator[tuple[str, int]]:
    """What has timers that do not release a task, and how many: groups in which a wait may end at a time,
    schedulers that divide the processor, clients of the virtual time server."""
    yield from ((group.name, 1) for group in find_groups(plan) if group.timed)
    yield from ((band.instance, 1) for band in plan.bands if band.order.measures)
    for connection in system.connections:
        if carries_time(connection):
            yield from ((end.name, client_timers(system, connection)) for end in connection.from_ends)


def client_timers(system: System, connection: Connection) -> int:
    """How many timers each client of a virtual time server has."""
    server = next((system.instance(end.instance) for end in connection.to_ends), None)
    return 1 if server is None else server.configured.timers_per_client
