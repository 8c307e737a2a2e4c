# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A violation is numbered steps from which it can be understood: which thread ran, where it was preempted, by
which and why, what each waits for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from camkes.cli.main import main
from tests.documents import conforming
from tests.explore.test_search import write_files

pytestmark = pytest.mark.requirement("AN-26")


@dataclass(frozen=True)
class Bug:
    """A system with a bug, and the steps in which it shows."""

    name: str
    text: str
    code: dict[str, str]
    property: str
    steps: str


JOBS = "int run(void)\n{{\n    while (camkes_next_job())\n        {}\n    return 0;\n}}\n"

LOST_UPDATE = Bug(
    "lost-update",
    """
procedure Count { int next(); }
component User { control; requestor; uses Count count; }
component Leaf { provides Count p with priority_protocol propagated; }
assembly {
    composition {
        component User a; component User b; component Leaf leaf;
        connection seL4RPCCall c(from a.count, from b.count, to leaf.p);
    }
    configuration { a._priority = 20; a._period = 10 ms; b._priority = 10; b._period = 20 ms; }
}
""",
    {
        "User": JOBS.format("(void)count_next();"),
        "Leaf": """static int served;
int p_next(void)
{
    int before = served;
    camkes_work(CAMKES_US(10));
    served = before + 1;
    return served;
}
""",
    },
    "R",
    """
1  b begins its job, released by its timer
2  b calls leaf.p
     User.c:5: (void)count_next();
3  leaf.p@b is preempted by a: released by its timer, priority 20 is above 10
     Leaf.c:7: served = before + 1;
4  a begins its job
5  a calls leaf.p
     User.c:5: (void)count_next();
6  violated: R: leaf.p@a reads what leaf.p@b is about to write: `served` (Leaf.c:5 and Leaf.c:7)

a        ██ ██ ll ll
b  ██ ll ▁▁ ▁▁ ▁▁ ▁▁
   1  2  3  4  5  6

█ own code   l leaf.p   ▁ ready or preempted
""",
)

MISSED_DEADLINE = Bug(
    "missed-deadline",
    """
procedure Store { void put(in int v); }
component Fast { control; requestor; uses Store s; }
component Slow { control; requestor; uses Store s; }
component Shared { provides Store s with priority_protocol inherited; }
assembly {
    composition {
        component Fast fast; component Slow slow; component Shared shared;
        connection seL4RPCCall c(from fast.s, from slow.s, to shared.s);
    }
    configuration {
        fast._priority = 30; fast._period = 10 ms; fast._deadline = 3 ms; fast._offset = 5 ms;
        slow._priority = 10; slow._period = 100 ms;
    }
}
""",
    {
        "Fast": JOBS.format("s_put(1);"),
        "Slow": JOBS.format("{ camkes_work_between(CAMKES_MS(1), CAMKES_MS(5)); s_put(2); }"),
        "Shared": "static int kept;\nvoid s_put(int v)\n{\n    camkes_work(CAMKES_MS(2)); kept = v;\n}\n",
    },
    "D",
    """
 1  0 ns  slow begins its job, released by its timer
 2  5 ms  slow calls shared.s, whose lock is free
            Slow.c:5: { camkes_work_between(CAMKES_MS(1), CAMKES_MS(5)); s_put(2); }
 3        shared.s@slow is preempted by fast: released by its timer, priority 30 is above 10
            Shared.c:5: camkes_work(CAMKES_MS(2)); kept = v;
 4        fast begins its job
 5        fast calls shared.s
            Fast.c:5: s_put(1);
 6        shared.s@fast waits for the lock of shared.s, held by shared.s@slow
 7        shared.s@slow goes on and runs at priority 30 in place of 10: shared.s@fast waits for it
 8  7 ms  shared.s@slow frees the lock of shared.s, which shared.s@fast gets
 9  9 ms  shared.s@fast frees the lock of shared.s
10        fast has the answer of shared.s and ends its job
            Fast.c:5: s_put(1);
11        violated: D: job 0 of fast ends 1 ms after its deadline

fast        ██ ██ ss ░░ ░░ ss ██ ██ ██
slow  ██ ss ▁▁ ▁▁ ▁▁ ▁▁ ss ▁▁ ▁▁ ▁▁ ▁▁
      1  2  3  4  5  6  7  8  9  10 11

█ own code   s shared.s   ░ waits for a lock or server   ▁ ready or preempted
""",
)

ASSERTION = Bug(
    "assertion",
    """
procedure Pool { void take(); void give(); }
component Client { control; requestor; uses Pool pool; }
component Server { provides Pool pool with priority_protocol inherited; }
assembly {
    composition {
        component Client a; component Client b; component Server server;
        connection seL4RPCCall x(from a.pool, from b.pool, to server.pool);
    }
    configuration { a._priority = 20; a._period = 10 ms; b._priority = 10; b._period = 10 ms; }
}
""",
    {
        "Client": JOBS.format("{ pool_take(); camkes_work(CAMKES_US(10)); pool_give(); }"),
        "Server": """#include <assert.h>
static int left = 1;
void pool_take(void)
{
    assert(left > 0);
    left--;
}
void pool_give(void)
{
    left++;
}
""",
    },
    "F",
    """
1  b begins its job, released by its timer
2  b calls server.pool, and has its answer
     Client.c:5: { pool_take(); camkes_work(CAMKES_US(10)); pool_give(); }
3  b calls server.pool
     Client.c:5: { pool_take(); camkes_work(CAMKES_US(10)); pool_give(); }
4  b is preempted by a: released by its timer, priority 20 is above 10
     Client.c:5: { pool_take(); camkes_work(CAMKES_US(10)); pool_give(); }
5  a begins its job
6  a calls server.pool, whose lock is free
     Client.c:5: { pool_take(); camkes_work(CAMKES_US(10)); pool_give(); }
7  server.pool@a stops at a fault
     Server.c:6: assert(left > 0);
8  violated: F: server.pool@a stops at a fault: abort at Server.c:6: `assert(left > 0);`
""",
)

DEADLOCK = Bug(
    "deadlock",
    """
procedure Do { void it(); }
component Pair { control; requestor; provides Do other; has mutex left; has mutex right; }
component User { control; requestor; uses Do d; }
assembly {
    composition {
        component Pair pair; component User user;
        connection seL4RPCCall c(from user.d, to pair.other);
    }
    configuration {
        pair._priority = 10; pair._period = 20 ms; pair.other_priority = 20;
        user._priority = 20; user._period = 10 ms;
    }
}
""",
    {
        "User": JOBS.format("d_it();"),
        "Pair": """typedef int step(void);
static int both(step *first, step *second, step *last, step *but_one)
{
    return first() || second() || but_one() || last();
}
"""
        + JOBS.format("(void)both(left_lock, right_lock, left_unlock, right_unlock);")
        + "void other_it(void)\n{\n    (void)both(right_lock, left_lock, right_unlock, left_unlock);\n}\n",
    },
    "L",
    """
1  pair begins its job, released by its timer
2  pair takes the mutex pair.left
     Pair.c:5: return first() || second() || but_one() || last();
3  pair is preempted by user: released by its timer, priority 20 is above 10
     Pair.c:5: return first() || second() || but_one() || last();
4  user begins its job
5  user calls pair.other
     User.c:5: d_it();
6  pair.other takes the mutex pair.right
     Pair.c:5: return first() || second() || but_one() || last();
7  pair.other waits for the mutex pair.left, held by pair
     Pair.c:5: return first() || second() || but_one() || last();
8  pair goes on and waits for the mutex pair.right, held by pair.other
     Pair.c:5: return first() || second() || but_one() || last();
""",
)


def explored(bug: Bug, folder: Path, *more: str) -> int:
    write_files(folder, bug.text, bug.code)
    return main(["explore", str(folder), "-o", str(folder / "out"), "-q", "--limit", "60s", *more])


@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(LOST_UPDATE, id="lost-update"),
        pytest.param(MISSED_DEADLINE, id="missed-deadline"),
        pytest.param(ASSERTION, id="assertion", marks=pytest.mark.long),
        pytest.param(DEADLOCK, id="deadlock"),
    ],
)
def test_a_violation_is_explained_in_steps(
    bug: Bug, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explored(bug, tmp_path) == 1
    printed = capsys.readouterr().out
    assert f"violated: {bug.property}: " in printed
    assert bug.steps in printed, printed


def test_one_of_equals_is_not_said_to_be_above(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    equals = LOST_UPDATE.text.replace(
        "b._priority = 10; b._period = 20 ms;", "b._priority = 20; b._period = 10 ms;"
    )
    assert explored(replace(LOST_UPDATE, text=equals), tmp_path) == 1
    printed = capsys.readouterr().out
    assert (
        "3  leaf.p@a makes way for b before it begins: released by its timer, of equal priority\n" in printed
    )
    assert "6  leaf.p@b is preempted by leaf.p@a: woken by a, of equal priority\n" in printed
    assert "is above" not in printed


def test_steps_are_in_json_pictures_and_the_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, picture = tmp_path / "story.html", tmp_path / "story.svg"
    assert explored(LOST_UPDATE, tmp_path, "--json", "--html", str(page), "--timeline", str(picture)) == 1
    report = conforming("explore", capsys.readouterr().out)
    steps = report["steps"]
    assert [step["kind"] for step in steps] == ["job", "call", "preempted", "job", "call", "violation"]
    assert steps[2] == {
        "number": 3,
        "kind": "preempted",
        "thread": "leaf.p@b",
        "task": "b",
        "what": "is preempted by a",
        "cause": "released by its timer, priority 20 is above 10",
        "time": 0,
        "file": "Leaf.c",
        "line": 7,
        "text": "served = before + 1;",
    }
    assert picture.read_text().count('class="step"') == len(steps)
    text = page.read_text()
    assert text.count("<li ") == len(steps)
    assert "served = before + 1;" in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert conforming("schedule", Path(report["schedule"]).read_text())["steps"] == steps
    words = ["run", str(tmp_path), "-o", str(tmp_path / "out"), "--replay", report["schedule"]]
    assert main(words) == 0
    assert "3  leaf.p@b is preempted by a: released by its timer" in capsys.readouterr().err
