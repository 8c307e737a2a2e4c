# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""examples/guest with Linux: it boots to a login, and the tasks beside it respond within their bounds.

Needs a workspace with camkes-vm in which examples/guest is linked, as its README says, and QEMU:
SEL4_VM_WORKSPACE=DIR. Takes minutes: instructions are counted.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.backends.sel4.virtual_machine import WORKSPACE, boot, image_of
from tests.command import camkes
from tests.end_to_end.support import EXAMPLES

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_VM_WORKSPACE names no workspace with camkes-vm"),
]

LINE = re.compile(r"(\w+): \d+ jobs, the longest response of the last \d+ was (\d+) us")

#: in slots of its own, and below the tasks, with a request for each of so many samples; what is typed there
CASES = {"OFF": "while :; do :; done", "ON": "devmem 0x0A100000 32 100000000"}


@pytest.mark.parametrize("shared", CASES)
def test_tasks_beside_linux_keep_their_bounds(shared: str, tmp_path: Path) -> None:
    settings = ("GUEST=linux", f"SHARED={shared}")
    image = image_of(EXAMPLES / "guest", tmp_path, *(f"-D{setting}" for setting in settings))
    answers = (("login:", "root"), ("# ", CASES[shared]))
    counted = ("-icount", "shift=0,sleep=off")
    text = boot(image, answers, lambda since: len(LINE.findall(since)) >= 4, *counted)
    longest: dict[str, int] = {}
    for name, response in LINE.findall(text):
        longest[name] = max(longest.get(name, 0), int(response))
    words = [
        word for setting in (*settings, "PLATFORM=qemu-arm-virt", "AARCH64=ON") for word in ("-D", setting)
    ]
    read = ("--workspace", WORKSPACE, "--dtb", tmp_path / "kernel/kernel.dtb")
    profile = ("--json", "--platform", "qemu-aarch64")
    found = json.loads(camkes("analyze", EXAMPLES / "guest", *profile, *words, *read).output)
    bounds = {task["name"]: task["response"] for task in found["tasks"]}
    for name in ("steering", "monitor"):
        assert 0 < longest[name] * 1000 <= bounds[name], name
