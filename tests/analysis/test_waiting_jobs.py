# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What tasks take from others, and how long requests last, if jobs wait for budgets or extensions."""

from __future__ import annotations

import pytest

from camkes.analysis.budgets import Bounded, budget_results
from camkes.analysis.platform import FREE
from tests.analysis.test_budgets import LOCK, MS, TWO_USERS, planned

pytestmark = pytest.mark.requirement("AN-1")

SHARED = """
import <std_connector.camkes>;
procedure Access { void use(); };
component Task { control; requestor; }
component User { control; requestor; uses Access p; }
component Store { provides Access p with priority_protocol %s; }
assembly {
    composition {
        component User high; component User mid; component User low; component Task other;
        component Store store;
        connection seL4RPCCall c(from high.p, from mid.p, from low.p, to store.p);
    }
    configuration {
        high._priority = 40; high._period = 100 ms; high._wcet = 2 ms;
        mid._priority = 30; mid._period = 90 ms; mid._wcet = 3 ms;
        low._priority = 20; low._period = 100 ms; low._wcet = 4 ms;
        other._priority = 10; other._period = 100 ms; other._wcet = 5 ms;
        store.p_wcet = 6 ms; %s
    }
}
"""


def bounds(protocol: str, settings: str, *, trusted: bool = True) -> dict[str, Bounded]:
    results = budget_results(*planned(SHARED % (protocol, settings)), FREE)
    return {each.task.name: each.trusted if trusted else each.isolated for each in results}


@pytest.mark.parametrize(
    ("settings", "other"),
    [
        # high needs 8, mid 9, low 10
        ("high._budget = 20 ms;", 5 + 8 + 9 + 10),
        # in a propagated CPI a budget of 8 always suffices for high
        ("high._budget = 8 ms;", 5 + 8 + 9 + 10),
        # high waits for a budget in a request: it has 7 in each period, whatever waits
        ("high._budget = 7 ms;", 5 + 7 + 9 + 10),
        # and 20 of its extension, although a job needs 8 in all: several can wait
        (
            'high._budget = 7 ms; high._overrun = "extend"; high._extension = 20 ms;'
            " high._extension_period = 100 ms;",
            5 + 7 + 20 + 9 + 10,
        ),
        # a budget for two jobs, one of which can wait
        ('high._budget = 16 ms; high._server = "constant_bandwidth";', 5 + 2 * 8 + 9 + 10),
        # a budget for less than two
        ('high._budget = 15 ms; high._server = "constant_bandwidth";', 5 + 15 + 9 + 10),
    ],
)
def test_jobs_that_wait_for_a_budget_take_what_it_has(settings: str, other: int) -> None:
    assert bounds("propagated", settings)["other"].response == other * MS


def test_what_others_pay_counts_with_their_extensions() -> None:
    """high pays for low, which has 5 of 10, and so can use its extension for itself; 9 of mid's own, and 6 of
    low."""
    help_ = 'store.p_overrun = "help"; low._budget = 5 ms; high._budget = 30 ms; '
    extends = 'high._overrun = "extend"; high._extension = 11 ms; high._extension_period = 100 ms;'
    assert bounds("inherited", help_)["mid"].response == (9 + 30 + 6) * MS
    assert bounds("inherited", help_ + extends)["mid"].response == (9 + 30 + 11 + 6) * MS


def test_a_task_that_pays_can_be_without_a_budget_itself() -> None:
    """high needs 8, and 6 for low: 27 do not last for two jobs, 28 do. Then low has the lock for 6, or waits
    for parts of high's budget while it is high's turn to be late."""
    text = 'store.p_overrun = "help"; low._budget = 5 ms; mid._budget = 90 ms; high._budget = %d ms;'
    assert bounds("inherited", text % 28)["mid"].reason == ""
    assert bounds("inherited", text % 27)["mid"].reason == "high can be without a budget in a lock"


@pytest.mark.parametrize(
    ("extension", "low"),
    [
        ("", ""),
        # one roll-back in each job of high, which responds within 8 and twice 6 and 1: two are 78 apart
        ("store.p_extension = 1 ms; store.p_extension_period = 78 ms;", ""),
        (
            "store.p_extension = 1 ms; store.p_extension_period = 79 ms;",
            "requests of high can wait to be rolled back, in a lock",
        ),
    ],
)
def test_roll_backs_of_tasks_above_can_wait(extension: str, low: str) -> None:
    """high has 12 for jobs of 8, which can wait for a lock: not always enough."""
    found = bounds("inherited", f'store.p_overrun = "abort"; high._budget = 12 ms; {extension}')
    assert found["low"].reason == low


def test_an_extension_can_be_used_up_in_a_request() -> None:
    settings = 'high._overrun = "extend"; high._extension = 1 ms; high._extension_period = 900 ms;'
    found = bounds("inherited", f"high._budget = 12 ms; {settings}")
    assert found["high"].reason == "it can use up its extension in a request, and wait for the next"
    assert bounds("inherited", f"high._budget = 16 ms; {settings}")["high"].response == 14 * MS


@pytest.mark.long
def test_a_request_that_began_on_an_extension_waits_for_the_next() -> None:
    """low, with 3 in 20, has the lock for 6 and twice 17; the same with an extension of 3 in 40, twice 37."""
    text = (SHARED % ("inherited", "low._budget = 3 ms; %s")).replace(
        "low._period = 100 ms", "low._period = 20 ms"
    )
    extends = 'low._overrun = "extend"; low._extension = 3 ms; low._extension_period = 40 ms;'
    for settings, longest in (("", 6 + 2 * 17), (extends, 6 + 2 * 37)):
        results = budget_results(*planned(text % settings), FREE)
        found = {each.task.name: each.trusted for each in results}
        assert found["high"].response == (8 + longest) * MS


NESTED = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; uses Access q; }
component Outer { provides Access p with priority_protocol inherited; uses Access next; }
component Inner { provides Access p with priority_protocol inherited; }
component Apart { provides Access p with priority_protocol %s; }
assembly {
    composition {
        component User high; component User low; component User lowest;
        component Outer outer; component Inner inner; component Apart apart;
        connection seL4RPCCall a(from high.p, from low.p, from lowest.p, to outer.p);
        connection seL4RPCCall b(from outer.next, to inner.p);
        connection seL4RPCCall c(from high.q, from low.q, from lowest.q, to apart.p);
    }
    configuration {
        high._priority = 30; high._period = 1 s; high._wcet = 1 ms; high._budget = 900 ms;
        low._priority = 20; low._period = 100 ms; low._wcet = 1 ms; low._budget = %d ms;
        lowest._priority = 10; lowest._period = 1 s; lowest._wcet = 1 ms; lowest._budget = 900 ms;
        outer.p_wcet = 2 ms; inner.p_wcet = 3 ms; apart.p_wcet = 4 ms;
        outer.p_overrun = "%s"; inner.p_overrun = "abort"; apart.p_overrun = "abort";
        inner.p_extension = 1 ms; inner.p_extension_period = 20 ms; outer.p_extension_period = 30 ms;
        %s
    }
}
"""


@pytest.mark.parametrize(
    ("protocol", "budget", "policy", "settings", "high"),
    [
        # 1 + 5 + 4 of its own; low 5 or 4, lowest the other
        ("inherited", 20, "abort", "", 10 + 9),
        # low can be without a budget: its roll-back in `inner` takes 1 more
        ("inherited", 19, "abort", "", 10 + 10),
        # and one in `outer` 1 more
        ("inherited", 19, "abort", "outer.p_extension = 1 ms;", 10 + 11),
        # In `outer` the request waits for a budget, so lowest can be late: in its request of 5 it waits for
        # one for 100, and 20 to be rolled back. Meanwhile low can come to `apart`.
        ("inherited", 19, "wait", "", 10 + 5 + 100 + 20 + 4),
        # ceilings, and any number of requests of others
        ("fixed", 19, "wait", "", "lower tasks can be without a budget at a ceiling, or in several locks"),
    ],
)
def test_roll_backs_in_requests_of_others(
    protocol: str, budget: int, policy: str, settings: str, high: int | str
) -> None:
    found = budget_results(*planned(NESTED % (protocol, budget, policy, settings)), FREE)
    bound = next(each.trusted for each in found if each.task.name == "high")
    assert (bound.reason or bound.response) == (high if isinstance(high, str) else high * MS)


@pytest.mark.parametrize(
    ("policy", "budget", "bound"),
    [
        # 7 of its own; 6 of l, which waits for 17 twice; 1 of k, which waits for 17, as it ends late, or not
        ("", 20, 7 + 6 + 2 * 17 + 1),
        ("", 3, 7 + 6 + 2 * 17 + 1 + 17),
        # 6 of l, for which the extension may be back 10 later
        ('store.p_overrun = "abort"; store.p_extension = 2 ms;', 20, 7 + (6 + 10) + 1),
    ],
)
def test_tasks_below_can_be_without_a_budget_in_a_lock_of_two(policy: str, budget: int, bound: int) -> None:
    """While h waits for the first, the other task can come to the second, also if it always has a budget."""
    text = LOCK.replace("component User { control; requestor; uses Access p; }", TWO_USERS)
    text = text.replace("component User h;", "component Both h; component User k; component Store other;")
    text = text.replace(
        "to store.p);", "to store.p); connection seL4RPCCall d(from k.p, from h.q, to other.p);"
    )
    text = text.replace("l._wcet = 0;", "l._wcet = 0; k._priority = 5; k._period = 20 ms; k._wcet = 0;")
    text = text.replace("k._wcet", f"k._budget = {budget} ms; k._wcet").replace(
        "h._period = 50", "h._period = 99"
    )
    text = text.replace("h._budget = %d ms;", "h._budget = %d ms; m._budget = 50 ms;").replace(
        "m._wcet = 8 ms; m._budget = 10 ms;", "m._wcet = 0;"
    )
    found = budget_results(*planned(text % (50, 6, f"other.p_wcet = 1 ms; {policy}")), FREE)
    assert {e.task.name: e.trusted.response for e in found}["h"] == bound * MS


def test_an_event_can_come_before_its_budget_and_end_it_in_a_lock() -> None:
    """high needs 8 in each job; with the one before and a lock it would need 24 within a period."""
    text = SHARED % ("inherited", "high._budget = %d ms;")
    text = text.replace(
        "component Task { control; requestor; }", "component Task { control; requestor; emits Go go; }"
    )
    text = text.replace(
        "component User {",
        "component Last { control; requestor; uses Access p; consumes Go go; }\ncomponent User {",
    )
    text = text.replace("component User high;", "component Last high;")
    text = text.replace(
        "to store.p);", "to store.p); connection seL4NotificationNative e(from other.go, to high.go);"
    )
    text = text.replace("high._wcet = 2 ms;", 'high._wcet = 2 ms; high._release = "go";')
    for budget, reason in (
        (24, ""),
        (23, "an event can come before its budget, which then can end in a lock"),
    ):
        results = budget_results(*planned(text % budget), FREE)
        assert next(each.trusted.reason for each in results if each.task.name == "high") == reason


HELPED = """
import <std_connector.camkes>;
component Task { control; requestor; }
component Client { control; requestor; emits Ask ask; consumes Told told with helpers; }
component Server { control; requestor; consumes Ask ask; emits Told told; }
assembly {
    composition {
        component Client client; component Server server; component Task low;
        connection seL4NotificationNative a(from client.ask, to server.ask);
        connection seL4Notification b(from server.told, to client.told);
    }
    configuration {
        client._priority = 30; client._period = 100 ms; client._wcet = 4 ms; client.told_within = 3 ms;
        client._budget = %d ms; server._priority = 1;
        low._priority = 20; low._period = 100 ms; low._wcet = 5 ms; low._budget = 50 ms;
        %s
    }
}
"""


@pytest.mark.parametrize(
    ("budget", "settings", "trusted", "reason"),
    [
        # 4 of the client, and 3 of its server
        (14, "", 5 + 7, "overload"),
        # one more job of both, which waits for a budget: they have more than that together
        (13, "", 5 + 2 * 7, "overload"),
        # any number of them
        (6, "", "overload", "overload"),
        (14, "server._budget = 1 ms;", *["server has a budget, and others wait for it"] * 2),
    ],
)
def test_budgets_do_not_limit_what_helpers_execute(
    budget: int, settings: str, trusted: int | str, reason: str
) -> None:
    results = budget_results(*planned(HELPED % (budget, settings)), FREE)
    low = next(each for each in results if each.task.name == "low")
    found = low.trusted.reason or low.trusted.response
    assert found == (trusted * MS if isinstance(trusted, int) else trusted)
    assert low.isolated.reason == reason
