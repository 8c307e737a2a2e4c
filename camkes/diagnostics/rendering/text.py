# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Diagnostics as text for people: messages, excerpts of the source with underlines, notes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from camkes.diagnostics import Diagnostic, Label, SourceFile, Span
from camkes.diagnostics.rendering.style import Style, import_chain, position, summary
from camkes.visible import visible

_ANSI = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "message": "1",
    "frame": "1;34",
    "second": "1;34",
    "help": "1;32",
}


_WIDEST = 160  # characters of a line that is shown as it is
_AROUND = 40  # characters of a longer one to each side of a place


class _ExcerptCharacters(NamedTuple):
    """The characters of excerpts."""

    arrow: str  # before the place of the excerpt
    other: str  # before the place in a further file
    bar: str  # between line numbers and source
    gap: str  # in place of a line number, where lines are left out
    first: str  # underline of the main place
    second: str  # underline of a related place
    stem: str  # from an underline down to its label
    open: str  # where a span of several lines starts
    side: str  # beside its lines
    base: str  # from there to the column where the span starts or ends
    lead: str  # where a span starts that does not start its line
    corner: str  # where it ends


_ASCII = _ExcerptCharacters("-->", ":::", "|", "...", "^", "-", "|", "/", "|", "_", " ", "|")
_UNICODE = _ExcerptCharacters("┌─", "├─", "│", "⋮", "━", "─", "│", "╭", "│", "─", "╭", "╰")


def to_text(diagnostics: Sequence[Diagnostic], style: Style) -> str:
    """Every diagnostic with its excerpts, and a last line that counts them."""
    blocks = ["\n".join(_block(diagnostic, style)) for diagnostic in diagnostics]
    if total := summary(diagnostics):
        blocks.append(total)
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _block(diagnostic: Diagnostic, style: Style) -> Iterator[str]:
    """A diagnostic: its message, an excerpt of each file that it refers to, its notes."""
    drawing = _UNICODE if style.unicode else _ASCII
    word = diagnostic.severity.value
    yield _paint(f"{word}[{diagnostic.code.number}]", word, style) + _paint(
        f": {diagnostic.message}", "message", style
    )
    labels = [] if diagnostic.span is None else [Label(diagnostic.span, diagnostic.label)]
    labels += diagnostic.related
    files: dict[int, list[tuple[Label, str]]] = {}
    for index, label in enumerate(labels):
        role = word if index == 0 and diagnostic.span is not None else "second"
        files.setdefault(id(label.span.file), []).append((label, role))
    last = max((_clip(label.span).end_line for label in labels), default=0)
    margin = " " * len(str(last))
    bar = _paint(f"{margin} {drawing.bar}", "frame", style)
    for number, group in enumerate(files.values()):
        span = group[0][0].span
        arrow = drawing.other if number else drawing.arrow
        indent = margin + " " if style.unicode else margin
        yield f"{_paint(indent + arrow, 'frame', style)} {position(span, style)}"
        if number == 0:
            for origin in import_chain(span.file):
                yield f"{bar} {_brought_in(origin)} from {position(origin, style)}"
        yield bar
        for line, row in _excerpt(group, drawing):
            start = drawing.gap if line < 0 else str(line or "").rjust(len(margin)) + f" {drawing.bar}"
            yield (_paint(start, "frame", style) + (" " if row else "") + _paint_row(row, style)).rstrip()
    if labels and (diagnostic.notes or diagnostic.help):
        yield bar
    equals = _paint(f"{margin} =", "frame", style)
    notes = [("note", note) for note in diagnostic.notes]
    notes += [("help", diagnostic.help)] if diagnostic.help else []
    for kind, text in notes:
        first, *rest = text.split("\n")
        yield f"{equals} {_paint(f'{kind}:', 'help' if kind == 'help' else 'message', style)} {first}"
        for more in rest:
            yield f"{margin}         {more}".rstrip()


def _brought_in(origin: Span) -> str:
    """What a line does to the file that it names."""
    line = origin.file.lines[origin.line - 1]
    return "included" if line.lstrip().startswith("#") else "imported"


class _Cell(NamedTuple):
    """A character on the screen and the role that decides its colour."""

    text: str
    role: str


_Row = list[_Cell]


class _Mark(NamedTuple):
    """A label on one line, in screen columns; the end is exclusive."""

    start: int
    end: int
    text: str
    role: str


class _LabelBracket(NamedTuple):
    """A label over several lines, with the column of its line at the left side."""

    span: Span
    text: str
    role: str
    depth: int


def _excerpt(labels: Sequence[tuple[Label, str]], drawing: _ExcerptCharacters) -> Iterator[tuple[int, _Row]]:
    """Rows of one file: with a line number for source, 0 for what is drawn below it, -1 for a gap."""
    file = labels[0][0].span.file
    brackets: list[_LabelBracket] = []
    singles: dict[int, list[tuple[Span, str, str]]] = {}
    for label, role in labels:
        span = _clip(label.span)
        if span.line == span.end_line:
            singles.setdefault(span.line, []).append((span, label.text, role))
        else:
            taken = {
                b.depth for b in brackets if b.span.line <= span.end_line and span.line <= b.span.end_line
            }
            depth = next(d for d in range(len(labels)) if d not in taken)
            brackets.append(_LabelBracket(span, label.text, role, depth))
    depths = max((b.depth + 1 for b in brackets), default=0)
    shown = set(singles)
    for bracket in brackets:
        first, end = bracket.span.line, bracket.span.end_line
        shown.update(range(first, end + 1) if end - first < 6 else (first, first + 1, end - 1, end))
    previous = 0
    for line in sorted(shown):
        if previous and line == previous + 2:
            yield from _source(file, previous + 1, [], brackets, depths, drawing)
        elif previous and line > previous + 2:
            yield -1, []
        yield from _source(file, line, singles.get(line, []), brackets, depths, drawing)
        previous = line


def _source(
    file: SourceFile,
    line: int,
    labels: Sequence[tuple[Span, str, str]],
    brackets: Sequence[_LabelBracket],
    depths: int,
    drawing: _ExcerptCharacters,
) -> Iterator[tuple[int, _Row]]:
    """A line of source and everything that is drawn under it."""
    source = file.lines[line - 1]
    points = [(span.column - 1, span.end_column - 1) for span, _, _ in labels]
    points += [(b.span.column - 1,) * 2 for b in brackets if b.span.line == line]
    points += [(b.span.end_column - 1,) * 2 for b in brackets if b.span.end_line == line]
    text, columns = _screen(source) if len(source) <= _WIDEST else _shortened(source, points)
    indented = len(source) - len(source.lstrip())
    open_: dict[int, _LabelBracket] = {}
    starting, ending = [], []
    for bracket in brackets:
        if bracket.span.line == line and bracket.span.column - 1 > indented:
            starting.append(bracket)
        elif bracket.span.line <= line <= bracket.span.end_line:
            open_[bracket.depth] = bracket
        if bracket.span.end_line == line:
            ending.append(bracket)

    def side() -> _Row:
        row = []
        for depth in range(depths):
            found = open_.get(depth)
            row += [_Cell(drawing.side if found else " ", found.role if found else ""), _Cell(" ", "")]
        return row

    row = side()
    for depth, bracket in open_.items():
        if bracket.span.line == line:
            row[2 * depth] = _Cell(drawing.open, bracket.role)
    yield line, [*row, *(_Cell(c, "") for c in text)]
    marks = []
    for span, label, role in labels:
        start, end = columns[span.column - 1], columns[span.end_column - 1]
        marks.append(_Mark(start, max(end, start + 1), label, role))
    for row in _marks(marks, drawing):
        yield 0, side() + row
    for bracket in starting:
        row = side()
        row[2 * bracket.depth] = _Cell(drawing.lead, bracket.role)
        at = 2 * depths + columns[bracket.span.column - 1]
        yield 0, _reach(row, 2 * bracket.depth + 1, at, bracket, drawing)
        open_[bracket.depth] = bracket
    for bracket in ending:
        row = side()
        row[2 * bracket.depth] = _Cell(drawing.corner, bracket.role)
        at = 2 * depths + max(columns[bracket.span.end_column - 1] - 1, 0)
        row = _reach(row, 2 * bracket.depth + 1, at, bracket, drawing)
        yield 0, row + [_Cell(c, bracket.role) for c in (f" {bracket.text}" if bracket.text else "")]
        del open_[bracket.depth]


def _reach(row: _Row, start: int, end: int, bracket: _LabelBracket, drawing: _ExcerptCharacters) -> _Row:
    """Draw from the side of a bracket to the column where its span starts or ends."""
    row = row + [_Cell(" ", "")] * (end - len(row))
    for i in range(start, end):
        if row[i].text == " ":
            row[i] = _Cell(drawing.base, bracket.role)
    tip = drawing.second if bracket.role == "second" else drawing.first
    return [*row[:end], _Cell(tip, bracket.role)]


def _marks(marks: Sequence[_Mark], drawing: _ExcerptCharacters) -> Iterator[_Row]:
    """Underlines, the last label beside its underline, the others on rows of their own below."""
    if not marks:
        return
    ordered = sorted(marks, key=lambda mark: (mark.start, mark.end))
    row = [_Cell(" ", "")] * max(mark.end for mark in marks)
    for mark in sorted(marks, key=lambda mark: mark.role != "second"):
        sign = drawing.second if mark.role == "second" else drawing.first
        row[mark.start : mark.end] = [_Cell(sign, mark.role)] * (mark.end - mark.start)
    hanging = [mark for mark in ordered if mark.text]
    last = ordered[-1]
    alone = all(mark.end <= last.start for mark in ordered[:-1])
    if alone and last.text:
        row += [_Cell(c, last.role) for c in f" {last.text}"]
        hanging.remove(last)
    yield row
    if hanging:
        yield _stems(hanging, drawing)
    while hanging:
        mark = hanging.pop()
        row = _stems([other for other in hanging if other.start < mark.start], drawing)
        row += [_Cell(" ", "")] * (mark.start - len(row))
        yield row + [_Cell(c, mark.role) for c in mark.text]


def _stems(marks: Sequence[_Mark], drawing: _ExcerptCharacters) -> _Row:
    row: _Row = []
    for mark in marks:
        if mark.start >= len(row):
            row += [_Cell(" ", "")] * (mark.start - len(row))
            row.append(_Cell(drawing.stem, mark.role))
    return row


def _clip(span: Span) -> Span:
    """A span that is within its file, even if the file has changed."""
    lines = span.file.lines
    line = min(max(span.line, 1), max(len(lines), 1))
    end_line = min(max(span.end_line, line), max(len(lines), 1))
    width, end_width = (len(lines[n - 1].rstrip("\r")) + 1 if lines else 1 for n in (line, end_line))
    column, end_column = min(max(span.column, 1), width), min(max(span.end_column, 1), end_width)
    if end_line > line and end_column == 1:
        # An end at the start of a line is the end of the line before.
        end_line -= 1
        end_column = len(lines[end_line - 1].rstrip("\r")) + 1
    return Span(
        span.file, line, column, end_line, max(end_column, column) if line == end_line else end_column
    )


def _screen(line: str) -> tuple[str, list[int]]:
    """A line as a terminal shows it, and the screen column of each of its characters and of its end."""
    line = line.rstrip("\r")
    if line.isascii() and line.isprintable():
        return line, list(range(len(line) + 1))
    text: list[str] = []
    columns: list[int] = []
    at = 0
    for character in line:
        columns.append(at)
        if character == "\t":
            width = 4 - at % 4
            character = " " * width
        elif unicodedata.combining(character) or character in "\u200b\u200c\u200d\ufe0e\ufe0f":
            width = 0
        elif (spelled := visible(character)) != character:
            character, width = spelled, len(spelled)
        elif not character.isprintable():
            character, width = "\N{REPLACEMENT CHARACTER}", 1
        else:
            width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        text.append(character)
        at += width
    return "".join(text), [*columns, at]


def _shortened(line: str, points: Sequence[tuple[int, int]]) -> tuple[str, list[int]]:
    """What a terminal shows of a long line: some text around each place that matters."""
    windows: list[tuple[int, int]] = []
    for first, last in sorted(points) or [(0, 0)]:
        start = max(0, first - _AROUND)
        end = min(len(line), max(min(last, first + _WIDEST - 2 * _AROUND), first) + _AROUND)
        if windows and start <= windows[-1][1]:
            start, before = windows.pop()
            end = max(end, before)
        windows.append((start, end))
    shown = ""
    # of each character of the line, its place in what is shown: one of the dots if it is not shown itself
    places: list[int] = []
    for start, end in windows:
        places += [len(shown)] * (start - len(places))
        shown += "..." if start else ""
        places += range(len(shown), len(shown) + end - start)
        shown += line[start:end]
    places += [len(shown) + (2 if len(places) < len(line) else 0)] * (len(line) + 1 - len(places))
    text, columns = _screen(shown + ("..." if windows[-1][1] < len(line) else ""))
    return text, [columns[place] for place in places]


def _paint(text: str, role: str, style: Style) -> str:
    return f"\033[{_ANSI[role]}m{text}\033[0m" if style.color and role and text else text


def _paint_row(row: _Row, style: Style) -> str:
    """The cells of a row, each run of one role painted once."""
    if not style.color:
        return "".join(cell.text for cell in row)
    parts: list[str] = []
    run, role = "", ""
    for cell in row:
        if cell.role != role:
            parts.append(_paint(run, role, style))
            run, role = "", cell.role
        run += cell.text
    return "".join([*parts, _paint(run, role, style)])
