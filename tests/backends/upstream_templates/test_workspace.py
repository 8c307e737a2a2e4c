# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Connectors of a workspace, rendered, compiled and used on seL4.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR. The application of connectors/ uses every connector of
camkes-tool and global-components that has a template and needs no particular board; that of software/ those
that need no device, which the host kernel has as well. That of devicetree/ has a device of the device tree,
in an address space of several instances.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from tests.command import camkes

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.requirement("SEL4-4"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
]

HERE = Path(__file__).parent

#: platform, QEMU, and what the components print when all that they tried went well
CASES = {
    "connectors": (
        "x86_64",
        "qemu-system-x86_64",
        ("10 of 10 good", "server 7 of 7 good", "called back 1", "objects made"),
    ),
    "software": (
        "x86_64",
        "qemu-system-x86_64",
        ("client 11 of 11 good", "server 6 of 6 good", "called back 1"),
    ),
    "devicetree": ("qemu-arm-virt", "qemu-system-aarch64", ("PL031, tree 1", "pool 1")),
}


@pytest.mark.parametrize("name", CASES)
def test_components_can_use_the_objects_of_connectors(name: str, tmp_path: Path) -> None:
    platform, qemu, expected = CASES[name]
    if shutil.which(qemu) is None:
        pytest.skip(f"{qemu} is not installed")
    sink = Sink()
    built = make(Path(WORKSPACE), HERE / name, tmp_path, {"PLATFORM": platform}, sink, lambda *_: None)
    assert built, [(diagnostic.message, diagnostic.notes) for diagnostic in sink.diagnostics]
    rendered = sorted(path.name for path in (tmp_path / "camkes").rglob("rendered/*.c"))
    text = (HERE / name / f"{name}.camkes").read_text()
    for connector in set(re.findall(r"connection (seL4\w+)", text)) - {"seL4NotificationNative"}:
        assert any(f"_{connector}_" in file for file in rendered), connector
    missing = set(expected)
    printed = []
    for line in console(tmp_path, seconds=120):
        printed.append(line)
        missing -= {words for words in missing if words in line}
        if not missing:
            break
    assert not missing, "".join(printed[-30:])


def test_connectors_without_devices_work_on_the_host_kernel(tmp_path: Path) -> None:
    done = camkes("run", HERE / "software", "--workspace", WORKSPACE, "-q", "-o", tmp_path)
    assert done.status == 0, done.errors
    assert sorted(done.output.splitlines()) == sorted(f"software: {words}" for words in CASES["software"][2])
