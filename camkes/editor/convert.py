# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Places: lines and columns from 1 in characters here, from 0 in units of an encoding in the protocol."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as lsp

from camkes.diagnostics import Span


def range_of(span: Span, encoding: str) -> lsp.Range:
    lines = span.file.lines
    return lsp.Range(
        _position(span.line, span.column, lines, encoding),
        _position(span.end_line, span.end_column, lines, encoding),
    )


def place_of(position: lsp.Position, lines: Sequence[str], encoding: str) -> tuple[int, int]:
    """Line and column; a place behind the end of its line is at the end of it."""
    if position.line >= len(lines):
        return len(lines), len(lines[-1]) + 1
    line = lines[position.line]
    units = 0
    for column, character in enumerate(line, 1):
        if units >= position.character:
            return position.line + 1, column
        units += _units(character, encoding)
    return position.line + 1, len(line) + 1


def offset_of(position: lsp.Position, text: str, encoding: str) -> int:
    lines = text.split("\n")
    line, column = place_of(position, lines, encoding)
    return sum(len(each) + 1 for each in lines[: line - 1]) + column - 1


def _position(line: int, column: int, lines: Sequence[str], encoding: str) -> lsp.Position:
    text = lines[line - 1][: column - 1] if line <= len(lines) else ""
    count = len(text) if text.isascii() else sum(_units(character, encoding) for character in text)
    return lsp.Position(line - 1, count)


def _units(character: str, encoding: str) -> int:
    """How many code units a character takes."""
    if character.isascii() or encoding == "utf-32":
        return 1
    if encoding == "utf-8":
        return len(character.encode("utf-8", "replace"))
    return 2 if ord(character) > 0xFFFF else 1
