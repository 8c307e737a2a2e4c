# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes a run as trace events in JSON, which ui.perfetto.dev, chrome://tracing and Speedscope open.

A process is an address space; one more, `tasks`, has a row for each task: what it did or waited for, wherever
that was. The rows of a process are its threads; requests and jobs of a thread have rows of their own. The
priority of a thread is a counter of its process. Arrows go from a waiter to the thread that inherits its
priority.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from camkes.running.model import Inheritance, LockStep, Run, StateSegment
from camkes.showing.words import exact_time, fault_words, held_words, state_words
from camkes.visible import visible_json

TASKS = "tasks"

TraceEvent = dict[str, Any]
Details = Mapping[str, str | int]


class _RowKind(StrEnum):
    """What a row shows: also the category of its slices."""

    TASK = "task"
    STATE = "state"
    REQUESTS = "request"
    JOBS = "job"


def trace_events(run: Run) -> tuple[Sequence[TraceEvent], Sequence[TraceEvent]]:
    """Names of processes and rows; then what happened, by time. Times are microseconds, as the format
    defines."""
    events = _TraceEvents(run)
    timed = [
        *events.states(), *events.requests(), *events.jobs(), *events.priorities(),
        *events.outputs(), *events.locks(), *events.faults(), *events.releases(), *events.inheritances(),
    ]  # fmt: skip
    timed.sort(key=lambda event: float(event["ts"]))
    return events.rows, timed


def perfetto_json(run: Run) -> str:
    """The file's text: one event a line."""
    rows, timed = trace_events(run)
    lines = ",\n".join(visible_json(json.dumps(event, ensure_ascii=False)) for event in (*rows, *timed))
    return f'{{"displayTimeUnit": "ns", "traceEvents": [\n{lines}\n]}}\n'


class _TraceEvents:
    """The events of a run. `rows` name processes and rows. `places` has the ids of the process and the row of
    each lane (TASK) and thread (the other kinds), by its index."""

    def __init__(self, run: Run) -> None:
        self.run, self.names = run, run.names
        self.rows: list[TraceEvent] = []
        self.places: dict[tuple[_RowKind, int], dict[str, int]] = {}
        self._processes: dict[str, int] = {}
        for index, lane in enumerate(run.lanes):
            self._add_row(_RowKind.TASK, index, "", lane.task.name)
        serving = {request.thread for request in run.requests}
        working = {lane.thread for lane in run.lanes if lane.jobs}
        for index, thread in enumerate(run.threads):
            name, process = thread.named.name, thread.named.space or thread.named.name
            self._add_row(_RowKind.STATE, index, process, name)
            if index in serving:
                self._add_row(_RowKind.REQUESTS, index, process, f"{name} requests")
            if index in working:
                self._add_row(_RowKind.JOBS, index, process, f"{name} jobs")

    def _add_row(self, kind: _RowKind, index: int, process: str, name: str) -> None:
        """`process` is an address space, "": that of the rows of tasks."""
        pid = self._processes.get(process)
        if pid is None:
            pid = self._processes[process] = len(self._processes) + 1
            words = process or TASKS
            self.rows.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": words}})
        place = self.places[kind, index] = {"pid": pid, "tid": len(self.places) + 1}
        self.rows.append({"ph": "M", **place, "name": "thread_name", "args": {"name": name}})

    def _slice(
        self, kind: _RowKind, index: int, start: int, end: int, name: str, details: Details
    ) -> TraceEvent:
        """Slices of one row do not overlap."""
        times = {"ts": start / 1000, "dur": (end - start) / 1000}
        place = self.places[kind, index]
        return {"ph": "X", "name": name, "cat": kind.value, **place, **times, "args": details}

    def _mark(
        self, kind: _RowKind, index: int, time: int, name: str, details: Details | None = None
    ) -> TraceEvent:
        place = self.places[kind, index]
        details = details or {}
        return {"ph": "i", "name": name, "cat": "mark", "s": "t", **place, "ts": time / 1000, "args": details}

    def states(self) -> Iterator[TraceEvent]:
        for index, lane in enumerate(self.run.lanes):
            yield from self._segments(_RowKind.TASK, index, lane.segments)
        for index, thread in enumerate(self.run.threads):
            yield from self._segments(_RowKind.STATE, index, thread.segments)

    def _segments(self, kind: _RowKind, index: int, segments: Iterable[StateSegment]) -> Iterator[TraceEvent]:
        for segment in segments:
            words, details = state_words(segment, self.names), _segment_details(segment)
            yield self._slice(kind, index, segment.start, segment.end, words, details)

    def requests(self) -> Iterator[TraceEvent]:
        for request in self.run.requests:
            if request.end > request.start:
                task = self.names.task(request.task)
                details: Details = {
                    "context": self.names.context_name(request.context),
                    "priority": request.priority,
                    "task": task.name if task else "?" if request.task is None else str(request.task),
                    "sequence": request.sequence,
                }
                name = self.names.cpi_name(request.cpi)
                yield self._slice(
                    _RowKind.REQUESTS, request.thread, request.start, request.end, name, details
                )

    def jobs(self) -> Iterator[TraceEvent]:
        for lane in self.run.lanes:
            for job in lane.jobs:
                end = self.run.end if job.end is None else job.end
                if job.begin is not None and end > job.begin:
                    details: Details = {"release": job.release, "outcome": job.outcome.value}
                    name = f"job {job.number}"
                    yield self._slice(_RowKind.JOBS, lane.thread, job.begin, end, name, details)

    def priorities(self) -> Iterator[TraceEvent]:
        for index, thread in enumerate(self.run.threads):
            counter = {"ph": "C", "name": thread.named.name, "pid": self.places[_RowKind.STATE, index]["pid"]}
            for time, priority in thread.priorities:
                yield {**counter, "ts": time / 1000, "args": {"priority": priority}}

    def outputs(self) -> Iterator[TraceEvent]:
        for output in self.run.outputs:
            words = output.text.rstrip("\n") or "(empty line)"
            yield self._mark(_RowKind.STATE, output.thread, output.time, words)

    def locks(self) -> Iterator[TraceEvent]:
        for lock in self.run.locks:
            verb = {LockStep.TAKES: "takes", LockStep.GETS: "gets", LockStep.FREES: "frees"}[lock.step]
            words = f"{verb} the lock of {self.names.cpi_name(lock.cpi)}"
            details = {"context": self.names.context_name(lock.context)}
            yield self._mark(_RowKind.STATE, lock.thread, lock.time, words, details)

    def faults(self) -> Iterator[TraceEvent]:
        """On the row of the thread and on that of the task for which it worked."""
        for fault in self.run.faults:
            details = {"address": hex(fault.address), "pc": hex(fault.pc)}
            words = fault_words(fault)
            yield self._mark(_RowKind.STATE, fault.thread.number, fault.time, words, details)
            for index, lane in enumerate(self.run.lanes):
                if fault.task and lane.task.name == fault.task:
                    yield self._mark(_RowKind.TASK, index, fault.time, words, details)

    def releases(self) -> Iterator[TraceEvent]:
        """Releases, and deadlines that were missed."""
        for index, lane in enumerate(self.run.lanes):
            for job in lane.jobs:
                details = {"outcome": job.outcome.value}
                yield self._mark(_RowKind.TASK, index, job.release, f"release {job.number}", details)
                if job.missed and job.deadline is not None and job.deadline <= self.run.end:
                    words = f"deadline of job {job.number} missed"
                    details = {"released": exact_time(job.release)}
                    yield self._mark(_RowKind.TASK, index, job.deadline, words, details)

    def inheritances(self) -> Iterator[TraceEvent]:
        for number, item in enumerate(self.run.inheritances, 1):
            yield from self._inheritance(item, number)

    def _inheritance(self, item: Inheritance, number: int) -> Iterator[TraceEvent]:
        """An arrow from the waiter to the thread that gets its priority; only on the way up. A viewer ties
        the ends of an arrow to the marks before them."""
        at = {"at": self.names.cpi_name(item.cpi) if item.cpi >= 0 else self.names.thread_name(item.heir)}
        if item.after <= item.before:
            yield self._mark(_RowKind.STATE, item.heir, item.time, f"back to {item.after}", at)
            return
        words = f"inherits {item.after} from {self.names.context_name(item.cause)}"
        ends = [(item.heir, words, {"ph": "f", "bp": "e"})]
        if item.source is not None:
            lends = f"lends {item.after} to {self.names.context_name(item.context)}"
            ends.insert(0, (item.source, lends, {"ph": "s"}))
        for thread, name, end in ends:
            mark = self._mark(_RowKind.STATE, thread, item.time, name, at)
            yield mark
            if item.source is not None:
                place = self.places[_RowKind.STATE, thread]
                arrow = {"name": "inherits", "cat": "inherits", "id": number}
                yield {**end, **arrow, **place, "ts": mark["ts"]}


def _segment_details(segment: StateSegment) -> Details:
    details = {"state": segment.state.value, "priority": segment.priority}
    details |= {"what": segment.what} if segment.what else {}
    holders = ", ".join(held_words(segment.state, each) for each in segment.holders)
    details |= {"holders": holders} if holders else {}
    return details | ({"meanwhile": segment.by} if segment.by else {})
