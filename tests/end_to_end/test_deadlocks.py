# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Threads that wait for each other are an error, named with what each waits for and which thread has that,
while timers go on; where another thread could end a wait, there is none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import Result, camkes

pytestmark = pytest.mark.requirement("HOST-17")

_HEAD = """import <std_connector.camkes>;
procedure P { void go(); }
component Task { control; requestor; uses P p; }
component Tick { control; requestor; }
"""
_CODE = {
    "Task": "int run(void) { while (camkes_next_job()) { p_go(); } return 0; }",
    "Tick": "int run(void) { while (camkes_next_job()) { camkes_work(CAMKES_MS(1)); } return 0; }",
}
_WORK = "camkes_work(CAMKES_MS(5));"
_TWO = "connection seL4RPCCall x(from t0.p, to s.a); connection seL4RPCCall y(from t1.p, to s.b);"
_THREE = f"{_TWO} connection seL4RPCCall z(from t2.p, to s.c);"
_PRIORITIES = "s.a_priority = 10; s.b_priority = 20; s.c_priority = 30;"


@dataclass(frozen=True)
class Case:
    """Tasks t0, t1, ... of rising priorities, released one after the other, and `types`, the instances and
    connections of `parts`, and `code`. `cycle`: the words of the message after "deadlock: ", empty for
    none."""

    types: str
    parts: str
    code: dict[str, str]
    settings: str
    cycle: str
    tasks: int = 2


CASES = {
    "two mutexes": Case(
        "component S { provides P a; provides P b; has mutex m; has mutex n; }",
        f"component S s; {_TWO}",
        {
            "S": f"void a_go(void) {{ m_lock(); {_WORK} n_lock(); n_unlock(); m_unlock(); }}\n"
            f"void b_go(void) {{ n_lock(); {_WORK} m_lock(); m_unlock(); n_unlock(); }}"
        },
        "s.a_priority = 10; s.b_priority = 20;",
        "s.a waits for the mutex s.n, held by s.b; s.b waits for the mutex s.m, held by s.a",
    ),
    "a mutex twice": Case(
        "component S { provides P a; provides P b; has mutex m; }",
        f"component S s; {_TWO}",
        {"S": "void a_go(void) { m_lock(); m_lock(); m_unlock(); m_unlock(); } void b_go(void) { }"},
        "s.a_priority = 10; s.b_priority = 20;",
        "s.a waits for the mutex s.m, held by s.a",
    ),
    "a mutex and plain servers": Case(
        """component S { provides P a; provides P c; has mutex m; uses P o; }
        component O { provides P b; uses P c; }""",
        """component S s; component O o;
        connection seL4RPCCall x(from t0.p, from t1.p, to s.a); connection seL4RPCCall y(from s.o, to o.b);
        connection seL4RPCCall z(from o.c, to s.c);""",
        {
            "S": "void a_go(void) { m_lock(); o_go(); m_unlock(); }\n"
            "void c_go(void) { m_lock(); m_unlock(); }",
            "O": "void b_go(void) { c_go(); }",
        },
        "",
        "s.a waits for a reply of o.b; o.b waits for a reply of s.c; "
        "s.c waits for the mutex s.m, held by s.a",
    ),
    "a mutex and the lock of a CPI": Case(
        """component S {
            provides P a with priority_protocol inherited; provides P b with priority_protocol inherited;
            has mutex m; uses P n;
        }""",
        """component S s; connection seL4RPCCall x(from t0.p, to s.b);
        connection seL4RPCCall y(from t1.p, from s.n, to s.a);""",
        {
            "S": f"void a_go(void) {{ {_WORK} m_lock(); m_unlock(); }}\n"
            f"void b_go(void) {{ m_lock(); {_WORK} n_go(); m_unlock(); }}"
        },
        "",
        "s.b@t0 waits for a reply of s.a@t0; s.a@t0 waits for the lock of s.a, held by s.a@t1; "
        "s.a@t1 waits for the mutex s.m, held by s.b@t0",
    ),
    "three semaphores": Case(
        """component S {
            provides P a; provides P b; provides P c; has semaphore u; has semaphore v; has semaphore w;
        }""",
        f"component S s; {_THREE}",
        {
            "S": f"void a_go(void) {{ u_wait(); {_WORK} v_wait(); v_post(); u_post(); }}\n"
            f"void b_go(void) {{ v_wait(); {_WORK} w_wait(); w_post(); v_post(); }}\n"
            f"void c_go(void) {{ w_wait(); {_WORK} u_wait(); u_post(); w_post(); }}"
        },
        _PRIORITIES,
        "s.a waits for the semaphore s.v, held by s.b; s.b waits for the semaphore s.w, held by s.c; "
        "s.c waits for the semaphore s.u, held by s.a",
        tasks=3,
    ),
    "an event of its own client": Case(
        "component C { control; requestor; uses P p; emits E e; }\n"
        "component S { provides P a; consumes E e; }",
        """component C c; component S s; connection seL4RPCCall x(from t0.p, from t1.p, from c.p, to s.a);
        connection seL4Notification y(from c.e, to s.e);""",
        {
            "C": "int run(void) { while (camkes_next_job()) { p_go(); e_emit(); } return 0; }",
            "S": "void a_go(void) { e_wait(); }",
        },
        "c._priority = 30; c._period = 40 ms;",
        "s.a waits for the event s.e, which only c can emit; c waits for a reply of s.a",
    ),
    "semaphores that requests take and give back": Case(
        """procedure L { void acquire(); void release(); }
        component U { control; requestor; uses L l; uses L k; }
        component S { provides L p with priority_protocol propagated, requests (); has semaphore u; }""",
        """component U a; component U b; component S s; component S r;
        connection seL4RPCCall x(from a.l, from b.k, to s.p);
        connection seL4RPCCall y(from a.k, from b.l, to r.p);""",
        {
            "U": f"static void job(void) {{ l_acquire(); {_WORK} k_acquire(); k_release(); l_release(); }}\n"
            "int run(void) { while (camkes_next_job()) { job(); } return 0; }",
            "S": "void p_acquire(void) { u_wait(); }\nvoid p_release(void) { u_post(); }",
        },
        "a._priority = 30; b._priority = 40; a._period = 40 ms; b._period = 40 ms; b._offset = 2 ms;",
        "a waits for a reply of r.p@a; r.p@a waits for the semaphore r.u, held by r.p@b; "
        "r.p@b waits for its next request, which only b can make; b waits for a reply of s.p@b; "
        "s.p@b waits for the semaphore s.u, held by s.p@a; "
        "s.p@a waits for its next request, which only a can make",
        tasks=0,
    ),
    "a thread that posts without a wait": Case(
        "component S { provides P a; provides P b; provides P c; has semaphore u; has semaphore v; }",
        f"component S s; {_THREE}",
        {
            "S": f"static int n;\nvoid a_go(void) {{ u_wait(); {_WORK} v_wait(); v_post(); u_post(); }}\n"
            f"void b_go(void) {{ v_wait(); {_WORK} u_wait(); u_post(); v_post(); }}\n"
            "void c_go(void) { if (n++ > 1000) { u_post(); } }"
        },
        _PRIORITIES,
        "",
        tasks=3,
    ),
    "one of two units in other hands": Case(
        "component S { provides P a; provides P b; provides P c; has semaphore u; has mutex m; }",
        f"component S s; {_THREE}",
        {
            "S": f"void a_go(void) {{ u_wait(); {_WORK} m_lock(); m_unlock(); u_post(); }}\n"
            f"void b_go(void) {{ m_lock(); {_WORK} u_wait(); u_post(); m_unlock(); }}\n"
            "void c_go(void) { u_wait(); camkes_work(CAMKES_MS(30)); u_post(); }"
        },
        f"{_PRIORITIES} s.u_value = 2;",
        "",
        tasks=3,
    ),
}


def write(folder: Path, case: Case) -> Path:
    names = [f"t{number}" for number in range(case.tasks)]
    instances = "".join(f"component Task {name}; " for name in names)
    settings = "".join(
        f"{name}._priority = {10 + 10 * i}; {name}._period = 40 ms; {name}._offset = {2 * i + 1} ms; "
        for i, name in enumerate(names)
    )
    text = (
        f"{_HEAD}{case.types}\nassembly {{ composition {{ {instances} component Tick tick; {case.parts} }}\n"
        f"configuration {{ {settings} tick._priority = 5; tick._period = 7 ms; {case.settings} }} }}\n"
    )
    (folder / "system.camkes").write_text(text)
    for name, source in {**_CODE, **case.code}.items():
        ignored = '#pragma GCC diagnostic ignored "-Wunused-result"\n'
        (folder / f"{name}.c").write_text(f"#include <camkes.h>\n{ignored}{source}\n")
    return folder / "system.camkes"


def run(path: Path, *options: str) -> Result:
    return camkes("run", path, "-o", path.parent / "out", "--for", "200ms", *options)


@pytest.mark.mostly_long(4)
@pytest.mark.parametrize("name", CASES)
def test_threads_that_wait_for_each_other(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    path = write(tmp_path, case)
    result = run(path, "--quiet")
    if not case.cycle:
        assert (result.status, result.errors) == (0, "")
        return
    assert result.status == 1 and f"error[E0737]: deadlock: {case.cycle}\n" in result.errors, result.errors
    assert result.errors.count("error[") == 1
    verified = run(path, "--verify", "--deny", "waits", "--json")
    assert "E0811" not in verified.errors and verified.status == 1
    report = json.loads(verified.output)
    assert [each["property"] for each in report["violations"]] == ["L"]
    assert {wait["cause"] for wait in report["waits"]} == {"deadlock"}
    tick = next(task for task in report["tasks"] if task["name"] == "tick")
    assert tick["completed"] > 25, "timers go on"


def test_a_signal_that_no_code_sends(tmp_path: Path) -> None:
    """That is not a deadlock: no thread has what is waited for."""
    case = Case(
        "component S { provides P a; provides P b; has semaphore u; }",
        f"component S s; {_TWO}",
        {"S": "void a_go(void) { u_wait(); u_wait(); } void b_go(void) { }"},
        "s.a_priority = 10; s.b_priority = 20;",
        "",
    )
    result = run(write(tmp_path, case))
    wait = "t0 waits for a reply of s.a; s.a waits for the semaphore s.u, which no code can post"
    assert result.status == 0 and f"warning[W0731]: at the end of the run {wait}\n" in result.errors, (
        result.errors
    )


def test_who_has_a_mutex_and_since_when(tmp_path: Path) -> None:
    """As a state of the task, in the report of the run, and in its picture."""
    path = write(tmp_path, CASES["two mutexes"])
    result = run(path, "--json", "--timeline", str(tmp_path / "run.svg"))
    steps = json.loads(result.output)["waits"][0]["steps"]
    assert [(s["for"], s["by"], s["since"], s["held"]) for s in steps if s["held"] is not None] == [
        ("the mutex s.n, held by s.b", "s.b", 11_000_000, 3_000_000),
        ("the mutex s.m, held by s.a", "s.a", 8_000_000, 1_000_000),
    ]
    assert run(path, "--verify").output.endswith(
        "not judged: requests without a protocol (s.a, s.b); waits for a mutex (s.m, s.n)\n"
    )
    picture = (tmp_path / "run.svg").read_text()
    assert "t1: waits for the mutex s.m, held by s.a for t0 since 1 ms" in picture
