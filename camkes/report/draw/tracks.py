# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run as tracks for a trace viewer: slices, counters, instants and arrows, before any file format."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from camkes.report.trace.model import Inheritance, Lane, LockStep, Run, Segment
from camkes.report.words import exact_time, fault_words, state_words

Details = tuple[tuple[str, str | int], ...]


class TrackKind(StrEnum):
    """What a track shows; `Track.number` is that of a thread, for TASK the place of a lane in its run."""

    TASK = "task"
    STATE = "state"
    REQUESTS = "request"
    JOBS = "job"


class Track(NamedTuple):
    kind: TrackKind
    number: int


class Slice(NamedTuple):
    """A stretch of a track. Slices of one track do not overlap."""

    track: Track
    start: int
    end: int
    name: str
    details: Details = ()


class Instant(NamedTuple):
    """Something that happens at an instant. `flow` begins at the first instant that has its number and ends
    at the second."""

    track: Track
    time: int
    name: str
    details: Details = ()
    flow: int | None = None
    flow_ends: bool = False


class Sample(NamedTuple):
    """A thread's priority from an instant on."""

    thread: int
    time: int
    value: int


class Tracks(Struct, frozen=True):
    """All there is to show. `names` are those of the tracks that have something, in order; `processes` says
    in which address space a track is, "": it is a task's."""

    names: dict[Track, str]
    processes: dict[Track, str]
    slices: tuple[Slice, ...]
    instants: tuple[Instant, ...]
    priorities: tuple[Sample, ...]


def build_tracks(run: Run) -> Tracks:
    slices = [*_states(run), *_requests(run), *_jobs(run)]
    instants = sorted([*_marks(run), *_inheritances(run)], key=lambda instant: instant.time)
    used = {piece.track for piece in slices}
    names: dict[Track, str] = {}
    processes: dict[Track, str] = {}
    for number, lane in enumerate(run.lanes):
        names[Track(TrackKind.TASK, number)] = lane.task.name
        processes[Track(TrackKind.TASK, number)] = ""
    for number, thread in enumerate(run.threads):
        named = thread.named
        for kind, words in (
            (TrackKind.STATE, named.name),
            (TrackKind.REQUESTS, f"{named.name} requests"),
            (TrackKind.JOBS, f"{named.name} jobs"),
        ):
            track = Track(kind, number)
            if kind is TrackKind.STATE or track in used:
                names[track], processes[track] = words, named.space or named.name
    return Tracks(
        names,
        processes,
        tuple(slices),
        tuple(instants),
        tuple(Sample(n, time, value) for n, t in enumerate(run.threads) for time, value in t.priorities),
    )


def _states(run: Run) -> Iterator[Slice]:
    for number, lane in enumerate(run.lanes):
        yield from (_segment(Track(TrackKind.TASK, number), segment) for segment in lane.segments)
    for number, thread in enumerate(run.threads):
        yield from (_segment(Track(TrackKind.STATE, number), segment) for segment in thread.segments)


def _segment(track: Track, segment: Segment) -> Slice:
    details: list[tuple[str, str | int]] = [("state", segment.state.value), ("priority", segment.priority)]
    if segment.what:
        details.append(("what", segment.what))
    if segment.by:
        details.append(("meanwhile", segment.by))
    return Slice(track, segment.start, segment.end, state_words(segment), tuple(details))


def _requests(run: Run) -> Iterator[Slice]:
    names = run.names
    for request in run.requests:
        if request.end > request.start:
            task = names.task(request.task)
            details: Details = (
                ("context", names.context_name(request.context)),
                ("priority", request.priority),
                ("task", task.name if task else "?" if request.task is None else str(request.task)),
                ("sequence", request.sequence),
            )
            track = Track(TrackKind.REQUESTS, request.thread)
            yield Slice(track, request.start, request.end, names.cpi_name(request.cpi), details)


def _jobs(run: Run) -> Iterator[Slice]:
    for lane in run.lanes:
        track = Track(TrackKind.JOBS, lane.thread)
        for job in lane.jobs:
            end = run.end if job.end is None else job.end
            if job.begin is not None and end > job.begin:
                details: Details = (("release", job.release), ("outcome", job.outcome.value))
                yield Slice(track, job.begin, end, f"job {job.number}", details)


def _marks(run: Run) -> Iterator[Instant]:
    names = run.names
    for output in run.outputs:
        words = output.text.rstrip("\n") or "(empty line)"
        yield Instant(Track(TrackKind.STATE, output.thread), output.time, words)
    for lock in run.locks:
        verb = {LockStep.TAKES: "takes", LockStep.GETS: "gets", LockStep.FREES: "frees"}[lock.step]
        context = (("context", names.context_name(lock.context)),)
        words = f"{verb} the lock of {names.cpi_name(lock.cpi)}"
        yield Instant(Track(TrackKind.STATE, lock.thread), lock.time, words, context)
    for fault in run.faults:
        details: Details = (("address", hex(fault.address)), ("pc", hex(fault.pc)))
        yield Instant(Track(TrackKind.STATE, fault.thread.number), fault.time, fault_words(fault), details)
        for number, lane in enumerate(run.lanes):
            if fault.task and lane.task.name == fault.task:
                yield Instant(Track(TrackKind.TASK, number), fault.time, fault_words(fault), details)
    for number, lane in enumerate(run.lanes):
        yield from _job_marks(run, Track(TrackKind.TASK, number), lane)


def _job_marks(run: Run, track: Track, lane: Lane) -> Iterator[Instant]:
    for job in lane.jobs:
        yield Instant(track, job.release, f"release {job.number}", (("outcome", job.outcome.value),))
        if job.missed and job.deadline is not None and job.deadline <= run.end:
            words = f"deadline of job {job.number} missed"
            yield Instant(track, job.deadline, words, (("released", exact_time(job.release)),))


def _inheritances(run: Run) -> Iterator[Instant]:
    for flow, item in enumerate(run.inheritances, 1):
        yield from _inheritance(run, item, flow)


def _inheritance(run: Run, item: Inheritance, flow: int) -> Iterator[Instant]:
    """An arrow from the waiter to the thread that gets its priority; only on the way up."""
    names = run.names
    heir = Track(TrackKind.STATE, item.heir)
    at = (("at", names.cpi_name(item.cpi)),)
    if item.after <= item.before:
        yield Instant(heir, item.time, f"back to {item.after}", at)
        return
    words = f"inherits {item.after} from {names.context_name(item.cause)}"
    if item.source is None:
        yield Instant(heir, item.time, words, at)
        return
    lends = f"lends {item.after} to {names.context_name(item.context)}"
    yield Instant(Track(TrackKind.STATE, item.source), item.time, lends, at, flow)
    yield Instant(heir, item.time, words, at, flow, True)
