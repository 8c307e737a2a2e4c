# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Sporadic servers on seL4, which the time manager configures.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.backends.sel4.trace import read_line
from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from camkes.report.trace.kinds import Kind
from tests.runtime.host import HEAD, plan_of
from tests.runtime.test_time_manager import MS, SOURCES, WORKER
from tests.written import write_files

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")

#: kernel calls of a debug build, and what passes until the next one: in QEMU that counts instructions the
#: kernel's own timer does not end a budget, so `clock` enters it
TOLERANCE = MS

#: `low` needs 13 ms in [0, 2) [5, 8) [20, 25) [40, 43): in another system, with a server of constant
#: bandwidth, 3 ms more
SYSTEM = (
    HEAD
    + WORKER.format()
    + """
assembly { composition {
    component Worker clock; component Worker high; component Worker low;
} configuration {
    clock._priority = 30;  clock._period = 250 us;  clock.length = 0;
    high._priority = 20;  high._period = 400 ms;  high._offset = 202 ms;  high.length = 3000;
    low._priority = 10;  low._period = 20 ms;  low._offset = 200 ms;  low._budget = 5 ms;  low.length = 13000;
    } }
"""
)


def test_a_preemption_does_not_split_the_budget_of_a_sporadic_server(tmp_path: Path) -> None:
    files = {
        "system.camkes": SYSTEM,
        "CMakeLists.txt": "project(servers C)\nDeclareCAmkESComponent(Worker SOURCES Worker.c)\n"
        "DeclareCAmkESRootserver(system.camkes)\n",
        "Worker.c": "#include <camkes.h>\n" + SOURCES["Worker"],
    }
    path = write_files(tmp_path / "servers", files)
    model = plan_of(tmp_path / "plan", SYSTEM.removeprefix(HEAD), Sink())[2]
    threads = [thread.name for space in model.spaces for thread in space.threads]
    settings = {"PLATFORM": "x86_64", KERNEL_IS_MCS: "ON", "CAmkESTrace": "ON"}
    sink = Sink()
    assert make(Path(WORKSPACE), path, tmp_path / "build", settings, sink, lambda *_: None), sink.diagnostics
    run = console(tmp_path / "build", instruction_counting=True, seconds=120)
    ended = 0
    for record in filter(None, map(read_line, run)):
        if record.kind == Kind.JOB_END and threads[record.thread] == "low":
            ended = record.time - record.arguments[1]
            break
    run.close()
    assert abs(ended - 43 * MS) < TOLERANCE, ended / MS
