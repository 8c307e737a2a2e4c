# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The model of a run, decoded from traces that were worked out by hand."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from msgspec.structs import replace

from camkes.capdl.model import Role
from camkes.running.decode import decode
from camkes.running.events import Event
from camkes.running.jobs import ResponseTimes, response_times
from camkes.running.kinds import Blocked, KernelCall, Kind
from camkes.running.model import Run, Spent, State
from camkes.running.names import NamedTask, NamedThread, TraceNames
from camkes.showing.draw.terminal import terminal_report
from camkes.showing.summary import RunReport, task_report, to_json
from tests.examples import examples

from .simulator import INVERSION, MS, CpiSpec, TaskSpec, simulate
from .test_properties import systems

pytestmark = pytest.mark.requirement("TOOL-10")


def responses(run: Run) -> dict[str, ResponseTimes]:
    return {lane.task.name: response_times(lane) for lane in run.tasks}


def inversion(inherit: bool) -> Run:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"], inherit)  # type: ignore[arg-type]
    return decode(events, names)


def brief(run: Run, task: str) -> list[tuple[int, int, str, str]]:
    lane = next(lane for lane in run.lanes if lane.task.name == task)
    return [(s.start // MS, s.end // MS, s.state.value, s.what) for s in lane.segments]


def test_lanes_with_inheritance() -> None:
    found = inversion(True)
    assert [lane.task.name for lane in found.lanes] == ["high", "middle", "low"]
    assert brief(found, "high") == [
        (2, 3, "running", ""),
        (3, 6, "waits for lock", "lock.p"),
        (6, 10, "running", "lock.p"),
        (10, 11, "running", ""),
        (22, 23, "running", ""),
        (23, 27, "running", "lock.p"),
        (27, 28, "running", ""),
    ]
    assert brief(found, "middle") == [
        (3, 6, "held up", "lock.p"),
        (6, 11, "preempted", ""),
        (11, 19, "running", ""),
    ]


def test_responses_with_and_without_inheritance() -> None:
    with_, without = (responses(inversion(inherit)) for inherit in (True, False))
    # high: 1 + (4 - 1 of the lock's work left) + 4 + 1; without: the 8 of middle in between
    assert with_["high"].maximum == 9 * MS
    assert without["high"].maximum == 17 * MS
    assert with_["high"].blocked == 3 * MS
    assert without["high"].blocked == 11 * MS
    assert with_["middle"].blocked == 3 * MS
    assert with_["low"].blocked == 0
    assert with_["high"].missed == without["high"].missed == 0
    assert with_["high"].mean == 7.5 * MS


def test_a_late_job_is_a_miss_and_an_unfinished_one_counts_if_its_deadline_passed() -> None:
    tasks = [TaskSpec("t", 10, (0, 5, 10), (4,), 3), TaskSpec("u", 5, (0,), (100,), 10)]
    events, names, _ = simulate(tasks, [], until=20)
    rows = responses(decode(events, names))
    assert (rows["t"].completed, rows["t"].missed) == (3, 3)
    assert (rows["u"].completed, rows["u"].unfinished, rows["u"].missed) == (0, 1, 1)


def short_of_time() -> Run:
    """A task of 2 in 10 with a job of 3, beside one of a lower priority: it waits for time from 2 on."""
    tasks = [TaskSpec("t", 10, (0,), (3,)), TaskSpec("u", 5, (0,), (4,))]
    _, names, _ = simulate(tasks, [], until=20)
    t, u = (thread.number for thread in names.threads)

    def at(time: int, kind: Kind, thread: int | None, *args: int) -> Event:
        return Event(time * MS, kind, thread, None, args)

    return decode(
        [
            at(0, Kind.BUDGET, t, 9, 2 * MS, 10 * MS, 2, 1),
            at(0, Kind.BUDGET, u, 8, 10 * MS, 10 * MS, 2, 1),
            at(0, Kind.SWITCH, t, 10),
            at(0, Kind.JOB_BEGIN, t, 0, 0),
            at(0, Kind.JOB_BEGIN, u, 0, 0),
            at(2, Kind.CHARGE, t, 9, 2 * MS, 0),
            at(2, Kind.POSTPONE, t, 9, 10 * MS),
            at(2, Kind.SWITCH, u, 5),
            at(6, Kind.JOB_END, u, 0, 0),
            at(6, Kind.BLOCK, u, Blocked.NOTIFICATION, 1),
            at(6, Kind.IDLE, None),
            at(10, Kind.RELEASE, t, 9),
            at(10, Kind.SWITCH, t, 10),
            at(11, Kind.JOB_END, t, 0, 0),
            at(11, Kind.CHARGE, t, 9, MS, MS),
            at(11, Kind.BLOCK, t, Blocked.NOTIFICATION, 1),
            at(11, Kind.END, None, 1),
        ],
        names,
    )


def test_a_thread_whose_budget_is_used_up_waits_for_it() -> None:
    """That counts as blocking: the job is not finished while less urgent work runs, or none."""
    run = short_of_time()
    assert brief(run, "t") == [
        (0, 2, "running", ""),
        (2, 10, "waits for its budget", ""),
        (10, 11, "running", ""),
    ]
    assert responses(run)["t"].blocked == 8 * MS
    left = ((0, 2 * MS), (2 * MS, 0), (10 * MS, 0), (10 * MS, 2 * MS), (11 * MS, MS))
    assert run.spent == (Spent("t", 2 * MS, 10 * MS, 3 * MS, 1, 0, left),)
    chart = terminal_report(run, width=60)
    table = chart[chart.index("budgets (ms)") :].split()
    assert table[-6:] == ["t", "2", "10", "3", "1", "0"]
    assert "¤" in chart.splitlines()[0] and "¤ out of budget" in chart


def test_a_budget_of_which_a_part_is_used_up_is_not_overrun() -> None:
    """The handler of the timeout lets the thread go on with what is left."""
    tasks = [TaskSpec("t", 10, (0,), (3,))]
    _, names, _ = simulate(tasks, [], until=20)

    def overruns(left: int) -> int:
        records = [
            (Kind.BUDGET, 0, (9, 3 * MS, 10 * MS, 2, 1)),
            (Kind.SWITCH, 0, (10,)),
            (Kind.JOB_BEGIN, 0, (0, 0)),
            (Kind.CHARGE, 2, (9, 2 * MS, left)),
            (Kind.TIMEOUT, 2, (9, 2 * MS, 1)),
            (Kind.END, 3, (1,)),
        ]
        run = decode([Event(time * MS, kind, 0, None, args) for kind, time, args in records], names)
        assert [spent.timeouts for spent in run.spent] == [len(run.overruns)]
        return len(run.overruns)

    assert overruns(0) == 1
    assert overruns(MS) == 0


def test_json_has_every_job() -> None:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    run = decode(events, names)
    document = json.loads(to_json(RunReport(end=run.end, tasks=tuple(map(task_report, run.tasks)))))
    high = document["tasks"][0]
    assert high["response"] == {"min": 6 * MS, "mean": 7.5 * MS, "max": 9 * MS}
    assert [job["blocked"] for job in high["job_list"]] == [3 * MS, 0]


@given(systems())
@examples(60)
def test_each_instant_of_the_processor_is_in_one_lane(system: tuple[list[TaskSpec], list[CpiSpec]]) -> None:
    """The times of all tasks add up to that of the processor; a job's response is what its lane shows."""
    events, names, _ = simulate(*system)
    found = decode(events, names)
    busy = idle = 0
    running = None
    for before, event in pairwise(events):
        running = {Kind.SWITCH: before.thread, Kind.IDLE: None}.get(before.kind, running)
        busy, idle = (busy + event.time - before.time, idle) if running is not None else (busy, idle)
    runs = [s for lane in found.lanes for s in lane.segments if s.state is State.RUNNING]
    assert sum(s.duration for s in runs) == busy
    for lane in found.lanes:
        for a, b in pairwise(lane.segments):
            assert a.end <= b.start
        for job in lane.jobs:
            assert job.end is not None
            shown = sum(
                min(s.end, job.end) - max(s.start, job.release)
                for s in lane.segments
                if s.end > job.release and s.start < job.end
            )
            assert shown == job.end - job.release


def plain_rpc() -> tuple[list[Event], TraceNames]:
    """A server without a protocol: the kernel's records alone say whose lane its work is in."""
    names = TraceNames(
        (
            NamedThread(0, "a", "a", "a", Role.CONTROL, 10, task=0),
            NamedThread(1, "b", "b", "b", Role.CONTROL, 20, task=1),
            NamedThread(2, "s.p", "s", "s", Role.INTERFACE, 30, "s.p"),
        ),
        (NamedTask(0, "a", 10, 0), NamedTask(1, "b", 20, 1)),
        objects=("s.p",),
    )
    call, transfer = (KernelCall.CALL, 0), (0, 1, 0, 1)
    events = [
        Event(0, Kind.BLOCK, 2, None, (Blocked.RECV, 0)),
        Event(0, Kind.BLOCK, 1, None, (Blocked.NOTIFICATION, 0)),
        Event(0, Kind.SWITCH, 0, None, (10,)),
        Event(0, Kind.JOB_BEGIN, 0, None, (0, 0)),
        Event(2, Kind.KCALL, 0, None, call),
        Event(2, Kind.TRANSFER, 0, 2, transfer),
        Event(2, Kind.READY, 2, 0),
        Event(2, Kind.BLOCK, 0, None, (Blocked.REPLY, 0)),
        Event(2, Kind.SWITCH, 2, 0, (30,)),
        Event(3, Kind.BLOCK, 2, None, (Blocked.NOTIFICATION, 0)),
        Event(3, Kind.READY, 1),
        Event(3, Kind.SWITCH, 1, 2, (20,)),
        Event(3, Kind.JOB_BEGIN, 1, None, (0, 3)),
        Event(4, Kind.KCALL, 1, None, call),
        Event(4, Kind.BLOCK, 1, None, (Blocked.CALL, 0)),
        Event(4, Kind.IDLE, None, 1),
        Event(5, Kind.READY, 2),
        Event(5, Kind.SWITCH, 2, None, (30,)),
        Event(6, Kind.REPLY, 2, 0, (0, 0)),
        Event(6, Kind.READY, 0, 2),
        Event(6, Kind.TRANSFER, 1, 2, transfer),
        Event(6, Kind.BLOCK, 1, None, (Blocked.REPLY, 0)),
        Event(8, Kind.END, args=(1,)),
    ]
    return events, names


def test_plain_servers_work_in_the_lane_of_their_caller() -> None:
    events, names = plain_rpc()
    found = decode(events, names)
    lane = {
        lane.task.name: [(s.start, s.end, s.state.value, s.what) for s in lane.segments]
        for lane in found.lanes
    }
    assert lane["a"] == [
        (0, 2, "running", ""),
        (2, 3, "running", "s.p"),
        (3, 5, "waits for signal", "s.p"),
        (5, 6, "running", "s.p"),
        (6, 8, "preempted", ""),
    ]
    assert lane["b"] == [
        (3, 4, "running", ""),
        (4, 5, "waits for server", "s.p"),
        (5, 6, "waits for server", "s.p"),
        (6, 8, "running", "s.p"),
    ]


def test_a_control_thread_without_a_task_has_a_lane_if_it_works() -> None:
    events, names = plain_rpc()
    threads = (replace(names.threads[0], task=None), *names.threads[1:])
    found = decode(events, TraceNames(threads, names.tasks[1:], objects=names.objects))
    assert [lane.task.name for lane in found.lanes] == ["b", "a"]
    assert list(responses(found)) == ["b"]


def test_a_signal_that_ends_a_wait_is_a_wakeup() -> None:
    """That of another thread: not the release by a timer, and not a message."""
    tasks = [TaskSpec("t", 10, (0,), (1 * MS,), 20 * MS), TaskSpec("u", 5, (0,), (1 * MS,), 20 * MS)]
    _, names, _ = simulate(tasks, [], until=20)
    t, u = (thread.number for thread in names.threads)

    def at(time: int, kind: Kind, thread: int | None, other: int | None, *args: int) -> Event:
        return Event(time * MS, kind, thread, other, args)

    events = [
        at(0, Kind.SWITCH, t, None, 10),
        at(1, Kind.BLOCK, t, None, Blocked.NOTIFICATION, 1),
        at(1, Kind.SWITCH, u, t, 5),
        at(2, Kind.SIGNAL, u, None, 1, 0),
        at(2, Kind.READY, t, u),
        at(3, Kind.BLOCK, t, None, Blocked.NOTIFICATION, 1),
        at(4, Kind.READY, t, None),
        at(5, Kind.BLOCK, t, None, Blocked.REPLY, 1),
        at(6, Kind.READY, t, u),
        at(7, Kind.END, None, None, 1),
    ]
    (found,) = decode(events, names).wakeups
    assert (found.time, found.emitter, found.receiver) == (2 * MS, u, t)
