# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Response times under schedules of domains, computed by hand from the schedule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("HOST-20")

MS = 1_000_000

LISTS = """cmake_minimum_required(VERSION 3.16)
project(domains C)
DeclareCAmkESComponent(Worker SOURCES worker.c)
DeclareCAmkESRootserver(system.camkes)
"""
WORKER = """#include <camkes.h>
int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_MS(work_ms));
    }
    return 0;
}
"""
SYSTEM = """component Worker { control; requestor; attribute int work_ms = 1; }
assembly {
    composition { component Worker p; component Worker q; }
    configuration {
        p._priority = 10; q._priority = 20; p._period = %s; q._period = %s;
        %s
    }
    %s
}
"""


def application(folder: Path, settings: str, schedule: str, period: str) -> Path:
    system = SYSTEM % (period, period, settings, f"schedule {{ [{schedule}] }}" if schedule else "")
    return write_files(folder, {"CMakeLists.txt": LISTS, "worker.c": WORKER, "system.camkes": system})


def run(folder: Path, *options: str | Path) -> dict[str, dict[str, Any]]:
    """The tasks of a run by their names, as in its JSON."""
    done = camkes("run", folder, "--for", "280ms", "-o", folder / "out", "--json", *options)
    assert done.status == 0, done.errors
    return {task["name"]: task for task in json.loads(done.output)["tasks"]}


#: settings, schedule, period, and the longest response times of p and q in milliseconds
FIGURES = {
    "two": (
        "p._domain = 1; p.work_ms = 2; q._domain = 2; q.work_ms = 3;",
        "(1, 3 ms), (2, 4 ms)",
        "7 ms",
        2,
        6,
    ),
    "twice": (
        "p._domain = 1; p.work_ms = 3; q._domain = 2; q.work_ms = 1;",
        "(0, 1 ms), (1, 2 ms), (2, 2 ms), (1, 2 ms)",
        "70 ms",
        6,
        4,
    ),
    "one": (
        "p._domain = 3; p.work_ms = 2; q._domain = 3; q.work_ms = 3;",
        "(0, 2 ms), (3, 6 ms)",
        "40 ms",
        7,
        5,
    ),
    "just missed": (
        "p._domain = 1; p._offset = 2 ms; p.work_ms = 2; q._domain = 2; q.work_ms = 3;",
        "(1, 3 ms), (2, 4 ms)",
        "7 ms",
        6,
        6,
    ),
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("kernel", [(), ("-D", "KernelIsMCS=ON")], ids=["plain", "mcs"])
def test_response_times(name: str, kernel: tuple[str, ...], tmp_path: Path) -> None:
    settings, schedule, period, *expected = FIGURES[name]
    tasks = run(application(tmp_path, settings, schedule, period), *kernel)
    assert [tasks[task]["response"]["max"] for task in "pq"] == [each * MS for each in expected]


def test_a_task_that_waits_for_its_slot_is_not_blocked(tmp_path: Path) -> None:
    settings, schedule, period, *_ = FIGURES["two"]
    tasks = run(application(tmp_path, settings, schedule, period))
    assert tasks["q"]["states"] == {"running": 40 * 3 * MS, "waits for its slot": 40 * 3 * MS}
    assert tasks["q"]["blocked_max"] == 0


def test_the_schedule_of_the_kernel_counts_where_the_text_has_none(tmp_path: Path) -> None:
    """In ticks of 2 ms, or of what is stated."""
    settings, _, period, *_ = FIGURES["two"]
    folder = application(tmp_path, settings, "", period)
    (folder / "table.c").write_text(
        "const dschedule_t ksDomSchedule[] = { { .domain = 1, .length = 3 }, { .domain = 2, .length = 4 } };"
    )
    setting = 'set(KernelDomainSchedule "${CMAKE_CURRENT_LIST_DIR}/table.c" CACHE INTERNAL "")\n'
    (folder / "settings.cmake").write_text(f'{setting}set(KernelTimerTickMS 1 CACHE STRING "")\n')
    tasks = run(folder)
    assert [tasks[task]["response"]["max"] for task in "pq"] == [2 * MS, 6 * MS]
    other = run(folder, "-D", "KernelTimerTickMS=2")
    assert other["p"]["response"]["min"] == 2 * MS and other["q"]["response"]["max"] > 6 * MS


LOOP = "#include <camkes.h>\nint run(void) { for (;;) { %s } }\n"


@pytest.mark.parametrize("step", ["seL4_Yield();", "own_emit();"])
@pytest.mark.parametrize("kernel", [(), ("-D", "KernelIsMCS=ON")], ids=["plain", "mcs"])
def test_a_loop_without_a_wait_has_the_rest_of_its_slots(
    step: str, kernel: tuple[str, ...], tmp_path: Path
) -> None:
    """In slots that follow each other too, and one that ends with the run."""
    settings = "p._domain = 1; p.tick_domain = 1; q._domain = 2; q._offset = 2 ms; q.work_ms = 1;"
    folder = application(tmp_path, settings, "(1, 1 ms), (1, 2 ms), (2, 4 ms)", "14 ms")
    system = (folder / "system.camkes").read_text().replace("component Worker p", "component Loop p")
    own = "component Loop { control; requestor; consumes Tick tick; emits Tick own; }\n"
    joined = "connection seL4Notification n(from p.own, to p.tick); }"
    system = (own + system).replace("component Worker q; }", f"component Worker q; {joined}")
    (folder / "system.camkes").write_text(
        "import <std_connector.camkes>;\n" + system.replace("p._period = 14 ms;", "")
    )
    (folder / "loop.c").write_text(LOOP % step)
    (folder / "CMakeLists.txt").write_text(
        LISTS.replace("DeclareCAmkESRoot", "DeclareCAmkESComponent(Loop SOURCES loop.c)\nDeclareCAmkESRoot")
    )
    tasks = run(folder, *kernel)
    assert (tasks["q"]["completed"], tasks["q"]["response"]["max"]) == (20, 2 * MS)
    waits = 3 + 19 * 1  # its thread begins in its first slot
    assert tasks["q"]["states"] == {"running": 20 * MS, "waits for its slot": waits * MS}


def test_a_request_in_its_own_domain_that_a_slot_cuts_is_not_blocked(tmp_path: Path) -> None:
    """The request of b executes in [2, 3) and [7, 9); that of a comes at 8, waits for the lock until 9, and
    ends with the slot: b goes on in the next one."""
    text = (SERVED % "inherited").replace("a._domain = 1; b._domain = 2", "a._domain = 2; b._domain = 2")
    text = text.replace("b.ms = 4", "b.ms = 3").replace("a._offset = 1 ms", "a._offset = 8 ms")
    text = text.replace("b._period = 14 ms;", "b._period = 14 ms; b._offset = 2 ms;")
    files = {"client.c": CLIENT, "server.c": SERVER, "CMakeLists.txt": SERVED_LISTS, "system.camkes": text}
    tasks = run(write_files(tmp_path, files), "--verify", "-D", "KernelTimerTickMS=1")
    first = {name: tasks[name]["job_list"][0] for name in "ab"}
    assert (first["b"]["end"], first["a"]["end"]) == (14 * MS, 10 * MS)
    assert (first["b"]["blocked"], first["a"]["blocked"]) == (0, 1 * MS)


def test_pictures_have_the_slots(tmp_path: Path) -> None:
    settings, schedule, period, *_ = FIGURES["two"]
    folder = application(tmp_path, settings, schedule, period)
    done = camkes("run", folder, "--for", "14ms", "-o", tmp_path / "out", "--timeline", tmp_path / "t.svg")
    row = next(line for line in done.output.splitlines() if line.startswith("domain "))
    assert row.split("|")[1:2] == [row.split("|")[1]] and row.count("|1") == row.count("|2") == 2
    assert "waits for its slot" in done.output
    picture = (tmp_path / "t.svg").read_text()
    assert "slot of domain 2 from 3 ms to 7 ms" in picture and "waits for its slot" in picture


SERVED = """import <std_connector.camkes>;
procedure P { int f(in int ms); }
component Client { control; requestor; uses P p; attribute int ms = 1; }
component Server { provides P p with priority_protocol %s; }
assembly {
    composition {
        component Client a; component Client b; component Server s;
        connection seL4RPCCall c(from a.p, from b.p, to s.p);
    }
    configuration {
        a._priority = 20; b._priority = 10; a._period = 14 ms; b._period = 14 ms; a._offset = 1 ms;
        a._domain = 1; b._domain = 2; a.ms = 1; b.ms = 4;
        s._domain = 2; s.p_domain = 2; s.p_across_domains = 1;
    }
    schedule { [(2, 3 ms), (1, 4 ms)] }
}
"""
SERVED_LISTS = LISTS.replace("(Worker SOURCES worker.c)", "(Client SOURCES client.c)\n").replace(
    "DeclareCAmkESRootserver", "DeclareCAmkESComponent(Server SOURCES server.c)\nDeclareCAmkESRootserver"
)
CLIENT = """#include <camkes.h>
int run(void) { while (camkes_next_job()) { p_f(ms); } return 0; }
"""
SERVER = """#include <camkes.h>
int p_f(int ms) { camkes_work(CAMKES_MS(ms)); return 0; }
"""


@pytest.mark.parametrize(("protocol", "blocked"), [("inherited", 5), ("propagated", 4), ("fixed", 5)])
def test_a_request_to_another_domain_is_blocked_until_its_slots(
    protocol: str, blocked: int, tmp_path: Path
) -> None:
    """The request of b executes in [0, 3) and [7, 8); that of a is made in its slot at 3 and executes in
    [8, 9), before b goes on; without a lock, in [7, 8). To wait for its own slot, at 10, is not blocking."""
    files = {"client.c": CLIENT, "server.c": SERVER, "CMakeLists.txt": SERVED_LISTS}
    folder = write_files(tmp_path, {**files, "system.camkes": SERVED % protocol})
    tasks = run(folder, "--verify", "-D", "KernelTimerTickMS=1")
    first = {name: tasks[name]["job_list"][0] for name in "ab"}
    assert (first["b"]["end"], first["a"]["end"]) == (9 * MS, 10 * MS)
    assert first["a"]["blocked"] == blocked * MS
