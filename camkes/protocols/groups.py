# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Groups: conditions, tasks and CPIs among which priorities can be lent. One thread decides all of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from camkes.protocols.contexts import Context, Seat
from camkes.protocols.cycles import reached
from camkes.protocols.plan import Plan, PlannedCondition, PlannedCpi, PlannedTask


class Party(Struct, frozen=True):
    """A task or, with `cpi`, the requests of a context from a client there."""

    name: str
    cpi: PlannedCpi | None
    seat: Seat

    @property
    def context(self) -> Context:
        return self.seat.context


class Group(Struct, frozen=True):
    """What lending connects. `ceiling` is the highest priority that is lent in it; its manager is in
    `instance`, that of its first condition, or without one of its first monitor, whose name it has: `member`.
    `tasks` are those that help. `parties` are tasks, then the seats of each CPI, those of a monitor one
    after the other; `index` is the place of each there, by its name and its seat."""

    instance: str
    member: str
    ceiling: int
    conditions: tuple[PlannedCondition, ...]
    tasks: tuple[PlannedTask, ...]
    cpis: tuple[PlannedCpi, ...]
    parties: tuple[Party, ...]
    index: Mapping[tuple[str, Seat], int]
    members: frozenset[str]  # the names of conditions, tasks and CPIs

    @property
    def name(self) -> str:
        return f"{self.instance}.{self.member}"

    @property
    def timed(self) -> bool:
        """Whether a wait in it may end at a time."""
        return any(condition.lending.timed for condition in self.conditions)

    def first_party(self, member: PlannedTask | PlannedCpi) -> int:
        """The index of a task, or of the first seat of a CPI."""
        seat = member.seats[0] if isinstance(member, PlannedCpi) else Seat(member.context)
        return self.index[member.name, seat]

    def first_of_lock(self, cpi: PlannedCpi) -> int:
        """The index of the first party that can have the lock of a CPI."""
        return self.first_party(next(c for c in self.cpis if c.lock_name == cpi.lock_name))


def find_groups(plan: Plan) -> tuple[Group, ...]:
    """The groups of a plan, in the order of their first conditions."""
    starts = [c.name for c in plan.conditions]
    starts += [c.name for c in plan.cpis if c.monitor is not None and c.contexts]
    if not starts:
        return ()
    graph = lending_graph(plan)
    tasks = {task.name: task for task in plan.tasks}
    found: list[Group] = []
    for start in starts:
        if group_of(found, start) is None:
            found.append(_group(plan, tasks, _connected(graph, start)))
    return tuple(found)


def _group(plan: Plan, tasks: Mapping[str, PlannedTask], members: frozenset[str]) -> Group:
    conditions = tuple(c for c in plan.conditions if c.name in members)
    helping = tuple(tasks[name] for name in dict.fromkeys(task for c in conditions for task in c.tasks))
    uncalled = {c.name for c in plan.cpis if not c.contexts}  # no request holds or waits for its lock
    present = [c for c in plan.cpis if c.name in members - uncalled]
    locks = dict.fromkeys(c.lock_name for c in present)
    cpis = tuple(c for lock in locks for c in present if c.lock_name == lock)
    ceilings = [c.ceiling for c in conditions] + [c.ceiling for c in cpis] + [t.highest for t in helping]
    parties = [Party(task.name, None, Seat(task.context)) for task in helping]
    parties += [Party(cpi.name, cpi, seat) for cpi in cpis for seat in cpi.seats]
    name = conditions[0].name if conditions else next(c.lock_name for c in cpis if c.monitor is not None)
    instance, _, member = name.rpartition(".")
    return Group(
        instance=instance,
        member=member,
        ceiling=max(ceilings),
        conditions=conditions,
        tasks=helping,
        cpis=cpis,
        parties=tuple(parties),
        index={(party.name, party.seat): i for i, party in enumerate(parties)},
        members=members - uncalled,
    )


def lending_graph(plan: Plan) -> dict[str, list[str]]:
    """From whom to whom priorities can go: from conditions to the tasks that they lend to; from those to CPIs
    that the task requests and to conditions that it waits for; from CPIs with a manager likewise, and to the
    others of their monitor. Requests to a `fixed` CPI execute at its ceiling, whatever is lent."""
    waits: dict[str, list[str]] = {}
    graph: dict[str, list[str]] = {}
    for condition in plan.conditions:
        graph[condition.name] = list(condition.tasks)
        for waiter in condition.lending.waiters:
            waits.setdefault(waiter, []).append(condition.name)
    managed = {c.name: c.requests for c in plan.cpis if c.manager and not c.protocol.own_priority}
    for cpi in plan.cpis:
        if cpi.monitor is not None:
            managed[cpi.name] = (*cpi.requests, *(c.name for c in plan.cpis if c.lock_name == cpi.lock_name))
    helping = {
        task.name: [r.callee for r in plan.requests if r.caller == task.name]
        for task in plan.tasks
        if task.conditions
    }
    for name, requests in {**helping, **managed}.items():
        called = [callee for callee in requests if callee in managed]
        graph[name] = list(dict.fromkeys([*called, *waits.get(name, ())]))
    return graph


def _connected(graph: Mapping[str, Sequence[str]], start: str) -> frozenset[str]:
    """What is connected with a node, in either direction."""
    neighbours: dict[str, list[str]] = {name: [*following] for name, following in graph.items()}
    for name, following in graph.items():
        for other in following:
            neighbours[other].append(name)
    return frozenset(reached([start], neighbours.__getitem__))


def group_of(groups: Sequence[Group], name: str) -> Group | None:
    """The group of a condition, task or CPI, if it is in one."""
    return next((g for g in groups if name in g.members), None)
