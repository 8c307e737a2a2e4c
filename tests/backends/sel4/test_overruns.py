# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The holder of a lock without budget, on seL4: as on the host kernel.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from camkes.backends.sel4.trace import read_line
from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from camkes.report.trace.kinds import Kind
from tests.backends.sel4.platforms import MCS_PLATFORMS, PLATFORMS
from tests.runtime import test_stopped_jobs, test_suspended_requests
from tests.runtime.host import HEAD, plan_of
from tests.runtime.test_overruns import CASES, MS, SOURCES, STARTS, SYSTEM
from tests.written import write_files

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")

#: kernel calls of a debug build, with those of the manager in between
TOLERANCE = MS // 4

#: the extension also pays for kernel calls here, so 3 ms of work take more
ENOUGH = SYSTEM.replace("_extension = 3 ms;", "_extension = 4 ms;")


def files(system: str, sources: Mapping[str, str]) -> dict[str, str]:
    """An application."""
    return {
        "system.camkes": HEAD + system,
        "CMakeLists.txt": "project(overruns C)\n"
        + "".join(f"DeclareCAmkESComponent({name} SOURCES {name}.c)\n" for name in sources)
        + "DeclareCAmkESRootserver(system.camkes)\n",
        **{f"{name}.c": f"#include <camkes.h>\n#include <stdio.h>\n{text}" for name, text in sources.items()},
    }


@pytest.mark.parametrize("platform", MCS_PLATFORMS)
def test_responses(platform: str, tmp_path: Path) -> None:
    path = write_files(tmp_path / "overruns", files(ENOUGH, SOURCES))
    model = plan_of(tmp_path / "plan", ENOUGH, Sink())[2]
    threads = [thread.name for space in model.spaces for thread in space.threads]
    program, machine = PLATFORMS[platform]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    settings = {**machine, KERNEL_IS_MCS: "ON", "CAmkESTrace": "ON"}
    sink = Sink()
    assert make(Path(WORKSPACE), path, tmp_path / "build", settings, sink, lambda *_: None), sink.diagnostics
    found: dict[str, int] = {}
    run = console(tmp_path / "build", instruction_counting=True, seconds=120)
    for record in filter(None, map(read_line, run)):
        if record.kind == Kind.JOB_END:
            found.setdefault(threads[record.thread], record.time - record.arguments[1])
        if record.time > (STARTS[-1] + 100) * MS:
            break
    run.close()
    # what waits for refills of its own depends on those: contexts have two there, and constant bandwidth
    for case in (case for case in CASES if case.name in ("help", "extend")):
        for task, expected in (("high", case.high), ("middle", case.middle)):
            assert abs(found[f"{case.name}_{task}"] - expected * MS) < TOLERANCE, (case, found)


#: what is printed last, and all, in this order, by some. With instruction counting the kernel sees the end of
#: a budget only when it is entered, so that not all ends of the host are there
ENDS = {
    "stopped": (test_stopped_jobs.SYSTEM, test_stopped_jobs.SOURCES, "run at", ["run at"] * 3),
    "suspended": (
        test_suspended_requests.SYSTEM,
        test_suspended_requests.SOURCES,
        "closed has none",
        [
            *("pool back", "high served", "low served"),
            *("closed back", "closed resumes", "watch looked", "hostile aborted", "closed has none"),
        ],
    ),
}
SHOWN = ("run at", "pool", "high", "low", "closed", "watch", "hostile aborted")


@pytest.mark.parametrize("name", ENDS)
def test_jobs_are_stopped_and_tasks_suspended(name: str, tmp_path: Path) -> None:
    system, sources, last, expected = ENDS[name]
    program, machine = PLATFORMS["x86_64"]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    builds = Path(os.environ.get("SEL4_BUILDS") or tmp_path)
    path = write_files(builds / "applications" / name, files(system, sources))
    sink = Sink()
    settings = {**machine, KERNEL_IS_MCS: "ON"}
    assert make(Path(WORKSPACE), path, builds / name, settings, sink, lambda *_: None), sink.diagnostics
    lines: list[str] = []
    run = console(builds / name, instruction_counting=True, seconds=120)
    for line in run:
        words = line.strip().rpartition(" ")[0]
        lines += [words] if words.startswith(SHOWN) else []
        if words == last and lines.count(last) == expected.count(last):
            break
    run.close()
    assert lines == expected
