# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Switches between threads from what those of a small system record: a task `high` and a task `low`, a server
for both without a protocol, and the timer driver."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from camkes.backends.sel4.recorded_system import RecordedCap, RecordedContext, RecordedSystem
from camkes.backends.sel4.switches import ContradictionError, Followed, Unsure, follow, without_switches
from camkes.backends.sel4.trace import GAP, RETURN, Record
from camkes.capdl.model import ObjectKind, Role
from camkes.model.limits import NO_NUMBER as NONE
from camkes.running.kinds import Binding, Blocked, EndReason, KernelCall, Kind
from camkes.running.names import NamedThread

pytestmark = pytest.mark.requirement("SEL4-15")

HIGH, LOW, SERVER, DRIVER = range(4)
ENDPOINT, RELEASE_HIGH, RELEASE_LOW, TIMERS, INTERRUPT, REPLY = range(6)
CONTEXTS = 10  # the first of their objects


def thread(number: int, name: str, priority: int, role: Role = Role.CONTROL, domain: int = 0) -> NamedThread:
    task = number if role is Role.CONTROL else None
    return NamedThread(number, name, name, name, role, priority, task=task, domain=domain)


def cap(number: int, kind: ObjectKind, badge: int = 0) -> RecordedCap:
    return RecordedCap(number, kind, badge)


CALLS, WAITS = 1, 2  # slots of tasks: the server, their releases
SYSTEM = RecordedSystem(
    mcs=False,
    threads=(
        thread(HIGH, "high", 20),
        thread(LOW, "low", 10),
        thread(SERVER, "server", 15, Role.INTERFACE),
        thread(DRIVER, "driver", 255, Role.INTERFACE),
    ),
    objects=("endpoint", "high:release", "low:release", "timers", "interrupt", "reply"),
    spaces={
        "high": {
            CALLS: cap(ENDPOINT, ObjectKind.ENDPOINT, 7),
            WAITS: cap(RELEASE_HIGH, ObjectKind.NOTIFICATION),
        },
        "low": {
            CALLS: cap(ENDPOINT, ObjectKind.ENDPOINT, 8),
            WAITS: cap(RELEASE_LOW, ObjectKind.NOTIFICATION),
        },
        "server": {1: cap(ENDPOINT, ObjectKind.ENDPOINT), 2: cap(REPLY, ObjectKind.REPLY)},
        "driver": {
            1: cap(INTERRUPT, ObjectKind.NOTIFICATION),
            2: cap(RELEASE_HIGH, ObjectKind.NOTIFICATION, 1),
            3: cap(RELEASE_LOW, ObjectKind.NOTIFICATION, 1),
        },
    },
    outside=(INTERRUPT,),
    contexts=(),
    schedule=(),
)
MCS = replace(
    SYSTEM,
    mcs=True,
    contexts=tuple(
        RecordedContext(CONTEXTS + number, number, budget, 1000, 2, sporadic=False)
        for number, budget in ((HIGH, 1000), (LOW, 300), (DRIVER, 1000))
    ),
)


def calls(time: int, number: int, operation: KernelCall, slot: int, *more: int) -> Record:
    return Record(time, Kind.KCALL, number, NONE, (operation, slot, *more))


def returns(time: int, number: int) -> Record:
    return Record(time, RETURN, number, NONE, ())


def gap(time: int, number: int, start: int) -> Record:
    return Record(time, GAP, number, NONE, (start, time))


def job(time: int, number: int, kind: Kind) -> Record:
    return Record(time, kind, number, NONE, (0, 0))


#: until `low` works in its first job; `high` waits for its release
START = [
    calls(1, DRIVER, KernelCall.WAIT, 1),
    calls(2, HIGH, KernelCall.WAIT, WAITS),
    calls(3, SERVER, KernelCall.RECV, 1, 0, 2),
    job(4, LOW, Kind.JOB_BEGIN),
]
END = [Record(1000, Kind.END, NONE, NONE, (EndReason.TIME,))]


def switches(found: Followed, after: int = 3) -> list[tuple[int, int | None]]:
    """Who runs from when on, without the start."""
    return [
        (record.time, None if record.kind == Kind.IDLE else record.thread)
        for record in found.records
        if record.kind in (Kind.SWITCH, Kind.IDLE) and record.time >= after
    ]


def of_kind(found: Followed, kind: Kind) -> list[tuple[int, ...]]:
    return [(r.time, r.thread, r.other, *r.arguments) for r in found.records if r.kind == kind]


def test_threads_run_as_they_record() -> None:
    found = follow(START, SYSTEM)
    assert switches(found, 0) == [(0, DRIVER), (1, HIGH), (2, SERVER), (3, LOW)]
    assert of_kind(found, Kind.BLOCK) == [
        (1, DRIVER, NONE, Blocked.NOTIFICATION, INTERRUPT),
        (2, HIGH, NONE, Blocked.NOTIFICATION, RELEASE_HIGH),
        (3, SERVER, NONE, Blocked.RECV, ENDPOINT),
    ]


def test_an_interrupt_preempts_and_the_preempted_thread_goes_on() -> None:
    """`low` makes no record after it was preempted: that it goes on follows from its priority."""
    records = [
        *START,
        returns(100, DRIVER),
        calls(101, DRIVER, KernelCall.SIGNAL, 2),
        calls(102, DRIVER, KernelCall.WAIT, 1),
        returns(103, HIGH),
        calls(200, HIGH, KernelCall.WAIT, WAITS),
        returns(500, DRIVER),
    ]
    found = follow(records, SYSTEM)
    assert switches(found, 100) == [(100, DRIVER), (102, HIGH), (200, LOW), (500, DRIVER)]
    assert of_kind(found, Kind.SIGNAL)[:2] == [
        (100, NONE, NONE, INTERRUPT, 0),
        (101, DRIVER, NONE, RELEASE_HIGH, 1),
    ]
    assert of_kind(found, Kind.READY)[1] == (101, HIGH, DRIVER)


def test_a_call_is_followed_to_the_server_and_back() -> None:
    records = [
        *START,
        calls(10, LOW, KernelCall.CALL, CALLS, 5 << 12 | 2),
        returns(11, SERVER),
        calls(30, SERVER, KernelCall.REPLYRECV, 1, 6 << 12 | 1, 2),
        returns(31, LOW),
        calls(40, LOW, KernelCall.WAIT, WAITS),
        *END,
    ]
    found = follow(records, SYSTEM)
    assert switches(found, 10) == [(10, SERVER), (30, LOW), (40, None)]
    assert of_kind(found, Kind.TRANSFER) == [(10, LOW, SERVER, ENDPOINT, 8, 5, 2)]
    assert of_kind(found, Kind.REPLY) == [(30, SERVER, LOW, 6, 1)]
    assert found.records[-1] == END[0]


def test_a_thread_that_could_not_run_is_a_contradiction() -> None:
    records = [*START, returns(50, HIGH)]
    with pytest.raises(ContradictionError, match=r"high runs, at priority 20, though it waits in the kernel"):
        follow(records, SYSTEM)
    records = [*START[:2], job(3, LOW, Kind.JOB_BEGIN)]
    with pytest.raises(ContradictionError, match=r"low runs, .* though server \(priority 15\) could"):
        follow(records, SYSTEM)


def test_nothing_is_known_of_several_cores() -> None:
    with pytest.raises(ContradictionError, match="several cores"):
        follow(START, replace(SYSTEM, several_cores=True))


def test_records_without_switches_have_nothing_of_their_own() -> None:
    records = [*START, gap(90, LOW, 60), returns(100, DRIVER)]
    assert without_switches(records) == (START[3],)


EQUAL = replace(
    SYSTEM,
    threads=(thread(HIGH, "high", 10), SYSTEM.threads[LOW], *SYSTEM.threads[SERVER:]),
)


@pytest.mark.parametrize(
    ("records", "at", "unsure"),
    [
        ([gap(400, LOW, 150), gap(600, HIGH, 400)], [(400, LOW), (600, HIGH)], []),
        ([job(400, LOW, Kind.JOB_BEGIN)], [(400, LOW)], [Unsure(20, 400)]),
    ],
    ids=["seen by the clock", "not seen"],
)
def test_equals_take_turns(
    records: Sequence[Record], at: list[tuple[int, int]], unsure: list[Unsure]
) -> None:
    start = [START[0], calls(2, SERVER, KernelCall.RECV, 1, 0, 2), job(20, HIGH, Kind.JOB_BEGIN)]
    found = follow([*start, *records], EQUAL)
    assert switches(found, 20) == at
    assert list(found.unsure) == unsure


def test_time_of_the_judge_passes_in_the_code_of_components_only() -> None:
    records = [
        *START,
        returns(100, DRIVER),
        calls(140, DRIVER, KernelCall.WAIT, 1),
        Record(200, Kind.CALL_BEGIN, LOW, NONE, (0, 0, 10)),
        calls(210, LOW, KernelCall.CALL, CALLS),
        returns(220, SERVER),
        Record(225, Kind.REQUEST_BEGIN, SERVER, NONE, (0, 0, 10, 1, 0)),
        Record(325, Kind.REQUEST_END, SERVER, NONE, (0, 0)),
        calls(330, SERVER, KernelCall.REPLYRECV, 1, 0, 2),
        returns(340, LOW),
        Record(350, Kind.CALL_END, LOW, NONE, (0, 0)),
        job(360, LOW, Kind.JOB_END),
    ]
    found = follow(records, SYSTEM)
    assert len(found.judged) == len(found.records)
    times = {(r.kind, r.thread): j.time for r, j in zip(found.records, found.judged, strict=True)}
    assert times[Kind.JOB_BEGIN, LOW] == 0
    assert times[Kind.CALL_BEGIN, LOW] == 96 + 60  # less 40 of the driver
    assert times[Kind.REQUEST_BEGIN, SERVER] == 156
    assert times[Kind.REQUEST_END, SERVER] == 256
    assert times[Kind.JOB_END, LOW] == 266


def test_a_request_leaves_a_monitor_when_its_lock_is_free() -> None:
    """That lock is the one of the first CPI. What the thread executes afterwards is the runtime's."""
    records = [
        *START,
        Record(200, Kind.CALL_BEGIN, LOW, NONE, (1, 0, 10)),
        calls(210, LOW, KernelCall.CALL, CALLS),
        returns(220, SERVER),
        Record(225, Kind.REQUEST_BEGIN, SERVER, NONE, (1, 0, 10, 1, 0)),
        Record(275, Kind.LOCK_FREE, SERVER, NONE, (0, 0)),
        Record(285, Kind.METHOD, SERVER, NONE, (1, 0)),
        Record(325, Kind.REQUEST_END, SERVER, NONE, (1, 0)),
        calls(330, SERVER, KernelCall.REPLYRECV, 1, 0, 2),
    ]
    ends = [
        next(record.time for record in follow(records, system).judged if record.kind == Kind.REQUEST_END)
        for system in (replace(SYSTEM, locks={0: 0, 1: 0}), SYSTEM)
    ]
    assert ends == [196 + 50, 196 + 50 + 40]


def test_a_server_without_time_works_on_that_of_its_caller() -> None:
    """On an MCS kernel, to which it comes with the call and from which it goes with the answer."""
    own = RecordedContext(CONTEXTS + SERVER, SERVER, 1000, 1000, 2, sporadic=False)
    to_own = {3: cap(own.object, ObjectKind.SCHEDULING_CONTEXT)}
    system = replace(
        MCS, contexts=(*MCS.contexts, own), spaces={**MCS.spaces, "low": {**MCS.spaces["low"], **to_own}}
    )
    records = [
        *START,
        calls(5, LOW, KernelCall.CONTEXT, 3),  # takes the server's own away
        calls(10, LOW, KernelCall.CALL, CALLS),
        returns(11, SERVER),
        calls(30, SERVER, KernelCall.REPLYRECV, 1, 0, 2),
        returns(31, LOW),
        calls(40, LOW, KernelCall.WAIT, WAITS),
        *END,
    ]
    found = follow(records, system)
    assert switches(found, 10) == [(10, SERVER), (30, LOW), (40, None)]
    assert [each for each in of_kind(found, Kind.BIND) if each[0] > 0] == [
        (5, NONE, LOW, own.object, Binding.UNBOUND),
        (10, SERVER, LOW, CONTEXTS + LOW, Binding.CALL),
        (30, LOW, SERVER, CONTEXTS + LOW, Binding.REPLY),
    ]
    assert [each[4] for each in of_kind(found, Kind.CHARGE) if each[3] == CONTEXTS + LOW] == [37]


def test_a_thread_whose_budget_is_used_up_waits_for_the_next() -> None:
    records = [
        calls(1, DRIVER, KernelCall.WAIT, 1),
        calls(2, HIGH, KernelCall.WAIT, WAITS),
        job(4, LOW, Kind.JOB_BEGIN),
        Record(310, Kind.IDLE, NONE, NONE, ()),
        gap(1004, LOW, 304),
        job(1100, LOW, Kind.JOB_END),
    ]
    found = follow(records, MCS)
    assert switches(found, 4) == [(304, None), (1004, LOW)]
    assert [each[:2] for each in of_kind(found, Kind.POSTPONE)] == [(304, LOW)]
    assert of_kind(found, Kind.RELEASE) == [(1004, LOW, NONE, CONTEXTS + LOW)]
    assert of_kind(found, Kind.CHARGE)[-1][3:] == (CONTEXTS + LOW, 302, 0)
    assert not found.unsure


def test_the_end_of_a_budget_follows_from_what_was_used_of_it() -> None:
    records = [
        calls(1, DRIVER, KernelCall.WAIT, 1),
        calls(2, HIGH, KernelCall.WAIT, WAITS),
        job(4, LOW, Kind.JOB_BEGIN),
        Record(310, Kind.IDLE, NONE, NONE, ()),
    ]
    found = follow(records, MCS)
    assert switches(found, 4) == [(302, None)]
    assert [each[:2] for each in of_kind(found, Kind.POSTPONE)] == [(302, LOW)]
    assert not found.unsure


def test_a_budget_can_end_at_a_kernel_call() -> None:
    records = [
        calls(1, DRIVER, KernelCall.WAIT, 1),
        calls(2, HIGH, KernelCall.WAIT, WAITS),
        job(4, LOW, Kind.JOB_BEGIN),
        calls(299, LOW, KernelCall.POLL, WAITS),
        Record(310, Kind.IDLE, NONE, NONE, ()),
        job(1003, LOW, Kind.JOB_END),
    ]
    found = follow(records, MCS)
    assert switches(found, 4) == [(299, None), (1003, LOW)]
    assert not found.unsure


@pytest.mark.parametrize(("budget", "left"), [(900_000, "899.702 us"), (1_000_000, "all")])
def test_a_thread_with_budget_left_has_to_run(budget: int, left: str) -> None:
    """Else a violation of priorities would count as the end of a budget."""
    low = replace(MCS.contexts[LOW], budget=budget, period=1_000_000)
    system = replace(MCS, contexts=(MCS.contexts[HIGH], low, MCS.contexts[2]))
    records = [
        calls(1, DRIVER, KernelCall.WAIT, 1),
        calls(2, HIGH, KernelCall.WAIT, WAITS),
        job(4, LOW, Kind.JOB_BEGIN),
        Record(300, Kind.IDLE, NONE, NONE, ()),
    ]
    with pytest.raises(ContradictionError, match=f"low does not run, and has {left} of its budget left"):
        follow(records, system)


def test_slots_of_domains_are_seen_by_who_runs_in_them() -> None:
    system = replace(
        SYSTEM,
        threads=(thread(HIGH, "high", 20, domain=1), *SYSTEM.threads[LOW:]),
        schedule=((0, 100), (1, 200)),
    )
    records = [
        calls(1, DRIVER, KernelCall.WAIT, 1),
        calls(2, SERVER, KernelCall.RECV, 1, 0, 2),
        job(3, LOW, Kind.JOB_BEGIN),
        job(40, HIGH, Kind.JOB_BEGIN),
        gap(242, LOW, 38),
        gap(341, HIGH, 240),
    ]
    found = follow(records, system)
    assert switches(found, 3) == [(40, HIGH), (242, LOW), (341, HIGH)]
    assert [each[0] for each in of_kind(found, Kind.SLOT)] == [0, 40, 242, 341]
