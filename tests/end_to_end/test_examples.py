# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every example does what its README says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from camkes.diagnostics import Sink
from camkes.running.events import parse_trace
from camkes.running.kinds import Kind
from tests.command import Result, camkes
from tests.end_to_end.support import EXAMPLES

pytestmark = pytest.mark.requirement("HOST-19")

RUNNING = (
    "adder",
    "events",
    "dataport",
    "hierarchy",
    "timer",
    "protocols",
    "nested",
    "inversion",
    "helpers",
    "publish",
    "buffer",
    "edf",
    "encryption",
    "aav",
    "guest",
    "flight",
)
VARIANTS = [
    *((name, ()) for name in RUNNING),
    *(pytest.param("nested", (f"-DCONFIGURATION={n}",), marks=pytest.mark.long) for n in (2, 3)),
    ("nested", ("-DCONFIGURATION=4",)),
    ("inversion", ("-DPLAIN=ON",)),
    ("helpers", ("-DPLAIN=ON",)),
    ("edf", ("-DFIXED=ON",)),
    ("guest", ("-DGUEST=idle",)),
    ("guest", ("-DSHARED=ON",)),
    ("flight", ("-DINVERSION=ON",)),
]


def label(value: object) -> str:
    return "".join(value) or "default" if isinstance(value, tuple) else str(value)


def report(result: Result) -> dict[str, Any]:
    """Tasks of a `--json` report by name; what the components printed stands before it."""
    text = result.output[result.output.index("\n{") :] if not result.output.startswith("{") else result.output
    return {task["name"]: task for task in json.loads(text)["tasks"]}


def test_every_example_is_tried() -> None:
    tried = {*RUNNING, "deadlock", "invalid-nesting"}
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == tried


@pytest.mark.mostly_long("timer-default")
@pytest.mark.parametrize(("name", "flags"), VARIANTS, ids=label)
def test_output_properties_and_traces(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    """What an example prints is what its README shows, its properties hold also under round robin, and each
    run of it has the same trace, with and without process isolation."""
    suffix = "".join(flags).partition("=")[2]
    expected = (EXAMPLES / name / f"expected{suffix}.txt").read_text()
    traces = set()
    for number, how in enumerate([(), (), ("--fast",)]):
        trace = tmp_path / f"{number}.trace"
        words = (EXAMPLES / name, *flags, *how, "-o", tmp_path / "build", "-q", "--verify", "--ascii")
        result = camkes("run", *words, "--trace", trace)
        assert (result.status, result.errors) == (0, "")
        assert result.output.startswith(expected)  # then comes the report
        assert "hold at every event" in result.output
        traces.add(trace.read_bytes())
    assert len(traces) == 1
    turns = ("--scheduling", "rr", "--timeslice", "1ms", "--verify", "--ascii")
    result = camkes("run", EXAMPLES / name, *flags, *turns, "-o", tmp_path / "build")
    assert result.status == 0, result.errors + result.output
    assert "hold at every event" in result.output


def test_a_guest_makes_no_difference(tmp_path: Path) -> None:
    """examples/guest/README.md: the tasks beside it respond as if it were idle, within their bounds."""
    found = {
        guest: report(camkes("run", EXAMPLES / "guest", f"-DGUEST={guest}", "--json", "-o", tmp_path / guest))
        for guest in ("busy", "idle")
    }
    for name, bound in (("steering", 4_600_000), ("monitor", 9_300_000)):
        busy, idle = (found[guest][name]["job_list"] for guest in ("busy", "idle"))
        assert busy == idle
        assert max(job["response"] for job in busy) <= bound


@pytest.mark.long
def test_inversion_equals_the_calculation_by_hand(tmp_path: Path) -> None:
    """examples/inversion/README.md: 8 ms with inheritance, 28 ms with the plain call."""
    worst = {}
    for name, flags in (("inherited", ()), ("plain", ("-DPLAIN=ON",))):
        result = camkes(
            "run", EXAMPLES / "inversion", *flags, "-o", tmp_path / name, "--for", "90ms", "--json"
        )
        assert result.status == 0, result.errors
        worst[name] = report(result)["high"]["response"]["max"]
    assert worst == {"inherited": 8_000_000, "plain": 28_000_000}


@pytest.mark.long
def test_critical_tasks_meet_their_deadlines_within_the_bounds_of_their_criticality(tmp_path: Path) -> None:
    """examples/aav/README.md: also with overruns; the least critical tasks do not."""
    trace = tmp_path / "run.trace"
    run = camkes("run", EXAMPLES / "aav", "-o", tmp_path, "--for", "2s", "--json", "--trace", trace)
    assert run.status == 0, run.errors
    tasks = report(run)
    bounds = {
        (each["name"], each["criticality"]): each["response"]
        for each in json.loads(camkes("analyze", EXAMPLES / "aav", "--text", "--json").output)[
            "criticalities"
        ]
    }
    changes = criticalities(trace)
    highest = {name: max(level for each, level in bounds if each == name) for name, _ in bounds}
    for name, level in highest.items():
        for job in tasks[name]["job_list"] if level > 0 else ():
            during = max(of for start, end, of in changes if start < job["end"] and job["release"] < end)
            assert not job["missed"]
            # a job may need what it needs at its next criticality, and end before its budget does
            assert during > level or job["response"] <= max(bounds[name, each] for each in {during, level})
    assert max(level for *_, level in changes) == 2
    assert tasks["bus"]["missed"] > 0 and tasks["video"]["released"] < 50


def criticalities(trace: Path) -> list[tuple[int, int, int]]:
    """When the system had which criticality: start, end, criticality."""
    events = parse_trace(trace.read_bytes(), "trace", Sink())
    assert events
    changes = [(0, 0), *((e.time, e.args[0]) for e in events if e.kind is Kind.CRITICALITY)]
    ends = [*(time for time, _ in changes[1:]), events[-1].time]
    return [(start, end, level) for (start, level), end in zip(changes, ends, strict=True)]


@pytest.mark.long  # tests/runtime/test_time_manager.py is about the same budgets
def test_drivers_that_take_all_time_delay_no_critical_task(tmp_path: Path) -> None:
    """examples/aav/README.md: within the bounds of the analysis for tasks that are not trusted."""
    flags = ("-DCRITICALITY=OFF", "-DGREEDY=ON")
    run = camkes("run", EXAMPLES / "aav", *flags, "-o", tmp_path, "--for", "200ms", "--json")
    assert run.status == 0, run.errors
    tasks = report(run)
    bounds = {
        task["name"]: task["isolated"]
        for task in json.loads(camkes("analyze", EXAMPLES / "aav", *flags, "--text", "--json").output)[
            "budgets"
        ]
    }
    for name in ("flight", "filter", "command"):
        assert tasks[name]["missed"] == 0 and tasks[name]["completed"] == tasks[name]["released"]
        assert tasks[name]["response"]["max"] <= bounds[name]
    assert tasks["bus"]["completed"] == tasks["video"]["completed"] == 0


FLIGHT = EXAMPLES / "flight"


@pytest.mark.long
def test_the_flight_controller_responds_within_its_bounds(tmp_path: Path) -> None:
    """docs/flight.md: no deadline is missed, and chains have bounds, too."""
    run = camkes("run", FLIGHT, "-o", tmp_path, "--json", "--deny", "missed")
    assert run.status == 0, run.errors
    analysis = camkes("analyze", FLIGHT, "--platform", "none", "--strict", "--json", "-q")
    assert analysis.status == 0, analysis.errors
    bounds, found = json.loads(analysis.output), report(run)
    responses = {task["name"]: task["response"] for task in bounds["tasks"]}
    assert responses.pop("recorder") is None
    for name, bound in responses.items():
        assert found[name]["completed"] > 0 and found[name]["response"]["max"] <= bound, name
    chains = json.loads(run.output)["chains"]
    latencies = {tuple(chain["tasks"]): chain["latency"] for chain in bounds["chains"]}
    assert [tuple(chain["tasks"])[-1] for chain in chains] == ["controller", "safety"]
    for chain in chains:
        assert chain["completed"] > 0 and chain["latency"]["max"] <= latencies[tuple(chain["tasks"])]


@pytest.mark.long
def test_the_inversion_of_the_flight_controller_is_found(tmp_path: Path) -> None:
    """docs/flight.md: by the check, by a run and by the search; without it, none of them finds anything."""
    for flags, status in (((), 0), (("-DINVERSION=ON",), 1)):
        check = camkes("check", FLIGHT, *flags)
        assert check.status == 0 and ("W0512" in check.errors) == bool(status)
        words = (FLIGHT, *flags, "-o", tmp_path / f"out{status}", "--for")
        run = camkes("run", *words, "100ms", "--deny", "missed", "-q")
        assert run.status == status and ("E0809" in run.errors) == bool(status)
        search = camkes("explore", *words, "40ms", "--arrivals", "stated", "--json")
        assert search.status == status, search.errors
        violation = json.loads(search.output)["violation"]
        assert (violation and violation["property"]) == ("D" if status else None)


@pytest.mark.long
def test_the_race_of_the_flight_controller_is_found(tmp_path: Path) -> None:
    """docs/flight.md: by the search alone; without it, there is none with one preemption."""
    for flags, status in (((), 0), (("-DRACE=ON",), 1)):
        words = (FLIGHT, *flags, "-o", tmp_path / f"out{status}")
        run = camkes("run", *words, "-q", "--verify", "--deny", "missed")
        assert run.status == 0 and run.output.startswith((FLIGHT / "expected.txt").read_text())
        search = camkes("explore", *words, "--arrivals", "any", "--bound", "1", "--json")
        assert search.status == status, search.errors
        violation = json.loads(search.output)["violation"]
        assert (violation and violation["property"]) == ("R" if status else None)


@pytest.mark.long
def test_tests_of_the_flight_controller_pass(tmp_path: Path) -> None:
    """One mistake in its code, and they do not."""
    copy = tmp_path / "flight"
    shutil.copytree(FLIGHT, copy)
    assert camkes("test", copy).status == 0
    for name, right, wrong, test in (
        ("mixer", "thrust - roll + pitch", "thrust + roll + pitch", "mixing"),
        ("estimator", "(1 - weight) *", "weight *", "filter"),
        ("barometer", "- 2000", "- 2100", "pressure"),
        ("log", "count--", "count -= 2", "places"),
        ("safety", "MOST_IMPLAUSIBLE 3", "MOST_IMPLAUSIBLE 2", "alarms"),
        ("controller", "command.angle[axis] -", "command.angle[axis] +", "torque"),
        ("airframe", "speed[1] + speed[2] - speed[0]", "speed[0] + speed[3] - speed[1]", "stable"),
    ):
        source = copy / "components" / f"{name}.c"
        text = source.read_text()
        assert right in text
        source.write_text(text.replace(right, wrong, 1))
        result = camkes("test", copy, "--filter", test)
        assert result.status == 1 and f"FAIL {test}" in result.output, name
        source.write_text(text)


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(("name", "code"), [("deadlock", "E0501"), ("invalid-nesting", "E0502")])
def test_bad_examples_are_rejected(name: str, code: str) -> None:
    for command in ("check", "plan", "build", "run"):
        result = camkes(command, EXAMPLES / name, "--ascii")
        assert result.status == 1
        assert f"error[{code}]" in result.errors
        assert result.output == ""


def test_deadlock_walks_the_whole_cycle() -> None:
    result = camkes("check", EXAMPLES / "deadlock", "--format", "sarif")
    found = json.loads(result.output)["runs"][0]["results"][0]
    steps = found["codeFlows"][0]["threadFlows"][0]["locations"]
    words = " ".join(step["location"]["message"]["text"] for step in steps)
    for hop in ("`a.s` requests `b.s`", "`b.s` requests `c.s`", "`c.s` requests `a.s`"):
        assert hop in words


@pytest.mark.long
def test_pictures_and_traces(tmp_path: Path) -> None:
    result = camkes(
        "run", EXAMPLES / "inversion", "-o", tmp_path / "b", "-q", "--for", "50ms",
        "--timeline", tmp_path / "t.svg", "--trace", tmp_path / "t.json",
    )  # fmt: skip
    assert result.status == 0
    assert (tmp_path / "t.svg").read_text().startswith("<?xml") or "<svg" in (tmp_path / "t.svg").read_text()
    assert {"ph", "ts", "pid"} <= set(json.loads((tmp_path / "t.json").read_text())["traceEvents"][-1])
