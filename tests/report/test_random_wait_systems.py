# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems with mutexes, semaphores, events, plain servers and protocols: the states of
tasks at each instant, the time that jobs are blocked, and deadlocks are those of the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from .random_wait_systems import problems, ran, random_system, write
from .wait_reference import Reference, Task, Unit

pytestmark = pytest.mark.requirement("AN-28")

#: systems that have waits of all kinds
SEEDS = (40, 211, 279, 288)


@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(n, marks=pytest.mark.long) for n in range(40))])
def test_states_blocking_and_deadlocks_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    system = random_system(seed)
    assert problems(system, ran(write(system, tmp_path))) == []


def test_the_reference_knows_inversions_and_deadlocks() -> None:
    """The classical inversion at a mutex: the urgent task waits for 3 of its own section of low, and 20 of
    middle."""
    ms = 1_000_000
    section = (("take", "m"), ("work", 4 * ms), ("give", "m"))
    tasks = [
        Task("low", 10, 0, 100 * ms, section),
        Task("middle", 20, 3 * ms, 100 * ms, (("work", 20 * ms),)),
        Task("high", 30, 1 * ms, 100 * ms, section),
    ]
    reference = Reference(tasks, [], [Unit("m", "mutex", 1, 1)])
    reference.release()
    reference.run(50 * ms)
    assert reference.jobs["high"] == [[1 * ms, 28 * ms]]
    assert reference.blocked["high"] == [23 * ms]
    assert (1 * ms, 24 * ms, ("mutex", "m", (("low", 0),))) in reference.lanes["high"]
    assert not list(reference.cycles())
    twice = Reference([Task("a", 1, 0, ms, (("take", "m"), *section))], [], [Unit("m", "mutex", 1, 1)])
    twice.release()
    twice.run(ms)
    assert set(twice.cycles()) == {frozenset({"a"})}
