# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems whose objects have been allocated when they were built, booted.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink

from .platforms import PLATFORMS

ROOT = Path(__file__).parents[3]
WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.requirement("SEL4-10"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
]

APPS = Path(WORKSPACE) / "projects" / "camkes" / "apps"


@pytest.mark.parametrize(
    ("folder", "platform", "text", "more"),
    [
        (APPS / "adder", "qemu-arm-virt", "client: result was 1270", {}),
        (APPS / "adder", "qemu-arm-virt", "client: result was 1270", {"KernelIsMCS": "ON"}),
        (APPS / "testnto1mmio", "sabre", "hello from drv2", {}),  # registers of a device
        (APPS / "dma-example", "sabre", "Done.", {}),  # one piece of memory of 4 MiB
        (ROOT / "examples" / "nested", "qemu-arm-virt", "t4: job 1 computed", {}),  # a timer
    ],
)
def test_a_system_boots(folder: Path, platform: str, text: str, more: dict[str, str], tmp_path: Path) -> None:
    qemu, options = PLATFORMS[platform]
    if shutil.which(qemu) is None:
        pytest.skip(f"{qemu} is not installed")
    sink = Sink()
    settings = {**options, "CAmkESCapDLStaticAlloc": "ON", **more}
    built = make(Path(WORKSPACE), folder, tmp_path, settings, sink, lambda *_: None)
    assert built, [diagnostic.message for diagnostic in sink.diagnostics]
    assert any(text in line for line in console(tmp_path, seconds=60))
