# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems of tests of the host kernel, built for seL4, and what they do in QEMU with instruction counting."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.sel4.trace import Record, read_line
from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from tests.backends.sel4.platforms import PLATFORMS
from tests.runtime.host import HEAD, checked
from tests.written import write_files

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
needs_workspace = pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")

#: the program, in the workspace or on PATH; None: there is none
PARSE_CAPDL = shutil.which(
    "parse-capDL", path=f"{WORKSPACE}/tools/bin{os.pathsep}{os.environ.get('PATH', '')}"
)
needs_parse_capdl = pytest.mark.skipif(PARSE_CAPDL is None, reason="there is no parse-capDL")

MS = 1_000_000

#: elapsed seconds after which a run has failed, also on a machine with much else to do
LIMIT = 900

#: the times of runs after which nothing is waited for: what a system records by then, and what it prints
RECORDED = 5_000 * MS
PRINTED_MS = 10_000

#: what a job costs in a debug build: the interrupt and the timer driver before it, its calls and those of
#: managers. As part of its execution time, it is work that it does not do
COST_US = 12
#: the same on aarch64, where budgets have to last for all of it
COST_US_AARCH64 = 16
#: less than 20 us of a budget count as used, a job costs more with preemptions, and an overrun is seen at the
#: next interrupt or kernel call
SLACK_US = 60


def with_costs(sources: Mapping[str, str], cost_us: int = COST_US) -> dict[str, str]:
    """Components whose jobs and requests take as long as on the host kernel, with what they cost."""
    work = re.compile(r"camkes_work\((?!CAMKES_MS\(0\))(.*?\))\);")
    left = rf"camkes_work(\1 > CAMKES_US({cost_us}) ? \1 - CAMKES_US({cost_us}) : 0);"
    return {name: work.sub(left, text) for name, text in sources.items()}


def with_slack(text: str) -> str:
    """A system with budgets and extensions that are enough for what is as long as they are."""
    return re.sub(
        r"(_budget\w*|_extension) = (\d+) ms",
        lambda found: f"{found[1]} = {1000 * int(found[2]) + SLACK_US} us",
        text,
    )


def built(
    text: str,
    sources: Mapping[str, str],
    folder: Path,
    *,
    platform: str = "x86_64",
    mcs: bool = True,
    trace: bool = True,
) -> Path:
    """The folder with an image of a system; `text` is what `checked` gets."""
    declared = "".join(f"DeclareCAmkESComponent({name} SOURCES {name}.c)\n" for name in sources)
    files = {
        f"{name}.c": f"#include <camkes.h>\n#include <stdio.h>\n{code}" for name, code in sources.items()
    }
    files |= {
        "system.camkes": HEAD + text,
        "CMakeLists.txt": f"project(system C)\n{declared}DeclareCAmkESRootserver(system.camkes)\n",
    }
    path = write_files(folder / "application", files)
    return image(path, folder / "build", platform=platform, mcs=mcs, trace=trace)


def image(
    path: Path, folder: Path, *, platform: str = "x86_64", mcs: bool = True, trace: bool = True
) -> Path:
    """The folder, with an image of an application; recorded, or only timed by instruction counting."""
    program, machine = PLATFORMS[platform]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    sink = Sink()
    settings = {**machine, KERNEL_IS_MCS: "ON" if mcs else "OFF"}
    if trace:
        settings["CAmkESTrace"] = "ON"
    elif platform == "x86_64":
        settings["KernelPC99TSCFrequency"] = "1000000000"  # that of QEMU with instruction counting
    made = make(Path(WORKSPACE), path, folder, settings, sink, lambda *_: None)
    assert made, sink.diagnostics
    return folder


GUARD = """
#include <camkes/realtime.h>
int run(void)
{
    camkes_next_job();
    printf("guard: nothing more is waited for\\n");
    return 0;
}
"""


def printed(
    text: str, sources: Mapping[str, str], folder: Path, *, platform: str = "x86_64", mcs: bool = True
) -> Iterator[str]:
    """The lines that a system prints until PRINTED_MS, when a task above all others ends it."""
    text = text.replace("composition {", "composition { component Guard guard;", 1)
    timed = f"guard._priority = 250; guard._period = {PRINTED_MS} ms; guard._offset = {PRINTED_MS} ms;"
    text = text.replace("configuration {", f"configuration {{ {timed}", 1)
    text = f"component Guard {{ control; requestor; }}\n{text}"
    build = built(text, {**sources, "Guard": GUARD}, folder, platform=platform, mcs=mcs, trace=False)
    run = console(build, instruction_counting=True, seconds=LIMIT)
    try:
        for line in run:
            if line.startswith("guard: "):
                break
            yield line
    finally:
        run.close()


def records(
    text: str, sources: Mapping[str, str], folder: Path, *, platform: str = "x86_64", mcs: bool = True
) -> Iterator[tuple[str, Record]]:
    """What threads of a system record until RECORDED, with their names: a test that still waits for
    something then fails for that."""
    build = built(text, sources, folder, platform=platform, mcs=mcs)
    sink = Sink()
    model = pipeline.capabilities(checked(folder / "plan", text, sink, mcs=mcs), sink)
    threads = [thread.name for space in model.spaces for thread in space.threads]
    run = console(build, instruction_counting=True, seconds=LIMIT)
    try:
        for record in filter(None, map(read_line, run)):
            if record.time > RECORDED:
                break
            if record.thread < len(threads):  # else it is of the image as a whole
                yield threads[record.thread], record
    finally:
        run.close()
