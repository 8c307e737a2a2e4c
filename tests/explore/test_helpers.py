# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waiting with helpers under every schedule up to a bound, and mistakes in how priorities are lent."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions
from tests.end_to_end.test_helpers_broken import AFTERWARDS, APPLY
from tests.explore.search import LIMIT, search
from tests.runtime.host import Built, build
from tests.runtime.test_exploration import break_runtime

pytestmark = pytest.mark.requirement("AN-21")

TEXT = """
import <std_connector.camkes>;
procedure P { void go(); }
component Waiter { control; requestor; uses P store; }
component Helper { control; requestor; uses P lock; uses P store; }
component Lock { provides P p with priority_protocol inherited; }
component Store {
    provides P taken with priority_protocol PROTOCOL;
    provides P given with priority_protocol PROTOCOL;
    has semaphore full with helpers;
}
assembly {
    composition {
        component Waiter w1; component Waiter w2; component Helper h1; component Helper h2;
        component Lock lock; component Store store;
        connection seL4RPCCall locking(from h1.lock, from h2.lock, to lock.p);
        connection seL4RPCCall taking(from w1.store, from w2.store, to store.taken);
        connection seL4RPCCall giving(from h1.store, from h2.store, to store.given);
    }
    configuration {
        h1._priority = 10; h2._priority = 20; w1._priority = 30; w2._priority = 40;
        h1._period = 1 ms; h2._period = 1 ms; w1._period = 1 ms; w2._period = 1 ms;
        store.full_value = 0; store.full_helpers = ["h1", "h2"];
    }
}
"""
JOB = "int run(void) {{ while (camkes_next_job()) {{ {} }} return 0; }}"
WORK = "camkes_work(CAMKES_US(10));"
CODE = {
    "Waiter": JOB.format("store_go();"),
    "Helper": JOB.format(f"{WORK} lock_go(); {WORK} store_go(); {WORK}"),
    "Lock": f"void p_go(void) {{ {WORK} }}",
    "Store": "void taken_go(void) { (void)full_wait(); }\n"
    f"void given_go(void) {{ {WORK} (void)full_post(); }}\n",
}


def two_and_two(folder: Path, protocol: str = "propagated") -> Built:
    """Two tasks wait for a semaphore that two others can post, which share a lock."""
    return build(folder, TEXT.replace("PROTOCOL", protocol), CODE)


@pytest.mark.long
@pytest.mark.parametrize("scheduling", ["fifo", "rr"])
def test_properties_hold(scheduling: str, tmp_path: Path) -> None:
    """In each schedule with one preemption: all schedules are too many."""
    options = SearchOptions(scheduling=scheduling, bound=1, seconds=10 * LIMIT)
    found = search(two_and_two(tmp_path / "system"), options)
    assert found.violation is None
    assert not found.state.stopped
    assert found.state.distinct > 40_000


# the runtime with each mistake of tests/end_to_end that a search can show, and those that single runs do not
MISTAKES = {
    "nothing-is-lent": (
        "lending.c",
        "inherit(helper, camkes_lends(group, waiter), waiter->origin)",
        "inherit(helper, 0, 0)",
        "fifo",
    ),
    "nothing-is-taken-back": (
        "lending.c",
        "if (member->computed < member->effective) {",
        "if (member->computed > 255) {",
        "fifo",
    ),
    "taken-back-after-the-wake": (
        "group.c",
        APPLY + AFTERWARDS,
        AFTERWARDS + APPLY,
        "rr",
    ),
    "not-through-requests": (
        "helper.c",
        "*nested = camkes_nested_found(context);",
        "*nested = 0;",
        "fifo",
    ),
    "not-through-locks": (
        "lending.c",
        "changed |= holder != CAMKES_NO_MEMBER &&",
        "changed |= holder + 1 > CAMKES_NO_MEMBER + 1 &&",
        "fifo",
    ),
    "the-first-to-come-is-woken": (
        "group.c",
        "    return priority != other ? priority > other\n                             : (int32_t)",
        "    return priority + other > 999 ? false : (int32_t)",
        "fifo",
    ),
}


@pytest.mark.long  # test_planted.py has one that is not
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, good, bad, scheduling = MISTAKES[name]
    break_runtime({file: (good, bad)}, tmp_path, monkeypatch)
    options = SearchOptions(scheduling=scheduling, seconds=LIMIT)
    found = search(two_and_two(tmp_path / "system"), options)
    assert found.violation is not None
    assert found.violation.property == ("H" if name == "the-first-to-come-is-woken" else "P")


RAISED = """
import <std_connector.camkes>;
procedure P { void go(); }
component First { control; requestor; uses P store; emits Note note; }
component Second { control; requestor; uses P store; }
component Urgent { control; requestor; consumes Note note with helpers; }
component Store {
    provides P taken with priority_protocol propagated;
    provides P given with priority_protocol propagated;
    has semaphore full with helpers;
}
assembly {
    composition {
        component First w1; component Second w2; component Urgent u; component Second h;
        component Store store;
        connection seL4Notification notes(from w1.note, to u.note);
        connection seL4RPCCall taking(from w1.store, from w2.store, to store.taken);
        connection seL4RPCCall giving(from h.store, to store.given);
    }
    configuration {
        h._priority = 10; w1._priority = 20; w2._priority = 30; u._priority = 40;
        h._period = 1 ms; w1._period = 1 ms; w2._period = 1 ms; u._period = 1 ms;
        store.full_value = 0; store.full_helpers = ["h"];
    }
}
"""
OF_RAISED = {
    "First": JOB.format("store_go(); note_emit();"),
    "Second": JOB.format(f"{WORK} store_go();"),
    "Urgent": JOB.format("note_wait();"),
    "Store": "void taken_go(void) { (void)full_wait(); }\n"
    f"void given_go(void) {{ (void)full_post(); {WORK} (void)full_post(); }}\n",
}


def raised(folder: Path) -> Built:
    """`w1` and `w2` wait for a semaphore. When `u` waits for `w1` as well, `w1` is the more urgent one."""
    return build(folder, RAISED, OF_RAISED)


@pytest.mark.long
@pytest.mark.parametrize("scheduling", ["fifo", "rr"])
def test_a_waiter_that_is_raised_moves(scheduling: str, tmp_path: Path) -> None:
    found = search(raised(tmp_path / "system"), SearchOptions(scheduling=scheduling, bound=1))
    assert found.violation is None
    assert not found.state.stopped


@pytest.mark.long
def test_a_queue_in_the_order_of_arrival_priorities_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waiter that is raised while it waits stays where it is."""
    good = """before(camkes_lends(group, waiter), waiter->arrival,
                                     camkes_lends(group, first), first->arrival)"""
    bad = "before(waiter->priority, waiter->arrival, first->priority, first->arrival)"
    break_runtime({"group.c": (good, bad)}, tmp_path, monkeypatch)
    found = search(raised(tmp_path / "system"), SearchOptions(bound=1, seconds=LIMIT))
    assert found.violation is not None
    assert found.violation.property == "H"
