# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The results of tests and simulations of one task set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from math import lcm
from pathlib import Path

from msgspec import Struct

from benchmarks.papers.generate import MILLISECOND
from camkes import pipeline
from camkes.analysis.bounds import hyperbolic
from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE, Platform
from camkes.analysis.replay import write_model
from camkes.analysis.response import Load
from camkes.analysis.simulation import SimulatedProgram, Simulation, Step, costed
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload
from camkes.diagnostics import Sink
from camkes.outcome import Outcome


class RunError(Exception):
    """The host kernel did not run all of a set; the text says why."""


class AcceptedBy(Struct, frozen=True):
    """Which tests accept a set: the hyperbolic bound without blocking, the same with it, the bound of Liu and
    Layland with it, and response times. `infeasible` says that no scheduler can meet all deadlines.
    `simulated` is None where the set was not simulated, or how many deadlines were missed."""

    plain: bool
    hyperbolic: bool
    liu_layland: bool
    response: bool
    infeasible: bool
    simulated: int | None = None


def evaluate(
    workload: Workload, platform: Platform, hyperperiods: int = 0, folder: Path | None = None
) -> AcceptedBy:
    """All tests, and a simulation of so many hyperperiods: on the host kernel if there is a folder to build
    in."""
    analysis = analyse(workload, platform, exact=False)
    loads = [
        Load(each.task.name, each.task.priority, each.task.period, each.demand.total)
        for each in analysis.tasks
    ]
    _, with_blocking, layland = analysis.bounds
    return AcceptedBy(
        all(hyperbolic(load, loads, 0) <= 2 for load in loads),
        with_blocking.holds,
        layland.holds,
        analysis.good,
        not analysis.good and infeasible(costed(workload, platform)),
        misses(workload, platform, hyperperiods, folder) if hyperperiods else None,
    )


def infeasible(model: Workload) -> bool:
    """Whether no scheduler meets all deadlines when all tasks are first released at 0: a condition that is
    sufficient for that. Operations cost nothing, and deadlines are periods.

    Between two jobs of a task that request a lock, all of another task's request to it has to fit, and both
    jobs are in two periods of the first task, with whole jobs of all tasks whose periods divide that one.
    """
    needed = demands(model, FREE)
    requesting = {task.name: {part.cpi for part in needed.of_task[task.name].parts} for task in model.tasks}
    for task in model.tasks:
        whole = [other for other in model.tasks if task.period % other.period == 0]
        left = 2 * task.period - sum(
            2 * task.period // other.period * needed.of_task[other.name].total for other in whole
        )
        for other in model.tasks:
            shared = requesting[task.name] & requesting[other.name]
            if other not in whole and any(
                model.rules[name].lock and needed.of_request[name] > left for name in shared
            ):
                return True
    return False


def misses(workload: Workload, platform: Platform, hyperperiods: int, folder: Path | None = None) -> int:
    """How many deadlines are missed in so many hyperperiods, with all first releases at 0."""
    model = costed(workload, platform)
    end = hyperperiods * lcm(*(task.period for task in model.tasks))
    if folder is not None:
        return _misses_on_host(model, end, folder)
    deadlines = {task.name: task.deadline for task in model.tasks}
    jobs = Simulation(model, around(model)).run(end)
    return sum((end if job.end is None else job.end) - job.release > deadlines[job.task] for job in jobs)


def _misses_on_host(model: Workload, end: int, folder: Path) -> int:
    """The same on the host kernel. Raises RunError."""
    jobs = {task.name: end // task.period for task in model.tasks}
    root = write_model(model, around(model), folder, jobs)
    sink = Sink()
    # the run goes on a little, as a job that ends at its deadline has met it
    settings = pipeline.RunSettings(output=folder / "build", duration=end + MILLISECOND, fast=True)
    outcome = _run(root, settings, sink)
    if outcome is None or outcome.failed:
        raise RunError("; ".join(each.message for each in sink.diagnostics) or "the run failed")
    tasks = json.loads(outcome.report_json())["tasks"]
    if [task["released"] for task in tasks] != [jobs[task["name"]] for task in tasks]:
        raise RunError("the run ended before all jobs were released")
    return sum(task["missed"] for task in tasks)


def _run(root: Path, settings: pipeline.RunSettings, sink: Sink) -> Outcome | None:
    """As `pipeline.run`, without reading what the code calls, which the text states."""
    checked = pipeline.check(pipeline.Input(root, preprocess=False), sink)
    if checked is None:
        return None
    with ExitStack() as stack:
        image = pipeline.build_to_run(checked, settings, stack, sink, lambda _: None)
        return None if image is None else pipeline.run_image(image, checked, settings, sink)


def around(workload: Workload) -> SimulatedProgram:
    """Half of the work of a job or request comes before all of its requests, half after: of the test system
    of 2024 the chain t, A, C, E, C, D, E, D, A, t."""

    def body(work: int, requests: Mapping[str, int]) -> tuple[Step, ...]:
        names: list[Step] = [name for name, count in requests.items() for _ in range(count)]
        pieces = [work - work // 2, *names, work // 2] if names else [work]
        return tuple(step for step in pieces if step)

    return SimulatedProgram(
        {task.name: body(task.work, task.requests) for task in workload.tasks},
        {cpi.name: body(cpi.work, cpi.requests) for cpi in workload.cpis},
        {task.name: 0 for task in workload.tasks},
    )
