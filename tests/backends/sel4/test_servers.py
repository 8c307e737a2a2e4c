# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the time manager does on seL4: sporadic servers, and changes of the criticality.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.sel4.trace import Record, read_line
from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from camkes.report.trace.kinds import Kind
from tests.runtime.host import HEAD, checked
from tests.runtime.test_budgets import tasks
from tests.runtime.test_criticality import CRITICAL
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


#: five tasks, of which t4 overruns its budget 4 ms after the start, with what enters the kernel
RAISED = HEAD + tasks(7, CRITICAL + "clock._priority = 30; clock._period = 1 ms; clock.length = 0;").replace(
    "composition {", "composition { component Worker clock;"
)
STARTS = 200


def records(text: str, folder: Path) -> Iterator[tuple[str, Record]]:
    """What threads of a system record on seL4, with their names."""
    files = {
        "system.camkes": text,
        "CMakeLists.txt": "project(servers C)\nDeclareCAmkESComponent(Worker SOURCES Worker.c)\n"
        "DeclareCAmkESRootserver(system.camkes)\n",
        "Worker.c": "#include <camkes.h>\n" + SOURCES["Worker"],
    }
    path = write_files(folder / "servers", files)
    sink = Sink()
    found = checked(folder / "plan", text.removeprefix(HEAD), sink, mcs=True)
    model = pipeline.capabilities(found, sink)
    threads = [thread.name for space in model.spaces for thread in space.threads]
    settings = {"PLATFORM": "x86_64", KERNEL_IS_MCS: "ON", "CAmkESTrace": "ON"}
    assert make(Path(WORKSPACE), path, folder / "build", settings, sink, lambda *_: None), sink.diagnostics
    run = console(folder / "build", instruction_counting=True, seconds=120)
    for record in filter(None, map(read_line, run)):
        if record.thread < len(threads):  # else it is of the image as a whole
            yield threads[record.thread], record
    run.close()


def test_a_preemption_does_not_split_the_budget_of_a_sporadic_server(tmp_path: Path) -> None:
    ends = (r for thread, r in records(SYSTEM, tmp_path) if thread == "low" and r.kind == Kind.JOB_END)
    first = next(ends)
    assert abs(first.time - first.arguments[1] - 43 * MS) < TOLERANCE, first


def test_an_overrun_raises_the_criticality(tmp_path: Path) -> None:
    """As on the host kernel: T4 goes on, T2 is next, and T3, which is above T2 otherwise, is last."""
    text = RAISED
    for name in ("t1", "t2", "t3", "t4", "t5"):
        text = text.replace(f"{name}._period", f"{name}._offset = {STARTS} ms; {name}._period", 1)
    text = re.sub(r"length = ([1-9]);", r"length = \g<1>000;", text)
    text = re.sub(r"(_budget(_1)?) = (\d) ms", r"\1 = \g<3>500 us", text)  # kernel calls cost time there
    raised, responses = [], {}
    for thread, record in records(text, tmp_path):
        if record.kind == Kind.CRITICALITY:
            raised.append((record.time, record.arguments[0]))
        elif record.kind == Kind.JOB_END and record.time > STARTS * MS:
            responses.setdefault(thread, record.time - record.arguments[1])
        if {"t2", "t3", "t4", "t5"} <= responses.keys():
            break
    assert raised[0][1] == 1 and 0 <= raised[0][0] - (STARTS + 4.5) * MS < 1.5 * MS, raised
    for name, expected in (("t5", 2), ("t4", 9), ("t2", 15)):
        assert abs(responses[name] - expected * MS) < TOLERANCE, responses
    assert responses["t2"] < responses["t3"]
