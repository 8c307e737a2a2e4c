# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""On seL4, no path executes more instructions than its bound, and uncontended ones nearly as many. It needs a
workspace and QEMU: SEL4_WORKSPACE=DIR."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.requirement("AN-31"),
    pytest.mark.skipif("SEL4_WORKSPACE" not in os.environ, reason="SEL4_WORKSPACE names no workspace"),
]

ROOT = Path(__file__).parents[3]


@pytest.mark.long
@pytest.mark.parametrize("machine", ["qemu-x86_64", "qemu-aarch64"])
def test_counts_on_the_kernel_are_within_bounds(machine: str, tmp_path: Path) -> None:
    words = [sys.executable, "benchmarks/paths.py", "--machine", machine, "--build", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) > 20
