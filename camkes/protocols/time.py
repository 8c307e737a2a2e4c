# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What follows from budgets and criticalities: raised priorities, replenishments, times of requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from msgspec import Struct

from camkes.model.overrun import LEVELS, Degradation, OverrunPolicy, ServerKind
from camkes.model.settings import DEFAULT_TIME
from camkes.model.system import Cpi, System, Task
from camkes.protocols.methods import work_of
from camkes.protocols.requests import RequestGraph

#: replenishments of a scheduling context that no one configures: what is left, and what was used
LEAST_REFILLS = 2

#: Of a sporadic server: what is left; what the job before used that is not back, if this one began late; and
#: two parts for each time when a job becomes ready. What it uses from then on comes back together, and is
#: divided when the next job is ready some microseconds before that.
_LEFT, _BEFORE, _DIVIDED = 1, 2, 2


def bands(tasks: Sequence[Task]) -> tuple[int, ...]:
    """How much is added to the priority of a task of each criticality while the system has its criticality.

    At each criticality of the system, tasks of this one or above have higher priorities than all others, and
    among themselves the order that they have at 0; see `raised_priority`. Nothing is added more than that.
    """
    added = [0]
    for level in range(1, LEVELS):
        above = [task.priority or 0 for task in tasks if task.criticality >= level]
        below = [(task.priority or 0) + added[task.criticality] for task in tasks if task.criticality < level]
        gap = max(below) - min(above) + 1 if above and below else 0
        added.append(max(added[-1], gap))
    return tuple(added)


def raised_priority(task: Task, added: Sequence[int], level: int) -> int:
    """The priority of a task while the system has a criticality."""
    return (task.priority or 0) + added[min(level, task.criticality)]


def raised_priorities(tasks: Sequence[Task]) -> list[tuple[int, ...]]:
    """The priorities of each task at each criticality of the system; none where all are 0."""
    added = bands(tasks)
    most = max((task.criticality for task in tasks), default=0)
    return [
        tuple(raised_priority(task, added, level) for level in range(most + 1)) if most else ()
        for task in tasks
    ]


def execution_times(graph: RequestGraph) -> Mapping[str, int]:
    """How long a request to each CPI, and a job of each task, executes at most, in nanoseconds, with all that
    it requests: the longest of its methods. What is not stated counts as 0."""
    own = {name: work_of(cpi, cpi.methods) for name, cpi in graph.cpis.items()}
    own |= {name: task.wcet or 0 for name, task in graph.tasks.items()}
    callers = [name for component in reversed(graph.components()) for name in component]
    times: dict[str, int] = {}
    for name in (*callers, *graph.tasks):
        below = sum(request.count * times.get(request.callee, 0) for request in graph.outgoing[name])
        times[name] = own[name] + below
    return times


def blocking_places(
    system: System, graph: RequestGraph, contended: Set[str], waited: Mapping[str, int]
) -> Mapping[str, int]:
    """How often a job of each task, or a request to each CPI, can block: once for each request to a CPI
    whose lock others can hold, or its threads (`contended`), and for each condition that its own code waits
    for (`waited` is their number), or once where it can set the criticality."""
    setting = {each.name for each in system.instances if each.type.criticality_span is not None}
    places: dict[str, int] = {}
    callers = [name for component in reversed(graph.components()) for name in component]
    for name in (*callers, *graph.tasks):
        instance = name if name in graph.tasks else graph.cpis[name].instance
        places[name] = (
            waited.get(name, 0)
            + (instance in setting)
            + sum(
                request.count * ((request.callee in contended) + places.get(request.callee, 0))
                for request in graph.outgoing[name]
            )
        )
    return places


class Reservation(Struct, frozen=True):
    """`budget` nanoseconds in each `period` of so many."""

    budget: int
    period: int


class PlannedTime(Struct, frozen=True):
    """What a task may execute on an MCS kernel. `budgets` are those at each criticality of the system, up to
    the highest of a task, in nanoseconds in each `period`; one that is as long as the period never ends.
    `extension` is what the policy `extend` adds."""

    budgets: tuple[int, ...]
    period: int
    server: ServerKind
    overrun: OverrunPolicy
    criticality: int
    degraded: Degradation
    extension: Reservation | None

    @property
    def limited(self) -> bool:
        """Whether the budget can end, or there are several criticalities."""
        return self.budgets != (self.period,)


def server_period(task: Task) -> int:
    """Nanoseconds after which what a task has used of its budget is there again."""
    return task.period or DEFAULT_TIME


def refills_of(task: Task, blocks: int) -> int:
    """The replenishments that are kept of a task, whose jobs can block so often: those stated, or so many
    that parts of the budget need not be joined, as the kernel joins them at the later time."""
    if task.refills is not None:
        return task.refills
    if task.server is ServerKind.CONSTANT_BANDWIDTH:
        return LEAST_REFILLS + blocks
    return _LEFT + _BEFORE + _DIVIDED * (1 + blocks)


def planned_time(task: Task, levels: int) -> PlannedTime:
    """The time of a task in a system of so many criticalities."""
    period = server_period(task)
    budgets = tuple(period if budget is None else budget for budget in task.budgets[:levels])
    server = task.server or ServerKind.SPORADIC
    return PlannedTime(
        budgets, period, server, task.overrun, task.criticality, task.degraded, extension_of(task)
    )


def extension_of(subject: Task | Cpi) -> Reservation | None:
    """The reservation that `extend` and roll-backs execute on, if one is stated."""
    if subject.extension is None:
        return None
    return Reservation(subject.extension, subject.extension_period or DEFAULT_TIME)
