# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes a trace that ui.perfetto.dev opens (track events in protobuf).

A process is an address space, and one more has a track for each task: what it did or waited for, wherever
that was. Each thread has a track of its states and marks, and under it its priority as a counter and tracks
of the requests that it serves and of its jobs. Arrows go from a waiter to the thread that inherits its
priority.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

from camkes.report.draw.chrome import TASKS
from camkes.report.draw.protobuf import blob, fixed64, string, uint
from camkes.report.draw.tracks import Instant, Sample, Slice, Track, TrackKind, Tracks

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


def perfetto_trace(tracks: Tracks) -> bytes:
    """The bytes of the file; packets are by time."""
    packets = [_packet(body) for body in _descriptors(tracks)]
    timed: list[tuple[int, int, bytes]] = []
    for sample in tracks.priorities:
        timed.append((sample.time, 1, _counter(sample)))
    for piece in tracks.slices:
        timed.extend(_slice(piece))
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


_KINDS = {TrackKind.STATE: 2, TrackKind.REQUESTS: 3, TrackKind.JOBS: 5, TrackKind.TASK: 6}


def _process_track(space: int) -> int:
    return 1 << 32 | space + 1


def _uuid(track: Track) -> int:
    return _KINDS[track.kind] << 32 | track.number + 1


def _priority_track(thread: int) -> int:
    return 4 << 32 | thread + 1


def _descriptors(tracks: Tracks) -> Iterable[bytes]:
    spaces = list(dict.fromkeys(tracks.processes.values()))
    for number, name in enumerate(spaces):
        process = uint(1, number + 1) + string(6, name or TASKS)
        yield _descriptor(_process_track(number), blob(_Descriptor.PROCESS, process))
    for track, name in tracks.names.items():
        space = spaces.index(tracks.processes[track])
        parent = uint(_Descriptor.PARENT, _process_track(space))
        if track.kind is TrackKind.STATE:
            about = uint(1, space + 1) + uint(2, track.number + 1) + string(5, name)
            yield _descriptor(_uuid(track), parent + blob(_Descriptor.THREAD, about))
            below = uint(_Descriptor.PARENT, _uuid(track))
            label = string(_Descriptor.NAME, f"{name} priority")
            yield _descriptor(_priority_track(track.number), label + below + blob(_Descriptor.COUNTER, b""))
            continue
        if track.kind is not TrackKind.TASK:
            parent = uint(_Descriptor.PARENT, _uuid(Track(TrackKind.STATE, track.number)))
        yield _descriptor(_uuid(track), string(_Descriptor.NAME, name) + parent)


def _descriptor(uuid: int, rest: bytes) -> bytes:
    return blob(_Packet.TRACK_DESCRIPTOR, uint(_Descriptor.UUID, uuid) + rest)


def _event(kind: _Type, track: int, rest: bytes = b"") -> bytes:
    return uint(_Field.TYPE, kind) + uint(_Field.TRACK, track) + rest


def _slice(piece: Slice) -> list[tuple[int, int, bytes]]:
    track = _uuid(piece.track)
    about = string(_Field.CATEGORY, piece.track.kind.value) + string(_Field.NAME, piece.name)
    begin = _event(_Type.SLICE_BEGIN, track, about + _details(piece.details))
    return [(piece.start, 1, begin), (piece.end, 0, _event(_Type.SLICE_END, track))]


def _counter(sample: Sample) -> bytes:
    return _event(_Type.COUNTER, _priority_track(sample.thread), uint(_Field.COUNTER_VALUE, sample.value))


def _instant(instant: Instant) -> bytes:
    about = string(_Field.CATEGORY, "mark") + string(_Field.NAME, instant.name) + _details(instant.details)
    if instant.flow is not None:
        about += fixed64(_Field.FLOW_END if instant.flow_ends else _Field.FLOW, instant.flow)
    return _event(_Type.INSTANT, _uuid(instant.track), about)


def _details(details: Sequence[tuple[str, str | int]]) -> bytes:
    """Debug annotations: what the viewer shows of a selected event."""
    parts = []
    for name, value in details:
        content = uint(3, value) if isinstance(value, int) else string(6, value)
        parts.append(blob(_Field.ANNOTATION, content + string(10, name)))
    return b"".join(parts)
