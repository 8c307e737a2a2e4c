# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Changes of the criticality of a system: who executes, at which priority, on which budget; figures computed
by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from camkes.capdl.time_manager import TIME_MANAGER
from camkes.running.decode import decode
from camkes.running.kinds import KernelCall, Kind
from camkes.showing.draw.terminal import criticality_table
from tests.runtime.host import Run, build
from tests.runtime.test_budgets import JOBS, TASKS, responses, tasks
from tests.runtime.test_time_manager import MS, intervals

pytestmark = pytest.mark.requirement("RT-23")

CRITICAL = """
t5._criticality = 1; t4._criticality = 1; t2._criticality = 1;
t4._overrun = "raise"; t4._budget_1 = 7 ms;
"""


def changes(run: Run) -> list[tuple[float, int]]:
    """When the system has which criticality, in milliseconds."""
    return [(event.time / MS, event.args[0]) for event in run.of(Kind.CRITICALITY)]


@pytest.mark.long
def test_an_overrun_raises_the_criticality_until_the_processor_is_idle(tmp_path: Path) -> None:
    """T4 needs 7 in each job, and the less critical T3 and T1 wait: two jobs of T1 are late. T2, which has a
    lower priority than T3 as long as no budget is used up, is not delayed at all."""
    run = build(tmp_path, tasks(7, CRITICAL), JOBS, mcs=True).run(duration=600 * MS)
    found = responses(run)
    assert {name: max(times) for name, times in found.items()} == {
        "t5": 2, "t4": 9, "t3": 20, "t2": 15, "t1": 73,
    }  # fmt: skip
    assert sum(time > 60 for time in found["t1"]) == 2
    assert changes(run)[:4] == [(4, 1), (99, 0), (104, 1), (116, 0)]
    assert run.violations() == []


#: T2 needs 13, and T1 1
LONG = (("t2", 13), ("t1", 1))


def longer(more: str) -> str:
    text = tasks(7, more)
    for name, needs in LONG:
        before = next(budget for each, _, _, budget in TASKS if each == name)
        text = text.replace(f"{name}._budget = {before} ms", f"{name}._budget = {needs} ms")
        text = text.replace(f"{name}.length = {before};", f"{name}.length = {needs};")
    return text


@pytest.mark.long
def test_a_critical_job_ends_in_time_because_of_the_change(tmp_path: Path) -> None:
    extend = 't4._overrun = "extend"; t4._extension = 5 ms; t4._extension_period = 20 ms;'
    without = build(tmp_path / "without", longer(extend), JOBS, mcs=True).run(duration=100 * MS)
    assert responses(without)["t2"][0] == 70
    run = build(tmp_path / "with", longer(CRITICAL), JOBS, mcs=True).run(duration=41 * MS)
    executes = sorted((start, end, name) for name, *_ in TASKS for start, end in intervals(run, name))
    assert [(n, s, e) for s, e, n in merged(executes) if s < 40] == [
        ("t5", 0, 2), ("t4", 2, 9), ("t2", 9, 10), ("t5", 10, 12), ("t2", 12, 20), ("t5", 20, 22),
        ("t4", 22, 29), ("t2", 29, 30), ("t5", 30, 32), ("t2", 32, 35), ("t3", 35, 40),
    ]  # fmt: skip
    assert run.violations() == []


def merged(executes: list[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Intervals of one thread that touch, as one."""
    found: list[tuple[float, float, str]] = []
    for start, end, name in executes:
        if found and found[-1][1:] == (start, name):
            start = found.pop()[0]
        found.append((start, end, name))
    return found


# Many tasks: the component of the last one sets the criticality

CONTROLLER = "component Controller { control; requestor; criticality_control; }\n"


def many(counts: Sequence[int]) -> str:
    """So many tasks of each criticality."""
    tasks = [
        (f"t{level}{number:02}", 10 + number, level)
        for level, count in enumerate(counts)
        for number in range(count)
    ]
    instances = "".join(f"component Worker {name};\n" for name, *_ in tasks)
    values = "".join(
        f"{name}._priority = {priority}; {name}._period = 100 ms; {name}._criticality = {level};\n"
        for name, priority, level in tasks
    )
    return f"""component Worker {{ control; requestor; attribute int length = 0; }}
{CONTROLLER}
assembly {{ composition {{ component Controller controller; {instances} }} configuration {{
    controller._priority = 5; controller._period = 100 ms; {values} }} }}
"""


@pytest.mark.long
@pytest.mark.parametrize("counts", [(4, 3, 2, 1), (32, 16, 8, 4)], ids=["few", "many"])
def test_a_change_sets_one_priority_for_each_task_that_it_concerns(
    counts: tuple[int, ...], tmp_path: Path
) -> None:
    sources = {
        "Worker": "#include <camkes/realtime.h>\nint run(void) { while (camkes_next_job()) {} return 0; }\n",
        "Controller": """#include <camkes/realtime.h>
int run(void)
{
    for (unsigned level = 1; level <= 3; level++) {
        camkes_work(CAMKES_MS(1));
        camkes_set_criticality(level);
        printf("%u\\n", camkes_criticality());
    }
    camkes_work(CAMKES_MS(1));
    return 0;
}
""",
    }
    run = build(tmp_path, many(counts), sources, mcs=True).run(duration=10 * MS)
    manager = run.number(TIME_MANAGER)
    calls = [e for e in run.of(Kind.KCALL) if e.thread == manager and e.args[0] == KernelCall.SETPRIORITY]
    assert [sum(e.time == time * MS for e in calls) for time in (1, 2, 3)] == [
        sum(counts[n:]) for n in (1, 2, 3)
    ]
    assert run.output == "1\n2\n3\n"
    assert changes(run) == [(1, 1), (2, 2), (3, 3), (4, 0)]
    assert run.violations() == []


@pytest.mark.long
def test_a_task_that_has_no_budget_left_at_its_own_criticality_waits(tmp_path: Path) -> None:
    """T4 has 7 at 1 and needs 10: the second overrun changes nothing, and the rest of its job comes with the
    refill of what it used."""
    run = build(tmp_path, tasks(10, CRITICAL), JOBS, mcs=True).run(duration=40 * MS)
    assert [level for time, level in changes(run) if time < 24] == [1]
    ends = run.of(Kind.JOB_END, "t4")
    assert 24 * MS < ends[0].time < 40 * MS


# degraded tasks

DEGRADED = """
component Worker {{ control; requestor; attribute int length; }}
assembly {{ composition {{ component Worker low; component Worker high; }} configuration {{
    low._priority = 20;  low._period = 10 ms;  low.length = 1;  {settings}
    high._priority = 10;  high._period = 100 ms;  high._budget = 10 ms;  high.length = 65;
    high._criticality = 1;  high._overrun = "raise";  high._budget_1 = 100 ms;
}} }}
"""


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize(
    ("settings", "begun"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ('low._degraded = "suspend";', [0, 1, 7, 8, 9]),
        ('low._degraded = "stretch 3";', [0, 1, 4, 7, 8, 9]),
    ],
)
def test_jobs_of_a_degraded_task(settings: str, begun: list[int], tmp_path: Path) -> None:
    """The criticality is 1 from 12 on, when `high` has used 10, until the processor is idle."""
    run = build(tmp_path, DEGRADED.format(settings=settings), JOBS, mcs=True).run(duration=100 * MS)
    assert changes(run)[0] == (12, 1)
    assert [e.args[0] for e in run.of(Kind.JOB_BEGIN, "low")] == begun
    left_out = {e.args[0] for e in run.of(Kind.JOB_LEFT_OUT, "low")}
    assert left_out == set(range(10)) - set(begun)
    assert run.violations() == []


@pytest.mark.long
def test_a_run_reports_when_the_criticality_changed(tmp_path: Path) -> None:
    run = build(tmp_path, tasks(7, CRITICAL), JOBS, mcs=True).run(duration=110 * MS)
    found = decode(run.events, run.names)
    assert found.criticality == ((4 * MS, 1), (99 * MS, 0), (104 * MS, 1))
    assert criticality_table(found.criticality).splitlines() == [
        "criticality of the system",
        "  from  criticality",
        "  4 ms            1",
        " 99 ms            0",
        "104 ms            1",
    ]


#: `low` holds the lock of `outer` and is in a nested request from 1 on, has no budget from 3 and no extension
#: from 4 to 20. `middle`, released at 2, comes for the lock at 4, and the processor is idle
NESTED = """
procedure Section { void enter(); }
component User { control; requestor; uses Section s; }
component Worker { control; requestor; attribute int length; }
component Controller { control; requestor; criticality_control; }
component Outer { provides Section s with priority_protocol inherited, overrun extend; uses Section next; }
component Inner { provides Section s with priority_protocol inherited, overrun extend; }
assembly { composition {
    component User low; component User middle; component User other; component Worker between;
    component Controller controller; component Outer outer; component Inner inner;
    connection seL4RPCCall a(from low.s, from middle.s, to outer.s);
    connection seL4RPCCall b(from outer.next, from other.s, to inner.s);
} configuration {
    low._priority = 10; low._criticality = 1; low._period = 20 ms; low._budget = 3 ms;
    inner.s_extension = 1 ms; inner.s_extension_period = 1 s; outer.s_extension = 1 ms;
    between._priority = 15; between._offset = 21 ms; between.length = 5;
    middle._priority = 20; middle._offset = 2 ms;
    other._priority = 25; other._offset = 500 ms;
    controller._priority = 100; controller._criticality = 1; controller._period = 2 ms;
} }
"""


@pytest.mark.long
def test_what_a_request_inherits_holds_when_the_criticality_falls(tmp_path: Path) -> None:
    """A component cannot lower it, at 2; it falls at 4. The nested request goes on from 20 to 23 with the
    priority of `middle`, so `between`, from 21 on, waits."""
    sources = {
        "User": "int run(void) { if (camkes_next_job()) { s_enter(); } return 0; }\n",
        "Controller": """int run(void)
{
    for (unsigned level = 1; level < 2 && camkes_next_job(); level--) {
        camkes_set_criticality(level);
    }
    return 0;
}
""",
        "Outer": "void s_enter(void) { camkes_work(CAMKES_MS(1)); next_enter(); }\n",
        "Inner": "void s_enter(void) { camkes_work(CAMKES_MS(10)); }\n",
        **JOBS,
    }
    run = build(tmp_path, NESTED, sources, mcs=True).run(duration=40 * MS)
    assert changes(run) == [(0, 1), (4, 0)]
    assert [e.time for e in run.of(Kind.JOB_END, "between")] == [(23 + 5) * MS]
    assert run.violations() == []


#: `late` raises the criticality at 2, when `early` has used 1 of its budget of 2, and needs 5 more
GROWS = """
procedure Section {{ void enter(in int ms); }}
component Worker {{ control; requestor; attribute int length; }}
component User {{ control; requestor; uses Section s; attribute int length; }}
component Server {{ provides Section s with priority_protocol propagated; }}
assembly {{ composition {{
    component {early} early; component User other; component Worker late; component Server server;
    connection seL4RPCCall c({caller}from other.s, to server.s);
}} configuration {{
    early._priority = 10;  early._period = 100 ms;  early.length = 6;
    early._budget = 2 ms;  early._budget_1 = 8 ms;  early._criticality = 1;
    late._priority = 20;  late._period = 100 ms;  late._offset = 1 ms;  late.length = 3;
    late._budget = 1 ms;  late._budget_1 = 4 ms;  late._criticality = 1;  late._overrun = "raise";
    other._priority = 5;  other._offset = 500 ms;  other._criticality = 1;  other.length = 1;
}} }}
"""


@pytest.mark.long
@pytest.mark.parametrize(("early", "caller"), [("Worker", ""), ("User", "from early.s, ")])
def test_a_preempted_job_has_the_larger_budget_at_once(early: str, caller: str, tmp_path: Path) -> None:
    """In its own code, and in a request, which executes on its budget: the job ends 5 after `late`."""
    sources = {
        "User": "int run(void) { while (camkes_next_job()) { s_enter(length); } return 0; }\n",
        "Server": "void s_enter(int ms) { camkes_work(CAMKES_MS(ms)); }\n",
        **JOBS,
    }
    system = GROWS.format(early=early, caller=caller)
    run = build(tmp_path, system, sources, mcs=True).run(duration=50 * MS)
    assert changes(run)[0] == (2, 1)
    assert [e.time for e in run.of(Kind.JOB_END, "late")] == [4 * MS]
    assert [e.time for e in run.of(Kind.JOB_END, "early")] == [9 * MS]
    assert run.violations() == []


#: `raises` raises the criticality at 1, and needs 2 more
ABOVE = """
procedure Section { void enter(in int ms); }
component Worker { control; requestor; attribute int length; }
component User { control; requestor; uses Section s; attribute int length; }
component Server { provides Section s with priority_protocol inherited, overrun help; }
assembly { composition {
    component Worker raises; component Worker between; component User below; component User other;
    component Server server;
    connection seL4RPCCall c(from below.s, from other.s, to server.s);
} configuration {
    raises._priority = 20;  raises._period = 100 ms;  raises.length = 3;
    raises._budget = 1 ms;  raises._budget_1 = 4 ms;  raises._criticality = 1;  raises._overrun = "raise";
    between._priority = 12;  between._period = 100 ms;  between._offset = 500 us;  between.length = 7;
    between._criticality = 1;
    below._priority = 10;  below._period = 100 ms;  below._offset = 500 us;  below.length = 5;
    below._criticality = 1;
    other._priority = 15;  other._offset = 500 ms;  other.length = 1;
} }
"""


@pytest.mark.long
def test_a_task_does_not_wait_for_the_change_of_those_below(tmp_path: Path) -> None:
    """The manager of the CPI of `below` has a lower priority than `between`, which is ready."""
    user = "int run(void) { while (camkes_next_job()) { s_enter(length); } return 0; }\n"
    server = "void s_enter(int ms) { camkes_work(CAMKES_MS(ms)); }\n"
    run = build(tmp_path, ABOVE, {"User": user, "Server": server, **JOBS}, mcs=True).run(duration=50 * MS)
    assert changes(run)[0] == (1, 1)
    ends = {
        name: [e.time // MS for e in run.of(Kind.JOB_END, name)] for name in ("raises", "between", "below")
    }
    assert ends == {"raises": [3], "between": [10], "below": [15]}
    assert run.violations() == []
