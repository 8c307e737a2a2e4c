# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The judge is silent about right traces, and finds each way in which one can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.cli.main import main
from camkes.model.protocols import Protocol
from camkes.running.demands import Property, Violation
from camkes.running.events import Event
from camkes.running.kinds import Blocked, EndReason, Kind
from tests.examples import examples
from tests.report.checking import check_trace

from .simulator import INVERSION, MS, CpiSpec, Simulation, Step, TaskSpec, nested, simulate

pytestmark = pytest.mark.requirement("AN-27")


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[TaskSpec], list[CpiSpec]]:
    """Up to four tasks and four CPIs of any protocol, nested in any way without a cycle.

    A fixed CPI has the highest ceiling, so that it may be requested from anywhere.
    """
    count = draw(st.integers(1, 4))
    names = [f"c{i}.p" for i in range(count)]
    cpis = []
    for i in range(count):
        protocol = draw(st.sampled_from(Protocol))
        later = names[i + 1 :]
        body: list[Step] = [draw(st.integers(1, 6))]
        nests: bool = draw(st.booleans())
        if later and nests:
            body += [draw(st.sampled_from(later)), draw(st.integers(1, 3))]
        cpis.append(CpiSpec(names[i], protocol, tuple(body), 100 if protocol is Protocol.FIXED else None))
    tasks = []
    for i in range(draw(st.integers(1, 4))):
        steps: list[Step] = [draw(st.integers(1, 4))]
        for name in draw(st.lists(st.sampled_from(names), max_size=3)):
            steps += [name, draw(st.integers(1, 3))]
        releases = tuple(sorted(draw(st.lists(st.integers(0, 30), min_size=1, max_size=3))))
        tasks.append(TaskSpec(f"t{i}", 10 * draw(st.integers(1, 4)), releases, tuple(steps)))
    return tasks, cpis


@given(systems())
@examples(150)
def test_right_traces_have_no_violation(system: tuple[list[TaskSpec], list[CpiSpec]]) -> None:
    events, names, plan = simulate(*system)
    assert events[-1].args == (EndReason.IDLE,)
    assert [str(v) for v in check_trace(events, names, plan)] == []


def test_the_nested_system_inherits_and_is_right() -> None:
    events, names, plan = simulate(*nested())
    assert any(e.kind is Kind.LOCK_WAIT for e in events)
    assert any(e.kind is Kind.PRIORITY for e in events)
    assert check_trace(events, names, plan) == []


def inversion(inherit: bool = True) -> Simulation:
    simulation = Simulation(INVERSION["tasks"], INVERSION["cpis"], inherit)  # type: ignore[arg-type]
    simulation.run()
    return simulation


def found(simulation: Simulation, change: Callable[[list[Event]], list[Event]]) -> set[str]:
    events = change(list(simulation.events))
    return {v.property.value for v in check_trace(events, simulation.names, simulation.plan)}


def test_a_lock_without_inheritance_breaks_p() -> None:
    simulation = inversion(inherit=False)
    violations = check_trace(simulation.events, simulation.names, simulation.plan)
    assert {v.property for v in violations} == {Property.PRIORITY}
    assert violations[0].time == 3 * MS
    assert str(violations[0]) == (
        "3000000 ns: P: middle (priority 20) runs while lock.p@low (priority 30) could"
    )


def test_a_priority_that_is_traced_and_not_set_breaks_p() -> None:
    """INHERIT stays in the trace; the kernel's PRIORITY is gone."""
    assert "P" in found(inversion(), lambda events: [e for e in events if e.kind is not Kind.PRIORITY])


def test_the_runtimes_records_of_inheritance_are_not_used() -> None:
    said = (Kind.INHERIT, Kind.UPDATE, Kind.CLEAR)
    assert found(inversion(), lambda events: [e for e in events if e.kind not in said]) == set()


def test_a_priority_that_is_not_returned_breaks_z_and_p() -> None:
    def keep(events: list[Event]) -> list[Event]:
        return [e for e in events if e.kind is not Kind.PRIORITY or e.args[1] > e.args[0]]

    assert "Z" in found(inversion(), keep)


def test_a_second_taker_breaks_m() -> None:
    def take(events: list[Event]) -> list[Event]:
        wait = next(i for i, e in enumerate(events) if e.kind is Kind.LOCK_WAIT)
        changed = events[wait]._replace(kind=Kind.LOCK_TAKE, args=events[wait].args[:2])
        return [*events[:wait], changed, *events[wait + 1 :]]

    assert "M" in found(inversion(), take)


def test_work_in_an_inherited_cpi_without_its_lock_breaks_m() -> None:
    def drop(events: list[Event]) -> list[Event]:
        return [e for e in events if e.kind not in (Kind.LOCK_TAKE, Kind.LOCK_FREE)]

    assert "M" in found(inversion(), drop)


def test_two_requests_in_a_fixed_cpi_break_m() -> None:
    tasks = [TaskSpec("a", 10, (0,), (1, "f.p")), TaskSpec("b", 20, (2,), (1, "f.p"))]
    simulation = Simulation(tasks, [CpiSpec("f.p", Protocol.FIXED, (5,))])
    simulation.run()
    assert found(simulation, lambda events: events) == set()
    begin = next(i for i, e in enumerate(simulation.events) if e.kind is Kind.REQUEST_BEGIN)

    def second(events: list[Event]) -> list[Event]:
        return [*events[: begin + 1], events[begin]._replace(thread=0), *events[begin + 1 :]]

    assert "M" in found(simulation, second)


def three() -> Simulation:
    """Two tasks wait for a lock that a third holds."""
    tasks = [
        TaskSpec("low", 10, (0,), (1, "lock.p", 1)),
        TaskSpec("middle", 20, (2,), (1, "lock.p", 1)),
        TaskSpec("high", 30, (4,), (1, "lock.p", 1)),
    ]
    simulation = Simulation(tasks, [CpiSpec("lock.p", Protocol.INHERITED, (8,))])
    simulation.run()
    return simulation


def test_a_grant_to_the_wrong_waiter_breaks_h() -> None:
    assert found(three(), lambda events: events) == set()

    def swap(events: list[Event]) -> list[Event]:
        return [e._replace(args=(0, 3 - e.args[1])) if e.kind is Kind.LOCK_GRANT else e for e in events]

    assert "H" in found(three(), swap)


def test_fifo_among_equals() -> None:
    tasks = [
        TaskSpec("one", 20, (2,), (1, "lock.p", 1)),
        TaskSpec("two", 20, (2,), (1, "lock.p", 1)),
        TaskSpec("low", 10, (0,), (1, "lock.p", 1)),
    ]
    simulation = Simulation(tasks, [CpiSpec("lock.p", Protocol.INHERITED, (8,))])
    simulation.run()
    assert [e.args[1] for e in simulation.events if e.kind is Kind.LOCK_GRANT] == [0, 1]
    assert found(simulation, lambda events: events) == set()

    def swap(events: list[Event]) -> list[Event]:
        return [e._replace(args=(0, 1 - e.args[1])) if e.kind is Kind.LOCK_GRANT else e for e in events]

    assert "H" in found(simulation, swap)


def test_a_lock_that_is_not_handed_over_breaks_h_and_l() -> None:
    simulation = three()
    first = next(i for i, e in enumerate(simulation.events) if e.kind is Kind.LOCK_FREE)
    later = next(e for e in simulation.events[first:] if e.time > simulation.events[first].time)

    def stop(events: list[Event]) -> list[Event]:
        kept = [e for e in events[:first] if e.kind is not Kind.END]
        return [
            *kept,
            events[first],
            Event(later.time, Kind.IDLE),
            Event(later.time, Kind.END, args=(EndReason.IDLE,)),
        ]

    assert {"H", "L"} <= found(simulation, stop)


def test_a_deadlock_breaks_l() -> None:
    simulation = three()
    head = [
        Event(0, Kind.LOCK_TAKE, 3, None, (0, 0)),
        Event(0, Kind.LOCK_WAIT, 3, None, (0, 0, 10)),
    ]
    (violation, *_) = check_trace(head, simulation.names, simulation.plan)
    assert violation.property is Property.LIVENESS
    assert "deadlock: low waits for low" in violation.explanation


def test_a_caller_without_a_reply_breaks_l() -> None:
    def cut(events: list[Event]) -> list[Event]:
        return [e for e in events if e.kind is not Kind.CALL_END]

    assert "L" in found(inversion(), cut)


def test_a_thread_blocked_in_a_call_at_the_end_breaks_l() -> None:
    def block(events: list[Event]) -> list[Event]:
        return [*events[:-1], Event(events[-1].time, Kind.BLOCK, 0, None, (Blocked.CALL, 0)), events[-1]]

    assert "L" in found(inversion(), block)


def test_a_dead_thread_excuses_those_that_wait_for_it() -> None:
    simulation = three()
    half = [e for e in simulation.events if e.time <= 3]
    ended = [*half, Event(3, Kind.FAULT, 3, None, (1, 0, 0, 0)), Event(3, Kind.END, args=(EndReason.IDLE,))]
    assert "L" not in {v.property.value for v in check_trace(ended, simulation.names, simulation.plan)}


def test_a_worker_above_its_ceiling_breaks_s() -> None:
    def raise_it(events: list[Event]) -> list[Event]:
        return [
            e._replace(args=(e.args[0], 99)) if e.kind is Kind.PRIORITY and e.args[1] == 30 else e
            for e in events
        ]

    assert "S" in found(inversion(), raise_it)


def test_a_request_served_under_another_name_breaks_s() -> None:
    def rename(events: list[Event]) -> list[Event]:
        return [
            e._replace(args=(e.args[0], 2, *e.args[2:]))
            if e.kind is Kind.REQUEST_BEGIN and e.args[1] == 0
            else e
            for e in events
        ]

    assert "S" in found(inversion(), rename)


def test_running_while_a_higher_one_is_ready_breaks_p() -> None:
    simulation = three()
    names, plan = simulation.names, simulation.plan
    events = [
        Event(0, Kind.BOOT),
        *(Event(0, Kind.BLOCK, t.number, None, (Blocked.RECV, 0)) for t in names.threads),
        Event(0, Kind.READY, 0),
        Event(0, Kind.SWITCH, 0, None, (10,)),
        Event(5, Kind.READY, 2),
        Event(9, Kind.END, args=(EndReason.TIME,)),
    ]
    (violation,) = check_trace(events, names, plan)
    assert violation.property is Property.PRIORITY
    assert "low (priority 10) runs while high (priority 30) could" in violation.explanation


def test_no_thread_running_while_one_could_breaks_p() -> None:
    simulation = three()
    events = [
        Event(0, Kind.SWITCH, 0, None, (10,)),
        Event(3, Kind.IDLE, None, 0),
    ]
    violations = check_trace(events, simulation.names, simulation.plan)
    assert any("no thread runs" in v.explanation for v in violations)


def test_the_number_of_violations_is_bounded() -> None:
    simulation = inversion()
    wrong = [Event(time, Kind.LOCK_FREE, 3, None, (0, 0)) for time in range(150)]
    found = check_trace(wrong, simulation.names, simulation.plan)
    assert [each.time for each in found] == [each.record for each in found] == list(range(100))


@pytest.mark.parametrize(
    "kind", [Kind.LOCK_TAKE, Kind.LOCK_GRANT, Kind.LOCK_WAIT, Kind.LOCK_FREE, Kind.REQUEST_BEGIN]
)
def test_numbers_that_are_not_in_the_plan_are_a_violation(kind: Kind) -> None:
    simulation = inversion()
    event = Event(0, kind, 3, None, (77, 88, 0, 0, 0))
    assert check_trace([event], simulation.names, simulation.plan)


def test_quiet_does_not_hide_violations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "system.camkes"
    path.write_text("component A { control; } assembly { composition { component A a; } }\n")
    (tmp_path / "a.c").write_text("#include <camkes.h>\nint run(void) { return 0; }\n")
    violation = Violation(7, Property.LIVENESS, "a waits", 3)
    command = ["run", str(path), "-o", str(tmp_path / "out"), "--verify", "--quiet"]
    assert main(command) == 0
    monkeypatch.setattr("camkes.backends.host.oracle.verify", lambda *_, **__: [violation])
    capsys.readouterr()
    assert main(command) == 1
    assert "7 ns: L: a waits" in capsys.readouterr().out
