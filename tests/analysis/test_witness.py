# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Cases for response times: found, written, and replayed on the host kernel."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.assignment import changed
from camkes.analysis.platform import FREE
from camkes.analysis.profiles import read_platform
from camkes.analysis.replay import Replay, read_replay, to_json, write_model
from camkes.analysis.simulation import program
from camkes.analysis.supply import supply_of
from camkes.analysis.verdict import Verdict, analyse
from camkes.analysis.witness import Quality, Witness, witnesses
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask, workload_of
from camkes.cli.main import main
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Form, Style, render
from camkes.model.protocols import Protocol
from tests.analysis.enumeration import banded_workload, divided
from tests.analysis.pools import with_pools
from tests.analysis.random_systems import RandomSystem
from tests.analysis.shared_store import shared_store
from tests.documents import conforming
from tests.golden import compare

pytestmark = pytest.mark.requirement("AN-12")

GOLDEN = Path(__file__).parent / "golden"
NESTED = Path(__file__).parents[2] / "examples" / "nested"
FIXED, INHERITED = Protocol.FIXED, Protocol.INHERITED


@pytest.mark.long
@given(st.integers(0, 2**32 - 1), st.sampled_from(("none", "sudvarg2024-intel")))
def test_no_case_is_worse_than_the_bound(seed: int, platform: str) -> None:
    system = RandomSystem(random.Random(seed))
    analysis = analyse(system.workload, read_platform(platform))
    for name, witness in witnesses(system.workload, analysis, 20_000).items():
        assert witness.bound is None or witness.response <= witness.bound, (name, seed)
        if witness.quality is Quality.MISS:
            verdict = next(each.verdict for each in analysis.tasks if each.task.name == name)
            assert verdict is not Verdict.MET


@pytest.mark.long
def test_nearly_all_bounds_are_attained() -> None:
    """Of systems with unique priorities; for a hundred of seeds, at least 99 %."""
    attained = bounded = 0
    for seed in range(300):
        system = RandomSystem(random.Random(seed))
        if len(set(system.priorities)) == len(system.priorities):
            for witness in witnesses(system.workload, analyse(system.workload, FREE), 60_000).values():
                bounded += witness.bound is not None
                attained += witness.response == witness.bound
    assert bounded > 300
    assert attained >= 0.99 * bounded


def test_waiting_twice_for_one_lock() -> None:
    """a requests the lock twice, b and c, lower, hold it and wait for it: a waits for both, each in one of
    its requests. 2 * 1 + 1 + 1. Were the lock counted once, it would be 3."""
    workload = Workload(
        (
            WorkloadTask("a", 30, 100, 100, 0, {"lock": 2}),
            WorkloadTask("b", 20, 100, 100, 5, {"lock": 1}),
            WorkloadTask("c", 10, 100, 100, 5, {"lock": 1}),
        ),
        (WorkloadCpi("lock", INHERITED, 1),),
    )
    found = witnesses(workload, analyse(workload, FREE))
    assert (found["a"].response, found["a"].quality) == (4, Quality.ATTAINED)


def test_a_lower_ceiling_is_entered_first() -> None:
    """b holds the lock for 3; c, lower, is at its ceiling for 7. Not both: c does not execute once b has the
    lock, and b does not execute once c is at its ceiling. So a waits for 7, and not for 10."""
    workload = Workload(
        (
            WorkloadTask("a", 30, 1000, 1000, 4, {"ceiling": 1, "lock": 1}),
            WorkloadTask("b", 20, 1000, 1000, 5, {"lock": 1}),
            WorkloadTask("c", 10, 1000, 1000, 5, {"ceiling": 1}),
        ),
        (WorkloadCpi("ceiling", FIXED, 7, {}, 30), WorkloadCpi("lock", INHERITED, 3)),
    )
    analysis = analyse(workload, FREE)
    assert (analysis.tasks[0].blocking.exact, analysis.tasks[0].blocking.assignment) == (7, 10)
    assert witnesses(workload, analysis)["a"].quality is Quality.ATTAINED


def test_a_ceiling_on_the_way_to_a_section() -> None:
    """d enters f, whose ceiling is that of b, and requests the lock m there, 7; c, between the two, holds the
    lock n, 3. Not both: whoever of them is first keeps the other one from executing. b holds k, 100."""
    workload = Workload(
        (
            WorkloadTask("a", 40, 1000, 1000, 4, {"m": 1, "n": 1, "k": 1}),
            WorkloadTask("b", 25, 1000, 1000, 1, {"f": 1, "k": 1}),
            WorkloadTask("c", 20, 1000, 1000, 5, {"n": 1}),
            WorkloadTask("d", 10, 1000, 1000, 5, {"f": 1}),
        ),
        (
            WorkloadCpi("f", FIXED, 2, {"m": 1}, 25),
            WorkloadCpi("m", INHERITED, 7),
            WorkloadCpi("n", INHERITED, 3),
            WorkloadCpi("k", INHERITED, 100),
        ),
    )
    first = analyse(workload, FREE).tasks[0]
    assert (first.blocking.exact, first.blocking.assignment) == (107, 110)


def test_requests_in_a_section_that_is_not_chosen() -> None:
    """a requests x once, so it waits for c or d, 10 each; for both only if b is in g, 12, which requests x.
    But b in z is 50: 50 + 10, more than 12 + 20."""
    workload = Workload(
        (
            WorkloadTask("a", 40, 1000, 1000, 1, {"x": 1, "z": 1}),
            WorkloadTask("b", 30, 1000, 1000, 5, {"g": 1, "z": 1}),
            WorkloadTask("c", 20, 1000, 1000, 5, {"x": 1}),
            WorkloadTask("d", 10, 1000, 1000, 5, {"x": 1}),
        ),
        (
            WorkloadCpi("g", FIXED, 2, {"x": 1}, 255),
            WorkloadCpi("x", INHERITED, 10),
            WorkloadCpi("z", INHERITED, 50),
        ),
    )
    analysis = analyse(workload, FREE)
    first = analysis.tasks[0]
    assert (first.blocking.exact, first.blocking.assignment) == (60, 70)
    assert witnesses(workload, analysis)["a"].quality is Quality.ATTAINED


def test_an_overload_has_a_miss() -> None:
    """The processor is needed 1.01 times. The first deadline that is missed comes late."""
    workload = Workload((WorkloadTask("a", 2, 100, 100, 51), WorkloadTask("b", 1, 200, 200, 100)), ())
    found = witnesses(workload, analyse(workload, FREE))
    assert found["b"].bound is None and found["b"].quality is Quality.MISS
    assert found["a"].quality is Quality.ATTAINED


def test_jobs_without_work_take_no_time() -> None:
    workload = Workload((WorkloadTask("a", 2, 100, 100, 0), WorkloadTask("b", 1, 200, 200, 0)), ())
    found = witnesses(workload, analyse(workload, FREE))
    assert [(each.response, each.quality) for each in found.values()] == [(0, Quality.ATTAINED)] * 2


def test_a_task_without_a_search() -> None:
    workload = Workload((WorkloadTask("a", 2, 100, 100, 51), WorkloadTask("b", 1, 200, 200, 50)), ())
    assert witnesses(workload, analyse(workload, FREE), effort=0) == {}


MISSING = shared_store(
    "a._priority = 20; a._period = 10 ms; a._wcet = 2 ms; a._deadline = 4 ms;",
    "b._priority = 10; b._period = 20 ms; b._wcet = 2 ms;",
    "s.store_wcet = 1500 us;",
)


@pytest.mark.long
def test_a_miss_on_the_host_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """a needs 3.5 ms, and waits for 1.5 ms: it ends 1 ms too late. The components have no sources."""
    monkeypatch.chdir(tmp_path)
    Path("s.camkes").write_text(MISSING)
    text = ["--console", "console.txt"]
    assert main(["analyze", "--nocpp", "s.camkes", "--witnesses", "cases", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    conforming("replay", Path("cases/a.json").read_text())
    case = {"response": 5_000_000, "release": 1, "quality": "miss", "gap": 0}
    assert (document["tasks"][0]["verdict"], document["tasks"][0]["witness"]) == ("missed", case)
    run = ["run", "--nocpp", "s.camkes", "--replay", "cases/a.json", "--json", "--fail-on", "missed", *text]
    assert main([*run, "--timeline", "a.svg"]) == 1
    task = json.loads(capsys.readouterr().out)["tasks"][0]
    assert (task["name"], task["response"]["max"], task["missed"]) == ("a", 5_000_000, 1)
    assert "missed" in Path("a.svg").read_text()
    # the same releases after the deadline was made longer
    Path("s.camkes").write_text(MISSING.replace("a._deadline = 4 ms", "a._deadline = 5 ms"))
    assert main(run) == 0


@pytest.mark.long  # as a miss on the host kernel above
@pytest.mark.parametrize("seed", (61, 254))
def test_random_cases_on_the_host_kernel(seed: int, tmp_path: Path) -> None:
    """Mixed protocols, nested: the kernel's responses are those of the simulation."""
    workload = RandomSystem(random.Random(seed)).workload
    found = witnesses(workload, analyse(workload, FREE), 60_000)
    replay(workload, max(found.values(), key=lambda each: len(set(each.program.offsets.values()))), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", (29, 229, 325, 376, 484, 561))
def test_pools_on_the_host_kernel(seed: int, tmp_path: Path) -> None:
    """CPIs with as few threads as suffice: responses are those of the model, where no request waits for a
    thread. In the first, a `fixed` CPI and two tasks share two threads, and no lock is above them."""
    workload = with_pools(RandomSystem(random.Random(seed)).workload, tmp_path / "all")
    assert any(cpi.pool for cpi in workload.cpis)
    for witness in witnesses(workload, analyse(workload, FREE), 60_000).values():
        if witness.bound is not None:  # else its job may not end
            replay(workload, witness, tmp_path / witness.task)


@pytest.mark.long
@pytest.mark.parametrize("name", ("task", "first", "second", "third"))
def test_cases_with_releases_by_events_on_the_host_kernel(name: str, tmp_path: Path) -> None:
    tasks = (
        WorkloadTask("first", 10, 20_000, 20_000, 1_000, {"s": 1}),
        WorkloadTask("second", 30, 20_000, 20_000, 4_000, {"s": 1}, "first", timed=False),
        WorkloadTask("third", 5, 20_000, 40_000, 1_000, {}, "second", timed=False),
        WorkloadTask("task", 20, 40_000, 40_000, 6_000, {"s": 1}),
    )
    workload = Workload(tasks, (WorkloadCpi("s", INHERITED, 500),))
    found = witnesses(workload, analyse(workload, FREE))
    assert found[name].response > 0
    replay(workload, found[name], tmp_path)


EMITTING = Workload(
    (
        WorkloadTask("a", 2, 60_000, 60_000, 3_000, {"l": 1}),
        WorkloadTask("b", 1, 60_000, 60_000, 1_000, {}, "a", timed=False, event=("a.b",)),
    ),
    (WorkloadCpi("l", INHERITED, 2_000),),
)


def test_a_job_emits_before_its_work(tmp_path: Path) -> None:
    """b waits for all of a, 5,000, if a emits first: in the case, its file, the model and its run."""
    witness = witnesses(EMITTING, analyse(EMITTING, FREE))["b"]
    assert (witness.response, witness.quality) == (6_000, Quality.ATTAINED)
    file = tmp_path / "case.json"
    file.write_text(to_json(witness))
    case = read_replay(file, EMITTING, Sink())
    assert case is not None and case.program == witness.program
    write_model(EMITTING, witness.program, tmp_path / "model")
    code = (tmp_path / "model" / "A.c").read_text()
    assert code.count("emit()") == 1 and code.index("b_emit();") < code.index("camkes_work(")
    alone = Workload((replace(EMITTING.tasks[0]), replace(EMITTING.tasks[1], after="")), EMITTING.cpis)
    sink = Sink()
    assert read_replay(file, alone, sink) is None
    assert any(
        "does not request ``" in note for note in (*sink.diagnostics[0].notes, sink.diagnostics[0].message)
    )


@pytest.mark.long
def test_a_case_that_emits_before_its_work_on_the_host_kernel(tmp_path: Path) -> None:
    replay(EMITTING, witnesses(EMITTING, analyse(EMITTING, FREE))["b"], tmp_path)


def test_an_equal_interrupts_a_ceiling_on_the_way() -> None:
    """c has the lock n, 7, in f, whose ceiling is the priority of b. b, the first of the two, takes m, 4, all
    the same. Then a is released, and waits for both: 1 + 4 + 7 of its own, and 4 + 7."""
    workload = Workload(
        (
            WorkloadTask("a", 9, 1000, 1000, 1, {"m": 1, "n": 1}),
            WorkloadTask("b", 5, 1000, 1000, 9, {"m": 1, "f": 1}),
            WorkloadTask("c", 1, 1000, 1000, 9, {"f": 1}),
        ),
        (
            WorkloadCpi("f", FIXED, 5, {"n": 1}, 5),
            WorkloadCpi("m", INHERITED, 4),
            WorkloadCpi("n", INHERITED, 7),
        ),
    )
    found = witnesses(workload, analyse(workload, FREE))["a"]
    assert (found.response, found.quality) == (23, Quality.ATTAINED)
    assert found.program.equals[-1:] == ("b",)
    case = msgspec.json.decode(to_json(found), type=Replay)
    assert case.program == found.program


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_cases_with_deadlines_on_the_host_kernel(seed: int, tmp_path: Path) -> None:
    """Some tasks are ordered by their deadlines, others are above and below, all with requests. Which of two
    with equal deadlines or priorities goes first, the host kernel decides."""
    small = banded_workload(random.Random(seed))
    ordered = [(task.band, task.deadline if task.band else task.priority) for task in small.tasks]
    workload = divided(small, 1_000)
    for witness in witnesses(workload, analyse(workload, FREE)).values():
        if witness.bound is not None:
            assert witness.response <= witness.bound
            if len(ordered) == len(set(ordered)):
                replay(workload, witness, tmp_path / witness.task)


MONITOR = Workload(
    (
        WorkloadTask("a", 4, 40_000, 40_000, 1_000, {"m.put": 1}),
        WorkloadTask("b", 3, 80_000, 80_000, 2_000, {"m.get": 2}),
        WorkloadTask("c", 2, 80_000, 80_000, 2_000, {"o": 1, "m.put": 1}),
        WorkloadTask("d", 1, 80_000, 80_000, 2_000, {"x.y": 1}),
    ),
    (
        WorkloadCpi("o", FIXED, 500, {"m.get": 1}, 4),
        WorkloadCpi("m.put", INHERITED, 1_000, {"x.y": 1}, lock="m.k"),
        WorkloadCpi("m.get", INHERITED, 3_000, {"x.y": 2}, lock="m.k"),
        WorkloadCpi("x.y", INHERITED, 500),
    ),
)


@pytest.mark.long
@pytest.mark.parametrize("name", ("a", "b", "c", "d"))
def test_cases_with_a_monitor_on_the_host_kernel(name: str, tmp_path: Path) -> None:
    replay(MONITOR, witnesses(MONITOR, analyse(MONITOR, FREE))[name], tmp_path)


def test_the_model_of_a_monitor(tmp_path: Path) -> None:
    """Its interfaces are those of one component, which has one connection to what both request."""
    text = write_model(MONITOR, program(MONITOR), tmp_path).read_text()
    protocol = "with priority_protocol inherited, monitor lock, requests (to_x_y);"
    assert (
        f"provides Request m_put {protocol} provides Request m_get {protocol} uses Request to_x_y; }}" in text
    )
    assert "of_x_y(from d.to_x_y, from m_k.to_x_y, to x_y.p);" in text
    assert "of_m_get(from b.to_m_get, from o.to_m_get, to m_k.m_get);" in text
    assert (tmp_path / "M_K.c").read_text().count("_go(void)") == 2


def with_waits(*, any_order: bool) -> Workload:
    """Two tasks wait for a server, which requests a lock; one of them in a CPI, and another task also for a
    second server, which waits for the first."""

    def wait(name: str, work: int, requests: dict[str, int]) -> WorkloadCpi:
        return WorkloadCpi(name, INHERITED, work, requests, lock="s", any_order=any_order, wait=True)

    return Workload(
        (
            WorkloadTask("a", 9, 90_000, 90_000, 2_000, {"a.told": 1}),
            WorkloadTask("b", 8, 90_000, 90_000, 3_000, {"c": 1}),
            WorkloadTask("d", 7, 90_000, 90_000, 1_000, {"d.told": 1, "x": 1}),
            WorkloadTask("e", 6, 90_000, 90_000, 2_000, {"e.told": 1}),
        ),
        (
            WorkloadCpi("c", Protocol.PROPAGATED, 500, {"c.told": 1}),
            WorkloadCpi("x", INHERITED, 1_500),
            wait("a.told", 2_000, {"x": 1}),
            wait("c.told", 4_000, {"x": 1}),
            wait("d.told", 3_000, {}),
            WorkloadCpi("e.told", INHERITED, 1_000, {"r.told": 1}, lock="r", wait=True),
            wait("r.told", 1_000, {}),
        ),
    )


@pytest.mark.long
@pytest.mark.parametrize("any_order", (False, True))
@pytest.mark.parametrize("name", ("a", "b", "d", "e"))
def test_cases_with_waits_on_the_host_kernel(name: str, any_order: bool, tmp_path: Path) -> None:
    workload = with_waits(any_order=any_order)
    replay(workload, witnesses(workload, analyse(workload, FREE))[name], tmp_path, less=10)


def test_the_model_of_waits(tmp_path: Path) -> None:
    workload = with_waits(any_order=False)
    text = write_model(workload, program(workload), tmp_path).read_text()
    waits = "dataport Buf queue_s; emits Ask ask_s; consumes Done done_a_told with helpers;"
    assert f"component A {{ control; requestor; {waits}" in text
    assert "asks_s(from a.ask_s, from d.ask_s, from c.ask_s, from r.ask_s, to s.ask);" in text
    assert "done_4(from s.done_4, to c.done_c_told);" in text
    assert "s._priority = 5;" in text and "uses Request to_x; }" in text
    server = (tmp_path / "S.c").read_text()
    assert "urgency[] = {0, 9, 7, 0, 8, 6};" in server
    assert "case 1:\n        done_1_emit();\n" in server
    assert "case 1:\n        camkes_work(2000u);\n        to_x_go();\n        break;\n" in server
    workload = with_waits(any_order=True)
    write_model(workload, program(workload), tmp_path)
    assert "urgency[] = {0, 0, 0, 0, 0, 0};" in (tmp_path / "S.c").read_text()


def test_methods_in_a_domain(tmp_path: Path) -> None:
    """The domain of an interface is stated once, however many methods it has, and the case runs."""
    slots = supply_of([(1, 3_000_000), (0, 2_000_000)], 1)
    cpis = [
        WorkloadCpi(f"c.p.{name}", Protocol.INHERITED, 500_000, {}, lock="c.p", interface="c.p", domain=1)
        for name in ("get", "put")
    ]
    task = WorkloadTask("t", 5, 50_000_000, 50_000_000, 1_000_000, {"c.p.get": 1, "c.p.put": 1}, domain=1)
    workload = changed(Workload((task,), tuple(cpis), supplies={1: slots}))
    witness = witnesses(workload, analyse(workload, FREE))["t"]
    text = write_model(workload, witness.program, tmp_path / "text").read_text()
    assert text.count("_domain = 1;") == 3  # the task, the instance, and its interface
    replay(workload, witness, tmp_path)


def replay(workload: Workload, witness: Witness, folder: Path, less: int = 0) -> None:
    """The response on the host kernel is that of the case, or so many nanoseconds `less`."""
    root = write_model(workload, witness.program, folder / "model")
    settings = pipeline.RunSettings(
        output=folder / "out", duration=witness.duration + 1 + 2 * less, fast=True, verify=True
    )
    outcome = pipeline.run(pipeline.Input(root, preprocess=False), settings, Sink(), lambda _: None)
    assert outcome is not None
    report = json.loads(outcome.report_json())
    assert not report["violations"]
    task = next(each for each in report["tasks"] if each["name"] == witness.task)
    assert witness.response - less <= task["response"]["max"] <= witness.response


def test_files_that_are_not_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checked = pipeline.check(pipeline.Input(NESTED), Sink())
    assert checked is not None
    workload = workload_of(checked.system, checked.plan)
    good = to_json(witnesses(workload, analyse(workload, FREE))["t1"])
    other = json.loads(good)
    other["tasks"][0]["name"] = "t9"
    other["cpis"][0]["body"].append("b.r")
    texts = {"good": good, "cut": good[:100], "other": json.dumps(other), "list": "[]", "empty": ""}
    texts["negative"] = good.replace('"offset": 0', '"offset": -1')
    sink = Sink()
    for name, text in texts.items():
        Path(f"{name}.json").write_text(text)
        assert (read_replay(Path(f"{name}.json"), workload, sink) is not None) == (name == "good")
    assert read_replay(Path("nothing.json"), workload, sink) is None
    compare(render(sink.diagnostics, Style(Form.TEXT)), GOLDEN / "replay_files.txt")
