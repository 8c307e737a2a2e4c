# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that others lend priorities to have budgets and overrun policies, and tasks that wait with helpers
have criticalities. The figures were computed by hand; each case has tasks of its own, released after the
others.

A critical task raises the criticality, too, when its budget ends in a request that an extension ends."""

from __future__ import annotations

import pytest

from camkes.running.kinds import Kind
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("RT-26")

MS = 1_000_000

#: in each case `low` helps `high`, which waits for it from 1 on; `middle` comes at 2
SYSTEM = """
component Helper { control; requestor; emits Data data; attribute int length; }
component Waiter { control; requestor; consumes Data data with helpers; }
component Worker { control; requestor; attribute int length; }
component Controller { control; requestor; criticality_control; }
procedure Section { void enter(in int ms); }
component User { control; requestor; uses Section s; attribute int length; }
component Lock { provides Section s with priority_protocol inherited, overrun extend; }
assembly { composition {
    component Controller controller;
    component Helper low_c; component Waiter high_c; component Worker middle_c;
    component Helper low_s; component Waiter high_s; component Worker middle_s;
    component Helper low_e; component Waiter high_e; component Worker middle_e;
    component User high_r; component User low_r; component Worker middle_r; component Lock lock;
    connection seL4RPCCall r(from high_r.s, from low_r.s, to lock.s);
    connection seL4Notification c(from low_c.data, to high_c.data);
    connection seL4Notification s(from low_s.data, to high_s.data);
    connection seL4Notification e(from low_e.data, to high_e.data);
} configuration {
    controller._priority = 100; controller._criticality = 1; controller._offset = 3 ms;

    low_c._priority = 10; low_c._period = 500 ms; low_c.length = 4;
    high_c._priority = 20; high_c._offset = 1 ms; high_c._criticality = 1;
    middle_c._priority = 30; middle_c._period = 500 ms; middle_c._offset = 2 ms; middle_c.length = 5;

    low_s._priority = 10; low_s._period = 20 ms; low_s._offset = 100 ms; low_s.length = 5;
    low_s._budget = 3 ms; low_s._overrun = "stop";
    high_s._priority = 20; high_s._offset = 101 ms;
    middle_s._priority = 15; middle_s._period = 18 ms; middle_s._offset = 102 ms; middle_s.length = 8;

    low_e._priority = 10; low_e._period = 500 ms; low_e._offset = 200 ms; low_e.length = 5;
    low_e._budget = 3 ms; low_e._overrun = "extend";
    low_e._extension = 4 ms; low_e._extension_period = 500 ms;
    high_e._priority = 20; high_e._offset = 201 ms;
    middle_e._priority = 15; middle_e._period = 500 ms; middle_e._offset = 202 ms; middle_e.length = 8;

    high_r._priority = 10; high_r._period = 50 ms; high_r._offset = 300 ms; high_r.length = 4;
    high_r._criticality = 1; high_r._overrun = "raise"; high_r._budget = 3 ms; high_r._budget_1 = 6 ms;
    lock.s_extension = 2 ms; lock.s_extension_period = 500 ms;
    middle_r._priority = 15; middle_r._period = 500 ms; middle_r._offset = 304 ms; middle_r.length = 2;
    low_r._priority = 5; low_r._period = 500 ms; low_r._offset = 340 ms; low_r.length = 1;
} }
"""
HEAD = "#include <camkes/realtime.h>\n"
SOURCES = {
    "Helper": HEAD
    + """
static int begun;
int run(void)
{
    while (begun < 2 && camkes_next_job()) {
        begun++;
        camkes_work(CAMKES_MS(begun == 1 ? length : 1));
        data_emit();
    }
    return 0;
}
""",
    "Waiter": HEAD + "int run(void) { data_wait(); camkes_work(CAMKES_MS(1)); return 0; }\n",
    "Worker": HEAD + "int run(void) { for (int i = 0; i < 2 && camkes_next_job(); i++) {"
    " camkes_work(CAMKES_MS(length)); } return 0; }\n",
    "User": HEAD
    + """
int run(void)
{
    camkes_work(CAMKES_MS(1));
    s_enter(length);
    camkes_work(CAMKES_MS(1));
    return 0;
}
""",
    "Lock": HEAD + "void s_enter(int ms) { camkes_work(CAMKES_MS(ms)); }\n",
    "Controller": HEAD + "int run(void) { camkes_set_criticality(1); return 0; }\n",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return build(tmp_path_factory.mktemp("helpers"), SYSTEM, SOURCES, mcs=True).run(duration=345 * MS)


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    ("task", "responses"),
    [
        # at 3 the criticality rises: high has a higher priority than middle, and lends it to low until 5
        ("high_c", [5]),
        ("middle_c", [8]),
        ("low_c", [10]),
        # low is stopped at 3, and its next job, of 1, executes from 20 on, before middle
        ("high_s", [21]),
        ("middle_s", [9, 10]),
        ("low_s", [10]),
        # low goes on on its extension from 3 to 5
        ("high_e", [5]),
        ("middle_e", [12]),
        ("low_e", [14]),
        # the budget lasts until 3, the extension until 7; then the criticality rises
        ("high_r", [8]),
        ("middle_r", [2]),
        ("low_r", [3]),
    ],
)
def test_responses(run: Run, task: str, responses: list[int]) -> None:
    assert [(end.time - end.args[1]) / MS for end in run.of(Kind.JOB_END, task)] == responses


def test_all_is_well_in_the_end(run: Run) -> None:
    assert [(e.time // MS, e.args[0]) for e in run.of(Kind.CRITICALITY)] == [
        *((3, 1), (10, 0)),
        *((307, 1), (308, 0)),
    ]
    assert [e.time // MS for e in run.of(Kind.JOB_STOP)] == [103]
    assert run.violations() == []
    assert run.without_own_time() == []
