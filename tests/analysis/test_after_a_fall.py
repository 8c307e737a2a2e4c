# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that are late when the criticality of the system falls."""

from __future__ import annotations

import pytest

from camkes.analysis.criticality import level_results
from camkes.analysis.platform import FREE
from tests.analysis.test_budgets import MS, planned
from tests.analysis.test_late_budgets import RISING

pytestmark = pytest.mark.requirement("AN-1")

EXTENDED = 'low._overrun = "extend"; low._extension = 1 ms;'
RAISED = 'a._overrun = "raise";'
# at criticality 1 it can end after 2 + 5
LATE_B = 'b._overrun = "raise"; b._degraded = "suspend"; b._deadline = 6 ms;'


@pytest.mark.parametrize(
    ("settings", "low", "b", "t"),
    [
        (RAISED, 2, 2 + 1 + 1, 2 + 1 + 1 + 2),
        (RAISED + EXTENDED, None, 3 + 1 + 1 + 1, 3 + 1 + 1 + 1 + 2),
        (EXTENDED, 2, 2 + 1 + 1, 2 + 1 + 1 + 2),
        (RAISED + EXTENDED + 'low._degraded = "suspend";', 2, 2 + 1 + 1, 2 + 1 + 1 + 2),
        (RAISED + 'low._server = "constant_bandwidth"; low._degraded = "suspend";', None, 5, 3 + 1 + 1 + 2),
        (RAISED + LATE_B, 2, None, 2 + 1 + 1 + 2),
    ],
)
def test_a_task_can_be_late_after_the_criticality_falls(
    settings: str, low: int | None, b: int | None, t: int
) -> None:
    """A job that waits for its budget does not keep the processor from being idle. Others count its budget
    and its extension."""
    levels = level_results(*planned(RISING % ("", settings)), FREE)
    found = {each.task.name: each.ours for each in levels if each.level == 0}
    expected = {"low": low, "b": b, "t": t}
    assert {name: found[name] for name in expected} == {
        name: None if time is None else time * MS for name, time in expected.items()
    }


def test_code_that_sets_the_criticality_makes_tasks_late() -> None:
    levels = level_results(*planned(RISING % ("criticality_control;", EXTENDED)), FREE)
    assert next(each.ours for each in levels if each.task.name == "low") is None


#: in a lock, so parts of its budget of 3 come back late, which is less than twice 2
LOCKED = """component User { control; requestor; uses Access s; }
component Server { provides Access s with priority_protocol inherited; }
"""
OTHER = "other._priority = 5; other._period = 100 ms; other._wcet = 0;"


@pytest.mark.parametrize(("budget", "low"), [(3, None), (4, 2)])
def test_a_suspended_task_has_a_budget_for_the_job_before(budget: int, low: int | None) -> None:
    text = RISING % ("", RAISED + "server.s_wcet = 0; " + OTHER + 'low._degraded = "suspend";')
    text = text.replace("assembly {", "procedure Access { void use(); };" + LOCKED + "assembly {")
    text = text.replace(
        "component Plain low;",
        "component User low; component User other; component Server server; "
        + "connection seL4RPCCall c(from low.s, from other.s, to server.s);",
    )
    text = "import <std_connector.camkes>;" + text.replace("low._budget = 3 ms", f"low._budget = {budget} ms")
    levels = level_results(*planned(text), FREE)
    found = next(each.ours for each in levels if each.task.name == "low")
    assert found == (None if low is None else low * MS)


#: `low` and `u` request a lock in which a request without a budget is rolled back on an extension.
UNDONE = """
import <std_connector.camkes>;
procedure Access { void use(); };
component Task { control; requestor; }
component User { control; requestor; uses Access p; }
component Lock { provides Access p with priority_protocol inherited, overrun abort; }
assembly {
    composition {
        component Task a; component User u; component User low; component Lock x;
        connection seL4RPCCall k(from u.p, from low.p, to x.p);
    }
    configuration {
        a._priority = 40; a._period = 100 ms; a._wcet = 1 ms; a._wcet_1 = 2 ms; a._criticality = 1;
        a._budget = 1 ms; a._budget_1 = 2 ms; %s
        u._priority = 30; u._period = 100 ms; u._wcet = 1 ms; u._criticality = 1;
        u._budget = 3 ms; u._budget_1 = 4 ms;
        low._priority = 20; low._period = 100 ms; low._wcet = 1 ms; low._budget = 4 ms;
        low._degraded = "suspend";
        x.p_wcet = 1 ms; x.p_extension = 1 ms; x.p_extension_period = 20 ms;
    }
}
"""


@pytest.mark.parametrize(("settings", "u"), [("", 2 * (1 + 1 + 1) + 2), (RAISED, None)])
def test_an_extension_can_be_used_up_when_the_criticality_falls(settings: str, u: int | None) -> None:
    """With 3 ms for 2, u can lack a budget in x and be rolled back, alone at criticality 0: low has twice
    its 2. At 1, low is late and can be rolled back, just before the criticality falls; u then has to wait for
    the extension."""
    levels = level_results(*planned(UNDONE % settings), FREE)
    found = next(each.ours for each in levels if (each.task.name, each.level) == ("u", 0))
    assert found == (None if u is None else u * MS)
