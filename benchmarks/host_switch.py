# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a switch between threads and a call cost on the host kernel, within and across components."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

CAPS = "cap 1 ep RWGP 1\n"
FIRST = CAPS + "thread client 0 control 10 10 16384 0 - one\n"
SECOND = "thread server 1 control 10 10 16384 0 - two\n"
OBJECTS = "camkes-host-table 1\nobject ep endpoint\nobject client tcb\nobject server tcb\n"
ONE_SPACE = OBJECTS + "space one switch.so\n" + FIRST + SECOND
TWO_SPACES = OBJECTS + "space one switch.so\n" + FIRST + "space two switch.so\n" + CAPS + SECOND


def measure(folder: Path, table: str, *options: str) -> tuple[float, float]:
    """Nanoseconds of a switch and of a call with its reply: the best of five runs."""
    (folder / "table").write_text(table)
    command = [str(folder / "camkes-host"), str(folder / "table"), "--call-limit", str(10**12), *options]
    runs = []
    for _ in range(5):
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        switch, call = result.stdout.split()
        runs.append((float(switch), float(call)))
    return min(r[0] for r in runs), min(r[1] for r in runs)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["make", "-s", "-C", str(ROOT / "kernel/host"), f"OUT={folder}"], check=True)
        includes = [f"-I{ROOT}/kernel/host/include", f"-I{ROOT}/runtime/include"]
        source = ["-O2", "-fPIC", "-shared", "-o", str(folder / "switch.so"), str(HERE / "host_switch.c")]
        subprocess.run([os.environ.get("CC", "cc"), *includes, *source], check=True)
        within = measure(folder, ONE_SPACE)
        across = measure(folder, TWO_SPACES)
        fast = measure(folder, TWO_SPACES, "--fast")
        hardened = [measure(folder, table, "--hardened") for table in (ONE_SPACE, TWO_SPACES)]
        traced = measure(folder, ONE_SPACE, "--trace", os.devnull)
    print(f"{'':34}{'switch':>12}{'call + reply':>16}")
    for title, (switch, call) in (
        ("within a component", within),
        ("across components, --fast", fast),
        ("within a component, with a trace", traced),
        ("across components", across),
        ("within a component, --hardened", hardened[0]),
        ("across components, --hardened", hardened[1]),
    ):
        print(f"{title:34}{switch:>9.1f} ns{call:>13.1f} ns")
    print(f"between processes a switch takes {across[0] / within[0]:.0f} times as long")
    return 0


if __name__ == "__main__":
    sys.exit(main())
