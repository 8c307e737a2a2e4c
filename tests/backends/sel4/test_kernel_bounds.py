# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems on the kernel: what counts as a response above its bound; in a workspace, some of them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.kernel_bounds.attacks import scaled_text
from benchmarks.kernel_bounds.cases import without_equals
from benchmarks.kernel_bounds.image import Seen, Tried, judged
from tests.analysis.attacks import attacked_workload
from tests.command import ROOT

pytestmark = pytest.mark.requirement("SEL4-8")

PERIODIC = (1000, 100)  # first release, period


def seen(ends: dict[int, int], releases: tuple[int, ...] = ()) -> Seen:
    return Seen({0: ends}, {0: releases}, Fraction(1))


def responses(
    found: Seen, release: tuple[int, int] | None, until: int = 1340
) -> list[tuple[int | None, bool]]:
    return [(job.response, job.above) for job in judged("t", 40, release, until, 0, found)]


def test_jobs_beside_their_bound() -> None:
    """Of each job whose bound is over at the end."""
    within = seen({0: 1040, 1: 1140, 2: 1205})
    assert responses(within, PERIODIC) == [(40, False), (40, False), (5, False)]
    assert responses(seen({0: 1041, 1: 1140, 2: 1205}), PERIODIC)[0] == (41, True)


def test_a_job_that_does_not_end_is_above_its_bound() -> None:
    assert responses(seen({0: 1040, 1: 1140}), PERIODIC)[2] == (None, True)
    assert responses(seen({}), PERIODIC)[0] == (None, True)


def test_a_job_that_was_stopped_is_left_out() -> None:
    """One after it has ended."""
    assert responses(seen({0: 1040, 2: 1205}), PERIODIC) == [(40, False), (5, False)]


def test_jobs_that_events_release() -> None:
    found = seen({0: 1050, 1: 1131}, (1010, 1090, 1310))
    assert responses(found, None) == [(40, False), (41, True)]


def test_an_event_that_is_lost_releases_no_job() -> None:
    """Of those that come while the first job is under way, one is kept: it releases the next job."""
    found = seen({0: 1050, 1: 1080, 2: 1130}, (1010, 1020, 1030, 1045, 1100, 1310))
    assert responses(found, None, 2000) == [(40, False), (60, True), (30, False), (None, True)]
    with_gap = seen({0: 1050, 2: 1130}, (1010, 1090, 1100))  # one was stopped, it is not known when
    assert responses(with_gap, None, 2000) == [(40, False), (30, False)]


def test_a_distance_is_above_what_was_seen() -> None:
    assert Tried(0, "t", 100, 100, 110, 1, ()).distance == pytest.approx(0.1)
    assert Tried(0, "t", 0, 100, 110, 0, ()).distance == 0


def test_times_of_texts() -> None:
    """Twice as long where an instruction takes 2 ns; releases after boot, code around the work."""
    text = "t._wcet = 1 ms; t._offset = 0 ns; t._budget = 2000 ns; c.p_wcet = 100 ns; t._id = 9;"
    assert scaled_text(text, 1, 1000) == (
        "t._wcet = 2000460 ns; t._offset = 6000000 ns; t._budget = 6000 ns; c.p_wcet = 300 ns; t._id = 9;"
    )


def test_priorities_differ_and_keep_their_order() -> None:
    for seed in range(50):
        before = attacked_workload(random.Random(seed))
        after = without_equals(before)
        assert len({task.priority for task in after.tasks}) == len(after.tasks)
        for one, now in zip(before.tasks, after.tasks, strict=True):
            for other, then in zip(before.tasks, after.tasks, strict=True):
                assert one.priority >= other.priority or now.priority < then.priority


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        ("--host",),
        ("--platform", "qemu-arm-virt"),
        ("--platform", "qemu-riscv-virt"),
        ("--mcs",),
        ("--kind", "conditions"),
        ("--mcs", "--kind", "budgets", "--seed", "16"),
        ("--mcs", "--kind", "bands"),
    ],
    ids=lambda options: " ".join(options),
)
def test_a_system_on_the_kernel(options: tuple[str, ...], tmp_path: Path) -> None:
    if "SEL4_WORKSPACE" not in os.environ:
        pytest.skip("SEL4_WORKSPACE is not set")
    command = [sys.executable, "benchmarks/on_sel4.py", "--count", "1", *options, "--output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 systems" in done.stdout and "0 systems above" in done.stdout
