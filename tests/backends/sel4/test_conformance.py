# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The same system does the same on both kernels: what components print, and which job runs when.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_BUILDS=DIR keeps the builds for the next time.
SEL4_RELEASE=1 makes release images. On the host kernel a kernel call takes no time and on seL4 it takes
some, so releases are moved away from instants at which something else happens: then the order of events must
be the same.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.sel4.trace import Record, output, read_line
from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.running.kinds import Kind
from tests.backends.sel4.platforms import PLATFORMS
from tests.backends.sel4.recorded import LIMIT

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.requirement("SEL4-1"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
]

EXAMPLES = Path(__file__).parents[3] / "examples"
#: the program of QEMU, further definitions for CMake
#: settings of every system; a recorded run prints in release images, too
RELEASE = {"RELEASE": "ON"} if os.environ.get("SEL4_RELEASE") else {}
CASES = [
    ("adder", {}),
    ("inversion", {}),
    ("protocols", {}),
    *(("nested", {"CONFIGURATION": str(number)}) for number in (1, 2, 3, 4)),
]

MILLISECOND = 1_000_000
DURATION = 200 * MILLISECOND
JOB_BEGIN, JOB_END = 33, 34
#: what kernel calls, interrupts and the clock may add up to
TOLERANCE = MILLISECOND


def application(name: str, folder: Path) -> Path:
    """A copy of an example in which no release coincides with another event: all else lasts whole or half
    milliseconds, and each offset gets a fraction of its own."""
    copy = folder / name
    shutil.copytree(EXAMPLES / name, copy)
    fraction = count(130, 130)

    def move(found: re.Match[str]) -> str:
        microseconds = int(found[2]) * (1000 if found[3] == "ms" else 1)
        return f"{found[1]}{microseconds + next(fraction)} us"

    for file in sorted(copy.glob("*.camkes")):
        file.write_text(re.sub(r"(_offset\s*= )(\d+) (ms|us)", move, file.read_text()))
    return copy


def on_host(path: Path, definitions: dict[str, str], folder: Path) -> list[Record]:
    trace = folder / "host.trace"
    request = pipeline.Input(path, definitions=tuple(definitions.items()))
    options = pipeline.RunSettings(output=folder / "host", duration=DURATION, trace=trace)
    sink = Sink()
    assert pipeline.run(request, options, sink, lambda *_: None) is not None, sink.diagnostics
    return list(_records(trace.read_bytes()))


def _records(data: bytes) -> Iterator[Record]:
    at = 8
    while at < len(data):
        time, kind, size, thread, other = struct.unpack_from("<QHHHH", data, at)
        yield Record(time, kind, thread, other, struct.unpack_from(f"<{(size - 16) // 8}Q", data, at + 16))
        at += size


def on_sel4(path: Path, definitions: dict[str, str], platform: str, folder: Path, lines: int) -> list[Record]:
    settings = {**PLATFORMS[platform][1], **definitions, **RELEASE, "CAmkESTrace": "ON"}
    sink = Sink()
    assert make(Path(WORKSPACE), path, folder, settings, sink, lambda *_: None), sink.diagnostics
    records: list[Record] = []
    run = console(folder, instruction_counting=True, seconds=LIMIT)
    for record in filter(None, map(read_line, run)):
        records.append(record)
        printed = output(records).count("\n") if record.kind == Kind.OUTPUT else 0
        if (printed >= lines) if lines else (record.time > DURATION):
            break
    run.close()
    return records


def jobs(records: list[Record]) -> list[tuple[int, int, int, int]]:
    """(kind, thread, job, time) of every beginning and end of a job within the run."""
    return [
        (r.kind, r.thread, r.arguments[0], r.time)
        for r in records
        if r.kind in (JOB_BEGIN, JOB_END) and r.time < DURATION - TOLERANCE
    ]


#: machines, and further definitions
KERNELS = [*((platform, {}) for platform in PLATFORMS), ("x86_64", {"KernelIsMCS": "ON"})]


@pytest.mark.parametrize(
    ("platform", "kernel"), KERNELS, ids=["-".join((name, *more)) for name, more in KERNELS]
)
@pytest.mark.parametrize(("name", "definitions"), CASES, ids=lambda value: "".join(value) or None)
def test_same_on_both_kernels(
    name: str, definitions: dict[str, str], platform: str, kernel: dict[str, str], tmp_path: Path
) -> None:
    qemu = PLATFORMS[platform][0]
    if shutil.which(qemu) is None:
        pytest.skip(f"{qemu} is not installed")
    path = application(name, tmp_path)
    host = on_host(path, definitions, tmp_path)
    builds = Path(os.environ.get("SEL4_BUILDS") or tmp_path)
    if os.environ.get("SEL4_BUILDS"):  # where the copy is, is part of a build
        kept = builds / "applications" / name
        shutil.copytree(path, kept, dirs_exist_ok=True)
        path = kept
    folder = builds / "-".join([platform, name, *definitions.values(), *RELEASE, *kernel])
    text = output(host)
    has_jobs = any(record.kind == JOB_BEGIN for record in host)
    sel4 = on_sel4(path, {**definitions, **kernel}, platform, folder, 0 if has_jobs else text.count("\n"))
    assert output(r for r in sel4 if r.time < DURATION or not has_jobs) == text
    expected, found = jobs(host), jobs(sel4)
    assert [e[:3] for e in found] == [e[:3] for e in expected]
    for (*_, early), (*_, late) in zip(expected, found, strict=True):
        assert abs(late - early) < TOLERANCE
