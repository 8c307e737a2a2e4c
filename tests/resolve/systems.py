# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems from text, for tests."""

from pathlib import Path

from camkes.diagnostics import Diagnostic, Sink
from camkes.model.system import System
from camkes.resolve import LoadOptions, load


def resolve(
    folder: Path, text: str, options: LoadOptions | None = None
) -> tuple[System | None, list[Diagnostic]]:
    """The system of a text, and everything said about it."""
    path = folder / "system.camkes"
    path.write_text(text, encoding="utf-8")
    sink = Sink()
    return load(path, options or LoadOptions(cpp=False), sink), list(sink.diagnostics)


def good(folder: Path, text: str, options: LoadOptions | None = None) -> System:
    """The system of a text about which nothing is said."""
    system, diagnostics = resolve(folder, text, options)
    assert [d.message for d in diagnostics] == []
    assert system is not None
    return system


def numbers(folder: Path, text: str, options: LoadOptions | None = None) -> list[str]:
    """The codes of what is said about a text."""
    return [d.code.number for d in resolve(folder, text, options)[1]]
