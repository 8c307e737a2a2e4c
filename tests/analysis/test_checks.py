# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The exact diagnostics of systems that have no analysis; and that others have one."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest
from msgspec import UNSET

from camkes import pipeline
from camkes.analysis.blocking import PossibleWaits
from camkes.analysis.demand import demands, request_parts
from camkes.analysis.platform import FREE, Halves, Platform
from camkes.analysis.profiles import find_platform, names, read_platform
from camkes.analysis.sections import RequestSection
from camkes.analysis.verdict import Verdict, analyse, analyse_system, responses
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask, workload_of
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Form, Style, render
from camkes.model.protocols import Protocol
from camkes.project.application import KERNEL_IS_MCS
from camkes.showing import plan_json, plan_tables
from camkes.showing.analysis import explain, to_text
from camkes.showing.analysis_json import to_report
from tests.analysis.random_systems import RandomSystem
from tests.golden import compare, compare_part

pytestmark = pytest.mark.requirement("AN-14")

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", [path.stem for path in sorted(GOLDEN.glob("*.camkes"))])
def test_systems_without_an_analysis(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    sink = Sink()
    path = Path(f"{name}.camkes")
    mcs = ((KERNEL_IS_MCS, "ON"),) if "// on an MCS kernel" in path.read_text() else ()
    checked = pipeline.check(pipeline.Input(path, definitions=mcs), sink)
    assert checked is not None
    analysis = analyse_system(checked.system, checked.plan, FREE, sink)
    assert analysis is None or not analysis.good
    compare(render(sink.diagnostics, Style(Form.TEXT)), GOLDEN / f"{name}.txt")


def test_an_infeasible_task_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """C is 6 ms in 10 ms for radar, whose deadline is 5 ms, and 10 ms in 20 ms for video: 1.1 in all."""
    monkeypatch.chdir(GOLDEN / "infeasible")
    sink = Sink()
    assert pipeline.check(pipeline.Input(Path("cannot_work.camkes")), sink) is not None
    compare(render(sink.diagnostics, Style(Form.TEXT)), GOLDEN / "cannot_work.txt")


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (("radar._wcet = 4 ms", "radar._wcet = 3 ms"), []),  # 5 ms in 10 ms and in the deadline; 1 in all
        (("radar._wcet = 4 ms", "radar._wcet = 3001 us"), ["W0908"]),  # not W0907, too: one mistake
        (("radar._wcet = 4 ms;  radar._deadline = 5 ms", "radar._wcet = 3001 us"), ["W0907"]),
        (("video._wcet = 8 ms", "video._wcet = 1 ms"), ["W0908"]),
        (("db.store_wcet = 2 ms;", ""), []),  # what is not stated counts as 0: 4 ms and 8 ms
    ],
)
def test_warnings_begin_at_utilisation_above_one(
    change: tuple[str, str], codes: list[str], tmp_path: Path
) -> None:
    text = (GOLDEN / "infeasible" / "cannot_work.camkes").read_text()
    (tmp_path / "s.camkes").write_text(text.replace(*change))
    sink = Sink()
    assert pipeline.check(pipeline.Input(tmp_path / "s.camkes"), sink) is not None
    assert sorted(each.code.number for each in sink.diagnostics) == codes


def test_the_plan_shows_times_where_they_are_stated(tmp_path: Path) -> None:
    """C, B and R are those of the analysis; without an execution time there are no such columns."""
    text = (
        (GOLDEN / "infeasible" / "cannot_work.camkes")
        .read_text()
        .replace("radar._wcet = 4 ms", "radar._wcet = 1 ms")
    )
    for without in ("", "db.store_wcet = 2 ms;"):
        (tmp_path / "s.camkes").write_text(text.replace(without, "") if without else text)
        result = pipeline.check(pipeline.Input(tmp_path / "s.camkes"), Sink())
        assert result is not None
        analysis = responses(result.system, result.plan)
        tasks = plan_json.to_report(result.plan, analysis).tasks
        head = plan_tables.to_text(result.plan, analysis).splitlines()[0].split()
        if without:
            assert analysis is None and tasks[0].wcet is UNSET and head == ["task", "id", "priority"]
        else:  # video: 10 ms + 2 jobs of radar, 3 ms each
            times = [(task.wcet, task.blocking, task.response) for task in tasks]
            assert times == [(3_000_000, 2_000_000, 5_000_000), (10_000_000, 0, 16_000_000)]
            assert head == ["task", "id", "priority", "C", "B", "R"]


def test_nested_example(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = Sink()
    checked = pipeline.check(pipeline.Input(EXAMPLES / "nested"), sink)
    assert checked is not None and not sink.diagnostics
    workload = workload_of(checked.system, checked.plan)
    assert not workload.obstacles
    for name in names():
        analysis = analyse(workload, read_platform(name))
        for task, result in zip(to_report(analysis).tasks, analysis.tasks, strict=True):
            assert task.verdict is Verdict.MET and task.response is not None
            assert task.response <= task.deadline
            text = explain(workload, analysis, result.task.name)
            assert text is not None and "B = " in text and "R = " in text
        assert "can be missed" not in to_text(analysis)
    assert explain(workload, analysis, "nobody") is None


def test_tables_in_narrow_terminals() -> None:
    """In 80 and 60 columns, each line fits, and each time is one of the whole table."""
    checked = pipeline.check(pipeline.Input(EXAMPLES / "nested"), Sink())
    assert checked is not None
    workload = workload_of(checked.system, checked.plan)
    analysis = analyse(workload, read_platform("qemu-x86_64"))
    whole = to_text(analysis)
    times = re.compile(r"[\d.]+ [num]?s")
    for width in (80, 60):
        text = to_text(analysis, width=width)
        assert all(len(line) <= width for line in text.splitlines())
        assert set(times.findall(text)) <= set(times.findall(whole))
        compare_part(text, f"nested, {width}", GOLDEN / "narrow.txt")


def test_the_sections_of_a_task_are_explained_to_the_last_request() -> None:
    """b holds x, with 3 of its own and two requests to y, 2 each; one of them is in f, at a ceiling."""
    cpis = (
        WorkloadCpi("x", Protocol.INHERITED, 3, {"y": 2}),
        WorkloadCpi("y", Protocol.PROPAGATED, 2),
        WorkloadCpi("f", Protocol.FIXED, 5, {}, 2),
    )
    tasks = (
        WorkloadTask("a", 2, 99, 99, 1, {"x": 1, "f": 1}),
        WorkloadTask("b", 1, 99, 99, 1, {"x": 1}),
        WorkloadTask("c", 1, 99, 99, 1, {"f": 1}),
    )
    workload = Workload(tasks, cpis)
    text = explain(workload, analyse(workload, Platform("p", plain=Halves(1, 0))), "a")
    assert text is not None
    lines = text.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("B = "))
    assert [" ".join(line.split()) for line in lines[first : first + 5]] == [
        "B = 13 ns, blocking by tasks of lower priority",
        "8 ns b in x: holds its lock, or is ahead in its queue",
        "4 ns x: 1 request of 3 ns + 1 ns overhead",
        "4 ns y: 2 requests of 2 ns",
        "5 ns c in f: executes at a ceiling",
    ]


@pytest.mark.parametrize(
    ("wait", "what", "why"),
    [
        (False, "request", "holds its lock, or is ahead in its queue"),
        (True, "wait", "its helpers are at work for it, or will be before"),
    ],
)
def test_requests_to_a_monitor_are_called_requests(wait: bool, what: str, why: str) -> None:
    cpi = WorkloadCpi("m.p", Protocol.INHERITED, 3, lock="m.k", wait=wait)
    tasks = (WorkloadTask("a", 2, 99, 99, 1, {"m.p": 1}), WorkloadTask("b", 1, 99, 99, 1, {"m.p": 1}))
    workload = Workload(tasks, (cpi,))
    text = explain(workload, analyse(workload, FREE), "a") or ""
    assert f"m.p: 1 {what} of 3 ns\n" in text and f"b in m.p: {why}\n" in text


@pytest.mark.parametrize("platform", names())
def test_the_parts_of_a_request_are_its_time(platform: str) -> None:
    for seed in range(10):
        workload = RandomSystem(random.Random(seed)).workload
        machine = read_platform(platform)
        for name, time in demands(workload, machine).of_request.items():
            assert sum(part.total for part in request_parts(workload, machine, name)) == time


def test_nothing_but_what_is_installed_to_run_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "numpy", None)
    found = [RequestSection(f"t{i}", f"c{k}", 10 * i + k) for i in range(3) for k in range(3)]
    blocking = PossibleWaits(tuple(found), {f"c{k}": ((-1, 100, 1, 0),) for k in range(3)}).within(50)
    assert (blocking.assignment, blocking.exact, blocking.least) == (33, 33, 33)


def test_platforms_that_are_not_there_or_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = ('clock = "fast"', "clock = 0", "clocks = 1", "clock = ", 'runtime = "other"', "plain.call = -1")
    texts += (
        "# costs\n[plain]\ncal = 1  # of a request",
        "[inherited.locked]\n  call = 1.5",
        "[plain\n",
        "[clock]",
    )
    sink = Sink()
    assert find_platform("unknown", sink) is None
    for number, text in enumerate(texts):
        (tmp_path / f"p{number}.toml").write_text(text)
        assert find_platform(f"p{number}.toml", sink) is None
    (tmp_path / "p.toml").mkdir()
    assert find_platform("p.toml", sink) is None
    (tmp_path / "latin.toml").write_bytes(b'source = "\xe9"')
    assert find_platform("latin.toml", sink) is None
    compare(render(sink.diagnostics, Style(Form.TEXT)), GOLDEN / "platform_profiles.txt")
