# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Deadlocks by method: what one job does with two CPIs, what two jobs do, and what no job does."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.protocols import analyse
from camkes.protocols.codes import DEADLOCK, REQUESTS_CONTRADICTED
from camkes.protocols.plan import Plan
from camkes.resolve import LoadOptions, load
from tests.command import camkes

pytestmark = pytest.mark.requirement("CHECK-3")

SYSTEM = """\
import <std_connector.camkes>;
procedure P {{ int one(in int x); int two(in int x); }}
component Task {{ control; requestor; uses P p; }}
component Outer {{ control; requestor; uses P p; uses P q; }}
component A {{ provides P p with priority_protocol {a}; uses P next; }}
component B {{ provides P p with priority_protocol {b}; uses P next; }}
component Lock {{ provides P p with priority_protocol inherited; uses P a; }}
assembly {{
    composition {{
        component Task t; component Task u; component A a; component B b;
        component Lock lock; component Task v; component Task w;
        connection seL4RPCCall ca(from t.p, from b.next, from lock.a, to a.p);
        connection seL4RPCCall cb(from u.p, from a.next, to b.p);
        connection seL4RPCCall cl(from v.p, from w.p, to lock.p);
    }}
    configuration {{
        t._priority = 10; u._priority = 20; v._priority = 30; w._priority = 40;
        {settings}
    }}
}}
"""
#: a.one -> b.two and b.one -> a.two
CROSSING = {
    "t:": {"p.one", "p.two"},
    "u:": {"p.one", "p.two"},
    "v:": {"p.one"},
    "w:": {"p.one"},
    "a.p:one": {"next.two"},
    "a.p:two": set[str](),
    "b.p:one": {"next.two"},
    "b.p:two": set[str](),
    "lock.p:one": set[str](),
    "lock.p:two": set[str](),
}
Calls = dict[str, set[str]]


def system_of(folder: Path, a: str, b: str, settings: str = "", *, mcs: bool = False) -> System:
    path = folder / "system.camkes"
    path.write_text(SYSTEM.format(a=a, b=b, settings=settings))
    system = load(path, LoadOptions(cpp=False, mcs=mcs), Sink())
    assert system is not None
    return system


def planned(folder: Path, calls: Calls, a: str = "propagated", b: str = "propagated", *, mcs: bool = False,
            known: bool = True) -> tuple[Plan | None, list[tuple[str, tuple[str, ...]]]]:  # fmt: skip
    """The plan, and deadlocks with their notes, where the code makes these calls."""
    system = system_of(folder, a, b, mcs=mcs)
    reached: dict[str, set[str]] = {}
    for node, methods in {**calls, **({} if known else CROSSING)}.items():
        caller = node.partition(":")[0]
        reached.setdefault(caller, set()).update(name.partition(".")[0] for name in methods)
    sink = Sink()
    by_method = {node: frozenset(methods) for node, methods in calls.items()}
    plan = analyse(system, sink, reached, {}, {}, {}, by_method)
    return plan, [(d.message, d.notes) for d in sink.diagnostics if d.code is DEADLOCK]


def test_a_cycle_that_no_job_closes_is_none(tmp_path: Path) -> None:
    """Each task has threads of its own at both CPIs, and never comes back to one."""
    plan, found = planned(tmp_path, CROSSING)
    assert plan is not None and found == []
    assert {cpi.name: cpi.tasks for cpi in plan.cpis} == {
        "a.p": ("t", "u"),
        "b.p": ("t", "u"),
        "lock.p": ("v", "w"),
    }


@pytest.mark.parametrize(
    ("calls", "walk"),
    [
        ({"b.p:two": {"next.two"}}, "`a.p.one` -> `b.p.two` -> `a.p.two`"),
        ({"a.p:two": {"next.one"}}, "`a.p.two` -> `b.p.one` -> `a.p.two`"),
        ({"a.p:one": {"next.one"}}, "`a.p.one` -> `b.p.one` -> `a.p.two`"),
    ],
)
def test_a_job_that_comes_back_waits_for_itself(tmp_path: Path, calls: Calls, walk: str) -> None:
    """By the same method or another one: a task has one thread at each CPI, whatever it calls there."""
    plan, found = planned(tmp_path, {**CROSSING, **calls})
    assert plan is None
    assert [message for message, _ in found] == [f"deadlock: {walk}"]


def test_what_is_not_known_may_be_called(tmp_path: Path) -> None:
    """A task, or a method, of which it is not known."""
    for unknown in ("a.p:one", "b.p:two"):
        calls = {node: methods for node, methods in CROSSING.items() if node != unknown}
        plan, found = planned(tmp_path, calls, known=False)
        assert plan is None and found
    plan, found = planned(tmp_path, {}, known=False)
    assert plan is None
    assert [message for message, _ in found] == ["deadlock: `a.p` -> `b.p` -> `a.p`"]
    assert "which methods make these requests is not known without the code" in found[0][1]


@pytest.mark.parametrize(("a", "b"), [("inherited", "inherited"), ("fixed", "inherited"), ("fixed", "fixed")])
def test_two_jobs_wait_for_each_others_locks(tmp_path: Path, a: str, b: str) -> None:
    """t has the lock of a, and u that of b, whatever methods they are in."""
    plan, found = planned(tmp_path, CROSSING, a, b)
    assert plan is None
    (message, notes) = found[0]
    assert message == "deadlock: `a.p.one` -> `b.p.one` -> `a.p.two`"
    assert "no job makes all of these requests, but jobs of several tasks wait for each other" in notes


def test_managers_of_a_cycle_would_wait_for_each_other(tmp_path: Path) -> None:
    """One of the CPIs is a lock, or inherits from one above: then a manager passes priorities on to the
    other's, which may do the same at that time."""
    plan, found = planned(tmp_path, CROSSING, "inherited", "propagated")
    assert plan is None and "`a.p` has a lock or a manager" in found[0][1][0]
    below = {**CROSSING, "lock.p:one": {"a.two"}}
    plan, found = planned(tmp_path, below)
    assert plan is None and "`a.p` has a lock or a manager" in found[0][1][0]


def test_what_no_one_calls_closes_no_cycle(tmp_path: Path) -> None:
    """Also between locks: b.one, which would request a, is called by no code."""
    calls = {**CROSSING, "u:": {"p.two"}}
    plan, found = planned(tmp_path, calls, "inherited", "inherited")
    assert plan is not None and found == []
    # ceilings are those of all methods
    assert {cpi.name: cpi.ceiling for cpi in plan.cpis} == {"a.p": 20, "b.p": 20, "lock.p": 40}


def test_without_tasks_all_methods_count(tmp_path: Path) -> None:
    """Nothing is known of who will request a CPI that no task requests yet."""
    calls = {**CROSSING, "t:": set[str](), "u:": set[str]()}
    plan, found = planned(tmp_path, {**calls, "b.p:two": {"next.one"}})
    assert plan is None and found


def test_an_mcs_kernel_has_cycles_by_cpi(tmp_path: Path) -> None:
    """Priorities change there along requests, the innermost CPI first."""
    plan, found = planned(tmp_path, CROSSING, mcs=True)
    assert plan is None and found


# Clauses that name methods -------------------------------------------------------------------------


def stated(folder: Path, of_a: str, of_b: str, calls: Calls | None = None) -> tuple[Plan | None, Sink]:
    """The plan where the CPIs have these clauses, and their code, if it is known, makes these calls."""
    text = SYSTEM.format(a=f"propagated, requests ({of_a})", b=f"propagated, requests ({of_b})", settings="")
    path = folder / "stated.camkes"
    path.write_text(text.replace("inherited; uses P a;", "inherited, requests (); uses P a;"))
    sink = Sink()
    system = load(path, LoadOptions(cpp=False), sink)
    if system is None:
        return None, sink
    by_method = {node: frozenset(methods) for node, methods in (calls or {}).items()}
    return analyse(system, sink, None, {}, {}, {}, by_method), sink


def test_clauses_tell_which_methods_request_what(tmp_path: Path) -> None:
    """Without the code, as `camkes check` has it."""
    plan, sink = stated(tmp_path, "one: next.two", "one: next.two")
    assert plan is not None and not sink.has_errors
    for of_a, of_b in (("one: next", "one: next.two"), ("next.two", "one: next.two"), ("next", "one: next")):
        plan, sink = stated(tmp_path, of_a, of_b)
        assert plan is None
        assert DEADLOCK in [each.code for each in sink.diagnostics]
    plan, sink = stated(tmp_path, "next.two", "")
    assert plan is not None


def test_a_clause_counts_before_the_code(tmp_path: Path) -> None:
    """What the code calls besides is an error; what it does not call is analysed all the same."""
    plan, sink = stated(tmp_path, "one: next.two", "one: next.two", CROSSING)
    assert plan is not None
    assert plan.by_method["a.p:one"] == {"next.two"} and plan.by_method["a.p:two"] == set()
    plan, sink = stated(tmp_path, "one: next.two", "one: next.two", {**CROSSING, "a.p:two": {"next.one"}})
    assert plan is None
    (found,) = (each for each in sink.diagnostics if each.code is REQUESTS_CONTRADICTED)
    assert found.message.startswith("the method `two` of `a.p` calls `next.one`")
    assert "`two: next.one`" in found.help
    calls = {**CROSSING, "a.p:two": set[str](), "b.p:two": set[str]()}
    plan, sink = stated(tmp_path, "one: next.two, two: next.two", "one: next.two", calls)
    assert plan is None and DEADLOCK in [each.code for each in sink.diagnostics]


TASK = "#include <camkes.h>\nint run(void) { while (camkes_next_job()) { %s } return 0; }\n"
SERVER = "#include <camkes.h>\nint p_one(int x) { camkes_work(1000); return next_two(x); }\n%s"
CODE = {
    "Task.c": TASK % "camkes_work(5000); p_one(1); p_two(2);",
    "A.c": SERVER % "int p_two(int x) { camkes_work(2000); return x; }\n",
    "B.c": SERVER % "int p_two(int x) { camkes_work(3000); return x; }\n",
    "Lock.c": "int p_one(int x) { return x; }\nint p_two(int x) { return x; }\n",
}


@pytest.mark.long
def test_such_a_cycle_runs_in_every_order(tmp_path: Path) -> None:
    """Every schedule of two tasks that go through the CPIs in opposite order, from compiled code."""
    settings = "".join(f"{task}._period = 10 ms; " for task in "tuvw")
    system_of(tmp_path, "propagated", "propagated", settings)
    for name, text in CODE.items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "system.camkes"
    done = camkes("run", path, "--nocpp", "--verify", "--for", "50ms", "--deny", "missed", cwd=tmp_path)
    assert done.status == 0, done.errors
    assert "hold at every event" in done.output
    done = camkes("explore", path, "--nocpp", cwd=tmp_path)
    assert done.status == 0 and "no violation was found" in done.output
    (tmp_path / "B.c").write_text(CODE["B.c"].replace("return next_two(x)", "return next_one(x)"))
    done = camkes("build", path, "--nocpp", cwd=tmp_path)
    assert done.status == 1
    assert "deadlock: `b.p.one` -> `a.p.one` -> `b.p.two`" in done.errors
