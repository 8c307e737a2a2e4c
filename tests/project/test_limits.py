# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""CMake that does not end, or is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from camkes.project import cmake
from camkes.project.application import find_application
from tests.golden import compare
from tests.project.support import app

pytestmark = pytest.mark.requirement("LANG-30")

GOLDEN = Path(__file__).parent / "golden"


def said(folder: Path) -> str:
    sink = Sink()
    assert find_application(folder, sink) is None
    return render(sink.diagnostics, Style(base=folder))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("endless_loop", "while(TRUE)\n    math(EXPR i 1)\nendwhile()"),
        ("waiting_program", "execute_process(COMMAND sleep 100)"),
        ("endless_file", "include(/dev/zero)"),
        ("file_that_nobody_writes", "include(${CMAKE_CURRENT_SOURCE_DIR}/fifo)"),
        ("growing_text", 'set(s a)\nwhile(TRUE)\n    string(APPEND s "${s}")\nendwhile()'),
    ],
)
def test_cmake_is_stopped(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The place depends on how far the trace came, so only the beginning is the same everywhere."""
    monkeypatch.setattr(cmake, "TIMEOUT", 4)
    monkeypatch.setattr(cmake, "CPU_SECONDS", 1)
    monkeypatch.setattr(cmake, "MEMORY", 2**28)
    os.mkfifo(tmp_path / "fifo")
    first = said(app(tmp_path, text)).splitlines()[0]
    compare(f"{first}\n", GOLDEN / f"{name}.txt")


def test_without_cmake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cmake, "find_cmake", lambda: None)
    compare(said(app(tmp_path, "")), GOLDEN / "without_cmake.txt")
