# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What holds of every system: simulated responses are within the bounds, and the bounds are in order."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from camkes.analysis import blocking, choice
from camkes.analysis.assignment import changed
from camkes.analysis.blocking import Together, assign, sums, total, waits
from camkes.analysis.bounds import bounds, not_rate_monotonic
from camkes.analysis.choice import Choosing
from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE
from camkes.analysis.profiles import read_platform
from camkes.analysis.response import Load, response
from camkes.analysis.sections import RequestSection
from camkes.analysis.verdict import analyse
from camkes.analysis.witness import Quality, witnesses
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from camkes.showing.analysis import explain, to_text
from camkes.showing.analysis_json import to_report
from tests.analysis.attacks import above, attacked_workload
from tests.analysis.random_systems import UNIT, RandomSystem, constant, longest_responses
from tests.analysis.solver import solve

pytestmark = pytest.mark.requirement("AN-1")

SEEDS = st.integers(0, 2**32 - 1)
UNTIL = 720 * UNIT


@pytest.mark.long
@given(SEEDS)
def test_no_simulated_response_is_longer_than_its_bound(seed: int) -> None:
    rng = random.Random(seed)
    system = RandomSystem(rng)
    analysis = analyse(system.workload, FREE)
    for together in (True, False, False):
        seen = longest_responses(system.tasks(UNTIL, together), system.cpis, UNTIL)
        for result in analysis.tasks:
            if result.response is not None:
                assert seen.get(result.task.name, 0) <= result.response.time, (result.task.name, seed)


@given(SEEDS)
def test_finer_analysis_never_finds_more_blocking(seed: int) -> None:
    for result in analyse(RandomSystem(random.Random(seed)).workload, FREE).tasks:
        found = result.blocking
        assert found.exact is not None
        assert found.exact <= found.assignment <= found.classic
        assert total(found.sections) == found.least


@given(SEEDS)
def test_a_bound_that_is_not_exceeded_is_correct(seed: int) -> None:
    """What a sufficient bound accepts, the exact response times accept."""
    rng = random.Random(seed)
    count = rng.randint(1, 5)
    periods = sorted(rng.sample(range(10, 400), count))
    loads = [Load(f"t{i}", 100 - i, period, rng.randint(1, period // 2)) for i, period in enumerate(periods)]
    deadlines = {load.name: load.period for load in loads}
    blocked = {load.name: rng.randint(0, load.period // 4) for load in loads}
    for bound in bounds(loads, blocked, not_rate_monotonic(loads, deadlines)):
        assert bound.applicable
        if bound.holds:
            for load in loads:
                found = response(load, [o for o in loads if o is not load], constant(blocked[load.name]))
                assert found is not None and found.time <= load.period, bound.name


@given(SEEDS, st.integers(0, 50))
def test_more_blocking_never_shortens_a_response(seed: int, more: int) -> None:
    rng = random.Random(seed)
    task, *others = (
        Load(f"t{i}", rng.randint(1, 3), rng.randint(10, 100), rng.randint(1, 20)) for i in range(4)
    )
    less = rng.randint(0, 50)
    one, two = response(task, others, constant(less)), response(task, others, constant(less + more))
    assert (one is None) == (two is None)
    assert one is None or two is None or one.time <= two.time


@given(SEEDS)
def test_choices_of_sections_are_the_best_there_are(seed: int) -> None:
    """Against all choices, one by one."""
    rng = random.Random(seed)
    locks = ["a", "b", "c", "d"]
    found = [
        RequestSection(f"t{rng.randint(0, 3)}", rng.choice(locks), rng.randint(1, 9), held)
        for held in [frozenset(rng.sample(["x", "y"], rng.randint(0, 2))) for _ in range(rng.randint(1, 8))]
    ]
    limits = {lock: rng.randint(1, 2) for lock in locks}
    tasks = sorted({section.task for section in found})
    options = [[None, *(s for s in found if s.task == task)] for task in tasks]

    def best(held_too: bool) -> int:
        longest = 0
        for options_of_tasks in product(*options):
            chosen = [section for section in options_of_tasks if section is not None]
            taken = Counter(section.cpi for section in chosen)
            held = [lock for section in chosen for lock in section.held] if held_too else []
            if all(taken[lock] <= limits[lock] for lock in locks) and len(held) == len(set(held)):
                longest = max(longest, sum(section.duration for section in chosen))
        return longest

    exact, assigned = Choosing(found, {}).chosen(limits, ()), assign(found, limits)
    assert total(exact.sections) == exact.bound == best(True)
    assert total(assigned) == best(False) <= sums(found).within(limits)


@given(SEEDS)
def test_without_every_way_the_assignment_is_the_same(seed: int) -> None:
    workload = RandomSystem(random.Random(seed)).workload
    every_way = analyse(workload, FREE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocking, "WAYS", 0)
        one_way = analyse(workload, FREE)
    for more, less in zip(every_way.tasks, one_way.tasks, strict=True):
        if less.response is not None and less.response == more.response:  # in the same window
            assert (less.blocking.classic, less.blocking.assignment) == (
                more.blocking.classic,
                more.blocking.assignment,
            )
            assert more.blocking.exact is not None and less.blocking.possible <= more.blocking.exact
            assert less.blocking.exact in (None, more.blocking.exact)
        assert less.blocking.exact in (None, less.blocking.assignment)
        assert (less.response is None) == (more.response is None)
        assert less.response is None or more.response is None or less.response.time >= more.response.time


@pytest.mark.long
def test_more_ways_than_can_be_looked_at() -> None:
    """Thirty levels of two locks, each of which requests both of the next: 2**30 ways to the last one."""
    levels = 30
    cpis = [
        WorkloadCpi(f"{side}{level}", Protocol.INHERITED, 0, {f"a{level + 1}": 1, f"b{level + 1}": 1})
        for level in range(levels)
        for side in "ab"
    ]
    ends = [WorkloadCpi(f"{side}{levels}", Protocol.INHERITED, 3) for side in "ab"]
    high = WorkloadTask("high", 2, 10**12, 10**12, 5, {f"a{levels}": 1})
    low = WorkloadTask("low", 1, 10**12, 10**12, 1, {"a0": 1})
    workload = Workload((high, low), (*cpis, *ends))
    analysis = analyse(workload, FREE)
    first = analysis.tasks[0]
    assert (first.blocking.assignment, first.blocking.exact) == (3, 3)
    assert first.response is not None and first.response.time == 5 + 3 + 3
    assert witnesses(workload, analysis, 10_000)["high"].quality is Quality.ATTAINED


# two that a row with options that are possible together spoils, two that need an option left out wrongly
@example(50)
@example(1394)
@example(11)
@example(47)
@given(SEEDS)
def test_the_solver_finds_what_the_search_finds(seed: int) -> None:
    """Branch and bound with prices, and HiGHS: two choices, each possible, of the same sum. In systems that
    are large enough for branches the bound is above it, at least."""
    rng = random.Random(seed)
    kind = seed % 3
    workload = attacked_workload(rng) if kind == 1 else RandomSystem(rng).workload
    workload = nested_workload(rng) if kind == 2 else workload
    needed = demands(workload, FREE)
    for task in workload.tasks:
        can_wait = waits(workload, needed, task)
        own = can_wait.own(task.period)
        together = Together(own, can_wait.inside)
        found = can_wait.within(task.period)
        solved = solve(can_wait.sections, can_wait.limits(task.period), own, can_wait.inside)
        assert solved is not None
        assert together.possible(solved) and together.possible(found.sections)
        assert total(found.sections) == found.possible <= total(solved) <= found.least
        assert found.exact in (None, total(solved))
        assert found.exact is not None or len(workload.tasks) > 10


def nested_workload(rng: random.Random) -> Workload:
    """Up to 24 tasks, and CPIs in up to four levels."""
    level = {f"c{i}": rng.randrange(rng.randint(1, 4)) for i in range(rng.randint(3, 20))}
    share = rng.choice((0.1, 0.2, 0.4))

    def requests(above: int) -> dict[str, int]:
        return {name: rng.choice((1, 1, 2)) for name in level if level[name] > above and rng.random() < share}

    protocols = rng.choice(([Protocol.INHERITED], [*Protocol], [Protocol.INHERITED, Protocol.FIXED]))
    cpis = [
        WorkloadCpi(name, rng.choice(protocols), rng.randint(1, 100), requests(level[name]))
        for name in sorted(level, key=lambda each: level[each])
    ]
    count = rng.randint(4, 24)
    tasks = [
        WorkloadTask(f"t{i}", rng.randint(1, count), 10**7, 10**7, rng.randint(1, 1000), requests(-1))
        for i in range(count)
    ]
    return changed(Workload(tuple(tasks), tuple(cpis)))


@given(SEEDS)
def test_no_way_that_is_left_out_matters(seed: int) -> None:
    """Ways to a CPI with more locks than another one has. Through a ceiling, that of a CPI or of a step of a
    request, the one with fewer locks can exclude more, as in the systems 172 and 243."""
    for each, machine in product((seed, 172, 243), (FREE, read_platform("sudvarg2024-intel"))):
        workload = nested_workload(random.Random(each))
        needed = demands(workload, machine)
        for task in workload.tasks[:12]:
            fewer = waits(workload, needed, task)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(blocking._Sections, "_is_worse", lambda *_: False)
                every = waits(workload, needed, task)
            if every.every_way and len(every.sections) < 200:
                one, two = fewer.within(3 * 10**6), every.within(3 * 10**6)
                assert one.least >= two.possible
                assert two.exact in (None, one.exact) or one.exact is None


def test_a_step_below_a_lock_counts_where_one_way_is_looked_at() -> None:
    """`mid` and `low` come to q alone and in o, where a step of the request takes longer. Where there are too
    many ways one to each CPI is looked at, and the longer step counts."""
    cpis = [WorkloadCpi("q", Protocol.PROPAGATED, 1), WorkloadCpi("o", Protocol.INHERITED, 1, {"q": 1})]
    tasks = [WorkloadTask("high", 5, 10**9, 10**9, 1, {"q": 1})]
    tasks += [WorkloadTask("mid", 3, 10**9, 10**9, 1, {"q": 1, "o": 1})]
    tasks += [WorkloadTask("low", 1, 10**9, 10**9, 1, {"q": 1, "o": 1})]
    workload, machine = Workload(tuple(tasks), tuple(cpis)), read_platform("qemu-x86_64")
    needed = demands(workload, machine)
    every = waits(workload, needed, tasks[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocking, "WAYS", 0)
        one = waits(workload, needed, tasks[0])
    assert (every.every_way, one.every_way) == (True, False)
    assert one.within(10**6).least == every.within(10**6).least > 0


def two_holders() -> Workload:
    """Two lower tasks cannot both hold `o`, below which each has a section: 6, and the assignment 10 is too
    much."""
    cpis = [WorkloadCpi("o", Protocol.INHERITED, 1, {"x": 1, "y": 1})]
    cpis += [WorkloadCpi(name, Protocol.INHERITED, work) for name, work in (("x", 4), ("y", 6))]
    tasks = [WorkloadTask("a", 5, 99, 99, 1, {"x": 1, "y": 1})]
    tasks += [WorkloadTask(name, 1, 99, 99, 1, {"o": 1}) for name in "bc"]
    return Workload(tuple(tasks), tuple(cpis))


def test_what_no_two_tasks_can_hold_is_not_counted_twice() -> None:
    blocked = analyse(two_holders(), FREE).tasks[0].blocking
    assert (blocked.exact, blocked.assignment, blocked.least) == (6, 10, 6)
    assert (blocked.possible, blocked.gap) == (6, 0)


def test_the_gap_is_shown_while_the_exact_blocking_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without prices the bound is that of each task by itself."""
    monkeypatch.setattr(choice, "WORK", 0)
    workload = two_holders()
    found = analyse(workload, FREE)
    first = found.tasks[0].blocking
    assert (first.exact, first.possible, first.least, first.gap) == (None, 6, 10, 4)
    assert "B of a is at most 4 ns above the exact value" in to_text(found)
    assert "not less than 6 ns" in (explain(workload, found, "a") or "")
    task = to_report(found).tasks[0]
    assert (task.blocking, task.blocking_gap, task.blocking_bounds.possible) == (10, 4, 6)


def test_a_choice_that_attains_the_assignment_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a task that requests x without `o` 10 is possible, whether the search ends or not."""
    monkeypatch.setattr(choice, "WORK", 0)
    workload = two_holders()
    more = WorkloadTask("d", 1, 99, 99, 1, {"x": 1})
    blocked = analyse(Workload((*workload.tasks, more), workload.cpis), FREE).tasks[0].blocking
    assert (blocked.assignment, blocked.exact, blocked.gap) == (10, 10, 0)


def test_without_blocking_nothing_is_left_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections that take no time, on more ways than are looked at."""
    monkeypatch.setattr(blocking, "WAYS", 0)
    cpi = WorkloadCpi("x", Protocol.INHERITED, 0)
    tasks = tuple(
        WorkloadTask(name, priority, 99, 99, 1, {"x": 1}) for name, priority in (("a", 2), ("b", 1))
    )
    assert analyse(Workload(tasks, (cpi,)), FREE).tasks[0].blocking.exact == 0


@pytest.mark.long
@given(SEEDS)
def test_no_response_is_above_its_bound(seed: int) -> None:
    assert above(seed) == []
