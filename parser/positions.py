# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Maps offsets in the parsed text to positions in the user's files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from camkes.diagnostics import SourceFile, Span


class TextSegment(NamedTuple):
    """A run of the parsed text and where it comes from.

    With `expanded`, the text is what a macro became, and every place in it is the whole invocation.
    Otherwise it is a copy of the file's own text, character by character.
    """

    text: str
    file: SourceFile
    start: int  # offsets in file.text
    end: int
    expanded: bool


class ParsedText:
    """The text that is parsed, made of segments."""

    __slots__ = ("_lines", "_offsets", "_only_lines", "_segments", "content")

    def __init__(self, segments: Sequence[TextSegment]) -> None:
        self.content = "".join(segment.text for segment in segments)
        self._segments = segments
        self._offsets: list[int] = []
        offset = 0
        for segment in segments:
            self._offsets.append(offset)
            offset += len(segment.text)
        self._lines: dict[SourceFile, list[int]] = {}
        self._only_lines: list[int] | None = None

    @classmethod
    def of(cls, file: SourceFile) -> ParsedText:
        """The text of a file as it is."""
        text = cls([TextSegment(file.text, file, 0, len(file.text), False)])
        text._only_lines = line_starts(file.text)
        return text

    def span(self, start: int, end: int) -> Span:
        """The place of content[start:end]."""
        lines = self._only_lines
        if lines is not None:  # one file as it is, by far the most frequent case
            line = bisect_right(lines, start)
            column = start - lines[line - 1] + 1
            if line == len(lines) or end < lines[line]:
                return Span(self._segments[0].file, line, column, line, column + end - start)
            end_line = bisect_right(lines, end)
            return Span(self._segments[0].file, line, column, end_line, end - lines[end_line - 1] + 1)
        file, line, column, own_line, own_column = self._place(start, start)
        if end <= start:
            return Span(file, line, column, line, column)
        last, _, _, end_line, end_column = self._place(end - 1, end)
        if last is not file or (end_line, end_column) < (line, column):
            return Span(file, line, column, own_line, own_column)
        return Span(file, line, column, end_line, end_column)

    def _place(self, offset: int, end: int) -> tuple[SourceFile, int, int, int, int]:
        """Where the character at `offset` starts and where the text before `end` ends."""
        index = bisect_right(self._offsets, offset) - 1
        _, file, first, last, expanded = self._segments[index]
        if expanded:
            start, stop = first, last
        else:
            shift = first - self._offsets[index]
            start, stop = offset + shift, end + shift
        lines = self._lines.get(file)
        if lines is None:
            lines = self._lines[file] = line_starts(file.text)
        line = bisect_right(lines, start)
        end_line = bisect_right(lines, stop) if stop != start else line
        return file, line, start - lines[line - 1] + 1, end_line, stop - lines[end_line - 1] + 1


def line_starts(text: str) -> list[int]:
    """The offsets at which the lines of a text begin."""
    starts = [0]
    position = text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    return starts


def opening(span: Span) -> Span:
    """The first line of a span."""
    if span.end_line == span.line:
        return span
    lines = span.file.lines
    end = len(lines[span.line - 1]) + 1 if span.line <= len(lines) else span.column
    return Span(span.file, span.line, span.column, span.line, max(end, span.column))
