# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Perfetto's own format: a reader of protocol buffers sees what the JSON of the same run has."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camkes.running.decode import decode
from camkes.showing.draw.perfetto import trace_events
from camkes.showing.draw.perfetto_trace import perfetto_trace
from tests.command import camkes

from .test_perfetto import recorded

pytestmark = pytest.mark.requirement("TOOL-13")

Fields = dict[int, list[Any]]
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def fields(data: bytes) -> Fields:
    """The fields of a message by their numbers, by the definition of protocol buffers."""
    found: Fields = {}
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(data):
        tag = varint()
        if tag & 7 == 0:
            value: Any = varint()
        elif tag & 7 == 1:
            (value,) = struct.unpack_from("<Q", data, place)
            place += 8
        else:
            assert tag & 7 == 2
            length = varint()
            value = data[place : place + length]
            assert len(value) == length
            place += length
        found.setdefault(tag >> 3, []).append(value)
    return found


def packets(data: bytes) -> Iterator[Fields]:
    for packet in fields(data)[1]:
        yield fields(packet)


def tracks(data: bytes) -> dict[int, tuple[int, str]]:
    """The parent (0: none) and the name of each track by its number."""
    found = {}
    for packet in packets(data):
        for descriptor in map(fields, packet.get(60, ())):
            name = descriptor.get(2) or next(
                fields(descriptor[of][0])[text] for of, text in ((3, 6), (4, 5)) if of in descriptor
            )
            (uuid,), (parent,) = descriptor[1], descriptor.get(5, [0])
            assert uuid not in found
            found[uuid] = parent, name[0].decode()
    return found


@pytest.mark.parametrize("which", ["nested", "inversion"])
def test_events_are_those_of_the_json(which: str) -> None:
    events, names = recorded(which)
    run = decode(events, names)
    data = perfetto_trace(run)
    known = tracks(data)
    rows, timed = trace_events(run)
    processes = {row["pid"]: row["args"]["name"] for row in rows if row["name"] == "process_name"}
    of_row = {(row["pid"], row["tid"]): row["args"]["name"] for row in rows if row["name"] == "thread_name"}
    expected: Counter[tuple[object, ...]] = Counter()
    for event in timed:
        time = round(event["ts"] * 1000)
        at = processes[event["pid"]], of_row.get((event["pid"], event.get("tid", 0)), event["name"])
        if event["ph"] == "X":
            expected[BEGIN, time, *at, event["name"]] += 1
            expected[END, time + round(event["dur"] * 1000), *at, ""] += 1
        elif event["ph"] == "i":
            expected[INSTANT, time, *at, event["name"]] += 1
        elif event["ph"] == "C":
            expected[COUNTER, time, *at, event["args"]["priority"]] += 1
    found: Counter[tuple[object, ...]] = Counter()
    last = 0
    open_in: Counter[int] = Counter()
    for packet in packets(data):
        for event in map(fields, packet.get(11, ())):
            (time,), (kind,), (track,) = packet[8], event[9], event[11]
            assert time >= last
            last = time
            parent, name = known[track]
            what: object = event[30][0] if kind == COUNTER else event.get(23, [b""])[0].decode()
            found[kind, time, known[parent][1], name, what] += 1
            open_in[track] += {BEGIN: 1, END: -1}.get(kind, 0)
            assert open_in[track] in (0, 1), "slices of a row follow each other"
    assert found == expected and expected
    assert not any(open_in.values())


def test_an_arrow_leads_from_a_priority_that_is_lent_to_where_it_is_inherited() -> None:
    events, names = recorded("inversion")
    run = decode(events, names)
    _, timed = trace_events(run)
    arrows = sum(event["ph"] == "s" for event in timed)
    begun, ended = Counter[int](), Counter[int]()
    for packet in packets(perfetto_trace(run)):
        for event in map(fields, packet.get(11, ())):
            begun.update(event.get(47, ()))
            ended.update(event.get(48, ()))
            name = event.get(23, [b""])[0]
            assert (47 in event) <= name.startswith(b"lends") and (48 in event) <= name.startswith(
                b"inherits"
            )
    assert arrows > 0 and begun == ended and sorted(begun) == list(range(1, arrows + 1))


def test_one_sequence_that_begins_once() -> None:
    events, names = recorded("nested")
    found = list(packets(perfetto_trace(decode(events, names))))
    assert {packet[10][0] for packet in found} == {1}
    assert [13 in packet for packet in found] == [True] + [False] * (len(found) - 1)


def test_a_run_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "run.pftrace"
    result = camkes("run", "examples/inversion", "-o", tmp_path / "build", "--for", "50ms", "--trace", file)
    assert result.status == 0
    assert "high" in {name for _, name in tracks(file.read_bytes()).values()}
