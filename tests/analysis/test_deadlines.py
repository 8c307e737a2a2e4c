# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The processor demand of tasks that are ordered by their deadlines, beside a simulation of their jobs."""

from __future__ import annotations

from math import lcm

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from camkes.analysis.budgets import budget_results
from camkes.analysis.criticality import level_results
from camkes.analysis.limits import blocking_limits
from camkes.analysis.platform import FREE, Halves, Platform
from camkes.analysis.unbounded import NoBound, Reason, spread
from camkes.analysis.verdict import Verdict, analyse, analyse_system, interruptions
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from tests.analysis.test_budgets import planned
from tests.runtime.test_bands import Job, simulate

pytestmark = pytest.mark.requirement("AN-6")

#: period, deadline, work before and after a section, and whether there is one
Timing = tuple[int, int, int, int, bool]

TIMINGS = st.lists(
    st.tuples(
        st.sampled_from([4, 5, 6, 8, 10, 12]),
        st.integers(2, 12),
        st.integers(0, 2),
        st.integers(1, 3),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


def workload(timings: list[Timing], inside: int, above: tuple[int, int] | None = None) -> Workload:
    """Tasks of a band, all of which use one lock for `inside`, and one `above` it: period and work."""
    tasks = [
        WorkloadTask(
            f"t{number}",
            10 + sum(other[1] > deadline for other in timings),
            period,
            deadline,
            before + after,
            {"shared.s": 1} if locks else {},
            band="edf",
        )
        for number, (period, deadline, before, after, locks) in enumerate(timings)
    ]
    if above is not None:
        tasks.append(WorkloadTask("above", 50, above[0], above[0], above[1]))
    return Workload(tuple(tasks), (WorkloadCpi("shared.s", Protocol.INHERITED, inside),))


def met(found: Workload) -> bool:
    """Whether the analysis finds that all deadlines of the band are met."""
    return all(each.verdict is Verdict.MET for each in analyse(found, FREE).tasks if each.task.band)


def responses(timings: list[Timing], inside: int, offsets: list[int]) -> dict[str, int]:
    """The longest response of each task in a simulation of two hyperperiods."""
    end = 2 * lcm(*(timing[0] for timing in timings)) + max(offsets)
    jobs = [
        Job(f"t{number}", release, release + deadline, before, inside if locks else 0, after)
        for number, (period, deadline, before, after, locks) in enumerate(timings)
        for release in range(offsets[number], end, period)
    ]
    return {name: max(found) for name, found in simulate(jobs).items()}


def misses(timings: list[Timing], inside: int, offsets: list[int]) -> bool:
    """Whether a job misses its deadline in the simulation."""
    found = responses(timings, inside, offsets)
    return any(response > timings[int(name[1:])][1] for name, response in found.items())


@given(timings=TIMINGS)
@settings(deadline=None)
def test_without_locks_it_is_exact(timings: list[Timing]) -> None:
    timings = [(period, min(period, deadline), b, a, False) for period, deadline, b, a, _ in timings]
    assume(sum((b + a) / period for period, _, b, a, _ in timings) <= 1)
    assert met(workload(timings, 0)) is not misses(timings, 0, [0] * len(timings))


@given(timings=TIMINGS, inside=st.integers(1, 3), offsets=st.lists(st.integers(0, 6), min_size=4, max_size=4))
@settings(deadline=None)
def test_no_response_is_longer_than_its_bound(timings: list[Timing], inside: int, offsets: list[int]) -> None:
    """Also where deadlines are missed, or are longer than the period."""
    bounds = {each.task.name: each.response for each in analyse(workload(timings, inside), FREE).tasks}
    for name, longest in responses(timings, inside, offsets).items():
        bound = bounds[name]
        assert bound is None or longest <= bound.time


def test_a_response_longer_than_the_deadline_is_stated() -> None:
    """2 and 4 units in a window of 6, from which on a job with a deadline of 5 is at work: the second has
    to wait for the first one."""
    found = analyse(workload([(10, 5, 0, 2, False), (12, 5, 0, 4, False)], 0), FREE)
    assert [(each.response and each.response.time, each.verdict) for each in found.tasks] == [
        (6, Verdict.MISSED),
        (6, Verdict.MISSED),
    ]


@pytest.mark.parametrize(
    ("timings", "inside", "above", "expected"),
    [
        # 2 in 5 and 4 in 7: 34 of 35
        ([(5, 5, 0, 2, False), (7, 7, 0, 4, False)], 0, None, True),
        ([(5, 5, 0, 2, False), (7, 7, 0, 4, False)], 0, (70, 1), True),
        ([(5, 5, 0, 2, False), (7, 7, 0, 4, False)], 0, (70, 2), False),
        # in a window of 5: 2 + 1 in the lock, and a section of the other of 1, or of 3
        ([(5, 5, 0, 2, True), (20, 20, 0, 4, True)], 1, None, True),
        ([(5, 5, 0, 2, True), (20, 20, 0, 4, True)], 2, None, False),
        # in a window of 10: 3 + 1 and 5 + 1; jobs with the same deadline are in the window and block nothing
        ([(10, 10, 0, 3, True), (10, 10, 0, 5, True)], 1, None, True),
        ([(10, 10, 0, 3, True), (10, 10, 0, 5, True), (90, 90, 0, 0, True)], 1, None, False),
        # the second does not use the lock, so that nothing is blocked
        ([(5, 5, 0, 2, True), (20, 20, 0, 4, False)], 2, None, True),
    ],
)
def test_demand_and_blocking(
    timings: list[Timing], inside: int, above: tuple[int, int] | None, expected: bool
) -> None:
    assert met(workload(timings, inside, above)) is expected


def test_a_chain_ends_after_the_responses_of_all_its_tasks() -> None:
    """The first may wait for the second's job before, and emit when it ends."""
    first = WorkloadTask("first", 10, 20, 15, 2, band="edf")
    second = WorkloadTask("second", 11, 20, 4, 1, after="first", timed=False, band="edf")
    found = analyse(Workload((first, second), ()), FREE)
    assert [chain.latency for chain in found.chains] == [4]


BANDED = """
import <user_scheduler.camkes>;
component Task { control; requestor; uses UserScheduler band; }
component Other { control; requestor; }
assembly {
    composition {
        component Task a; component Task b; component Task c; component EDFScheduler edf;
        component Other low;
        connection seL4UserScheduler order(from a.band, from b.band, from c.band, to edf.tasks);
    }
    configuration {
        edf._priority = 101; a._period = 5 ms; b._period = 7 ms; c._period = 9 ms; c._deadline = 7 ms;
        a._wcet = 1 ms; b._wcet = 1 ms; c._wcet = %d ms;
        low._priority = 5; low._period = 100 ms; low._wcet = 3 ms; %s
    }
}
"""
MS = 1_000_000
USED_UP = "the budget of low can be used up, and a component orders tasks"


@pytest.mark.parametrize(
    ("work", "settings", "expected"),
    [
        # low: 3, in 7 two jobs of `a`, and one of each other
        (1, "", (1 * MS, 3 * MS, 3 * MS, 7 * MS)),
        (1, "low._budget = 3 ms;", (1 * MS, 3 * MS, 3 * MS, 7 * MS)),
        (1, "low._budget = 2 ms;", (USED_UP,) * 4),
        # 1/5 + 1/7 + 6/9 are more than the processor
        (6, "", ("overload",) * 4),
    ],
)
def test_budgets_that_never_end_make_no_difference(
    work: int, settings: str, expected: tuple[int | str, ...]
) -> None:
    results = budget_results(*planned(BANDED % (work, settings)), FREE)
    assert [each.task.name for each in results] == ["a", "b", "c", "low"]
    assert tuple(each.trusted.response or each.trusted.reason for each in results) == expected
    assert {each.isolated.reason for each in results} == {"a component orders tasks"}


def test_what_is_not_known_where_a_component_orders_tasks() -> None:
    system, plan = planned(BANDED % (1, "low._criticality = 1;"))
    assert {(e.smc, e.amc, e.ours) for e in level_results(system, plan, FREE)} == {(None,) * 3}
    assert not blocking_limits(*planned(BANDED % (1, ""), mcs=False), 0)


def test_bounds_of_a_band_rest_on_all_its_tasks() -> None:
    """A job of any of them can be due before one of another."""
    text = BANDED.replace("b._wcet = 1 ms; ", "") % (1, "")
    found = analyse_system(*planned(text, mcs=False), None, Sink())
    assert found is not None
    stated = {
        each.task.name: tuple(of for a in each.assumptions for of in a.of or ()) for each in found.tasks
    }
    assert stated == dict.fromkeys(("a", "b", "c", "low"), ("b",))


def test_none_has_a_bound_in_the_band_of_one_that_has_none() -> None:
    tasks = [
        WorkloadTask("above", 12, 20, 20, 1),
        WorkloadTask("a", 11, 20, 15, 1, band="edf"),
        WorkloadTask("b", 10, 20, 20, 1, band="edf"),
    ]
    found = spread(tasks, {"b": NoBound(Reason.RELEASE, "event")})
    assert found.keys() == {"a", "b"}
    assert found["a"] == NoBound(Reason.INTERFERENCE, "b")


def test_what_a_scheduler_does_for_late_events_comes_late_too() -> None:
    """Two jobs of b, which an event releases up to 7 late, can begin in less than a period."""
    tasks = (
        WorkloadTask("a", 10, 20, 20, 1, band="edf"),
        WorkloadTask("b", 10, 20, 20, 1, {}, "a", jitter=7, timed=False, band="edf"),
    )
    loads = interruptions(Workload(tasks, ()), Platform("p", plain=Halves(1, 1)))
    assert [(load.name, load.jitter) for load in loads] == [("a", 0), ("b", 7)]
