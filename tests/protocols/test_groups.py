# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""From whom to whom priorities are lent."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.protocols import analyse
from camkes.protocols.groups import find_groups, lending_graph
from camkes.protocols.plan import Plan
from camkes.resolve import LoadOptions, load

pytestmark = pytest.mark.requirement("PLAN-3")

TEXT = """import <std_connector.camkes>;
procedure Take { void take(); }
procedure Give { void give(); }
procedure Log { void log(); }
component Consumer { control; requestor; uses Take store; uses Log log; }
component Producer { control; requestor; uses Give store; uses Log log; consumes Go go with helpers; }
component Starter { control; requestor; emits Go go; }
component Store {
    provides Take taken with priority_protocol inherited, requests ();
    provides Give given with priority_protocol inherited, requests ();
    has semaphore full with helpers;
}
component Logger { provides Log log with priority_protocol inherited, requests (); }
assembly {
    composition {
        component Consumer consumer; component Producer producer; component Starter starter;
        component Store store; component Logger logger;
        connection seL4RPCCall c1(from consumer.store, to store.taken);
        connection seL4RPCCall c2(from producer.store, to store.given);
        connection seL4RPCCall c3(from consumer.log, from producer.log, to logger.log);
        connection seL4Notification c4(from starter.go, to producer.go);
    }
    configuration {
        consumer._priority = 30; producer._priority = 20; starter._priority = 10; store.full_value = 0;
    }
}
"""


def planned(folder: Path, text: str, *, mcs: bool = False) -> tuple[System, Plan]:
    root = folder / "a.camkes"
    root.write_text(text)
    sink = Sink()
    system = load(root, LoadOptions(cpp=False, mcs=mcs), sink)
    assert system is not None, sink.diagnostics
    plan = analyse(system, sink)
    assert plan is not None, sink.diagnostics
    return system, plan


def test_conditions_that_lend_to_each_other_are_one_group(tmp_path: Path) -> None:
    _, plan = planned(tmp_path, TEXT)
    (group,) = find_groups(plan)
    assert {condition.name for condition in group.conditions} == {"store.full", "producer.go"}
    assert [group.first_of_lock(cpi) for cpi in group.cpis] == [group.first_party(cpi) for cpi in group.cpis]


def test_priorities_go_to_helpers_and_on_to_what_they_wait_for(tmp_path: Path) -> None:
    _, plan = planned(tmp_path, TEXT)
    assert lending_graph(plan) == {
        "store.full": ["producer"],
        "producer.go": ["starter"],
        "producer": ["store.given", "logger.log", "producer.go"],
        "starter": [],
        "store.given": ["store.full"],
        "logger.log": [],
    }


def test_nothing_is_lent_to_requests_at_a_ceiling(tmp_path: Path) -> None:
    """A CPI that is `fixed` has a manager for its extension, which does not change its priority."""
    fixed = "fixed, overrun extend, requests ()"
    extension = "logger.log_extension = 1 ms; consumer._period = 9 ms; consumer._budget = 1 ms;"
    text = TEXT.replace(
        "log with priority_protocol inherited, requests ()", f"log with priority_protocol {fixed}"
    )
    _, plan = planned(tmp_path, text.replace("store.full_value", f"{extension} store.full_value"), mcs=True)
    assert [cpi.name for cpi in plan.cpis if cpi.manager and cpi.protocol.own_priority] == ["logger.log"]
    assert all("logger.log" not in group.members for group in find_groups(plan))
