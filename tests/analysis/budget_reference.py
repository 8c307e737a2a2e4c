# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A simulation of budgets and criticalities in steps of one unit of time, independent of the kernel and of
the analysis: what they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


class Server:
    """A sporadic server: when each unit of its budget is there. One that is used is there again a period
    after the time since when it was; when a task wakes up, what is there counts from then."""

    def __init__(self, budget: int, period: int) -> None:
        self.units = [0] * budget
        self.period = period

    def wake(self, now: int) -> None:
        ready = sum(time <= now for time in self.units)
        self.units = sorted([now + i for i in range(ready)] + self.units[ready:])

    def has_time(self, now: int) -> bool:
        return bool(self.units) and self.units[0] <= now

    def use(self) -> None:
        self.units = sorted([*self.units[1:], self.units[0] + self.period])


@dataclass
class SimTask:
    """A task that is released every `period` from 0 on and executes for `demand`. Its server has `budget` in
    each period (0: no limit). `more` is what the policy `extend` adds, or with `raises` a criticality."""

    name: str
    priority: int
    period: int
    demand: int
    budget: int = 0
    criticality: int = 0
    more: int = 0
    raises: bool = False
    weight: int = 1

    def __post_init__(self) -> None:
        self.server = Server(self.budget, self.period)
        self.extension = Server(self.more, self.period)
        self.releases: list[int] = []  # of jobs that have not ended
        self.left = self.demand
        self.responses: list[int] = []
        self.consumed = 0

    def source(self, now: int, level: int) -> Server | None:
        """Whose time it can use."""
        if self.server.has_time(now):
            return self.server
        more = self.extension.has_time(now) and (not self.raises or self.criticality <= level)
        return self.extension if more else None


Order = Callable[[SimTask, int], tuple[float, ...]]


def by_priority(task: SimTask, level: int) -> tuple[float, ...]:
    """Fixed priorities: tasks of the system's criticality first."""
    return (-(task.criticality >= level), -task.priority)


def by_deadline(task: SimTask, level: int) -> tuple[float, ...]:
    """Earliest deadline first; deadlines are the next releases."""
    return (task.releases[0] + task.period, -task.priority)


def by_weight(task: SimTask, level: int) -> tuple[float, ...]:
    """Who has had least, by its weight."""
    return (task.consumed / task.weight, -task.priority)


def simulate(tasks: list[SimTask], until: int, order: Order = by_priority) -> list[tuple[str, int, int]]:
    """The schedule: who executed from when to when. The criticality rises when a task that raises it has used
    up its budget, or would execute and has none, and falls when no job is left."""
    schedule: list[tuple[str, int, int]] = []
    level = 0
    for now in range(until):
        for task in tasks:
            if now % task.period == 0:
                if not task.releases:
                    task.server.wake(now)
                    task.extension.wake(now)
                task.releases.append(now)
        ready = [task for task in tasks if task.releases]
        level = level if ready else 0
        chosen = choose(ready, now, level, order)
        if chosen is not None and chosen.raises and level == 0 and chosen.source(now, 0) is None:
            level = chosen.criticality
            chosen = choose(ready, now, level, order)
        if chosen is None:
            continue
        source = chosen.source(now, level)
        if source is not None:
            source.use()
        if schedule and schedule[-1][0] == chosen.name and schedule[-1][2] == now:
            schedule[-1] = (chosen.name, schedule[-1][1], now + 1)
        else:
            schedule.append((chosen.name, now, now + 1))
        chosen.consumed += 1
        chosen.left -= 1
        if chosen.left == 0:
            chosen.responses.append(now + 1 - chosen.releases.pop(0))
            chosen.left = chosen.demand
        elif chosen.raises and level == 0 and chosen.source(now + 1, 0) is None:
            level = chosen.criticality
    return schedule


def choose(ready: list[SimTask], now: int, level: int, order: Order) -> SimTask | None:
    """Who executes: of those with time, or who would raise the criticality to have some."""
    able = [t for t in ready if not t.budget or t.source(now, level) or (t.raises and level == 0)]
    return min(able, key=lambda task: order(task, level), default=None)


def worst(tasks: list[SimTask]) -> Mapping[str, int]:
    """The longest response of each task."""
    return {task.name: max(task.responses, default=0) for task in tasks}
