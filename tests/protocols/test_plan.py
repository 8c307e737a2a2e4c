# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The plan against its definitions, spelled out without cleverness."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from camkes import protocols
from camkes.diagnostics import Sink
from camkes.model.configured import InstanceSettings, InterfaceSettings
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.protocols import analyse, codes
from camkes.protocols.checks import Facts, run_checks
from camkes.protocols.plan import Plan, plan_requests
from camkes.protocols.requests import build_graph
from camkes.protocols.task_ids import assign_ids
from camkes.resolve import LoadOptions, load
from tests.examples import examples
from tests.operations import assert_linear

from .systems import Maker, makers

pytestmark = pytest.mark.requirement("PLAN-1")

ROOT = Path(__file__).resolve().parents[2]


def planned(system: System) -> Plan:
    return plan_requests(system, build_graph(system))


def edges(system: System) -> dict[str, set[str]]:
    """Instance -> CPIs, in a system whose components provide one interface at most."""
    found: dict[str, set[str]] = {}
    for connection in system.connections:
        found.setdefault(connection.from_ends[0].instance, set()).add(connection.to_ends[0].instance)
    return found


def paths(system: System, target: str) -> Iterator[tuple[str, ...]]:
    """Every way from a task to a CPI."""
    callees = edges(system)

    def walk(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if path[-1] == target:
            yield path
        for callee in callees.get(path[-1], ()):
            yield from walk((*path, callee))

    for task in system.tasks:
        yield from walk((task.instance,))


def most_at_once(system: System, target: str) -> int:
    """The largest set of ways to the target, no two from one task or through one lock."""
    locks = {c.instance for c in system.cpis if c.protocol is not Protocol.PROPAGATED}
    tasks = {t.instance for t in system.tasks}
    needs = {frozenset(set(path[:-1]) & (locks | tasks)) for path in paths(system, target)}

    def best(rest: list[frozenset[str]], taken: frozenset[str]) -> int:
        most = 0
        for i, need in enumerate(rest):
            if not need & taken:
                most = max(most, 1 + best(rest[i + 1 :], taken | need))
        return most

    smallest = [n for n in needs if not any(other < n for other in needs)]
    return best(sorted(smallest, key=sorted), frozenset())


@given(makers())
@examples(150)
def test_closure_and_ceilings(maker: Maker) -> None:
    system = maker.system()
    plan = planned(system)
    protocols = {c.instance: c.protocol for c in system.cpis}
    ceilings: dict[str, int] = {}
    for cpi in system.cpis:  # callers come before what they call
        ways = list(paths(system, cpi.instance))
        origins = {}
        for way in ways:
            last_fixed = [name for name in way[1:-1] if protocols[name] is Protocol.FIXED][-1:]
            if last_fixed:
                origins[f"{last_fixed[0]}.p"] = ceilings[last_fixed[0]]
            else:
                origins[way[0]] = next(t.priority or 0 for t in system.tasks if t.instance == way[0])
        ceilings[cpi.instance] = max(origins.values(), default=0)
        found = plan.cpi(cpi.name)
        assert found is not None
        assert set(found.tasks) == {way[0] for way in ways}
        assert {c.name: c.base_priority for c in found.contexts} == origins
        assert found.ceiling == ceilings[cpi.instance]
        assert found.threads == (min(1, len(origins)) if cpi.protocol is Protocol.FIXED else len(origins))
        callees = edges(system).get(cpi.instance, set())
        assert set(found.requests) == {f"{c}.p" for c in callees}


@given(makers())
@examples(150)
def test_inheritance_travels(maker: Maker) -> None:
    """A priority inherited at a contended lock reaches everything below it, but not past a fixed CPI."""
    system = maker.system()
    plan = planned(system)
    boosts = {c.instance for c in plan.cpis if c.protocol is Protocol.INHERITED and len(c.contexts) > 1}
    fixed = {c.instance for c in plan.cpis if c.protocol is Protocol.FIXED}
    for cpi in plan.cpis:
        below = any(
            name in boosts and not fixed & set(way[i:])
            for way in paths(system, cpi.instance)
            for i, name in enumerate(way[:-1])
        )
        assert cpi.inherits_from_above == below
        assert cpi.manager == (below or cpi.instance in boosts)


@given(makers(tasks=6, cpis=8))
@examples(250)
def test_smallest_thread_count(maker: Maker) -> None:
    system = maker.system()
    for cpi in planned(system).cpis:
        most = most_at_once(system, cpi.instance)
        assert cpi.threads_minimum == (min(1, most) if cpi.protocol is Protocol.FIXED else most)


@given(makers(cycles=True))
@examples(150)
def test_deadlock_if_and_only_if_a_cycle(maker: Maker) -> None:
    system = maker.system()
    callees = edges(system)
    names = [c.instance for c in system.cpis]
    reach = {a: set(callees.get(a, ())) for a in names}
    for _ in names:
        for a in names:
            reach[a] |= {c for b in reach[a] for c in reach.get(b, ())}
    sink = Sink()
    plan = analyse(system, sink)
    found = [d for d in sink.diagnostics if d.code.name == "deadlock"]
    in_cycles = {
        frozenset(b for b in names if b in reach[a] and a in reach[b]) for a in names if a in reach[a]
    }
    assert len(found) == len(in_cycles)
    assert (plan is None) == bool(in_cycles)


@given(st.dictionaries(st.integers(0, 40), st.none() | st.integers(0, 50), max_size=30))
def test_task_ids(stated: dict[int, int | None]) -> None:
    maker = Maker()
    for name, number in stated.items():
        maker.task(f"t{name:02}", 10, number)
    ids = assign_ids(maker.tasks)
    free = [ids[f"t{name:02}"] for name in sorted(stated) if stated[name] is None]
    given_ids = {number for number in stated.values() if number is not None}
    assert all(ids[f"t{name:02}"] == number for name, number in stated.items() if number is not None)
    assert free == [n for n in range(100) if n not in given_ids][: len(free)]


def test_a_plan_has_tasks_by_id_and_cpis_by_place() -> None:
    maker = Maker()
    maker.cpi("leaf", Protocol.FIXED)
    maker.cpi("lock", Protocol.INHERITED)
    maker.task("b", 20)
    maker.task("a", 10)
    maker.task("c", 30, stated_id=0)
    for task in "abc":
        maker.connect(task, "lock.p")
    maker.connect("lock", "leaf.p")
    plan = analyse(maker.system(), Sink())
    assert plan is not None
    assert [(t.name, t.id, t.priority) for t in plan.tasks] == [("c", 0, 30), ("a", 1, 10), ("b", 2, 20)]
    assert [(c.id, c.name, c.threads, c.chain) for c in plan.cpis] == [
        (0, "leaf.p", 1, 0),
        (1, "lock.p", 3, 1),
    ]
    assert [(c.id, c.name, c.base_priority) for c in plan.contexts] == [
        (0, "a", 10),
        (1, "b", 20),
        (2, "c", 30),
        (3, "leaf.p", 30),
    ]


def test_stated_ceilings() -> None:
    """A higher one holds; 255 makes a fixed CPI non-preemptive, and what it calls runs there too."""
    maker = Maker()
    maker.task("t", 10)
    maker.cpi("lock", Protocol.INHERITED, priority=50)
    maker.cpi("outer", Protocol.FIXED, priority=255)
    maker.cpi("inner", Protocol.INHERITED)
    for user, provider in (("t", "lock"), ("lock", "outer"), ("outer", "inner")):
        maker.connect(user, f"{provider}.p")
    sink = Sink()
    plan = analyse(maker.system(), sink)
    assert plan is not None and not sink.diagnostics
    assert [c.ceiling for c in plan.cpis] == [50, 255, 255]
    assert [[c.name for c in cpi.contexts] for cpi in plan.cpis] == [["t"], ["t"], ["outer.p"]]


def test_an_inherited_priority_passes_through_a_cpi_that_does_not_inherit() -> None:
    """Two tasks contend for the first CPI; the second one passes on what the first inherited."""
    maker = Maker()
    for name, protocol in (
        ("first", Protocol.INHERITED),
        ("second", Protocol.PROPAGATED),
        ("third", Protocol.INHERITED),
    ):
        maker.cpi(name, protocol)
    for name in ("t", "u"):
        maker.task(name)
        maker.connect(name, "first.p")
    maker.connect("first", "second.p")
    maker.connect("second", "third.p")
    plan = planned(maker.system())
    assert [cpi.inherits_from_above for cpi in plan.cpis] == [False, True, True]


def test_threads_of_a_pool_wait_on_one_endpoint_and_so_do_those_of_a_fixed_cpi() -> None:
    for protocol, threads, one in (
        (Protocol.PROPAGATED, 1, True),
        (Protocol.PROPAGATED, None, False),
        (Protocol.FIXED, None, True),
    ):
        maker = Maker()
        maker.cpi("k", protocol, threads=threads)
        for name in ("t", "u"):
            maker.task(name)
            maker.connect(name, "k.p")
        assert planned(maker.system()).cpis[0].one_endpoint == one


@pytest.mark.parametrize(
    ("tasks", "threads", "keeps"), [(1, None, False), (2, None, True), (2, 1, False), (3, None, False)]
)
def test_a_manager_keeps_the_reply_of_the_only_context_that_can_wait(
    tasks: int, threads: int | None, keeps: bool
) -> None:
    maker = Maker()
    maker.cpi("lock", Protocol.INHERITED, threads=threads)
    maker.cpi("inner", Protocol.INHERITED)
    for name in "abc"[:tasks]:
        maker.task(name)
        maker.connect(name, "lock.p")
    maker.connect("lock", "inner.p")
    lock, inner = planned(maker.system()).cpis
    assert lock.manager_keeps_reply == keeps
    assert not inner.manager_keeps_reply  # its manager is sent the priorities that are inherited at `lock`


def test_a_smaller_count_makes_a_pool() -> None:
    maker = Maker()
    for name in "abc":
        maker.task(name, 10)
        maker.connect(name, "lock.p") if maker.cpis else maker.cpi("lock", Protocol.INHERITED)
    maker.connect("a", "lock.p")
    maker.cpi("below", Protocol.PROPAGATED, threads=1)
    maker.connect("lock", "below.p")
    sink = Sink()
    plan = analyse(maker.system(), sink)
    assert plan is not None and not sink.diagnostics
    below = plan.cpis[1]
    assert (below.threads, below.threads_minimum, below.pooled, below.manager) == (1, 1, True, True)
    assert len(below.contexts) == 3


def test_a_pool_without_a_lock_above_has_a_manager() -> None:
    """Two tasks make at most two requests at once, as themselves or through the `fixed` CPI."""
    maker = Maker()
    maker.cpi("over", Protocol.FIXED)
    maker.cpi("below", Protocol.PROPAGATED, threads=2)
    maker.connect("over", "below.p")
    for name in "ab":
        maker.task(name)
        maker.connect(name, "over.p")
        maker.connect(name, "below.p")
    below = planned(maker.system()).cpis[1]
    assert (len(below.contexts), below.threads_minimum, below.pooled, below.manager) == (3, 2, True, True)


@pytest.mark.parametrize("threads", [None, 2, 3])
def test_a_thread_for_each_context_is_not_a_pool(threads: int | None) -> None:
    """Also where more are stated than there are contexts."""
    maker = Maker()
    maker.cpi("k", Protocol.PROPAGATED, threads=threads)
    for name in "ab":
        maker.task(name)
        maker.connect(name, "k.p")
    plan = analyse(maker.system(), Sink())
    assert plan is not None
    (cpi,) = plan.cpis
    assert (cpi.threads, cpi.pooled) == (2, False)


def test_code_is_more_exact_than_all_interfaces_and_a_clause_beats_it() -> None:
    maker = Maker()
    maker.task("t")
    maker.cpi("k", Protocol.PROPAGATED)
    maker.cpi("k", Protocol.PROPAGATED, interface="q", requests=("u1",))
    maker.cpi("a", Protocol.FIXED)
    maker.cpi("b", Protocol.FIXED)
    maker.connect("t", "k.p")
    maker.connect("t", "k.q")
    maker.connect("k", "a.p")
    maker.connect("k", "b.p")
    graph = build_graph(maker.system(), {"k.p": {"u0"}})
    assert [(r.caller, r.callee, r.source) for r in graph.requests] == [
        ("t", "k.p", "control"),
        ("t", "k.q", "control"),
        ("k.p", "a.p", "code"),
        ("k.q", "b.p", "clause"),
    ]
    assert {r.callee for r in build_graph(maker.system()).outgoing["k.p"]} == {"a.p", "b.p"}


def test_requests_are_counted_in_code_where_no_number_is_stated() -> None:
    maker = Maker()
    maker.task("t")
    for name in ("a", "b", "c"):
        maker.cpi(name, Protocol.FIXED)
        maker.connect("t", f"{name}.p")
    system = maker.system()
    (task, *others) = system.instances
    stated = replace(task, configured=InstanceSettings(interfaces={"u0": InterfaceSettings(requests=2)}))
    graph = build_graph(replace(system, instances=(stated, *others)), counts={("t", "u0"): 3, ("t", "u1"): 4})
    assert [(request.callee, request.count) for request in graph.requests] == [
        ("a.p", 2),
        ("b.p", 4),
        ("c.p", 1),
    ]


def test_two_components_that_use_each_other_are_not_a_deadlock() -> None:
    maker = Maker()
    maker.task("t")
    for name in "ab":
        maker.cpi(name, Protocol.INHERITED, requests=("u0",), interface="p")
        maker.cpi(name, Protocol.INHERITED, requests=(), interface="q")
    maker.connect("t", "a.p")
    maker.connect("t", "b.p")
    maker.connect("a", "b.q")
    maker.connect("b", "a.q")
    sink = Sink()
    assert analyse(maker.system(), sink) is not None
    assert not sink.diagnostics


def clusters(count: int) -> Callable[[], object]:
    """The analysis of a system that is `count` times the same: two tasks above two layers of CPIs."""
    maker = Maker()
    for i in range(count):
        for task in range(2):
            maker.task(f"t{i}_{task}", task, None)
        for number, protocol in enumerate((Protocol.INHERITED, Protocol.PROPAGATED, Protocol.FIXED)):
            maker.cpi(f"k{i}_{number}", protocol)
        for task in range(2):
            maker.connect(f"t{i}_{task}", f"k{i}_0.p")
            maker.connect(f"t{i}_{task}", f"k{i}_1.p")
        maker.connect(f"k{i}_0", f"k{i}_2.p")
        maker.connect(f"k{i}_1", f"k{i}_2.p")
    system = maker.system()

    def run() -> None:
        plan = analyse(system, Sink())
        assert plan is not None and len(plan.cpis) == 3 * count

    return run


def test_operations_grow_linearly_with_the_number_of_separate_parts_of_a_system() -> None:
    assert_linear(clusters, (20, 40, 80))


PLAIN = """
import <std_connector.camkes>;
procedure P {{ void f(); }}
component A {{ control; uses P p; }}
component B {{ provides P p{interface}; }}
assembly {{ composition {{
    component A a;
    component B b;
    connection seL4RPCCall c(from a.p, to b.p){connection};
}} }}
"""


DIRECTIVE = re.compile(rb"^\s*#", re.MULTILINE)


@pytest.mark.long
@pytest.mark.no_cover  # takes one way for a hundred systems
def test_a_system_without_protocols_and_tasks_has_an_empty_plan(tmp_path: Path) -> None:
    """The short way of `analyse` says what the long way would have said."""
    words = {"none": ("", ""), "threads": ("", " with 2 threads"), "requests": (" with requests ()", "")}
    for name, (interface, connection) in words.items():
        text = PLAIN.format(interface=interface, connection=connection)
        (tmp_path / f"{name}.camkes").write_text(text)
    folders = (ROOT / "examples", ROOT / "tests", tmp_path)
    files = [path for folder in folders for path in sorted(folder.rglob("*.camkes"))]
    loaded = (
        load(path, LoadOptions(cpp=DIRECTIVE.search(path.read_bytes()) is not None), Sink()) for path in files
    )
    systems = [system for system in loaded if system is not None]
    plain = [system for system in systems if not protocols._is_real_time(system)]
    assert 0 < len(plain) < len(systems)
    for system in systems:
        short, long = Sink(), Sink()
        graph = build_graph(system)
        plan = plan_requests(system, graph, protocols._lending(system, graph, {}))
        good = run_checks(Facts(system, graph, plan, {}), long)
        assert analyse(system, short) == (plan if good else None)
        of_protocols = tuple(d for d in short.diagnostics if d.code is not codes.PLAIN_CYCLE)
        assert of_protocols == long.diagnostics


@pytest.mark.parametrize("order", ["top left right", "left right top", "right top left"])
def test_a_lock_above_two_ways_lets_one_request_through(order: str) -> None:
    """Two tasks and two callers of the last CPI, and yet one thread is enough; in any order of the text."""
    maker = Maker()
    for name in "ab":
        maker.task(name)
    for name in order.split():
        maker.cpi(name, Protocol.INHERITED)
    maker.cpi("last", Protocol.PROPAGATED)
    for user, provider in (("a", "top"), ("b", "top"), ("top", "left"), ("top", "right")):
        maker.connect(user, f"{provider}.p")
    maker.connect("left", "last.p")
    maker.connect("right", "last.p")
    least = {cpi.instance: cpi.threads_minimum for cpi in planned(maker.system()).cpis}
    assert least == {"top": 2, "left": 1, "right": 1, "last": 1}


def test_in_a_cycle_of_fixed_cpis_the_lowest_priority_stays_the_lowest() -> None:
    maker = Maker()
    maker.task("t", 0)
    for name in "ab":
        maker.cpi(name, Protocol.FIXED)
    maker.connect("t", "a.p")
    maker.connect("a", "b.p")
    maker.connect("b", "a.p")
    plan = planned(maker.system())
    assert [cpi.ceiling for cpi in plan.cpis] == [0, 0]
    assert [context.base_priority for context in plan.contexts] == [0, 0, 0]
