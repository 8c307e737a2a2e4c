# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The examples with budgets, criticalities and a scheduler of their own, on seL4 with MCS.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.sel4.trace import Record, read_line
from camkes.backends.sel4.workspace import console
from camkes.diagnostics import Sink
from camkes.running.kinds import Kind
from tests.backends.sel4.recorded import LIMIT, MS, image, needs_workspace

pytestmark = [pytest.mark.requirement("SEL4-1"), needs_workspace]

EXAMPLES = Path(__file__).parents[3] / "examples"


def records(name: str, folder: Path, duration: int) -> Iterator[tuple[str, Record]]:
    sink = Sink()
    checked = pipeline.check(pipeline.Input(EXAMPLES / name / f"{name}.camkes"), sink)
    assert checked is not None, sink.diagnostics
    threads = [
        thread.name for space in pipeline.capabilities(checked, sink).spaces for thread in space.threads
    ]
    run = console(image(EXAMPLES / name, folder), instruction_counting=True, seconds=LIMIT)
    try:
        for record in filter(None, map(read_line, run)):
            if record.time > duration:
                break
            yield (threads[record.thread] if record.thread < len(threads) else ""), record
    finally:
        run.close()


def test_critical_tasks_of_the_vehicle_meet_their_deadlines(tmp_path: Path) -> None:
    """In all overruns of 1.2 s: three raise the criticality, one of them to 2. Each job of the bus ends."""
    periods = {"flight": 100, "filter": 100, "command": 200, "mission": 1000}
    jobs: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    late: list[tuple[str, float]] = []
    levels: list[int] = []
    for thread, record in records("aav", tmp_path, 1200 * MS):
        if record.kind == Kind.JOB_END:
            jobs[thread] += 1
            response = record.time - record.arguments[1]
            if response > periods.get(thread, 1200) * MS:
                late.append((thread, response / MS))
        left_out[thread] += record.kind == Kind.JOB_LEFT_OUT
        if record.kind == Kind.CRITICALITY and record.arguments[0] > 0:
            levels.append(record.arguments[0])
    assert not late
    all_jobs = {name: jobs[name] + left_out[name] for name in periods}
    assert all_jobs == {"flight": 12, "filter": 12, "command": 6, "mission": 1}
    assert left_out["flight"] == 0
    assert jobs["bus"] > 2000
    assert left_out["video"] > 0
    assert set(levels) == {1, 2}


def test_no_deadline_is_missed_under_a_scheduler_by_deadlines(tmp_path: Path) -> None:
    periods = {"a": 5, "b": 7}
    longest: Counter[str] = Counter()
    for thread, record in records("edf", tmp_path, 140 * MS):
        if record.kind == Kind.JOB_END:
            longest[thread] = max(longest[thread], record.time - record.arguments[1])
    assert {task: longest[task] <= period * MS for task, period in periods.items()} == {"a": True, "b": True}
