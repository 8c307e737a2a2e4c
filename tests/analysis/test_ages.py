# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Ages of data that periodic tasks read: bounds, and runs that do not exceed them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.analysis.platform import FREE
from camkes.analysis.simulation import SimulatedJob, SimulatedProgram, Simulation, program
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadTask
from camkes.cli.main import main
from tests.command import camkes
from tests.end_to_end.support import loop, write

pytestmark = pytest.mark.requirement("AN-8")

MS = 1_000_000


def sampled(folder: Path, access: str = 'r.data_access = "R";') -> Path:
    """w (T 10, 2 ms) writes what r (T 15, 3 ms) reads, which begins a microsecond before w is released."""
    return write(
        folder,
        "component W { control; requestor; dataport Buf data; }"
        "component R { control; requestor; dataport Buf data; }",
        f"""
        composition {{
            component W w; component R r;
            connection seL4SharedData x(from w.data, to r.data);
        }}
        configuration {{
            w._priority = 20;  w._period = 10 ms;  w._wcet = 2 ms;
            r._priority = 10;  r._period = 15 ms;  r._wcet = 3 ms;  r._offset = 9999 us;
            {access}
        }}""",
        {"W": loop("MS(2);"), "R": loop("MS(3);")},
    )


def test_a_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a job of w writes is there until the next one ends, 10 + 2 ms after its release; then a job of r
    that has read it takes 3 + 2 more."""
    path = sampled(tmp_path)
    assert main(["analyze", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ages"] == [{"writer": "w", "reader": "r", "age": 17 * MS}]
    assert main(["analyze", str(path), "--html", str(tmp_path / "page.html")]) == 0
    assert "written by  read by    age\nw           r        17 ms\n" in capsys.readouterr().out
    assert '<td>w</td><td class="left">r</td><td>17 ms</td>' in (tmp_path / "page.html").read_text()


@pytest.mark.long
def test_ages_of_a_run(tmp_path: Path) -> None:
    """The first job of r has what w wrote from 0 to 2 ms, and ends at 14.999: w executes from 10 to 12. The
    second, from 24.999 to 27.999 ms, has what is of 20 ms."""
    words = ("--for", "39ms", "-o", tmp_path / "build")
    document = json.loads(camkes("run", sampled(tmp_path), *words, "--json").output)
    (data,) = document["ages"]
    assert (data["writer"], data["reader"], data["completed"]) == ("w", "r", 2)
    assert (data["age"]["min"], data["age"]["max"]) == (7_999_000, 14_999_000)
    text = camkes("run", tmp_path / "system.camkes", *words).output
    assert "ages of data (ms)\ndata that a task read  completed    min    mean     max\nr of w" in text


@pytest.mark.parametrize("access", ["", 'r.data_access = "RW";', 'w.data_access = "R"; r.data_access = "R";'])
def test_who_reads_has_to_be_stated(access: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(sampled(tmp_path, access)), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ages"] == []


def ages(*tasks: WorkloadTask) -> list[int | None]:
    return [None if each.age is None else int(each.age) for each in analyse(Workload(tasks, ()), FREE).ages]


def test_the_end_of_a_chain_writes() -> None:
    """b ends at most 2 + 3 + 1 after a release of a, and does it each 20; the reader takes 1 + 2."""
    a = WorkloadTask("a", 4, 20, 20, 2)
    b = WorkloadTask("b", 1, 20, 20, 3, {}, "a", timed=False)
    reader = WorkloadTask("r", 2, 50, 50, 1, reads=("b",))
    assert ages(a, b, reader) == [20 + 6 + 3]
    assert ages(a, b, WorkloadTask("r", 2, 50, 50, 1, reads=("b", "a"))) == [29, 20 + 2 + 3]


def test_no_bound() -> None:
    """Events of which only the least time between them is known; a reader without a bound; and a writer that
    takes so long that events are lost."""
    reader = WorkloadTask("r", 2, 50, 50, 1, reads=("w",))
    assert ages(WorkloadTask("w", 3, 20, 20, 2, timed=False), reader) == [None]
    assert ages(WorkloadTask("w", 3, 20, 20, 20), reader) == [None]
    first = WorkloadTask("first", 9, 20, 20, 1)
    slow = WorkloadTask("w", 1, 20, 99, 9, {}, "first", timed=False)
    hog = WorkloadTask("hog", 8, 100, 100, 35)
    assert ages(first, slow, hog, reader) == [None]
    assert ages(first, slow, reader) == [20 + (1 + 9 + 1) + 2]


def seen(jobs: Sequence[SimulatedJob], tasks: Sequence[WorkloadTask], reader: WorkloadTask) -> list[int]:
    """Ages at the ends of jobs that read as soon as they are released."""
    after = {task.name: task.after for task in tasks}
    by_end = {(job.task, job.end): job for job in jobs}
    ended = [job for job in jobs if job.end is not None]
    found = []
    for job in ended:
        for name in reader.reads if job.task == reader.name else ():
            before = [each for each in ended if each.task == name and each.end <= job.release]
            first = max(before, key=lambda each: each.end, default=None)
            while first is not None and after[first.task]:
                first = by_end.get((after[first.task], first.release))
            if first is not None:
                found.append(job.end - first.release)
    return found


@pytest.mark.long
@given(st.integers(0, 2**32 - 1))
def test_no_simulated_age_is_greater(seed: int) -> None:
    rng = random.Random(seed)
    tasks: list[WorkloadTask] = []
    for index in range(rng.randint(2, 5)):
        before = rng.choice(tasks) if tasks and rng.random() < 0.4 else None
        period = before.period if before is not None else rng.choice((20, 30, 40, 60)) * 1000
        chain = "" if before is None else before.name
        work = 1000 * rng.randint(1, 8) - 1
        tasks.append(
            WorkloadTask(
                f"t{index}", rng.randint(1, 9), period, 10 * period, work, {}, chain, timed=not chain,
                reads=(rng.choice(tasks).name,) if tasks and not chain else (),
            )
        )  # fmt: skip
    workload = Workload(tuple(tasks), ())
    offsets = {task.name: rng.randint(0, 20_000) for task in tasks}
    jobs = Simulation(workload, SimulatedProgram(program(workload).tasks, {}, offsets)).run(1_200_000)
    named = {task.name: task for task in tasks}
    for each in analyse(workload, FREE).ages:
        for age in seen(jobs, tasks, named[each.reader]):
            assert each.age is None or age <= each.age
