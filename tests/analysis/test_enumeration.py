# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Bounds of small systems are the longest responses that there are: all arrivals, orders and early ends."""

from __future__ import annotations

import random
from itertools import count, islice

import pytest

from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from tests.analysis.enumeration import compare, small_workload


@pytest.mark.parametrize(
    ("systems", "states"), [(10, 10_000), pytest.param(500, 100_000, marks=pytest.mark.long)]
)
def test_bounds_are_the_longest_responses(systems: int, states: int) -> None:
    seeds = ((seed, compare(small_workload(random.Random(seed)), states)) for seed in count())
    found = list(islice(((seed, rows) for seed, rows in seeds if rows is not None), systems))
    assert [(seed, *row) for seed, rows in found for row in rows or () if row[1] != row[2]] == []
    equal = [seed for seed, _ in found if len(_priorities(seed)) > len(set(_priorities(seed)))]
    assert len(equal) > systems / 4, "too few systems have equal priorities"


def _priorities(seed: int) -> list[int]:
    return [task.priority for task in small_workload(random.Random(seed)).tasks]


def test_a_bound_that_is_too_short_is_found() -> None:
    """The lower task holds the lock when the other one is released: 1 + 2 + 3 units, and not 1 + 2."""
    tasks = (WorkloadTask("a", 2, 20, 20, 1, {"c": 1}), WorkloadTask("b", 1, 20, 20, 1, {"c": 2}))
    workload = Workload(tasks, (WorkloadCpi("c", Protocol.INHERITED, 2),))
    assert compare(workload, 100_000) == [("a", 5, 5), ("b", 8, 8)]
    fewer = Workload((tasks[0], WorkloadTask("b", 1, 20, 20, 1)), workload.cpis)
    rows = compare(workload, 100_000, bounds_of=fewer)
    assert rows is not None and all(worst > bound for _, bound, worst in rows)
