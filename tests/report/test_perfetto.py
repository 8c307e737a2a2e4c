# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The JSON trace for Perfetto: rows, slices, counters, arrows."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from camkes.running.decode import decode
from camkes.running.events import Event
from camkes.running.kinds import Kind
from camkes.running.names import TraceNames
from camkes.showing.draw.perfetto import perfetto_json

from .simulator import INVERSION, MS, TaskSpec, nested, simulate

pytestmark = pytest.mark.requirement("TOOL-13")

Row = dict[str, Any]


def recorded(which: str) -> tuple[list[Event], TraceNames]:
    system = nested() if which == "nested" else (INVERSION["tasks"], INVERSION["cpis"])
    events, names, _ = simulate(*system)  # type: ignore[arg-type]
    return list(events), names


def rows(which: str = "nested", *more: Event) -> list[Row]:
    events, names = recorded(which)
    found: list[Row] = json.loads(perfetto_json(decode([*events, *more], names)))["traceEvents"]
    return found


def named(found: list[Row], what: str) -> dict[tuple[int, ...], str]:
    """The names of all processes (by pid) or rows (by pid and tid)."""
    described = [row for row in found if row["name"] == what]
    names = {
        tuple(row[key] for key in ("pid", "tid") if key in row): row["args"]["name"] for row in described
    }
    assert len(names) == len(described)
    return names


def test_times_rise_and_slices_of_a_row_do_not_overlap() -> None:
    timed = [row for row in rows() if row["ph"] != "M"]
    assert [row["ts"] for row in timed] == sorted(row["ts"] for row in timed)
    ends: dict[tuple[int, int], float] = {}
    for row in timed:
        if row["ph"] == "X":
            track = (row["pid"], row["tid"])
            assert row["ts"] >= ends.get(track, 0) - 1e-6
            ends[track] = row["ts"] + row["dur"]


def test_every_row_is_named_before_it_is_used_and_has_an_id_of_its_own() -> None:
    found = rows()
    names = named(found, "thread_name")
    assert len({tid for _, tid in names}) == len(names)
    first = next(n for n, row in enumerate(found) if row["ph"] != "M")
    assert all(row["ph"] != "M" for row in found[first:])
    assert {(row["pid"], row["tid"]) for row in found if row["ph"] in "Xisf"} <= names.keys()


def test_a_process_for_each_address_space_and_one_for_the_tasks() -> None:
    found = rows()
    _, names = recorded("nested")
    assert sorted(named(found, "process_name").values()) == sorted(
        {t.space for t in names.threads} | {"tasks"}
    )


def test_an_address_space_called_tasks_is_not_that_of_the_tasks() -> None:
    events, names = recorded("inversion")
    first, *others = names.threads
    names = replace(names, threads=(replace(first, space="tasks"), *others))
    found = json.loads(perfetto_json(decode(events, names)))["traceEvents"]
    assert list(named(found, "process_name").values()).count("tasks") == 2


def test_a_row_and_a_priority_counter_for_each_thread() -> None:
    found = rows()
    _, names = recorded("nested")
    threads = [t.name for t in names.threads]
    assert set(threads) <= set(named(found, "thread_name").values())
    counters = {row["name"]: row["pid"] for row in found if row["ph"] == "C"}
    processes = named(found, "process_name")
    assert {name: processes[pid,] for name, pid in counters.items()} == {
        t.name: t.space for t in names.threads
    }


def test_the_inherited_priority_is_on_the_counter() -> None:
    samples = [
        (round(row["ts"] * 1000), row["args"]["priority"])
        for row in rows("inversion")
        if row["ph"] == "C" and row["name"] == "lock.p@low"
    ]
    assert samples == [(0, 10), (3 * MS, 30), (6 * MS, 10)]


def test_requests_are_named_by_their_cpi() -> None:
    requests = [row for row in rows("inversion") if row.get("cat") == "request"]
    assert [(r["name"], r["args"]["task"]) for r in requests] == [
        ("lock.p", "low"),
        ("lock.p", "high"),
        ("lock.p", "high"),
    ]


def test_an_arrow_goes_from_the_waiter_to_the_inheriting_thread() -> None:
    """Each end follows the mark that it belongs to: viewers tie it to what is before it on its row."""
    found = rows("inversion")
    ends = []
    for before, row in pairwise(found):
        if row["ph"] in "sf":
            assert [before[key] for key in ("pid", "tid", "ts")] == [row[key] for key in ("pid", "tid", "ts")]
            ends.append((row["ph"], row["id"], before["name"]))
    assert ends == [("s", 1, "lends 30 to low"), ("f", 1, "inherits 30 from high")]


def test_arrows_come_in_pairs() -> None:
    found = rows()
    starts = [row["id"] for row in found if row["ph"] == "s"]
    ends = [row["id"] for row in found if row["ph"] == "f"]
    assert starts == ends
    assert len(starts) == len(set(starts)) >= 1


@pytest.mark.parametrize(("until", "missed"), [(19 * MS, False), (20 * MS, True)])
def test_a_deadline_that_is_missed_is_a_mark_at_its_time(until: int, missed: bool) -> None:
    """That at the end of the run is a part of it; one after it is not."""
    events, names, _ = simulate([TaskSpec("late", 5, (0,), (MS,) * 30, 20 * MS)], [], until=until)
    found = json.loads(perfetto_json(decode(events, names)))["traceEvents"]
    marks = [row["ts"] for row in found if row["name"] == "deadline of job 0 missed"]
    assert marks == ([20_000] if missed else [])


def test_output_is_a_mark() -> None:
    events, _ = recorded("inversion")
    said = Event(events[-1].time, Kind.OUTPUT, 0, None, (6,), "hello\n")
    assert any(row["ph"] == "i" and row["name"] == "hello" for row in rows("inversion", said))


def test_the_inheriting_thread_is_found_by_context_if_the_record_does_not_name_it() -> None:
    events, names = recorded("inversion")
    bare = [e._replace(other=None) if e.kind is Kind.INHERIT else e for e in events]
    assert decode(bare, names) == decode(events, names)
