# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What follows from a system's requests: closure, ceilings, contexts, threads, managers, ids."""

from __future__ import annotations

from dataclasses import dataclass

from camkes.diagnostics import Span
from camkes.model.system import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """An edge of the request graph: `caller` (a task's instance name, or a CPI "inst.iface") can
    request the CPI `callee` through its `uses` interface `via` ("inst.iface").

    `source` says how we know: "control" (a task's own code), "clause" (`requests`), "code" (the
    compiler's call graph), "all" (every `uses` interface of the component, which can over-count).
    """

    caller: str
    via: str
    callee: str
    connection: str
    source: str
    span: Span


@dataclass(frozen=True, slots=True)
class Context:
    """An origin of requests: at most one of its requests is under way at a CPI at any time.

    A context is a task, or a `fixed` CPI (whose one thread makes its requests at its own priority).
    `id` is unique in the system: tasks first, in instance-name order, then fixed CPIs, in the order of
    the text. `base_priority` is the priority of its requests while nothing is inherited.
    """

    id: int
    name: str  # "t1" or "leaf.p"
    is_task: bool
    base_priority: int


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task with what was computed for it. `id` fits the label (see docs/protocols.md)."""

    name: str
    id: int
    priority: int
    context: Context


@dataclass(frozen=True, slots=True)
class PlannedCpi:
    """A CPI with everything the generator needs.

    `tasks` are the tasks whose requests can arrive, `contexts` the origins under which they arrive:
    a request of task t through a fixed CPI f arrives as context f. `ceiling` is the highest base
    priority of its contexts, or what was stated if that is valid and higher; for a fixed CPI it is
    the priority of its thread (255: non-preemptive).

    `threads` serve requests. Fixed: 1. Else one a context, each with its own endpoint and waiting at
    its context's base priority, unless a smaller number is stated: then `pooled` is true and all wait
    on one endpoint at the ceiling. `threads_minimum` is the largest number of requests that can be
    under way at once (maximum flow from tasks to this CPI, locks let one through).

    `manager`: a manager thread exists, because two contexts can contend for the lock, because a
    priority inherited further up can reach this CPI (`inherits_from_above`), or because of the pool.
    """

    id: int
    name: str  # "inst.iface"
    instance: str
    interface: str
    protocol: Protocol
    ceiling: int
    tasks: tuple[str, ...]
    contexts: tuple[Context, ...]
    threads: int
    threads_minimum: int
    pooled: bool
    manager: bool
    inherits_from_above: bool
    requests: tuple[str, ...]  # names of CPIs it can request
    span: Span


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a system. Tasks are in id order, CPIs in the order of the text (their `id` order)."""

    tasks: tuple[PlannedTask, ...]
    cpis: tuple[PlannedCpi, ...]
    contexts: tuple[Context, ...]
    requests: tuple[Request, ...]

    def cpi(self, name: str) -> PlannedCpi | None:
        return next((c for c in self.cpis if c.name == name), None)

    def task(self, name: str) -> PlannedTask | None:
        return next((t for t in self.tasks if t.name == name), None)
