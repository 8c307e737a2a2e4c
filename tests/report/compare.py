# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Reads all outputs of one run back and compares them with each other.

`compare_outputs` takes what a run came to, or the path of a system that it then runs, and raises an
AssertionError that lists every difference: names, jobs, misses, states over time, faults. Nothing here looks
at the decoded model but to have it rendered: each fact comes from an output's own text or bytes.
"""

from __future__ import annotations

import json
import re
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.outcome import Outcome
from camkes.showing.draw.perfetto import perfetto_json
from camkes.showing.draw.terminal import terminal_report
from camkes.showing.draw.timeline import timeline_svg

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
WIDTH = 110
#: characters of the chart and the states for which they stand; any letter: running in a service
GLYPHS = {
    "#": {"running"},
    "/": {
        "waits for lock",
        "waits for server",
        "waits for reply",
        "waits for mutex",
        "waits for semaphore",
        "waits for event",
    },
    "%": {"held up"},
    "_": {"not started", "ready", "preempted"},
    ".": {"waits for signal", "waits for message", "suspended"},
    ":": {"stopped by a fault"},
    " ": {""},
}


class Piece(NamedTuple):
    """A slice of a track, in nanoseconds."""

    start: int
    end: int
    words: str
    state: str


@dataclass(frozen=True)
class Outputs:
    """One run in all forms."""

    table: str
    report: dict[str, Any]
    chrome: list[dict[str, Any]]
    svg: str


def outputs_of(outcome: Outcome) -> Outputs:
    run, sink = outcome.run, Sink()
    window = (0, max(run.end, 1))
    svg = timeline_svg(run, sink, window)
    assert svg is not None and not sink.diagnostics
    return Outputs(
        terminal_report(run, width=WIDTH, unicode=False, window=window),
        json.loads(outcome.report_json()),
        json.loads(perfetto_json(run))["traceEvents"],
        svg,
    )


def run_system(path: Path, duration: int, *, choices: str = "first") -> Outcome:
    """Build and run a system in a folder of its own."""
    sink = Sink()
    with tempfile.TemporaryDirectory() as out:
        options = pipeline.RunSettings(output=Path(out), duration=duration, choices=choices, fast=True)
        outcome = pipeline.run(pipeline.Input(path), options, sink, lambda _: None)
    assert outcome is not None, [d.message for d in sink.diagnostics]
    return outcome


def compare_outputs(what: Outcome | Path, duration: int = 100_000_000) -> Outputs:
    """Raises AssertionError if two outputs of a run differ; else gives them."""
    outputs = outputs_of(run_system(what, duration) if isinstance(what, Path) else what)
    differences = list(_Comparison(outputs).differences())
    assert not differences, "\n".join(differences)
    return outputs


# -- readers ----------------------------------------------------------------------------------------------


def nanoseconds(words: str) -> int:
    """ "12.5 ms" """
    number, unit = words.split(" ")
    return round(float(number) * UNITS[unit])


def table_rows(table: str) -> dict[str, dict[str, str]]:
    """Rows of the table of response times, by task."""
    if "response times" not in table:
        return {}
    lines = table[table.index("response times") :].splitlines()
    unit = lines[0][lines[0].index("(") + 1 : -1]
    head = lines[1].split()
    rows = {}
    for line in lines[2:]:
        row = dict(zip(head, line.split(), strict=True))
        rows[row["task"]] = row | {"unit": unit}
    return rows


def chrome_tracks(rows: Sequence[dict[str, Any]], category: str) -> dict[str, list[Piece]]:
    """Slices of a category by the name of their row."""
    names = {(r["pid"], r["tid"]): r["args"]["name"] for r in rows if r["name"] == "thread_name"}
    tracks: dict[str, list[Piece]] = {}
    for row in rows:
        if row["ph"] == "X" and row["cat"] == category:
            start = round(row["ts"] * 1000)
            piece = Piece(start, start + round(row["dur"] * 1000), row["name"], row["args"].get("state", ""))
            tracks.setdefault(names[row["pid"], row["tid"]], []).append(piece)
    return tracks


def chrome_marks(rows: Sequence[dict[str, Any]]) -> list[tuple[str, int, str]]:
    """(row, time, words) of every instant."""
    names = {(r["pid"], r["tid"]): r["args"]["name"] for r in rows if r["name"] == "thread_name"}
    return [(names[r["pid"], r["tid"]], round(r["ts"] * 1000), r["name"]) for r in rows if r["ph"] == "i"]


def titles(svg: str) -> list[str]:
    return [e.text or "" for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")][1:]


_SEGMENT = re.compile(
    r"(?P<task>\S+): (?P<words>.*?)(?P<priority> at priority \d+)?(?: while (?P<by>\S+) runs)?, "
    r"(?P<start>[\d.]+ \w+) to (?P<end>[\d.]+ \w+) \((?P<long>[\d.]+ \w+)\)$"
)


def svg_segments(svg: str) -> dict[str, list[Piece]]:
    found: dict[str, list[Piece]] = {}
    for match in filter(None, map(_SEGMENT.match, titles(svg))):
        words = match["words"]
        if words.startswith("held up"):
            words += match["priority"] or ""
        piece = Piece(nanoseconds(match["start"]), nanoseconds(match["end"]), words, "")
        found.setdefault(match["task"], []).append(piece)
    return found


# -- comparisons ------------------------------------------------------------------------------------------


class _Comparison:
    def __init__(self, outputs: Outputs) -> None:
        self.out = outputs
        self.end: int = outputs.report["end"]
        self.tasks: list[dict[str, Any]] = outputs.report["tasks"]
        self.lanes = chrome_tracks(outputs.chrome, "task")
        self.threads = chrome_tracks(outputs.chrome, "state")
        self.marks = chrome_marks(outputs.chrome)

    def differences(self) -> Iterator[str]:
        yield from self._jobs()
        yield from self._table()
        yield from self._processor()
        yield from self._states()
        yield from self._chart()
        yield from self._picture()
        yield from self._picture_jobs()
        yield from self._faults()
        yield from self._waits()

    def _jobs(self) -> Iterator[str]:
        """The report agrees with itself, and with jobs and marks of the trace."""
        slices = chrome_tracks(self.out.chrome, "job")
        for task in self.tasks:
            name, jobs = task["name"], task["job_list"]
            ended = [job for job in jobs if job["end"] is not None]
            missed = [job for job in jobs if job["missed"]]
            late = [
                job
                for job in jobs
                if job["deadline"] is not None
                and (self.end >= job["deadline"] if job["end"] is None else job["end"] > job["deadline"])
            ]
            if not {job["index"] for job in late} <= {job["index"] for job in missed}:
                yield f"{name}: jobs {late} passed their deadline, and {missed} are reported"
            counts = (len(jobs), len(ended), len(jobs) - len(ended), len(missed))
            said = (task["released"], task["completed"], task["unfinished"], task["missed"])
            if counts != said or task["jobs"] != len(ended) or task["misses"] != len(missed):
                yield f"{name}: {said} and not {counts} jobs are released, completed, unfinished, missed"
            if task["open"] != len([j for j in jobs if j["end"] is None and not j["missed"]]):
                yield f"{name}: {task['open']} jobs are open"
            begun = [
                (job["begin"], self.end if job["end"] is None else job["end"], f"job {job['index']}")
                for job in jobs
                if job["begin"] is not None
                and (self.end if job["end"] is None else job["end"]) > job["begin"]
            ]
            shown = [piece[:3] for piece in slices.get(f"{name} jobs", [])]
            if begun != shown:
                yield f"{name}: jobs {begun} in the report, {shown} in the trace"
            releases = [(name, job["release"], f"release {job['index']}") for job in jobs]
            marks = [mark for mark in self.marks if mark[0] == name and mark[2].startswith("release ")]
            if releases != marks:
                yield f"{name}: releases {releases} in the report, {marks} in the trace"

    def _table(self) -> Iterator[str]:
        rows = table_rows(self.out.table)
        tasks = [task for task in self.tasks if rows or task["released"]]
        if list(rows) != [task["name"] for task in tasks]:
            yield f"the table has rows for {list(rows)}"
            return
        for task in tasks:
            row = rows[task["name"]]
            size = UNITS[row["unit"]]
            counts = {
                "released": "released",
                "completed": "completed",
                "open": "open",
                "priority": "priority",
            }
            if task["deadline"] is not None:
                counts["missed"] = "missed"
            times = {
                "min": task["response"]["min"], "mean": task["response"]["mean"],
                "max": task["response"]["max"], "deadline": task["deadline"], "blocked": task["blocked_max"],
            }  # fmt: skip
            for column, field in counts.items():
                if row[column] != str(task[field]):
                    yield f"{task['name']}: {column}: table {row[column]}, report {task[field]}"
            for column, value in times.items():
                shown = None if row[column] == "-" else float(row[column]) * size
                if (shown is None) != (value is None) or abs((shown or 0) - (value or 0)) > size / 1000:
                    yield f"{task['name']}: {column}: table {shown}, report {value}"

    def _processor(self) -> Iterator[str]:
        """One thread runs at a time, and what tasks run is what threads run."""
        running = sorted(p for pieces in self.threads.values() for p in pieces if p.state == "running")
        for one, two in pairwise(running):
            if one.end > two.start:
                yield f"two threads run from {two.start} to {one.end}"
        lanes = sorted(p for pieces in self.lanes.values() for p in pieces if p.state == "running")
        for one, two in pairwise(lanes):
            if one.end > two.start:
                yield f"two tasks run from {two.start} to {one.end}"
        covered = sum(p.end - p.start for p in lanes)
        busy = sum(max(min(p.end, q.end) - max(p.start, q.start), 0) for p, q in _overlapping(running, lanes))
        if covered != busy:
            yield f"tasks run for {covered} ns, and threads in {busy} ns of that"
        for name, pieces in self.threads.items():
            ends = [p.end for p in pieces]
            starts = [p.start for p in pieces]
            if starts != [0, *ends[:-1]] or ends[-1] != self.end:
                yield f"the states of {name} do not cover the run: {pieces}"

    def _states(self) -> Iterator[str]:
        """How long each task was in each state."""
        for task in self.tasks:
            times: dict[str, int] = {}
            for piece in self.lanes.get(task["name"], []):
                times[piece.state] = times.get(piece.state, 0) + piece.end - piece.start
            if times != task["states"]:
                yield f"{task['name']}: states {task['states']} in the report, {times} in the trace"

    def _chart(self) -> Iterator[str]:
        """Each cell of the chart is something that happens while it lasts."""
        names = list(self.lanes) + [task["name"] for task in self.tasks if task["name"] not in self.lanes]
        chart = self.out.table.split("response times")[0]
        left = max(map(len, names), default=0) + 2
        cells = WIDTH - left - 1
        for line in chart.splitlines():
            name = line[:left].strip()
            if name not in names or not chart:
                continue
            bar = line[left:].ljust(cells)
            for cell, glyph in enumerate(bar):
                low, high = cell * self.end // cells, (cell + 1) * self.end // cells
                if high <= low:
                    continue
                there = {p.state for p in self.lanes.get(name, []) if p.start < high and p.end > low} | {""}
                wanted = GLYPHS.get(glyph, {"running"} if glyph.isalpha() and glyph != "X" else there)
                if not there & wanted or (glyph == " " and _covered(self.lanes.get(name, []), low, high)):
                    yield f"{name}: the chart has {glyph!r} from {low} to {high} where it is {there}"

    def _picture(self) -> Iterator[str]:
        """Each state that is wide enough to be seen, and no other, is in the picture."""
        drawn = svg_segments(self.out.svg)
        fine = self.end // 1000  # more than what a picture joins
        for name in drawn.keys() | self.lanes.keys():
            pieces, shown = self.lanes.get(name, []), drawn.get(name, [])
            for piece in shown:
                if not any(p.words == piece.words and _overlap(p, piece) for p in pieces):
                    yield f"{name}: the picture has {piece}, the trace {_there(pieces, piece)}"
            for piece in pieces:
                same = sum(_overlap(piece, p) for p in shown if p.words == piece.words)
                if piece.end - piece.start > 2 * fine and same < piece.end - piece.start - 2 * fine:
                    yield f"{name}: the trace has {piece}, the picture {_there(shown, piece)}"

    def _picture_jobs(self) -> Iterator[str]:
        said = titles(self.out.svg)
        for task in self.tasks:
            name = task["name"]
            released = {
                (int(m[1]), nanoseconds(m[2]))
                for m in (re.match(rf"{re.escape(name)}: job (\d+) released at (.*)$", t) for t in said)
                if m
            }
            wanted = {
                (job["index"], job["release"]) for job in task["job_list"] if job["release"] <= self.end
            }
            if released != wanted:
                yield f"{name}: releases {wanted} in the report, {released} in the picture"
            missed = {
                int(m[1])
                for m in (
                    re.match(rf"{re.escape(name)}: deadline of job (\d+) at .*, missed$", t) for t in said
                )
                if m
            }
            late = {j["index"] for j in task["job_list"] if j["missed"] and j["deadline"] <= self.end}
            if missed != late:
                yield f"{name}: deadlines of {late} missed in the report, of {missed} in the picture"

    def _faults(self) -> Iterator[str]:
        report = Counter((f["thread"], f["time"]) for f in self.out.report["faults"])
        shown = {
            "the chart": [line[2:] for line in self.out.table.splitlines() if line.startswith("X fault of ")],
            "the picture": [t for t in titles(self.out.svg) if t.startswith("fault of ")],
            # on the rows of the thread and of the task
            "the trace": list({words for _, _, words in self.marks if words.startswith("fault of ")}),
        }
        for where, lines in shown.items():
            found = Counter()
            for line in lines:
                match = re.match(r"fault of (\S+) at ([\d.]+ \w+)", line)
                assert match is not None
                if "(handled)" not in line:
                    found[match[1], nanoseconds(match[2])] += 1
            if found != report:
                yield f"faults: {report} in the report, {found} in {where}"
        stopped = {
            n for n, pieces in self.threads.items() if pieces and pieces[-1].state == "stopped by a fault"
        }
        late = {thread for thread, time in report if time < self.end}
        if not late <= stopped <= {thread for thread, _ in report}:
            yield f"{stopped} end stopped by a fault; faults of {late} are reported"

    def _waits(self) -> Iterator[str]:
        for wait in self.out.report["waits"]:
            for step in wait["steps"]:
                last = self.threads.get(step["thread"], [Piece(0, 0, "", "waits")])[-1]
                if not last.state.startswith("waits"):
                    yield f"{step['thread']} waits for {step['for']}, says the report; the trace: {last}"


def _overlap(one: Piece, two: Piece) -> int:
    return max(min(one.end, two.end) - max(one.start, two.start), 0)


def _there(pieces: Sequence[Piece], piece: Piece) -> list[Piece]:
    return [other for other in pieces if _overlap(other, piece)]


def _overlapping(one: Sequence[Piece], two: Sequence[Piece]) -> Iterator[tuple[Piece, Piece]]:
    """Pairs that overlap, of two lists without overlaps of their own, both by time."""
    first = 0
    for piece in one:
        while first < len(two) and two[first].end <= piece.start:
            first += 1
        for other in two[first:]:
            if other.start >= piece.end:
                break
            yield piece, other


def _covered(pieces: Sequence[Piece], low: int, high: int) -> bool:
    return sum(max(min(p.end, high) - max(p.start, low), 0) for p in pieces) == high - low
