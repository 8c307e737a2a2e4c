# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Searches end, are the same every time, and find what users do wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from camkes.backends.host.explore import SearchOptions
from camkes.cli.main import main
from camkes.diagnostics import Sink
from camkes.exploration import ExploreSettings
from camkes.exploration import explore as find
from camkes.pipeline import Input
from tests.documents import conforming
from tests.explore.search import LIMIT, built, exhausted, search
from tests.runtime import systems
from tests.runtime.host import HEAD
from tests.runtime.systems import Contended

pytestmark = pytest.mark.requirement("AN-20")

#: and a number above that of their states, below that with values that are never read
SMALL = ((systems.ONE_LOCK, 1000), (systems.RANKS, 820))


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(("system", "most"), SMALL, ids=[s.name for s, _ in SMALL])
def test_all_schedules_of_a_small_system_keep_the_properties(
    system: Contended, most: int, tmp_path: Path
) -> None:
    what = built(tmp_path, system)
    result = search(what)
    assert result.violation is None
    assert exhausted(result)
    assert 100 < result.state.distinct < most
    assert result.state.distinct <= result.state.states < 1 << 32
    assert replace_time(search(what).state) == replace_time(result.state)


def replace_time(state: object) -> str:
    text = str(state)
    return text[: text.index("seconds=")]


@pytest.mark.long
@pytest.mark.parametrize("random", [0, 300])
def test_several_processes_have_the_results_of_one(random: int, tmp_path: Path) -> None:
    what = built(tmp_path, systems.EQUALS)
    one, three = (search(what, SearchOptions(random=random, processes=n)) for n in (1, 3))
    assert one.violation is three.violation is None
    for field in ("states", "distinct", "schedules", "bound", "cut", "stopped"):
        assert getattr(one.state, field) == getattr(three.state, field), field
    assert three.state.processes == 3


@pytest.mark.long
def test_a_bound_leaves_schedules_out_and_is_reported(tmp_path: Path) -> None:
    what = built(tmp_path, systems.RANKS)
    none = search(what, SearchOptions(bound=0))
    one = search(what, SearchOptions(bound=1))
    assert none.state.cut and one.state.cut
    assert none.state.schedules > 1, "another order of arrivals is not a preemption"
    assert none.state.distinct < one.state.distinct < search(what).state.distinct


@pytest.mark.long
def test_random_schedules_are_those_of_the_seed(tmp_path: Path) -> None:
    what = built(tmp_path, systems.RANKS)
    first, second, other = (search(what, SearchOptions(random=50, seed=s)).state for s in (7, 7, 8))
    assert first.schedules == 50
    assert replace_time(first) == replace_time(second)
    assert first.states != other.states


#: two semaphores that two handlers take in different orders
EMBRACE = Contended(
    "embrace",
    """component Server {
        provides P p with priority_protocol propagated, requests ();
        provides P q with priority_protocol propagated, requests ();
        has semaphore left; has semaphore right;
    }""",
    """component Server server;
       connection seL4RPCCall x(from a.p, to server.p);
       connection seL4RPCCall y(from b.p, to server.q);""",
    (("a", 10, 0), ("b", 20, 30)),
    settings="server.left_value = 1; server.right_value = 1;",
    sources={
        "Server": """
static void both(int (*first)(void), int (*second)(void),
                 int (*last)(void), int (*but_one)(void))
{
    first();
    second();
    but_one();
    last();
}
void p_go(void) { both(left_wait, right_wait, left_post, right_post); }
void q_go(void) { both(right_wait, left_wait, right_post, left_post); }
"""
    },
)

#: `b` misses its deadline only if `a` is quick enough to have the lock first
QUICK = Contended(
    "quick",
    "component Leaf { provides P p with priority_protocol inherited, requests (); }",
    """component Leaf leaf;
       connection seL4RPCCall x(from a.p, from b.p, to leaf.p);""",
    (("a", 10, 0), ("b", 20, 30)),
    settings="b._deadline = 120 us;",
    sources={
        "Task": """
int run(void)
{
    while (camkes_next_job()) {
        camkes_work_between(CAMKES_US(10), CAMKES_US(50));
        p_go();
    }
    return 0;
}
""",
        "Leaf": "void p_go(void) { camkes_work(CAMKES_US(50)); }\n",
    },
)


def write(folder: Path, system: Contended) -> Path:
    """The application as files, for commands."""
    return write_files(folder, system.text, system.code)


def write_files(folder: Path, text: str, code: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "system.camkes").write_text(HEAD + text)
    for name, source in code.items():
        (folder / f"{name}.c").write_text("#include <camkes.h>\n" + source)
    lines = [f"DeclareCAmkESComponent({name} SOURCES {name}.c)" for name in sorted(code)]
    (folder / "CMakeLists.txt").write_text(
        "\n".join([*lines, "DeclareCAmkESRootserver(system.camkes)"]) + "\n"
    )
    return folder


def violation(
    folder: Path, *options: str, capsys: pytest.CaptureFixture[str], expected: str
) -> tuple[dict[str, Any], str]:
    """The violation of the property `expected` that a search finds, and the file of its schedule."""
    out = folder / "out"
    status = main(["explore", str(folder), "-o", str(out), "--json", "--limit", "60s", *options])
    report = conforming("explore", capsys.readouterr().out)
    assert status == 1
    assert report["violation"]["property"] == expected
    conforming("schedule", Path(report["schedule"]).read_text())
    return report["violation"], report["schedule"]


@pytest.mark.long
def test_a_deadlock_through_semaphores_is_found_and_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, EMBRACE)
    found, schedule = violation(folder, capsys=capsys, expected="L")
    for thread, task, name in (("server.p@a", "a", "right"), ("server.q@b", "b", "left")):
        step = f"{task} waits for a reply of {thread}; {thread} waits for the semaphore server.{name}"
        assert step in found["explanation"]
    picture = tmp_path / "picture.svg"
    words = ["run", str(folder), "-o", str(tmp_path / "out"), "--replay", schedule]
    status = main([*words, "--timeline", str(picture)])
    printed = capsys.readouterr()
    assert status == 1, printed
    assert "the schedule shows L:" in printed.err
    assert "deadlock: server.p@a waits for the semaphore server.right, held by server.q@b" in printed.out
    assert "properties M P H L Z S: 3 violated" in printed.out  # what each task waits for, and the deadlock
    assert "error[E0737]: deadlock: " in printed.err and "as a consequence, b waits" in printed.err
    assert "<svg" in picture.read_text()
    assert main(["explore", str(folder), "-o", str(tmp_path / "out"), "--replay", schedule]) == 1


@pytest.mark.long
def test_a_missed_deadline_is_found_where_work_is_shorter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, QUICK)
    assert main(["run", str(folder), "-o", str(tmp_path / "out"), "--for", "2ms", "--fail-on", "missed"]) == 0
    capsys.readouterr()
    found, schedule = violation(folder, "--for", "2ms", capsys=capsys, expected="D")
    assert "of b ends" in found["explanation"]
    words = ["run", str(folder), "-o", str(tmp_path / "out"), "--replay", schedule]
    assert main([*words, "--fail-on", "missed"]) == 1
    assert "all deadlines" not in capsys.readouterr().out


#: `urgent` looks again and again whether `helper` has been there
SPIN = """
component Urgent { control; requestor; dataport Buf seen; }
component Helper { control; requestor; dataport Buf seen; }
assembly {
    composition {
        component Urgent urgent; component Helper helper;
        connection seL4SharedData shared(from urgent.seen, to helper.seen);
    }
    configuration {
        urgent._priority = 20; urgent._period = 1 ms;
        helper._priority = 10; helper._period = 1 ms;
    }
}
"""


@pytest.mark.long
@pytest.mark.parametrize("step", ["camkes_work(CAMKES_US(10));", "seL4_Yield();"])
def test_a_thread_that_waits_in_a_loop_is_found_and_repeated(
    step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With work, time passes in a run, and does not in the search."""
    job = "int run(void) {{ while (camkes_next_job()) {{ {} }} return 0; }}"
    code = {
        "Urgent": job.format(f"while (*(volatile int *)seen == 0) {{ {step} }}"),
        "Helper": job.format("camkes_work(CAMKES_US(50)); *(volatile int *)seen = 1;"),
    }
    write_files(tmp_path, SPIN, code)
    found, schedule = violation(tmp_path, "--arrivals", "any", capsys=capsys, expected="F")
    assert found["explanation"].startswith("urgent executes for ever")
    picture = tmp_path / "picture.svg"
    words = ["run", str(tmp_path), "-o", str(tmp_path / "out"), "--replay", schedule]
    assert main([*words, "--timeline", str(picture)]) == 1
    assert "error[E0729]: component urgent, thread urgent: loops" in capsys.readouterr().err
    assert "<svg" in picture.read_text()


#: requests of several contexts change a variable
RACE = replace(
    systems.ONE_LOCK,
    name="race",
    components="component Leaf { provides P p with priority_protocol propagated, requests (); }",
    sources={"Leaf": "static int served;\nvoid p_go(void)\n{\n    served++;\n}\n"},
)


@pytest.mark.long
def test_a_race_in_a_handler_is_found_and_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, RACE)
    found, schedule = violation(folder, capsys=capsys, expected="R")
    assert "`served` (Leaf.c:5" in found["explanation"]
    assert main(["explore", str(folder), "-o", str(tmp_path / "out"), "--replay", schedule]) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        ("propagated", "inherited", "", ""),  # the CPI's lock
        ("", "", "static int served", "#include <stdatomic.h>\nstatic _Atomic int served"),
        ("", "", "static int served", "static _Thread_local int served"),
    ],
    ids=["locked", "atomic", "of-the-thread"],
)
def test_accesses_without_a_race_are_not_reported(change: tuple[str, str, str, str], tmp_path: Path) -> None:
    old, new, code, other = change
    components = RACE.components.replace(old, new) if old else RACE.components
    sources = {"Leaf": RACE.sources["Leaf"].replace(code, other) if code else RACE.sources["Leaf"]}
    system = replace(RACE, components=components, sources=sources)
    settings = ExploreSettings(search=SearchOptions(seconds=LIMIT), output=tmp_path / "out")
    result = find(Input(write(tmp_path, system)), settings, Sink(), lambda _: None)
    assert result is not None
    assert result.violation is None
    assert [each.verdict for each in result.passes] == ["exhausted", "bound reached", "exhausted"]
    assert "\nproperties M P H B L Z S F R D: no violation was found\nnot searched:\n" in result.report_text()


@pytest.mark.long
def test_a_fault_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A handler that cannot do with a second request."""
    source = "#include <stdlib.h>\nstatic _Atomic int inside;\nvoid p_go(void) { if (inside++) { abort(); } "
    leaf = source + "camkes_work(CAMKES_US(10)); inside--; }\n"
    components = "component Leaf { provides P p with priority_protocol propagated, requests (); }"
    system = replace(systems.ONE_LOCK, components=components, sources={"Leaf": leaf})
    violation(write(tmp_path, system), capsys=capsys, expected="F")


def test_an_invalid_schedule_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "schedule.json"
    file.write_text('{"format": "camkes-schedule 1", "choices": [1]}')
    for command in ("run", "explore"):
        assert main([command, str(tmp_path), "--replay", str(file)]) == 2
        assert "is not a valid schedule" in capsys.readouterr().err
