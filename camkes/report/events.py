# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Reads a trace file into events. The format is described in runtime/include/camkes/trace.h."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from camkes.diagnostics import Sink
from camkes.records import NamedTuple
from camkes.report.codes import TRACE_TRUNCATED, TRACE_UNKNOWN_KIND, TRACE_UNREADABLE
from camkes.report.kinds import ARGUMENTS, Kind

MAGIC = b"CAMKTRC1"
NOBODY = 0xFFFF

_HEADER = struct.Struct("<QHHHH")


class Event(NamedTuple):
    """One record. `args` has exactly the arguments that `ARGUMENTS[kind]` names.

    `thread` and `other` are numbers of threads, None: no thread. `text` is what OUTPUT printed.
    """

    time: int
    kind: Kind
    thread: int | None = None
    other: int | None = None
    args: tuple[int, ...] = ()
    text: str = ""


def read_trace(path: Path, sink: Sink) -> tuple[Event, ...] | None:
    """The events of a trace file. None if there are none to show; a damaged end is reported and left out."""
    try:
        data = path.read_bytes()
    except OSError as error:
        sink.report(TRACE_UNREADABLE, f"cannot read the trace {path}: {error.strerror}")
        return None
    return parse_trace(data, str(path), sink)


def parse_trace(data: bytes, name: str, sink: Sink) -> tuple[Event, ...] | None:
    """The events of a trace that is in memory; `name` is for messages."""
    if data[: len(MAGIC)] != MAGIC:
        sink.report(TRACE_TRUNCATED, f"{name} does not begin as a trace does")
        return None
    kinds = {int(kind): (kind, len(names)) for kind, names in ARGUMENTS.items()}
    events: list[Event] = []
    unknown: set[int] = set()
    offset, end, now = len(MAGIC), len(data), 0
    while offset < end:
        wrong = _damage(data, offset, end, now)
        if wrong:
            sink.report(TRACE_TRUNCATED, f"{name}: {wrong} at byte {offset}; what follows was left out")
            break
        now, number, size, thread, other = _HEADER.unpack_from(data, offset)
        body = offset + _HEADER.size
        offset += size
        if number not in kinds:
            unknown.add(number)
            continue
        kind, count = kinds[number]
        words = min(count, (offset - body) // 8)
        args: tuple[int, ...] = struct.unpack_from(f"<{words}Q", data, body)
        if words < count:
            args += (0,) * (count - words)
        text = ""
        if kind is Kind.OUTPUT:
            start = body + 8
            text = data[start : min(start + args[0], offset)].decode("utf-8", "replace")
        events.append(
            Event(
                now,
                kind,
                None if thread == NOBODY else thread,
                None if other == NOBODY else other,
                args,
                text,
            )
        )
    if unknown:
        numbers = ", ".join(map(str, sorted(unknown)))
        sink.report(
            TRACE_UNKNOWN_KIND, f"{name} has records of unknown kinds ({numbers}); they were left out"
        )
    return tuple(events)


def _damage(data: bytes, offset: int, end: int, now: int) -> str:
    """What is wrong with the record at `offset`; empty if nothing is."""
    if offset + _HEADER.size > end:
        return "the trace ends inside a record"
    time, _, size, _, _ = _HEADER.unpack_from(data, offset)
    if size < _HEADER.size or size % 8:
        return f"a record says it has {size} bytes"
    if offset + size > end:
        return "the trace ends inside a record"
    if time < now:
        return "time goes backwards"
    return ""


def encode_trace(events: Iterable[Event]) -> bytes:
    """A trace file with these events: what the kernel would have written."""
    parts = [MAGIC]
    for event in events:
        body = struct.pack(f"<{len(event.args)}Q", *event.args)
        if event.kind is Kind.OUTPUT:
            text = event.text.encode()
            body = struct.pack("<Q", len(text)) + text + bytes(-len(text) % 8)
        thread = NOBODY if event.thread is None else event.thread
        other = NOBODY if event.other is None else event.other
        parts.append(_HEADER.pack(event.time, event.kind, _HEADER.size + len(body), thread, other) + body)
    return b"".join(parts)
