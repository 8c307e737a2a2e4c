# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Records of a trace: what is written is read back, and no bytes of a damaged one make a traceback."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.diagnostics import Sink
from camkes.model.limits import NO_NUMBER
from camkes.running.events import MAGIC, Event, encode_records, load_trace, parse_trace
from camkes.running.kinds import ARGUMENTS, Kind

pytestmark = pytest.mark.requirement("TOOL-10")

WORD = st.integers(0, 2**64 - 1)
THREAD = st.none() | st.integers(0, 0xFFFE)


@st.composite
def traces(draw: st.DrawFn) -> list[Event]:
    events = []
    now = 0
    for _ in range(draw(st.integers(0, 12))):
        now += draw(st.integers(0, 2**40))
        kind = draw(st.sampled_from(Kind))
        text = draw(st.text(max_size=20)) if kind is Kind.OUTPUT else ""
        args = tuple(draw(WORD) for _ in ARGUMENTS[kind])
        if kind is Kind.OUTPUT:
            args = (len(text.encode()),)
        events.append(Event(now, kind, draw(THREAD), draw(THREAD), args, text))
    return events


def encode_trace(events: Iterable[Event]) -> bytes:
    """A trace file with these events."""
    records = []
    for time, kind, thread, other, args, text in events:
        data = text.encode()
        words = struct.unpack(f"<{-(-len(data) // 8)}Q", data + bytes(-len(data) % 8))
        numbers = (NO_NUMBER if number is None else number for number in (thread, other))
        records.append((time, kind, *numbers, (*args, *words)))
    return encode_records(records)


@given(traces())
def test_written_events_are_read_back(events: list[Event]) -> None:
    sink = Sink()
    assert parse_trace(encode_trace(events), "t", sink) == tuple(events)
    assert not sink.diagnostics


@given(traces(), st.data())
def test_a_truncated_trace_gives_what_came_before(events: list[Event], data: st.DataObject) -> None:
    whole = encode_trace(events)
    cut = data.draw(st.integers(len(MAGIC), len(whole)))
    sink = Sink()
    read = parse_trace(whole[:cut], "t", sink)
    assert read is not None
    assert read == tuple(events[: len(read)])
    at_a_boundary = encode_trace(events[: len(read)]) == whole[:cut]
    assert at_a_boundary == (not sink.diagnostics)
    assert all(d.code.number == "E0803" for d in sink.diagnostics)


@given(st.binary(max_size=200))
def test_no_bytes_make_a_traceback(data: bytes) -> None:
    sink = Sink()
    parse_trace(data, "t", sink)
    parse_trace(MAGIC + data, "t", sink)


def test_a_file_without_the_beginning_of_a_trace_has_no_events(tmp_path: Path) -> None:
    path = tmp_path / "photo.trace"
    path.write_bytes(b"\x89PNG....")
    sink = Sink()
    assert load_trace(path, sink) is None
    assert [d.code.number for d in sink.diagnostics] == ["E0803"]


def test_a_missing_file_is_a_diagnostic(tmp_path: Path) -> None:
    sink = Sink()
    assert load_trace(tmp_path / "no.trace", sink) is None
    assert [d.code.number for d in sink.diagnostics] == ["E0801"]


def test_unknown_kinds_are_left_out_and_reported_once() -> None:
    strange = struct.pack("<QHHHH", 5, 999, 16, 0, 0xFFFF)
    sink = Sink()
    data = MAGIC + strange + strange + encode_trace([Event(6, Kind.BOOT)])[len(MAGIC) :]
    assert parse_trace(data, "t", sink) == (Event(6, Kind.BOOT),)
    assert [d.code.number for d in sink.diagnostics] == ["W0805"]


def test_decreasing_times_are_damage() -> None:
    sink = Sink()
    events = parse_trace(encode_trace([Event(6, Kind.BOOT), Event(5, Kind.BOOT)]), "t", sink)
    assert events == (Event(6, Kind.BOOT),)
    assert [d.code.number for d in sink.diagnostics] == ["E0803"]
