# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Overruns in monitors, whose queues are with the manager of a group.

The figures were computed by hand; those of the policies are as without a monitor. Each case has components of
its own, which are released after those of the one before are done: so one run shows all.
"""

from __future__ import annotations

import pytest
from msgspec import Struct

from camkes.running.kinds import Kind
from tests.runtime.host import Run, build

#: each call of these overruns is in tests/runtime/unit
pytestmark = [pytest.mark.requirement("RT-18"), pytest.mark.long]

MS = 1_000_000
SPACE = 100


class Case(Struct, frozen=True):
    """A policy, and the responses of high, middle and low in milliseconds."""

    policy: str
    high: int
    middle: int
    low: int | None


#: low: priority 10, 3 of 20 ms, 6 with the lock; high: 30, at 2, 1 with the lock; middle: 20, at 4, 8;
#: last: 5, at 3, 1 with the lock through the other CPI of the monitor
CASES = (
    Case("help", 5, 11, 20),
    Case("extend", 5, 11, 20),
    Case("abort", 2, 8, 20),
    Case("suspend", 2, 8, None),
)

SYSTEM = (
    """
procedure Section { int enter(in int ms); }
component User { control; requestor; uses Section s; attribute int length; }
component Worker { control; requestor; attribute int length; }
"""
    + "".join(
        f"component M{c.policy} {{"
        f" provides Section s with priority_protocol inherited, monitor m, overrun {c.policy};"
        " provides Section t with priority_protocol inherited, monitor m; }\n"
        for c in CASES
    )
    + "assembly { composition {"
    + "".join(
        f"component User low_{n}; component User high_{n}; component Worker middle_{n};"
        f"component User last_{n};"
        f"component M{n} m_{n}; connection seL4RPCCall c_{n}(from low_{n}.s, from high_{n}.s, to m_{n}.s);"
        f"connection seL4RPCCall d_{n}(from last_{n}.s, to m_{n}.t);"
        for n in (case.policy for case in CASES)
    )
    + "} configuration {"
    + "".join(
        f"""
        low_{n}._priority = 10; low_{n}._period = 20 ms; low_{n}._budget = 3 ms; low_{n}.length = 6;
        high_{n}._priority = 30; high_{n}._period = 50 ms; high_{n}._budget = 10 ms; high_{n}.length = 1;
        middle_{n}._priority = 20; middle_{n}._period = 50 ms; middle_{n}.length = 8;
        last_{n}._priority = 5; last_{n}._period = 50 ms; last_{n}.length = 1;
        low_{n}._offset = {start} ms; high_{n}._offset = {start + 2} ms; middle_{n}._offset = {start + 4} ms;
        last_{n}._offset = {start + 3} ms; m_{n}.s_extension = 3 ms; m_{n}.s_extension_period = 100 ms;
        """
        for start, n in zip(range(50, 450, SPACE), (case.policy for case in CASES), strict=True)
    )
    + "} }\n"
)
HEAD = "#include <camkes/realtime.h>\n"
LOCK = (
    HEAD
    + """
int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }
int t_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }
"""
)
SOURCES = {
    "User": HEAD
    + """
int run(void)
{
    const int result = s_enter(length);
    if (camkes_request_aborted() != (result != length)) {
        printf("wrong\\n");
    }
    printf("%s %s\\n", get_instance_name(), result == length ? "served" : "aborted");
    return 0;
}
""",
    "Worker": HEAD + "int run(void) { camkes_work(CAMKES_MS(length)); return 0; }\n",
    **{f"M{case.policy}": LOCK for case in CASES},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return build(tmp_path_factory.mktemp("monitors"), SYSTEM, SOURCES, mcs=True).run(duration=550 * MS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.policy)
def test_responses(run: Run, case: Case) -> None:
    for task, expected in (("high", case.high), ("middle", case.middle), ("low", case.low)):
        ends = [(end.time - end.args[1]) / MS for end in run.of(Kind.JOB_END, f"{task}_{case.policy}")]
        assert ends == ([] if expected is None else [expected])


def test_all_is_well_in_the_end(run: Run) -> None:
    assert "wrong" not in run.output
    lines = {line for line in run.output.splitlines() if line.endswith("aborted")}
    assert lines == {"low_abort aborted"}
    assert run.output.count("served") == len(CASES) * 3 - 2
    assert run.violations() == []
    assert run.without_own_time() == ["low_suspend"]
