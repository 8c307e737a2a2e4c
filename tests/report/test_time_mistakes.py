# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes with time and replies, in records written by hand: who uses whose budget, what is charged, where
scheduling contexts are, when jobs are released, in which order bands have them, which replies are lost. Each
is found, and without it nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.running.kinds import Binding, Blocked, EndReason, KernelCall, Kind

from .records import Records, records_of

pytestmark = pytest.mark.requirement("AN-27")

#: `free` has no lock; those that wait for that of `helped` pay for its holder
SYSTEM = """
procedure Section { void enter(); }
component User { control; requestor; uses Section s; }
component Helped { provides Section s with priority_protocol inherited, overrun help; }
component Free { provides Section s with priority_protocol propagated, overrun extend; }
assembly {
    composition {
        component User low; component User high; component User other;
        component Helped helped; component Free free;
        connection seL4RPCCall c(from low.s, from high.s, to helped.s);
        connection seL4RPCCall d(from other.s, to free.s);
    }
    configuration {
        low._priority = 10; low._period = 100 ms; low._budget = 9 ms;
        high._priority = 30; high._period = 50 ms; high._budget = 9 ms; high._offset = 3 ms;
        other._priority = 20; other._period = 40 ms; other._budget = 9 ms;
        free.s_extension = 1 ms; free.s_extension_period = 40 ms;
    }
}
"""
EXTENSION = "free.s!extension:sc"


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """All threads wait, but that of `low` or none; tasks have their budgets."""
    records = records_of(tmp_path, SYSTEM)
    for thread in records.names.threads:
        if f"{thread.name}:sc" in records.names.objects:
            records.bind(f"{thread.name}:sc", thread.name)
        records.add(Kind.BLOCK, thread.name, "", Blocked.RECV, 0)
    return records


def run(records: Records, thread: str, time: int = 5) -> None:
    """A thread executes for a time."""
    priority = next(t.priority for t in records.names.threads if t.name == thread)
    records.add(Kind.READY, thread)
    records.add(Kind.SWITCH, thread, "", priority)
    records.time += time


def stop(records: Records, thread: str, *, idle: bool = True) -> None:
    records.add(Kind.BLOCK, thread, "", Blocked.RECV, 0)
    if idle:
        records.add(Kind.IDLE)


def test_a_task_on_its_own_budget(records: Records) -> None:
    run(records, "low")
    records.of_context(Kind.CHARGE, "low:sc", "low", 5, 0)
    stop(records, "low")
    assert records.found() == []


@pytest.mark.parametrize("charged", [0, 4, 6])
def test_what_is_charged_is_what_was_used(charged: int, records: Records) -> None:
    run(records, "low")
    records.of_context(Kind.CHARGE, "low:sc", "low", charged, 0)
    assert records.found() == [f"low:sc is charged {charged} ns for 5 ns of work"]


def test_work_without_a_budget(records: Records) -> None:
    records.bind("low:sc", "", "low", Binding.UNBOUND)
    run(records, "low")
    records.add(Kind.END, "", "", EndReason.TIME)
    assert records.found() == ["low executes without a scheduling context"]


def test_work_on_the_budget_of_another(records: Records) -> None:
    records.bind("low:sc", "", "low", Binding.UNBOUND)
    records.bind("high:sc", "low", "high")
    run(records, "low")
    records.add(Kind.END, "", "", EndReason.TIME)
    assert records.found() == ["low executes on high:sc, whose task neither requests nor waits for it"]


@pytest.mark.parametrize("waits", [True, False])
def test_a_task_pays_for_the_lock_that_it_waits_for(waits: bool, records: Records) -> None:
    records.request("helped.s", "low", "low")
    records.lock(Kind.LOCK_TAKE, "helped.s", "low")
    if waits:
        records.request("helped.s", "high", "high")
        records.lock(Kind.LOCK_WAIT, "helped.s", "high")
        records.add(Kind.PRIORITY, "helped.s@low", "", 10, 30)
    records.bind("high:sc", "helped.s@low", "helped.s!manager")
    run(records, "helped.s@low")
    records.add(Kind.END, "", "", EndReason.TIME)
    wrong = "helped.s@low executes on high:sc, whose task neither requests nor waits for it"
    assert records.found() == ([] if waits else [wrong])


def test_an_extension_is_for_its_interface(records: Records) -> None:
    records.request("free.s", "other", "other")
    records.bind(EXTENSION, "free.s@other", "free.s!manager")
    run(records, "free.s@other")
    records.add(Kind.END, "", "", EndReason.TIME)
    assert records.found() == []
    records.events.pop()
    records.add(Kind.BLOCK, "free.s@other", "", Blocked.RECV, 0)
    records.request("helped.s", "low", "low")
    records.lock(Kind.LOCK_TAKE, "helped.s", "low")
    records.bind(EXTENSION, "helped.s@low", "free.s!manager")
    run(records, "helped.s@low")
    records.add(Kind.END, "", "", EndReason.TIME)
    wrong = f"helped.s@low executes on {EXTENSION}, whose task neither requests nor waits for it"
    assert records.found() == [wrong]


@pytest.mark.parametrize(("left", "next"), [(0, "high"), (3, "high"), (3, "low"), (3, "stop"), (3, "runs")])
def test_the_end_of_a_part_of_a_budget(left: int, next: str, records: Records) -> None:
    run(records, "low")
    records.of_context(Kind.CHARGE, "low:sc", "low", 5, left)
    records.of_context(Kind.TIMEOUT, "low:sc", "low", 5, 0)
    if next == "runs":
        records.add(Kind.SWITCH, "low", "", 10)
        records.bind("high:sc", "low", "helped.s!manager")
    elif next == "stop":
        records.add(Kind.JOB_STOP, "helped.s!manager", "low", 0, 0)
    else:
        records.bind(f"{next}:sc", "low", "helped.s!manager")
    wrong = ["low has overrun, but low:sc has budget"] if left and next in ("high", "stop") else []
    assert records.found() == wrong


@pytest.mark.parametrize("called", [True, False])
def test_a_thread_that_waits_for_time_has_a_scheduling_context(called: bool, records: Records) -> None:
    """What receives a message that was only sent has none, which is another error."""
    records.add(Kind.TRANSFER, "low", "free.s@other", 7, 0, 0, 0)
    if called:
        records.add(Kind.BLOCK, "low", "", Blocked.REPLY, 7)
    records.add(Kind.READY, "free.s@other", "low")
    records.add(Kind.IDLE)
    wrong = "free.s@other could execute, but has no scheduling context"
    assert records.found() == ([wrong] if called else [])


def test_what_was_aborted_waits_for_the_extension(records: Records) -> None:
    records.add(Kind.KCALL, "free.s!manager", "", KernelCall.RESUME, 0)
    records.add(Kind.READY, "free.s@other", "free.s!manager")
    records.add(Kind.IDLE)
    assert records.found() == []


def test_a_budget_that_does_not_come_back(records: Records) -> None:
    records.bind("low:sc", "high", "low")
    records.add(Kind.IDLE)
    assert records.found() == ["the scheduling context of low is not back"]
    records.bind("low:sc", "low", "high")
    records.events.remove(records.events[-2])
    records.add(Kind.IDLE)
    assert records.found() == []


@pytest.mark.parametrize("thread", ["low", "helped.s@low"])
def test_a_priority_that_is_left_over(thread: str, records: Records) -> None:
    """But while a request is under way."""
    records.request("helped.s", "high", "high")
    records.add(Kind.PRIORITY, thread, "", 10, 20)
    records.add(Kind.IDLE)
    assert records.found() == []
    records.add(Kind.REQUEST_END, "helped.s@high", "", 0, 0)
    records.add(Kind.IDLE)
    assert records.found() == [f"{thread} is left at priority 20 and not at 10"]


def test_a_thread_without_budget_is_not_passed_over(records: Records) -> None:
    """It waits for a refill; then it is the next to run."""
    records.of_context(Kind.POSTPONE, "high:sc", "high", 9)
    records.add(Kind.READY, "high")
    run(records, "low")
    records.of_context(Kind.CHARGE, "low:sc", "low", 5, 0)
    records.of_context(Kind.RELEASE, "high:sc", "high")
    records.time += 1
    records.add(Kind.END, "", "", EndReason.TIME)
    assert records.found() == ["low (priority 10) runs while high (priority 30) could"]


# -- releases -----------------------------------------------------------------------------------------

MS = 1_000_000


@pytest.mark.parametrize(
    ("kind", "number", "when", "now", "wrong"),
    [
        (Kind.JOB_BEGIN, 1, 53 * MS, 60 * MS, ""),
        (Kind.JOB_END, 1, 53 * MS, 60 * MS, ""),
        (Kind.JOB_BEGIN, 1, 54 * MS, 60 * MS, "is released at 54000000 ns and not at 53000000 ns"),
        (Kind.JOB_END, 2, 53 * MS, 110 * MS, "is released at 53000000 ns and not at 103000000 ns"),
        (Kind.JOB_BEGIN, 1, 53 * MS, 52 * MS, "begins before its release at 53000000 ns"),
        (Kind.TIMER, 2, 0, 53 * MS, ""),
        (Kind.TIMER, 2, 0, 54 * MS, "is released at 54000000 ns and not at 53000000 ns"),
        (Kind.TIMER, 2, 0, 52 * MS, "begins before its release at 53000000 ns"),
    ],
)
def test_releases(kind: Kind, number: int, when: int, now: int, wrong: str, records: Records) -> None:
    records.time = now
    if kind is Kind.TIMER:
        records.add(kind, "", "", records.names.objects.index("high:timer"), number)
    else:
        records.add(kind, "high", "", number, when)
    job = number - 1 if kind is Kind.TIMER else number
    assert records.found() == ([f"job {job} of high {wrong}"] if wrong else [])


def test_a_request_in_the_name_of_another_task(records: Records) -> None:
    records.request("helped.s", "low", "low")
    event = records.events[-1]
    high = next(task.id for task in records.names.tasks if task.name == "high")
    records.events[-1] = event._replace(args=(*event.args[:3], high, 0))
    assert records.found() == ["helped.s@low serves a request as one of task high; it is of task low"]


# -- bands --------------------------------------------------------------------------------------------

BAND = """import <user_scheduler.camkes>;
component Task { control; requestor; uses UserScheduler band; }
assembly {
    composition {
        component Task a; component Task b; component EDFScheduler edf;
        connection seL4UserScheduler order(from a.band, from b.band, to edf.tasks);
    }
    configuration { a._period = 5 ms; b._period = 7 ms; edf._priority = 101; }
}
"""  # the band is 99 to 101


@pytest.fixture
def band(tmp_path: Path) -> Records:
    records = records_of(tmp_path, BAND, mcs=False)
    for thread in records.names.threads:
        records.add(Kind.BLOCK, thread.name, "", Blocked.NOTIFICATION, 0)
    return records


def turn(records: Records, task: str, priority: int, due: int) -> None:
    """The scheduler decides about a task, whose job is due then."""
    context = next(c.id for c in records.names.contexts if c.name == task)
    records.add(Kind.TURN, "edf", "", context, priority, due)


@pytest.mark.parametrize(
    ("turns", "begins", "wrong"),
    [
        ([("a", 100, 5)], ["a"], []),
        ([], ["a"], ["a job of a begins at the priority of its scheduler"]),
        ([("a", 100, 6)], ["a"], ["a job of a is ordered by 6000000 ns; its deadline is 5000000 ns"]),
        ([("b", 99, 7), ("a", 100, 5)], ["b", "a"], []),
        (
            [("b", 100, 7), ("a", 99, 5)],
            ["a"],
            ["a has the earlier deadline and no higher priority than b"],
        ),
        (
            [("b", 99, 7), ("a", 99, 5)],
            ["a"],
            ["a has the earlier deadline and no higher priority than b"],
        ),
        ([("b", 100, 7), ("b", 101, 0), ("a", 99, 5)], ["a"], []),
    ],
)
def test_turns(turns: list[tuple[str, int, int]], begins: list[str], wrong: list[str], band: Records) -> None:
    for task, priority, due in turns:
        turn(band, task, priority, due * MS)
    for task in begins:
        band.add(Kind.JOB_BEGIN, task, "", 0, 0)
    assert band.found() == wrong


def test_turns_that_are_not_ordered_by_deadlines(tmp_path: Path) -> None:
    records = records_of(tmp_path, BAND.replace("EDFScheduler", "FairScheduler"))
    for thread in records.names.threads:
        records.add(Kind.BLOCK, thread.name, "", Blocked.NOTIFICATION, 0)
    turn(records, "b", 100, 7 * MS)
    turn(records, "a", 99, 6 * MS)
    records.add(Kind.JOB_BEGIN, "a", "", 0, 0)
    assert records.found() == []


# -- replies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "lost"), [("helped.s@low", True), ("helped.s!manager", True), ("high", False)]
)
def test_a_reply_that_is_lost(server: str, lost: bool, records: Records) -> None:
    """A server that waits for its next message has answered; a task that waits for a message need not."""
    records.add(Kind.TRANSFER, "low", server, 7, 0, 0, 0)
    records.add(Kind.BLOCK, "low", "", Blocked.REPLY, 7)
    records.add(Kind.BLOCK, server, "", Blocked.NOTIFICATION, 8)
    assert records.found() == []
    records.add(Kind.BLOCK, server, "", Blocked.RECV, 7)
    records.add(Kind.BLOCK, server, "", Blocked.RECV, 7)
    wrong = f"low waits for a reply of {server}, which waits for the next message"
    assert records.found() == ([wrong] if lost else [])


@pytest.mark.parametrize("by", ["helped.s@low", "helped.s!manager", ""])
def test_a_reply_that_the_server_uses_for_the_next_message(by: str, records: Records) -> None:
    records.add(Kind.TRANSFER, "low", "helped.s@low", 7, 0, 0, 0)
    records.add(Kind.BLOCK, "low", "", Blocked.REPLY, 7)
    records.add(Kind.BLOCK, "low", by, Blocked.SUSPENDED, 0)
    wrong = "low waits for a reply of helped.s@low, which waits for the next message"
    assert records.found() == ([wrong] if by == "helped.s@low" else [])


@pytest.mark.parametrize("kind", [Kind.LOCK_WAIT, Kind.LOCK_GRANT])
def test_those_in_a_queue_are_answered_later(kind: Kind, records: Records) -> None:
    records.request("helped.s", "low", "low")
    records.lock(Kind.LOCK_TAKE, "helped.s", "low")
    records.request("helped.s", "high", "high")
    worker = "helped.s@high"
    records.add(Kind.TRANSFER, worker, "helped.s!manager", 7, 0, 0, 0)
    records.add(Kind.BLOCK, worker, "", Blocked.REPLY, 7)
    records.lock(Kind.LOCK_WAIT, "helped.s", "high")
    if kind is Kind.LOCK_GRANT:
        records.lock(Kind.LOCK_FREE, "helped.s", "low")
        records.lock(Kind.LOCK_GRANT, "helped.s", "high")
    records.add(Kind.BLOCK, "helped.s!manager", "", Blocked.RECV, 7)
    wrong = f"{worker} waits for a reply of helped.s!manager, which waits for the next message"
    assert records.found() == ([wrong] if kind is Kind.LOCK_GRANT else [])
