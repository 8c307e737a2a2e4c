# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Lending in a cycle: a task that is helped at one condition helps at another, which leads back to the
first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.support import loop, write
from tests.end_to_end.test_helpers import run

pytestmark = pytest.mark.requirement("RT-26")

SCHEDULES = {
    "fifo": (),
    "round-robin": ("--scheduling", "rr", "--timeslice", "100us"),
    "random": ("--choices", "random:7"),
}


def buffer(folder: Path, places: int, *, period: str = "100 ms") -> Path:
    """Two producers and two consumers of a buffer with two semaphores: `put` waits for `empty`, which
    consumers signal, `get` for `full`, which producers signal. A bystander is between them."""
    return write(
        folder,
        """
        procedure Get { void get(); }
        procedure Put { void put(); }
        component Producer { control; requestor; uses Put buffer; attribute int work = 1; }
        component Consumer { control; requestor; uses Get buffer; attribute int work = 1; }
        component Bystander { control; requestor; }
        component Buffer {
            provides Put put with priority_protocol propagated;
            provides Get get with priority_protocol propagated;
            has semaphore full with helpers;
            has semaphore empty with helpers;
        }""",
        f"""
        composition {{
            component Producer p1; component Producer p2;
            component Consumer c1; component Consumer c2;
            component Bystander bystander; component Buffer buffer;
            connection seL4RPCCall puts(from p1.buffer, from p2.buffer, to buffer.put);
            connection seL4RPCCall gets(from c1.buffer, from c2.buffer, to buffer.get);
        }}
        configuration {{
            p1._priority = 10; c1._priority = 40; p2._priority = 15; c2._priority = 30;
            bystander._priority = 20;
            p1._period = {period}; p2._period = {period}; c1._period = {period}; c2._period = {period};
            bystander._period = {period}; bystander._offset = 1 ms;
            p1.work = 2; p2.work = 3;
            buffer.full_value = 0; buffer.empty_value = {places};
        }}""",
        {
            "Producer": loop("MS(work); buffer_put();"),
            "Consumer": loop("buffer_get(); MS(work);"),
            "Bystander": loop("MS(8);"),
            "Buffer": """#pragma GCC diagnostic ignored "-Wunused-result"
void put_put(void) { empty_wait(); full_post(); }
void get_get(void) { full_wait(); empty_post(); }""",
        },
    )


@pytest.mark.long
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_producers_and_consumers_help_each_other(schedule: str, tmp_path: Path) -> None:
    """Producers have 40 while `c1` waits, which the first ends at 2, and 30 while `c2` waits, from 3 to 6."""
    found = run(buffer(tmp_path / "system", 1), tmp_path, *SCHEDULES[schedule], duration="190ms")
    assert None not in found.responses("bystander")
    if schedule == "fifo":
        assert found.executed()[:5] == [
            ("p1", 0, 2), ("c1", 2, 3), ("p2", 3, 6), ("c2", 6, 7), ("bystander", 7, 15),
        ]  # fmt: skip
        assert found.priorities("p1")[:5] == [(0, 10), (0, 40), (2, 10), (3, 30), (6, 10)]


HOURS = [(system, schedule) for system in ("buffer", "monitor", "ping-pong") for schedule in SCHEDULES]


def monitored(folder: Path, period: str) -> Path:
    """`buffer` with one place as a monitor: consumers help those that wait in `put`, producers in `get`."""
    path = buffer(folder, 1, period=period)
    text = (
        path.read_text()
        .replace("propagated", "inherited, monitor places")
        .replace("has semaphore", "has condition")
    )
    path.write_text(text.replace("buffer.full_value = 0; buffer.empty_value = 1;", ""))
    (path.parent / "Buffer.c").write_text(
        """#include <camkes.h>
static int items;
void put_put(void) { while (items > 0) { empty_wait(); } items++; full_signal(); }
void get_get(void) { while (items == 0) { full_wait(); } items--; empty_broadcast(); }
"""
    )
    return path


@pytest.mark.long
@pytest.mark.parametrize(("system", "schedule"), HOURS)
def test_an_hour_without_a_deadlock(system: str, schedule: str, tmp_path: Path) -> None:
    folder = tmp_path / "system"
    make = {"buffer": lambda: buffer(folder, 1, period="10 s"), "monitor": lambda: monitored(folder, "10 s")}
    path = make.get(system, lambda: ping_pong(folder, "10 s"))()
    found = run(path, tmp_path, *SCHEDULES[schedule], duration="3600s")
    for lane in found.run.tasks:
        assert len(lane.jobs) >= 360
        assert all(job.response is not None for job in lane.jobs[:360])


def ping_pong(folder: Path, period: str = "50 ms") -> Path:
    """`a` waits for a signal of `b`, which waits for one of `a`, and both use a lock; `d` waits for `b`."""
    return write(
        folder,
        """
        procedure Section { void section(in int ms); }
        component A {
            control; requestor; uses Section lock;
            emits Ping ping; consumes Pong pong with helpers;
        }
        component B {
            control; requestor; uses Section lock;
            consumes Ping ping with helpers; emits Pong pong; emits Done done;
        }
        component D { control; requestor; consumes Done done with helpers; }
        component Bystander { control; requestor; }
        component Lock { provides Section section with priority_protocol inherited; }""",
        f"""
        composition {{
            component A a; component B b; component D d; component Bystander c; component Lock lock;
            connection seL4RPCCall locked(from a.lock, from b.lock, to lock.section);
            connection seL4Notification pings(from a.ping, to b.ping);
            connection seL4Notification pongs(from b.pong, to a.pong);
            connection seL4Notification ends(from b.done, to d.done);
        }}
        configuration {{
            a._priority = 30; b._priority = 10; c._priority = 35; d._priority = 40;
            a._period = {period}; b._period = {period}; c._period = {period}; d._period = {period};
            d._offset = 1 ms; c._offset = 2 ms; a._offset = 3 ms;
        }}""",
        {
            "A": loop("MS(2); lock_section(1); ping_emit(); pong_wait(); MS(1);"),
            "B": loop("ping_wait(); MS(2); lock_section(1); pong_emit(); done_emit();"),
            "D": loop("done_wait(); MS(1);"),
            "Bystander": loop("MS(8);"),
            "Lock": "void section_section(int ms) { camkes_work(CAMKES_MS(ms)); }",
        },
    )


@pytest.mark.long
def test_a_lent_priority_is_passed_on_to_the_helper_of_a_waiting_helper(tmp_path: Path) -> None:
    """At 1 `d` lends 40 to `b`, which waits for `a`: so `a`, which comes at 3, is above the bystander until
    it has signalled at 6. Then `b` is, until 9."""
    found = run(ping_pong(tmp_path / "system"), tmp_path, duration="45ms")
    assert found.executed() == [
        ("c", 2, 3), ("a", 3, 6), ("b", 6, 9), ("d", 9, 10), ("c", 10, 17), ("a", 17, 18),
    ]  # fmt: skip
    assert found.priorities("a") == [(0, 30), (1, 40), (6, 30)]
    assert found.priorities("b") == [(0, 10), (1, 40), (9, 10)]


def circle(folder: Path) -> Path:
    """`p1` waits for `c1` and `c1` for `p1` or `p2`. While both do, `d` waits for `p1` or `p2`."""
    return write(
        folder,
        """
        procedure Take { void take(); }
        procedure Give { void give(in int first); }
        component P { control; requestor; uses Give buffer; attribute int first; }
        component C { control; requestor; uses Take buffer; }
        component D { control; requestor; consumes Note note with helpers; }
        component Bystander { control; requestor; }
        component Buffer {
            provides Give given with priority_protocol propagated;
            provides Take taken with priority_protocol propagated;
            emits Note note;
            has semaphore full with helpers;
            has semaphore empty with helpers;
        }""",
        """
        composition {
            component P p1; component P p2; component C c1; component D d; component Bystander b;
            component Buffer buffer;
            connection seL4RPCCall giving(from p1.buffer, from p2.buffer, to buffer.given);
            connection seL4RPCCall taking(from c1.buffer, to buffer.taken);
            connection seL4Notification notes(from buffer.note, to d.note);
        }
        configuration {
            p1._priority = 20; p2._priority = 15; c1._priority = 30; b._priority = 40; d._priority = 50;
            p1._period = 100 ms; p2._period = 100 ms; c1._period = 100 ms; b._period = 100 ms;
            d._period = 100 ms;
            p1._offset = 1 ms; c1._offset = 2 ms; d._offset = 3 ms; b._offset = 4 ms;
            p1.first = 0; p2.first = 1;
            buffer.full_value = 0; buffer.empty_value = 1;
        }""",
        {
            "P": loop("buffer_give(first);"),
            "C": loop("buffer_take(); MS(1);"),
            "D": loop("note_wait(); MS(2);"),
            "Bystander": loop("MS(8);"),
            "Buffer": """#pragma GCC diagnostic ignored "-Wunused-result"
void given_give(int first)
{
    empty_wait();
    camkes_work(CAMKES_MS(4));
    if (first) {
        note_emit();
    }
    camkes_work(CAMKES_MS(2));
    full_post();
}
void taken_take(void) { full_wait(); empty_post(); }""",
        },
    )


@pytest.mark.long
def test_no_lent_priority_remains_in_a_cycle(tmp_path: Path) -> None:
    """At 2 `p1` waits for `c1` and `c1` for `p1` or `p2`; at 3 `d` lends them 50, and they have it from each
    other as well. It ends with the wait of `d`, at 4."""
    found = run(circle(tmp_path / "system"), tmp_path, duration="90ms")
    assert found.executed() == [
        ("p2", 0, 4), ("d", 4, 6), ("b", 6, 14), ("p2", 14, 16), ("c1", 16, 17), ("p1", 17, 23),
    ]  # fmt: skip
    assert found.priorities("p1") == [(0, 20), (2, 30), (3, 50), (4, 30), (16, 20)]
    assert found.priorities("p2") == [(0, 15), (2, 30), (3, 50), (4, 30), (16, 15)]
    assert found.priorities("c1") == [(0, 30), (3, 50), (4, 30)]
