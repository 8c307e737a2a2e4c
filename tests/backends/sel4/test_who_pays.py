# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Who pays for requests, on seL4: as on the host kernel.

On a machine whose timer the kernel can set to the end of a budget: with instruction counting, that of a PC in
QEMU does not fire between kernel calls. Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from tests.backends.sel4.platforms import PLATFORMS
from tests.runtime.host import HEAD
from tests.runtime.test_who_pays import REQUESTS, SOURCES, SYSTEM
from tests.written import write_files

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")

FILES = {
    "system.camkes": HEAD + SYSTEM,
    "CMakeLists.txt": "project(pays C)\n"
    + "".join(f"DeclareCAmkESComponent({name} SOURCES {name}.c)\n" for name in SOURCES)
    + "DeclareCAmkESRootserver(system.camkes)\n",
    **{f"{name}.c": f"#include <camkes.h>\n#include <stdio.h>\n{text}" for name, text in SOURCES.items()},
}


def test_requests_in_a_second(tmp_path: Path) -> None:
    program, machine = PLATFORMS["qemu-arm-virt"]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    path, sink = write_files(tmp_path / "pays", FILES), Sink()
    settings = {**machine, KERNEL_IS_MCS: "ON"}
    assert make(Path(WORKSPACE), path, tmp_path / "build", settings, sink, lambda *_: None), sink.diagnostics
    expected = {
        f"{name}_{who}": number
        for name, (*_, numbers) in REQUESTS.items()
        for who, number in zip("ab", numbers, strict=True)
    }
    found: dict[str, int] = {}
    run = console(tmp_path / "build", instruction_counting=True, seconds=400)
    for line in run:
        found |= {name: int(number) for name, number in re.findall(r"(\w+_[ab]): (\d+)", line)}
        if found.keys() >= expected.keys():
            break
    run.close()
    # what the kernel, managers and the timer driver need is missing: less than one in a hundred
    assert {name: abs(found[name] - number) <= 1 + number // 100 for name, number in expected.items()} == (
        dict.fromkeys(expected, True)
    ), found
