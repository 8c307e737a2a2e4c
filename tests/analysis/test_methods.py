# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Execution times and requests of methods: the figures of a textbook, and random systems."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from camkes.analysis.assumptions import find_assumptions
from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE
from camkes.analysis.sensitivity import margins
from camkes.analysis.simulation import SimulatedProgram, Simulation
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask, workload_of
from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.protocols import analyse as plan_of
from camkes.protocols.requests import Counts, method_node
from camkes.resolve import LoadOptions, load
from tests.analysis.attacks import above_bounds, attacked_workload
from tests.analysis.certificates import certified, verdict
from tests.analysis.enumeration import searched
from tests.analysis.random_methods import longer, random_system, with_methods
from tests.command import camkes

pytestmark = pytest.mark.requirement("AN-3")

#: Burns and Wellings, Real-Time Systems and Programming Languages: a executes EEQVE from 4 on, b EVVE, c EE
#: and d EQQQQE, where each letter is a unit of time, and Q and V are locks at their ceilings.
TEXTBOOK = """\
import <std_connector.camkes>;
procedure Q { void once(); void four_times(); }
procedure V { void once(); void twice(); }
component A { control; requestor; uses Q q; uses V v; }
component B { control; requestor; uses V v; }
component C { control; requestor; }
component D { control; requestor; uses Q q; }
component Locks {
    provides Q q with priority_protocol fixed;
    provides V v with priority_protocol fixed;
}
assembly {
    composition {
        component A a; component B b; component C c; component D d; component Locks locks;
        connection seL4RPCCall cq(from a.q, from d.q, to locks.q);
        connection seL4RPCCall cv(from a.v, from b.v, to locks.v);
    }
    configuration {
        a._priority = 4; a._period = 50 ms; a._wcet = 3 ms;
        b._priority = 3; b._period = 50 ms; b._wcet = 2 ms;
        c._priority = 2; c._period = 50 ms; c._wcet = 2 ms;
        d._priority = 1; d._period = 50 ms; d._wcet = 2 ms;
        locks.q_wcet = 4 ms; locks.v_wcet = 2 ms;
        %s
    }
}
"""
LOOP = "#include <camkes.h>\nint run(void) { while (camkes_next_job()) { %s } return 0; }\n"
CODE = {
    "A/a.c": LOOP % "camkes_work(CAMKES_MS(2)); q_once(); v_once(); camkes_work(CAMKES_MS(1));",
    "B/b.c": LOOP % "camkes_work(CAMKES_MS(1)); v_twice(); camkes_work(CAMKES_MS(1));",
    "C/c.c": LOOP % "camkes_work(CAMKES_MS(2));",
    "D/d.c": LOOP % "camkes_work(CAMKES_MS(1)); q_four_times(); camkes_work(CAMKES_MS(1));",
    "Locks/l.c": "#include <camkes.h>\n"
    "void q_once(void) { camkes_work(CAMKES_MS(1)); }\n"
    "void q_four_times(void) { camkes_work(CAMKES_MS(4)); }\n"
    "void v_once(void) { camkes_work(CAMKES_MS(1)); }\nvoid v_twice(void) { camkes_work(CAMKES_MS(2)); }\n",
}
MS = 1_000_000


def textbook(folder: Path, settings: str = "locks.q_once_wcet = 1 ms; locks.v_once_wcet = 1 ms;") -> Path:
    for name, text in {**CODE, "bw.camkes": TEXTBOOK % settings}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder / "bw.camkes"


@pytest.mark.long
def test_figures_of_the_textbook(tmp_path: Path) -> None:
    """One CPI for each lock, and a time for each method: a responds within 9, and needs 5 of it."""
    path = textbook(tmp_path)

    def found(*options: str) -> dict[str, tuple[int, int]]:
        done = camkes("analyze", path, "--nocpp", "--platform", "none", "--json", *options, cwd=tmp_path)
        tasks = json.loads(done.output)["tasks"]
        return {each["name"]: (each["wcet"] // MS, each["response"] // MS) for each in tasks}

    assert found() == {"a": (5, 9), "b": (4, 13), "c": (2, 15), "d": (6, 17)}
    # where the methods are not known, and where they have no times
    assert found("--text")["a"] == (9, 13)
    textbook(tmp_path, "")
    assert found()["a"] == (9, 13)


@pytest.mark.long
def test_a_case_of_methods_is_replayed(tmp_path: Path) -> None:
    """Without reading the code again: the response is the bound."""
    path = textbook(tmp_path)
    words = (
        "analyze",
        path,
        "--nocpp",
        "--platform",
        "none",
        "--explain",
        "a",
        "--witnesses",
        tmp_path / "c",
    )
    explained = camkes(*words, cwd=tmp_path).output
    assert "locks.q.once: 1 request of 1 ms" in explained and "d in locks.q.four_times" in explained
    done = camkes("run", path, "--nocpp", "--replay", tmp_path / "c/a.json", "--json", cwd=tmp_path)
    (a,) = (each for each in json.loads(done.output)["tasks"] if each["name"] == "a")
    assert a["response"]["max"] == 9 * MS


# What is distinguished ----------------------------------------------------------------------------

SYSTEM = """\
import <std_connector.camkes>;
procedure Spi {{ void read(); void write(); void reset(); }}
component Task {{ control; requestor; uses Spi spi; }}
component Bus {{ provides Spi spi with priority_protocol inherited; uses Spi next; }}
component Leaf {{ provides Spi spi with priority_protocol {protocol}; }}
assembly {{
    composition {{
        component Task one; component Task two; component Bus bus; component Leaf leaf;
        connection seL4RPCCall a(from one.spi, from two.spi, to bus.spi);
        connection seL4RPCCall b(from bus.next, to leaf.spi);
    }}
    configuration {{
        one._priority = 10; one._period = 10 ms; one._wcet = 1 ms;
        two._priority = 20; two._period = 10 ms; two._wcet = 1 ms;
        {settings}
    }}
}}
"""
TIMES = "bus.spi_read_wcet = 12 us; bus.spi_write_wcet = 48 us; leaf.spi_wcet = 5 us;"
REACHED = {"one": {"spi"}, "two": {"spi"}, "bus.spi": {"next"}}


def load_text(settings: str, sink: Sink, protocol: str = "inherited") -> System:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "system.camkes"
        path.write_text(SYSTEM.format(settings=settings, protocol=protocol))
        system = load(path, LoadOptions(cpp=False), sink)
    assert system is not None, sink.diagnostics
    return system


def made(
    settings: str, calls: dict[str, set[str]], counts: Counts | None = None, protocol: str = "inherited"
) -> Workload:
    """The system whose code makes these calls."""
    sink = Sink()
    system = load_text(settings, sink, protocol)
    by_method = {name: frozenset(methods) for name, methods in calls.items()}
    plan = plan_of(system, sink, REACHED, {}, {}, counts or {}, by_method)
    assert plan is not None, sink.diagnostics
    return workload_of(system, plan)


def work(workload: Workload, task: str) -> int:
    """What the requests of a job take."""
    return int(demands(workload, FREE).of_task[task].total) - MS


BUS = {"bus.spi:read": set[str](), "bus.spi:write": {"next.write"}, "bus.spi:reset": set[str]()}
CALLS = {"one:": {"spi.read"}, "two:": {"spi.read", "spi.write"}, **BUS}
COUNTS = {
    **{("one", "spi"): 1, ("one", "spi.read"): 1, ("one", "spi.write"): 0, ("one", "spi.reset"): 0},
    **{("two", "spi"): 3, ("two", "spi.read"): 2, ("two", "spi.write"): 1, ("two", "spi.reset"): 0},
    **{("bus.spi", "next"): 1, ("bus.spi:write", "next"): 1},
}


def test_each_request_takes_the_time_of_its_method() -> None:
    """12 and 48 us, and what only one of them requests."""
    workload = made(TIMES, CALLS, COUNTS)
    assert [(cpi.name, cpi.work, dict(cpi.requests)) for cpi in workload.cpis] == [
        ("bus.spi.read", 12_000, {}),
        ("bus.spi.write", 48_000, {"leaf.spi": 1}),
        ("leaf.spi", 5_000, {}),
    ]
    assert (work(workload, "one"), work(workload, "two")) == (12_000, 2 * 12_000 + 48_000 + 5_000)
    # they exclude each other
    assert workload.lock["bus.spi.read"] == workload.lock["bus.spi.write"] == "bus.spi"


def test_where_ways_differ_the_longest_method_counts() -> None:
    """Two requests on each way, of which at most one writes: it is not known which, so both are as long."""
    counts = {**COUNTS, ("two", "spi"): 2, ("two", "spi.read"): 2, ("two", "spi.write"): 1}
    workload = made(TIMES, CALLS, counts)
    assert work(workload, "two") == 2 * (48_000 + 5_000)
    # reset, which no code calls, does not count, however long it is
    slow = made(f"{TIMES} bus.spi_reset_wcet = 1 ms;", CALLS, counts)
    assert work(slow, "two") == work(workload, "two")


def test_a_stated_count_is_kept() -> None:
    """More than the code has: of any of its methods."""
    workload = made(f"{TIMES} two.spi_requests = 5;", CALLS, COUNTS)
    assert work(workload, "two") == 5 * (48_000 + 5_000)
    assert work(made(f"{TIMES} two.spi_requests = 3;", CALLS, COUNTS), "two") == 2 * 12_000 + 48_000 + 5_000


def test_what_is_not_known_is_the_longest_of_all_methods() -> None:
    unknown = {name: calls for name, calls in CALLS.items() if name != "one:"}
    workload = made(f"bus.spi_wcet = 3 us; {TIMES} bus.spi_reset_wcet = 100 us;", unknown, COUNTS)
    assert work(workload, "one") == 100_000 + 5_000
    assert work(workload, "two") == 2 * 12_000 + 48_000 + 5_000
    assert {cpi.name for cpi in workload.cpis} == {"bus.spi", "bus.spi.read", "bus.spi.write", "leaf.spi"}
    # nor what a method calls
    unknown = {name: calls for name, calls in CALLS.items() if name != "bus.spi:read"}
    assert work(made(TIMES, unknown, COUNTS), "one") == 12_000 + 5_000
    # nor anything
    assert work(made(TIMES, {}), "one") == 48_000 + 5_000


def test_methods_that_are_alike_are_one() -> None:
    """As they were before methods had times of their own."""
    calls = {**CALLS, **{f"bus.spi:{name}": {"next.read"} for name in ("read", "write", "reset")}}
    workload = made("bus.spi_wcet = 50 us; leaf.spi_wcet = 5 us;", calls, COUNTS)
    assert [(cpi.name, cpi.lock) for cpi in workload.cpis] == [("bus.spi", ""), ("leaf.spi", "")]
    assert work(workload, "two") == 3 * 55_000


def test_a_clause_that_lists_more_than_the_code_counts_for_all_methods() -> None:
    calls = {**CALLS, "bus.spi:write": set[str]()}
    workload = made(TIMES, calls, COUNTS)
    assert work(workload, "one") == 12_000 + 5_000


def test_missing_times_of_methods_are_assumed() -> None:
    """Of those that are called, each for the tasks that call it."""
    sink = Sink()
    system = load_text("bus.spi_read_wcet = 1 us;", sink)
    by_method = {name: frozenset(methods) for name, methods in CALLS.items()}
    plan = plan_of(system, sink, REACHED, {}, {}, COUNTS, by_method)
    assert plan is not None
    found = find_assumptions(system, plan, platform=FREE, unread={})
    assert [(each.text.partition(" executes")[0], each.help, each.of) for each in found] == [
        ("a request to `write` of `bus.spi`", "state `bus.spi_write_wcet`", {"bus.spi:write"}),
        ("a request to `leaf.spi`", "state `leaf.spi_wcet`", {"leaf.spi"}),
    ]


def test_times_at_a_criticality() -> None:
    """What is not stated of a method is that of the interface, and no time falls."""
    settings = "bus.spi_wcet = 10; bus.spi_wcet_2 = 30; bus.spi_read_wcet = 20; bus.spi_write_wcet_1 = 25;"
    system = load_text(settings, Sink())
    (bus,) = (cpi for cpi in system.cpis if cpi.name == "bus.spi")
    times = {method: [bus.wcet_of(method, level) for level in range(4)] for method in bus.methods}
    assert times == {
        "read": [20_000, 20_000, 30_000, 30_000],
        "write": [10_000, 25_000, 30_000, 30_000],
        "reset": [10_000, 10_000, 30_000, 30_000],
    }


def test_margins_grow_all_requests_that_can_be_to_a_method() -> None:
    """Also those that are to one of several: alone, reads could be much longer."""
    counts = {**COUNTS, ("two", "spi"): 2, ("two", "spi.read"): 2, ("two", "spi.write"): 1}
    workload = made(TIMES, CALLS, counts)
    margin = {each.name: each for each in margins(workload, FREE)}["bus.spi.read"]
    assert margin.longest is not None

    def good(time: int) -> bool:
        cpis = (
            replace(cpi, work=max(cpi.work, time)) if cpi.cpi == "bus.spi" else cpi for cpi in workload.cpis
        )
        return analyse(replace(workload, cpis=tuple(cpis)), FREE).good

    assert good(margin.longest) and not good(margin.longest + 1)


# Locks of several methods -------------------------------------------------------------------------


@pytest.mark.parametrize("lock", ["m", "monitor.lock"])
@pytest.mark.parametrize("protocol", [Protocol.INHERITED, Protocol.FIXED])
def test_what_another_method_requests_can_be_waited_for(lock: str, protocol: Protocol) -> None:
    """b waits for the lock that a has, which waits for x, in which d is: 22 while a and d are in their
    sections. The methods of the CPI that b requests do not request x."""
    tasks = (
        WorkloadTask("b", 3, 100, 100, 1, {"m.get": 1}),
        WorkloadTask("a", 2, 100, 100, 1, {"m.put": 1}),
        WorkloadTask("d", 1, 100, 100, 1, {"x": 1}),
    )
    cpis = (
        WorkloadCpi("m.put", protocol, 2, {"x": 1}, 3, lock),
        WorkloadCpi("m.get", protocol, 1, {}, 3, lock),
        WorkloadCpi("x", Protocol.INHERITED, 10),
    )
    workload = Workload(tasks, cpis)
    case = SimulatedProgram(
        {"b": ("m.get", 1), "a": ("m.put", 1), "d": ("x", 1)},
        {"m.put": ("x", 2), "m.get": (1,), "x": (10,)},
        {"d": 0, "a": 1, "b": 2},
    )
    jobs = {job.task: job for job in Simulation(workload, case).run(100)}
    (b,) = (each.response for each in analyse(workload, FREE).tasks if each.task.name == "b")
    assert b is not None
    assert jobs["b"].took(100) == 22 <= b.time


# Random systems -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "systems"), [(0, 30), pytest.param(30, 300, marks=pytest.mark.long)])
def test_no_response_is_longer_than_its_bound(first: int, systems: int) -> None:
    """Nor is a bound with methods longer than the one without."""
    for seed in range(first, first + systems):
        rng = random.Random(seed)
        plain = attacked_workload(rng)
        joined = rng.random() < 0.3
        workload = with_methods(rng, plain, joined=joined)
        assert above_bounds(rng, workload, str(seed)) == []
        assert joined or longer(workload, plain) == []


@pytest.mark.parametrize(
    ("systems", "states"), [(8, 8_000), pytest.param(300, 40_000, marks=pytest.mark.long)]
)
def test_bounds_of_methods_are_the_longest_responses(systems: int, states: int) -> None:
    """All states: arrivals, orders and early ends."""
    found = list(islice(searched(random_system, states), systems))
    assert [(seed, *row) for seed, rows in found for row in rows if row[1] != row[2]] == []


def test_certificates_of_methods_are_accepted() -> None:
    """And not where a section is left out that only the holder of a lock waits for."""
    for seed in range(40):
        made = certified(random_system(random.Random(seed)))
        assert verdict(made.plan, made.lines) == "accepted", seed
    tasks = (
        WorkloadTask("b", 3, 100, 100, 1, {"m.get": 1}),
        WorkloadTask("a", 2, 100, 100, 1, {"m.put": 1}),
        WorkloadTask("d", 1, 100, 100, 1, {"x": 1}),
    )
    cpis = (
        WorkloadCpi("m.put", Protocol.INHERITED, 2, {"x": 1}, 3, "m"),
        WorkloadCpi("m.get", Protocol.INHERITED, 1, {}, 3, "m"),
        WorkloadCpi("x", Protocol.INHERITED, 10),
    )
    made = certified(Workload(tasks, cpis))
    assert verdict(made.plan, made.lines) == "accepted"
    with patch.object(Workload, "pressing", property(lambda workload: workload.arrivals)):
        short = certified(Workload(tasks, cpis))
    assert verdict(short.plan, short.lines).startswith("wrong: a section of d in x is left out")


@pytest.mark.parametrize("seed", range(60))
def test_no_way_through_the_code_needs_more(seed: int) -> None:
    """Tasks and methods with random ways, each a list of calls: the time of the longest one is at most that
    of the counts, and this at most the one without methods."""
    rng = random.Random(seed)
    methods = ("read", "write", "reset")

    def ways() -> list[list[str]]:
        return [rng.choices(methods, k=rng.randint(0, 3)) for _ in range(rng.randint(1, 3))]

    ways_of = {"one": ways(), "two": ways(), **{f"bus.spi:{method}": ways() for method in methods}}
    counts: dict[tuple[str, str], int] = {}
    for caller, found in ways_of.items():
        used = "spi" if caller in ("one", "two") else "next"
        counts[caller, used] = max(map(len, found))
        for method in methods:
            counts[caller, f"{used}.{method}"] = max(Counter(way)[method] for way in found)
    names = [method_node("bus.spi", method) for method in methods]
    for used in ("next", *(f"next.{method}" for method in methods)):
        counts["bus.spi", used] = max(counts[name, used] for name in names)
    calls = {
        caller if ":" in caller else f"{caller}:": {
            f"{'next' if ':' in caller else 'spi'}.{method}" for way in found for method in way
        }
        for caller, found in ways_of.items()
    }
    times = {(cpi, method): rng.randint(0, 9) for cpi in ("bus", "leaf") for method in methods}
    settings = "".join(f"{cpi}.spi_{method}_wcet = {time};" for (cpi, method), time in times.items())
    workload = made(settings, calls, dict(counts))
    longest = {m: max(times["bus", m] + sum(times["leaf", c] for c in w) for w in ways_of[f"bus.spi:{m}"])
               for m in methods}  # fmt: skip
    unknown = made(settings, {}, {key: n for key, n in counts.items() if ":" not in key[0]})
    for task in ("one", "two"):
        exact = max(sum(longest[method] for method in way) for way in ways_of[task])
        if exact:
            assert exact * 1000 <= work(workload, task) <= work(unknown, task)
