# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems, and the longest responses of their tasks in a reference simulation that knows only
definitions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from camkes.analysis.demand import Time
from camkes.analysis.response import Blocking
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from camkes.running.kinds import Kind
from tests.report.simulator import CpiSpec, Step, TaskSpec, make_plan, simulate

#: Nanoseconds in a unit of time.
UNIT = 1_000
PERIODS = (40, 60, 80, 120, 240)


class RandomSystem:
    """A few tasks and CPIs. Work is in whole units of time.

    In the simulation each piece of work is a nanosecond shorter: a job that would end at the instant at which
    another one is released ends before it, which is what response-time analysis takes for granted.
    """

    def __init__(self, rng: random.Random, protocols: Sequence[Protocol] = tuple(Protocol)) -> None:
        self.rng = rng
        self.cpis: list[CpiSpec] = []
        self.periods: dict[str, int] = {}
        names = [f"c{i}.p" for i in range(rng.randint(1, 5))]
        requested: set[str] = set()
        bodies: list[tuple[Step, ...]] = []
        count = rng.randint(2, 5)
        priorities = [rng.randint(1, 6) * 10 for _ in range(count)]
        for _ in range(count):
            bodies.append(self._body(names, 3))
            requested |= {step for step in bodies[-1] if isinstance(step, str)}
        for index, name in enumerate(names):
            if name in requested:
                body = self._body(names[index + 1 :], 3)
                requested |= {step for step in body if isinstance(step, str)}
                self.cpis.append(CpiSpec(name, rng.choice(protocols), body))
        self.bodies = bodies
        self.priorities = priorities
        for index in range(count):
            self.periods[f"t{index}"] = rng.choice(PERIODS) * UNIT

    def _body(self, names: Sequence[str], longest: int) -> tuple[Step, ...]:
        steps: list[Step] = [self._work(longest)]
        for name in names:
            if self.rng.random() < 0.45:
                steps += [name, self._work(longest)]
        return tuple(steps)

    def _work(self, longest: int) -> int:
        return self.rng.randint(1, longest) * UNIT - 1

    def tasks(self, until: int, together: bool = False) -> list[TaskSpec]:
        """The tasks with releases that are a period apart, or more."""
        found = []
        for index, body in enumerate(self.bodies):
            period = self.periods[f"t{index}"]
            release = 0 if together else self.rng.randint(0, 25 * UNIT)
            releases = []
            while release < until:
                releases.append(release)
                release += period + (0 if together else self.rng.choice((0, 0, 0, 1, 5 * UNIT)))
            found.append(TaskSpec(f"t{index}", self.priorities[index], tuple(releases), body, period))
        return found

    @property
    def workload(self) -> Workload:
        plan = make_plan(self.tasks(1), self.cpis)
        ceilings = {cpi.name: cpi.ceiling for cpi in plan.cpis}
        tasks = tuple(
            WorkloadTask(
                f"t{i}", self.priorities[i], self.periods[f"t{i}"], 10 * PERIODS[-1] * UNIT, *_split(body)
            )
            for i, body in enumerate(self.bodies)
        )
        cpis = tuple(
            WorkloadCpi(cpi.name, cpi.protocol, *_split(cpi.body), ceilings[cpi.name]) for cpi in self.cpis
        )
        return Workload(tasks, cpis)


def _split(body: Sequence[Step]) -> tuple[int, dict[str, int]]:
    """The work of a body, and how often it requests what."""
    return (
        sum(step + 1 for step in body if isinstance(step, int)),
        dict(Counter(step for step in body if isinstance(step, str))),
    )


def constant(waits: Time) -> Blocking:
    """The same blocking in every window."""
    return lambda window: waits


def longest_responses(tasks: Sequence[TaskSpec], cpis: Sequence[CpiSpec], until: int) -> dict[str, int]:
    """The longest response of each task's jobs that end."""
    events, names, _ = simulate(tasks, cpis, until=until)
    thread = {t.number: t.name.partition(":")[0] for t in names.threads}
    longest: dict[str, int] = {}
    for event in events:
        if event.kind is Kind.JOB_END and event.thread is not None:
            name = thread[event.thread]
            longest[name] = max(longest.get(name, 0), event.time - event.args[1])
    return longest
