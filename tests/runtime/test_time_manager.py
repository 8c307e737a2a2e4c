# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The time manager: which servers tasks have in a run, and what it holds; figures computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.capdl.authority import authority
from camkes.capdl.host_table import host_table
from camkes.capdl.time_manager import TIME_MANAGER
from camkes.running.kinds import KernelCall, Kind
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("RT-24")

MS = 1_000_000
WORKER = "component Worker {{ control; requestor; attribute int length; }}\n"
SOURCES = {
    "Worker": "#include <camkes/realtime.h>\n"
    "int run(void) { while (camkes_next_job()) { camkes_work(CAMKES_US(length)); } return 0; }\n"
}

#: `l` is always busy, and `h` preempts it once, from 2 to 5
PREEMPTED = (
    WORKER
    + """assembly {{ composition {{ component Worker l; component Worker h; }} configuration {{
    l._priority = 10;  l._period = 20 ms;  l._budget = 5 ms;  l.length = 1000000;  {settings}
    h._priority = 20;  h._period = 100 ms;  h._budget = 100 ms;  h.length = 3000;  h._offset = 2 ms;
}} }}
"""
)


def intervals(run: Run, thread: str) -> list[tuple[float, float]]:
    """When a thread executes, in milliseconds."""
    number, found, since = run.number(thread), [], None
    for event in run.events:
        if event.kind in (Kind.SWITCH, Kind.IDLE):
            if since is not None and since < event.time:
                found.append((since / MS, event.time / MS))
            since = event.time if event.thread == number and event.kind is Kind.SWITCH else None
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('l._server = "constant_bandwidth";', [(0, 2), (5, 8), (20, 22), (25, 28), (40, 42), (45, 48)]),
        ("", [(0, 2), (5, 8), (20, 25), (40, 45)]),
    ],
)
def test_a_preemption_splits_the_budget_of_a_constant_bandwidth_server_only(
    settings: str, expected: list[tuple[float, float]], tmp_path: Path
) -> None:
    run = build(tmp_path, PREEMPTED.format(settings=settings), SOURCES, mcs=True).run(duration=55 * MS)
    assert intervals(run, "l") == expected


@pytest.mark.parametrize("schedule", ["(1, 10 ms), (1, 20 ms)", "(1, 30 ms), (0, 60 ms)"])
def test_tasks_have_their_servers_in_every_domain(schedule: str, tmp_path: Path) -> None:
    """It executes in the first slot, whatever domain that is of: before any task."""
    text = PREEMPTED.format(settings="l._domain = 1; h._domain = 1;")
    text = text[: text.rindex("}")] + f"schedule {{ [{schedule}] }} }}\n"
    run = build(tmp_path, text, SOURCES, mcs=True).run(duration=29 * MS)
    assert intervals(run, "l") == [(0, 2), (5, 8), (20, 25)]
    assert [e.args[3:] for e in run.of(Kind.BUDGET, "l")] == [(2, 0), (5, 1)]
    assert run.of(Kind.WORK)[0].time == run.of(Kind.BUDGET, "l")[-1].time == 0


@pytest.mark.long
def test_refills_are_those_that_are_stated(tmp_path: Path) -> None:
    built = build(tmp_path, PREEMPTED.format(settings="l._refills = 7;"), SOURCES, mcs=True)
    shown = [e.args[1:] for e in built.run(duration=MS).of(Kind.BUDGET, "l")]
    assert shown == [(5 * MS, 20 * MS, 2, 0), (5 * MS, 20 * MS, 7, 1)], "of the loader, of the time manager"


@pytest.mark.long
def test_no_thread_can_configure_contexts_when_tasks_execute(tmp_path: Path) -> None:
    """Of all capabilities that the kernel knows, at boot the time manager's only is of that kind."""
    built = build(tmp_path, PREEMPTED.format(settings=""), SOURCES, mcs=True)
    held = [
        h for h in authority(built.system, built.plan, built.model) if h.object.startswith("sched-control")
    ]
    assert [h.space for h in held] == [TIME_MANAGER]
    assert held[0].reason == "configures servers, and is deleted before other threads execute"
    run = built.run(duration=MS)
    manager = run.number(TIME_MANAGER)
    calls = [n for n, e in enumerate(run.events) if e.kind is Kind.KCALL and e.thread == manager]
    assert [run.events[n].args[0] for n in calls] == [KernelCall.CONFIGURE, KernelCall.CNODE]
    assert calls[-1] < next(n for n, e in enumerate(run.events) if e.kind is Kind.WORK)


def test_without_a_server_of_another_kind_there_is_no_time_manager(tmp_path: Path) -> None:
    built = build(
        tmp_path,
        PREEMPTED.format(settings='l._server = "constant_bandwidth"; l._refills = 2;'),
        SOURCES,
        mcs=True,
    )
    assert TIME_MANAGER not in host_table(built.model, {s.name: s.name for s in built.model.spaces})


HOG = (
    WORKER
    + """
procedure Section {{ void enter(); }}
component User {{ control; requestor; uses Section s; }}
component Server {{ provides Section s with priority_protocol fixed; }}
assembly {{ composition {{
    component Worker hog; component User client; component Server server;
    connection seL4RPCCall c(from client.s, to server.s);
}} configuration {{
    hog._priority = 254;  hog._period = 1 ms;  hog._budget = {budget} us;  hog.length = 1000000;
    client._priority = 251;  client._period = 10000 ms;  server.s_priority = 252;
}} }}
"""
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("budget", "requests"),
    [
        (250, 7_500),
        *(
            pytest.param(*row, marks=pytest.mark.long)
            for row in ((100, 9_000), (500, 5_000), (750, 2_500), (900, 1_000), (1_000, 0))
        ),
    ],
)
def test_a_task_above_all_others_has_its_budget_and_no_more(
    budget: int, requests: int, tmp_path: Path
) -> None:
    """In a second, with requests of 100 us back to back."""
    sources = {
        "User": "int run(void) { for (;;) { s_enter(); } }\n",
        "Server": "#include <camkes/realtime.h>\nvoid s_enter(void) { camkes_work(CAMKES_US(100)); }\n",
        **SOURCES,
    }
    run = build(tmp_path, HOG.format(budget=budget), sources, mcs=True).run()
    assert len(run.of(Kind.REQUEST_END)) == requests
