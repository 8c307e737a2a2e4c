# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where a check ends: the cases next to those that the golden files show."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.diagnostics import Diagnostic, Severity, Sink
from camkes.model.protocols import Protocol
from camkes.model.system import ConnectionEnd, System
from camkes.protocols import analyse
from camkes.protocols.checks.base import listing, number
from camkes.protocols.requests import CallGraph, Chain, Chains, build_graph
from camkes.resolve import LoadOptions, load
from tests.resolve.systems import good

from .systems import Maker

pytestmark = pytest.mark.requirement("CHECK-2")


def codes(system: System) -> list[str]:
    sink = Sink()
    analyse(system, sink)
    return [diagnostic.code.name for diagnostic in sink.diagnostics]


def one_cpi(protocol: Protocol, priority: int | None, of_task: int) -> Maker:
    maker = Maker()
    maker.task("t", of_task)
    maker.cpi("k", protocol, priority)
    maker.connect("t", "k.p")
    return maker


def test_the_highest_priority_is_reserved_only_by_a_non_preemptive_cpi() -> None:
    """That is one with a fixed priority, and that priority is 255."""
    assert codes(one_cpi(Protocol.FIXED, 255, 254).system()) == []
    assert codes(one_cpi(Protocol.FIXED, 255, 255).system()) == ["priority-of-non-preemptive"]
    below = one_cpi(Protocol.FIXED, 254, 254)
    below.task("other", 255)
    below.cpi("alone", Protocol.INHERITED, 255)
    below.connect("other", "alone.p")
    assert codes(below.system()) == []
    for protocol in (Protocol.INHERITED, Protocol.PROPAGATED):
        assert codes(one_cpi(protocol, 255, 255).system()) == []


def test_a_task_id_above_the_limit_of_a_message_is_reported_as_such() -> None:
    for stated, label in ((-1, "not a valid id"), (4095, "does not fit the label of a message")):
        maker = Maker()
        maker.task("t", 10, stated)
        maker.cpi("k", Protocol.FIXED)
        maker.connect("t", "k.p")
        sink = Sink()
        assert analyse(maker.system(), sink) is None
        (found,) = sink.diagnostics
        assert (found.code.name, found.label) == ("task-id-out-of-range", label)
    for stated in (0, 4094):
        maker = Maker()
        maker.task("t", 10, stated)
        maker.cpi("k", Protocol.FIXED)
        maker.connect("t", "k.p")
        assert codes(maker.system()) == []


def with_threads(*ends: str) -> list[str]:
    """Codes about a connection with a thread count from a task to these ends; `k.p` has a protocol."""
    maker = Maker()
    maker.task("t")
    maker.cpi("k", Protocol.FIXED)
    maker.uses["plain"] = []
    maker.connect("t", "k.p")
    system = maker.system()
    (connection,) = system.connections
    span = connection.span
    to = tuple(ConnectionEnd(*end.split("."), span) for end in ends)
    return codes(
        replace(system, connections=(replace(connection, to_ends=to, threads=1, threads_span=span),))
    )


def test_a_thread_count_is_used_if_any_end_of_its_connection_has_a_protocol() -> None:
    assert "unused-clause" not in with_threads("k.p")
    assert "unused-clause" not in with_threads("k.p", "plain.p")
    assert "unused-clause" not in with_threads("plain.p", "k.p")
    assert "unused-clause" in with_threads("plain.p", "plain.q")


def test_the_first_caller_that_no_task_reaches_is_where_to_start() -> None:
    maker = Maker()
    for name in ("first", "second", "leaf"):
        maker.cpi(name, Protocol.INHERITED)
    maker.connect("first", "leaf.p")
    maker.connect("second", "leaf.p")
    sink = Sink()
    analyse(maker.system(), sink)
    (help,) = [d.help for d in sink.diagnostics if d.message == "`leaf.p` is not reachable from any task"]
    assert help == "`first.p` is not reachable from a task either: begin there"


def test_the_lowest_priority_counts_in_the_order_of_periods() -> None:
    """Priority 0 is a priority: the task of the middle period has a higher one than that of the shortest."""
    maker = Maker()
    for name, priority in (("long", 0), ("middle", 1), ("short", 0)):
        maker.task(name, priority)
    periods = {"long": 30, "middle": 20, "short": 10}
    system = maker.system()
    tasks = tuple(replace(task, period=periods[task.instance]) for task in system.tasks)
    sink = Sink()
    analyse(replace(system, tasks=tasks), sink)
    found = [d.message for d in sink.diagnostics if d.code.name == "not-rate-monotonic"]
    assert found == ["task `short` has a shorter period than `middle` but a lower priority"]


@pytest.mark.parametrize(("setting", "told"), [("_domain", False), ("_affinity", False), ("_wcet", True)])
def test_tasks_that_do_not_compete_are_in_no_wrong_order(setting: str, told: bool, tmp_path: Path) -> None:
    """Tasks of two scheduling domains, or cores, whatever their priorities are."""
    system = f"""
    component T {{ control; requestor; }}
    assembly {{
        composition {{ component T slow; component T fast; }}
        configuration {{
            slow._priority = 20; slow._period = 100 ms; slow.{setting} = 1;
            fast._priority = 10; fast._period = 10 ms;
        }}
    }}
    """
    assert ("not-rate-monotonic" in codes(good(tmp_path, system))) == told


def test_equal_priorities_are_in_no_wrong_order() -> None:
    maker = Maker()
    for name in ("long", "short"):
        maker.task(name, 1)
    system = maker.system()
    tasks = tuple(replace(task, period=period) for task, period in zip(system.tasks, (20, 10), strict=True))
    assert codes(replace(system, tasks=tasks)) == codes(system) == []


def named(
    texts: dict[str, str],
    folder: Path,
    code: CallGraph | None = None,
    chains: Chains | None = None,
) -> list[Diagnostic]:
    """What is found in a system of these component types and connections."""
    path, sink = folder / "a.camkes", Sink()
    path.write_text(
        "import <std_connector.camkes>; procedure P { void f(); }\n"
        + "\n".join(f"component {name} {{ {body} }}" for name, body in texts.items() if name != "assembly")
        + f"\nassembly {{ {texts['assembly']} }}\n"
    )
    system = load(path, LoadOptions(cpp=False), sink)
    assert system is not None, sink.diagnostics
    analyse(system, sink, code, chains or {})
    return list(sink.diagnostics)


def test_a_lock_is_followed_step_by_step_to_what_has_no_protocol(tmp_path: Path) -> None:
    through = "provides P p with priority_protocol propagated; uses P next;"
    found = named(
        {
            "T": "control; requestor; uses P p;",
            "Lock": "provides P p with priority_protocol inherited; uses P next;",
            "Through": through,
            "Plain": "provides P p;",
            "assembly": """composition {
                component T t; component Lock a; component Plain d;
                component Through b; component Through between; component Through c;
                connection seL4RPCCall c1(from t.p, to a.p);
                connection seL4RPCCall c2(from a.next, to b.p);
                connection seL4RPCCall c3(from b.next, to between.p);
                connection seL4RPCCall c5(from between.next, to c.p);
                connection seL4RPCCall c4(from c.next, to d.p);
            } configuration { t._priority = 1; }""",
        },
        tmp_path,
    )
    (nesting,) = [d for d in found if d.code.name == "invalid-nesting"]
    assert [label.text for label in nesting.related] == [
        "`a.p` is inherited: a lock",
        "`a.p` requests `b.p`",
        "`b.p` requests `between.p`",
        "`between.p` requests `c.p`",
        "`d.p` has no protocol",
    ]


def test_control_threads_and_handlers_of_events_without_a_task_are_all_named(tmp_path: Path) -> None:
    found = named(
        {
            "Active": "control; uses P p;",
            "Listener": "consumes Tick tick; uses P p;",
            "Ticker": "control; emits Tick tick;",
            "Server": "provides P p with priority_protocol inherited;",
            "assembly": """composition {
                component Active a; component Listener b; component Ticker c; component Server s;
                connection seL4RPCCall c1(from a.p, from b.p, to s.p);
                connection seL4Notification c2(from c.tick, to b.tick);
            }""",
        },
        tmp_path,
    )
    errors = [d for d in found if d.severity is Severity.ERROR]
    assert [d.message for d in errors] == [
        "component `Active` requests `s.p` but is not a requestor",
        "component `Listener` requests `s.p` but is not a requestor",
    ]


def _underlined(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    assert span is not None
    return span.file.text.splitlines()[span.line - 1][span.column - 1 : span.end_column - 1]


def test_each_handler_of_events_that_requests_is_named_where_it_does(tmp_path: Path) -> None:
    """Where debugging information does not say in which line, the connection is the place."""
    listener = "consumes Tick tick; uses P p;"
    assembly = """composition {
        component Listener a; component Listener b; component Ticker c; component Server s;
        connection seL4RPCCall c1(from a.p, from b.p, to s.p);
        connection seL4Notification c2(from c.tick, to a.tick);
        connection seL4Notification c3(from c.other, to b.tick);
    }"""
    found = named(
        {
            "Listener": listener,
            "Ticker": "control; emits Tick tick; emits Tick other;",
            "Server": "provides P p with priority_protocol inherited;",
            "assembly": assembly,
        },
        tmp_path,
        {"a.tick": {"p"}, "b.tick": {"p"}},
        {("a.tick", "p"): Chain(("handler", "p_f"), (None,), True)},
    )
    handlers = [d for d in found if d.message.startswith("the handler of")]
    assert [d.message.split("`")[1] for d in handlers] == ["a.tick", "b.tick"]
    assert [_underlined(d) for d in handlers] == ["a.p", "b.p"]


def test_the_steps_of_a_cycle_of_plain_requests_are_a_walk(tmp_path: Path) -> None:
    """Editors show these in their order, not as places that have to do with the first."""
    found = named(
        {
            "S": "provides P p; uses P next;",
            "assembly": """composition { component S a; component S b;
                connection seL4RPCCall c1(from a.next, to b.p);
                connection seL4RPCCall c2(from b.next, to a.p); }""",
        },
        tmp_path,
    )
    assert [(d.code.name, d.is_walk) for d in found] == [("cycle-without-protocol", True)]


@pytest.mark.parametrize(("clause", "sure"), [(", requests (next)", True), ("", False)])
def test_a_stated_request_of_a_handler_that_works_for_no_task_is_an_error(
    tmp_path: Path, clause: str, sure: bool
) -> None:
    """Also where another handler makes the same request for a task; unstated, it may be only that one's."""
    found = named(
        {
            "T": "control; requestor; uses P p;",
            "Active": "control; uses P q;",
            "Middle": "provides P p with priority_protocol propagated; "
            f"provides P q{clause.replace(',', ' with', 1)}; uses P next;",
            "Server": "provides P p with priority_protocol inherited;",
            "assembly": """composition {
                component T t; component Active a; component Middle m; component Server s;
                connection seL4RPCCall c1(from t.p, to m.p);
                connection seL4RPCCall c2(from a.q, to m.q);
                connection seL4RPCCall c3(from m.next, to s.p);
            } configuration { t._priority = 1; }""",
        },
        tmp_path,
    )
    assert ("mixed-callers" if sure else "maybe-call-without-task") in [d.code.name for d in found]
    assert any(d.severity is Severity.ERROR for d in found) == sure


def test_the_help_for_an_unreached_cpi_is_about_the_first_that_is_connected(tmp_path: Path) -> None:
    middle = "provides P p with priority_protocol propagated, requests (); uses P next;"
    for first, second, words in (("m", "i", "`requests` clause"), ("i", "m", "`requestor;`")):
        ends = {"m": "m.next", "i": "i.p"}
        found = named(
            {
                "T": "control; requestor; uses P p;",
                "M": middle,
                "I": "uses P p;",
                "S": "provides P p with priority_protocol inherited;",
                "assembly": f"""composition {{ component T t; component M m; component I i; component S s;
                    connection seL4RPCCall c1(from t.p, to m.p);
                    connection seL4RPCCall c2(from {ends[first]}, from {ends[second]}, to s.p);
                }} configuration {{ t._priority = 1; }}""",
            },
            tmp_path,
        )
        (unreached,) = [d for d in found if d.message == "`s.p` is not reachable from any task"]
        assert f"`{first}`" in unreached.help and words in unreached.help


@pytest.mark.parametrize(("tasks", "crowded"), [(2, False), (3, True)])
def test_more_tasks_than_ids_are_named_as_the_reason(
    monkeypatch: pytest.MonkeyPatch, tasks: int, crowded: bool
) -> None:
    monkeypatch.setattr("camkes.protocols.checks.tasks.TASK_IDS", 2)
    maker = Maker()
    for index in range(tasks):
        maker.task(f"t{index}", 10, 7 if index == 0 else None)
    sink = Sink()
    analyse(maker.system(), sink)
    (found,) = sink.diagnostics
    assert found.notes == (("the system has 3 tasks, more than there are ids",) if crowded else ())
    assert bool(found.help) != crowded


def test_names_and_numbers_of_a_sentence() -> None:
    assert [listing("abcdefg"[:count]) for count in range(4)] == [
        "",
        "`a`",
        "`a` and `b`",
        "`a`, `b` and `c`",
    ]
    assert listing("abcdef") == "`a`, `b`, `c`, `d`, `e` and `f`"
    assert listing("abcdefg") == "`a`, `b`, `c`, `d`, `e` and 2 more"
    assert listing("abc", 2) == "`a` and 2 more"
    assert [number(count, "thread") for count in (0, 1, 2)] == ["0 threads", "1 thread", "2 threads"]


def test_the_steps_of_a_deadlock_are_a_walk() -> None:
    maker = Maker()
    maker.task("t")
    for name in "ab":
        maker.cpi(name, Protocol.INHERITED)
    maker.connect("t", "a.p")
    maker.connect("a", "b.p")
    maker.connect("b", "a.p")
    sink = Sink()
    analyse(maker.system(), sink)
    assert [(d.code.name, d.is_walk) for d in sink.diagnostics] == [("deadlock", True)]


def test_a_fixed_cpi_has_no_pool() -> None:
    maker = Maker()
    maker.cpi("k", Protocol.FIXED, threads=1)
    for name in "ab":
        maker.task(name)
        maker.connect(name, "k.p")
    plan = analyse(maker.system(), Sink())
    assert plan is not None
    assert [(cpi.pooled, cpi.threads, cpi.threads_minimum) for cpi in plan.cpis] == [(False, 1, 1)]


def test_an_id_stated_twice_by_tasks_that_are_not_neighbours() -> None:
    maker = Maker()
    for name, stated in (("a", None), ("b", 1), ("c", None), ("d", 2), ("e", 1), ("f", 2)):
        maker.task(name, 10, stated)
    sink = Sink()
    analyse(maker.system(), sink)
    assert [d.message for d in sink.diagnostics] == [
        "tasks `b` and `e` both have id 1",
        "tasks `d` and `f` both have id 2",
    ]


def test_a_clause_is_contradicted_by_code_of_which_no_calls_are_known(tmp_path: Path) -> None:
    found = named(
        {
            "T": "control; requestor; uses P p;",
            "M": "provides P p with priority_protocol propagated, requests (); uses P next;",
            "S": "provides P p with priority_protocol inherited;",
            "assembly": """composition { component T t; component M m; component S s;
                connection seL4RPCCall c1(from t.p, to m.p);
                connection seL4RPCCall c2(from m.next, to s.p);
            } configuration { t._priority = 1; }""",
        },
        tmp_path,
        {"m.p": {"next"}},
    )
    (contradicted,) = [d for d in found if d.code.name == "requests-contradicted"]
    assert contradicted.related == () and contradicted.severity is Severity.ERROR


def test_a_clause_is_contradicted_by_a_request_to_what_has_no_protocol(tmp_path: Path) -> None:
    """A call that stays in the caller's thread need not be stated."""
    for connector, contradicted in (("seL4RPCCall", True), ("seL4DirectCall", False)):
        found = named(
            {
                "T": "control; requestor; uses P p;",
                "M": "provides P p with priority_protocol propagated, requests (); uses P next;",
                "S": "provides P p;",
                "assembly": f"""composition {{ component T t; group g {{ component M m; component S s; }}
                    connection seL4RPCCall c1(from t.p, to g.m.p);
                    connection {connector} c2(from g.m.next, to g.s.p);
                }} configuration {{ t._priority = 1; }}""",
            },
            tmp_path,
            {"m.p": {"next"}},
        )
        assert ("requests-contradicted" in [d.code.name for d in found]) is contradicted


def test_the_interfaces_of_an_inner_instance_are_named_without_its_path(tmp_path: Path) -> None:
    found = named(
        {
            "T": "control; requestor; uses P p;",
            "M": "provides P p with priority_protocol propagated; "
            "provides P q with priority_protocol propagated; uses P next;",
            "S": "provides P p with priority_protocol inherited;",
            "Outer": "composition { component T t; component T t2; component M m; component S s;\n"
            "connection seL4RPCCall c1(from t.p, to m.p); connection seL4RPCCall c2(from t2.p, to m.q);\n"
            "connection seL4RPCCall c3(from m.next, to s.p); }\n"
            "configuration { t._priority = 1; t2._priority = 2; }",
            "assembly": "composition { component Outer o; }",
        },
        tmp_path,
    )
    (missing,) = [d for d in found if d.code.name == "requests-missing"]
    assert "may call any of `next`" in missing.message


@pytest.mark.parametrize(("stated", "said"), [(1, "`k0.p` never does"), (0, "`k0.p` and `k1.p` never do ")])
def test_the_note_of_a_possible_deadlock_names_cpis_without_a_clause(stated: int, said: str) -> None:
    maker = Maker()
    maker.task("t")
    maker.cpi("k0", Protocol.INHERITED)
    maker.cpi("k1", Protocol.INHERITED, requests=("u0",) if stated else None)
    for user, provider in (("t", "k0.p"), ("k0", "k1.p"), ("k1", "k0.p")):
        maker.connect(user, provider)
    sink = Sink()
    analyse(maker.system(), sink)
    (deadlock,) = [d for d in sink.diagnostics if d.code.name == "deadlock"]
    assert any(f"perhaps {said}" in note for note in deadlock.notes), deadlock.notes


@pytest.mark.parametrize(("length", "shown"), [(20, True), (21, False)])
def test_a_walk_of_eighty_characters_is_written_out(length: int, shown: bool) -> None:
    first, second = "a" * 20, "b" * length
    maker = Maker()
    maker.task("t")
    maker.cpi(first, Protocol.INHERITED)
    maker.cpi(second, Protocol.INHERITED)
    for user, provider in (("t", f"{first}.p"), (first, f"{second}.p"), (second, f"{first}.p")):
        maker.connect(user, provider)
    sink = Sink()
    analyse(maker.system(), sink)
    (deadlock,) = [d for d in sink.diagnostics if d.code.name == "deadlock"]
    assert (f"`{second}.p`" in deadlock.message) is shown, deadlock.message


def test_the_first_of_several_non_preemptive_cpis_is_shown() -> None:
    maker = one_cpi(Protocol.FIXED, 255, 255)
    maker.cpi("l", Protocol.FIXED, 255)
    maker.connect("t", "l.p")
    sink = Sink()
    analyse(maker.system(), sink)
    (found,) = [d for d in sink.diagnostics if d.code.name == "priority-of-non-preemptive"]
    assert found.related[0].text == "`k.p` is non-preemptive"


def test_tasks_of_one_period_are_in_no_order_among_themselves() -> None:
    maker = Maker()
    given = {"long": (100, 10), "high": (50, 30), "low": (50, 20)}
    for name, (_, priority) in given.items():
        maker.task(name, priority)
    system = maker.system()
    tasks = tuple(replace(task, period=given[task.instance][0]) for task in system.tasks)
    assert codes(replace(system, tasks=tasks)) == []


def test_a_control_thread_without_a_task_makes_no_plain_calls(tmp_path: Path) -> None:
    """A control thread without a task, in a system that has a task."""
    text = """import <std_connector.camkes>; procedure P { void f(); }
    component T { control; requestor; uses P p; } component U { control; uses P p; }
    component K { provides P p with priority_protocol fixed; } component S { provides P p; }
    assembly { composition { component T t; component U u; component K k; component S s;
        connection seL4RPCCall c(from t.p, to k.p); connection seL4RPCCall d(from u.p, to s.p); }
        configuration { t._priority = 1; } }"""
    path = tmp_path / "a.camkes"
    path.write_text(text)
    system = load(path, LoadOptions(cpp=False), Sink())
    assert system is not None
    graph = build_graph(system)
    assert (graph.plain_calls, len(graph.requests)) == ((), 1)


def test_missing_clauses_of_a_component_are_one_warning(tmp_path: Path) -> None:
    found = named(
        {
            "T": "control; requestor; uses P p; uses P q;",
            "M": "provides P p with priority_protocol propagated; "
            "provides P q with priority_protocol propagated; uses P next;",
            "S": "provides P p with priority_protocol inherited;",
            "assembly": "composition { component T t; component M m; component M n; component S s;\n"
            "connection seL4RPCCall c1(from t.p, to m.p); connection seL4RPCCall c2(from t.q, to n.q);\n"
            "connection seL4RPCCall c3(from m.next, from n.next, to s.p); }\n"
            "configuration { t._priority = 1; }",
        },
        tmp_path,
    )
    assert [d.code.name for d in found].count("requests-missing") == 1
