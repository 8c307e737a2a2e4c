# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Places in files that CMake reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from camkes.diagnostics import SourceFile, Span


def read_text(path: Path) -> str:
    """The text of a file, whatever its bytes are; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""


def span_of(file: str, line: int, command: str = "") -> Span:
    """A line of a file that CMake read, or the name of a command in it."""
    source = SourceFile(Path(file), read_text(Path(file)).replace("\r\n", "\n"))
    if not 1 <= line <= len(source.lines):
        return Span(source, 1, 1, 1, 1)
    text = source.lines[line - 1].rstrip()
    named = re.search(rf"\b{re.escape(command)}\b", text, re.IGNORECASE) if command else None
    if named is not None:
        return Span(source, line, named.start() + 1, line, named.end() + 1)
    indent = len(text) - len(text.lstrip())
    return Span(source, line, indent + 1, line, max(len(text), indent + 1) + 1)


def place_of(word: str, files: Iterable[Path]) -> Span | None:
    """Where a word stands first in files that CMake read, but for comments; None if it is made of parts."""
    written = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w=-])")
    for file in files:
        text = read_text(file).replace("\r\n", "\n")
        if word not in text:
            continue
        source = SourceFile(file, text)
        for number, line in enumerate(source.lines, 1):
            found = written.search(line)
            if found is not None and "#" not in line[: found.start()]:
                return Span(source, number, found.start() + 1, number, found.end() + 1)
    return None
