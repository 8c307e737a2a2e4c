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

pytestmark = pytest.mark.requirement("AN-2")


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
    assert ratios[-1] <= 1.5


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


def _linked(
    priorities: dict[str, int], after: dict[str, str], cpi: WorkloadCpi, requests: set[str]
) -> Workload:
    """Tasks of 1 unit of work and these priorities, some of which request the CPI once, or are released by
    the event of another one."""
    return Workload(
        tuple(
            WorkloadTask(
                name, priority, 20, 20, 1, {cpi.name: 1} if name in requests else {},
                after=emitter, timed=not emitter, event=(f"{emitter}.{name}",) if emitter else (),
            )
            for name, priority in priorities.items()
            for emitter in (after.get(name, ""),)
        ),
        (cpi,),
    )  # fmt: skip


def test_what_emits_is_in_no_section_and_below_none_at_a_ceiling() -> None:
    """a releases b, when it executes at 2. c, of the same priority, can have begun, but not be at the ceiling
    of 3: a would not execute. So b takes 1 + 2. Where the CPI is a lock, c can have it: 1 + 2 + 2."""
    after = {"b": "a", "c": "a"}
    for protocol, response in ((Protocol.FIXED, 3), (Protocol.INHERITED, 5)):
        cpi = WorkloadCpi("l", protocol, 2, ceiling=3)
        rows = compare(_linked({"a": 2, "b": 3, "c": 2}, after, cpi, {"b", "c"}), 50_000)
        assert rows is not None and ("b", response, response) in rows


def test_the_next_job_of_an_equal_is_before_the_end_of_a_chain() -> None:
    """c executes from 0 to 4, a from 4 to 5; its next job comes at 7 and is before b, an equal: 4 + 2 + 3."""
    tasks = (
        WorkloadTask("a", 1, 7, 7, 1),
        WorkloadTask("b", 1, 7, 7, 3, {}, "a", timed=False, event=("a.b",)),
        WorkloadTask("c", 3, 16, 16, 4),
    )
    rows = compare(Workload(tasks, ()), 50_000)
    assert rows is not None and ("chain to b", 9, 9) in rows


def test_what_emits_in_its_own_code_has_not_gone_on_since() -> None:
    """a releases b, and b, which is above it, releases c: a is not in the lock yet, so c takes 1 + 2. Where
    b is not above it, a can have gone on: 1 + 2 + 2."""
    cpi = WorkloadCpi("l", Protocol.INHERITED, 2)
    for priority, response in ((2, 3), (1, 5)):
        rows = compare(
            _linked({"a": 1, "b": priority, "c": 3}, {"b": "a", "c": "b"}, cpi, {"a", "c"}), 50_000
        )
        assert rows is not None and ("c", response, response) in rows


def test_what_begins_a_window_does_not_keep_its_emitter_in_a_lock() -> None:
    """x releases y, which is above b. Then x is not in the lock that b requests: b waits for y or for x, and
    takes 1 + 2 + 2. c, which b releases as it begins, waits for the rest of it at most: 1 more. Where no task
    but b requests the lock, y has ended when b executes, and does not come again: 1 + 1 + 2 for c."""
    cpi = WorkloadCpi("l", Protocol.INHERITED, 2)
    for requests, responses in (({"x", "b"}, (5, 6)), ({"b"}, (4, 4))):
        rows = compare(
            _linked({"x": 1, "y": 4, "b": 3, "c": 2}, {"y": "x", "c": "b"}, cpi, requests), 100_000
        )
        assert rows is not None
        assert {(name, each, each) for name, each in zip("bc", responses, strict=True)} <= set(rows)


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
