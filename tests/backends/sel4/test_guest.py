# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""examples/guest with Linux: it boots to a login, and the tasks beside it respond within their bounds.

Needs a workspace with camkes-vm in which examples/guest is linked, as its README says, and QEMU:
SEL4_VM_WORKSPACE=DIR. Takes minutes: instructions are counted.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.support import EXAMPLES

WORKSPACE = os.environ.get("SEL4_VM_WORKSPACE", "")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_VM_WORKSPACE names no workspace with camkes-vm"),
]

SETTINGS = ("-DCAMKES_VM_APP=guest", "-DGUEST=linux", "-DPLATFORM=qemu-arm-virt", "-DAARCH64=TRUE")
MACHINE = ("-machine", "virt,virtualization=on,highmem=off,secure=off", "-cpu", "cortex-a53", "-nographic")
LINE = re.compile(r"(\w+): \d+ jobs, the longest response of the last \d+ was (\d+) us")
LIMIT = 600  # seconds


def test_tasks_beside_linux_keep_their_bounds(tmp_path: Path) -> None:
    root = Path(WORKSPACE) / "projects/vm-examples"
    assert (root / "apps/Arm/guest").exists(), "link examples/guest there"
    configure = ("cmake", "-G", "Ninja", *SETTINGS, "-C", root / "settings.cmake", root)
    for command in (configure, ("ninja",)):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    image = next((tmp_path / "images").iterdir())
    text, longest = boot(image)
    assert "login:" in text
    linux = ("-D", "GUEST=linux", "-D", "PLATFORM=qemu-arm-virt", "-D", "AARCH64=ON")
    read = ("--workspace", WORKSPACE, "--dtb", tmp_path / "kernel/kernel.dtb")
    words = ("analyze", EXAMPLES / "guest", "--json", "--platform", "qemu-aarch64")
    found = json.loads(camkes(*words, *linux, *read).output)
    for task in found["tasks"]:
        assert 0 < longest[task["name"]] * 1000 <= task["response"], task["name"]


def boot(image: Path) -> tuple[str, dict[str, int]]:
    """What is printed until someone has logged in, and each task has reported twice after that beside a loop;
    and the longest responses, in microseconds."""
    icount = ("-m", "size=2048", "-icount", "shift=0,sleep=off", "-kernel", str(image))
    command = ("qemu-system-aarch64", *MACHINE, *icount)
    text, said = "", 0
    answers = [("login:", "root\n"), ("# ", "while :; do :; done\n")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as machine:
        assert machine.stdin is not None and machine.stdout is not None
        os.set_blocking(machine.stdout.fileno(), False)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and (answers or len(LINE.findall(text[said:])) < 4):
            text += (machine.stdout.read() or b"").decode(errors="replace")
            if answers and answers[0][0] in text[said:]:
                machine.stdin.write(answers.pop(0)[1].encode())
                machine.stdin.flush()
                said = len(text)
            time.sleep(0.1)
        machine.kill()
    longest: dict[str, int] = {}
    for name, response in LINE.findall(text):
        longest[name] = max(longest.get(name, 0), int(response))
    return text, longest
