# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What events cost: who emits one executes the emission, in whatever it has then, and the job that it
releases all that a release takes."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from camkes.analysis.demand import demands
from camkes.analysis.platform import EventCost, Platform
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask, with_emissions
from camkes.cli.main import main
from camkes.model.protocols import Protocol
from tests.command import camkes
from tests.end_to_end.support import loop, write

pytestmark = pytest.mark.requirement("AN-10")

PLATFORM = Platform("events", event=EventCost(emit=30, release=200))


def _follower(name: str, priority: int, *event: str, after: str = "first") -> WorkloadTask:
    return WorkloadTask(name, priority, 10_000, 10_000, 100, {}, after, timed=False, event=event)


def test_execution_times() -> None:
    """Each of two tasks is released by an event of `first`, one of these releases a third."""
    first = WorkloadTask("first", 3, 10_000, 10_000, 1000)
    followers = _follower("above", 4, "first.out"), _follower("below", 2), _follower("last", 1, after="below")
    needed = demands(with_emissions(Workload((first, *followers), ())), PLATFORM).of_task
    assert {name: each.total for name, each in needed.items()} == {
        "first": 1000 + 2 * 30,
        "above": 100 + 200,
        "below": 100 + 200 + 30,
        "last": 100 + 200,
    }


def test_responses() -> None:
    """`above` executes within a job of `first`, and `below` waits for that and for itself."""
    first = WorkloadTask("first", 3, 10_000, 10_000, 1000)
    workload = Workload((first, _follower("above", 4, "first.out"), _follower("below", 2, "first.out")), ())
    found = analyse(with_emissions(workload), PLATFORM)
    assert [(each.task.name, each.response and each.response.time) for each in found.tasks] == [
        ("above", 300),
        ("first", 1060 + 300),
        ("below", 300 + 1060 + 300),
    ]


@pytest.mark.parametrize("event", ["server.out", "helper.out"])
def test_an_emission_in_a_request(event: str) -> None:
    """By the handler, or by a helper of a wait: lower tasks keep others waiting for longer then."""
    cpi = WorkloadCpi("server.p", Protocol.INHERITED, 500, helpers=("helper",))
    tasks = (
        WorkloadTask("high", 9, 10_000, 10_000, 1000, {"server.p": 1}),
        WorkloadTask("first", 3, 10_000, 10_000, 1000, {"server.p": 1}),
        _follower("second", 2, event),
    )
    workload = with_emissions(Workload(tasks, (cpi,)))
    assert [task.emits for task in workload.tasks] == [0, 0, 0] and workload.cpi["server.p"].emits == 1
    found = {each.task.name: each for each in analyse(workload, PLATFORM).tasks}
    assert (found["high"].demand.total, found["high"].blocking.least) == (1530, 530)


def test_each_domain_has_the_events_that_it_emits() -> None:
    """Also those that release tasks of another one, of which it knows nothing else."""
    tasks = (
        WorkloadTask("first", 3, 10_000, 10_000, 1000, domain=0),
        WorkloadTask("second", 3, 10_000, 10_000, 100, {}, "first", timed=False, domain=1),
    )
    workload = with_emissions(Workload(tasks, ()))
    alone = Workload(workload.tasks[:1], ())
    assert demands(alone, PLATFORM).of_task["first"].total == 1030


def test_costs_of_parts_of_a_nanosecond() -> None:
    slow = Platform("events", clock=3_000_000_000, event=EventCost(emit=1, release=2))
    workload = with_emissions(Workload((WorkloadTask("a", 1, 9, 9, 1), _follower("b", 2, after="a")), ()))
    needed = demands(workload, slow).of_task
    assert (needed["a"].events, needed["b"].events) == (Fraction(1, 3), Fraction(2, 3))


def test_explanation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events.toml").write_text("[event]\nemit = 30_000\nrelease = 200_000\n")
    (tmp_path / "s.camkes").write_text("""
import <std_connector.camkes>;
component First { control; requestor; emits Go go; }
component Next { control; requestor; consumes Go go; emits Go on; }
assembly {
    composition {
        component First first; component Next next; component Next last;
        connection seL4NotificationNative a(from first.go, to next.go);
        connection seL4NotificationNative b(from next.on, to last.go);
    }
    configuration {
        first._priority = 3; first._period = 10 ms; first._wcet = 1 ms;
        next._priority = 2; next.release = "go"; next._wcet = 1 ms;
        last._priority = 1; last.release = "go"; last._wcet = 1 ms;
    }
}
""")

    def explained(task: str) -> list[str]:
        arguments = ["analyze", str(tmp_path / "s.camkes"), "--platform", str(tmp_path / "events.toml")]
        main([*arguments, "--text", "--explain", task])
        return [line.strip() for line in capsys.readouterr().out.splitlines()]

    assert "30 us  1 event that it emits" in explained("first")
    assert "230 us  its release by an event and 1 event that it emits" in explained("next")
    assert "200 us  its release by an event" in explained("last")


#: the events `log` and `sent` release no task
COMPONENTS = """
procedure Use { void use(in int often); }
component First { control; requestor; uses Use s; emits Go go; emits Go log; }
component Second { control; requestor; consumes Go go; }
component Server { provides Use p with priority_protocol inherited, requests (); emits Go sent; }
component Log { control; consumes Go log; consumes Go sent; }"""
ASSEMBLY = """
composition {
    component First first; component Second second; component Server server;
    component Log one; component Log two;
    connection seL4RPCCall s(from first.s, to server.p);
    connection seL4NotificationNative a(from first.go, to second.go);
    connection seL4Notification b(from first.log, to one.log, to two.log);
    connection seL4Notification c(from server.sent, to one.sent, to two.sent);
}
configuration {
    first._priority = 30; first._period = 10 ms; first._wcet = 1 ms;
    second._priority = 20; second.release = "go"; second._wcet = 1 ms;
    server.p_wcet = 1 us;
    one._priority = 5; one.log_priority = 5; one.sent_priority = 5;
    two._priority = 5; two.log_priority = 5; two.sent_priority = 5;
}"""
EMITTED = """if (often > 1) { sent_emit(); } sent_emit();"""
COSTS = "[event]\nemit = 10_000\nrelease = 100_000\n"


def _analysed(folder: Path, first: str, *options: str, profile: str = COSTS) -> dict[str, Any]:
    (folder / "events.toml").write_text(profile)
    log = "int run(void) { return 0; }"
    server = f"void p_use(int often) {{ {EMITTED} }}"
    sources = {"First": loop(first), "Second": loop(""), "Server": server, "Log": log}
    path = write(folder, COMPONENTS, ASSEMBLY, sources)
    words = ("analyze", "--nocpp", path, "-o", folder / "out", "--platform", folder / "events.toml")
    found: dict[str, Any] = json.loads(camkes(*words, "--json", *options).output)
    return found


def test_events_that_release_no_task_count_as_often_as_code_emits_them(tmp_path: Path) -> None:
    """Once for each that consumes them. A request emits two events, each to two: 40 us."""
    found = _analysed(tmp_path, "go_emit(); for (int i = 0; i < 3; i++) { log_emit(); } s_use(1); s_use(2);")
    assert [each["wcet"] for each in found["tasks"]] == [
        1_000_000 + 70_000 + 2 * (1_000 + 40_000),
        1_000_000 + 100_000,
    ]
    assert found["assumptions"] == []


def test_events_that_are_not_counted_are_an_assumption(tmp_path: Path) -> None:
    found = _analysed(tmp_path, "go_emit(); while (camkes_now() > 5) { log_emit(); } s_use(1);")
    (assumed,) = found["assumptions"]
    assert (assumed["kind"], assumed["text"]) == (
        "operations",
        "the events that `first` can emit take no time, but for one to each task that they release "
        "(not counted)",
    )
    assert found["tasks"][0]["wcet"] == 1_000_000 + 10_000 + 1_000 + 40_000
    found = _analysed(tmp_path, "go_emit();", "--text")
    (assumed,) = (each for each in found["assumptions"] if each["kind"] == "operations")
    assert assumed["text"].startswith("the events that `first` and `server.p` can emit take no time, but for")


def test_events_without_a_cost_are_an_assumption(tmp_path: Path) -> None:
    for first, expected in (
        ("go_emit(); log_emit();", ["the events that `first` can emit take no time"]),
        ("go_emit(); s_use(1);", ["the events that `server.p` can emit take no time"]),
        ("go_emit();", []),
    ):
        found = _analysed(tmp_path, first, profile="[plain]\ncall = 250\n")
        release = "the event that releases `second` takes no time to emit and to wait for"
        assert [each["text"] for each in found["assumptions"]] == [release, *expected]
    assert _analysed(tmp_path, "go_emit(); log_emit();", "--platform", "none")["assumptions"] == []


def test_events_of_what_a_task_calls_directly_are_not_counted(tmp_path: Path) -> None:
    components = """
procedure Use { void use(in int often); }
component Task { control; requestor; uses Use s; emits Go go; }
component Called { provides Use p; uses Use next; emits Go log; }
component Last { provides Use p; emits Go log; }
component Log { control; consumes Go log; }"""
    assembly = """
composition {
    group g { component Task task; component Called called; component Last last; }
    component Log log; component Log other;
    connection seL4DirectCall a(from g.task.s, to g.called.p);
    connection seL4DirectCall b(from g.called.next, to g.last.p);
    connection seL4Notification c(from g.%s, to log.log);
    connection seL4Notification d(from g.task.go, to other.log);
}
configuration {
    task._priority = 30; task._period = 10 ms; task._wcet = 1 ms; task.s_priority = 5;
    called.p_priority = 5; called.next_priority = 5; last.p_priority = 5;
    log._priority = 5; log.log_priority = 5; other._priority = 5; other.log_priority = 5;
}"""
    sources = {
        "Task": loop("go_emit(); s_use(1);"),
        "Called": "void p_use(int often) { next_use(often); }",
        "Last": "void p_use(int often) { }",
        "Log": "int run(void) { return 0; }",
    }
    (tmp_path / "events.toml").write_text(COSTS)
    for emitter in ("called.log", "last.log"):
        path = write(tmp_path, components, assembly % emitter, sources)
        words = ("analyze", "--nocpp", path, "-o", tmp_path / "out", "--platform", tmp_path / "events.toml")
        found = json.loads(camkes(*words, "--json").output)
        (assumed,) = found["assumptions"]
        assert assumed["text"].startswith("the events that `task` can emit take no time, but for one to each")
        assert found["verdict"] == "met if"
