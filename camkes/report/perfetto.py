# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes a trace that ui.perfetto.dev opens (track events in protobuf).

A process is an address space. Each thread has a track of its states and marks, and under it a track of
the requests it serves (for a task: its jobs) and its priority as a counter. Arrows go from a waiter to the
thread that inherits its priority.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

from camkes.report.protobuf import blob, fixed64, string, uint
from camkes.report.trace.names import TraceNames
from camkes.report.tracks import Instant, Sample, Slice, Tracks

SEQUENCE = 1  # all packets are of one sequence


class _Packet(IntEnum):
    """Fields of perfetto.protos.TracePacket."""

    TIMESTAMP = 8
    SEQUENCE_ID = 10
    TRACK_EVENT = 11
    SEQUENCE_FLAGS = 13
    TRACK_DESCRIPTOR = 60


class _Descriptor(IntEnum):
    """Fields of perfetto.protos.TrackDescriptor."""

    UUID = 1
    NAME = 2
    PROCESS = 3
    THREAD = 4
    PARENT = 5
    COUNTER = 8


class _Field(IntEnum):
    """Fields of perfetto.protos.TrackEvent."""

    ANNOTATION = 4
    TYPE = 9
    TRACK = 11
    CATEGORY = 22
    NAME = 23
    COUNTER_VALUE = 30
    FLOW = 47
    FLOW_END = 48


class _Type(IntEnum):
    SLICE_BEGIN = 1
    SLICE_END = 2
    INSTANT = 3
    COUNTER = 4


def perfetto_trace(tracks: Tracks, names: TraceNames) -> bytes:
    """The bytes of the file; packets are by time."""
    packets = [_packet(body) for body in _descriptors(tracks, names)]
    timed: list[tuple[int, int, bytes]] = []
    for sample in tracks.priorities:
        timed.append((sample.time, 1, _counter(sample)))
    for piece in tracks.states:
        timed.extend(_slice(piece, _state_track(piece.thread), "state"))
    for piece in tracks.requests:
        timed.extend(_slice(piece, _work_track(piece.thread), "request"))
    for piece in tracks.jobs:
        timed.extend(_slice(piece, _work_track(piece.thread), "job"))
    for instant in tracks.instants:
        timed.append((instant.time, 2, _instant(instant)))
    timed.sort(key=lambda item: item[:2])  # at one instant: ends, beginnings and counters, marks
    packets.extend(_packet(blob(_Packet.TRACK_EVENT, body), time) for time, _, body in timed)
    first = uint(_Packet.SEQUENCE_FLAGS, 1)  # incremental state cleared: nothing came before
    return _packet(first) + b"".join(packets)


def _packet(body: bytes, time: int | None = None) -> bytes:
    stamp = b"" if time is None else uint(_Packet.TIMESTAMP, time)
    return blob(1, stamp + uint(_Packet.SEQUENCE_ID, SEQUENCE) + body)


# Identifiers of tracks are made of small numbers, so that they are the same in every run.


def _process_track(space: int) -> int:
    return 1 << 32 | space + 1


def _state_track(thread: int) -> int:
    return 2 << 32 | thread + 1


def _work_track(thread: int) -> int:
    return 3 << 32 | thread + 1


def _priority_track(thread: int) -> int:
    return 4 << 32 | thread + 1


def _descriptors(tracks: Tracks, names: TraceNames) -> Iterable[bytes]:
    spaces = list(dict.fromkeys(thread.space for thread in names.threads))
    jobs = {piece.thread for piece in tracks.jobs}
    working = jobs | {piece.thread for piece in tracks.requests}
    for number, name in enumerate(spaces):
        process = uint(1, number + 1) + string(6, name)
        yield _descriptor(_process_track(number), blob(_Descriptor.PROCESS, process))
    for thread in names.threads:
        space = spaces.index(thread.space)
        about = uint(1, space + 1) + uint(2, thread.number + 1) + string(5, thread.name)
        parent = uint(_Descriptor.PARENT, _process_track(space))
        yield _descriptor(_state_track(thread.number), parent + blob(_Descriptor.THREAD, about))
        below = uint(_Descriptor.PARENT, _state_track(thread.number))
        if thread.number in working:
            words = "jobs" if thread.number in jobs else "requests"
            label = string(_Descriptor.NAME, f"{thread.name} {words}")
            yield _descriptor(_work_track(thread.number), label + below)
        label = string(_Descriptor.NAME, f"{thread.name} priority")
        yield _descriptor(_priority_track(thread.number), label + below + blob(_Descriptor.COUNTER, b""))


def _descriptor(uuid: int, rest: bytes) -> bytes:
    return blob(_Packet.TRACK_DESCRIPTOR, uint(_Descriptor.UUID, uuid) + rest)


def _event(kind: _Type, track: int, rest: bytes = b"") -> bytes:
    return uint(_Field.TYPE, kind) + uint(_Field.TRACK, track) + rest


def _slice(piece: Slice, track: int, category: str) -> list[tuple[int, int, bytes]]:
    about = string(_Field.CATEGORY, category) + string(_Field.NAME, piece.name) + _details(piece.details)
    begin = _event(_Type.SLICE_BEGIN, track, about)
    return [(piece.start, 1, begin), (piece.end, 0, _event(_Type.SLICE_END, track))]


def _counter(sample: Sample) -> bytes:
    return _event(_Type.COUNTER, _priority_track(sample.thread), uint(_Field.COUNTER_VALUE, sample.value))


def _instant(instant: Instant) -> bytes:
    about = string(_Field.CATEGORY, "mark") + string(_Field.NAME, instant.name) + _details(instant.details)
    if instant.flow is not None:
        about += fixed64(_Field.FLOW_END if instant.flow_ends else _Field.FLOW, instant.flow)
    return _event(_Type.INSTANT, _state_track(instant.thread), about)


def _details(details: Sequence[tuple[str, str | int]]) -> bytes:
    """Debug annotations: what the viewer shows of a selected event."""
    parts = []
    for name, value in details:
        content = uint(3, value) if isinstance(value, int) else string(6, value)
        parts.append(blob(_Field.ANNOTATION, content + string(10, name)))
    return b"".join(parts)
