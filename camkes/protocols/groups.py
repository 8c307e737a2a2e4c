# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Groups: conditions, tasks and CPIs among which priorities can be lent. One thread decides all of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from camkes.protocols.plan import Context, Plan, PlannedCondition, PlannedCpi, PlannedTask


class Group(Struct, frozen=True):
    """What lending connects. `ceiling` is the highest priority that is lent in it; its manager is in the
    instance of its first condition, whose name it has. `tasks` are those that help."""

    ceiling: int
    conditions: tuple[PlannedCondition, ...]
    tasks: tuple[PlannedTask, ...]
    cpis: tuple[PlannedCpi, ...]

    @property
    def name(self) -> str:
        return self.conditions[0].name

    def members(self) -> list[str]:
        """The names of conditions, tasks and CPIs."""
        names = [c.name for c in self.conditions] + [t.name for t in self.tasks]
        return names + [c.name for c in self.cpis]

    def parties(self) -> list[Party]:
        """What has a priority that is decided: tasks, then the contexts of each CPI."""
        tasks = [Party(task.name, None, task.context) for task in self.tasks]
        return tasks + [Party(cpi.name, cpi, context) for cpi in self.cpis for context in cpi.contexts]

    def parties_of(self, name: str) -> int:
        """The index of the first party of a task or CPI."""
        return [party.name for party in self.parties()].index(name)


class Party(Struct, frozen=True):
    """A task or, with `cpi`, the requests of a context there."""

    name: str
    cpi: PlannedCpi | None
    context: Context


def find_groups(plan: Plan) -> tuple[Group, ...]:
    """The groups of a plan, in the order of their first conditions."""
    if not plan.conditions:
        return ()
    graph = lending_graph(plan)
    found = []
    grouped: set[str] = set()
    for condition in plan.conditions:
        if condition.name not in grouped:
            members = _connected(graph, condition.name)
            grouped |= members
            conditions = tuple(c for c in plan.conditions if c.name in members)
            helping = dict.fromkeys(task for c in conditions for task in c.tasks)
            by_name = {task.name: task for task in plan.tasks}
            tasks = tuple(by_name[name] for name in helping)
            cpis = tuple(c for c in plan.cpis if c.name in members)
            ceilings = [c.ceiling for c in conditions] + [c.ceiling for c in cpis]
            found.append(Group(max([*ceilings, *(t.highest for t in tasks)]), conditions, tasks, cpis))
    return tuple(found)


def lending_graph(plan: Plan) -> dict[str, list[str]]:
    """From whom to whom priorities can go: from conditions to the tasks that they lend to; from those to CPIs
    that the task requests and to conditions that it waits for; from CPIs with a manager likewise."""
    waits: dict[str, list[str]] = {}
    graph: dict[str, list[str]] = {}
    for condition in plan.conditions:
        graph[condition.name] = list(condition.tasks)
        for waiter in condition.lending.waiters:
            waits.setdefault(waiter, []).append(condition.name)
    managed = {cpi.name: cpi.requests for cpi in plan.cpis if cpi.manager}
    helping = {
        task.name: [r.callee for r in plan.requests if r.caller == task.name]
        for task in plan.tasks
        if task.conditions
    }
    for name, requests in {**helping, **managed}.items():
        called = [callee for callee in requests if callee in managed]
        graph[name] = list(dict.fromkeys([*called, *waits.get(name, ())]))
    return graph


def _connected(graph: Mapping[str, Sequence[str]], start: str) -> set[str]:
    """What is connected with a node, in either direction."""
    neighbours: dict[str, list[str]] = {name: [*following] for name, following in graph.items()}
    for name, following in graph.items():
        for other in following:
            neighbours[other].append(name)
    found, queue = {start}, [start]
    for name in queue:
        new = [other for other in dict.fromkeys(neighbours[name]) if other not in found]
        found.update(new)
        queue += new
    return found


def group_of(groups: Sequence[Group], name: str) -> Group | None:
    """The group of a condition, task or CPI, if it is in one."""
    return next((g for g in groups if name in g.members()), None)
