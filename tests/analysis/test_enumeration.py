# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Bounds of small systems are the longest responses that there are: all arrivals, orders and early ends."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import islice

import pytest
from msgspec.structs import replace

from camkes.analysis.platform import FREE
from camkes.analysis.verdict import analyse
from camkes.analysis.witness import witnesses
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from tests.analysis.enumeration import (
    banded_workload,
    chained_workload,
    compare,
    divided,
    searched,
    small_workload,
)


@pytest.mark.parametrize(
    ("systems", "states"), [(10, 10_000), pytest.param(500, 100_000, marks=pytest.mark.long)]
)
def test_bounds_are_the_longest_responses(systems: int, states: int) -> None:
    found = list(islice(searched(small_workload, states), systems))
    assert [(seed, *row) for seed, rows in found for row in rows if row[1] != row[2]] == []
    equal = [seed for seed, _ in found if len(_priorities(seed)) > len(set(_priorities(seed)))]
    assert len(equal) > systems / 4, "too few systems have equal priorities"


def _priorities(seed: int) -> list[int]:
    return [task.priority for task in small_workload(random.Random(seed)).tasks]


@pytest.mark.parametrize(
    ("systems", "states"), [(6, 6_000), pytest.param(200, 50_000, marks=pytest.mark.long)]
)
def test_chains_are_bounded(systems: int, states: int) -> None:
    """No response and no latency is longer than its bound, and most bounds are the longest there are."""
    found = list(islice(searched(chained_workload, states), systems))
    rows = [(seed, *row) for seed, of_seed in found for row in of_seed]
    assert [row for row in rows if row[3] > row[2]] == []
    ratios = sorted(bound / longest for _, _, bound, longest in rows)
    assert ratios[len(ratios) // 2] == 1
    assert ratios[-1] < 2


@pytest.mark.parametrize(
    ("systems", "states"), [(10, 10_000), pytest.param(200, 60_000, marks=pytest.mark.long)]
)
def test_responses_by_deadlines_are_the_longest(systems: int, states: int) -> None:
    """All bounds of systems in which some tasks are ordered by their deadlines, by those of requests too."""
    found = list(islice(searched(banded_workload, states), systems))
    assert [(seed, *row) for seed, rows in found for row in rows if row[1] != row[2]] == []


def test_two_events_of_one_task_are_two_times() -> None:
    """t emits `first` to x and later `second` to y. In between x, if it has the same priority, can have begun
    a section for which y waits: 4 + 3. If one event releases both, or x is below t, y is first: 4."""
    tasks = [
        WorkloadTask("z", 1, 60, 60, 1, {"m": 1}),
        WorkloadTask("t", 3, 60, 60, 1, {"m": 1}),
        WorkloadTask("x", 3, 60, 60, 1, {"l": 1}, "t", timed=False),
        WorkloadTask("y", 9, 60, 60, 1, {"l": 1}, "t", timed=False),
    ]
    cpis = (
        WorkloadCpi("m", Protocol.PROPAGATED, 1),
        WorkloadCpi("l", Protocol.INHERITED, 3),
    )

    def response(first: str, second: str, priority: int = 3) -> int:
        events = {"x": (f"t.{first}",), "y": (f"t.{second}",)}
        linked = [replace(each, event=events.get(each.name, ())) for each in tasks]
        linked[2] = replace(linked[2], priority=priority)
        found = {each.task.name: each.response for each in analyse(Workload(tuple(linked), cpis), FREE).tasks}
        own = found["y"]
        assert own is not None
        return int(own.time)

    assert (response("first", "second"), response("both", "both")) == (7, 4)
    assert response("first", "second", priority=2) == 4


@pytest.mark.parametrize(
    "seeds", [(198, 290), pytest.param(range(300), marks=pytest.mark.long)], ids=["two", "all"]
)
@pytest.mark.parametrize("make", [small_workload, chained_workload, banded_workload])
def test_cases_are_possible(make: Callable[[random.Random], Workload], seeds: Iterable[int]) -> None:
    """None that is found is longer than the longest of all, in times that can be divided further. In the two
    systems a job that has done all its work, but has not ended, meets the release of another one."""
    searched = 0
    for seed in seeds:
        workload = make(random.Random(seed))
        rows = compare(workload, 40_000)
        if rows is not None:
            fine = divided(workload, 1_000)
            longest = {name: worst for name, _, worst in rows}
            for name, witness in witnesses(fine, analyse(fine, FREE)).items():
                searched += 1
                assert witness.response <= 1_000 * longest[name], (seed, name)
    assert searched or make is not small_workload


def test_a_bound_that_is_too_short_is_found() -> None:
    """The lower task holds the lock when the other one is released: 1 + 2 + 3 units, and not 1 + 2."""
    tasks = (WorkloadTask("a", 2, 20, 20, 1, {"c": 1}), WorkloadTask("b", 1, 20, 20, 1, {"c": 2}))
    workload = Workload(tasks, (WorkloadCpi("c", Protocol.INHERITED, 2),))
    assert compare(workload, 100_000) == [("a", 5, 5), ("b", 8, 8)]
    fewer = Workload((tasks[0], WorkloadTask("b", 1, 20, 20, 1)), workload.cpis)
    rows = compare(workload, 100_000, bounds_of=fewer)
    assert rows is not None and all(worst > bound for _, bound, worst in rows)
