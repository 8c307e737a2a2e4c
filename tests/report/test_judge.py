# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The program that judges traces: what it reads, what it refuses, and what a failure of it leads to."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from camkes.backends.host.codes import RUN_FAILED
from camkes.backends.host.oracle import verify
from camkes.diagnostics import Sink
from camkes.protocols.plan import Plan
from camkes.running.codes import TRACE_TRUNCATED
from camkes.running.events import MAGIC
from camkes.running.names import TraceNames

from .checking import oracle
from .records import Records, records_of

pytestmark = pytest.mark.requirement("AN-27")

TABLE = """cpi lock 0 lock 30 locks,contended
context low 10
task low 0 0 10 1 5 100 0
object endpoint
object low:timer
thread low control 10 - 0 0
thread lock@low worker 10 0 0 -
"""
FREE, TIMER, THREADS = 42, 15, 2
NONE = 0xFFFF


def record(time: int, kind: int, thread: int, *arguments: int, size: int | None = None) -> bytes:
    words = struct.pack(f"<{len(arguments)}Q", *arguments)
    size = 16 + len(words) if size is None else size
    return struct.pack("<QHHHH", time, kind, size, thread, NONE) + words


def judged(folder: Path, *parts: bytes, table: str = TABLE, option: str = "") -> tuple[int, list[str], str]:
    """The status of the program, its results and its complaint about a trace with these parts."""
    (folder / "table").write_text(table)
    (folder / "trace").write_bytes(b"".join(parts))
    words = [oracle(), folder / "table", folder / "trace", *([option] if option else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    complaint = done.stderr.strip().replace(f"{folder}/", "")
    return done.returncode, done.stdout.splitlines(), complaint


WRONG = record(7, FREE, 1, 0, 0)
SAID = "low frees the lock of lock, which it does not hold"


def test_a_violation_is_a_line(tmp_path: Path) -> None:
    """Its time, its property and the number of its record; at one instant it is said once."""
    assert judged(tmp_path, MAGIC) == (0, [], "")
    assert judged(tmp_path, MAGIC, WRONG, WRONG, record(8, FREE, 1, 0, 0)) == (
        0,
        [f"7 M 0 {SAID}", f"8 M 2 {SAID}"],
        "",
    )


def test_arguments_that_are_not_there_are_zero(tmp_path: Path) -> None:
    assert judged(tmp_path, MAGIC, record(7, FREE, 1)) == (0, [f"7 M 0 {SAID}"], "")


def test_unknown_records_do_not_count(tmp_path: Path) -> None:
    assert judged(tmp_path, MAGIC, record(3, 999, 1, 1, 2, 3, 4, 5, 6), WRONG)[1] == [f"7 M 0 {SAID}"]


@pytest.mark.parametrize(
    "damage",
    [
        record(8, FREE, THREADS, 0, 0),
        record(6, FREE, 1, 0, 0),
        record(1 << 63, FREE, 1, 0, 0),
        record(8, FREE, 1, 0, 0, size=8),
        record(8, FREE, 1, 0, 0, size=33),
        record(8, FREE, 1, 0, 0, size=40),
        record(8, FREE, 1, 0, 0)[:-1],
        record(8, FREE, 1, 0, 0)[:9],
        b"x",
    ],
)
def test_what_is_damaged_is_left_out_with_all_behind_it(damage: bytes, tmp_path: Path) -> None:
    status, lines, complaint = judged(tmp_path, MAGIC, WRONG, damage)
    assert (status, lines) == (0, [f"7 M 0 {SAID}"])
    assert complaint == "camkes-oracle: record 1 is damaged; the rest is left out"


def test_timers_at_any_time(tmp_path: Path) -> None:
    early = record(7, TIMER, NONE, 1, 1)
    assert judged(tmp_path, MAGIC, early)[1] == ["7 S 0 job 0 of low is released at 7 ns and not at 5 ns"]
    assert judged(tmp_path, MAGIC, early, option="any-time") == (0, [], "")


def test_what_is_refused(tmp_path: Path) -> None:
    assert judged(tmp_path, b"CAMKTRC") == (2, [], "camkes-oracle: trace is not a trace")
    assert judged(tmp_path, b"CAMKTRC2") == (2, [], "camkes-oracle: trace is not a trace")
    usage = "camkes-oracle: camkes-oracle TABLE TRACE [any-time]"
    assert judged(tmp_path, MAGIC, option="never") == (2, [], usage)
    status, lines, complaint = judged(tmp_path, MAGIC, table="lock 1\n")
    assert (status, lines) == (2, [])
    assert complaint == "camkes-oracle: table: `lock` is not what the table of the judge has there"
    for words in ([oracle()], [oracle(), tmp_path / "table", tmp_path / "none"]):
        assert subprocess.run(words, capture_output=True, check=False).returncode == 2


def test_a_judge_that_fails_is_an_error(tmp_path: Path) -> None:
    records: Records = records_of(
        tmp_path, "component A { control; } assembly { composition { component A a; } }"
    )
    trace = tmp_path / "run.trace"
    trace.write_bytes(b"nothing")
    sink = Sink()
    assert verify(oracle(), trace, records.names, records.plan, records.system, sink) == []
    (found,) = sink.diagnostics
    assert (found.code, found.message) == (RUN_FAILED, "the judge of the run ended with status 2")
    assert found.notes == (f"camkes-oracle: {trace} is not a trace",)


@pytest.mark.parametrize("known", [False, True])
def test_a_record_that_is_not_judged_to_its_end_is_reported_once(tmp_path: Path, known: bool) -> None:
    """Whoever decoded it may have reported it: else "hold at every event" would say too much."""
    oracle = tmp_path / "oracle"
    oracle.write_text("#!/bin/sh\necho 'camkes-oracle: record 1 is damaged; the rest is left out' >&2\n")
    oracle.chmod(0o755)
    sink = Sink()
    if known:
        sink.report(TRACE_TRUNCATED, "trace: the rest was skipped")
    found = verify(oracle, tmp_path / "trace", TraceNames(), Plan((), (), (), ()), None, sink)
    assert found == []
    assert [each.code.number for each in sink.diagnostics] == ["E0803"]
    assert ("record 1 is damaged" in sink.diagnostics[0].message) is not known
