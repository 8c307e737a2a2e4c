# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
from __future__ import annotations

import json
from typing import Any

from camkes.report.draw.chrome import chrome_trace
from camkes.report.draw.tracks import build_tracks
from camkes.report.trace.decode import decode

from .simulator import INVERSION, nested, simulate


def rows(which: str = "nested") -> list[dict[str, Any]]:
    system = nested() if which == "nested" else (INVERSION["tasks"], INVERSION["cpis"])
    events, names, _ = simulate(*system)  # type: ignore[arg-type]
    document = json.loads(chrome_trace(build_tracks(decode(events, names))))
    found: list[dict[str, Any]] = document["traceEvents"]
    return found


def test_times_rise_and_slices_of_a_track_do_not_overlap() -> None:
    timed = [row for row in rows() if row["ph"] != "M"]
    assert [row["ts"] for row in timed] == sorted(row["ts"] for row in timed)
    ends: dict[tuple[int, int], float] = {}
    for row in timed:
        if row["ph"] == "X":
            track = (row["pid"], row["tid"])
            assert row["ts"] >= ends.get(track, 0) - 1e-6
            ends[track] = row["ts"] + row["dur"]


def test_every_track_has_a_name() -> None:
    found = rows()
    named = {(row["pid"], row["tid"]) for row in found if row["name"] == "thread_name"}
    assert {(row["pid"], row["tid"]) for row in found if row["ph"] == "X"} <= named


def test_requests_are_named_by_their_cpi() -> None:
    requests = [row for row in rows("inversion") if row.get("cat") == "request"]
    assert [(r["name"], r["args"]["task"]) for r in requests] == [
        ("lock.p", "low"),
        ("lock.p", "high"),
        ("lock.p", "high"),
    ]


def test_arrows_come_in_pairs() -> None:
    found = rows()
    starts = [row["id"] for row in found if row["ph"] == "s"]
    ends = [row["id"] for row in found if row["ph"] == "f"]
    assert starts == ends
    assert len(starts) == len(set(starts)) >= 1
