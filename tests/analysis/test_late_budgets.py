# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Budgets whose parts come back late: after a wait, with constant bandwidth, or in a request."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from camkes.analysis.budgets import budget_results
from camkes.analysis.criticality import level_results
from camkes.analysis.platform import FREE
from camkes.model.overrun import ServerKind
from tests.analysis.budget_reference import SimTask
from tests.analysis.test_budgets import LOCK, MS, of_tasks, planned

pytestmark = pytest.mark.requirement("AN-5")

LATE_LOCK = "it can be without a budget, which has no time to spare, when it comes to a lock"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ('h._overrun = "stop";', "its budget can end before the job, which is then stopped"),
        ('store.p_overrun = "suspend";', "its budget can end in a request, and then it is suspended"),
        ('h._overrun = "stop"; h._budget = 12 ms;', ""),
        ('h._overrun = "extend"; h._extension = 8 ms; h._budget = 4 ms;', "its budget is too short"),
        ('h._overrun = "extend"; h._extension = 8 ms; h._budget = 15 ms; store.p_overrun = "abort";', ""),
        ('store.p_overrun = "abort"; h._refills = 2; h._budget = 6 ms;', LATE_LOCK),
    ],
)
def test_a_budget_that_comes_back_in_parts_can_end_in_a_job(settings: str, reason: str) -> None:
    """h has 7 ms for its request of 6, and can have to wait for a lock: what it uses then is back late. While
    it waits for it in the next job, lower tasks can come to the lock, and so on."""
    text = LOCK.replace("h._budget = %d ms;", "" if "_budget" in settings else "h._budget = 7 ms;")
    found = {each.task.name: each.trusted for each in budget_results(*planned(text % (6, settings)), FREE)}
    assert found["h"].reason == reason


RAISING = """
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component Store { provides Access p with priority_protocol propagated, overrun %s; }
import <std_connector.camkes>;
assembly {
    composition {
        component User t; component User low; component Store store;
        connection seL4RPCCall c(from t.p, from low.p, to store.p);
    }
    configuration {
        t._priority = 20; t._period = 100 ms; t._criticality = 1; t._overrun = "raise";
        t._budget = 3 ms; t._budget_1 = 10 ms; t._wcet = 2 ms; t._wcet_1 = 9 ms;
        low._priority = 10; low._period = 400 ms; low._wcet = 40 ms; low._criticality = 1;
        store.p_wcet = 1 ms; %s
    }
}
"""


@pytest.mark.parametrize(
    ("policy", "more", "t", "low"),
    [
        ("abort", "", 10, 41 + 10),
        # roll-backs of two jobs can be 100 - 12 apart
        ("abort", "store.p_extension = 2 ms; store.p_extension_period = 88 ms;", 10 + 2, 41 + 10 + 2),
        ("abort", "store.p_extension = 2 ms; store.p_extension_period = 89 ms;", None, 41 + 3 + 10 + 2),
        ("wait", "", None, 41 + 3 + 10),
        ("extend", "store.p_extension = 15 ms; store.p_extension_period = 100 ms;", 10, 41 + 10 + 15),
    ],
)
def test_an_overrun_in_a_request_raises_the_criticality_late(
    policy: str, more: str, t: int | None, low: int
) -> None:
    """With `wait`, when there is a budget again, 97 ms later; two jobs can then follow each other, with both
    budgets."""
    levels = level_results(*planned(RAISING % (policy, more)), FREE)
    found = {e.task.name: e.ours for e in levels if e.level}
    assert found == {"t": None if t is None else t * MS, "low": low * MS}


def test_a_server_of_constant_bandwidth_can_be_late_at_each_criticality() -> None:
    """`high` of its 2 in 40 ms waits up to 38. Two jobs of it can come close to each other, and have 2."""
    system = of_tasks(SimTask("high", 2, 40, 2, 2, 1), SimTask("low", 1, 80, 3, 0, 1))
    text = [(e.task.name, e.ours) for e in level_results(*system, FREE) if e.level]
    assert text == [("high", 2 * MS), ("low", 5 * MS)]
    plan = system[1]
    servers = {task.name: task.time for task in plan.tasks if task.time is not None}
    constant = replace(servers["high"], server=ServerKind.CONSTANT_BANDWIDTH)
    tasks = tuple(replace(t, time=constant) if t.name == "high" else t for t in plan.tasks)
    found = level_results(system[0], replace(plan, tasks=tasks), FREE)
    assert [(e.task.name, e.ours) for e in found if e.level] == [("high", 40 * MS), ("low", 5 * MS)]


@pytest.mark.parametrize(
    ("budgets", "server", "response"),
    [
        ((3, 10), "constant_bandwidth", None),
        ((10, 11), "constant_bandwidth", 100),
        ((10, 100), "constant_bandwidth", 100),
        ((10, 100), "sporadic", 10),
        ((3, 100), "sporadic", None),
    ],
)
def test_a_budget_is_late_before_the_criticality_rises(
    budgets: tuple[int, int], server: str, response: int | None
) -> None:
    """A job that needs 10 in 100 waits as long as the lower of its budgets lasts, and not the larger one."""
    times = f't._budget = {budgets[0]} ms; t._budget_1 = {budgets[1]} ms; t._server = "{server}";'
    text = RAISING.replace("t._budget = 3 ms; t._budget_1 = 10 ms;", times)
    found = {e.task.name: e.ours for e in level_results(*planned(text % ("wait", "")), FREE) if e.level}
    assert found["t"] == (None if response is None else response * MS)


@pytest.mark.parametrize(("budget", "again"), [(12, 1), (11, 2), (9, 2), (8, 3), (7, 6)])
def test_what_delays_a_job_counts_anew_where_its_budget_is_short(budget: int, again: int) -> None:
    """h needs 6: with 9, 3 are to spare, so it can wait for parts of its budget once more, with 7 five times
    more. The request of l, 6, counts as often, and m, above it, which needs 1 in 50."""
    text = LOCK.replace("m._priority = 20", "m._priority = 40").replace("m._wcet = 8 ms", "m._wcet = 1 ms")
    policy = 'store.p_overrun = "abort"; h._period = 200 ms;'
    results = budget_results(*planned((text % (budget, 6, policy)).replace("h._period = 50 ms;", "")), FREE)
    found = {each.task.name: each.trusted for each in results}
    assert found["h"].response == (6 + again * (6 + (1 if 6 + again * 7 <= 50 else 2))) * MS


def test_a_budget_that_suffices_at_the_criticality_raises_nothing() -> None:
    text = RAISING.replace(
        "t._budget = 3 ms; t._budget_1 = 10 ms;", "t._budget = 10 ms; t._budget_1 = 11 ms;"
    )
    levels = level_results(*planned(text % ("wait", "")), FREE)
    assert {e.task.name: e.ours for e in levels if e.level} == {"t": 10 * MS, "low": 51 * MS}


#: `v` raises the criticality to 1, and the time manager then waits for the manager of the server, which is
#: below `v`; `z` raises it to 2
RAISED_TWICE = """
import <std_connector.camkes>;
procedure Access { void use(); };
component Worker { control; requestor; }
component User { control; requestor; uses Access s; }
component Server { provides Access s with priority_protocol inherited, overrun help; }
assembly {
    composition {
        component Worker z; component User n; component Worker v; component User w; component Server server;
        connection seL4RPCCall c(from w.s, from n.s, to server.s);
    }
    configuration {
        z._priority = 40; z._period = 100 ms; z._wcet = 2 ms; z._wcet_2 = 4 ms; z._criticality = 2;
        z._budget = 2 ms; z._budget_2 = 4 ms; z._overrun = "raise";
        n._priority = 35; n._period = 100 ms; n._wcet = 0;
        v._priority = %d; v._period = 50 ms; v._wcet = 1 ms; v._wcet_1 = 5 ms; v._criticality = 1;
        v._budget = 1 ms; v._budget_1 = 5 ms; v._overrun = "raise"; v._degraded = "suspend";
        w._priority = 20; w._period = 80 ms; w._wcet = 0; w._criticality = 1; server.s_wcet = 3 ms;
    }
}
"""


@pytest.mark.parametrize(
    ("priority", "deadline", "bound"),
    [(30, 50, 4 + 2 * 5 + 2 * 3), (10, 50, 4 + 2 * 3), (30, 1, 4 + 2 * 6 + 1 + 2 * 3)],
)
def test_a_raise_waits_for_an_earlier_one(priority: int, deadline: int, bound: int) -> None:
    """Jobs of `w` and, where it is above the server's manager, `v`: one before that of `z`, one after. If `v`
    can miss its deadline, it may use its budget of 6, and in the period of the switch that of 1 as well."""
    text = (RAISED_TWICE % priority).replace("v._wcet =", f"v._deadline = {deadline} ms; v._wcet =")
    levels = level_results(*planned(text.replace("v._budget_1 = 5 ms", "v._budget_1 = 6 ms")), FREE)
    assert {e.level: e.ours for e in levels if e.task.name == "z"} == {0: 2 * MS, 1: 2 * MS, 2: bound * MS}


#: With 5 of `above`, the jobs of `task` can end after their next releases: without a budget then.
AFTER = """
import <std_connector.camkes>;
procedure Access { void use(); };
component Worker { control; requestor; }
component User { control; requestor; uses Access s; }
component Server { provides Access s with priority_protocol propagated, overrun %s; }
assembly {
    composition {
        component Worker above; component User task; component Worker low; component Server server;
        connection seL4RPCCall c(from task.s, to server.s);
    }
    configuration {
        above._priority = 20; above._period = 12 ms; above._wcet = %d ms;
        task._priority = 10; task._period = 4 ms; task._deadline = 40 ms; task._budget = 1 ms; task._wcet = 0;
        low._priority = 5; low._period = 90 ms; low._wcet = 1 ms;
        server.s_wcet = 1 ms; server.s_extension = 1 ms; server.s_extension_period = 12 ms;
    }
}
"""
ROLLED_BACK = "its budget can end in a request that waits to be rolled back"
SUSPENDED = "its budget can end in a request, and then it is suspended"


@pytest.mark.parametrize(
    ("policy", "above", "task", "low"),
    [
        # once, and 1; once, and once of each, 1
        *((policy, 2, 2 + 1, 2 + 1 + 1) for policy in ("wait", "abort", "suspend")),
        ("wait", 5, 5 + 1, 5 + 2 + 1),
        # and the roll-back, at the priority of `task`; two are less than the extension's period apart
        ("abort", 5, ROLLED_BACK, 5 + 3 + 1 + 1),
        ("suspend", 5, SUSPENDED, 5 + 3 + 1 + 1),
    ],
)
def test_jobs_that_end_after_the_next_release_can_be_without_a_budget(
    policy: str, above: int, task: int | str, low: int
) -> None:
    found = {e.task.name: e.trusted for e in budget_results(*planned(AFTER % (policy, above)), FREE)}
    assert (found["task"].response or 0) // MS == (0 if isinstance(task, str) else task)
    assert found["task"].reason == (task if isinstance(task, str) else "")
    assert found["low"].response == low * MS


def test_jobs_without_work_are_not_late() -> None:
    text = AFTER.replace("server.s_wcet = 1 ms", "server.s_wcet = 0") % ("suspend", 0)
    found = {e.task.name: e.trusted for e in budget_results(*planned(text), FREE)}
    assert (found["task"].response, found["task"].reason) == (0, "")


def test_less_critical_tasks_can_be_late_at_a_higher_criticality() -> None:
    """And so without a budget in the lock: roll-backs before it may have used the extension."""
    text = LOCK % (
        20,
        3,
        'store.p_overrun = "abort"; store.p_extension = 1 ms; store.p_extension_period = 7 ms;',
    )
    text = text.replace("l._budget = 3 ms;", "l._budget = 10 ms; h._criticality = 1;")
    levels = level_results(*planned(text), FREE)
    assert {e.level: e.ours for e in levels if e.task.name == "h"} == {0: 6 * MS, 1: 13 * MS}


#: `low` can be without a budget in `inner`, also when `high` waits for `outer`
THROUGH_CEILING = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component Outer { provides Access p with priority_protocol %s, overrun %s; uses Access next; }
component Inner { provides Access p with priority_protocol inherited, overrun help; }
assembly {
    composition {
        component User high; component User low; component User other;
        component Outer outer; component Inner inner;
        connection seL4RPCCall a(from high.p, from low.p, to outer.p);
        connection seL4RPCCall b(from other.p, from outer.next, to inner.p);
    }
    configuration {
        high._priority = 30; high._period = 50 ms; high._wcet = 1 ms;
        low._priority = 20; low._period = 50 ms; low._wcet = 1 ms; low._budget = 2 ms;
        other._priority = 10; other._period = 100 ms; other._wcet = 0;
        outer.p_wcet = 0; inner.p_wcet = 3 ms;
    }
}
"""


@pytest.mark.mostly_long("fixed-abort-lower tasks can be without a budget at a ceiling, or in several locks")
@pytest.mark.parametrize(
    ("protocol", "policy", "reason"),
    [
        ("inherited", "help", ""),
        ("fixed", "wait", "lower tasks can be without a budget at a ceiling, or in several locks"),
        ("fixed", "abort", "lower tasks can be without a budget at a ceiling, or in several locks"),
    ],
)
def test_requests_that_wait_for_a_ceiling_pay_for_no_lock_in_it(
    protocol: str, policy: str, reason: str
) -> None:
    text = THROUGH_CEILING % (protocol, policy)
    found = {each.task.name: each.trusted for each in budget_results(*planned(text), FREE)}
    assert found["high"].reason == reason


#: `h` can wait for `l` in `x` and `k` in `y`, and while roll-backs wait for extensions for both anew.
ROLLED_BACK_INSIDE = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component X {
    provides Access p with priority_protocol inherited, overrun abort;
    uses Access a; uses Access b;
}
component Y { provides Access p with priority_protocol inherited, overrun abort; uses Access a; }
component Z { provides Access p with priority_protocol inherited, overrun abort; }
assembly {
    composition {
        component User h; component User l; component User k; component X x; component Y y; component Z z;
        connection seL4RPCCall c(from h.p, from l.p, to x.p);
        connection seL4RPCCall d(from x.a, from x.b, from k.p, to y.p);
        connection seL4RPCCall e(from y.a, to z.p);
    }
    configuration {
        h._priority = 30; h._period = 3000 ms; h._wcet = 0;
        l._priority = 20; l._period = 50 ms; l._budget = 5 ms; l._wcet = 0;
        k._priority = 10; k._period = 90 ms; k._wcet = 0;
        x.p_wcet = 1 ms; x.p_extension = 1 ms; x.p_extension_period = 10 ms;
        y.p_wcet = 1 ms; y.p_extension = 1 ms; y.p_extension_period = 20 ms;
        z.p_wcet = 1 ms; z.p_extension = 1 ms; z.p_extension_period = 30 ms;
    }
}
"""

#: `h` requests the lock by both interfaces, one of which needs no roll-back.
ROLLED_BACK_IN_MONITOR = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component Both { control; requestor; uses Access p; uses Access q; }
component Store {
    provides Access p with priority_protocol inherited, monitor m, overrun abort;
    provides Access q with priority_protocol inherited, monitor m;
}
assembly {
    composition {
        component Both h; component User l; component Store store;
        connection seL4RPCCall c(from h.p, from l.p, to store.p);
        connection seL4RPCCall d(from h.q, to store.q);
    }
    configuration {
        h._priority = 30; h._period = 90 ms; h._wcet = 0;
        l._priority = 20; l._period = 50 ms; l._budget = 3 ms; l._wcet = 0;
        store.p_wcet = 3 ms; store.p_extension = 1 ms; store.q_wcet = 1 ms;
    }
}
"""


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        # A request to `x` is two to `y` and `z`: of 5, and roll-backs that wait 10 + 2 * 20 + 2 * 30 for
        # extensions; that of `k` is of 2. `h` waits for them once, and anew in 1 * 13 pieces in `x`, whose
        # sections wait for others in `y` and `z`: 1 + 2 + 2, and 2 * 3 + 2 * 1; 2 * 3 in `y`, 2 * 1 in `z`.
        (ROLLED_BACK_INSIDE, 5 + (1 + 13 + 6 + 2) * (5 + 110 + 2)),
        # each of two requests can wait for one of 3, and the extension for 10
        (ROLLED_BACK_IN_MONITOR, 3 + 1 + 2 * (3 + 10)),
    ],
)
def test_lower_tasks_execute_while_roll_backs_wait(text: str, bound: int) -> None:
    found = {each.task.name: each.trusted for each in budget_results(*planned(text), FREE)}
    assert found["h"].response == bound * MS
    assert found["l"].reason == LATE_LOCK


#: `m` requests the lock, too.
PAYING = (
    LOCK.replace("component Task m;", "component User m;")
    .replace("from l.p,", "from l.p, from m.p,")
    .replace("m._budget = 10 ms", "m._budget = 50 ms")
)


@pytest.mark.parametrize(("budget", "h", "m"), [(24, 12, 14 + 24 + 6), (23, 6 + 2 * 6, None)])
def test_who_pays_twice_can_be_without_a_budget(budget: int, h: int, m: int | None) -> None:
    """Two jobs of h, each of 6, which pay for 6 of l. With 24 it lasts; with 23, 11 are to spare in a job, so
    what delays h counts twice, and in the lock it keeps m waiting."""
    text = PAYING % (budget, 6, 'store.p_overrun = "help";')
    found = {each.task.name: each.trusted for each in budget_results(*planned(text), FREE)}
    assert found["h"].response == h * MS
    assert found["m"].response == (None if m is None else m * MS)
    assert found["m"].reason == ("h can be without a budget in a lock" if m is None else "")


#: The extension lasts for the 14 parts of the budgets, but not for 2 of that of `l`.
EXTENDED_TWICE = LOCK % (
    20,
    1,
    'store.p_overrun = "extend"; store.p_extension = 15 ms; store.p_extension_period = 20 ms;'
    ' l._overrun = "extend"; l._extension = 1 ms; l._extension_period = 20 ms;',
)


def test_extensions_of_tasks_come_back_in_parts() -> None:
    """So l can wait 20 - 1 for its own one, which is longer than for its budget of 3."""
    found = {each.task.name: each for each in budget_results(*planned(EXTENDED_TWICE), FREE)}
    assert found["h"].isolated.response == (1 + 1 + 19) * MS


#: The budget of `high` lasts for two jobs.
TWO_JOBS = """
component Task { control; requestor; }
assembly {
    composition { component Task high; component Task low; }
    configuration {
        high._priority = 20; high._period = 10 ms; high._wcet = 2 ms; high._budget = 4 ms;
        high._server = "constant_bandwidth"; low._priority = 10; low._period = 40 ms; low._wcet = 8 ms;
    }
}
"""


def test_a_budget_for_two_jobs_counts_as_one_more_job() -> None:
    """Each job of `high` can wait for 6. In 14 there are two of it, and one from before."""
    found = {each.task.name: each for each in budget_results(*planned(TWO_JOBS), FREE)}
    assert found["high"].trusted.response == (2 + 6) * MS
    assert (found["low"].trusted.response, found["low"].isolated.response) == (14 * MS, (8 + 2 * 4) * MS)


#: The budget does not grow at criticality 1.
GROWS_LATE = (
    RAISING.replace("propagated", "inherited")
    .replace("_criticality = 1", "_criticality = 2")
    .replace("t._budget = 3 ms; t._budget_1 = 10 ms;", "t._budget = 60 ms; t._budget_2 = 90 ms;")
    .replace("t._wcet_1 = 9 ms", "t._wcet_1 = 39 ms")
) % ("wait", "")


def test_a_budget_that_does_not_grow_raises_nothing() -> None:
    """At 0: 3, and 1 of `low` in the lock. At 1: 40, and twice that 1, as 20 of 60 are to spare. At 2 also 40
    until there is a budget again, when it has used up 60; with 90, once that 1."""
    levels = level_results(*planned(GROWS_LATE), FREE)
    found = {each.level: each.ours for each in levels if each.task.name == "t"}
    assert found == {0: 4 * MS, 1: 42 * MS, 2: (40 + 40 + 1) * MS}


#: `high` waits at `outer` while `low` is in `inner`.
INNER = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component Outer { provides Access p with priority_protocol inherited, overrun %s; uses Access below; }
component Inner { provides Access p with priority_protocol inherited, overrun help; }
assembly {
    composition {
        component User low; component User high; component Outer outer; component Inner inner;
        connection seL4RPCCall a(from low.p, from high.p, to outer.p);
        connection seL4RPCCall b(from outer.below, to inner.p);
    }
    configuration {
        low._priority = 10; low._period = 20 ms; low._budget = 5 ms; low._wcet = 0;
        high._priority = 30; high._period = 90 ms; high._wcet = 1 ms;
        outer.p_wcet = 1 ms; inner.p_wcet = 6 ms;
    }
}
"""


@pytest.mark.parametrize(("policy", "without"), [("help", 0), ("abort", 30), ("wait", 30)])
def test_those_that_wait_further_up_pay_if_all_on_the_way_help(policy: str, without: int) -> None:
    """high needs 8 and waits for 7. If it does not pay, low can be without a budget twice, for 20 - 5."""
    found = {e.task.name: e.trusted for e in budget_results(*planned(INNER % policy), FREE)}
    assert found["high"].response == (8 + 7 + without) * MS


#: `b` has more at criticality 1, to which `a` may raise that of the system.
RISING = """
component Task { control; requestor; %s }
component Plain { control; requestor; }
assembly {
    composition { component Task a; component Plain b; component Plain t; component Plain low; }
    configuration {
        a._priority = 40; a._period = 100 ms; a._wcet = 1 ms; a._wcet_1 = 2 ms; a._criticality = 1;
        a._budget = 1 ms; a._budget_1 = 2 ms; %s
        b._priority = 30; b._period = 100 ms; b._wcet = 1 ms; b._wcet_1 = 5 ms; b._criticality = 1;
        b._budget = 1 ms; b._budget_1 = 5 ms;
        t._priority = 20; t._period = 100 ms; t._wcet = 2 ms; t._budget = 3 ms; t._criticality = 1;
        low._priority = 50; low._period = 100 ms; low._wcet = 2 ms; low._budget = 3 ms;
    }
}
"""


@pytest.mark.parametrize(
    ("clause", "policy", "low", "t"),
    [
        ("", "", 2, 3 + 1 + 1 + 2),
        ("", 'a._overrun = "raise";', None, 3 + (1 + 2) + (1 + 5) + 2),
        ("criticality_control;", "", None, 3 + (1 + 2) + (1 + 5) + 2),
    ],
)
def test_what_is_isolated_if_the_criticality_rises(clause: str, policy: str, low: int | None, t: int) -> None:
    """Then a and b can use both of their budgets, and low is below them."""
    results = budget_results(*planned(RISING % (clause, policy)), FREE)
    found = {each.task.name: each for each in results}
    assert found["low"].isolated.response == (None if low is None else low * MS)
    assert found["t"].isolated.response == t * MS
    reason = "a can raise the criticality" if clause else ""
    assert found["low"].trusted.reason == reason


def test_where_setting_the_criticality_costs_time_nothing_has_a_bound() -> None:
    for raised, reason in ((0, ""), (7, "a can raise the criticality")):
        platform = replace(FREE, raised=raised)
        results = budget_results(*planned(RISING % ("criticality_control;", "")), platform)
        assert {e.isolated.reason for e in results if e.task.name in "bt"} == {reason}
