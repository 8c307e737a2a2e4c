# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that a component orders by their deadlines, on seL4: as on the host kernel.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from camkes.backends.sel4.trace import read_line
from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from camkes.report.trace.kinds import Kind
from tests.runtime.host import HEAD, plan_of
from tests.runtime.test_bands import FAIR, LOCK, MS, PAIR, SOURCES, system
from tests.written import write_files

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")

#: kernel calls of a debug build, with those of the scheduler and of managers in between
TOLERANCE = MS // 2


def application(folder: Path, text: str, sources: Mapping[str, str], mcs: str, trace: str = "ON") -> Path:
    """The folder where it is built for x86_64."""
    files = {f"{name}.c": f"#include <camkes.h>\n{code}" for name, code in sources.items()}
    declared = "".join(f"DeclareCAmkESComponent({name} SOURCES {name}.c)\n" for name in sources)
    files |= {
        "system.camkes": HEAD + text,
        "CMakeLists.txt": f"project(bands C)\n{declared}DeclareCAmkESRootserver(system.camkes)\n",
    }
    path, sink = write_files(folder / "bands", files), Sink()
    settings = {"PLATFORM": "x86_64", KERNEL_IS_MCS: mcs, "CAmkESTrace": trace}
    build = folder / "build"
    assert make(Path(WORKSPACE), path, build, settings, sink, lambda *_: None), sink.diagnostics
    return build


@pytest.mark.parametrize("mcs", ["OFF", "ON"])
@pytest.mark.parametrize(
    ("configuration", "tasks", "expected"),
    [
        (PAIR, "a b", {"a": [2, 3, 4, 2, 2, 3, 4], "b": [6, 5, 6, 5, 4]}),
        (LOCK, "late middle early", {"late": [10], "middle": [8], "early": [5]}),
    ],
    ids=["pair", "lock"],
)
def test_responses(
    configuration: str, tasks: str, expected: dict[str, list[int]], mcs: str, tmp_path: Path
) -> None:
    text = system("inherited", configuration, tasks)
    build = application(tmp_path, text, SOURCES | {"Other": SOURCES["Task"]}, mcs)
    model = plan_of(tmp_path / "plan", text, Sink())[2]
    threads = [thread.name for space in model.spaces for thread in space.threads]
    found: dict[str, list[int]] = {task: [] for task in expected}
    run = console(build, instruction_counting=True, seconds=120)
    for record in filter(None, map(read_line, run)):
        if record.kind == Kind.JOB_END:
            found[threads[record.thread]].append(record.time - record.arguments[1])
        if all(len(found[task]) >= len(times) for task, times in expected.items()):
            break
    run.close()
    for task, times in expected.items():
        for response, time in zip(found[task], times, strict=False):
            assert abs(response - time * MS) < TOLERANCE, (task, found)


COUNTING = """
#include <camkes/realtime.h>
#include <stdio.h>

int run(void)
{
    int count = 0;
    while (camkes_now() < CAMKES_S(1)) {
        camkes_work(CAMKES_MS(1));
        count++;
    }
    printf("%s: %d\\n", get_instance_name(), count);
    return 0;
}
"""


def test_weights(tmp_path: Path) -> None:
    """Of a second 1/6, 2/6 and 3/6, less what the scheduler and the timer driver need."""
    text = system("inherited", FAIR, "one two three", scheduler="FairScheduler")
    sources = {"Task": COUNTING, "Other": COUNTING, "Shared": SOURCES["Shared"]}
    build = application(tmp_path, text, sources, "ON", "OFF")
    found: dict[str, int] = {}
    run = console(build, instruction_counting=True, seconds=200)
    for line in run:
        found |= {name: int(count) for name, count in re.findall(r"(one|two|three): (\d+)", line)}
        if len(found) == 3:
            break
    run.close()
    for name, share in (("one", 167), ("two", 333), ("three", 500)):
        assert share * 0.9 - 2 < found[name] < share * 1.02 + 2, found
