# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Two runs of a system beside each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.diagnostics import Sink
from camkes.model.limits import NO_NUMBER
from camkes.running.comparison import ComparedJob, ComparedStep, Comparison, Recorded, compare
from camkes.running.decode import decode
from camkes.running.events import Event, encode_records
from camkes.running.kinds import EndReason, Kind
from camkes.running.names import NamedContext, TraceNames, save_names
from camkes.showing.beside import comparison_page, comparison_text
from tests.command import camkes
from tests.documents import conforming
from tests.report.test_decode import plain_rpc

pytestmark = pytest.mark.requirement("TOOL-14")

#: two tasks, `b` above `a`, whose first jobs end at 7 and 12 ms
NAMES = replace(
    plain_rpc()[1], contexts=(NamedContext(0, "a", True, 10), NamedContext(1, "b", True, 20)), services=("",)
)
STEPS = [
    (0, Kind.SWITCH, 0, (10,)),
    (0, Kind.JOB_BEGIN, 0, (0, 0)),
    (3, Kind.SWITCH, 1, (20,)),
    (3, Kind.JOB_BEGIN, 1, (0, 3)),
    (7, Kind.JOB_END, 1, (0, 3)),
    (7, Kind.SWITCH, 0, (10,)),
    (12, Kind.JOB_END, 0, (0, 0)),
    (20, Kind.END, None, (EndReason.TIME,)),
]
MS = 1_000_000
Steps = Sequence[tuple[float, Kind, int | None, tuple[int, ...]]]


def recorded(label: str, steps: Steps, names: TraceNames = NAMES) -> Recorded:
    events = tuple(
        Event(
            round(time * MS),
            kind,
            thread,
            None,
            tuple(each * MS if n else each for n, each in enumerate(args)),
        )
        for time, kind, thread, args in steps
    )
    return Recorded(label, decode(events, names), events)


def later(steps: Steps, by: float) -> Steps:
    """Everything after the start takes longer."""
    return [(time + (by if 0 < time < 20 else 0), *rest) for time, *rest in steps]  # type: ignore[misc]


def compared(second: Steps) -> Comparison:
    return compare(recorded("host", STEPS), recorded("sel4", second))


def test_times_may_differ() -> None:
    found = compared(later(STEPS, 0.05))
    assert found.same and found.steps == 4
    assert found.jobs == (
        ComparedJob("b", 0, 4 * MS, 4_050_000),
        ComparedJob("a", 0, 12 * MS, 12_050_000),
    )
    assert [job.difference for job in found.jobs] == [50_000, 50_000]


def test_the_first_difference_is_named() -> None:
    other = [*STEPS[:4], (4, Kind.JOB_END, 0, (0, 0)), *STEPS[4:6], STEPS[7]]
    found = compared(other)
    assert not found.same and found.steps == 2
    assert found.different == (
        ComparedStep(7 * MS, "b ends job 0"),
        ComparedStep(4 * MS, "a ends job 0"),
    )
    assert comparison_text(found, color=False) == (
        "after 2 steps in the same order the runs differ\n"
        "  host: b ends job 0 at 7 ms\n"
        "  sel4: a ends job 0 at 4 ms\n"
        "\n"
        "longest response times (ms)\n"
        "task  jobs  host  sel4  difference\n"
        "b        1     4     4          +0\n"
        "a        1    12     4          -8\n"
    )


@pytest.mark.parametrize(("end", "same"), [(19.97, True), (12, False)], ids=["at the end", "before"])
def test_a_step_near_the_end_may_be_in_one_run_only(end: float, same: bool) -> None:
    """The slower run ended before it."""
    late = [(end if kind is Kind.JOB_END and n == 0 else t, kind, n, args) for t, kind, n, args in STEPS]
    cut = [step for step in late if step[:3] != (end, Kind.JOB_END, 0)]
    found = compare(recorded("fast", late), recorded("slow", later(cut, 0.05)))
    assert found.same == same
    assert found.different == ((None, None) if same else (ComparedStep(12 * MS, "a ends job 0"), None))


def test_a_page_has_both_timelines_and_names_as_text() -> None:
    first, second = recorded("a<b", STEPS), recorded("sel4", later(STEPS, 0.05))
    page = comparison_page(first, second, compare(first, second), "both")
    data = json.loads(page.partition('type="application/json">')[2].partition("</script>")[0])
    assert [(lane["name"], lane["of"], lane["label"]) for lane in data["lanes"]] == [
        ("b", 0, "a<b"),
        ("b", 1, "sel4"),
        ("a", 0, "a<b"),
        ("a", 1, "sel4"),
    ]
    assert data["end"] == 20 * MS
    assert "the same 4 steps in the same order" in page
    assert "a&lt;b" in page and "a<b" not in page.partition("<script")[0]
    assert "<td>4</td><td>4.05</td><td>+0.05</td>" in page


@pytest.fixture
def traces(tmp_path: Path) -> Callable[..., list[Path]]:
    def write(*runs: Recorded) -> list[Path]:
        paths = []
        for run in runs:
            path = tmp_path / f"{run.label}.trace"
            numbers = (
                (e.time, e.kind, NO_NUMBER if e.thread is None else e.thread, NO_NUMBER, e.args)
                for e in run.events
            )
            path.write_bytes(encode_records(numbers))
            save_names(path, run.run.names, Sink())
            paths.append(path)
        return paths

    return write


def test_the_command_compares_two_files(traces: Callable[..., list[Path]], tmp_path: Path) -> None:
    paths = traces(recorded("host", STEPS), recorded("sel4", later(STEPS, 0.05)))
    done = camkes("compare", *paths, "-o", tmp_path / "both.html")
    assert (done.status, done.errors) == (0, "")
    assert done.output.startswith("the same 4 steps in the same order\n")
    assert (tmp_path / "both.html").read_text().startswith("<!doctype html>")
    report = conforming("compare", camkes("compare", *paths, "--json").output)
    assert report["same"] and report["labels"] == ["host", "sel4"] and report["steps"] == 4
    assert report["jobs"][0] == {"task": "b", "index": 0, "first": 4_000_000, "second": 4_050_000}
    other = [*STEPS[:4], (4, Kind.JOB_END, 0, (0, 0)), *STEPS[4:6], STEPS[7]]
    paths[1] = traces(recorded("other", other))[0]
    assert camkes("compare", *paths).status == 1
    report = conforming("compare", camkes("compare", *paths, "--json").output)
    assert report["first"] == {"time": 7_000_000, "what": "b ends job 0"}


def test_recordings_of_different_systems_are_refused(traces: Callable[..., list[Path]]) -> None:
    nothing = TraceNames(objects=NAMES.objects)
    paths = traces(recorded("host", STEPS), recorded("sel4", [], nothing))
    done = camkes("compare", *paths)
    assert done.status == 2
    assert done.errors.endswith("have no task in common: they are of different systems\n")
    missing = camkes("compare", paths[0], "nowhere.trace")
    assert missing.status == 1 and "E0801" in missing.errors
