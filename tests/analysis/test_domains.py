# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Bounds under schedules of domains: figures computed by hand, and random systems beside a simulator."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from camkes.analysis.supply import ALWAYS, NOTHING, Supply, supply_of
from tests.analysis.domain_attacks import MS, SYSTEM, bounds_of, compared, random_system
from tests.command import camkes

pytestmark = pytest.mark.requirement("AN-7")


def analysed(folder: Path, parts: str, settings: str, schedule: str, *options: str) -> dict[str, Any]:
    """The tasks of `camkes analyze --json` by their names."""
    folder.mkdir(exist_ok=True)
    path = folder / "system.camkes"
    path.write_text(SYSTEM % (parts, settings, schedule))
    done = camkes("analyze", path, "--json", "--platform", "none", "-D", "KernelTimerTickMS=1", *options)
    return {task["name"]: task for task in json.loads(done.output)["tasks"]}


TWO = "component Task p; component Task q;"


def tasks(p: str, q: str, period: str = "70 ms") -> str:
    """Settings of two tasks, p above q."""
    return (
        f"p._priority = 20; p._period = {period}; p._wcet = {p};"
        f"q._priority = 10; q._period = {period}; q._wcet = {q};"
    )


@pytest.mark.parametrize(
    ("settings", "schedule", "expected"),
    [
        # just missed: 4 ms of the other, then 2; 3 ms of the other, then 3
        (tasks("2 ms", "3 ms") + "p._domain = 1; q._domain = 2;", "(1, 3 ms), (2, 4 ms)", (6, 6)),
        # the longer gap is not the only one: after 2, 2, 1 + 1, or 1 + 1 (at the end and the beginning), 2, 1
        (
            tasks("3 ms", "1 ms") + "p._domain = 1; q._domain = 2;",
            "(0, 1 ms), (1, 2 ms), (2, 2 ms), (1, 2 ms)",
            (6, 6),
        ),
        # in one domain: the gap of 2 once
        (tasks("3 ms", "2 ms") + "p._domain = 3; q._domain = 3;", "(0, 2 ms), (3, 6 ms)", (5, 7)),
        # a job of 7 needs two slots: 2 + 6 + 2 + 1
        (tasks("7 ms", "0 ms") + "p._domain = 3; q._domain = 3;", "(0, 2 ms), (3, 6 ms)", (11, 11)),
        # what ends with a slot is not in the next one
        (tasks("6 ms", "6 ms") + "p._domain = 3; q._domain = 3;", "(0, 2 ms), (3, 6 ms)", (8, 16)),
        # a slot over the end of the table is one
        (tasks("3 ms", "1 ms") + "p._domain = 1; q._domain = 0;", "(1, 2 ms), (0, 3 ms), (1, 2 ms)", (6, 5)),
        # without work: until there is a slot
        (tasks("0 ms", "1 ms") + "p._domain = 1; q._domain = 0;", "(1, 2 ms), (0, 3 ms), (1, 2 ms)", (3, 5)),
        # all slots are of one domain
        (tasks("2 ms", "3 ms") + "p._domain = 1; q._domain = 1;", "(1, 3 ms), (1, 4 ms)", (2, 5)),
        # jobs that end after their period: 7 of 10 are supplied, and each needs 7
        (tasks("7 ms", "0 ms", "10 ms") + "p._domain = 1; q._domain = 0;", "(1, 7 ms), (0, 3 ms)", (10, 7)),
    ],
)
def test_figures(settings: str, schedule: str, expected: tuple[int, int], tmp_path: Path) -> None:
    found = analysed(tmp_path, TWO, settings, schedule)
    assert (found["p"]["response"], found["q"]["response"]) == tuple(each * MS for each in expected)
    for task in found.values():
        assert task["witness"]["quality"] == "attained", task
    assert {task["verdict"] for task in found.values()} <= {"met", "met if"}


def test_more_than_the_slots_is_overload(tmp_path: Path) -> None:
    settings = tasks("7001 us", "0 ms", "10 ms") + "p._domain = 1; q._domain = 0;"
    found = analysed(tmp_path, TWO, settings, "(1, 7 ms), (0, 3 ms)")
    assert found["p"]["response"] is None and found["p"]["no_bound"]["reason"] == "overload"
    assert found["q"]["response"] == 7 * MS


SHARED = (
    "component Client p; component Client q; component Shared s;"
    " connection seL4RPCCall c(from p.store, from q.store, to s.store);"
)


def test_locks_of_a_domain_block_in_it(tmp_path: Path) -> None:
    """For p a section of 2 ms of q, and 3 ms of its own: 4 ms of others, 3 of its slot, 4 of others, 2. For q
    6 ms, two slots: if p comes where a request of q ends, what is left of q is done in the third one."""
    own = tasks("1 ms", "1 ms", "700 ms") + "p._domain = 1; q._domain = 1; s._domain = 1; s.store_domain = 1;"
    found = analysed(tmp_path, SHARED, own + "s.store_wcet = 2 ms;", "(1, 3 ms), (2, 4 ms)")
    assert (found["p"]["response"], found["q"]["response"]) == (13 * MS, 18 * MS)
    assert found["p"]["witness"]["quality"] == "attained"


def test_requests_to_another_domain_have_no_bound(tmp_path: Path) -> None:
    """Nor has what they delay there: tasks up to the highest priority with which they arrive."""
    parts = SHARED.replace(
        "component Shared s;",
        "component Shared s; component Task high; component Task low; component Task other;",
    )
    own = (
        tasks("1 ms", "1 ms", "700 ms")
        + "p._domain = 1; q._domain = 2; s._domain = 1; s.store_domain = 1; s.store_across_domains = 1;"
        + "high._domain = 1; high._priority = 30; high._wcet = 1 ms; high._period = 100 ms;"
        + "low._domain = 1; low._priority = 5; low._wcet = 1 ms; low._period = 100 ms;"
        + "other._domain = 2; other._priority = 15; other._wcet = 1 ms; other._period = 100 ms;"
    )
    found = analysed(tmp_path, parts, own + "s.store_wcet = 2 ms;", "(1, 3 ms), (2, 4 ms)")
    assert {name: task["response"] for name, task in found.items()} == {
        "high": 5 * MS, "p": None, "q": None, "low": None, "other": 4 * MS
    }  # fmt: skip
    message = "`q` has domain 2, and `s.store`, which it requests, has 1"
    assert found["q"]["no_bound"]["message"] == message
    assert found["p"]["no_bound"]["message"] == message
    assert found["low"]["no_bound"]["reason"] == "interference"


def test_threads_of_another_domain_delay_no_task(tmp_path: Path) -> None:
    """Those of the same one do, up to their priorities."""
    parts, own = TWO + "component Plain guest;", tasks("2 ms", "3 ms") + "p._domain = 1; q._domain = 1;"
    schedule = "(1, 3 ms), (2, 4 ms)"
    away = analysed(tmp_path, parts, own + "guest._domain = 2; guest._priority = 200;", schedule)
    assert (away["p"]["response"], away["q"]["response"]) == (6 * MS, 13 * MS)
    beside = analysed(tmp_path, parts, own + "guest._domain = 1; guest._priority = 15;", schedule)
    assert (beside["p"]["response"], beside["q"]["response"]) == (6 * MS, None)


def test_an_mcs_kernel_with_slots_has_no_bounds_yet(tmp_path: Path) -> None:
    own = tasks("2 ms", "3 ms") + "p._domain = 1; q._domain = 1;"
    found = analysed(tmp_path, TWO, own, "(1, 3 ms), (2, 4 ms)", "-D", "KernelIsMCS=ON")
    assert {task["response"] for task in found.values()} == {None}


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("(0, 1 ms), (1, 3 ms), (2, 4 ms)", "is in the next slot of domain 0, up to 7 ms later)"),
        ("(1, 3 ms), (2, 4 ms)", "is in a slot of domain 0, which there has to be)"),
    ],
)
def test_releases_on_sel4_are_an_assumption(schedule: str, words: str, tmp_path: Path) -> None:
    """Of tasks that are not in the domain of the driver of timers, if that has not all slots."""
    path = tmp_path / "system.camkes"
    path.write_text(SYSTEM % (TWO, tasks("2 ms", "3 ms") + "p._domain = 1; q._domain = 2;", schedule))
    options = ("--platform", "none", "-D", "KernelTimerTickMS=1")
    done = camkes("analyze", path, *options)
    assert f"1: timers release jobs at their times (on seL4 it {words} (" in " ".join(done.output.split())
    path.write_text(
        path.read_text().replace("q._domain = 2", "q._domain = 0").replace("(2, 4 ms)", "(0, 4 ms)")
    )
    found = json.loads(camkes("analyze", path, "--json", *options).output)
    assert {task["name"]: task["verdict"] for task in found["tasks"]} == {"p": "met if", "q": "met"}
    assert [(each["kind"], each["tasks"]) for each in found["assumptions"]] == [("releases", ["p"])]


def test_switches_of_slots_are_an_assumption_where_operations_have_costs(tmp_path: Path) -> None:
    path = tmp_path / "system.camkes"
    own = tasks("2 ms", "3 ms") + "p._domain = 0; q._domain = 0;"
    for schedule, platform, expected in (
        ("(0, 3 ms), (2, 4 ms)", "none", []),
        ("(0, 3 ms), (2, 4 ms)", "qemu-aarch64", [("switches", ["p", "q"])]),
        ("(0, 3 ms), (0, 4 ms)", "qemu-aarch64", []),
    ):
        path.write_text(SYSTEM % (TWO, own, schedule))
        done = camkes("analyze", path, "--json", "--platform", platform, "-D", "KernelTimerTickMS=1")
        found = json.loads(done.output)
        assert [(each["kind"], each["tasks"]) for each in found["assumptions"]] == expected


def test_a_case_can_be_replayed(tmp_path: Path) -> None:
    """On the host kernel, with the slots of the system, at the phase that is the worst."""
    path = tmp_path / "system.camkes"
    own = tasks("1 ms", "1 ms", "700 ms") + "p._domain = 1; q._domain = 1; s._domain = 1; s.store_domain = 1;"
    path.write_text(SYSTEM % (SHARED, own + "s.store_wcet = 2 ms;", "(1, 3 ms), (2, 4 ms)"))
    options = ("-D", "KernelTimerTickMS=1")
    assert camkes("analyze", path, "--witnesses", tmp_path / "cases", *options).status == 0
    case = tmp_path / "cases/p.json"
    done = camkes("run", path, "--replay", case, "--json", "-o", tmp_path / "out", *options)
    assert done.status == 0, done.errors
    found = {task["name"]: task["response"] for task in json.loads(done.output)["tasks"]}
    assert found["p"]["max"] == 13 * MS
    path.write_text(path.read_text().replace("(2, 4 ms)", "(2, 5 ms)"))
    done = camkes("run", path, "--replay", case, "-o", tmp_path / "out", *options)
    assert done.status == 1 and "of another system: the file has another schedule of domains" in done.errors
    case.write_text(case.read_text().replace("true", "false"))
    done = camkes("run", path, "--replay", case, "-o", tmp_path / "out", *options)
    assert done.status == 1 and "the schedule has no slot of its tasks" in done.errors


def test_the_derivation_names_the_slots(tmp_path: Path) -> None:
    path = tmp_path / "system.camkes"
    own = tasks("2 ms", "3 ms") + "p._domain = 1; q._domain = 2;"
    path.write_text(SYSTEM % (TWO, own, "(1, 3 ms), (2, 4 ms)"))
    done = camkes("analyze", path, "--explain", "q", "--platform", "none", "-D", "KernelTimerTickMS=1")
    assert "        3 ms  slots of other domains: released 0 ns after the schedule begins\n" in done.output
    case = "  the job released at 0 ns, where the first releases are:\n"
    assert f"{case}          0 ns  q\n          0 ns  slots of other domains begin\n" in done.output


def test_overload_is_of_the_slots(tmp_path: Path) -> None:
    path = tmp_path / "system.camkes"
    path.write_text(SYSTEM % (TWO, tasks("8 ms", "0 ms", "10 ms") + "p._domain = 1;", "(1, 7 ms), (0, 3 ms)"))
    done = camkes("analyze", path, "--explain", "p", "-D", "KernelTimerTickMS=1")
    assert "of this priority and above need more than the slots of their domain\n" in done.output


def test_a_domain_without_a_slot(tmp_path: Path) -> None:
    """It is a warning where a file of the kernel has the schedule: its tasks have no bound, and others do."""
    file = "{ .domain = 0, .length = 3 }, { .domain = 1, .length = 4 },"
    (tmp_path / "schedule.c").write_text(f"const dschedule_t ksDomSchedule[] = {{ {file} }};\n")
    path = tmp_path / "system.camkes"
    parts = "component Task p; component Client q; component Shared s;"
    parts += "connection seL4RPCCall c(from q.store, to s.store);"
    own = tasks("2 ms", "3 ms") + "q._domain = 2; s._domain = 2; s.store_domain = 2; s.store_wcet = 1 ms;"
    path.write_text((SYSTEM % (parts, own, "")).replace("    schedule { [] }\n", ""))
    options = ("-D", "KernelTimerTickMS=1", "-D", f"KernelDomainSchedule={tmp_path / 'schedule.c'}")
    done = camkes("analyze", path, "--json", "--platform", "none", *options)
    assert done.status == 1 and "warning[W0516]" in done.errors
    found = json.loads(done.output)
    assert found["verdict"] == "unbounded"
    assert [(task["name"], task["response"], task["witness"] is None) for task in found["tasks"]] == [
        ("p", 6 * MS, False), ("q", None, True)
    ]  # fmt: skip
    assert found["tasks"][1]["no_bound"]["reason"] == "slots"
    table = camkes("analyze", path, "--html", tmp_path / "page.html", *options)
    assert "no bound: its domain has no slot" in table.output
    assert "no bound: its domain has no slot" in (tmp_path / "page.html").read_text()


# Supplies -------------------------------------------------------------------------------------------


def test_what_a_schedule_supplies() -> None:
    """A window of any length that begins anywhere has what the phases give, and one has no more."""
    choose = random.Random(7)
    for _ in range(200):
        slots = [(choose.randrange(3), choose.randint(1, 5)) for _ in range(choose.randint(1, 6))]
        table = [domain for domain, length in slots for _ in range(length)]
        for domain in range(3):
            supply = supply_of(slots, domain)
            assert supply.share == Fraction(table.count(domain), len(table))
            if domain not in table or set(table) == {domain}:
                assert supply == (ALWAYS if domain in table else NOTHING)
                continue
            for demand in range(1, 2 * len(table)):
                worst = max(_finish(table, domain, begin, demand) for begin in range(len(table)))
                assert max(phase.finish(demand) for phase in supply.phases) == worst, (slots, domain, demand)
                again = max(_finish(table, domain, begin, demand + 1) - 1 for begin in range(len(table)))
                assert max(phase.finish(demand, goes_on=True) for phase in supply.phases) == again
            gap = max(_finish(table, domain, begin, 1) for begin in range(len(table))) - 1
            assert max(phase.finish(0, goes_on=True) for phase in supply.phases) == supply.longest_gap == gap


def _finish(table: list[int], domain: int, begin: int, demand: int) -> int:
    time = 0
    while demand:
        demand -= table[(begin + time) % len(table)] == domain
        time += 1
    return time


# Random systems -------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_no_run_exceeds_a_bound_and_witnesses_attain_them(first: int, tmp_path: Path) -> None:
    every = [each for seed in range(first, first + 20) for each in compared(seed, tmp_path)]
    assert [(each.seed, each.bound) for each in every if each.exceeded] == []
    attained = sum(each.attained for each in every)
    assert attained >= 0.9 * len(every), f"{attained} of {len(every)}"


def test_a_supply_is_that_of_a_part(tmp_path: Path) -> None:
    """Each domain has its own tasks and CPIs, and nothing else."""
    workload, _ = bounds_of(random_system(3), tmp_path)
    names = [task.name for _, part in workload.parts for task in part.tasks]
    assert sorted(names) == sorted(task.name for task in workload.tasks)
    for supply, part in workload.parts:
        assert isinstance(supply, Supply)
        assert len({task.domain for task in part.tasks} | {cpi.domain for cpi in part.cpis}) == 1


def test_the_table_of_the_documentation(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/domains.md").read_text("utf-8")
    system = text.split("```camkes\n")[1].split("```")[0]
    stated = system.replace("p._domain", "p._wcet = 2 ms; q._wcet = 3 ms; p._domain")
    path = tmp_path / "system.camkes"
    path.write_text(f"import <std_connector.camkes>;\n{stated}")
    done = camkes("analyze", path, "--platform", "none", "-D", "KernelTimerTickMS=1")
    shown = text.split("## Bounds\n")[1].split("```text\n")[1].split("```")[0]
    assert done.output.startswith(shown), done.output
