# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Looks for a response above its bound, in random systems that have everything at once: equal priorities,
all protocols nested in each other, several requests to one CPI, ceilings of 255, deadlines after periods,
releases that take time, chains of events, monitors, servers with any order, times of a few nanoseconds,
periods thousands of times as long as others, many tasks, and a processor that is needed all of the time.

    python -m tests.analysis.attacks [--count SYSTEMS] [--seed FIRST]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from camkes.analysis.assignment import changed
from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE, Platform, TimerCost
from camkes.analysis.response import Response
from camkes.analysis.simulation import EMIT, SimulatedProgram, Simulation, Step
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.limits import MAX_PRIORITY
from camkes.model.protocols import TABLE, Protocol

#: Nanoseconds in a unit of time. In a simulation each piece of work is at least one shorter than stated: a
#: job that would end when another one is released ends before it.
UNIT = 1_000

#: How many programs of each system are simulated.
PROGRAMS = 4


def attacked_workload(rng: random.Random) -> Workload:
    """Tasks that need between a fifth and all of the processor, or a little more."""
    level = {f"c{index}": rng.randrange(4) for index in range(rng.randint(1, 6))}
    protocols = rng.choice([tuple(Protocol), tuple(Protocol), (Protocol.INHERITED,), (*TABLE,)[1:]])
    share = rng.choice((0.3, 0.5, 0.8))

    def requests(above: int) -> dict[str, int]:
        wanted = [name for name in level if level[name] > above and rng.random() < share]
        return {name: rng.choice((1, 1, 1, 2, 3)) for name in wanted}

    cpis = [
        WorkloadCpi(name, rng.choice(protocols), rng.randint(0, 4) * UNIT, requests(level[name]))
        for name in sorted(level, key=lambda each: level[each])
    ]
    whole: dict[str, int] = {}
    for cpi in reversed(cpis):
        whole[cpi.name] = cpi.work + sum(count * whole[name] for name, count in cpi.requests.items())
    tasks = []
    count = rng.randint(2, 6)
    for index in range(count):
        work, wanted = rng.randint(1, 8) * UNIT, requests(-1)
        needed = work + sum(times * whole[name] for name, times in wanted.items())
        factor = rng.choice((count, count, 2 * count, count - 0.5)) * rng.uniform(0.7, 1.5)
        period = max(round(needed * factor / UNIT), 2) * UNIT
        tasks.append(WorkloadTask(f"t{index}", rng.randint(1, count), period, 10 * period, work, wanted))
    made = changed(Workload(tuple(tasks), tuple(cpis)))
    if rng.random() < 0.5:
        made = varied(rng, made)
    if rng.random() < 0.8:
        return made
    highest = [WorkloadCpi(cpi.name, cpi.protocol, cpi.work, cpi.requests, MAX_PRIORITY) for cpi in made.cpis]
    return changed(Workload(made.tasks, tuple(highest)))


def varied(rng: random.Random, workload: Workload) -> Workload:
    """With some of what few systems have."""
    tasks, cpis = list(workload.tasks), list(workload.cpis)
    kind = rng.randrange(6)
    if kind == 0:  # each is released by one before it, or not
        for index, task in enumerate(tasks):
            if index and rng.random() < 0.5:
                before = rng.choice(tasks[:index])
                event = (f"{before.name}.{rng.choice('xyy')}",) if rng.random() < 0.8 else ()
                tasks[index] = replace(
                    task, after=before.name, period=before.period, timed=False, event=event
                )
    elif kind == 1:  # CPIs none of which requests another one have one lock
        leaves = [i for i, cpi in enumerate(cpis) if not cpi.requests and cpi.protocol.inherits]
        any_order = rng.random() < 0.5
        for index in leaves[:3]:
            cpis[index] = replace(cpis[index], lock="m", any_order=any_order)
    elif kind == 2:  # nanoseconds
        cpis = [replace(cpi, work=cpi.work // UNIT) for cpi in cpis]
        tasks = [
            replace(t, work=t.work // UNIT, period=t.period // UNIT, deadline=t.period // UNIT) for t in tasks
        ]
    elif kind == 3:
        index = rng.randrange(len(tasks))
        period = tasks[index].period * rng.choice((1000, 9973))
        tasks[index] = replace(tasks[index], period=period, deadline=period)
    elif kind == 4:
        tasks = [
            replace(task, name=f"{task.name}.{i}", priority=rng.randint(1, 99), period=16 * task.period)
            for task in tasks
            for i in range(16)
        ]
    else:  # the last one needs what is left
        whole = demands(workload, FREE).of_task
        period = 16 * max(task.period for task in tasks)
        harmonic = [replace(t, period=period // rng.choice((1, 2, 4, 8))) for t in tasks]
        used = sum(whole[t.name].total * (period // t.period) for t in harmonic)
        rest = (period - used) // (period // harmonic[-1].period)
        tasks = [*harmonic[:-1], replace(harmonic[-1], work=max(int(rest) + harmonic[-1].work, 0))]
    return changed(Workload(tuple(tasks), tuple(cpis)))


def _body(rng: random.Random, work: int, requests: Mapping[str, int]) -> tuple[Step, ...]:
    """Requests in any order, with work before, between and after them."""
    steps: list[Step] = [name for name, count in requests.items() for _ in range(count)]
    rng.shuffle(steps)
    pieces = rng.randint(1, 3)
    for _ in range(pieces if work else 0):
        piece = work // pieces - rng.choice((1, 1, 1, UNIT))
        if piece > 0:
            steps.insert(rng.randint(0, len(steps)), piece)
    return tuple(steps)


def attacking_program(rng: random.Random, workload: Workload) -> SimulatedProgram:
    """Work, requests and first releases, these within a short time or at any time of the period."""
    short = rng.choice((0, 4 * UNIT, 20 * UNIT))
    tasks = {task.name: _body(rng, task.work, task.requests) for task in workload.tasks}
    for name in {task.after for task in workload.tasks if task.after and rng.random() < 0.5}:
        place = rng.randint(0, len(tasks[name]))
        tasks[name] = (*tasks[name][:place], EMIT, *tasks[name][place:])
    cpis = {cpi.name: _body(rng, cpi.work, cpi.requests) for cpi in workload.cpis}
    offsets = {task.name: rng.randint(0, short or task.period) for task in workload.tasks}
    return SimulatedProgram(tasks, cpis, offsets)


def above(seed: int) -> Sequence[str]:
    """The tasks of a random system that respond later than they can according to the analysis."""
    rng = random.Random(seed)
    return above_bounds(rng, attacked_workload(rng), f"seed {seed}")


def above_bounds(rng: random.Random, workload: Workload, name: str) -> Sequence[str]:
    """The same of a workload."""
    release = rng.choice((0, 0, UNIT // 10, UNIT))
    analysis = analyse(workload, Platform("timers", timer=TimerCost(release)) if release else FREE)
    limits = {each.task.name: each.response for each in analysis.tasks}
    found = []
    for _ in range(PROGRAMS):
        simulation = Simulation(workload, attacking_program(rng, workload), release=release)
        until = 12 * max(task.period for task in workload.tasks)
        for job in simulation.run(until, most=20_000):
            limit = limits[job.task]
            if isinstance(limit, Response) and job.took(simulation.now) > limit.time:
                found.append(f"{name}: {job.task} took {job.took(simulation.now)}, R is {limit.time}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, metavar="SYSTEMS")
    parser.add_argument("--seed", type=int, default=0, metavar="FIRST")
    given = parser.parse_args()
    wrong = [text for seed in range(given.seed, given.seed + given.count) for text in above(seed)]
    print(f"{given.count} systems, {len(wrong)} responses above their bounds", *wrong[:20], sep="\n")


if __name__ == "__main__":
    main()
