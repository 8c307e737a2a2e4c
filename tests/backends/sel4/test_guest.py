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
    pytest.mark.requirement("SEL4-17"),
    pytest.mark.long,
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_VM_WORKSPACE names no workspace with camkes-vm"),
]

LINE = re.compile(r"(steering|monitor): \d+ jobs, the longest response of the last \d+ was (\d+) us")
FLOOD = re.compile(r"flood: (\d+) interrupts of the timer, (\d+) of the console")

#: in slots of its own, and below the tasks: what the guest does, and which interrupts it has to have. Samples
#: are requests.
CASES = {
    "OFF": {"while :; do :; done": False, "flood": True},
    "ON": {"devmem 0x0A100000 32 100000000": False, "flood": True},
}


@pytest.mark.parametrize("shared", CASES)
def test_tasks_beside_linux_keep_their_bounds(shared: str, tmp_path: Path) -> None:
    settings = ("GUEST=linux", f"SHARED={shared}")
    image = image_of(EXAMPLES / "guest", tmp_path, *(f"-D{setting}" for setting in settings))
    words = [
        word for setting in (*settings, "PLATFORM=qemu-arm-virt", "AARCH64=ON") for word in ("-D", setting)
    ]
    profile = ("--json", "--platform", "qemu-aarch64", "--workspace", WORKSPACE)
    found = json.loads(camkes("analyze", EXAMPLES / "guest", *profile, *words).output)
    bounds = {task["name"]: task["response"] for task in found["tasks"]}
    for command, floods in CASES[shared].items():
        longest = responses_beside(image, command, floods=floods)
        print(shared, command, longest, bounds)
        for name in ("steering", "monitor"):
            assert 0 < longest[name] * 1000 <= bounds[name], (command, name)


def responses_beside(image: Path, command: str, *, floods: bool) -> dict[str, int]:
    """The longest response of each task, in microseconds, beside a guest that executes a command."""

    def enough(since: str) -> bool:
        return len(LINE.findall(since)) >= 4 and (not floods or len(FLOOD.findall(since)) >= 2)

    answers = (("login:", "root"), ("# ", command))
    counted = ("-icount", "shift=0,sleep=off")
    text = boot(image, answers, enough, *counted, typed=b"typed" if floods else b"")
    longest: dict[str, int] = {}
    for name, response in LINE.findall(text):
        longest[name] = max(longest.get(name, 0), int(response))
    interrupts = FLOOD.findall(text)
    print(interrupts)
    for timer, console in interrupts[1:]:  # the first is of a part of a second
        assert int(timer) > 5000 and int(console) > 100
    return longest
