# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Servers of both kinds, extensions of tasks and changes of the criticality on seL4: as on the host kernel.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.backends.sel4.trace import ConsoleText
from camkes.running.kinds import Kind
from tests.backends.sel4.recorded import MS, needs_workspace, records, with_costs, with_slack
from tests.runtime.test_budgets import EXTENDED, JOBS, TASKS, tasks
from tests.runtime.test_criticality import CRITICAL, longer

pytestmark = [pytest.mark.requirement("SEL4-6"), needs_workspace]

TOLERANCE = MS // 10

#: of the first jobs, in milliseconds: starting takes some time
STARTS = 100

#: `h` preempts `l`, which is always busy, from 2 to 5; the same with the other kind of server 100 ms later
SERVERS = {
    "sporadic": [(0, 2), (5, 8), (20, 25), (40, 45)],
    "constant": [(0, 2), (5, 8), (20, 22), (25, 28), (40, 42), (45, 48)],
}
PREEMPTED = (
    "component Busy { control; requestor; }\n"
    "component Worker { control; requestor; attribute int length; }\n"
    "assembly { composition {"
    + "".join(f"component Busy l_{name}; component Worker h_{name};\n" for name in SERVERS)
    + "} configuration {"
    + "".join(
        f"l_{name}._priority = 10; l_{name}._period = 20 ms; l_{name}._budget = 5 ms;"
        f"h_{name}._priority = 20; h_{name}._period = 400 ms; h_{name}._budget = 100 ms; h_{name}.length = 3;"
        f"l_{name}._offset = {start} ms; h_{name}._offset = {start + 2} ms;\n"
        for name, start in zip(SERVERS, (STARTS, STARTS + 100), strict=True)
    )
    + 'l_constant._server = "constant_bandwidth"; l_constant._refills = 8; } }\n'
)
#: prints when it executes, in microseconds, if it does so for more than 0.2 ms
BUSY = """
#include <camkes/realtime.h>
int run(void)
{
    uint64_t from[20], to[20], last = camkes_now();
    const uint64_t begin = last;
    unsigned found = 0;
    from[0] = last;
    while (last < begin + CAMKES_MS(50) && found < 19) {
        const uint64_t now = camkes_now();
        if (now - last > CAMKES_US(200)) {
            to[found++] = last;
            from[found] = now;
        }
        last = now;
    }
    to[found] = last;
    for (unsigned i = 0; i <= found; i++) {
        printf("%s %u %u\\n", get_instance_name(), (unsigned)(from[i] / 1000), (unsigned)(to[i] / 1000));
    }
    return 0;
}
"""


def test_a_preemption_splits_the_budget_of_a_constant_bandwidth_server_only(tmp_path: Path) -> None:
    text, printed = ConsoleText(), ""
    last = "l_constant"
    for thread, record in records(PREEMPTED, with_costs(JOBS) | {"Busy": BUSY}, tmp_path):
        if record.kind == Kind.OUTPUT:
            printed += text.add(record)
        if record.kind == Kind.EXIT and thread == last:
            break
    for (name, expected), start in zip(SERVERS.items(), (STARTS, STARTS + 100), strict=True):
        found = [
            (int(begin) / 1000 - start, int(end) / 1000 - start)
            for begin, end in re.findall(rf"l_{name} (\d+) (\d+)", printed)
        ]
        assert [(round(begin, 1), round(end, 1)) for begin, end in found[: len(expected)]] == expected, found
        assert all(
            abs(time - exact) * MS < TOLERANCE
            for pair, exactly in zip(found, expected, strict=False)
            for time, exact in zip(pair, exactly, strict=True)
        ), found


def at(text: str) -> str:
    """The system of five tasks, released at STARTS."""
    for name, *_ in TASKS:
        text = text.replace(f"{name}._period", f"{name}._offset = {STARTS} ms; {name}._period", 1)
    return text


#: T4 needs 2 or 7 ms of its budget of 2 or 4: the longest responses in 600 ms, and how often T1 is late
WORST = {
    "none": (tasks(2), (2, 4, 9, 15, 25), 0),
    "extend": (tasks(7, EXTENDED), (2, 9, 16, 20, 73), 2),
    "raise": (tasks(7, CRITICAL), (2, 9, 20, 15, 73), 2),
}


@pytest.mark.parametrize("name", WORST)
def test_longest_responses(name: str, tmp_path: Path) -> None:
    text, expected, late = WORST[name]
    found: dict[str, list[int]] = {task: [] for task, *_ in TASKS}
    raised: list[int] = []
    for thread, record in records(with_slack(at(text)), with_costs(JOBS), tmp_path):
        if record.kind == Kind.CRITICALITY and record.arguments[0]:
            raised.append(record.time)
        if record.time >= (STARTS + 600) * MS:
            break
        if record.kind == Kind.JOB_END and thread in found:
            found[thread].append(record.time - record.arguments[1])
    worst = {task: max(times) / MS for task, times in found.items()}
    for (task, *_), response in zip(TASKS, expected, strict=True):
        assert abs(worst[task] - response) * MS < TOLERANCE, worst
    assert sum(time > 60 * MS for time in found["t1"]) == late
    if name == "raise":
        assert abs(raised[0] - (STARTS + 4) * MS) < TOLERANCE


def test_a_critical_job_ends_in_time_because_of_the_change(tmp_path: Path) -> None:
    """The ends of the first jobs; without the change, that of T2 is at 70. A trace is printed when no task
    executes, so each has four jobs."""
    four = JOBS["Worker"].replace(
        "while (camkes_next_job())", "for (int i = 0; i < 4 && camkes_next_job(); i++)"
    )
    expected = {"t5": 2, "t4": 9, "t2": 35, "t3": 40}
    found: dict[str, int] = {}
    for thread, record in records(with_slack(at(longer(CRITICAL))), with_costs({"Worker": four}), tmp_path):
        if record.kind == Kind.JOB_END:
            found.setdefault(thread, record.time - STARTS * MS)
        if expected.keys() <= found.keys():
            break
    assert expected.keys() <= found.keys(), found
    for task, end in expected.items():
        assert abs(found[task] - end * MS) < TOLERANCE, found
