# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The simulation of workloads beside the reference, which computes all priorities from their definition."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from camkes.analysis.platform import FREE
from camkes.analysis.profiles import read_platform
from camkes.analysis.simulation import SimulatedJob, SimulatedProgram, Simulation, costed, program
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from tests.analysis.random_systems import UNIT, RandomSystem, longest_responses
from tests.report.simulator import TaskSpec

pytestmark = pytest.mark.requirement("AN-17")

UNTIL = 720 * UNIT


@given(st.integers(0, 2**32 - 1))
def test_responses_are_those_of_the_reference(seed: int) -> None:
    """For unique priorities: who of equals is first is not defined."""
    rng = random.Random(seed)
    system = RandomSystem(rng)
    assume(len(set(system.priorities)) == len(system.priorities))
    tasks = system.tasks(1)
    offsets = {task.name: rng.randint(0, 25 * UNIT) for task in tasks}
    specs = [
        TaskSpec(t.name, t.priority, tuple(range(offsets[t.name], UNTIL, t.period or 1)), t.body, t.period)
        for t in tasks
    ]
    what = SimulatedProgram({t.name: t.body for t in tasks}, {c.name: c.body for c in system.cpis}, offsets)
    found: dict[str, int] = {}
    for job in Simulation(system.workload, what).run(UNTIL):
        if job.end is not None:
            found[job.task] = max(found.get(job.task, 0), job.end - job.release)
    assert found == longest_responses(specs, system.cpis, UNTIL)


def test_order_at_one_instant() -> None:
    """What b does when its work ends at 5 comes before the release of a at 5: b takes the lock, and a waits
    for all 3 of it. c is released while its equal b executes, and comes after it."""
    workload = Workload(
        (
            WorkloadTask("a", 30, 100, 100, 0, {"lock": 1}),
            WorkloadTask("b", 20, 100, 100, 6, {"lock": 1}),
            WorkloadTask("c", 20, 100, 100, 2),
        ),
        (WorkloadCpi("lock", Protocol.INHERITED, 3),),
    )
    what = SimulatedProgram(
        {"a": ("lock",), "b": (5, "lock", 1), "c": (2,)}, {"lock": (3,)}, {"a": 5, "b": 0, "c": 1}
    )
    assert Simulation(workload, what).run(100) == [
        SimulatedJob("a", 5, 11),
        SimulatedJob("b", 0, 12),
        SimulatedJob("c", 1, 14),
    ]


def test_jobs_that_are_not_done() -> None:
    """2.5 jobs of 4 in 10; releases are not lost, and the run stops at the given time."""
    workload = Workload((WorkloadTask("a", 1, 3, 3, 4),), ())
    jobs = Simulation(workload, program(workload)).run(10)
    assert jobs == [
        SimulatedJob("a", 0, 4),
        SimulatedJob("a", 3, 8),
        SimulatedJob("a", 6, None),
        SimulatedJob("a", 9, None),
    ]
    assert Simulation(workload, program(workload)).run(10, lambda job: True)[0] == SimulatedJob("a", 0, 4)
    assert len(Simulation(workload, program(workload)).run(10**9, most=20)) < 20


def test_costs_become_work() -> None:
    """8152 cycles of 2.1 GHz are 3881.9 ns."""
    workload = Workload((), (WorkloadCpi("c", Protocol.FIXED, 1000, {}, 9),))
    assert costed(workload, FREE) == workload
    assert costed(workload, read_platform("sudvarg2024-intel")).cpi["c"].work == 1000 + 3881
