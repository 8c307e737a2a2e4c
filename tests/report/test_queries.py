# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The questions of docs/how-to/query-traces.md have the answers of the run.

Perfetto's trace processor is a program that is downloaded when it is first used. Its SQL is that of SQLite,
so tables of the same names and columns, made of the file itself, take its place here.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from camkes.running.decode import decode
from camkes.running.model import JobOutcome, Run, State
from camkes.showing.draw.perfetto import perfetto_json
from camkes.showing.draw.perfetto_trace import perfetto_trace
from tests.command import ROOT
from tests.report.simulator import INVERSION, MS, TaskSpec, simulate
from tests.report.test_perfetto_trace import BEGIN, END, INSTANT, fields, packets, tracks

pytestmark = pytest.mark.requirement("TOOL-26")

PAGE = (ROOT / "docs" / "how-to" / "query-traces.md").read_text("utf-8")
QUERIES = re.findall(r"^```sql\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(PYTHON,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def late() -> Run:
    """An inversion in which the task with the lowest priority misses deadlines."""
    low, *others = INVERSION["tasks"]
    assert isinstance(low, TaskSpec)
    tasks = [TaskSpec("low", 10, (0, 20 * MS), low.body, 12 * MS), *others]
    events, names, _ = simulate(tasks, INVERSION["cpis"])  # type: ignore[arg-type]
    return decode(events, names)


def database(data: bytes) -> sqlite3.Connection:
    """The tables of Perfetto that the queries use."""
    base = sqlite3.connect(":memory:")
    base.executescript(
        "CREATE TABLE thread (utid, name); CREATE TABLE thread_track (id, utid);"
        "CREATE TABLE slice (ts, dur, name, category, track_id, arg_set_id);"
    )
    for number, (parent, name) in tracks(data).items():
        if parent:
            base.execute("INSERT INTO thread VALUES (?, ?)", (number, name))
            base.execute("INSERT INTO thread_track VALUES (?, ?)", (number, number))
    arguments: dict[int, dict[str, Any]] = {}
    open_in: dict[int, tuple[Any, ...]] = {}

    def add(begin: tuple[Any, ...], end: int) -> None:
        time, event, track = begin
        given = [fields(each) for each in event.get(4, ())]
        found = {each[10][0].decode(): each[6][0].decode() if 6 in each else each[4][0] for each in given}
        arguments[len(arguments)] = found
        row = (time, end - time, event[23][0].decode(), event[22][0].decode(), track, len(arguments) - 1)
        base.execute("INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?)", row)

    for packet in packets(data):
        for event in map(fields, packet.get(11, ())):
            (time,), (kind,), (track,) = packet[8], event[9], event[11]
            if kind == BEGIN:
                open_in[track] = time, event, track
            elif kind == END:
                add(open_in.pop(track), time)
            elif kind == INSTANT:
                add((time, event, track), time)
    base.create_function("EXTRACT_ARG", 2, lambda of, key: arguments[of].get(key.removeprefix("debug.")))
    return base


def answers(run: Run) -> list[list[tuple[Any, ...]]]:
    """What the five queries have to find."""
    ended = {
        lane.task.name: [job.response for job in lane.jobs if job.begin is not None and job.end is not None]
        for lane in run.lanes
    }
    longest = [(f"{name} jobs", len(of), max(r or 0 for r in of) / 1e6) for name, of in ended.items() if of]
    missed = [
        (lane.task.name, f"deadline of job {job.number} missed", (job.deadline or 0) / 1e6)
        for lane in run.lanes
        for job in lane.jobs
        if job.missed and (job.deadline or 0) <= run.end
    ]
    waits: Counter[tuple[str, str]] = Counter()
    times: Counter[tuple[str, str]] = Counter()
    for lane in run.lanes:
        for segment in lane.segments:
            if segment.state is State.WAITS_LOCK:
                waits[lane.task.name, segment.what] += segment.duration
                times[lane.task.name, segment.what] += 1
    served: dict[tuple[str, str], list[int]] = {}
    for request in run.requests:
        task = run.names.task(request.task)
        key = run.names.cpi_name(request.cpi), "" if task is None else task.name
        served.setdefault(key, []).append(request.end - request.start)
    inherited = Counter(
        (run.names.thread_name(i.heir), f"inherits {i.after} from {run.names.context_name(i.cause)}")
        for i in run.inheritances
        if i.after > i.before
    )
    return [
        longest,
        missed,
        [(*key, times[key], total / 1e6) for key, total in waits.items()],
        [(*key, len(of), sum(of) / 1e6, max(of) / 1e6) for key, of in served.items()],
        [(*key, count) for key, count in inherited.items()],
    ]


def test_the_sql_has_the_answers_of_the_run() -> None:
    run = late()
    base = database(perfetto_trace(run))
    expected = answers(run)
    assert len(QUERIES) == len(expected) == 5 and all(expected)
    assert any(job.outcome is JobOutcome.LATE for lane in run.lanes for job in lane.jobs)
    for query, rows in zip(QUERIES, expected, strict=True):
        assert sorted(base.execute(query)) == [
            tuple(pytest.approx(each) if isinstance(each, float) else each for each in row)
            for row in sorted(rows)
        ], query


def test_pandas_has_the_answers_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas")
    run = late()
    (tmp_path / "run.json").write_text(perfetto_json(run))
    monkeypatch.chdir(tmp_path)
    variables: dict[str, Any] = {}
    exec(PYTHON, variables)
    assert capsys.readouterr().out.count("\n") > 10
    longest, missed, waits, served, inherited = answers(run)
    jobs = variables["response"].groupby(variables["jobs"]["row"]).agg(["count", "max"])
    assert [(name, int(row["count"]), row["max"] / 1000) for name, row in jobs.iterrows()] == [
        (name, count, pytest.approx(most)) for name, count, most in sorted(longest)
    ]
    found = variables["missed"][["row", "name", "ts"]].itertuples(index=False)
    assert sorted((row, name, ts / 1000) for row, name, ts in found) == sorted(missed)
    found = variables["waits"].groupby(["row", "args.what"])["dur"].agg(["count", "sum"]).iterrows()
    assert sorted((*key, int(row["count"]), row["sum"] / 1000) for key, row in found) == sorted(waits)
    found = variables["of"]["request"].groupby(["name", "args.task"])["dur"].agg(["count", "sum"]).iterrows()
    assert sorted((*key, int(row["count"]), row["sum"] / 1000) for key, row in found) == sorted(
        each[:4] for each in served
    )
    found = variables["inherited"].groupby(["row", "name"]).size().items()
    assert sorted((*key, int(count)) for key, count in found) == sorted(inherited)
