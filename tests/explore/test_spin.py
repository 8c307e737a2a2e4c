# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A model for Spin and the runtime have the same orders in which three tasks take two nested locks.

The model (two_locks.pml) was written from the design, by an author who had not read the runtime, and was not
changed afterwards; the search runs the runtime. Neither may have an order of lock operations and ends of jobs
that the other does not have, but for one (BY_TIE).
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions
from tests.explore.search import built, exhausted, search
from tests.runtime import systems
from tests.runtime.systems import Contended

MODEL = Path(__file__).with_name("two_locks.pml")
OPERATIONS = ("take", "wait", "grant", "free", "end")
TASKS = "abc"
LOCKS = "xy"

#: the lock that each task takes first: 0, and then also 1, or 1
FIRSTS = tuple(firsts for firsts in itertools.product((0, 1), repeat=3) if 0 in firsts)

Outcome = tuple[str, ...]

#: The runtime has this order where a and c request X and b requests Y: b's call of Y's manager has been made
#: when c arrives, which has the manager's priority and is chosen first; c's wait for X comes before b's wait
#: for Y. In the model a manager runs before a task of its priority. The design leaves that to the kernel, and
#: the search tries both.
BY_TIE = (
    "take x.p a, take y.p a, wait x.p c, wait y.p b, free y.p a, grant y.p b, free x.p a, grant x.p c, "
    "wait y.p c, free y.p b, grant y.p c, free y.p c, free x.p c, end c, end b, end a"
)

pytestmark = [
    pytest.mark.requirement("AN-23"),
    pytest.mark.skipif(shutil.which("spin") is None, reason="needs Spin (Debian's package `spin`)"),
]


def words(number: int) -> str:
    """One step as the model writes it."""
    operation, task = OPERATIONS[number // 8], TASKS[number % 4]
    return f"end {task}" if operation == "end" else f"{operation} {LOCKS[number // 4 % 2]}.p {task}"


def of_model(folder: Path, firsts: tuple[int, ...], old: str = "", new: str = "") -> set[Outcome]:
    """All orders of the model, with `new` for `old`; -o2 keeps the variable that is only printed."""
    folder.mkdir()
    text = MODEL.read_text()
    assert text.count(old) == 1 or not old
    (folder / MODEL.name).write_text(text.replace(old, new) if old else text)
    via_x = sum(1 << task for task, first in enumerate(firsts) if first == 0)
    compiler = ("cc", "-O1", "-w", "-DPRINTF", "-DSAFETY", "-o", "pan", "pan.c")
    for command in (("spin", "-o2", "-a", f"-DVIA={via_x}", MODEL.name), compiler):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    found = subprocess.run(("./pan",), cwd=folder, check=True, capture_output=True, text=True).stdout
    assert "errors: 0" in found and "Full statespace search" in found, found
    assert "max search depth too small" not in found
    lines = (line.split() for line in found.splitlines())
    return {tuple(words(int(n)) for n in line[1:]) for line in lines if line[:1] == ["outcome"]}


def system(firsts: tuple[int, ...]) -> Contended:
    callers = [
        ", ".join(f"from {t}.p" for t, first in zip(TASKS, firsts, strict=True) if first == lock)
        for lock in (0, 1)
    ]
    outer, inner = callers[0], ", ".join(filter(None, (callers[1], "from x.n")))
    clause = "with priority_protocol inherited, requests"
    return Contended(
        "two-locks",
        f"""component Outer {{ provides P p {clause} (n); uses P n; }}
            component Leaf {{ provides P p {clause} (); }}""",
        f"""component Outer x; component Leaf y;
            connection seL4RPCCall toX({outer}, to x.p);
            connection seL4RPCCall toY({inner}, to y.p);""",
        (("a", 10, 0), ("b", 20, 0), ("c", 30, 0)),
        sources={"Outer": systems.PASS, "Leaf": systems.LEAF},
    )


def of_runtime(folder: Path, firsts: tuple[int, ...]) -> set[Outcome]:
    found = search(built(folder, system(firsts)), SearchOptions(seconds=1200, outcomes=True))
    assert found.violation is None
    assert exhausted(found)
    return set(found.outcomes)


def seen(outcomes: set[Outcome], firsts: tuple[int, ...]) -> set[Outcome]:
    """Without operations on a lock that only one task can take: the runtime has none there."""
    alone = {f"{LOCKS[0]}.p"} if firsts.count(0) == 1 else set()
    return {tuple(step for step in outcome if alone.isdisjoint(step.split())) for outcome in outcomes}


@pytest.mark.long
@pytest.mark.parametrize(
    "firsts", [pytest.param(f, marks=[] if f == (0, 0, 1) else [pytest.mark.long]) for f in FIRSTS]
)
def test_the_model_and_the_runtime_have_the_same_outcomes(firsts: tuple[int, ...], tmp_path: Path) -> None:
    model = seen(of_model(tmp_path / "model", firsts), firsts)
    runtime = seen(of_runtime(tmp_path / "system", firsts), firsts)
    assert len(model) > 10
    assert runtime - model == ({tuple(BY_TIE.split(", "))} if firsts == (0, 1, 0) else set())
    assert model - runtime == set()


@pytest.mark.long
@pytest.mark.parametrize(
    ("firsts", "old", "new"),
    [
        ((0, 0, 1), "does[i] == waits && eff[holder", "false && eff[holder"),
        ((1, 1, 1), "eff[i] > eff[next] ||", "eff[i] < eff[next] ||"),
    ],
    ids=["no-inheritance", "wrong-heir"],
)
def test_outcomes_show_a_mistake(firsts: tuple[int, ...], old: str, new: str, tmp_path: Path) -> None:
    """So a comparison of outcomes would notice it."""
    assert of_model(tmp_path / "good", firsts) != of_model(tmp_path / "bad", firsts, old, new)
