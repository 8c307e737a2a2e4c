# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Images with virtual machines, for qemu-arm-virt: built in a workspace with camkes-vm, and booted."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

#: empty where no workspace is named
WORKSPACE = os.environ.get("SEL4_VM_WORKSPACE", "")
#: modules that the guests' kernel needs for virtio_net, separated by semicolons
MODULES = os.environ.get("SEL4_VM_MODULES", "")

_MACHINE = ("-machine", "virt,virtualization=on,highmem=off,secure=off", "-cpu", "cortex-a53", "-nographic")
_LIMIT = 600  # seconds


def image_of(application: Path, folder: Path, *settings: str) -> Path:
    """Built in `folder`; the application is linked among those of camkes-vm-examples."""
    root = Path(WORKSPACE) / "projects/vm-examples"
    assert (root / "apps/Arm" / application.name).exists(), f"link {application} there"
    named = (f"-DCAMKES_VM_APP={application.name}", "-DPLATFORM=qemu-arm-virt", "-DAARCH64=TRUE")
    configure = ("cmake", "-G", "Ninja", *named, *settings, "-C", root / "settings.cmake", root)
    for command in (configure, ("ninja",)):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return next((folder / "images").iterdir())


def boot(
    image: Path,
    answers: tuple[tuple[str, str], ...],
    enough: Callable[[str], bool],
    *options: str,
    typed: bytes = b"",
) -> str:
    """What is printed until all texts were answered and `enough` is true of what came since. `typed` is
    typed again and again then."""
    command = ("qemu-system-aarch64", *_MACHINE, "-m", "size=2048", *options, "-kernel", str(image))
    text, said, left = "", 0, list(answers)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as machine:
        assert machine.stdin is not None and machine.stdout is not None
        os.set_blocking(machine.stdout.fileno(), False)
        os.set_blocking(machine.stdin.fileno(), False)
        end = time.monotonic() + _LIMIT
        while time.monotonic() < end and (left or not enough(text[said:])):
            text += (machine.stdout.read() or b"").decode(errors="replace")
            if left and left[0][0] in text[said:]:
                machine.stdin.write(left.pop(0)[1].encode() + b"\n")
                machine.stdin.flush()
                said = len(text)
            elif not left and typed:
                with suppress(BlockingIOError):
                    os.write(machine.stdin.fileno(), typed)
            time.sleep(0.01 if typed and not left else 0.1)
        machine.kill()
    assert not left, text[-3000:]
    return text
