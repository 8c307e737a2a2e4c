# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes a trace in the Chrome JSON form, which chrome://tracing, Perfetto and Speedscope open."""

from __future__ import annotations

import json
from typing import Any

from camkes.report.trace.names import TraceNames
from camkes.report.tracks import Instant, Slice, Tracks

#: the requests and jobs of a thread are a second thread to the viewer, with this added to its number
WORK = 1 << 16


def chrome_trace(tracks: Tracks, names: TraceNames) -> str:
    """The file's text: one event a line, by time. Times are microseconds, as the form wants."""
    spaces = list(dict.fromkeys(thread.space for thread in names.threads))
    process = {thread.number: spaces.index(thread.space) + 1 for thread in names.threads}
    rows: list[dict[str, Any]] = []
    for number, space in enumerate(spaces, 1):
        rows.append({"ph": "M", "name": "process_name", "pid": number, "args": {"name": space}})
    working = {piece.thread for piece in (*tracks.requests, *tracks.jobs)}
    for thread in names.threads:
        about = {"ph": "M", "pid": process[thread.number]}
        rows.append({**about, "tid": thread.number + 1, "name": "thread_name", "args": {"name": thread.name}})
        if thread.number in working:
            words = f"{thread.name} work"
            rows.append(
                {**about, "tid": thread.number + 1 + WORK, "name": "thread_name", "args": {"name": words}}
            )
    timed = [_slice(piece, process, "state", 0) for piece in tracks.states]
    timed += [_slice(piece, process, "request", WORK) for piece in tracks.requests]
    timed += [_slice(piece, process, "job", WORK) for piece in tracks.jobs]
    for sample in tracks.priorities:
        name = f"{names.thread_name(sample.thread)} priority"
        timed.append(
            {"ph": "C", "name": name, "pid": process.get(sample.thread, 0), "ts": sample.time / 1000,
             "args": {"priority": sample.value}}
        )  # fmt: skip
    for instant in tracks.instants:
        timed.extend(_instant(instant, process))
    timed.sort(key=lambda row: float(row["ts"]))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in (*rows, *timed))
    return f'{{"displayTimeUnit": "ns", "traceEvents": [\n{lines}\n]}}\n'


def _slice(piece: Slice, process: dict[int, int], category: str, offset: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": piece.name,
        "cat": category,
        "pid": process.get(piece.thread, 0),
        "tid": piece.thread + 1 + offset,
        "ts": piece.start / 1000,
        "dur": (piece.end - piece.start) / 1000,
        "args": dict(piece.details),
    }


def _instant(instant: Instant, process: dict[int, int]) -> list[dict[str, Any]]:
    at = {"pid": process.get(instant.thread, 0), "tid": instant.thread + 1, "ts": instant.time / 1000}
    rows: list[dict[str, Any]] = [
        {"ph": "i", "name": instant.name, "cat": "mark", "s": "t", **at, "args": dict(instant.details)}
    ]
    if instant.flow is not None:
        end = {"ph": "f", "bp": "e"} if instant.flow_ends else {"ph": "s"}
        rows.append({**end, "name": "inherits", "cat": "inherits", "id": instant.flow, **at})
    return rows
