# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""When threads with budgets run, and when they come to their end: figures computed by hand."""

from __future__ import annotations

import pytest

from tests.host.mcs.systems import (
    BUSY,
    CLIENT,
    MS,
    REPORTER,
    TIMEOUT,
    US,
    Run,
    Runner,
    System,
)

pytestmark = pytest.mark.requirement("HOST-11")


def in_ms(intervals: list[tuple[int, int]]) -> list[tuple[float, float]]:
    return [(a / MS, b / MS) for a, b in intervals]


def preempted(server: str) -> System:
    """L is always busy; H preempts it once."""
    system = System()
    system.thread("l", 10, BUSY)
    system.time("l", 5 * MS, 20 * MS, server)
    system.worker("h", 20, (2 * MS, 0, 3 * MS))
    system.time("h", 100 * MS, 100 * MS)
    return system


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("constant", [(0, 2), (5, 8), (20, 22), (25, 28), (40, 42), (45, 48)]),
        ("sporadic", [(0, 2), (5, 8), (20, 25), (40, 45)]),
    ],
)
def test_a_preemption_splits_the_refill_of_a_constant_bandwidth_server_only(
    mcs: Runner, server: str, expected: list[tuple[int, int]]
) -> None:
    run = mcs.run(preempted(server), 55 * MS)
    assert in_ms(run.intervals("l")) == expected


@pytest.mark.mostly_long("750-2500", "900-1000", "1000-0")
@pytest.mark.parametrize(
    ("hog", "answers"),
    [(0, 10_000), (100, 9_000), (250, 7_500), (500, 5_000), (750, 2_500), (900, 1_000), (1_000, 0)],
)
def test_a_hog_has_its_budget_and_no_more(mcs: Runner, hog: int, answers: int) -> None:
    """Budget of the hog in us of each ms, above a server with requests of 100 us back to back, in 1 s."""
    system = System()
    system.server("server", 252, "requests")
    system.time("server", 10 * MS, 10 * MS)
    system.thread("client", 251, CLIENT, 100, s1="requests WP 1")
    system.time("client", 10 * MS, 10 * MS)
    system.thread("hog", 254, BUSY)
    if hog:
        system.time("hog", hog * US, 1_000 * US)
    run = mcs.run(system, 1_000 * MS)
    assert run.answers("client") == answers
    assert run.charged("hog") == 1_000 * hog * US if hog else True


def overrun(demand: int) -> System:
    """T4 of 2 in 20 below T5 of 2 in 10, with a handler that lets it go on."""
    system = System()
    system.server("handler", 255, "faults")
    system.time("handler", 10 * MS, 10 * MS)
    system.server("clock", 254, "times")
    system.time("clock", 10 * MS, 10 * MS)
    system.worker("t5", 6, (0, 10 * MS, 2 * MS))
    system.time("t5", 2 * MS, 10 * MS)
    system.object("t4:n", "notification")
    system.thread("t4", 5, REPORTER, s1="t4:n R 0", s3="times WP 1")
    system.jobs("t4", (0, 20 * MS, demand * MS))
    system.time("t4", 2 * MS, 20 * MS, badge=77)
    system.timeout("t4", "faults")
    return system


def faults(run: Run) -> list[float]:
    return [time / MS for time in run.times(TIMEOUT, "t4")]


def test_a_fault_comes_at_the_end_of_each_part_of_the_budget(mcs: Runner) -> None:
    """A job of 7 takes 2, 2, 2 and 1. It goes to a server and back at 63, so that what the next one uses then
    comes back one period later, at 83, apart from what comes back at 80."""
    run = mcs.run(overrun(7), 100 * MS)
    assert faults(run) == [4, 24, 44, 64, 83, 84]
    assert in_ms(run.intervals("t4")) == [(2, 4), (22, 24), (42, 44), (62, 64), (82, 84)]


def test_a_job_that_takes_all_of_its_budget_does_not_fault(mcs: Runner) -> None:
    run = mcs.run(overrun(2), 100 * MS)
    assert faults(run) == []
    assert in_ms(run.intervals("t4")) == [(n + 2, n + 4) for n in range(0, 100, 20)]
