# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Releases are what the kernel's timers do at their instant, for all tasks before any thread runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.running.decode import decode
from camkes.running.jobs import Ending, make_jobs
from camkes.running.kinds import Kind
from camkes.running.model import JobOutcome, Run, State
from camkes.running.names import NamedTask
from tests.runtime.host import Built, build

pytestmark = pytest.mark.requirement("TOOL-10")

MS = 1_000_000
TEXT = """
component Task {{ control; requestor; }}
component Hog {{ control; requestor; }}
assembly {{
    composition {{ component Task a; component Task b; component Hog hog; }}
    configuration {{
        a._priority = 20; a._period = 10 ms; a._offset = 5 ms;
        b._priority = 20; {b}
        hog._priority = {hog};
    }}
}}
"""
TASK = "int run(void) { while (camkes_next_job()) camkes_work(CAMKES_MS(1)); return 0; }\n"
HOG = "int run(void) { camkes_work(CAMKES_S(1)); return 0; }\n"


def make(folder: Path, b: str = "b._period = 10 ms; b._offset = 5 ms;", hog: int = 10) -> Built:
    return build(folder, TEXT.format(b=b, hog=hog), {"Task": TASK, "Hog": HOG})


def decoded(built: Built, *options: str, duration: int = 20 * MS) -> Run:
    run = built.run("--fast", *options, duration=duration)
    assert run.status == 0, run.errors
    return decode(run.events, run.names)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return make(tmp_path_factory.mktemp("system"))


@pytest.mark.long
def test_timers_of_one_instant_fire_before_the_next_run(built: Built) -> None:
    run = built.run("--fast", duration=20 * MS)
    at = [(e.kind, e.time) for e in run.events if e.kind in (Kind.TIMER, Kind.SWITCH) and e.time == 5 * MS]
    assert [kind for kind, _ in at][:3] == [Kind.TIMER, Kind.TIMER, Kind.SWITCH]


def test_the_order_of_equal_priorities_is_a_choice(built: Built) -> None:
    assert built.run("--fast", duration=20 * MS).choices()
    first = set()
    for seed in range(8):
        lanes = {lane.task.name: lane for lane in decoded(built, "--choices", f"random:{seed}").tasks}
        first.add(min(("a", "b"), key=lambda name: lanes[name].jobs[0].begin or 0))
    assert first == {"a", "b"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("b", "released"),
    [
        ("", 1),
        ("b._offset = 7 ms;", 1),
        ("b._period = 4 ms;", 5),
        ("b._period = 4 ms; b._offset = 19 ms;", 1),
    ],
)
def test_tasks_that_never_run_have_their_jobs(b: str, released: int, tmp_path: Path) -> None:
    run = decoded(make(tmp_path, b, hog=30))
    lane = next(lane for lane in run.tasks if lane.task.name == "b")
    assert len(lane.jobs) == released
    assert {job.begin for job in lane.jobs} == {None}
    assert all(job.missed == (job.deadline is not None and job.deadline <= 20 * MS) for job in lane.jobs)


@pytest.mark.parametrize("hog", [10, 30])
def test_a_release_at_the_end_of_the_run_is_not_part_of_it(hog: int, built: Built, tmp_path: Path) -> None:
    """Whether the processor is busy then or not."""
    run = decoded(built if hog == 10 else make(tmp_path, hog=hog), duration=15 * MS)
    assert [len(lane.jobs) for lane in run.tasks if lane.task.name == "a"] == [1]


@pytest.mark.long
@pytest.mark.parametrize(("work", "outcome"), [(5, JobOutcome.COMPLETED), (6, JobOutcome.OVERDUE)])
@pytest.mark.parametrize("deadline", ["b._deadline = 5 ms;", "b._deadline = 5 ms; b._period = 5 ms;"])
def test_a_deadline_at_the_end_of_a_run_is_part_of_it(
    work: int, outcome: JobOutcome, deadline: str, tmp_path: Path
) -> None:
    """A job that ends at its deadline meets it, one that has not ended has missed it."""
    text = TEXT.format(b=f"b._offset = 10 ms; {deadline}", hog=10).replace(
        "a._priority = 20", "a._priority = 9"
    )
    task = TASK.replace("CAMKES_MS(1)", f"CAMKES_MS({work})")
    run = decoded(build(tmp_path, text, {"Task": task, "Hog": HOG}), duration=15 * MS)
    (job,) = next(lane.jobs for lane in run.tasks if lane.task.name == "b")
    assert (job.release, job.deadline, job.outcome) == (10 * MS, 15 * MS, outcome)


@pytest.mark.parametrize(
    ("ending", "outcome"), [(14, JobOutcome.OPEN), (15, JobOutcome.OVERDUE), (16, JobOutcome.OVERDUE)]
)
def test_a_deadline_passes_at_its_instant(ending: int, outcome: JobOutcome) -> None:
    task = NamedTask(0, "t", 20, 0, period=10, deadline=5, offset=10, timer=0)
    (job,) = make_jobs(task, 1, {}, {}, Ending(ending, idle=False), None)
    assert job.outcome is outcome


def test_a_deadline_counts_from_the_release_that_was_recorded() -> None:
    """That of an event, not one that a period would give."""
    task = NamedTask(0, "t", 20, 0, period=10, deadline=5, offset=0, timer=0)
    (job,) = make_jobs(task, 1, {0: (13, 12)}, {0: 17}, Ending(20, idle=False), None)
    assert (job.release, job.deadline, job.outcome) == (12, 17, JobOutcome.COMPLETED)


@pytest.mark.long
def test_a_thread_whose_work_is_done_makes_way_for_releases_of_that_instant(tmp_path: Path) -> None:
    """`hog` ends at the instant of the releases; a thread of lower priority does not run before them."""
    text = TEXT.format(b="b._priority = 5; b._period = 40 ms;", hog=15).replace("b._priority = 20; ", "")
    hog = HOG.replace("CAMKES_S(1)", "CAMKES_MS(5)")
    built = build(tmp_path, text, {"Task": TASK, "Hog": hog})
    run = built.run("--fast", duration=20 * MS)
    switches = [e.thread for e in run.of(Kind.SWITCH) if e.time == 5 * MS]
    assert switches[0] == run.number("a")
    states = {s.state for lane in decode(run.events, run.names).lanes for s in lane.segments}
    assert State.HELD_UP not in states


def test_a_stated_period_of_events_releases_no_jobs(tmp_path: Path) -> None:
    """Nor does `--verify` expect them at these times."""
    system = """
component First { control; requestor; emits Go go; }
component Second { control; requestor; consumes Go go; }
assembly {
    composition {
        component First first; component Second second;
        connection seL4NotificationNative c(from first.go, to second.go);
    }
    configuration {
        first._priority = 10;
        second._priority = 20; second.release = "go"; second._period = 10 ms;
    }
}
"""
    job = "{ camkes_work(CAMKES_MS(1)); go_emit(); }"
    first = f"int run(void) {{ for (int i = 0; i < 3; i++) {job} return 0; }}\n"
    run = build(tmp_path, system, {"First": first, "Second": TASK}).run("--fast", duration=20 * MS)
    lane = next(lane for lane in decode(run.events, run.names).tasks if lane.task.name == "second")
    assert [job.release for job in lane.jobs] == [1 * MS, 3 * MS, 5 * MS]
    assert run.violations() == []
