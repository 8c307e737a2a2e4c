# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Reads a trace file into events. The format is described in kernel/host/include/camkes/trace.h."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from camkes.diagnostics import Sink
from camkes.model.limits import NO_NUMBER
from camkes.running.bounds import END_OF_TIME, Bounds, beyond
from camkes.running.codes import TRACE_TRUNCATED, TRACE_UNKNOWN_KIND, TRACE_UNREADABLE
from camkes.running.kinds import ARGUMENTS, Kind

MAGIC = b"CAMKTRC1"

_HEADER = struct.Struct("<QHHHH")
_NUMBERS = frozenset(map(int, Kind))


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


#: what a reader of records makes of a kind, a thread and another thread; None: it does not want such records
Meaning = Callable[[Kind, int | None, int | None], "_About | None"]
_About = TypeVar("_About")


class _Header(NamedTuple, Generic[_About]):
    """What all records with the same second word have: their size in words (0: it cannot be right), their
    number of arguments, what they mean, and what their arguments are below, None: anything is possible."""

    size: int
    number: int
    about: _About | None
    kind: Kind
    limits: tuple[int, ...] | None


def load_trace(path: Path, sink: Sink) -> bytes | None:
    """The bytes of a trace file; None if it cannot be read or is not a trace, which is reported."""
    try:
        data = path.read_bytes()
    except OSError as error:
        sink.report(TRACE_UNREADABLE, f"cannot read the trace {path}: {error.strerror}")
        return None
    return data if _is_trace(data, str(path), sink) else None


def parse_trace(data: bytes, name: str, sink: Sink) -> tuple[Event, ...] | None:
    """All events of a trace that is in memory; `name` is for messages."""
    if not _is_trace(data, name, sink):
        return None
    found = read_records(data, name, sink, lambda kind, thread, other: (kind, thread, other))
    return tuple(Event(time, *about, args, text) for time, about, args, text in found)


def _is_trace(data: bytes, name: str, sink: Sink) -> bool:
    if data[: len(MAGIC)] != MAGIC:
        sink.report(TRACE_TRUNCATED, f"{name} is not a trace")
        return False
    return True


def read_records(
    data: bytes, name: str, sink: Sink, meaning: Meaning[_About], bounds: Bounds | None = None
) -> Iterator[tuple[int, _About, tuple[int, ...], str]]:
    """(time, what `meaning` made of it, arguments, text) of the records of a trace. Few combinations of kinds
    and threads occur many times: `meaning` is called once for each. Damage is reported, and so is what is
    beyond the `bounds` of the system, None: those are not known."""
    words = struct.unpack_from(f"<{len(data) // 8}Q", data)
    headers: dict[int, _Header[_About]] = {}
    at, end, now, wrong = 1, len(words), 0, ""  # of words
    while at + 1 < end:
        time, header = words[at], words[at + 1]
        known = headers.get(header)
        if known is None:
            known = headers[header] = _header(header, meaning, bounds)
        size, count, about, kind, limits = known
        if size == 0 or at + size > end or not now <= time < END_OF_TIME:
            break
        now = time
        if about is not None:
            args = words[at + 2 : at + 2 + count]
            if len(args) < count or size < count + 2:  # of an older kernel
                args = args[: size - 2] + (0,) * (count - size + 2)
            if limits is not None and (wrong := beyond(kind, args, limits)):
                break
            text = ""
            if kind is Kind.OUTPUT:
                text = data[8 * at + 24 : 8 * (at + size)][: args[0]].decode("utf-8", "replace")
            yield time, about, args, text
        at += size
    if 8 * at < len(data):
        wrong = wrong or _damage(data, 8 * at, now, bounds)
        sink.report(TRACE_TRUNCATED, f"{name}: {wrong} at byte {8 * at}; the rest was skipped")
    unknown = {header & 0xFFFF for header in headers} - _NUMBERS
    if unknown:
        numbers = ", ".join(map(str, sorted(unknown)))
        sink.report(TRACE_UNKNOWN_KIND, f"{name} has records of unknown kinds ({numbers}); they were skipped")


def _header(header: int, meaning: Meaning[_About], bounds: Bounds | None) -> _Header[_About]:
    """The second word of a record."""
    size, *numbers = header >> 16 & 0xFFFF, header >> 32 & 0xFFFF, header >> 48
    thread, other = (None if number == NO_NUMBER else number for number in numbers)
    if size < _HEADER.size or size % 8 or not (bounds is None or bounds.knows(thread, other)):
        return _Header(0, 0, None, Kind.BOOT, None)
    number = header & 0xFFFF
    if number not in _NUMBERS:
        return _Header(size // 8, 0, None, Kind.BOOT, None)
    kind = Kind(number)
    limits = None if bounds is None else bounds.limits(kind)
    return _Header(size // 8, len(ARGUMENTS[kind]), meaning(kind, thread, other), kind, limits)


def _damage(data: bytes, offset: int, now: int, bounds: Bounds | None) -> str:
    """What is wrong with the record at `offset`."""
    if offset + _HEADER.size <= len(data):
        time, _, size, *threads = _HEADER.unpack_from(data, offset)
        if size < _HEADER.size or size % 8:
            return f"a record has an invalid size of {size} bytes"
        if bounds is not None and not bounds.knows(*(t for t in threads if t != NO_NUMBER)):
            return "a record is about a thread that the system does not have"
        if offset + size <= len(data) and time < now:
            return "time goes backwards"
        if time >= END_OF_TIME:
            return "a record has an impossible time"
    return "the trace ends inside a record"


def encode_records(records: Iterable[tuple[int, int, int, int, tuple[int, ...]]]) -> bytes:
    """A trace file as a kernel writes it, of (time, kind, thread, other thread, arguments)."""
    parts = [MAGIC]
    for time, kind, thread, other, arguments in records:
        body = struct.pack(f"<{len(arguments)}Q", *arguments)
        parts.append(_HEADER.pack(time, kind, _HEADER.size + len(body), thread, other) + body)
    return b"".join(parts)
