# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waits with helpers and in monitors that end at a time: what they lend is taken back at that instant, and a
later signal is for the next that waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.running.kinds import KernelCall, Kind
from tests.end_to_end.support import loop, write
from tests.end_to_end.test_helpers import run, through_a_lock
from tests.end_to_end.test_monitors import store

pytestmark = pytest.mark.requirement("RT-28")

UNTIL = "camkes_now() + CAMKES_MS({})"


def event(folder: Path, until: int, *, waiter: int = 30) -> Path:
    """A waits at 0 for C (10), which has 5 ms to go; B (20) comes at 1 with 8. After its time A has 1."""
    return write(
        folder,
        """
        component A { control; requestor; consumes Done done with helpers; }
        component B { control; requestor; }
        component C { control; requestor; emits Done done; }""",
        f"""
        composition {{
            component A a; component B b; component C c;
            connection seL4Notification end(from c.done, to a.done);
        }}
        configuration {{
            a._priority = {waiter}; b._priority = 20; c._priority = 10;
            a._period = 100 ms; b._period = 100 ms; c._period = 100 ms; b._offset = 1 ms;
        }}""",
        {
            "A": loop(f"if (done_wait_until({UNTIL.format(until)}) != 0) {{ MS(1); done_wait(); }} MS(1);"),
            "B": loop("MS(8);"),
            "C": loop("MS(5); done_emit();"),
        },
    )


@pytest.mark.long
def test_an_event_is_waited_for_until_a_time(tmp_path: Path) -> None:
    """Until 2 C has 30; then A has the processor, and lends again from 3 to the signal at 6."""
    found = run(event(tmp_path / "system", 2), tmp_path, duration="90ms")
    assert found.executed() == [("c", 0, 2), ("a", 2, 3), ("c", 3, 6), ("a", 6, 7), ("b", 7, 15)]
    assert found.priorities("c") == [(0, 10), (0, 30), (2, 10), (3, 30), (6, 10)]
    assert [e.time for e in found.events if e.kind is Kind.COND_EXPIRE] == [2_000_000]
    assert "blocked on a.done, helped by c" in found.result.output


def test_a_signal_before_the_time_stops_the_timer(tmp_path: Path) -> None:
    found = run(event(tmp_path / "system", 50), tmp_path, duration="90ms")
    assert found.responses("a") == [6]
    assert found.executed() == [("c", 0, 5), ("a", 5, 6), ("b", 6, 14)]
    assert not [e for e in found.events if e.kind is Kind.COND_EXPIRE]
    timer = found.thread("a.done!manager")
    calls = [e for e in found.events if e.kind is Kind.KCALL and e.args[0] == KernelCall.TIMER]
    assert [e.time for e in calls if e.thread == timer] == [0, 5_000_000]


@pytest.mark.long
def test_the_time_is_kept_though_the_helper_has_the_ceiling(tmp_path: Path) -> None:
    """Two threads of one priority: the timer does not wait until the helper, which has that of the waiter,
    leaves the processor."""
    found = run(event(tmp_path / "system", 3, waiter=255), tmp_path, duration="2ms")
    assert found.responses("b") == [None]
    found = run(event(tmp_path / "second", 3, waiter=254), tmp_path, duration="90ms")
    assert found.executed()[:3] == [("c", 0, 3), ("a", 3, 4), ("c", 4, 6)]


@pytest.mark.long
def test_locks_and_lending_at_any_depth_are_taken_back(tmp_path: Path) -> None:
    """S2, until 6: at that instant M, which works in the lock for P, which helps C, has 20 again."""
    path = through_a_lock(
        tmp_path / "system",
        """
        component Prod { control; requestor; uses Section lock; emits Done done; }
        component Cons { control; requestor; consumes Done done with helpers; }""",
        "connection seL4Notification end(from p.done, to c.done);",
        {"Prod": "done_emit();", "Cons": f"(void)!done_wait_until({UNTIL.format(3)});"},
    )
    found = run(path, tmp_path, duration="90ms")
    assert found.executed() == [
        ("m", 0, 1), ("p", 1, 2), ("c", 2, 3), ("p", 3, 5), ("m", 5, 6), ("c", 6, 7), ("a", 7, 17),
        ("m", 17, 21), ("p", 21, 24),
    ]  # fmt: skip
    assert found.priorities("lock.section@m") == [(0, 10), (5, 40), (6, 20), (21, 10)]
    assert found.priorities("p") == [(0, 20), (3, 40), (6, 20)]


TIMED_GET = "while (items == 0) { if (nonempty_wait_until(start + CAMKES_MS(2)) != 0) { return; } } items--;"


@pytest.mark.long
@pytest.mark.parametrize("clause", ["with helpers", ""])
def test_in_a_monitor_the_lock_is_taken_again_before_the_wait_returns(clause: str, tmp_path: Path) -> None:
    """The consumer (30) waits from 0 until 2. The producer (10) enters the monitor at 0.5 and works there for
    4 ms, so the consumer waits for its lock from 2 on, as it does after a signal."""
    path = store(
        tmp_path / "system",
        {"p": "P", "c": "C", "b": "B"},
        "p._priority = 10; c._priority = 30; b._priority = 20; b._offset = 1 ms;",
        {
            "P": loop("camkes_work(CAMKES_US(500)); store_put(2);"),
            "C": loop("store_get(); MS(1);"),
            "B": loop("MS(8);"),
        },
        clause=clause,
    )
    source = path.parent / "Store.c"
    code = source.read_text()
    get = code[code.index("void get_get") :]
    timed = f"void get_get(void) {{ const uint64_t start = camkes_now(); {TIMED_GET} }}"
    source.write_text(code.replace(get, timed))
    found = run(path, tmp_path, duration="90ms")
    if clause:
        assert found.executed() == [("p", 0, 4.5), ("c", 4.5, 5.5), ("b", 5.5, 13.5)]
        assert found.priorities("store.put@p") == [(0, 10), (0.5, 30), (4.5, 10)]
    else:
        assert found.executed() == [
            ("p", 0, 1), ("b", 1, 2), ("p", 2, 5.5), ("c", 5.5, 6.5), ("b", 6.5, 13.5),
        ]  # fmt: skip


@pytest.mark.long
def test_a_signal_after_the_time_is_for_the_next(tmp_path: Path) -> None:
    """`early` gives up at 2, and then `late` waits, for which the post at 3 is. That at 5 is kept, and
    ends the second wait of `early` at once; the third one has none."""
    path = write(
        tmp_path / "system",
        """
        procedure Take { void take(in int ms); }
        procedure Give { void give(); }
        component Consumer { control; requestor; uses Take store; attribute int ms = 50; }
        component Producer { control; requestor; uses Give store; }
        component Store {
            provides Take taken with priority_protocol propagated;
            provides Give given with priority_protocol propagated;
            has semaphore full with helpers;
        }""",
        """
        composition {
            component Consumer early; component Consumer late; component Producer p; component Store store;
            connection seL4RPCCall taking(from early.store, from late.store, to store.taken);
            connection seL4RPCCall giving(from p.store, to store.given);
        }
        configuration {
            early._priority = 40; early._period = 20 ms; early.ms = 2;
            late._priority = 30; late._period = 100 ms; late._offset = 1 ms;
            p._priority = 10; p._period = 100 ms; store.full_value = 0;
        }""",
        {
            "Consumer": loop("store_take(ms);"),
            "Producer": loop("MS(3); store_give(); MS(2); store_give();"),
            "Store": """#pragma GCC diagnostic ignored "-Wunused-result"
void taken_take(int ms) { full_wait_until(camkes_now() + CAMKES_MS(ms)); }
void given_give(void) { full_post(); }""",
        },
    )
    found = run(path, tmp_path, duration="59ms")
    assert found.responses("early") == [2, 0, 2]
    assert found.responses("late") == [2]
    assert found.priorities("p")[:5] == [(0, 10), (0, 40), (2, 10), (2, 30), (3, 10)]


def test_of_waits_whose_times_are_over_the_most_urgent_ends_first(tmp_path: Path) -> None:
    """`early` (30) waits until 2, `urgent` (40) from 1 until 3; above both, `b` works from 1.5 to 5.5. Then
    `urgent` has the lock of the monitor before `early`, and works for 1 ms in it, as does that."""
    path = store(
        tmp_path / "system",
        {"p": "P", "early": "C", "urgent": "C", "b": "B"},
        "p._priority = 10; early._priority = 30; urgent._priority = 40; urgent._offset = 1 ms;"
        " p._offset = 50 ms; b._priority = 90; b._offset = 1500 us;",
        {"P": loop("store_put(0);"), "C": loop("store_get();"), "B": loop("MS(4);")},
    )
    source = path.parent / "Store.c"
    code = source.read_text()
    timed = (
        f"void get_get(void) {{ (void)!nonempty_wait_until({UNTIL.format(2)}); camkes_work(CAMKES_MS(1)); }}"
    )
    source.write_text(code[: code.index("void get_get")] + timed)
    found = run(path, tmp_path, duration="40ms")
    assert found.executed() == [("b", 1.5, 5.5), ("urgent", 5.5, 6.5), ("early", 6.5, 7.5)]
