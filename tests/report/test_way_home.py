# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The priority of a worker after the answer to its request, or after its abort, in records written by hand:
no thread waits for it any more but those that wait for the lock of a roll-back."""

from __future__ import annotations

import pytest

from camkes.running.kinds import Binding, KernelCall, Kind

from .records import Records, records_of

pytestmark = pytest.mark.requirement("AN-27")

#: low has the lock of the outer CPI, and makes requests to the inner one; high waits for that lock
SYSTEM = """
procedure Section { void enter(); }
component User { control; requestor; uses Section s; }
component Worker { control; requestor; }
component Outer { provides Section s with priority_protocol inherited, overrun abort; uses Section next; }
component Inner { provides Section s with priority_protocol inherited, overrun abort; }
component Free { provides Section s with priority_protocol propagated, overrun abort; }
assembly {
    composition {
        component User low; component User high; component Worker middle;
        component Outer outer; component Inner inner; component User other; component Free free;
        connection seL4RPCCall e(from other.s, to free.s);
        connection seL4RPCCall c(from low.s, from high.s, to outer.s);
        connection seL4RPCCall d(from outer.next, to inner.s);
    }
    configuration {
        low._priority = 10; high._priority = 30; middle._priority = 20; other._priority = 5;
        free.s_extension = 1 ms;
    }
}
"""


@pytest.fixture
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    records = records_of(tmp_path_factory.mktemp("home"), SYSTEM)
    records.request("outer.s", "low", "low")
    records.lock(Kind.LOCK_TAKE, "outer.s", "low")
    records.request("outer.s", "high", "high")
    records.lock(Kind.LOCK_WAIT, "outer.s", "high")
    return records


def give_time(records: Records, thread: str) -> None:
    """A thread gets the time of the task that it works for."""
    records.bind(f"{thread.rpartition('@')[2]}:sc", thread, "outer.s!manager")


def end_inner(records: Records, *, answered: bool) -> None:
    """A request of low to the inner CPI has ended, and so has what its worker inherited."""
    records.request("inner.s", "low", "outer.s@low")
    records.add(Kind.REQUEST_END, "inner.s@low", "", 0, 0)
    if answered:
        records.add(Kind.REPLY, "inner.s@low", "outer.s@low", 0, 0)
    give_time(records, "inner.s@low")
    give_time(records, "middle")
    records.add(Kind.SWITCH, "middle", "", 20)


def test_a_worker_that_has_answered_is_not_awaited(records: Records) -> None:
    end_inner(records, answered=True)
    assert records.found() == []


def test_its_caller_waits_until_then(records: Records) -> None:
    end_inner(records, answered=False)
    assert records.found() == ["middle (priority 20) runs while inner.s@low (priority 30) could"]


def abort_outer(records: Records) -> None:
    """The request of low to the outer CPI is aborted; its lock is kept for the roll-back."""
    records.add(Kind.REPLY, "outer.s!manager", "low", 0, 0)
    records.add(Kind.KCALL, "outer.s!manager", "", KernelCall.RESUME, 0)
    records.add(Kind.READY, "outer.s@low", "outer.s!manager")


def test_others_wait_for_the_lock_of_a_roll_back(records: Records) -> None:
    abort_outer(records)
    give_time(records, "outer.s@low")
    give_time(records, "middle")
    records.add(Kind.SWITCH, "middle", "", 20)
    assert records.found() == ["middle (priority 20) runs while outer.s@low (priority 30) could"]


@pytest.mark.parametrize("priority", [10, 30])
def test_the_lock_of_a_roll_back_is_not_that_of_its_caller(priority: int, records: Records) -> None:
    """Low, which has its answer, makes another request, and executes there at its own priority."""
    abort_outer(records)
    records.request("inner.s", "low", "low")
    records.lock(Kind.LOCK_TAKE, "inner.s", "low")
    give_time(records, "inner.s@low")
    records.add(Kind.PRIORITY, "inner.s@low", "", 10, priority)
    records.add(Kind.SWITCH, "inner.s@low", "", priority)
    records.time += 1
    records.add(Kind.IDLE)
    wrong = [line for line in records.found() if "effective priority" in line]
    assert wrong == ([] if priority == 10 else ["inner.s@low runs at 30; its effective priority is 10"])


def test_a_request_that_has_not_begun_is_rolled_back_on_the_extension(records: Records) -> None:
    """Without a lock, the manager does not know whether the code of the component has begun."""
    records.add(Kind.TRANSFER, "other", "free.s@other", 0, 0, 0, 0)
    records.add(Kind.REPLY, "free.s!manager", "other", 0, 0)
    records.add(Kind.KCALL, "free.s!manager", "", KernelCall.RESUME, 0)
    records.add(Kind.READY, "free.s@other", "free.s!manager")
    extension = records.names.objects.index("free.s!extension:sc")
    records.add(Kind.BIND, "free.s@other", "free.s!manager", extension, Binding.BOUND)
    records.add(Kind.SWITCH, "free.s@other", "", 5)
    records.time += 1
    records.add(Kind.IDLE)
    assert [line for line in records.found() if "executes on" in line] == []
