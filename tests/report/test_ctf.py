# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Traces in the Common Trace Format, read by what their description says, and by babeltrace2 where it is."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from camkes.running.decode import decode
from camkes.running.model import Run
from camkes.showing.draw.ctf import ctf_metadata, ctf_stream
from tests.command import camkes
from tests.report.simulator import INVERSION, simulate

pytestmark = pytest.mark.requirement("TOOL-34")

EVENT = re.compile(r'event \{\n    name = "(\w+)";\n    id = (\d+);\n    fields := struct \{ (.*?) \};')


def inversion() -> Run:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    return decode(events, names)


def read(metadata: str, stream: bytes) -> list[tuple[int, str, dict[str, Any]]]:
    """The events of a stream, by the fields that its description names."""
    kinds = {
        int(number): (name, [field.split() for field in fields.rstrip(";").split("; ")])
        for name, number, fields in EVENT.findall(metadata)
    }
    assert struct.unpack_from("<I", stream) == (0xC1FC1FC1,)
    at, found = 4, []
    while at < len(stream):
        number, time = struct.unpack_from("<HQ", stream, at)
        at += 10
        name, fields = kinds[number]
        values: dict[str, Any] = {}
        for kind, field in fields:
            if kind == "string":
                end = stream.index(b"\0", at)
                values[field], at = stream[at:end].decode(), end + 1
            else:
                (values[field],) = struct.unpack_from("<q", stream, at)
                at += 8
        found.append((time, name, values))
    return found


def test_it_has_all_of_a_run_by_time() -> None:
    run = inversion()
    found = read(ctf_metadata(), ctf_stream(run))
    assert [time for time, _, _ in found] == sorted(time for time, _, _ in found)
    counts = Counter(name for _, name, _ in found)
    assert counts["job"] == sum(len(lane.jobs) for lane in run.lanes)
    assert counts["task_state"] == sum(len(lane.segments) for lane in run.lanes)
    assert counts["thread_state"] == sum(len(each.segments) for each in run.threads)
    assert counts["request"] == len(run.requests) and counts["lock"] == len(run.locks)
    assert counts["inheritance"] == len(run.inheritances) and counts["end"] == 1
    jobs = [(time, each) for time, name, each in found if name == "job" and each["task"] == "high"]
    assert all(value != "" for _, _, each in found for value in each.values())
    lane = run.lanes[0]
    assert [(time, each["end"], each["blocked"]) for time, each in jobs] == [
        (job.release, -1 if job.end is None else job.end, -1 if job.blocked is None else job.blocked)
        for job in lane.jobs
    ]


def test_equal_runs_give_equal_bytes() -> None:
    assert ctf_stream(inversion()) == ctf_stream(inversion())


def test_a_run_writes_a_folder_that_babeltrace2_reads(tmp_path: Path) -> None:
    folder = tmp_path / "run.ctf"
    words = ("run", "examples/inversion", "-o", tmp_path / "build", "--for", "50ms")
    assert camkes(*words, "--trace", folder).status == 0
    found = read((folder / "metadata").read_text(), (folder / "stream").read_bytes())
    assert any(each.get("task") == "high" for _, _, each in found)
    program = shutil.which("babeltrace2")
    if program is None:
        pytest.skip("babeltrace2 is not installed")
    done = subprocess.run([program, str(folder)], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(found) and done.stderr == ""
    for line, (time, name, each) in zip(lines, found, strict=True):
        assert line.startswith(f"[00:00:00.{time:09d}]") and f" {name}: {{" in line
        texts = {field: value for field, value in each.items() if isinstance(value, str)}
        assert all(f'{field} = "{value}"' in line for field, value in texts.items())


def test_a_file_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "run.ctf").write_text("")
    words = ("run", "examples/inversion", "-o", tmp_path / "build", "--for", "50ms")
    result = camkes(*words, "--trace", tmp_path / "run.ctf")
    assert "cannot write" in result.errors and "Traceback" not in result.errors
