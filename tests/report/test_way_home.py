# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The priority of a worker after the answer to its request, or after its abort, in records written by hand:
no thread waits for it any more but those that wait for the lock of a roll-back."""

from __future__ import annotations

import pytest

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.protocols.plan import Plan
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Binding, KernelCall, Kind
from camkes.report.trace.names import TraceNames, trace_names
from tests.report.checking import check_trace
from tests.runtime.host import checked

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


class Records:
    """Records of threads and contexts by their names."""

    def __init__(self, names: TraceNames, plan: Plan, system: System) -> None:
        self.names, self.plan, self.system = names, plan, system
        self.time = 0
        self.events: list[Event] = []

    def add(self, kind: Kind, thread: str = "", other: str = "", *args: int) -> None:
        numbers = {named.name: named.number for named in self.names.threads}
        self.events.append(Event(self.time, kind, numbers.get(thread), numbers.get(other), args))

    def lock(self, kind: Kind, cpi: str, context: str) -> None:
        ids = {named.name: named.id for named in (*self.names.cpis, *self.names.contexts)}
        self.add(kind, f"{cpi}@{context}", "", ids[cpi], ids[context])

    def request(self, cpi: str, context: str, client: str) -> None:
        ids = {named.name: named.id for named in (*self.names.cpis, *self.names.contexts)}
        base = self.names.contexts[ids[context]].priority
        self.add(Kind.TRANSFER, client, f"{cpi}@{context}", 0, 0, 0, 0)
        task = next(task.id for task in self.names.tasks if task.name == context)
        self.add(Kind.REQUEST_BEGIN, f"{cpi}@{context}", "", ids[cpi], ids[context], base, task, 0)

    def give_time(self, thread: str) -> None:
        own = self.names.objects.index(f"{thread.rpartition('@')[2]}:sc")
        self.add(Kind.BIND, thread, "outer.s!manager", own, Binding.BOUND)

    def found(self) -> list[str]:
        return [each.explanation for each in check_trace(self.events, self.names, self.plan, self.system)]


@pytest.fixture
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    sink = Sink()
    system = checked(tmp_path_factory.mktemp("home"), SYSTEM, sink, mcs=True)
    model = pipeline.capabilities(system, sink)
    names = trace_names(model, system.plan, system.system)
    records = Records(names, system.plan, system.system)
    records.request("outer.s", "low", "low")
    records.lock(Kind.LOCK_TAKE, "outer.s", "low")
    records.request("outer.s", "high", "high")
    records.lock(Kind.LOCK_WAIT, "outer.s", "high")
    return records


def end_inner(records: Records, *, answered: bool) -> None:
    """A request of low to the inner CPI has ended, and so has what its worker inherited."""
    records.request("inner.s", "low", "outer.s@low")
    records.add(Kind.REQUEST_END, "inner.s@low", "", 0, 0)
    if answered:
        records.add(Kind.REPLY, "inner.s@low", "outer.s@low", 0, 0)
    records.give_time("inner.s@low")
    records.give_time("middle")
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
    records.give_time("outer.s@low")
    records.give_time("middle")
    records.add(Kind.SWITCH, "middle", "", 20)
    assert records.found() == ["middle (priority 20) runs while outer.s@low (priority 30) could"]


@pytest.mark.parametrize("priority", [10, 30])
def test_the_lock_of_a_roll_back_is_not_that_of_its_caller(priority: int, records: Records) -> None:
    """Low, which has its answer, makes another request, and executes there at its own priority."""
    abort_outer(records)
    records.request("inner.s", "low", "low")
    records.lock(Kind.LOCK_TAKE, "inner.s", "low")
    records.give_time("inner.s@low")
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
