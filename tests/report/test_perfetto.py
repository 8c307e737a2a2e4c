# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from camkes.report.draw.perfetto import perfetto_trace
from camkes.report.draw.protobuf import varint
from camkes.report.draw.tracks import build_tracks
from camkes.report.trace.decode import decode
from camkes.report.trace.events import Event
from camkes.report.trace.kinds import Kind

from . import wire
from .simulator import INVERSION, MS, nested, simulate

# numbers of the published schema: TracePacket, TrackDescriptor, TrackEvent
TIMESTAMP, SEQUENCE, EVENT, DESCRIPTOR = 8, 10, 11, 60
UUID, NAME, PROCESS, THREAD, PARENT, COUNTER = 1, 2, 3, 4, 5, 8
TYPE, TRACK, EVENT_NAME, VALUE, FLOW, FLOW_END = 9, 11, 23, 30, 47, 48
BEGIN, END, INSTANT, COUNT = 1, 2, 3, 4


def packets(data: bytes) -> list[wire.Fields]:
    top = wire.fields(data)
    assert set(top) == {1}
    return [wire.fields(p) for p in top[1] if isinstance(p, bytes)]


def inversion_packets() -> list[wire.Fields]:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    return packets(perfetto_trace(build_tracks(decode(events, names))))


def nested_packets() -> list[wire.Fields]:
    events, names, _ = simulate(*nested())
    return packets(perfetto_trace(build_tracks(decode(events, names))))


@given(st.integers(0, 2**64 - 1))
def test_varints(value: int) -> None:
    assert wire.varint(varint(value), 0) == (value, len(varint(value)))


def test_every_track_is_described_before_it_is_used_and_has_its_parent() -> None:
    seen: set[int] = set()
    for packet in nested_packets():
        if DESCRIPTOR in packet:
            about = wire.message(packet, DESCRIPTOR)
            uuid = wire.number(about, UUID)
            assert uuid not in seen
            seen.add(uuid)
            if PARENT in about:
                assert wire.number(about, PARENT) in seen
        elif EVENT in packet:
            assert wire.number(wire.message(packet, EVENT), TRACK) in seen


def test_a_track_and_a_priority_counter_for_each_thread() -> None:
    events, names, _ = simulate(*nested())
    described = [wire.message(p, DESCRIPTOR) for p in nested_packets() if DESCRIPTOR in p]
    threads = [wire.words(wire.message(d, THREAD), 5) for d in described if THREAD in d]
    assert threads == [t.name for t in names.threads]
    counters = {wire.words(d, NAME) for d in described if COUNTER in d}
    assert counters == {f"{t.name} priority" for t in names.threads}
    processes = [wire.words(wire.message(d, PROCESS), 6) for d in described if PROCESS in d]
    assert len(processes) == len(set(processes)) == len({t.space for t in names.threads}) + 1  # and the tasks
    assert events


def test_packets_are_in_time_order_and_slices_nest() -> None:
    now = 0
    depth: Counter[int] = Counter()
    for packet in nested_packets():
        if EVENT not in packet:
            continue
        assert wire.number(packet, SEQUENCE) == 1
        assert wire.number(packet, TIMESTAMP) >= now
        now = wire.number(packet, TIMESTAMP)
        event = wire.message(packet, EVENT)
        track, kind = wire.number(event, TRACK), wire.number(event, TYPE)
        if kind == BEGIN:
            depth[track] += 1
            assert depth[track] == 1
        elif kind == END:
            depth[track] -= 1
            assert depth[track] == 0
        else:
            assert kind in (INSTANT, COUNT)
    assert not +depth


def test_an_arrow_goes_from_the_waiter_to_the_heir() -> None:
    begins: dict[int, str] = {}
    ends: dict[int, str] = {}
    for packet in inversion_packets():
        if EVENT in packet:
            event = wire.message(packet, EVENT)
            if FLOW in event:
                begins[wire.number(event, FLOW)] = wire.words(event, EVENT_NAME)
            if FLOW_END in event:
                ends[wire.number(event, FLOW_END)] = wire.words(event, EVENT_NAME)
    assert begins == {1: "lends 30 to low"}
    assert ends == {1: "inherits 30 from high"}


def test_the_inherited_priority_is_on_the_counter() -> None:
    packets_ = inversion_packets()
    names = {
        wire.number(d, UUID): wire.words(d, NAME)
        for d in (wire.message(p, DESCRIPTOR) for p in packets_ if DESCRIPTOR in p)
        if NAME in d
    }
    samples = [
        (wire.number(p, TIMESTAMP), wire.number(e, VALUE))
        for p, e in ((p, wire.message(p, EVENT)) for p in packets_ if EVENT in p)
        if wire.number(e, TYPE) == COUNT and names[wire.number(e, TRACK)] == "lock.p@low priority"
    ]
    assert samples == [(0, 10), (3 * MS, 30), (6 * MS, 10)]


def test_output_is_an_instant() -> None:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    said = Event(events[-1].time, Kind.OUTPUT, 0, None, (6,), "hello\n")
    read = packets(perfetto_trace(build_tracks(decode([*events, said], names))))
    texts = [wire.message(p, EVENT) for p in read if EVENT in p]
    assert any(wire.number(e, TYPE) == INSTANT and wire.words(e, EVENT_NAME) == "hello" for e in texts)


def test_the_heir_is_found_by_context_if_the_record_does_not_name_it() -> None:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    bare = [e._replace(other=None) if e.kind is Kind.INHERIT else e for e in events]
    assert decode(bare, names) == decode(events, names)
