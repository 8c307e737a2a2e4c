# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Frames of a network: files of captures (pcap), and what a run reads and writes, which has for each frame
its time, its length and its bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

#: by the first four bytes of a capture: the order of its bytes, and the nanoseconds of its smaller unit
_FORMS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
_ETHERNET = 1
_HEADER = struct.Struct("<QI")
_LONGEST = 1 << 18


class NotACaptureError(Exception):
    """Why a file has no frames that can be read."""


def from_capture(data: bytes) -> bytes:
    """What a run reads: the frames of a capture, with the first at time 0."""
    order, unit = _FORMS.get(data[:4], ("", 0))
    if not order or len(data) < 24:
        raise NotACaptureError("it is not a capture in the form pcap")
    if struct.unpack_from(f"{order}I", data, 20)[0] != _ETHERNET:
        raise NotACaptureError("it is a capture of something other than Ethernet")
    frames: list[tuple[int, bytes]] = []
    place = 24
    while place < len(data):
        if place + 16 > len(data):
            raise NotACaptureError("it ends within a frame")
        seconds, part, length, _ = struct.unpack_from(f"{order}4I", data, place)
        frame = data[place + 16 : place + 16 + length]
        if len(frame) < length:
            raise NotACaptureError("it ends within a frame")
        frames.append((seconds * 1_000_000_000 + part * unit, frame))
        place += 16 + length
    frames.sort(key=lambda frame: frame[0])
    return b"".join(_HEADER.pack(time - frames[0][0], len(frame)) + frame for time, frame in frames)


def to_capture(data: bytes) -> bytes:
    """A capture of what a run wrote; times are those of the run."""
    frames = (
        struct.pack("<4I", time // 1_000_000_000, time % 1_000_000_000, len(frame), len(frame)) + frame
        for time, frame in _frames(data)
    )
    first = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, _LONGEST, _ETHERNET)
    return b"".join((first, *frames))


def _frames(data: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + _HEADER.size <= len(data):
        time, length = _HEADER.unpack_from(data, place)
        place += _HEADER.size
        yield time, data[place : place + length]
        place += length
