# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Proposed priorities, how far execution times can grow, and what other protocols do."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.assignment import Policy, assign, changed
from camkes.analysis.platform import FREE
from camkes.analysis.sensitivity import changes, margins
from camkes.analysis.verdict import analyse, analyse_system
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.cli.main import main
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Form, Style, render
from camkes.experiments.settings import write_settings
from camkes.model.protocols import Protocol
from tests.analysis.random_systems import UNIT, RandomSystem
from tests.analysis.shared_store import shared_store
from tests.documents import conforming
from tests.golden import compare

pytestmark = pytest.mark.requirement("AN-15")

GOLDEN = Path(__file__).parent / "golden"
SEEDS = st.integers(0, 2**32 - 1)


def short(seed: int) -> Workload:
    """A random workload of up to four tasks, with deadlines that some orders of priorities miss."""
    rng = random.Random(seed)
    found = RandomSystem(rng).workload
    tasks = [replace(t, deadline=rng.randint(5, 60) * UNIT) for t in found.tasks[:4]]
    return Workload(tuple(tasks), found.cpis)


@pytest.mark.long
@given(SEEDS)
def test_audsley_finds_priorities_if_there_are_any(seed: int) -> None:
    """Against all orders, one by one."""
    workload = short(seed)
    names = [task.name for task in workload.tasks]
    good = [
        order
        for order in permutations(names)
        if analyse(changed(workload, {n: i + 1 for i, n in enumerate(order)}), FREE).good
    ]
    found = assign(workload, FREE, Policy.AUDSLEY)
    assert (found is None) == (not good)
    if found is not None:
        assert len(set(found.values())) == len(names)
        assert analyse(changed(workload, found), FREE).good
    deadlines = assign(workload, FREE, Policy.DEADLINE_MONOTONIC)
    assert deadlines is not None
    if analyse(changed(workload, deadlines), FREE).good and len(set(deadlines.values())) == len(names):
        assert found is not None


def test_the_order_below_can_decide() -> None:
    """c (C = 2 and 3 of `lock`, D = 8) can wait for 3 of `lock` alone, or also for 1 of b in `leaf`: a gets
    the lock, while b is within `leaf`, only if it is above b. So b must be above a: 8, else 9. b alone would
    fit below a, too, and has the later deadline."""
    leaf = WorkloadCpi("leaf", Protocol.INHERITED, 1, {}, 3)
    lock = WorkloadCpi("lock", Protocol.FIXED, 2, {"leaf": 1}, 3)
    a, b = WorkloadTask("a", 1, 60, 47, 5, {"lock": 1}), WorkloadTask("b", 2, 80, 53, 5, {"leaf": 1})
    workload = Workload((a, b, WorkloadTask("c", 3, 120, 8, 2, {"lock": 1})), (lock, leaf))
    other = changed(workload, {"a": 2, "b": 1})
    assert [analyse(each, FREE).tasks[0].response.time for each in (workload, other)] == [8, 9]
    assert assign(other, FREE, Policy.AUDSLEY) == {"a": 1, "b": 2, "c": 3}


def test_where_deadline_monotonic_is_not_best() -> None:
    """b, non-preemptive for 5, blocks whoever is above. a (C = 5, D = 9) below b (C = 5, D = 10): a ends at
    10, too late; above it a waits for 5 of b and ends at 10. With D = 10 for a, either order is good."""
    cpi = WorkloadCpi("lock", Protocol.FIXED, 5, {}, 255)
    for deadline, found in ((9, False), (10, True)):
        tasks = (WorkloadTask("a", 2, 100, deadline, 5), WorkloadTask("b", 1, 100, 10, 0, {"lock": 1}))
        assert (assign(Workload(tasks, (cpi,)), FREE, Policy.AUDSLEY) is not None) == found


def test_equal_periods_get_equal_priorities() -> None:
    tasks = (
        WorkloadTask("a", 7, 100, 90, 1),
        WorkloadTask("b", 9, 100, 40, 1),
        WorkloadTask("c", 8, 50, 50, 1),
    )
    workload = Workload(tasks, ())
    assert assign(workload, FREE, Policy.RATE_MONOTONIC) == {"a": 8, "b": 8, "c": 9}
    assert assign(workload, FREE, Policy.DEADLINE_MONOTONIC) == {"a": 7, "b": 9, "c": 8}
    one = Workload(tuple(replace(task, priority=3) for task in tasks), ())
    assert assign(one, FREE, Policy.DEADLINE_MONOTONIC) == {"a": 10, "b": 30, "c": 20}


def test_ceilings_follow() -> None:
    """A fixed CPI requests with its ceiling; 255 stays."""
    cpis = (
        WorkloadCpi("f", Protocol.FIXED, 1, {"g": 1}, 5),
        WorkloadCpi("g", Protocol.FIXED, 1, {"h": 1}, 5),
        WorkloadCpi("h", Protocol.FIXED, 1, {}, 255),
    )
    workload = Workload(
        (WorkloadTask("a", 5, 9, 9, 1, {"f": 1}), WorkloadTask("b", 3, 9, 9, 1, {"g": 1})), cpis
    )
    found = changed(workload, {"a": 2, "b": 1})
    assert [cpi.ceiling for cpi in found.cpis] == [2, 2, 255]


@given(SEEDS)
def test_execution_times_can_grow_so_far_and_no_further(seed: int) -> None:
    workload = short(seed)
    for margin in margins(workload, FREE):
        if margin.longest is None:
            assert not analyse(workload, FREE).good
            continue
        for work, good in ((margin.longest, True), (margin.longest + 1, False)):
            if margin.is_task:
                tasks = tuple(replace(t, work=work) if t.name == margin.name else t for t in workload.tasks)
                grown = Workload(tasks, workload.cpis)
            else:
                cpis = tuple(replace(c, work=work) if c.name == margin.name else c for c in workload.cpis)
                grown = Workload(workload.tasks, cpis)
            assert analyse(grown, FREE).good == good, margin


#: Three tasks, and CPIs `lock`, `other`, `pool` and `deep` of which `pool` requests `deep`; %s are settings.
SHARED = """
import <std_connector.camkes>;
procedure Do { void it(); };
component A { control; requestor; uses Do lock; uses Do other; uses Do pool; }
component B { control; requestor; uses Do other; uses Do pool; }
component C { control; requestor; uses Do lock; }
component Lock { provides Do p with priority_protocol inherited; }
component Pool { provides Do p with priority_protocol inherited, requests (deep); uses Do deep; }
assembly {
    composition {
        component A a; component B b; component C c;
        component Lock lock; component Lock other; component Pool pool; component Lock deep;
        connection seL4RPCCall c0(from a.lock, from c.lock, to lock.p);
        connection seL4RPCCall c1(from a.other, from b.other, to other.p);
        connection seL4RPCCall c2(from a.pool, from b.pool, to pool.p);
        connection seL4RPCCall c3(from pool.deep, to deep.p);
    }
    configuration {
        a._priority = 30; b._priority = 20; c._priority = 10;
        a._period = 1 ms; b._period = 1 ms; c._period = 1 ms;
        a._wcet = 0; b._wcet = 2 ns; c._wcet = 2 ns;
        lock.p_wcet = 3 ns; other.p_wcet = 4 ns; pool.p_wcet = 0; deep.p_wcet = 0;
        %s
    }
}
"""


def read(path: Path, settings: Mapping[str, str]) -> pipeline.Checked | None:
    path.write_text(SHARED % " ".join(f"{name} = {value};" for name, value in settings.items()))
    return pipeline.check(pipeline.Input(path), Sink())


def longest_responses(found: pipeline.Checked) -> dict[str, int | None]:
    analysis = analyse_system(found.system, found.plan, FREE, Sink())
    assert analysis is not None
    return {each.task.name: int(each.response.time) if each.response else None for each in analysis.tasks}


def proposals(found: pipeline.Checked) -> dict[tuple[str, Protocol], dict[str, int | None]]:
    """What each proposed protocol makes of the responses that change."""
    analysis = analyse_system(found.system, found.plan, FREE, Sink())
    assert analysis is not None
    all_changes = changes(found.system, analysis, pipeline.plan)
    return {(c.cpi, c.after): {name: then for name, _, then in c.responses} for c in all_changes}


def test_the_effect_of_another_protocol(tmp_path: Path) -> None:
    """a waits for c in the lock (3) and for b in the other (4): R = 7 + 3 + 4. With a ceiling for the lock, c
    is not there together with b, and 4 is left; b waits for c as before. With a ceiling for the other, c may
    have the lock when b comes, so nothing changes."""
    found = read(tmp_path / "s.camkes", {})
    assert found is not None
    assert longest_responses(found) == {"a": 14, "b": 16, "c": 18}
    effects = proposals(found)
    assert effects["lock.p", Protocol.FIXED] == {"a": 11}
    assert effects["lock.p", Protocol.PROPAGATED] == {"a": 11, "b": 13}
    assert ("other.p", Protocol.FIXED) not in effects


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    ("settings", "rejected"),
    [
        ({}, set()),
        # without a ceiling it needs a thread for each of the two tasks
        (
            {"lock.p_priority_protocol": '"fixed"', "lock.p_num_threads": "1"},
            {("lock.p", Protocol.INHERITED), ("lock.p", Protocol.PROPAGATED)},
        ),
        ({"lock.p_priority_protocol": '"fixed"', "lock.p_priority": "255"}, set()),
        # a request to deep has the ceiling of pool then
        (
            {"deep.p_priority_protocol": '"fixed"', "deep.p_priority": "30", "pool.p_priority": "31"},
            {("pool.p", Protocol.FIXED)},
        ),
    ],
)
def test_each_proposed_protocol_is_one_that_the_checks_accept(
    settings: dict[str, str], rejected: set[tuple[str, Protocol]], tmp_path: Path
) -> None:
    """And each other one that shortens a response is proposed; the responses are those of the text in which
    the protocol is changed."""
    found = read(tmp_path / "s.camkes", settings)
    assert found is not None
    before, proposed = longest_responses(found), proposals(found)
    expected, not_accepted = {}, set()
    for cpi in found.system.cpis:
        for protocol in set(Protocol) - {cpi.protocol}:
            stated = {f"{cpi.name}_priority_protocol": f'"{protocol.value}"'}
            other = read(tmp_path / "other.camkes", settings | stated)
            if other is None:
                not_accepted.add((cpi.name, protocol))
                continue
            after = longest_responses(other)
            rows = {name: then for name, then in after.items() if then != before[name]}
            if any(then < (before[name] or 0) for name, then in rows.items() if then is not None):
                expected[cpi.name, protocol] = rows
    assert not_accepted == rejected
    assert proposed == expected


SYSTEM = (
    (GOLDEN / "infeasible" / "cannot_work.camkes")
    .read_text()
    .replace("radar._wcet = 4 ms", "radar._wcet = 1 ms")
)


def priorities(path: Path) -> dict[str, int | None]:
    found = pipeline.check(pipeline.Input(path), Sink())
    assert found is not None
    return {task.instance: task.priority for task in found.system.tasks}


def test_priorities_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.camkes"
    swapped = SYSTEM.replace("radar._priority = 20", "radar._priority = 10", 1)
    path.write_text(swapped.replace("video._priority = 10", "video._priority = 20", 1))
    before = path.read_text()
    assert main(["analyze", str(path)]) == 1
    capsys.readouterr()
    assert main(["analyze", str(path), "--assign", "audsley", "--json"]) == 0
    document = conforming("analyze", capsys.readouterr().out)
    assert document["assignment"] == {"policy": "audsley", "priorities": {"radar": 20, "video": 10}}
    assert {task["name"]: task["priority"] for task in document["tasks"]} == {"radar": 20, "video": 10}
    assert path.read_text() == before
    assert main(["analyze", str(path), "--assign", "rm", "--write"]) == 0
    assert priorities(path) == {"radar": 20, "video": 10}
    assert path.read_text() == SYSTEM  # nothing else has changed
    assert main(["analyze", str(path), "--write"]) == 2


def test_no_priorities_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.camkes"
    path.write_text(SYSTEM.replace("radar._wcet = 1 ms", "radar._wcet = 4 ms"))
    assert main(["analyze", str(path), "--assign", "audsley", "--write"]) == 1
    assert "no priorities were found" in capsys.readouterr().err


def test_priorities_that_the_checks_reject_are_not_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Deadline-monotonic, c has the highest priority, above the stated ceiling of its lock."""
    path = tmp_path / "s.camkes"
    settings = {"lock.p_priority_protocol": '"fixed"', "lock.p_priority": "20", "c._deadline": "20 ns"}
    text = SHARED.replace("a._priority = 30; b._priority = 20;", "a._priority = 20; b._priority = 30;")
    path.write_text(text % " ".join(f"{name} = {value};" for name, value in settings.items()))
    before = path.read_text()
    assert main(["analyze", str(path), "--assign", "dm", "--write"]) == 1
    error = capsys.readouterr().err
    assert "the computed priorities are rejected: the ceiling of `lock.p` is below" in error
    assert path.read_text() == before


def test_a_task_without_a_period_keeps_its_priority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no bound, and none to keep: the others get priorities above it."""
    path = tmp_path / "s.camkes"
    path.write_text(
        shared_store(
            "a._priority = 10; a._period = 10 ms; a._wcet = 4 ms;",
            "b._priority = 5; b._wcet = 1 ms;",
            "d._priority = 20; d._period = 40 ms; d._wcet = 12 ms; s.store_wcet = 1 ms;",
        ).replace("component Task b;", "component Task b; component Alone d;")
        .replace("assembly {", "component Alone { control; requestor; }\nassembly {")
    )  # fmt: skip
    assert main(["analyze", str(path)]) == 1
    capsys.readouterr()
    assert main(["analyze", str(path), "--assign", "audsley", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["assignment"]["priorities"] == {"a": 20, "d": 10}


def test_sensitivity_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.camkes"
    path.write_text(SYSTEM)
    assert main(["analyze", str(path), "--sensitivity", "--json"]) == 0
    found = conforming("analyze", capsys.readouterr().out)["sensitivity"]
    # radar has 5 ms for itself and the lock, and 2 ms of blocking
    assert found["margins"][0] == {"name": "radar", "kind": "task", "now": 1_000_000, "longest": 1_000_000}
    assert main(["analyze", str(path), "--sensitivity"]) == 0
    text = capsys.readouterr().out
    assert "db.store  inherited  propagated*  met if     radar 5 ms -> 3 ms" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("configuration { a.x = 1; }", "configuration { a.x = 1; t._wcet = 5 us; }"),
        ("", "    configuration {\n        t._wcet = 5 us;\n    }\n"),
        (
            "configuration {\n a.x = 1; // }\n}",
            "configuration {\n a.x = 1; // }\n        t._wcet = 5 us;\n}",
        ),
        (
            'configuration {\n a.y = "}";\n}',
            'configuration {\n a.y = "}";\n        t._wcet = 5 us;\n}',
        ),
    ],
)
def test_settings_that_are_new(text: str, expected: str, tmp_path: Path) -> None:
    system = (
        "component T { control; requestor; }\n"
        'component A { attribute int x = 0; attribute string y = ""; }\n'
        "assembly { composition { component T t; component A a; }\n%s}\n"
    )
    path = tmp_path / "s.camkes"
    path.write_text(system % text)
    asked = pipeline.Input(path, preprocess=False)
    found = pipeline.sketch(asked, Sink())
    assert found is not None
    assert write_settings(found, {("t", "_wcet"): "5 us"}, Sink()) == (path,)
    assert path.read_text() == system % expected
    again = pipeline.sketch(asked, Sink())
    assert again is not None and again.system.tasks[0].wcet == 5000


def test_settings_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name, a sum, and one text for two instances; nothing is written."""
    monkeypatch.chdir(tmp_path)
    text = """component T { control; requestor; }
component Two {
    composition { component T t; }
    configuration { t._priority = 7; }
}
assembly {
    composition { component T a; component T b; component T c; component Two one; component Two two; }
    configuration {
        a._priority <- b.prio;
        b.prio = 5;
        b._priority = 4 + 2;
        c._priority = 3;
    }
}
""".replace(
        "component T { control; requestor; }", "component T { control; requestor; attribute int prio = 0; }"
    )
    Path("s.camkes").write_text(text)
    found = pipeline.sketch(pipeline.Input(Path("s.camkes"), preprocess=False), Sink())
    assert found is not None
    sink = Sink()
    values = {"a": "9", "b": "9", "c": "9", "one.t": "9", "two.t": "8"}
    assert write_settings(found, {(n, "_priority"): v for n, v in values.items()}, sink) == ()
    assert Path("s.camkes").read_text() == text
    compare(render(sink.diagnostics, Style(Form.TEXT)), GOLDEN / "settings_not_written.txt")
    good = {("c", "_priority"): "9", ("one.t", "_priority"): "8", ("two.t", "_priority"): "8"}
    assert write_settings(found, good, Sink()) == (tmp_path / "s.camkes",)
    assert Path("s.camkes").read_text() == text.replace("= 7", "= 8").replace("= 3", "= 9")
