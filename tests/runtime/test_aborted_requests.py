# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests that are aborted because their budget is used up.

The figures were computed by hand; 548 was explained when a run had shown it. The parts of the system are
released one after the other, so one run shows all.
"""

from __future__ import annotations

import pytest

from camkes.running.kinds import Kind
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("RT-19")

MS = 1_000_000

SYSTEM = """
procedure Section { int enter(in int ms); }
procedure Several { int enter(in int ms, out int left); void tell(in int ms, out int left, out string text); }
component Alone { control; requestor; uses Several s; attribute int length; }
component User { control; requestor; uses Section s; attribute int length; attribute int jobs; }
component Worker { control; requestor; attribute int length; }
component Lock { provides Section s with priority_protocol inherited, overrun abort; }
component Fixed { provides Section s with priority_protocol fixed, overrun abort; }
component Slow { provides Section s with priority_protocol inherited, overrun abort; }
component Own { provides Several s with priority_protocol propagated, overrun abort; }
component Outer { provides Section s with priority_protocol inherited, overrun abort; uses Section next; }
assembly {
    composition {
        component User low; component Worker middle; component User high; component Lock lock;
        component User first; component User second; component Fixed shared;
        component Alone alone; component Own own;
        component User careful; component Slow slow;
        component User deep; component User other; component Outer outer; component Lock inner;
        component User extended; component Fixed plain;
        connection seL4RPCCall c7(from extended.s, to plain.s);
        connection seL4RPCCall c1(from low.s, from high.s, to lock.s);
        connection seL4RPCCall c2(from first.s, from second.s, to shared.s);
        connection seL4RPCCall c3(from alone.s, to own.s);
        connection seL4RPCCall c6(from careful.s, to slow.s);
        connection seL4RPCCall c4(from deep.s, from other.s, to outer.s);
        connection seL4RPCCall c5(from outer.next, to inner.s);
    }
    configuration {
        low._priority = 10; low._period = 20 ms; low._budget = 3 ms; low._offset = 0;
        middle._priority = 20; middle._period = 50 ms; middle._offset = 4 ms;
        high._priority = 30; high._period = 50 ms; high._budget = 10 ms; high._offset = 2 ms;
        first._priority = 20; first._period = 20 ms; first._budget = 3 ms; first._offset = 100 ms;
        second._priority = 30; second._period = 50 ms; second._offset = 101 ms;
        alone._priority = 20; alone._period = 20 ms; alone._budget = 3 ms; alone._offset = 200 ms;
        deep._priority = 10; deep._period = 20 ms; deep._budget = 3 ms; deep._offset = 300 ms;
        other._priority = 20; other._period = 20 ms; other._offset = 302 ms;
        low.length = 6; middle.length = 8; high.length = 1; first.length = 4; second.length = 4;
        alone.length = 4; deep.length = 4; other.length = 1;
        low.jobs = 1; high.jobs = 1; first.jobs = 1; second.jobs = 1;
        deep.jobs = 5; other.jobs = 5;
        careful._priority = 20; careful._period = 20 ms; careful._budget = 3 ms; careful._offset = 500 ms;
        careful.length = 4; careful.jobs = 2;
        extended._priority = 20; extended._period = 20 ms; extended._budget = 3 ms; extended._offset = 600 ms;
        extended._overrun = "extend"; extended._extension = 5 ms; extended._extension_period = 20 ms;
        extended.length = 4; extended.jobs = 1;
        slow.s_extension = 2 ms; slow.s_extension_period = 20 ms;
        lock.s_extension = 5 ms; lock.s_extension_period = 20 ms;
    }
}
"""

HEAD = "#include <camkes/realtime.h>\n"
SERVER = (
    HEAD
    + """
int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }
void s__rollback(void) { printf("%s\\n", get_instance_name()); }
"""
)
SOURCES = {
    "User": HEAD
    + """
int run(void)
{
    for (int i = 0; i < jobs && camkes_next_job(); i++) {
        const int result = s_enter(length);
        const bool aborted = camkes_request_aborted();
        if (aborted != (result == 0) || camkes_request_aborted()) {
            printf("wrong\\n");
        }
        printf("%s %s\\n", get_instance_name(), aborted ? "aborted" : "served");
    }
    return 0;
}
""",
    "Worker": HEAD + "int run(void) { camkes_work(CAMKES_MS(length)); return 0; }\n",
    "Lock": SERVER,
    "Fixed": SERVER,
    "Slow": HEAD
    + """
int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }
void s__rollback(void) { camkes_work(CAMKES_MS(3)); printf("slow %d\\n", (int)(camkes_now() / 1000000)); }
""",
    "Own": HEAD
    + """#include <string.h>
int s_enter(int ms, int *left) { *left = 9; camkes_work(CAMKES_MS(ms)); return ms; }
void s_tell(int ms, int *left, char **text) { *left = 9; *text = strdup("x"); camkes_work(CAMKES_MS(ms)); }
""",
    # what an aborted request gives back has no value
    "Alone": HEAD
    + """
int run(void)
{
    int left = 7, more = 7;
    char *text = (char *)&left;
    camkes_next_job();
    const int result = s_enter(length, &left);
    bool aborted = camkes_request_aborted();
    camkes_next_job();
    s_tell(length, &more, &text);
    aborted = aborted && camkes_request_aborted();
    printf("alone %s %d %d %d %d\\n", aborted ? "aborted" : "served", result, left, more, text != NULL);
    return 0;
}
""",
    "Outer": HEAD
    + """
int s_enter(int ms) { return next_enter(ms); }
void s__rollback(void) { printf("%s\\n", get_instance_name()); }
""",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return build(tmp_path_factory.mktemp("aborted"), SYSTEM, SOURCES, mcs=True).run()


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    ("task", "responses"),
    [
        ("high", [2]),
        ("middle", [8]),
        ("low", [20]),
        # the thread serves the second as soon as the first is aborted, at 103
        ("second", [6]),
        ("first", [20]),
        ("alone", [20, 20]),
        # answered when its budget ends, not after the roll-back; the second has its budget from 524 to 527
        ("careful", [20, 24]),
        # goes on at once with its extension
        ("extended", [3]),
        ("other", [2] * 5),
        ("deep", [20] * 5),
    ],
)
def test_responses(run: Run, task: str, responses: list[int]) -> None:
    assert [end.time - end.args[1] for end in run.of(Kind.JOB_END, task)] == [r * MS for r in responses]


def said(run: Run, *instances: str) -> list[str]:
    lines = "".join(event.text for event in run.of(Kind.OUTPUT)).splitlines()
    return [line for line in lines if line.split()[0] in instances]


def test_a_roll_back_waits_for_its_extension(run: Run) -> None:
    """The first is from 503 to 505, and from 523 to 524. Then the caller, which called at 520, has 3 ms until
    527, and the rest of the extension, 1 ms, is used. What was used at 523 is back at 543, this at 547."""
    assert said(run, "slow") == ["slow 524", "slow 548"]


def test_who_is_aborted_learns_it(run: Run) -> None:
    assert said(run, "low", "high", "lock") == ["lock", "high served", "low aborted"]
    assert said(run, "first", "second", "shared") == ["shared", "second served", "first aborted"]
    assert said(run, "extended", "plain") == ["plain", "extended aborted"]
    assert said(run, "alone", "own", "wrong") == ["alone aborted 0 0 0 0"]


def test_a_chain_is_rolled_back_from_its_end(run: Run) -> None:
    threads = ("outer.s@deep", "inner.s@deep")
    assert [len(run.of(Kind.TIMEOUT, thread)) for thread in threads] == [5, 5]
    assert said(run, "deep", "other", "outer", "inner") == 5 * [
        "inner",
        "outer",
        "other served",
        "deep aborted",
    ]


def test_nothing_is_left(run: Run) -> None:
    """Each context is at home, and each worker waits as at the start: it serves the next round."""
    assert run.violations() == []
    assert run.without_own_time() == []
