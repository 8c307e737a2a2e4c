# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Certificates of response times, and their checker."""

from __future__ import annotations

import ast
import copy
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.budgets import budget_results
from camkes.analysis.overruns import lasting_budgets
from camkes.analysis.platform import (
    FREE,
    FixedCost,
    InheritanceCost,
    OverrunCost,
    Platform,
    TickCost,
    TimerCost,
)
from camkes.analysis.supply import supply_of
from camkes.analysis.workload import NEVER, Workload, WorkloadCpi, WorkloadTask, workload_of
from camkes.check_certificate import Checker
from camkes.diagnostics import Sink
from camkes.documents import json_text
from camkes.model.protocols import Protocol
from camkes.project.application import KERNEL_IS_MCS
from camkes.resources import ROOT
from camkes.showing.workload_json import report_of
from tests.analysis.budget_attacks import written as written_attack
from tests.analysis.certificates import (
    Certified,
    certified,
    compared,
    damaged,
    random_certificate,
    still_true,
    verdict,
)
from tests.analysis.enumeration import banded_workload, chained_workload
from tests.analysis.random_budgets import attack
from tests.analysis.test_chains import chain
from tests.command import camkes
from tests.documents import conforming
from tests.runtime.host import HEAD

pytestmark = pytest.mark.requirement("AN-11")

CHECKER = ROOT / "camkes" / "check_certificate.py"
INHERITED, FIXED, PROPAGATED = Protocol.INHERITED, Protocol.FIXED, Protocol.PROPAGATED


def check(plan: Path, certificate: Path) -> subprocess.CompletedProcess[str]:
    """The checker by itself, without the packages that are installed."""
    command = [sys.executable, "-I", "-S", str(CHECKER), str(plan), str(certificate)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "Traceback" not in done.stderr + done.stdout
    return done


def written(folder: Path, found: Certified) -> tuple[Path, Path]:
    plan, certificate = folder / "plan.json", folder / "certificate.jsonl"
    plan.write_text(json.dumps(found.plan))
    certificate.write_text("".join(f"{json.dumps(line)}\n" for line in found.lines))
    return plan, certificate


def test_the_checker_is_one_short_file_that_needs_nothing() -> None:
    text = CHECKER.read_text()
    assert len(text.splitlines()) <= 300
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None and not node.level
            imported.add(node.module.partition(".")[0])
    assert imported <= sys.stdlib_module_names and "camkes" not in imported


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.long)])
def test_random_certificates_are_accepted(count: int) -> None:
    """What is certified is what the analysis found, where that is exact and costs are whole nanoseconds; in
    systems with chains it is never less."""
    tasks = chained = 0
    for seed in range(count):
        found = random_certificate(seed)
        assert verdict(found.plan, found.lines) == "accepted", seed
        if found.platform is not None and 1_000_000_000 % found.platform.clock:
            continue
        for line in found.lines:
            if line["line"] == "task":
                result = found.results[line["task"]]
                assert result.response is not None
                if any(task.after for task in found.workload.tasks):
                    exact = result.blocking.exact is not None
                    assert line["response"] >= result.response.time or not exact, seed
                    chained += 1
                    continue
                claimed = line["blocking"], line["response"]
                known = result.blocking.least, result.response.time
                assert claimed == known or result.blocking.exact is None, seed
                tasks += 1
    assert tasks > count * 3 / 4 and chained > count / 2


@pytest.mark.parametrize(("systems", "damages"), [(24, 10), pytest.param(500, 20, marks=pytest.mark.long)])
def test_damaged_certificates_are_refused_or_true(systems: int, damages: int) -> None:
    refused = 0
    for seed in range(systems):
        found = random_certificate(seed)
        rng = random.Random(seed)
        for _ in range(damages):
            kind, lines = damaged(rng, found)
            accepted = verdict(found.plan, lines) == "accepted"
            assert not accepted or still_true(found, lines), (seed, kind)
            refused += not accepted
    assert refused > systems * damages / 2


def test_no_smaller_number_is_accepted() -> None:
    """Of the response, the latest end, the window and the blocking: these are the least ones."""
    for seed in (0, 2, 3, 4, 5, 6, 8):
        found = random_certificate(seed)
        for number, line in enumerate(found.lines):
            for key in {"response", "latest", "window", "blocking"} & line.keys():
                lines = copy.deepcopy(found.lines)
                least = 1 if key == "window" else 0  # a window has an instant in it
                if (line["line"] == "bound" and key == "window") or line[key] == least:
                    continue
                lines[number][key] -= 1
                assert verdict(found.plan, lines).startswith("wrong"), (seed, number, key)


# What is refused, and at which line -------------------------------------------------------------


def nested() -> Certified:
    """a waits for c, in which b can be, alone or in d; m for l, too, whose lock b and d have in turns."""
    tasks = (
        WorkloadTask("a", 9, 100, 100, 1, {"c": 1}),
        WorkloadTask("b", 5, 200, 200, 2, {"c": 1, "d": 1}),
        WorkloadTask("e", 3, 300, 300, 1, {"d": 1}),
    )
    cpis = (WorkloadCpi("c", INHERITED, 4), WorkloadCpi("d", INHERITED, 3, {"c": 1}))
    return certified(Workload(tasks, cpis))


def at(found: Certified, **wanted: Any) -> int:
    """The number of a line."""
    return next(n for n, of in enumerate(found.lines) if all(of.get(k) == v for k, v in wanted.items()))


def change(found: Certified, number: int, do: Callable[[Any], Any]) -> list[Any]:
    lines = copy.deepcopy(found.lines)
    do(lines[number])
    return lines


def test_a_section_that_is_left_out_is_named() -> None:
    found = nested()
    number = at(found, line="section", lower="e", cpi="c")
    lines = [of for n, of in enumerate(found.lines) if n != number]
    assert verdict(found.plan, lines) == "wrong: a section of e in c is left out"


def test_a_section_that_excludes_less_takes_the_place_of_others() -> None:
    """b comes to c alone and in d, with a lock around it: the first one is enough, the second one is not."""
    found = nested()
    alone = at(found, line="section", lower="b", cpi="c", held=[])
    task = found.lines[0:alone]
    in_d = {**found.lines[alone], "held": ["d"]}
    both = [*task, in_d, *found.lines[alone:]]
    without = [*task, in_d, *found.lines[alone + 1 :]]
    assert "left out" in verdict(found.plan, without)
    for lines in (both, found.lines):
        assert "left out" not in verdict(found.plan, lines)


def test_a_ceiling_on_the_way_excludes_less_than_the_own_priority() -> None:
    """Directly in c, b excludes e, whose priority is that of the ceiling of d; through d it does not."""
    tasks = (
        WorkloadTask("a", 9, 100, 100, 1, {"c": 1, "l": 1}),
        WorkloadTask("e", 5, 200, 200, 2, {"d": 1, "l": 1}),
        WorkloadTask("b", 3, 300, 300, 1, {"c": 1, "d": 1}),
    )
    cpis = (
        WorkloadCpi("d", FIXED, 1, {"c": 1}, 5),
        WorkloadCpi("c", FIXED, 4, {}, 9),
        WorkloadCpi("l", INHERITED, 7),
    )
    found = certified(Workload(tasks, cpis))
    assert found.lines[at(found, task="a")]["blocking"] == 11
    number = at(found, line="section", lower="b", cpi="c", held=["d"])
    lines = [of for n, of in enumerate(found.lines) if n != number]
    assert verdict(found.plan, lines) == "wrong: a section of b in c is left out"


def test_a_lock_that_is_given_in_any_order_is_waited_for_by_all() -> None:
    """a waits for both others, where these can both be served before it."""
    tasks = tuple(WorkloadTask(name, 9 - n, 100, 100, 1, {"w": 1}) for n, name in enumerate("abc"))
    found = certified(Workload(tasks, (WorkloadCpi("w", INHERITED, 4, lock="s"),)))
    assert found.lines[at(found, task="a")]["blocking"] == 4
    found.plan["workload"]["cpis"][0]["any_order"] = True
    assert verdict(found.plan, found.lines) == "wrong: the proof shows 8, and no less"


def test_releases_have_what_requests_take_longer_to_end() -> None:
    """Those of b in f, when a has become ready: once for each release, here of both."""
    tasks = (
        WorkloadTask("a", 9, 500, 500, 1, {"f": 1}),
        WorkloadTask("b", 3, 500, 500, 1, {"f": 1}),
    )
    workload = Workload(tasks, (WorkloadCpi("f", FIXED, 4, ceiling=9),))
    found = certified(workload, platform=Platform("p", fixed=FixedCost(1, 1, waiting=30)))
    assert [found.lines[0]["costs"][name]["release"] for name in ("a", "b")] == [30, 30]
    assert found.lines[at(found, task="a")]["blocking"] == 4 + 2
    assert found.lines[at(found, task="a")]["response"] == 4 + 2 + 1 + 4 + 2 + 2 * 30
    assert verdict(found.plan, found.lines) == "accepted"


def test_what_the_kernel_does_above_all_tasks() -> None:
    """Interrupts of its clock, each 100 ns, and once in a busy window an operation for a thread below."""
    tasks = (WorkloadTask("a", 9, 500, 500, 101), WorkloadTask("b", 3, 500, 500, 10))
    machine = Platform("p", timer=TimerCost(uninterrupted=30), tick=TickCost(2, 100))
    found = certified(Workload(tasks, ()), platform=machine)
    assert found.lines[0]["kernel"] == [[2, 100], [30, NEVER]]
    assert found.lines[at(found, task="a")]["response"] == 101 + 30 + 2 * 2
    assert found.lines[at(found, task="b")]["response"] == 101 + 10 + 30 + 2 * 2
    assert verdict(found.plan, found.lines) == "accepted"
    for time in ("window", "response"):
        less = [{**line, time: line[time] - 1} if time in line else line for line in found.lines]
        assert verdict(found.plan, less).startswith("wrong")
    more = [{**found.lines[0], "kernel": [[2, 100], [31, NEVER]]}, *found.lines[1:]]
    assert verdict(found.plan, more) == "wrong: 136 are demanded in this window, and there is 135"
    checker = Checker(found.plan, found.lines)
    assert "  the kernel: 30, once in 4611686018427387904" in checker.check()


def test_steps_of_managers_are_sections() -> None:
    """a comes to f and l, whose managers serve b at their ceilings, too: that of f where c can wait for d."""
    tasks = (
        WorkloadTask("a", 9, 500, 500, 1, {"f": 1}),
        WorkloadTask("b", 3, 500, 500, 1, {"d": 1}),
        WorkloadTask("c", 2, 500, 500, 1, {"d": 1}),
    )
    cpis = (WorkloadCpi("d", INHERITED, 1, {"f": 1}), WorkloadCpi("f", PROPAGATED, 1, {"l": 1}))
    workload = Workload(tasks, (*cpis, WorkloadCpi("l", INHERITED, 2)))
    found = certified(workload, platform=Platform("p", inherited=InheritanceCost(acquire=7, release=5)))
    assert found.lines[0]["costs"]["f"] == {
        "request": 0,
        "step": 0,
        "step_below_lock": 7,
        "of_budget": 0,
        "release": 0,
    }
    assert verdict(found.plan, found.lines) == "accepted"
    for cpi, held in (("l", ["d"]), ("f", ["d"])):
        number = at(found, line="section", lower="b", cpi=cpi, held=held, at_ceiling=True)
        lines = [of for n, of in enumerate(found.lines) if n != number]
        assert verdict(found.plan, lines) == f"wrong: a section of b in {cpi} is left out"


@pytest.mark.parametrize(
    ("wanted", "do", "said"),
    [
        ({"line": "section"}, lambda of: of.update(duration=1), "there is no such section"),
        ({"line": "section"}, lambda of: of.update(held=["x"]), "there is no such section"),
        ({"line": "bound"}, lambda of: of.update(proof=[None]), "the proof shows"),
        ({"line": "bound"}, lambda of: of.update(window=1), "inf are demanded"),
        ({"line": "task"}, lambda of: of.update(blocking=1), "latest of a can be (9, 4, 9)"),
        ({"line": "task"}, lambda of: of.update(response=1), "latest of a can be (9, 4, 9)"),
        ({"line": "task"}, lambda of: of.update(latest=1), "latest of a can be (9, 4, 9)"),
        ({"line": "task"}, lambda of: of.update(task="x"), "the plan has no such task"),
        ({"line": "job"}, lambda of: of.update(window=8), "are demanded in this window, and there is 8"),
        ({"line": "job"}, lambda of: of.update(line="other"), "jobs are missing"),
        ({"line": "job"}, lambda of: of.update(phase=1), "a job before this one is missing"),
        ({"line": "job"}, lambda of: of.update(emitter="b"), "a job before this one is missing"),
    ],
)
def test_what_is_wrong_is_named(wanted: Any, do: Callable[[Any], Any], said: str, tmp_path: Path) -> None:
    found = nested()
    number = at(found, **wanted)
    lines = change(found, number, do)
    assert said in verdict(found.plan, lines)
    done = check(*written(tmp_path, found._replace(lines=lines)))
    _, line, text = done.stdout.split(":", 2)
    assert done.returncode == 1 and said in text
    if wanted["line"] in ("job", "section") and said != "jobs are missing":
        assert int(line) == number + 1


def test_a_job_that_can_be_preempted_at_its_end_needs_the_next_slot() -> None:
    """In slots of 5 of 10, work of 5 ends with the slot; after a request a job has something to do yet."""
    for requests, end in (({}, 10), ({"p": 1}, 15)):
        task = WorkloadTask("t", 1, 100, 100, 5 - len(requests), requests)
        slots = [(0, 5), (1, 5)]
        workload = Workload((task,), (WorkloadCpi("p", PROPAGATED, 1),), supplies={0: supply_of(slots, 0)})
        found = certified(workload, slots)
        assert found.lines[-1]["window"] == end
        assert verdict(found.plan, found.lines) == "accepted"
        lines = copy.deepcopy(found.lines)
        lines[-1]["window"] = 10
        accepted = verdict(found.plan, lines) == "accepted"
        assert accepted == (end == 10)


def test_the_plan_decides() -> None:
    """A certificate for a system with less of something is refused."""
    found = nested()
    for change_of in (
        lambda of: of["tasks"][0].update(work=2),
        lambda of: of["cpis"][0].update(work=5),
        lambda of: of["tasks"][2]["requests"].update(c=1, d=2),
        lambda of: of["tasks"][1].update(priority=9),
        lambda of: of["tasks"].append({**of["tasks"][0], "name": "z"}),
        lambda of: of["without_bound"].append("a"),
        lambda of: of["tasks"][1].update(period=None),
        lambda of: of["tasks"][1].update(band="edf"),
        lambda of: of["slots"].append([1, 10]),
        lambda of: of["cpis"][0].update(inherits=False, ceiling=9),
    ):
        plan = copy.deepcopy(found.plan)
        change_of(plan["workload"])
        assert verdict(plan, found.lines).startswith("wrong"), plan
    for budget, accepted in ((None, True), (6, True), (5, False), (0, False)):  # a job of a needs 5
        plan = copy.deepcopy(found.plan)
        plan["workload"]["tasks"][0].update(budget=budget)
        assert (verdict(plan, found.lines) == "accepted") == accepted
        more = [{**found.lines[0], "costs": {"a": {"of_budget": 1}}}, *found.lines[1:]]
        assert (verdict(plan, more) == "accepted") == (budget is None)  # and here 6


def test_each_job_with_a_budget_has_to_end_before_the_next_release() -> None:
    """Two jobs of a period would need the budget. No task is certified then."""
    for period, accepted in ((6, True), (5, False)):
        workload = Workload((task("a", 9, 3), task("b", 7, 2), task("c", 5, 1, period=period)), ())
        found = certified(workload)
        assert next(of["response"] for of in found.lines if of.get("task") == "c") == 6
        plan = copy.deepcopy(found.plan)
        next(of for of in plan["workload"]["tasks"] if of["name"] == "c").update(budget=2)
        assert (verdict(plan, found.lines) == "accepted") == accepted
        with_budget = certified(workload, budgets={"c": 2})
        assert any(of["line"] == "task" for of in with_budget.lines) == accepted


@pytest.mark.parametrize(
    ("seeds", "least"), [(range(24), 5), pytest.param(range(600), 60, marks=pytest.mark.long)]
)
def test_budgets_that_last(seeds: range, least: int, tmp_path: Path) -> None:
    """In random systems for MCS kernels what is certified is not below the bound that the rules for budgets
    give."""
    compared_tasks = limited_systems = 0
    for seed in seeds:
        root = tmp_path / f"{seed}.camkes"
        root.write_text(HEAD + written_attack(attack(seed, wide=seed % 2 == 1))[0])
        mcs = ((KERNEL_IS_MCS, "ON"),)
        found = pipeline.check(pipeline.Input(root, preprocess=False, definitions=mcs), Sink())
        if found is None:  # its budgets are rejected
            continue
        workload = workload_of(found.system, found.plan)
        budgets = lasting_budgets(found.plan, workload)
        platform = FREE if seed % 4 < 2 else Platform("ends", overrun=OverrunCost(wait=seed % 7))
        made = certified(workload, platform=platform, budgets=budgets)
        assert verdict(made.plan, made.lines) == "accepted"
        bounds = {each.task.name: each.trusted for each in budget_results(found.system, found.plan, platform)}
        claims = [of for of in made.lines if of["line"] == "task"]
        for of in claims:
            bound = bounds[of["task"]].response
            assert bound is not None, (seed, of)
            chains = any(task.after for task in workload.tasks)  # those rules are simpler for these
            assert of["response"] >= bound or chains, (seed, of)
        compared_tasks += len(claims) if budgets else 0
        limited_systems += bool(claims and budgets)
    assert compared_tasks > limited_systems >= least


# Chains -----------------------------------------------------------------------------------------


def test_a_budget_of_a_task_that_is_not_analysed_can_end() -> None:
    """That task is not in the plan's workload, so nothing shows that its budget lasts."""
    workload = Workload((task("a", 9, 3),), ())
    found = certified(workload)
    assert verdict(found.plan, found.lines) == "accepted"
    report = report_of(workload, budgets={"helper": 5})
    assert report.without_bound == ("a",)
    plan = {**found.plan, "workload": json.loads(json_text(report))}
    assert "a has no bound" in verdict(plan, found.lines)


BAND = (
    WorkloadTask("a", 101, 5, 5, 2, {"k": 1}, band="edf"),
    WorkloadTask("b", 100, 9, 9, 1, {"k": 1}, band="edf"),
    WorkloadTask("above", 200, 20, 20, 1),
    WorkloadTask("below", 1, 60, 60, 5, {"k": 1}),
)


def test_a_band_has_a_line_for_each_time_at_which_a_job_is_due() -> None:
    """`below` is in k for 1 at the beginning. Until 9 only jobs of a are due, and b can be in k, too."""
    found = certified(Workload(BAND, (WorkloadCpi("k", INHERITED, 1),)))
    assert verdict(found.plan, found.lines) == "accepted"
    claims = {of["task"]: (of["response"], of["blocking"]) for of in found.lines if of["line"] == "task"}
    responses = {name: int(result.response.time) for name, result in found.results.items() if result.response}
    assert {name: response for name, (response, _) in claims.items()} == responses
    assert claims["a"] == (5, 1) and claims["b"] == (9, 1)
    start = at(found, task="b")
    jobs = [(n, of) for n, of in enumerate(found.lines) if of["line"] == "job" and n > at(found, task="a")]
    due = [(of["until"], of["window"]) for n, of in jobs if n > start][:3]
    assert due == [(9, 7), (14, 10), (17, 10)]
    for n, _ in jobs[:4]:
        for key, more in (("window", -1), ("until", 5)):
            lines = change(found, n, lambda of, key=key, more=more: of.update({key: of[key] + more}))
            said = verdict(found.plan, lines)  # after 8 there are the lines of b
            assert said.startswith("wrong: ") or (key == "until" and n < start), (n, key)
    for n, _ in (jobs[0], jobs[1], jobs[4]):  # another line is for those of the others, too
        assert verdict(found.plan, [of for m, of in enumerate(found.lines) if m != n]).startswith("wrong: ")
    for name in ("a", "b"):
        for key in ("response", "latest", "blocking"):
            lines = change(found, at(found, task=name), lambda of, key=key: of.update({key: of[key] - 1}))
            assert verdict(found.plan, lines).startswith("wrong: response, blocking, latest of "), (name, key)
    open_ = {"line": "not certified", "task": "b", "why": ""}
    lines = [*found.lines[:start], open_, *found.lines[start + 1 :]]
    assert verdict(found.plan, lines).startswith("wrong: ")


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(2000), marks=pytest.mark.long)])
def test_what_is_certified_of_bands_is_the_longest_response(seeds: range) -> None:
    """The bounds of the analysis, each of which is attained (`tests.analysis.enumeration --bands`)."""
    certified_tasks = 0
    for seed in seeds:
        workload = banded_workload(random.Random(seed))
        found = certified(workload)
        assert verdict(found.plan, found.lines) == "accepted", seed
        whole = all(result.response is not None for result in found.results.values())
        claims = {of["task"]: of["response"] for of in found.lines if of["line"] == "task"}
        assert len(claims) == len(workload.tasks) or not whole, seed
        for name, response in claims.items():
            longest = found.results[name].response
            assert longest is not None and longest.time == response, (seed, name)
        certified_tasks += len(claims)
    assert certified_tasks > len(seeds)


@pytest.mark.parametrize(
    ("systems", "states"), [(60, 4_000), pytest.param(1000, 60_000, marks=pytest.mark.long)]
)
def test_chains_end_by_the_latest_time(systems: int, states: int) -> None:
    """No job responds, and no chain ends, later in all states of small systems than is certified."""
    rows = [
        row
        for seed in range(systems)
        for row in compared(chained_workload(random.Random(seed)), states) or ()
    ]
    assert not [(name, bound, worst) for name, bound, worst in rows if worst > bound]
    assert sum(worst == bound for _, bound, worst in rows) > len(rows) / 2 > systems / 3


def task(name: str, priority: int, work: int, after: str = "", period: int = 100) -> WorkloadTask:
    return WorkloadTask(name, priority, period, period, work, {}, after, timed=not after)


def job_lines(found: Certified, name: str) -> list[tuple[str, int, int]]:
    """(emitter, job, window) of a task."""
    start = at(found, task=name)
    ends = [n for n, of in enumerate(found.lines) if "task" in of and n > start]
    lines = found.lines[start : (*ends, None)[0]]
    period = next(of["period"] for of in found.plan["workload"]["tasks"] if of["name"] == name)
    return [
        (of["emitter"], of["until"] // period if of["until"] < NEVER // 2 else 0, of["window"])
        for of in lines
        if of["line"] == "job"
    ]


def test_what_lower_tasks_release_is_there_once_and_of_one_of_them() -> None:
    """Above m, x (3) follows from a, and y (5) and z (1) from b, all of which are below m: at most 5 + 1."""
    tasks = (task("a", 1, 1), task("b", 2, 1, period=90), task("m", 5, 2, period=7))
    tasks += (task("x", 8, 3, "a"), task("y", 6, 5, "b", 90), task("z", 5, 1, "y", 90), task("r", 9, 1))
    found = certified(Workload(tasks, ()))
    assert verdict(found.plan, found.lines) == "accepted"
    assert job_lines(found, "m") == [("", 0, 3), ("a", 0, 6), ("b", 0, 9), ("b", 1, 11)]
    assert job_lines(found, "z") == [("b", 0, 11)]  # y, z, r, and m twice
    for n, of in enumerate(found.lines):
        if of.get("window", 1) > 1 and of["line"] == "job":
            lines = change(found, n, lambda of: of.update(window=of["window"] - 1))
            assert "are demanded in this window" in verdict(found.plan, lines), of
    for emitter in ("a", "b", ""):
        lines = [of for of in found.lines if of.get("emitter") != emitter]
        assert verdict(found.plan, lines).startswith("wrong: "), emitter
    for name, more in (("x", {"work": 9}), ("z", {"work": 9}), ("y", {"after": ""}), ("m", {"period": 5})):
        plan = copy.deepcopy(found.plan)
        next(of for of in plan["workload"]["tasks"] if of["name"] == name).update(more)
        assert verdict(plan, found.lines).startswith("wrong: "), name


def test_tasks_that_follow_end_when_the_first_one_has() -> None:
    """h (4) and l (2) follow from a (1), once in each job: l responds from the release of a on, after 7, h
    from its own on, after 4, which ends when a has, after 5."""
    found = certified(Workload((task("a", 5, 1), task("h", 9, 4, "a"), task("l", 3, 2, "h")), ()))
    claims = {of["task"]: (of["response"], of["latest"]) for of in found.lines if of["line"] == "task"}
    assert claims == {"a": (5, 5), "h": (4, 5), "l": (7, 7)}
    assert job_lines(found, "h") == [("a", 0, 4)]
    assert verdict(found.plan, found.lines) == "accepted"
    for name, key in (("a", "latest"), ("h", "latest"), ("l", "response")):
        lines = change(found, at(found, task=name), lambda of, key=key: of.update({key: of[key] - 1}))
        assert verdict(found.plan, lines).startswith("wrong: response, blocking, latest of "), (name, key)


def test_a_period_is_that_of_the_first_task() -> None:
    """b has as many jobs as a, which releases it, whatever its own period is in the plan."""
    for period, accepted in ((10, True), (1000, False)):
        tasks = (task("a", 9, 3, period=10), task("b", 9, 2, "a", period), task("c", 1, 9))
        found = certified(Workload(tasks, ()))
        assert (verdict(found.plan, found.lines) == "accepted") == accepted


def test_what_another_domain_releases_comes_late() -> None:
    """a ends up to 12 after its release, in slots of 5 of 10; so two jobs of b can be in a window of 12."""
    slots = [(0, 5), (1, 5)]
    tasks = (replace(task("a", 5, 7, period=20), domain=0), replace(task("b", 5, 1, "a", 20), domain=1))
    supplies = {domain: supply_of(slots, domain) for domain in (0, 1)}
    found = certified(Workload(tasks, (), supplies=supplies), slots)
    assert verdict(found.plan, found.lines) == "accepted"
    claims = {of["task"]: (of["response"], of["latest"]) for of in found.lines if of["line"] == "task"}
    assert claims == {"a": (17, 17), "b": (6, 23)}
    lines = change(found, at(found, task="b"), lambda of: of.update(latest=22))
    assert verdict(found.plan, lines).endswith("of b can be (6, 0, 23)")


def test_a_task_that_follows_needs_the_next_slot() -> None:
    """In slots of 5 of 10 the work of a and b, which follows, ends with the slot; with a request of b it has
    something to do yet, and a is not known to have been followed before that."""
    for requests, end in (({}, 10), ({"p": 1}, 15)):
        tasks = (task("a", 1, 3), replace(task("b", 2, 2 - len(requests), "a"), requests=requests))
        slots = [(0, 5), (1, 5)]
        cpis = (WorkloadCpi("p", PROPAGATED, 1),)
        found = certified(Workload(tasks, cpis, supplies={0: supply_of(slots, 0)}), slots)
        assert found.lines[at(found, task="b")]["latest"] == end
        assert verdict(found.plan, found.lines) == "accepted"
        lines = copy.deepcopy(found.lines)
        for of in lines:
            if of.get("task") or of["line"] == "job":
                of.update({key: min(of[key], 10) for key in {"latest", "response", "window"} & of.keys()})
        assert (verdict(found.plan, lines) == "accepted") == (end == 10)


def test_a_task_is_not_certified_without_what_releases_it() -> None:
    found = certified(Workload((task("a", 9, 1), task("b", 5, 2, "a")), ()))
    assert verdict(found.plan, found.lines) == "accepted"
    start, end = at(found, task="a"), at(found, task="b")
    lines = [*found.lines[:start], {"line": "not certified", "task": "a", "why": ""}, *found.lines[end:]]
    assert "released at times that are not certified" in verdict(found.plan, lines)


def test_tasks_without_lines_are_not_certified(tmp_path: Path) -> None:
    found = nested()
    end = at(found, task="b")
    done = check(*written(tmp_path, found._replace(lines=found.lines[:end])))
    assert done.returncode == 3
    assert "1 of 3 tasks are certified" in done.stdout and "b: not certified: it has no lines" in done.stdout


# The command ------------------------------------------------------------------------------------

#: Of all examples whose tasks have times: the first line of the checker, and its status.
EXAMPLES = {
    "aav": ("0 of 6 tasks are certified", 3),
    "edf": ("2 of 2 tasks are certified", 0),
    "guest": ("2 of 2 tasks are certified", 0),
    "helpers": ("3 of 3 tasks are certified", 0),
    "inversion": ("3 of 3 tasks are certified", 0),
    "nested": ("4 of 4 tasks are certified", 0),
    "protocols": ("4 of 4 tasks are certified", 0),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, tmp_path: Path) -> None:
    folder = ROOT / "examples" / name
    for platform in ((), ("--platform", "qemu-x86_64"), ("--platform", "sudvarg2024-intel")):
        certificate, plan = tmp_path / "c.jsonl", tmp_path / "plan.json"
        done = camkes("analyze", folder, "--text", "--no-search", "--certificate", certificate, *platform)
        told = camkes("plan", folder, "--json")
        conforming("plan", told.output)
        plan.write_text(told.output)
        for line in certificate.read_text().splitlines():
            conforming("certificate", line)
        checked = check(plan, certificate)
        assert (checked.stdout.partition("\n")[0], checked.returncode) == EXAMPLES[name]
        if checked.returncode == 3:
            assert "is not certified: " in done.errors and ": not certified: " in checked.stdout
        assert ("costs of operations: assumed to be none" in checked.stdout) == (not platform)
        if name == "nested":
            assert ("\n  e.r: request=" in checked.stdout) == bool(platform)


@pytest.mark.parametrize(
    ("settings", "certified"), [("", 4), ("a._budget = 4 ms;", 4), ("c._budget = 2 ms;", 0)]
)
def test_budgets_that_last_change_nothing(settings: str, certified: int, tmp_path: Path) -> None:
    """The lines are the same with an MCS kernel and without one; where a budget can end there are none."""
    path, lines = chain(tmp_path, settings), []
    for option in ("ON", "OFF") if certified else ("ON",):
        certificate, plan, kernel = tmp_path / "c.jsonl", tmp_path / "plan.json", f"-DKernelIsMCS={option}"
        done = camkes(
            *("analyze", path, "--text", "--no-search", "--platform", "none", kernel),
            *("--certificate", certificate),
        )
        plan.write_text(camkes("plan", path, "--json", kernel).output)
        checked = check(plan, certificate)
        assert checked.stdout.startswith(f"{certified} of 4 tasks are certified")
        assert checked.returncode == (0 if certified else 3)
        assert ("is not certified: the budget of c can end" in done.errors) == (not certified)
        lines.append(certificate.read_text())
    assert len(set(lines)) == 1


def test_less_than_the_analysis_is_named(tmp_path: Path) -> None:
    """With priorities that go down, the certified response of c counts from the release of a, that of the
    analysis from its own."""
    path = chain(tmp_path)
    path.write_text(path.read_text().replace("b._priority = 10", "b._priority = 35"))
    done = camkes("analyze", path, "--text", "--certificate", "c.jsonl", cwd=tmp_path)
    assert "analyze: c is certified to respond in 10 ms, not in 8 ms\n" in done.errors
    assert "is certified to end" not in done.errors and "b is certified" not in done.errors


def test_the_page_shows_what_is_written(tmp_path: Path) -> None:
    """docs/certificates.md has the lines of a task, what the checker prints, and an error of it."""
    text = (ROOT / "docs" / "certificates.md").read_text()
    shown = re.findall(r"```(?:json|text)\n(.*?)```", text, re.DOTALL)
    certificate, plan = tmp_path / "nested.jsonl", tmp_path / "plan.json"
    folder = tmp_path / "build"
    camkes(*("analyze", "examples/nested", "--platform", "none", "--certificate", certificate, "-o", folder))
    plan.write_text(camkes("plan", "examples/nested", "--code", "--json", "-o", folder).output)
    lines = certificate.read_text()
    assert check(plan, certificate).stdout == shown[0]
    assert shown[2] in lines
    certificate.write_text(lines.replace('"blocking": 7000000, "chosen"', '"blocking": 6000000, "chosen"'))
    assert check(plan, certificate).stdout == f"{certificate.parent}/{shown[1]}"


def test_what_is_assumed_is_listed(tmp_path: Path) -> None:
    """With --text requests are not counted."""
    certificate, plan = tmp_path / "c.jsonl", tmp_path / "plan.json"
    camkes("analyze", "examples/nested", "--text", "--certificate", certificate)
    plan.write_text(camkes("plan", "examples/nested", "--json").output)
    assert "assumed: a job of `t1` calls `r` at most once" in check(plan, certificate).stdout


def test_what_is_assumed_of_operations_is_listed(tmp_path: Path) -> None:
    """A profile has no cost for events, so nothing is met without that."""
    path = chain(tmp_path)
    for event, sure in (("", False), ("[event]\nemit = 1\nrelease = 2\n", True)):
        (tmp_path / "board.toml").write_text(f"[plain]\ncall = 1\n{event}")
        certificate, plan = tmp_path / "c.jsonl", tmp_path / "plan.json"
        camkes("analyze", path, "--platform", tmp_path / "board.toml", "--certificate", certificate)
        plan.write_text(camkes("plan", path, "--code", "--json").output)
        found = check(plan, certificate).stdout
        assert ("assumed: the event that releases `b` and `c` takes no time" in found) is not sure
        assert ("a: met: " in found) is sure and ("a: met if what is assumed is so: " in found) is not sure


def test_a_certificate_is_for_the_priorities_of_the_plan(tmp_path: Path) -> None:
    done = camkes("analyze", "examples/nested", "--certificate", tmp_path / "c.jsonl", "--assign", "rm")
    assert done.status == 2 and "a certificate is for the priorities of the plan" in done.errors


def test_a_deadline_that_is_not_met_is_a_status(tmp_path: Path) -> None:
    found = nested()
    plan, certificate = written(tmp_path, found)
    assert check(plan, certificate).returncode == 0
    found.plan["workload"]["tasks"][0]["deadline"] = 8
    plan, certificate = written(tmp_path, found)
    done = check(plan, certificate)
    assert done.returncode == 3 and "a: not shown to be met: response " in done.stdout


@pytest.mark.parametrize(
    ("plan", "certificate"),
    [
        (b"", b""),
        (b"\xff\xfe", b""),
        (b"{", b""),
        (b"[]", b"[]"),
        (b"{}", b"{}"),
        (b'{"workload": {}}', b"{}"),
        (b"[" * 100_000, b""),
        (b"9" * 5_000, b""),
        (b"NaN", b""),
        (None, b""),
        (None, b"\xc3"),
        (None, b"["),
        (None, b"{}\n"),
        (None, b"1\n2\n"),
        (None, b'{"line": "system"}\n'),
        (None, b'{"line": "system", "platform": null, "release": -1, "costs": {}}\n'),
        (None, b'{"line": "system", "platform": null, "release": 0.5, "costs": {}}\n'),
        (None, b'{"line": "system", "platform": null, "release": ' + b"9" * 5_000 + b', "costs": {}}\n'),
        (None, b'{"line": "system", "platform": null, "release": 0, "costs": {"c": []}}\n'),
        (None, b'{"line": "system", "platform": null, "release": 0, "costs": {}}\n{"line": "task"}\n'),
        (None, b"[" * 100_000),
    ],
)
def test_broken_files(plan: bytes | None, certificate: bytes, tmp_path: Path) -> None:
    files = written(tmp_path, nested())
    if plan is not None:
        files[0].write_bytes(plan)
    else:
        files[1].write_bytes(certificate)
    assert check(*files).returncode == 2


def test_files_that_are_not_there(tmp_path: Path) -> None:
    plan, certificate = written(tmp_path, nested())
    assert check(tmp_path / "x", certificate).returncode == 2
    assert check(plan, tmp_path).returncode == 2
    assert check(plan, plan).returncode == 2


def test_hidden_characters_are_spelled_out(tmp_path: Path) -> None:
    found = nested()
    lines = [*found.lines[:1], {"line": "not certified", "task": "a", "why": "\x1b[31mred\n\u202e"}]
    lines += [{"line": "not certified", "task": name, "why": "x"} for name in "be"]
    done = check(*written(tmp_path, found._replace(lines=lines)))
    assert done.returncode == 3 and r"a: not certified: \x1b[31mred\n\u202e" in done.stdout
