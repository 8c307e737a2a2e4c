# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Budgets, overrun policies and criticalities: figures of Lyons and Heiser 2016 ("It's Time", Table 1), and
bounds against a simulation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from camkes.analysis.assumptions import find_assumptions
from camkes.analysis.budgets import BudgetResult, budget_results
from camkes.analysis.criticality import late_tasks, level_results, switched_threads
from camkes.analysis.demand import Time
from camkes.analysis.platform import FREE, OverrunCost, Platform, TimerCost
from camkes.analysis.profiles import read_platform
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import workload_of
from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.system import System
from camkes.parser.files import read_meaning
from camkes.protocols import sketch
from camkes.protocols.plan import Plan
from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions
from camkes.showing import budgets as report
from tests.analysis.budget_reference import SimTask, by_deadline, by_weight, simulate, worst
from tests.examples import examples
from tests.golden import compare

pytestmark = pytest.mark.requirement("AN-5")

GOLDEN = Path(__file__).parent / "golden"
MS = 1_000_000

TASK = "component Task { control; requestor; }\n"


def planned(text: str, *, mcs: bool = True) -> tuple[System, Plan]:
    sink = Sink()
    main = Path("budgets.camkes")

    def read(path: Path, sink: Sink, span: Span | None) -> SourceFile | None:
        return SourceFile(path, text) if path == main else read_meaning(path, sink, span)

    system = load(main, LoadOptions(cpp=False, mcs=mcs, read=read), sink)
    assert system is not None, sink.diagnostics
    return system, sketch(system)[0]


def of_tasks(*tasks: SimTask) -> tuple[System, Plan]:
    """The system of a simulation, whose `demand` is the execution time; that of tasks that raise the
    criticality is their budget at 0."""
    lines = []
    for t in tasks:
        own = {"priority": t.priority, "criticality": t.criticality, "period": f"{t.period} ms"}
        own |= {"budget": f"{t.budget or t.period} ms", "wcet": f"{t.demand} ms"}
        if t.raises:
            own |= {"wcet": f"{t.budget} ms", "overrun": '"raise"'}
            own |= {"budget_1": f"{t.budget + t.more} ms", "wcet_1": f"{t.demand} ms"}
        elif t.more:
            own |= {"overrun": '"extend"', "extension": f"{t.more} ms", "extension_period": f"{t.period} ms"}
        lines += [f"{t.name}._{word} = {value};" for word, value in own.items()]
    instances = " ".join(f"component Task {task.name};" for task in tasks)
    body = f"composition {{ {instances} }} configuration {{ {' '.join(lines)} }}"
    return planned(f"{TASK}assembly {{ {body} }}")


def table_1(t4: int = 2, *, raises: bool = False, t2: int = 4, t1: int = 6) -> list[SimTask]:
    """The tasks of the table; T4 needs `t4` and has a budget of 2."""
    return [
        SimTask("t5", 6, 10, 2, 2, 1),
        SimTask("t4", 5, 20, t4, 2, 1, max(t4 - 2, 0), raises),
        SimTask("t3", 4, 25, 5, 5),
        SimTask("t2", 3, 40, t2, t2, 1),
        SimTask("t1", 2, 60, t1, t1),
    ]


def responses(results: tuple[BudgetResult, ...], *, trusted: bool = True) -> list[Time | None]:
    return [(each.trusted if trusted else each.isolated).response for each in results]


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (table_1(), [2, 4, 9, 15, 25]),
        (table_1(7), [2, 9, 16, 20, 73]),
        (table_1(7, raises=True), [2, 9, 20, 15, 73]),
    ],
    ids=["no overrun", "extend", "switch"],
)
def test_table_1(tasks: list[SimTask], expected: list[int]) -> None:
    simulate(tasks, 600)
    assert list(worst(tasks).values()) == expected
    if tasks[1].demand > 2:
        assert [sum(r > 60 for r in task.responses) for task in tasks] == [0, 0, 0, 0, 2]
        assert len(tasks[4].responses) == 10


def test_bounds_of_table_1() -> None:
    assert responses(budget_results(*of_tasks(*table_1()), FREE)) == [r * MS for r in (2, 4, 9, 15, 25)]
    # what an extension adds keeps others waiting, as long as in the simulation; the task itself has no bound
    of_others = [2 * MS, None, *(r * MS for r in (16, 20, 73))]
    assert responses(budget_results(*of_tasks(*table_1(7)), FREE)) == of_others
    raised = level_results(*of_tasks(*table_1(7, raises=True)), FREE)
    found = {(each.task.name, each.level): (each.smc, each.amc, each.ours) for each in raised}
    assert [found[name, 0][2] for name in ("t5", "t4", "t3", "t2", "t1")] == [
        r * MS for r in (2, 4, 9, 15, 25)
    ]
    assert [found[name, 1] for name in ("t5", "t4", "t2")] == [(r * MS,) * 3 for r in (2, 9, 20)]
    assert ("t3", 1) not in found


def test_a_switch_decides() -> None:
    without = table_1(7, t2=13, t1=1)
    simulate(without, 600)
    assert without[3].responses[0] == 70
    schedule = simulate(table_1(7, raises=True, t2=13, t1=1), 40)
    expected = "t5 0 2, t4 2 9, t2 9 10, t5 10 12, t2 12 20, t5 20 22, t4 22 29, t2 29 30, t5 30 32, t2 32 35"
    expected += ", t3 35 40"
    assert ", ".join(f"{name} {start} {end}" for name, start, end in schedule) == expected
    # no bound is below; AMC-rtb lets T3 release a second job before the criticality rises, and finds none
    assert budget_results(*of_tasks(*without), FREE)[3].trusted.reason == "overload"
    levels = level_results(*of_tasks(*table_1(7, raises=True, t2=13, t1=1)), FREE)
    t2 = {each.level: each for each in levels if each.task.name == "t2"}
    assert t2[0].ours == 35 * MS and t2[1].ours is None


def test_other_orders() -> None:
    """Schedulers at user level: earliest deadline first, and shares by weight."""
    tasks = [SimTask("a", 2, 5, 2), SimTask("b", 1, 7, 4)]
    simulate(tasks, 35)
    assert worst(tasks)["b"] == 8 and sum(response > 7 for response in tasks[1].responses) == 1
    tasks = [SimTask("a", 2, 5, 2), SimTask("b", 1, 7, 4)]
    simulate(tasks, 35, by_deadline)
    assert worst(tasks) == {"a": 4, "b": 6}
    tasks = [SimTask(name, 1, 1 << 20, 1 << 20, weight=w) for name, w in (("a", 1), ("b", 2), ("c", 3))]
    simulate(tasks, 10_000, by_weight)
    assert [task.consumed for task in tasks] == [1667, 3333, 5000]


TASKS = st.lists(
    st.tuples(st.sampled_from([4, 5, 8, 10, 20]), st.integers(1, 4), st.integers(0, 3), st.integers(0, 1)),
    min_size=1,
    max_size=5,
)


@pytest.mark.long
@given(drawn=TASKS, kind=st.sampled_from(["wait", "extend", "raise", "greedy"]))
@example(drawn=[(4, 3, 0, 0), (5, 1, 1, 1)], kind="raise")  # the budget ends when the other is released
@examples(60)
def test_bounds_are_not_exceeded(drawn: list[tuple[int, int, int, int]], kind: str) -> None:
    """Of tasks that use their budgets, extensions and raised budgets to the full; greedy ones want more than
    they have, and cannot be trusted."""
    tasks = []
    for index, (period, budget, more, level) in enumerate(drawn):
        raises = kind == "raise" and level == 1 and more > 0
        extra = min(more, period - budget) if raises or kind == "extend" else 0
        demand = budget + extra
        name, priority = f"t{index}", 50 - index
        tasks.append(SimTask(name, priority, period, demand, budget, level, extra, raises and extra > 0))
    system = of_tasks(*tasks)
    results = {each.task.name: each for each in budget_results(*system, FREE)}
    levels = {(each.task.name, each.level): each.ours for each in level_results(*system, FREE)}
    if kind == "greedy":
        for task in tasks[:-1]:
            task.demand = task.left = 3 * task.budget
    simulate(tasks, 400)
    for task in tasks:
        if kind == "raise":
            # with a job in which the criticality rises or not
            bounds = [levels.get((task.name, level)) for level in range(task.criticality + 1)]
            if any(each.raises for each in tasks) and (task.criticality == 0 or None in bounds):
                continue
            bound: Time | None = max((b for b in bounds if b is not None), default=None)
        elif kind == "greedy":
            bound = results[task.name].isolated.response if task is tasks[-1] else None
        else:
            bound = results[task.name].trusted.response
        if bound is not None:
            assert max(task.responses, default=0) * MS <= bound


LOCK = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component Task { control; requestor; }
component Store { provides Access p with priority_protocol inherited; }
assembly {
    composition {
        component User l; component User h; component Task m; component Store store;
        connection seL4RPCCall c(from l.p, from h.p, to store.p);
    }
    configuration {
        l._priority = 10; l._period = 20 ms; l._budget = 3 ms; l._wcet = 0;
        h._priority = 30; h._period = 50 ms; h._budget = %d ms; h._wcet = 0;
        m._priority = 20; m._period = 50 ms; m._wcet = 8 ms; m._budget = 10 ms;
        store.p_wcet = %d ms; %s
    }
}
"""


@pytest.mark.parametrize(
    ("policy", "budget", "h", "least"),
    [
        # 6 of L's request, twice 17 until there is a budget again, and 6 of its own
        ("", 20, 46, 22),
        ('store.p_overrun = "help";', 24, 12, 5),
        ('store.p_overrun = "help";', 20, 18, 5),
        ('store.p_overrun = "extend"; store.p_extension = 6 ms;', 20, 46, 5),
        ('store.p_overrun = "abort"; store.p_extension = 1 ms;', 20, 22, 2),
        ('store.p_overrun = "help";', 8, None, 20),
    ],
)
def test_policies_of_a_lock(policy: str, budget: int, h: int | None, least: int) -> None:
    """`least` is the response in a run in which L's request takes 6 ms and H's 1 ms."""
    results = {each.task.name: each for each in budget_results(*planned(LOCK % (budget, 6, policy)), FREE)}
    found = results["h"].isolated
    assert found.response == (None if h is None else h * MS)
    assert h is None or h >= least
    assert (found.reason == "its budget is too short for itself and to help") == (h is None)
    assert results["l"].trusted.reason == "its budget is too short"


@pytest.mark.parametrize(("extension", "period", "h"), [(14, 20, 2), (13, 20, 19), (14, 21, 19)])
def test_an_extension_has_to_last_for_all_overruns_of_its_period(extension: int, period: int, h: int) -> None:
    """Both callers have seven parts of a budget, each of which can end in a request of 1 ms; else L waits."""
    policy = f'store.p_overrun = "extend"; store.p_extension = {extension} ms;'
    policy += f" store.p_extension_period = {period} ms;"
    results = budget_results(*planned(LOCK % (20, 1, policy)), FREE)
    assert next(each for each in results if each.task.name == "h").isolated.response == h * MS


@pytest.mark.long
def test_threads_of_a_switch() -> None:
    """60 tasks, 32, 16, 8 and 4 of criticalities 0 to 3."""
    tasks = [
        SimTask(f"t{i}", i + 1, 1000, 1, 1, level)
        for i, level in enumerate([0] * 32 + [1] * 16 + [2] * 8 + [3] * 4)
    ]
    system, plan = of_tasks(*tasks)
    criticality = {task.instance: task.criticality for task in system.tasks}
    assert [switched_threads(plan, criticality, level) for level in (3, 2, 1)] == [4, 12, 28]
    costs = level_results(system, plan, Platform("dear", raised=1000))
    free = level_results(system, plan, FREE)
    added = {
        each.level: each.ours - other.ours
        for each, other in zip(costs, free, strict=True)
        if each.ours is not None and other.ours is not None and each.task.name == "t59"
    }
    assert added == {0: 0, 1: 28_000, 2: 40_000, 3: 44_000}


def test_tables() -> None:
    system = of_tasks(*table_1(7, raises=True))
    results = budget_results(*system, FREE), level_results(*system, FREE)
    met = dict.fromkeys((each.task.name for each in results[0]), "met")
    compare(f"{report.to_text(*results, met)}\n", GOLDEN / "budgets.txt")
    for width in (80, 60):
        assert all(len(line) <= width for line in report.to_text(*results, met, width=width).splitlines())
    budgets = to_builtins(report.budget_bounds(results[0]))
    assert budgets[2] | {"response_reason": "", "isolated_reason": ""} == {
        "name": "t3",
        "wcet": 5 * MS,
        "budget": 5 * MS,
        "period": 25 * MS,
        "overrun": "wait",
        "response": 9 * MS,
        "response_reason": "",
        "isolated": None,
        "isolated_reason": "",
    }
    assert to_builtins(report.criticality_bounds(results[1]))[3] == {
        "name": "t4",
        "criticality": 1,
        "smc": 9 * MS,
        "amc_rtb": 9 * MS,
        "response": 9 * MS,
    }
    assert not late_tasks(*results)
    assert late_tasks(budget_results(*of_tasks(*table_1(7)), FREE), ()) == {"t1", "t4"}


def test_less_critical_tasks_release_jobs_until_the_criticality_rises() -> None:
    """20, one job of the other task, and none after 3; SMC counts seven."""
    low = SimTask("low", 2, 4, 1, 1)
    high = SimTask("high", 1, 40, 20, 2, 1, 18, True)
    found = {
        (e.task.name, e.level): (e.smc, e.amc, e.ours) for e in level_results(*of_tasks(low, high), FREE)
    }
    assert found["high", 0] == (3 * MS,) * 3
    assert found["high", 1] == (27 * MS, 21 * MS, 21 * MS)


def test_tasks_that_are_not_trusted_request_any_number_of_times() -> None:
    """Each request of `x` lets one more of three lower tasks be ahead; in its execution time it makes one."""
    users = {"x": 50, "h": 40, "a": 3, "b": 2, "c": 1}
    instances = " ".join(f"component User {name};" for name in users)
    ends = ", ".join(f"from {name}.p" for name in users)
    lines = [f"{n}._priority = {p}; {n}._period = 100 ms; {n}._wcet = 0;" for n, p in users.items()]
    text = LOCK.partition("assembly")[0] + (
        f"assembly {{ composition {{ {instances} component Store store;"
        f" connection seL4RPCCall l({ends}, to store.p); }}"
        f" configuration {{ {' '.join(lines)} x._budget = 12 ms; store.p_wcet = 6 ms;"
        ' store.p_overrun = "abort"; store.p_extension = 1 ms; } }'
    )
    found = next(each for each in budget_results(*planned(text), FREE) if each.task.name == "h")
    # 6 of its own and of x; two requests of others
    assert found.trusted.response == 24 * MS
    assert found.isolated.reason == "requests of x can wait to be rolled back, in a lock"
    # its budget in place of the 6, and all three
    found = next(
        each
        for each in budget_results(*planned(text.replace("store.p_extension = 1 ms;", "")), FREE)
        if each.task.name == "h"
    )
    assert found.isolated.response == (6 + 12 + 3 * 6) * MS


@pytest.mark.parametrize(
    ("protocol", "policy"),
    [
        ("inherited", ""),
        ("fixed", ""),
        ("inherited", 'store.p_overrun = "help";'),
        ("inherited", 'store.p_overrun = "abort"; store.p_extension = 1 ms;'),
        (
            "inherited",
            'store.p_overrun = "extend"; store.p_extension = 30 ms; store.p_extension_period = 50 ms;'
            " h._refills = 5;",
        ),
    ],
)
def test_a_task_above_can_be_without_a_budget_in_a_lock(protocol: str, policy: str) -> None:
    """h has 2 of 6 ms. m requests the same lock; l does not, and finds both later than they came."""
    text = (
        LOCK.replace("component Task m;", "component User m;")
        .replace("component User l;", "component Task l;")
        .replace("from l.p,", "from m.p,")
        .replace("priority_protocol inherited", f"priority_protocol {protocol}")
        .replace("m._budget = 10 ms", "m._budget = 50 ms")
    )
    found = {each.task.name: each.trusted for each in budget_results(*planned(text % (2, 6, policy)), FREE)}
    for name in ("l", "m"):
        if "abort" in policy:
            assert found[name].reason == "requests of h can wait to be rolled back, in a lock"
        elif "extend" in policy:
            assert found[name].response is not None
        else:
            assert found[name].reason == "h can be without a budget in a lock"


TWO_USERS = """component User { control; requestor; uses Access p; }
component Both { control; requestor; uses Access p; uses Access q; }"""


def test_a_lower_task_without_a_budget_can_come_to_a_lock_again() -> None:
    """Each of two requests of h can wait for l: 6 ms of its request, and twice 17 until it has a budget."""
    text = LOCK.replace("component User { control; requestor; uses Access p; }", TWO_USERS)
    text = text.replace("component User h;", "component Both h;").replace("from h.p,", "from h.p, from h.q,")
    text = text.replace("h._period = 50 ms", "h._period = 200 ms")
    found = {each.task.name: each for each in budget_results(*planned(text % (50, 6, "")), FREE)}
    assert found["h"].trusted.response == (12 + 2 * 40) * MS


CHAIN = """
import <std_connector.camkes>;
component First { control; requestor; emits Go go; }
component Second { control; requestor; consumes Go go; }
component Task { control; requestor; }
assembly {
    composition {
        component First first; component Second second; component Task task;
        connection seL4NotificationNative c(from first.go, to second.go);
    }
    configuration {
        first._priority = 10; first._period = 20 ms; first._wcet = 1 ms;
        second._priority = 30; second._release = "go"; second._wcet = 4 ms;
        task._priority = 20; task._period = 40 ms; task._wcet = 6 ms;
        %s
    }
}
"""


def bounds_of_chain(settings: str, platform: Platform = FREE) -> dict[str, BudgetResult]:
    return {each.task.name: each for each in budget_results(*planned(CHAIN % settings), platform)}


def test_releases_by_events_can_be_late() -> None:
    """`first` ends up to 1 + 4 + 6 after its release, so in 14 + 11 there are two jobs of `second`."""
    found = bounds_of_chain("")
    assert {name: each.trusted.response for name, each in found.items()} == {
        "second": 4 * MS,
        "task": 14 * MS,
        "first": 15 * MS,
    }
    assert {name for name, each in found.items() if each.isolated.response is None} == {*found}


def test_a_job_can_come_before_its_budget() -> None:
    """Two jobs of `second` can be 9 ms apart: one 11 ms late, and the next one in time. It has 4 ms in 20, so
    `first` waits for it once."""
    found = bounds_of_chain("second._period = 20 ms; second._budget = 4 ms;")
    assert {name: each.trusted.response for name, each in found.items()} == {
        "second": 15 * MS,
        "task": 10 * MS,
        "first": 11 * MS,
    }


@pytest.mark.parametrize(("budget", "reason"), [(7, True), (8, False)])
def test_a_job_that_comes_before_its_budget_can_be_stopped(budget: int, reason: bool) -> None:
    found = bounds_of_chain(
        f'second._period = 20 ms; second._budget = {budget} ms; second._overrun = "stop";'
    )
    expected = "its budget can end before the job, which is then stopped" if reason else ""
    assert found["second"].trusted.reason == expected


def test_the_periods_of_a_server_do_not_begin_with_the_jobs() -> None:
    """A job of 6 ms that has 20 in 40 of constant bandwidth may wait for 20, and for four jobs of `second`:
    two jobs of it delay `first`, which ends 1 + 12 + 2 * 4 after its release. If it has 6, each may come 34
    late."""
    for budget, bound in ((20, 6 + 20 + 4 * 4), (6, None)):
        for server, expected in (("sporadic", 14), ("constant_bandwidth", bound)):
            found = bounds_of_chain(f'task._budget = {budget} ms; task._server = "{server}";')
            assert found["task"].trusted.response == (None if expected is None else expected * MS)


@pytest.mark.parametrize("release", [0, 1000, 300_000])
def test_without_budgets_responses_are_not_shorter_than_those_of_the_analysis(release: int) -> None:
    """Longer ones are of tasks that events release: budgets may let several of their jobs come together."""
    platform = Platform("timers", timer=TimerCost(release))
    system, plan = planned(CHAIN % "")
    expected = analyse(workload_of(system, plan), platform).tasks
    for one, two in zip(expected, budget_results(system, plan, platform), strict=True):
        assert one.response is not None and two.trusted.response is not None
        assert one.response.time <= two.trusted.response


def test_a_task_that_may_be_released_at_any_time() -> None:
    """`first` has no bound, as its budget is shorter than its job: `task` can find any number of events."""
    found = bounds_of_chain(
        "first._budget = 500 us; task._budget = 6 ms; second._budget = 4 ms; second._period = 20 ms;"
    )
    reason = "it is not known how late events release jobs"
    assert {name: each.trusted.reason for name, each in found.items()} == {
        "second": reason,
        "task": reason,
        "first": "its budget is too short",
    }
    assert found["second"].isolated.reason == "other tasks release it"
    assert found["task"].isolated.response == 10 * MS


def test_criticalities_with_releases_by_events() -> None:
    raising = 'task._criticality = 1; task._budget = 7 ms; task._overrun = "raise"; task._budget_1 = 9 ms;'
    levels = level_results(*planned(CHAIN % raising), FREE)
    assert {(e.smc, e.amc, e.ours) for e in levels} == {(None,) * 3}


def test_a_job_without_work_waits_for_those_above() -> None:
    tasks = of_tasks(SimTask("high", 2, 40, 20, 2, 1, 18, True), SimTask("low", 1, 40, 0, 1, 1))
    found = {(e.task.name, e.level): (e.smc, e.amc, e.ours) for e in level_results(*tasks, FREE)}
    assert found["low", 0] == (2 * MS,) * 3
    assert found["low", 1] == (20 * MS,) * 3


def of_deadline(deadline: int, period: int) -> tuple[System, Plan]:
    """`low`, of a criticality, and `high` need 4 each."""
    system, plan = of_tasks(SimTask("high", 2, 20, 4), SimTask("low", 1, period, 4, 4, 1))
    return replace(system, tasks=tuple(replace(t, deadline=deadline * MS) for t in system.tasks)), plan


@pytest.mark.parametrize(("deadline", "period", "bound"), [(7, 20, None), (8, 20, 8 * MS), (20, 7, None)])
def test_bounds_at_a_criticality_end_with_the_deadline_or_the_period(
    deadline: int, period: int, bound: Time | None
) -> None:
    """4 + 4. With a period of 7 there is another job by then, which ends later."""
    levels = level_results(*of_deadline(deadline, period), FREE)
    assert {(e.smc, e.amc, e.ours) for e in levels if e.task.name == "low"} == {(bound,) * 3}


def test_releases_by_timers_cost_at_each_criticality() -> None:
    """Two timers, 1 ms each, interrupt a job of 2 ms, or of 20."""
    tasks = of_tasks(SimTask("high", 2, 40, 20, 2, 1, 18, True), SimTask("low", 1, 40, 0, 1, 1))
    levels = level_results(*tasks, Platform("timers", timer=TimerCost(MS)))
    assert {(e.task.name, e.level): e.amc for e in levels} == {
        ("high", 0): 4 * MS,
        ("high", 1): 22 * MS,
        ("low", 0): 4 * MS,
        ("low", 1): 22 * MS,
    }
    waiting = level_results(*tasks, Platform("timers", timer=TimerCost(MS, uninterrupted=MS)))
    for each, before in zip(waiting, levels, strict=True):
        for now, then in zip(
            (each.smc, each.amc, each.ours), (before.smc, before.amc, before.ours), strict=True
        ):
            assert now is not None and then is not None and now - then == MS


def test_ends_of_budgets_are_an_assumption_where_operations_have_costs() -> None:
    """Of tasks whose budgets can end, with a profile that does not have it; and a change of the criticality,
    where that is not stated."""

    def found(platform: Platform, more: str = "") -> list[str]:
        system, plan = planned(
            f"""component T {{ control; requestor; }}
            assembly {{
                composition {{ component T all; component T some; }}
                configuration {{
                    all._priority = 10; all._period = 10 ms; all._wcet = 1 ms;
                    some._priority = 20; some._period = 10 ms; some._budget = 2 ms; some._wcet = 1 ms; {more}
                }}
            }}"""
        )
        return [each.text for each in find_assumptions(system, plan, platform=platform, unread={})]

    profile = read_platform("qemu-x86_64-mcs")
    without = replace(profile, overrun=OverrunCost())
    assert found(without) == ["the fault where the budget of `some` ends, and its handling, take no time"]
    assert found(profile) == found(FREE) == []
    raises = 'some._criticality = 1; some._overrun = "raise";'
    change = "the change of the criticality where the budget of `some` ends takes no time"
    assert found(profile, raises) == [change] and not found(replace(profile, raised=1), raises)


def ends_cost(text: str, task: str, **cycles: int) -> tuple[Time | None, Time | None]:
    """How much longer the response of a task is, and the isolated one, with costs of ends of budgets."""
    system, plan = planned(text)

    def found(platform: Platform) -> tuple[Time | None, Time | None]:
        result = next(e for e in budget_results(system, plan, platform) if e.task.name == task)
        return result.trusted.response, result.isolated.response

    with_costs, without = found(Platform("p", overrun=OverrunCost(**cycles))), found(Platform("p"))
    longer = [None if x is None or y is None else x - y for x, y in zip(with_costs, without, strict=True)]
    return longer[0], longer[1]


ENDING = (
    "import <std_connector.camkes>;"
    + TASK.replace("{", "{{").replace("}", "}}")
    + """procedure P {{ void go(); }}
component Asking {{ control; requestor; uses P p; }}
component Server {{ provides P p with priority_protocol {protocol}, overrun {policy}; }}
assembly {{
    composition {{
        component Task high; component Asking middle; component Asking low; component Server server;
        connection seL4RPCCall n(from middle.p, from low.p, to server.p);
    }}
    configuration {{
        high._priority = 30;   high._period = 20 ms;   high._wcet = 1 ms;   high._budget = 3 ms;
        middle._priority = 20; middle._period = 40 ms; middle._wcet = 2 ms; middle._budget = 12 ms;
        low._priority = 10;    low._period = 80 ms;    low._wcet = 2 ms;    low._budget = 5 ms;
        server.p_wcet = 1 ms;  server.p_extension = 1 ms; server.p_extension_period = 40 ms; {more}
    }}
}}"""
)


def test_ends_of_budgets_cost_those_below_and_at_the_same_priority() -> None:
    """All that can end in the window: five parts of the budget of `high`, each with its handler. Where all
    keep their times, none ends, but that of a server of constant bandwidth does: two parts."""
    text = ENDING.format(protocol="propagated", policy="wait", more="")
    costs = {"wait": 10, "job_stop": 100, "abort": 1000}
    # in the isolated response, that of `low` is there again, once, and the kernel was at work on one
    assert ends_cost(text, "middle", **costs) == (0, 5 * 10 + 10 + 10)
    constant = 'high._server = "constant_bandwidth";'
    text = ENDING.format(protocol="propagated", policy="wait", more=constant)
    assert ends_cost(text, "middle", **costs) == (2 * 10, 2 * 10 + 10 + 10)
    text = ENDING.format(protocol="propagated", policy="wait", more=f'{constant} high._overrun = "stop";')
    assert ends_cost(text, "middle", **costs) == (2 * 100, 2 * 100 + 10 + 10)


def test_what_began_where_the_budget_of_a_lower_task_ended() -> None:
    """A manager at a ceiling is at work when `middle` is released; it is not above `high`, which makes no
    requests. In a request that `middle` waits for, the budget ends as often as it has parts, and the
    extension; both are there again once."""
    costs = {"wait": 10, "abort": 1000}
    text = ENDING.format(protocol="propagated", policy="abort", more="")
    assert ends_cost(text, "middle", **costs) == (0, 5 * 10 + 10 + 10 + 1000)
    assert ends_cost(text, "high", **costs) == (0, 3 * 10)
    text = ENDING.format(protocol="inherited", policy="abort", more="")
    parts = 7 + 2
    assert ends_cost(text, "middle", **costs) == (10 + 10 + 1000 + parts * 1000, None)
