# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Figures that are known: of the papers, and computed by hand where the comment shows how. Times in
milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest
from msgspec.structs import replace

from camkes.analysis.blocking import assign, sums, total
from camkes.analysis.bounds import hyperbolic, liu_layland_limit
from camkes.analysis.choice import Choosing
from camkes.analysis.demand import Time, demands, overheads_of, release_cost
from camkes.analysis.platform import FREE, FixedCost, Halves, InheritanceCost, Platform, TimerCost
from camkes.analysis.profiles import read_platform
from camkes.analysis.response import Load, Unfinished, response
from camkes.analysis.sections import RequestSection
from camkes.analysis.verdict import Analysis, Verdict, analyse, with_equals
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from tests.analysis.random_systems import constant

pytestmark = pytest.mark.requirement("AN-3")

PROPAGATED, FIXED, INHERITED = Protocol.PROPAGATED, Protocol.FIXED, Protocol.INHERITED
NON_PREEMPTIVE = 255


def ms(value: float | str) -> int:
    return int(Fraction(str(value)) * 1_000_000)


def chain(protocol: Protocol, ceiling_a: int = 30, ceiling_b: int = 30, extra: bool = False) -> Workload:
    """Tasks 1 and 2 request A, A requests B, task 3 requests B; `extra`: a task above them that requests
    nothing."""
    above = [WorkloadTask("0", 40, ms(5), ms(5), ms("0.5"))] if extra else []
    tasks = [
        *above,
        WorkloadTask("1", 30, ms(10), ms(10), ms(2), {"A": 1}),
        WorkloadTask("2", 20, ms(20), ms(20), ms(4), {"A": 1}),
        WorkloadTask("3", 10, ms(50), ms(50), ms(8), {"B": 1}),
    ]
    cpis = [
        WorkloadCpi("A", protocol, ms("0.5"), {"B": 1}, ceiling_a),
        WorkloadCpi("B", protocol, ms("0.3"), {}, ceiling_b),
    ]
    return Workload(tuple(tasks), tuple(cpis))


def test_a_job_without_work_waits_for_the_others() -> None:
    """b has nothing to do, and the processor comes to it after a, 2, and the section of c, 5."""
    tasks = (
        WorkloadTask("a", 3, 100, 100, 2),
        WorkloadTask("b", 2, 100, 100, 0, {"lock": 1}),
        WorkloadTask("c", 1, 100, 100, 1, {"lock": 1}),
    )
    alone = analyse(Workload(tasks[1:2], (WorkloadCpi("lock", INHERITED, 0),)), FREE)
    assert [each.response.time for each in alone.tasks if each.response] == [0]
    both = analyse(Workload(tasks[:2], (WorkloadCpi("lock", INHERITED, 0),)), FREE)
    assert [each.response.time for each in both.tasks if each.response] == [2, 2]
    of_all = analyse(Workload(tasks, (WorkloadCpi("lock", INHERITED, 5),)), FREE)
    assert [each.response.time for each in of_all.tasks if each.response] == [2, 2 + 5 + 5, 13]


@pytest.mark.parametrize(("deadline", "verdict"), [(1_000_133, Verdict.MISSED), (10**9, Verdict.UNBOUNDED)])
def test_a_busy_window_that_is_too_long(deadline: int, verdict: Verdict) -> None:
    """Ten tasks that need a tenth each, with periods that have nothing in common: the processor is never idle
    before about the hyperperiod. The first job ends after 10 * 100 us and a second one of most others."""
    primes = (999983, 1000003, 1000033, 1000037, 1000039, 1000081, 1000099, 1000117, 1000121, 1000133)
    tasks = [WorkloadTask(str(p), 20 - i, p, p, p // 10) for i, p in enumerate(primes)]
    tasks[-1] = WorkloadTask("last", 1, primes[-1], deadline, primes[-1] // 10)
    last = analyse(Workload(tuple(tasks), ()), FREE).tasks[-1]
    assert last.response is None and last.verdict is verdict
    assert last.at_least >= 1_900_107  # that of the first job


def demand_of(analysis: Analysis) -> list[float]:
    return [round(float(result.demand.total) / 1e6, 6) for result in analysis.tasks]


def blocking_of(analysis: Analysis) -> list[float]:
    return [round(float(result.blocking.least) / 1e6, 6) for result in analysis.tasks]


def response_of(analysis: Analysis) -> list[float]:
    assert all(result.response is not None for result in analysis.tasks)
    return [round(float(result.response.time) / 1e6, 6) for result in analysis.tasks if result.response]


def test_ceilings_without_overhead() -> None:
    """C1 = 2 + 0.5 + 0.3, C2 = 4 + 0.8, C3 = 8 + 0.3. Task 1 waits for task 2 in A (0.8) or task 3 in B
    (0.3), not for both; task 2 for task 3 in B. R1 = 2.8 + 0.8; R2 = 4.8 + 0.3 + 2.8; R3 = 8.3 + 2 * 2.8 +
    4.8 = 18.7."""
    found = analyse(chain(FIXED), FREE)
    assert demand_of(found) == [2.8, 4.8, 8.3]
    assert blocking_of(found) == [0.8, 0.3, 0.0]
    assert response_of(found) == [3.6, 7.9, 18.7]
    assert found.good
    _, product, total = found.bounds
    # 1 + 3.6/10; 1.28 * (1 + 5.1/20); 1.28 * 1.24 * (1 + 8.3/50)
    assert [value for _, value in product.values] == pytest.approx([1.36, 1.6064, 1.850675], abs=1e-5)
    # 0.28 + 0.24 + 0.166 + 0.08
    assert total.values[0][1] == pytest.approx(0.766)
    assert total.limit == pytest.approx(0.7798, abs=1e-4)
    assert total.holds and product.holds


def test_without_preemption_the_same_tasks_wait_as_long() -> None:
    found = analyse(chain(FIXED, NON_PREEMPTIVE, NON_PREEMPTIVE), FREE)
    assert blocking_of(found) == [0.8, 0.3, 0.0]


def test_propagated_without_overhead_blocks_no_task() -> None:
    """R2 = 4.8 + 2.8; R3 as above."""
    found = analyse(chain(PROPAGATED), FREE)
    assert blocking_of(found) == [0, 0, 0]
    assert response_of(found) == [2.8, 7.6, 18.7]
    values = [value for _, value in found.bounds[1].values]
    assert values == pytest.approx([1.28, 1.5872, 1.850675], abs=1e-5)


def test_with_the_overheads_of_the_papers() -> None:
    """A request to a fixed CPI costs 4810 + 3342 cycles of 2.1 GHz: C1 = 2.8 ms + 2 * 8152 / 2.1 GHz."""
    intel = read_platform("sudvarg2024-intel")
    fixed = analyse(chain(FIXED), intel)
    assert demand_of(fixed) == [2.807764, 4.807764, 8.303882]
    assert response_of(fixed) == [3.615528, 7.919410, 18.727173]
    propagated = analyse(chain(PROPAGATED), intel)
    assert response_of(propagated) == [2.813529, 7.623805, 18.735967]


@pytest.mark.mostly_long("1-1012", "3-1022")
@pytest.mark.parametrize(("clients", "expected"), [(1, 1012), (2, 1022), (3, 1022)])
def test_a_step_of_a_manager(clients: int, expected: int) -> None:
    """The lock is requested once, so one lower task keeps it for 1000 and 12 of overhead. One more may have
    asked for it just before: then the manager executes for 10, its longest step, at the ceiling."""
    machine = Platform(
        "machine", runtime="camkes-rt", inherited=InheritanceCost(acquire=10, release=2), clock=10**9
    )
    tasks = [WorkloadTask("a", 9, 10**6, 10**6, 100, {"lock": 1})]
    tasks += [WorkloadTask(f"b{i}", i + 1, 10**6, 10**6, 100, {"lock": 1}) for i in range(clients)]
    workload = Workload(tuple(tasks), (WorkloadCpi("lock", INHERITED, 1000),))
    blocking = analyse(workload, machine).tasks[0].blocking
    assert (blocking.least, blocking.exact) == (expected, expected)
    free = Platform("library", runtime="library", inherited=machine.inherited)
    assert analyse(workload, free).tasks[0].blocking.least == 1000  # which has no managers


def test_half_of_a_request_makes_no_requests() -> None:
    """A propagates and B is a lock, with the papers' runtime of 2022. Task 1 waits for task 3 in B, 0.3 ms
    and 11342 cycles, and for half of task 2's request to A, 6870 cycles: together 8.672 us at 2.1 GHz. Task
    2 is not in B too, for the lock is requested once while task 1 is under way."""
    tasks = chain(PROPAGATED).tasks
    cpis = (
        WorkloadCpi("A", PROPAGATED, ms("0.5"), {"B": 1}, 30),
        WorkloadCpi("B", INHERITED, ms("0.3"), {}, 30),
    )
    found = analyse(Workload(tasks, cpis), read_platform("sudvarg2022-intel"))
    assert blocking_of(found) == [0.308672, 0.305401, 0.0]


def test_a_task_without_requests_waits_only_for_non_preemptive_code() -> None:
    ceiling = analyse(chain(FIXED, extra=True), FREE)
    assert (blocking_of(ceiling)[0], response_of(ceiling)[0]) == (0, 0.5)
    everybody = analyse(chain(FIXED, NON_PREEMPTIVE, NON_PREEMPTIVE, extra=True), FREE)
    assert (blocking_of(everybody)[0], response_of(everybody)[0]) == (0.8, 1.3)


@pytest.mark.parametrize(
    ("demand", "literal", "right", "longest"), [("4.5", 1.45, 2.1025, 9), ("6", 1.6, 2.56, 12)]
)
def test_equal_priorities(demand: str, literal: float, right: float, longest: int) -> None:
    """Two tasks of one priority, T = 10: Eq. 2 leaves the other one out and accepts what misses."""
    loads = [Load(name, 10, ms(10), ms(demand)) for name in ("a", "b")]
    assert hyperbolic(loads[0], loads, 0, equals=False) == pytest.approx(literal)
    assert hyperbolic(loads[0], loads, 0) == pytest.approx(right)
    found = response(loads[0], loads[1:], constant(0))
    if longest == 9:
        assert found is not None and found.time == ms(9)
    else:  # 12 of every 10: the first job ends at 12, later ones ever later
        assert found is None
    tasks = tuple(WorkloadTask(name, 10, ms(10), ms(10), ms(demand)) for name in ("a", "b"))
    analysis = analyse(Workload(tasks, ()), FREE)
    assert not analysis.bounds[0].applicable
    assert analysis.good is (longest == 9)


def test_limits_of_liu_and_layland() -> None:
    values = [round(liu_layland_limit(count), 4) for count in range(1, 6)]
    assert values == [1, 0.8284, 0.7798, 0.7568, 0.7435]


#: Clients by priority: their period, own work, and the time in the servers S1 and S2.
CLIENTS = {"1": (50, 10, (2, 2)), "2": (80, 12, (5, 4)), "3": (120, 20, (4, 1))}


def test_each_task_and_each_server_once() -> None:
    """Task 1 can wait for 2 in S1 (5) or S2 (4), and for 3 in S1 (4) or S2 (1). Taking the longest first
    gives 5 + 1 = 6, which is not safe: 4 + 4 = 8 can happen. The lesser of the sums is 5 + 4 = 9.

    R1 = 14 + 8; R2 = 21 + 4 + 14; R3 = 25 + 2 * 14 + 21.
    """
    loads = [Load(n, -int(n), ms(t), ms(c + sum(s))) for n, (t, c, s) in CLIENTS.items()]
    expected = {"1": (8, 22), "2": (4, 39), "3": (0, 74)}
    for index, load in enumerate(loads):
        found = [
            RequestSection(other.name, f"S{server}", ms(length))
            for other in loads[index + 1 :]
            for server, length in enumerate(CLIENTS[other.name][2], 1)
        ]
        if load.name == "1":
            assert sums(found).within({}) == ms(9)
        waits = total(assign(found, {}))
        if found:
            assert Choosing(found, {}).chosen({"S1": 1, "S2": 1}, ()).bound == waits
        longest = response(load, [other for other in loads if other is not load], constant(waits))
        assert longest is not None
        assert (waits, longest.time) == tuple(map(ms, expected[load.name]))


def test_equals_are_interference_and_not_blocking() -> None:
    """Three tasks of one priority: t0 (period 4, C 1), t1 (8, 1 + a request to c0) and t2 (18, a request to
    c0), a request to c0 is 1 and one to c1, of 2.

    The second job of t0, released at 4, waits for two jobs of t1 and one of t2: 2 + 8 + 3 - 4 = 9. t1: 4 + 3
    + 3 = 10. t2: 3 + 4 + 8 = 15: when t2 is through with c0, t1 and t0 execute before its job has ended. With
    their sections as blocking, too, as in the paper: 29, 15 and 24.
    """
    tasks = (
        WorkloadTask("t0", 3, 4, 4, 1),
        WorkloadTask("t1", 3, 8, 8, 1, {"c0": 1}),
        WorkloadTask("t2", 3, 18, 18, 0, {"c0": 1}),
    )
    cpis = (WorkloadCpi("c0", INHERITED, 1, {"c1": 1}), WorkloadCpi("c1", INHERITED, 2))
    workload = Workload(tasks, cpis)
    found = with_equals(analyse(workload, FREE), workload)
    assert [each.response and each.response.time for each in found.tasks] == [9, 10, 15]
    assert [(each.blocking.least, each.with_equals) for each in found.tasks] == [(0, 6), (0, 3), (0, 3)]


def test_clients_of_one_server() -> None:
    """Table II of the paper on condition variables: two clients of 10 ms and a server of 4.5 ms; a third task
    requests nothing and is below both. R1 = 10 + 4.5 + 4.5; R2 = 10 + 4.5 + 0 + 14.5."""
    tasks = (
        WorkloadTask("client1", 90, ms(40), ms(40), ms(10), {"server": 1}),
        WorkloadTask("client2", 80, ms(50), ms(50), ms(10), {"server": 1}),
        WorkloadTask("annoyer", 70, ms(60), ms(60), ms(10)),
    )
    found = analyse(Workload(tasks, (WorkloadCpi("server", INHERITED, ms("4.5")),)), FREE)
    assert blocking_of(found)[:2] == [4.5, 0]
    assert response_of(found)[:2] == [19, 29]
    # were the lock's holder not raised, client 1 would wait for the annoyer too, as the paper measures


@pytest.mark.parametrize(("pool", "expected"), [(0, [120, 240]), (1, [137 + 15, 274])])
def test_a_pool(pool: int, expected: list[int]) -> None:
    """A request takes 10 + 10 of its own, and with a pool 9 + 8 of the manager; then the request of the lower
    task executes at the ceiling until the manager has set its priority: 6 + 9."""
    cost = InheritanceCost(acquire=9, release=8)
    machine = Platform("machine", plain=Halves(6, 4), propagated=Halves(6, 4), inherited=cost)
    tasks = tuple(WorkloadTask(name, p, 9999, 9999, 100, {"P": 1}) for name, p in (("a", 2), ("b", 1)))
    found = analyse(Workload(tasks, (WorkloadCpi("P", PROPAGATED, 10, pool=pool),)), machine)
    assert [each.response and each.response.time for each in found.tasks] == expected


#: The sample system of Lyons and Heiser, Table 1, from the highest priority: period, budget.
SAMPLE = {"T5": (10, 2), "T4": (20, 2), "T3": (25, 5), "T2": (40, 4), "T1": (60, 6)}


@pytest.mark.parametrize(
    ("order", "of_t4", "expected"),
    [
        # T3 = 5 + 2 + 2; T2 = 4 + 2 * 2 + 2 + 5; T1 = 6 + 3 * 2 + 2 * 2 + 5 + 4
        (("T5", "T4", "T3", "T2", "T1"), 2, (2, 4, 9, 15, 25)),
        # T4 = 7 + 2; T3 = 5 + 2 * 2 + 7; T2 = 4 + 2 * 2 + 7 + 5; T1 = 6 + 8 * 2 + 4 * 7 + 3 * 5 + 8
        (("T5", "T4", "T3", "T2", "T1"), 7, (2, 9, 16, 20, 73)),
        # after the switch T2 is above T3: T2 = 4 + 2 * 2 + 7; T3 = 5 + 2 * 2 + 7 + 4
        (("T5", "T4", "T2", "T3", "T1"), 7, (2, 9, 20, 15, 73)),
    ],
)
def test_sample_of_criticalities(order: Sequence[str], of_t4: int, expected: tuple[int, ...]) -> None:
    """Without an overrun, with T4 extended to 7, and with a switch of criticality; in the order T5 to T1."""
    loads = [
        Load(name, -order.index(name), SAMPLE[name][0], of_t4 if name == "T4" else SAMPLE[name][1])
        for name in SAMPLE
    ]
    found = [response(load, [other for other in loads if other is not load], constant(0)) for load in loads]
    assert tuple(each.time for each in found if each is not None) == expected


def test_a_busy_window_without_end_is_given_up() -> None:
    """At utilisation 1 with blocking no job of the lower task is early again: after so many steps there is no
    bound. Without the limit this would look at a million million jobs."""
    task = Load("b", 1, 1_000_003, 500_000)
    rest = Load("a", 2, 1_000_003 * 1_000_033, 500_003 * 1_000_033)
    assert isinstance(response(task, [rest], constant(10)), Unfinished)


DERIVED = {
    "sudvarg2024-intel": (10790, 8152, 7404, 10862, 10070, (10862, 17258, 23978, 30698), (18068, 25598)),
    "sudvarg2024-pi3": (7851, 3545, 4657, 7476, 7371, (7817, 11132, 14447, 17762), (12905, 17993)),
}


@pytest.mark.parametrize("name", DERIVED)
def test_overheads_of_table_2(name: str) -> None:
    platform = read_platform(name)
    propagated, fixed, plain, unlocked, locked, inherited_below, propagated_below = DERIVED[name]
    assert platform.overhead_cycles(PROPAGATED) == propagated
    assert platform.overhead_cycles(FIXED) == fixed
    assert platform.plain.both == plain
    assert platform.inherited.unlocked.both == unlocked
    assert platform.inherited.locked.both == locked
    for levels, cycles in enumerate(inherited_below):
        assert platform.overhead_cycles(INHERITED, (INHERITED,) * levels) == cycles
    for levels, cycles in enumerate(propagated_below, 1):
        assert platform.overhead_cycles(INHERITED, (PROPAGATED,) * levels) == cycles


def test_a_fixed_cpi_with_a_manager_costs_what_that_does() -> None:
    lock = InheritanceCost(acquire=100, release=20, queue=3, update=5000)
    platform = Platform("p", fixed=FixedCost(400, 300, waiting=50), inherited=lock)
    assert platform.overhead_cycles(FIXED) == 700
    assert platform.overhead_cycles(FIXED, waits=True) == 750
    assert platform.overhead_cycles(FIXED, managed=True, waits=True) == 823
    assert platform.blocking_cycles(FIXED, below_lock=True) == 0
    assert platform.blocking_cycles(FIXED, managed=True) == 5000


def test_requests_wait_in_the_kernel_where_tasks_take_turns() -> None:
    """At a `fixed` CPI at whose ceiling those of two tasks arrive, also through another CPI."""
    platform = Platform("p", fixed=FixedCost(400, 300, waiting=50))
    cpis = (
        WorkloadCpi("pass", PROPAGATED, 0, {"equals": 1}),
        WorkloadCpi("equals", FIXED, 0, {}, 2),
        WorkloadCpi("unequal", FIXED, 0, {}, 2),
        WorkloadCpi("managed", FIXED, 0, {}, 2, managed=True),
    )
    tasks = (
        WorkloadTask("a", 2, 10_000, 10_000, 0, {"pass": 1}),
        WorkloadTask("b", 2, 10_000, 10_000, 0, {"equals": 1, "unequal": 1, "managed": 1}),
        WorkloadTask("c", 1, 10_000, 10_000, 0, {"unequal": 1, "managed": 1}),
    )
    workload = Workload(tasks, cpis)
    assert workload.taking_turns == {"equals"}
    assert overheads_of(workload, platform) == {"pass": 0, "equals": 750, "unequal": 700, "managed": 700}


def test_a_fixed_cpi_with_a_manager_is_found_taken_by_tasks_of_its_ceiling() -> None:
    """Once when a job is released, and once after each request that waits for a lock; where two tasks have
    the priority of the ceiling, a budget can end, or a holder waits for a signal, by each request."""
    lock = InheritanceCost(acquire=100, release=20, queue=3)
    platform = Platform("p", fixed=FixedCost(400, 300), inherited=lock)
    cpis = (
        WorkloadCpi("c", FIXED, 0, {}, 3, managed=True),
        WorkloadCpi("lock", INHERITED, 0, {}, 0, managed=True),
        WorkloadCpi("wait", INHERITED, 0, {}, 0, wait=True),
    )
    tasks = (
        WorkloadTask("a", 3, 10_000, 10_000, 0, {"c": 5}),
        WorkloadTask("b", 2, 10_000, 10_000, 0, {"c": 5, "lock": 1}),
        WorkloadTask("d", 1, 10_000, 10_000, 0, {"lock": 1}),
    )

    def found(workload: Workload) -> tuple[Time, Mapping[str, Time]]:
        needed = demands(workload, platform).of_task
        return overheads_of(workload, platform)["c"], {name: each.taken for name, each in needed.items()}

    workload = Workload(tasks, cpis)
    assert found(workload) == (700, {"a": 123, "b": 0, "d": 0})
    waiting = replace(workload, tasks=(replace(tasks[0], requests={"c": 5, "lock": 1}), *tasks[1:]))
    assert found(waiting) == (700, {"a": 246, "b": 0, "d": 0})
    once = replace(workload, tasks=(replace(tasks[0], requests={"c": 1, "lock": 1}), *tasks[1:]))
    assert found(once) == (700, {"a": 123, "b": 0, "d": 0})
    alone = replace(workload, tasks=tasks[:1])
    assert found(alone) == (700, {"a": 0})
    often = (
        replace(workload, tasks=(tasks[0], replace(tasks[1], priority=3), tasks[2])),
        replace(workload, cpis=(replace(cpis[0], limited=True), *cpis[1:])),
        replace(workload, cpis=(replace(cpis[0], requests={"wait": 1}), *cpis[1:])),
    )
    assert [found(each) for each in often] == [(823, {"a": 0, "b": 0, "d": 0})] * 3
    bound = analyse(workload, platform).tasks[0].response
    assert bound is not None and bound.time == 5 * 700 + 123 + 700  # and a section of b


def test_a_release_can_make_a_request_end_later() -> None:
    """Of a lower task, to a `fixed` CPI that several request: once for it, and for each that follows it."""
    platform = Platform("p", fixed=FixedCost(400, 300, waiting=50), timer=TimerCost(100, 10))
    cpis = (WorkloadCpi("c", FIXED, 0, {}, 3),)
    tasks = (
        WorkloadTask("a", 2, 10_000, 10_000, 0, {"c": 1}),
        WorkloadTask("b", 3, 10_000, 10_000, 0, {"c": 1}, "a", timed=False),
        WorkloadTask("d", 1, 10_000, 10_000, 0, {"c": 1}, "b", timed=False),
    )
    workload = Workload(tasks, cpis)
    assert release_cost(workload, platform) == 100 + 10 + 3 * 50
    managed = replace(workload, cpis=(replace(cpis[0], managed=True),))
    assert release_cost(managed, platform) == 100 + 10
    one = replace(workload, tasks=(tasks[0],))
    assert release_cost(one, platform) == 100 + 10
