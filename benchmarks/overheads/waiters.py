# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a contended request costs with several waiters on the seL4 kernel, in instructions, counted by QEMU.

While a task of low priority holds the lock of an `inherited` CPI, N tasks of rising priorities request it,
each as soon as the one before waits. A row is the request of the last one, which is served first.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/waiters.py [--json] [N ...]
"""

from __future__ import annotations

import shutil
from pathlib import Path

import series
from overheads import MEASURE, Cost, boot, build, cost, counter_of

from camkes.measuring.images import queue_text

_LISTS = """cmake_minimum_required(VERSION 3.16)
project(waiters C)
include(${CMAKE_CURRENT_LIST_DIR}/components.cmake)
DeclareCAmkESComponent(Queued C_FLAGS -DALONE)
DeclareCAmkESRootserver(queue.camkes)
GenerateCAmkESRootserver()
"""


def write(count: int, folder: Path) -> None:
    """The application with that many waiters: a part of the measuring one."""
    shutil.copytree(MEASURE / "requests", folder, dirs_exist_ok=True)
    shutil.copytree(MEASURE / "include", folder / "include", dirs_exist_ok=True)
    (folder / "queue.camkes").write_text(queue_text(count))
    (folder / "CMakeLists.txt").write_text(_LISTS)


def measure(
    count: int, workspace: Path, folder: Path, platform: str, *, debug: bool, mcs: bool = False
) -> Cost:
    application = folder / f"application-{count}"
    write(count, application)
    output = folder / "build"
    output.mkdir(exist_ok=True)
    build(workspace, output, platform, debug=debug, mcs=mcs, application=application)
    samples = boot(output, platform)
    return cost(samples["queued"], counter_of(samples))


if __name__ == "__main__":
    series.run(
        __doc__, "waiters", (1, 2, 3, 10, 100), measure, lambda cost: (cost.both, cost.call, cost.reply)
    )
