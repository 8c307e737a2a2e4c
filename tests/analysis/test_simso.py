# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The simulation beside SimSo (https://projects.laas.fr/simso/), on tasks without requests."""

from __future__ import annotations

import random

import pytest

from camkes.analysis.simulation import SimulatedProgram, Simulation
from camkes.analysis.workload import Workload, WorkloadTask

pytestmark = pytest.mark.requirement("AN-17")

MILLISECOND = 1_000_000


@pytest.mark.parametrize("seed", range(5))
def test_responses_are_those_of_simso(seed: int) -> None:
    """Rate-monotonic priorities, periods that are all different, first releases at any time."""
    core = pytest.importorskip("simso.core")
    configuration = pytest.importorskip("simso.configuration").Configuration()
    rng = random.Random(seed)
    periods = rng.sample((10, 15, 20, 25, 40, 50, 75, 100), 4)
    works = [max(1, period * rng.randint(5, 22) // 100) for period in periods]
    offsets = [rng.randint(0, 9) for _ in periods]
    until = 600
    configuration.duration = until * configuration.cycles_per_ms
    for number, (period, work, offset) in enumerate(zip(periods, works, offsets, strict=True)):
        configuration.add_task(
            name=f"t{number}",
            identifier=number,
            period=period,
            activation_date=offset,
            wcet=work,
            deadline=period,
        )
    configuration.add_processor(name="CPU", identifier=1)
    configuration.scheduler_info.clas = "simso.schedulers.RM"
    configuration.check_all()
    model = core.Model(configuration)
    model.run_model()
    assert configuration.cycles_per_ms == MILLISECOND  # its cycles are our nanoseconds
    theirs = {
        (task.name, job.activation_date): job.response_time
        for task in model.results.tasks.values()
        for job in task.jobs
        if job.end_date is not None and job.end_date < until * MILLISECOND
    }
    tasks = tuple(
        WorkloadTask(f"t{i}", 1000 - period, period * MILLISECOND, period * MILLISECOND, work * MILLISECOND)
        for i, (period, work) in enumerate(zip(periods, works, strict=True))
    )
    what = SimulatedProgram(
        {task.name: (task.work,) for task in tasks},
        {},
        {f"t{i}": offset * MILLISECOND for i, offset in enumerate(offsets)},
    )
    ours = {
        (job.task, job.release): job.end - job.release
        for job in Simulation(Workload(tasks, ()), what).run(until * MILLISECOND)
        if job.end is not None and job.end < until * MILLISECOND
    }
    assert len(ours) > 20
    assert theirs == ours
