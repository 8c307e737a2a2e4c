# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The times of operations in the boot table of a run with a cost profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.analysis.profiles import read_platform
from camkes.backends.host.costs import costs_on
from camkes.diagnostics import Sink
from tests.runtime.host import plan_of

pytestmark = pytest.mark.requirement("HOST-16")

PROFILE = """
clock = 1_000_000_000
plain = { call = 100, reply = 200 }
inherited = { acquire = 1_000, release = 2_000, queue = 50_000, settle = 3, update = 4, clear = 5 }
timer = { release = 10_000, each = 500 }
"""

SYSTEM = """
procedure P { void go(); }
component Task { control; requestor; uses P p; }
component Lock { provides P p with priority_protocol inherited CLAUSE; CONDITION }
assembly {
    composition {
        component Task a;
        component Task b;
        component Lock lock;
        connection seL4RPCCall c(from a.p, from b.p, to lock.p);
    }
    configuration { a._priority = 20; a._period = 5 ms; b._priority = 10; b._period = 5 ms; }
}
"""


def costs(folder: Path, clause: str, condition: str) -> set[tuple[str, int]]:
    """Operations that take time, and how long."""
    profile = folder / "board.toml"
    profile.write_text(PROFILE)
    text = SYSTEM.replace("CLAUSE", clause).replace("CONDITION", condition)
    _, plan, model = plan_of(folder, text, Sink())
    lines = [line.split() for line in costs_on(read_platform(str(profile)), plan, model).lines]
    return {(operation, int(time)) for _, _, operation, time in lines}


def test_a_lock_has_the_steps_of_its_manager(tmp_path: Path) -> None:
    steps = {("1", 1_000), ("5", 3), ("6", 4), ("7", 5)}
    always = {("call", 100), ("reply", 200), ("0", 10_000 + 2 * 500)}
    assert costs(tmp_path, ", requests ()", "") == always | steps | {("2", 2_000), ("0", 2_000)}


def test_a_release_by_an_event_has_no_timer(tmp_path: Path) -> None:
    profile = tmp_path / "board.toml"
    profile.write_text("[timer]\nrelease = 700\n[event]\nemit = 30\nrelease = 200\n")
    text = """
component First { control; requestor; emits Go go; }
component Next { control; requestor; consumes Go go; }
assembly {
    composition {
        component First first;
        component Next next;
        connection seL4NotificationNative c(from first.go, to next.go);
    }
    configuration { first._period = 5 ms; first._priority = 2; next._priority = 1; next.release = "go"; }
}
"""
    _, plan, model = plan_of(tmp_path, text, Sink())
    lines = [line.split() for line in costs_on(read_platform(str(profile)), plan, model).lines]
    assert sorted((what, time) for _, _, what, time in lines) == [("0", "200"), ("0", "700")]


def test_a_monitor_has_only_those_of_its_requests(tmp_path: Path) -> None:
    found = costs(tmp_path, ", monitor m", "has condition some with helpers;")
    # the thread that ends waits at a time has a timer, too
    assert found == {("call", 100), ("reply", 200), ("0", 10_000 + 3 * 500)}
