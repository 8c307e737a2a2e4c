# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes a run in the Chrome JSON form, which chrome://tracing, Perfetto and Speedscope open.

A process is an address space, and one more has a row for each task: what it did or waited for, wherever that
was. The rows of a process are its threads; requests and jobs of a thread have a row of their own.
"""

from __future__ import annotations

import json
from typing import Any

from camkes.report.draw.tracks import Instant, Slice, Track, TrackKind, Tracks

#: what is added to the number of a thread or task for the number of its row
_ROWS = {TrackKind.STATE: 1, TrackKind.TASK: 1, TrackKind.REQUESTS: 1 << 16, TrackKind.JOBS: 1 << 17}

TASKS = "tasks"


def chrome_trace(tracks: Tracks) -> str:
    """The file's text: one event a line, by time. Times are microseconds, as the form wants."""
    spaces = list(dict.fromkeys(tracks.processes.values()))
    places = {track: {"pid": spaces.index(space) + 1, "tid": _row(track)}
              for track, space in tracks.processes.items()}  # fmt: skip
    rows: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": number, "args": {"name": space or TASKS}}
        for number, space in enumerate(spaces, 1)
    ]
    rows += [
        {"ph": "M", **places[track], "name": "thread_name", "args": {"name": name}}
        for track, name in tracks.names.items()
    ]
    timed = [_slice(piece, places) for piece in tracks.slices]
    for sample in tracks.priorities:
        track = Track(TrackKind.STATE, sample.thread)
        name = f"{tracks.names[track]} priority"
        timed.append(
            {"ph": "C", "name": name, "pid": places[track]["pid"], "ts": sample.time / 1000,
             "args": {"priority": sample.value}}
        )  # fmt: skip
    for instant in tracks.instants:
        timed.extend(_instant(instant, places))
    timed.sort(key=lambda row: float(row["ts"]))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in (*rows, *timed))
    return f'{{"displayTimeUnit": "ns", "traceEvents": [\n{lines}\n]}}\n'


def _row(track: Track) -> int:
    return track.number + _ROWS[track.kind]


def _slice(piece: Slice, places: dict[Track, dict[str, int]]) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": piece.name,
        "cat": piece.track.kind.value,
        **places[piece.track],
        "ts": piece.start / 1000,
        "dur": (piece.end - piece.start) / 1000,
        "args": dict(piece.details),
    }


def _instant(instant: Instant, places: dict[Track, dict[str, int]]) -> list[dict[str, Any]]:
    at = {**places[instant.track], "ts": instant.time / 1000}
    rows: list[dict[str, Any]] = [
        {"ph": "i", "name": instant.name, "cat": "mark", "s": "t", **at, "args": dict(instant.details)}
    ]
    if instant.flow is not None:
        end = {"ph": "f", "bp": "e"} if instant.flow_ends else {"ph": "s"}
        rows.append({**end, "name": "inherits", "cat": "inherits", "id": instant.flow, **at})
    return rows
