# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Jobs that are stopped when the budget of their task is used up. The figures were computed by hand."""

from __future__ import annotations

import pytest

from camkes.running.decode import decode
from camkes.running.events import Event
from camkes.running.jobs import response_times
from camkes.running.kinds import Kind
from camkes.running.model import State
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("RT-22")

MS = 1_000_000

SYSTEM = """
procedure Section { int enter(in int ms); }
component Task { control; requestor; uses Section s; }
component Worker { control; requestor; }
component Store { provides Section s with priority_protocol inherited, overrun abort; }
assembly {
    composition {
        component Task task; component Worker low; component Store store;
        connection seL4RPCCall c(from task.s, to store.s);
    }
    configuration {
        task._priority = 20; task._period = 20 ms; task._budget = 3 ms; task._overrun = "stop";
        low._priority = 10; low._period = 40 ms;
    }
}
"""
HEAD = "#include <camkes/realtime.h>\n"
SOURCES = {
    # the second job does not end, the fourth is in a request when its budget ends
    "Task": HEAD
    + """
static int begun;
int run(void)
{
    printf("run at %d\\n", (int)(camkes_now() / 1000000));
    while (begun < 6 && camkes_next_job()) {
        begun++;
        if (begun == 4) {
            s_enter(10);
        }
        camkes_work(begun == 2 ? CAMKES_MS(1000) : CAMKES_MS(2));
    }
    return begun;
}
""",
    "Worker": HEAD
    + "int run(void) { while (camkes_next_job()) { camkes_work(CAMKES_MS(10)); } return 0; }\n",
    "Store": HEAD + "int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }\n",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return build(tmp_path_factory.mktemp("stopped"), SYSTEM, SOURCES, mcs=True).run(duration=200 * MS)


def test_the_next_job_begins_at_its_release(run: Run) -> None:
    assert [(e.time // MS, e.args[0]) for e in run.of(Kind.JOB_STOP)] == [(23, 1), (63, 3)]
    assert {e.other for e in run.of(Kind.JOB_STOP)} == {run.number("task")}
    assert [(e.time // MS, e.args[0]) for e in run.of(Kind.JOB_END, "task")] == [
        (2, 0),
        (42, 2),
        (82, 4),
        (102, 5),
    ]
    assert run.output.splitlines() == [f"run at {at}" for at in (0, 40, 80)]


def test_others_are_not_late(run: Run) -> None:
    assert [e.time - e.args[1] for e in run.of(Kind.JOB_END, "low")] == [
        ms * MS for ms in (12, 12, 12, 10, 10)
    ]


def test_a_stopped_job_is_missed(run: Run) -> None:
    (lane,) = (lane for lane in decode(run.events, run.names).lanes if lane.task.name == "task")
    times = response_times(lane)
    assert (times.completed, times.missed) == (4, 2)


def test_a_task_whose_handler_does_not_execute_yet_waits_for_its_budget(run: Run) -> None:
    """The run, ended before the handler receives the fault, and 1 ms later."""
    overrun = next(n for n, event in enumerate(run.events) if event.kind is Kind.TIMEOUT)
    blocked = next(n for n, e in enumerate(run.events) if n > overrun and e.kind is Kind.BLOCK)
    at = run.events[blocked].time
    cut = [
        *run.events[: blocked + 1],
        Event(at, Kind.IDLE, None, None, ()),
        run.events[-1]._replace(time=at + MS),
    ]
    (lane,) = (lane for lane in decode(cut, run.names).lanes if lane.task.name == "task")
    last = lane.segments[-1]
    assert (last.start, last.end, last.state) == (at, at + MS, State.WAITS_BUDGET)


def test_nothing_is_left(run: Run) -> None:
    assert [e.args[0] for e in run.of(Kind.EXIT, "task")] == [6]
    assert run.violations() == []
    assert run.without_own_time() == []
