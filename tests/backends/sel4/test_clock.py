# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Code that consumes time ends on seL4 where no driver can have the clock of the machine.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from tests.written import write_files

from .platforms import PLATFORMS

pytestmark = pytest.mark.requirement("SEL4-22")

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")

APPLICATION = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.16)
project(worker C)
DeclareCAmkESComponent(Worker SOURCES worker.c)
DeclareCAmkESRootserver(worker.camkes)
""",
    "worker.camkes": """import <std_connector.camkes>;
component Timer { hardware; dataport Buf registers; }
component Worker { control; dataport Buf registers; }
assembly {
    composition {
        component Timer timer;
        component Worker worker;
        connection seL4HardwareMMIO mapped(from worker.registers, to timer.registers);
    }
    configuration { timer.registers_paddr = 0x2098000; timer.registers_size = 0x1000; }
}
""",
    "worker.c": """#include <camkes.h>
#include <camkes/realtime.h>
#include <stdio.h>

int run(void)
{
    const uint64_t before = camkes_now();
    camkes_work(2000000);
    printf("worker: done, %d\\n", camkes_now() - before >= 2000000);
    return 0;
}
""",
}


@pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")
def test_a_component_that_has_the_timer_of_an_imx6(tmp_path: Path) -> None:
    qemu, definitions = PLATFORMS["sabre"]
    if shutil.which(qemu) is None:
        pytest.skip(f"{qemu} is not installed")
    application = write_files(tmp_path / "worker", APPLICATION)
    sink = Sink()
    built = make(Path(WORKSPACE), application, tmp_path / "build", definitions, sink, lambda *_: None)
    assert built, [(diagnostic.message, diagnostic.notes) for diagnostic in sink.diagnostics]
    printed = []
    for line in console(tmp_path / "build", seconds=60):
        printed.append(line)
        if "worker: done, 1" in line:
            return
    pytest.fail("".join(printed[-20:]))
