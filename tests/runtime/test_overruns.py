# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Who executes, and on whose time, when the budget of a lock's holder is used up.

The figures were computed by hand. Each policy has components of its own, which are released after those of
the one before are done: so one run shows all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby

import pytest
from msgspec import Struct

from camkes.capdl.host_table import table_objects
from camkes.running.events import Event
from camkes.running.kinds import KernelCall, Kind
from tests.runtime.host import Built, Run, build

pytestmark = pytest.mark.requirement("RT-18")

MS = 1_000_000
#: of the release of the lowest task of each policy, in milliseconds; on seL4, starting takes some time
STARTS = range(50, 450, 100)


class Case(Struct, frozen=True):
    """A policy; the times in milliseconds, from the release of the lowest task: responses of the others, when
    it leaves the lock, and what was used of the contexts of low and high, and of the extension."""

    name: str
    policy: str
    high_budget: int
    high: int
    middle: int
    left: int
    used: tuple[int, int, int]


#: low: priority 10, 3 of 20 ms, 6 with the lock; high: 30, at 2, 1 with the lock; middle: 20, at 4, 8
CASES = (
    Case("wait", "wait", 10, 22, 8, 23, (6, 1, 0)),
    Case("help", "help", 10, 5, 11, 6, (3, 4, 0)),
    Case("extend", "extend", 10, 5, 11, 6, (3, 1, 3)),
    # high lends 2, which is all until 50 ms after that; its own section has to wait
    Case("short", "help", 2, 52, 9, 21, (4, 3, 0)),
)

COMPONENTS = """
procedure Section { void enter(in int ms); }
component User { control; requestor; uses Section s; attribute int length; }
component Worker { control; requestor; attribute int length; }
""" + "".join(
    f"component L{c.name} {{ provides Section s with priority_protocol inherited, overrun {c.policy}; }}\n"
    for c in CASES
)


def _instances(case: Case) -> str:
    n = case.name
    return f"""
        component User {n}_low; component Worker {n}_middle; component User {n}_high;
        component L{n} {n}_lock;
        connection seL4RPCCall c_{n}(from {n}_low.s, from {n}_high.s, to {n}_lock.s);
"""


def _settings(case: Case, start: int) -> str:
    n = case.name
    return f"""
        {n}_low._priority = 10; {n}_low._period = 20 ms; {n}_low._budget = 3 ms;
        {n}_low._offset = {start} ms; {n}_low.length = 6;
        {n}_middle._priority = 20; {n}_middle._period = 50 ms;
        {n}_middle._offset = {start + 4} ms; {n}_middle.length = 8;
        {n}_high._priority = 30; {n}_high._period = 50 ms; {n}_high._budget = {case.high_budget} ms;
        {n}_high._offset = {start + 2} ms; {n}_high.length = 1;
        {f"{n}_lock.s_extension = 3 ms; {n}_lock.s_extension_period = 100 ms;" if n == "extend" else ""}
"""


SYSTEM = (
    COMPONENTS
    + "assembly { composition {"
    + "".join(map(_instances, CASES))
    + "} configuration {"
    + "".join(_settings(case, start) for start, case in zip(STARTS, CASES, strict=True))
    + "} }\n"
)

LOCK = """
#include <camkes/realtime.h>
void s_enter(int ms) { camkes_work(CAMKES_MS(ms)); }
"""
SOURCES = {
    "User": "int run(void) { s_enter(length); return 0; }\n",
    "Worker": "#include <camkes/realtime.h>\nint run(void) { camkes_work(CAMKES_MS(length)); return 0; }\n",
    **{f"L{case.name}": LOCK for case in CASES},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("overruns"), SYSTEM, SOURCES, mcs=True)


@pytest.fixture(scope="module")
def run(built: Built) -> Run:
    return built.run()


def response(run: Run, task: str) -> int:
    """Of its only job."""
    (end,) = run.of(Kind.JOB_END, task)
    return end.time - end.args[1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_responses(run: Run, case: Case) -> None:
    assert response(run, f"{case.name}_high") == case.high * MS
    assert response(run, f"{case.name}_middle") == case.middle * MS


@pytest.mark.parametrize(
    ("start", "case"), list(zip(STARTS, CASES, strict=True)), ids=[c.name for c in CASES]
)
def test_the_lowest_leaves_the_lock(run: Run, start: int, case: Case) -> None:
    ends = run.of(Kind.WORK, f"{case.name}_lock.s@{case.name}_high")
    free = next(e for e in run.of(Kind.LOCK_GRANT) if e.other == ends[0].thread)
    assert free.time == (start + case.left) * MS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_who_pays(built: Built, run: Run, case: Case) -> None:
    objects = [item.name for item in table_objects(built.model)]
    used: Counter[str] = Counter()
    for event in run.of(Kind.CHARGE):
        used[objects[event.args[0]]] += event.args[1]
    n = case.name
    contexts = (f"{n}_low:sc", f"{n}_high:sc", f"{n}_lock.s!extension:sc")
    assert tuple(used[context] for context in contexts) == tuple(ms * MS for ms in case.used)


#: what the manager enters the kernel for: when high begins to wait, at the overrun, at the release, and when
#: the worker of low, which has no time of its own, has replied: low itself waits for that
KERNEL_CALLS = {
    "wait": "setpriority recv; setpriority send replyrecv",
    # has low time left (2), and has high (2), and was low at a reply; high's context is taken back, it gets
    # its own, has low (1); low gets that of the way home
    "help": "setpriority recv; context context context context registers send recv; "
    "context setpriority context send context context send recv; "
    "setpriority send wait context call setpriority recv",
    # has low time left (2), and has the extension; that is taken back, and the same
    "extend": "setpriority recv; context context context registers send recv; "
    "context setpriority send context context send recv; "
    "setpriority send wait context call setpriority recv",
}


@pytest.mark.parametrize("name", KERNEL_CALLS)
def test_kernel_calls_of_the_manager(run: Run, name: str) -> None:
    calls = [e for e in run.of(Kind.KCALL, f"{name}_lock.s!manager") if e.time > 0]
    at = [[KernelCall(e.args[0]).name.lower() for e in group] for _, group in groupby(calls, _time_of)]
    assert "; ".join(map(" ".join, at)) == KERNEL_CALLS[name]


def _time_of(event: Event) -> int:
    return event.time


def test_all_time_is_at_home_in_the_end(run: Run) -> None:
    """And each thread that executes has the highest priority of those with time."""
    assert run.violations() == []
    assert run.without_own_time() == []
    # if the last context did not come back with the reply, it would be noticed
    back = max(i for i, event in enumerate(run.events) if event.kind is Kind.BIND)
    broken = replace(run, events=run.events[:back] + run.events[back + 1 :])
    assert broken.without_own_time() == ["short_high"]
