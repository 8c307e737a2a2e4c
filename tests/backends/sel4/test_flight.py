# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The flight controller prints on seL4 what it prints on the host kernel: SEL4_WORKSPACE=DIR, and QEMU."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.resources import EXAMPLES
from tests.backends.sel4.platforms import PLATFORMS
from tests.backends.sel4.recorded import LIMIT

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.requirement("SEL4-1"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
]


@pytest.mark.long
@pytest.mark.parametrize("platform", ["x86_64"])
def test_it_becomes_level(platform: str, tmp_path: Path) -> None:
    """QEMU counts instructions, else its clock is too fast for periods of 1 ms."""
    expected = (EXAMPLES / "flight" / "expected.txt").read_text().splitlines()
    sink = Sink()
    settings = PLATFORMS[platform][1]
    assert make(Path(WORKSPACE), EXAMPLES / "flight", tmp_path, settings, sink, lambda *_: None), (
        sink.diagnostics
    )
    printed: list[str] = []
    run = console(tmp_path, instruction_counting=True, seconds=LIMIT)
    for line in run:
        if " ms: " in line:
            printed.append(line.rstrip())
        if len(printed) == len(expected):
            break
    run.close()
    assert printed == expected
