# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Lending in a cycle under every schedule up to a bound, and the deadlock that one manager for all conditions
of a cycle avoids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions, write_choices
from camkes.protocols import groups
from camkes.running.kinds import Blocked, Kind
from tests.explore.search import LIMIT, search
from tests.explore.test_helpers import JOB, WORK
from tests.runtime.host import Built, build
from tests.runtime.test_exploration import break_runtime

pytestmark = pytest.mark.requirement("AN-21")

TEXT = """
import <std_connector.camkes>;
procedure P { void go(); }
component A { control; requestor; uses P sender; consumes Pong pong with helpers; }
component B { control; requestor; consumes Ping ping with helpers; emits Pong pong; emits Note note; }
component C { control; requestor; uses P lock; uses P sender; }
component D { control; requestor; uses P lock; consumes Note note with helpers; }
component Sender { provides P p with priority_protocol fixed; emits Ping ping; }
component Lock { provides P p with priority_protocol inherited; }
assembly {
    composition {
        component A a; component B b; component C c; component D d; component Lock lock;
        component Sender sender;
        connection seL4RPCCall locking(from c.lock, from d.lock, to lock.p);
        connection seL4RPCCall sending(from a.sender, from c.sender, to sender.p);
        connection seL4Notification pings(from sender.ping, to b.ping);
        connection seL4Notification pongs(from b.pong, to a.pong);
        connection seL4Notification notes(from b.note, to d.note);
    }
    configuration {
        c._priority = 10; b._priority = 20; a._priority = 30; d._priority = 40;
        a._period = 1 ms; b._period = 1 ms; c._period = 1 ms; d._period = 1 ms;
    }
}
"""
CODE = {
    "A": JOB.format("pong_wait(); sender_go();"),
    "B": JOB.format(f"ping_wait(); {WORK} pong_emit(); note_emit();"),
    "C": JOB.format(f"lock_go(); {WORK} sender_go();"),
    "D": JOB.format("lock_go(); note_wait();"),
    "Sender": "void p_go(void) { ping_emit(); }",
    "Lock": f"void p_go(void) {{ {WORK} }}",
}


def cycle(folder: Path) -> Built:
    """`a` waits for `b`, and `b` for `a` or `c`, so that both can wait at once. `d`, which shares a lock with
    `c`, waits for `b` as well."""
    return build(folder, TEXT, CODE)


@pytest.mark.long
@pytest.mark.parametrize("scheduling", ["fifo", "rr"])
def test_properties_hold(scheduling: str, tmp_path: Path) -> None:
    """In each schedule with at most two preemptions."""
    found = search(cycle(tmp_path / "system"), SearchOptions(scheduling=scheduling, bound=2))
    assert found.violation is None
    assert not found.state.stopped
    assert found.state.distinct > 10_000


#: managers of tasks and of conditions tell each other of new priorities, as those of CPIs do: a waiting
#: thread has the manager of the condition in `nested`
PUSHES = {
    "helper.c": ("effective > before && helper->scheduled) {", "effective != before) {"),
    "condition.c": (
        "    camkes_ask_manager(manager, own_label(operation), condition->name);\n",
        """    struct camkes_context *own = camkes_self()->context;
    seL4_Word label = own_label(operation);
    if (own != NULL) {
        atomic_store(&own->nested, manager);
        camkes_point();
        label = camkes_waiter_label(operation, atomic_load(&own->effective), 0);
    }
    camkes_ask_manager(manager, label, condition->name);
    if (own != NULL) {
        atomic_store(&own->nested, 0);
    }
""",
    ),
    "group.c": (
        "    enum camkes_waiter_operation operation;\n",
        """    if (camkes_bits(label, 0, 4) == CAMKES_UPDATE) {
        waiter->priority = camkes_label_priority(label);
        camkes_apply_lending(group);
        return CAMKES_MESSAGE_GOOD;
    }
    if (camkes_bits(label, 0, 4) == CAMKES_WAIT && camkes_label_priority(label) != 0) {
        waiter->priority = camkes_label_priority(label);
    }
    enum camkes_waiter_operation operation;
""",
    ),
}


@pytest.mark.long
def test_several_managers_in_a_cycle_deadlock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`d` lends to `b` while that waits for `a`, and `a` for `b`: their managers wait for each other."""
    connected = groups._connected

    def split(graph: Mapping[str, Sequence[str]], start: str) -> frozenset[str]:
        """A manager for conditions that tasks help directly, without what these wait for and request."""
        tasks = {name: [to for to in following if "." not in to] for name, following in graph.items()}
        return connected(tasks, start)

    monkeypatch.setattr(groups, "_connected", split)
    break_runtime(PUSHES, tmp_path, monkeypatch)
    broken = cycle(tmp_path / "system")
    assert len(groups.find_groups(broken.plan)) == 2
    found = search(broken, SearchOptions(seconds=LIMIT)).violation
    assert found is not None and found.property == "L"
    assert found.explanation == "a waits for ever in a job: no thread is left that could wake it"
    run = broken.run("--arrivals", "1", "--choices", f"script:{write_choices(tmp_path, found.choices)}")
    blocked = {e.thread: e.args[0] for e in run.events if e.kind is Kind.BLOCK}
    circle = [blocked[run.number(f"{name}!manager")] for name in ("a.pong", "b", "b.ping", "a")]
    assert circle == [Blocked.REPLY, Blocked.REPLY, Blocked.REPLY, Blocked.CALL]  # `a` to that of `a.pong`
