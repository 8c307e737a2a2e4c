# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Some damaged traces through every reader; `python -m tests.report.damaged_traces` tries many."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.running.decode import decode_trace
from camkes.running.events import MAGIC
from camkes.running.kinds import Kind
from camkes.running.names import trace_names
from tests.report.damaged_traces import Base, bases, campaign, split

pytestmark = pytest.mark.requirement("TOOL-11")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Base]:
    return list(bases(tmp_path_factory.mktemp("bases"), ["nested", "criticality"]))


@pytest.mark.long
def test_some_damaged_traces_are_read_or_reported(found: list[Base], tmp_path: Path) -> None:
    problems: list[str] = []
    campaign(found, range(100), tmp_path, problems.append, most=5)
    assert not problems


@pytest.mark.long
def test_many_damaged_traces_are_read_or_reported(tmp_path: Path) -> None:
    problems: list[str] = []
    campaign(list(bases(tmp_path)), range(1000, 5000), tmp_path, problems.append, most=5)
    assert not problems


def read(base: Base, record: bytes, trace: Path) -> str:
    """What is reported when the trace has this record as its third."""
    first, second, *_ = split(base.data)
    trace.write_bytes(MAGIC + first + second + record + first)
    sink = Sink()
    run = decode_trace(trace, trace_names(base.built.model, base.built.plan, base.built.system), sink)
    assert run is not None
    assert all(diagnostic.code.number == "E0803" for diagnostic in sink.diagnostics)
    return "\n".join(diagnostic.message.partition(": ")[2] for diagnostic in sink.diagnostics)


def made(kind: int, thread: int, *arguments: int, time: int = 0) -> bytes:
    size = 16 + 8 * len(arguments)
    return struct.pack(f"<QHHHH{len(arguments)}Q", time, kind, size, thread, 65535, *arguments)


@pytest.mark.long
def test_what_is_wrong_is_said(found: list[Base], tmp_path: Path) -> None:
    base, trace = found[0], tmp_path / "wrong.trace"
    control = next(
        t.number for t in trace_names(base.built.model, base.built.plan).threads if t.task is not None
    )
    cases = {
        made(Kind.READY, 900): "a record is about a thread that the system does not have at byte",
        made(Kind.READY, 0, time=1 << 63): "a record has an impossible time at byte",
        made(Kind.SWITCH, 0, 256): "a record of kind SWITCH has the priority 256 at byte",
        made(
            Kind.TRANSFER, 0, 1 << 40, 0, 0, 0
        ): "a record of kind TRANSFER has the object 1099511627776 at byte",
        made(Kind.LOCK_TAKE, 0, 99, 0): "a record of kind LOCK_TAKE has the cpi 99 at byte",
        made(Kind.FAULT, 0, 0, 0, 0, 0): "a fault of kind 0, which does not exist at",
        made(Kind.FAULT, 0, 99, 0, 0, 0): "a record of kind FAULT has the type 99 at byte",
        made(Kind.JOB_BEGIN, control, 1 << 40, 0): "a record of job 1099511627776 of",
        made(Kind.JOB_BEGIN, control, 0, 1 << 63): "a record of kind JOB_BEGIN has the release",
    }
    for record, wrong in cases.items():
        said = read(base, record, trace)
        assert said.startswith(wrong), said
        assert said.endswith("; the rest was skipped")
