# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from camkes.diagnostics import Sink
from camkes.report.chrome import write_chrome

from .simulator import INVERSION, nested, simulate


def rows(tmp_path: Path, which: str = "nested") -> list[dict[str, Any]]:
    system = nested() if which == "nested" else (INVERSION["tasks"], INVERSION["cpis"])
    events, names, _ = simulate(*system)  # type: ignore[arg-type]
    sink = Sink()
    write_chrome(tmp_path / "t.json", events, names, sink)
    assert not sink.diagnostics
    document = json.loads((tmp_path / "t.json").read_text())
    found: list[dict[str, Any]] = document["traceEvents"]
    return found


def test_times_rise_and_slices_of_a_track_do_not_overlap(tmp_path: Path) -> None:
    timed = [row for row in rows(tmp_path) if row["ph"] != "M"]
    assert [row["ts"] for row in timed] == sorted(row["ts"] for row in timed)
    ends: dict[tuple[int, int], float] = {}
    for row in timed:
        if row["ph"] == "X":
            track = (row["pid"], row["tid"])
            assert row["ts"] >= ends.get(track, 0) - 1e-6
            ends[track] = row["ts"] + row["dur"]


def test_every_track_has_a_name(tmp_path: Path) -> None:
    found = rows(tmp_path)
    named = {(row["pid"], row["tid"]) for row in found if row["name"] == "thread_name"}
    assert {(row["pid"], row["tid"]) for row in found if row["ph"] == "X"} <= named


def test_requests_are_named_by_their_cpi(tmp_path: Path) -> None:
    requests = [row for row in rows(tmp_path, "inversion") if row.get("cat") == "request"]
    assert [(r["name"], r["args"]["task"]) for r in requests] == [
        ("lock.p", "low"),
        ("lock.p", "high"),
        ("lock.p", "high"),
    ]


def test_arrows_come_in_pairs(tmp_path: Path) -> None:
    found = rows(tmp_path)
    starts = [row["id"] for row in found if row["ph"] == "s"]
    ends = [row["id"] for row in found if row["ph"] == "f"]
    assert starts == ends
    assert len(starts) == len(set(starts)) >= 1
