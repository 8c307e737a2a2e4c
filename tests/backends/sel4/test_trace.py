# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Records from the console of seL4."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.backends.sel4.trace import Record, output, read_line
from camkes.diagnostics import Sink
from camkes.model.limits import NO_NUMBER
from camkes.running.events import encode_records, parse_trace
from camkes.running.kinds import Kind

pytestmark = pytest.mark.requirement("SEL4-15")

WORD = st.integers(0, (1 << 64) - 1)
RECORDS = st.builds(
    Record,
    WORD,
    st.integers(0, 255),
    st.integers(0, 65535),
    st.integers(0, 65535),
    st.lists(WORD, max_size=5).map(tuple),
)


def line(record: Record) -> str:
    words = (record.time, record.kind, record.thread, record.other, *record.arguments)
    return " ".join(["~", *(f"{word:x}" for word in words)]) + "\n"


def text(thread: int, words: str) -> Record:
    data = words.encode().ljust(32, b"\0")
    parts = [int.from_bytes(data[i : i + 8], "little") for i in range(0, 32, 8)]
    return Record(0, Kind.OUTPUT, thread, NO_NUMBER, (len(words), *parts))


@given(st.lists(RECORDS))
def test_lines_become_records(records: list[Record]) -> None:
    noise = "Booting all finished\n~ lost\n~ 12 zz\n"
    assert list(filter(None, map(read_line, (noise + "".join(map(line, records))).splitlines()))) == records


def test_interrupted_lines_are_put_together() -> None:
    records = [text(1, "one "), text(2, "two\n"), text(1, "more\nthe "), text(1, "end")]
    assert output(records) == "two\none more\nthe end\n"


def test_a_trace_file_is_readable() -> None:
    records = [Record(5, 33, 1, NO_NUMBER, (0, 0)), Record(9, 34, 1, NO_NUMBER, (0, 0))]
    sink = Sink()
    events = parse_trace(encode_records(records), "x.trace", sink)
    assert events is not None and not sink.diagnostics
    assert [event.time for event in events] == [5, 9]
