# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tokens of C-like text, and edits that leave everything else as it is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from camkes.diagnostics import SourceFile, Span

_TOKEN = re.compile(
    r"(?P<blank>(?:\s|\\\n)+|//(?:\\\n|[^\n])*|/\*[\s\S]*?(?:\*/|\Z))"
    r"|(?P<directive>\#(?!\#)(?:[ \t]*define[ \t]+\w+(?:\([^)\n]*\))?"
    r"|(?:/\*[\s\S]*?\*/|\\\n|[^\n/]|/(?![*/]))*))"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r'|(?P<string>"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?)'
    r"|(?P<symbol>.)",
    re.DOTALL,
)
_NO_LINE = re.compile(r"/\*[\s\S]*?(?:\*/|\Z)|\\\n")  # what does not end a line of the preprocessor
_OPEN = {"(": ")", "{": "}", "[": "]"}


class Token(NamedTuple):
    """`kind`: name, number, string, symbol or directive (a #define only up to its replacement)."""

    kind: str
    text: str
    start: int
    end: int


class BracketedTokens:
    """The tokens of a text without blanks, with matching brackets and the depth of braces."""

    def __init__(self, text: str) -> None:
        self.all = list(_tokens(text))
        self.partner: dict[int, int] = {}
        self.depth: list[int] = []
        opened: list[int] = []
        depth = 0
        for number, token in enumerate(self.all):
            if token.text == "}" and depth:
                depth -= 1
            self.depth.append(depth)
            if token.kind != "symbol":
                continue
            if token.text in _OPEN:
                opened.append(number)
                linkage = token.text == "{" and self.texts(number - 2, 2) == ["extern", '"C"']
                depth += token.text == "{" and not linkage
            elif token.text in ")}]":
                while opened and _OPEN[self.all[opened[-1]].text] != token.text:
                    opened.pop()
                if opened:
                    self.partner[opened.pop()] = number

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, number: int) -> Token:
        return self.all[number]

    def text(self, number: int) -> str:
        """The text of a token; "" beyond the ends."""
        return self.all[number].text if 0 <= number < len(self.all) else ""

    def texts(self, number: int, count: int) -> list[str]:
        return [self.text(i) for i in range(number, number + count)]

    def arguments(self, opening: int) -> list[tuple[int, int]]:
        """The parts between the commas after an opening parenthesis, as ranges of tokens."""
        closing = self.partner.get(opening, opening + 1)
        parts: list[tuple[int, int]] = []
        start = at = opening + 1
        while at < closing:
            if self.all[at].text == ",":
                parts.append((start, at))
                start = at + 1
            at = self.partner.get(at, at) + 1
        return [*parts, (start, closing)] if start < closing or parts else []


def _tokens(text: str) -> Iterator[Token]:
    """The tokens of a text. A directive begins its line; any other `#` belongs to the body of a macro."""
    at, begins = 0, True
    while match := _TOKEN.match(text, at):
        kind, written = match.lastgroup or "", match[0]
        if kind == "directive" and not begins:
            kind, written = "symbol", "#"
        at += len(written)
        if kind == "blank":
            begins = begins or "\n" in _NO_LINE.sub("", written)
            continue
        begins = False
        yield Token(kind, written, match.start(), at)


class TextEdit(NamedTuple):
    start: int
    end: int
    text: str


class Document(Struct, dict=True):
    """A file with what is to be changed in it. `mark` is its byte order mark, or nothing."""

    path: Path
    text: str
    newline: str = "\n"
    mark: str = ""
    edits: list[TextEdit] = field(default_factory=list)

    @cached_property
    def tokens(self) -> BracketedTokens:
        return BracketedTokens(self.text)

    @cached_property
    def source(self) -> SourceFile:
        return SourceFile(self.path, self.text)

    def replace(self, start: int, end: int, text: str) -> None:
        self.edits.append(TextEdit(start, end, text))

    def remove_statement(self, first: int, last: int) -> None:
        """Remove tokens, and their lines where nothing else is on them; a comment behind them goes too."""
        start, end = self.tokens[first].start, self.tokens[last].end
        line = self.text.rfind("\n", 0, start) + 1
        rest = re.match(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(?:\n|\Z)", self.text[end:])
        if not self.text[line:start].strip() and rest is not None:
            self.replace(line, end + rest.end(), "")
        else:
            blank = re.match(r"[ \t]*", self.text[end:])
            self.replace(start, end + (blank.end() if blank else 0), "")

    def remove_last(self, opening: int, count: int, empty: str = "") -> None:
        """Remove the last arguments between parentheses; `empty` is written if none stays."""
        tokens = self.tokens
        parts = tokens.arguments(opening)
        stay = len(parts) - count
        start = tokens[parts[stay - 1][1] - 1].end if stay else tokens[opening].end
        self.replace(start, tokens[parts[-1][1] - 1].end, "" if stay else empty)

    def span(self, first: int, last: int | None = None) -> Span:
        """The place of tokens."""
        return self.place(self.tokens[first].start, self.tokens[first if last is None else last].end)

    def place(self, start: int, end: int) -> Span:
        """The place of a part of the text, without the blanks around it."""
        text = self.text[start:end]
        start, end = end - len(text.lstrip()), start + len(text.rstrip())
        return Span(self.source, *self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        starts = [0, *(m.end() for m in re.finditer("\n", self.text))]
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def edited(self) -> str:
        """The text with all changes. A change within a larger one does not count."""
        return apply(self.text, self.edits)

    def kept(self) -> Iterator[int]:
        """The tokens that no change touches."""
        edits = [edit for edit in outermost(self.edits) if edit.start < edit.end]
        at = 0
        for number, token in enumerate(self.tokens.all):
            while at < len(edits) and edits[at].end < token.end:
                at += 1
            if at == len(edits) or token.start < edits[at].start:
                yield number


def outermost(edits: Sequence[TextEdit]) -> list[TextEdit]:
    """The edits in order, without those inside others. What is removed need not be changed."""
    result: list[TextEdit] = []
    for edit in sorted(set(edits), key=lambda e: (e.start, -e.end, e.text)):
        if result and edit.start < result[-1].end:
            continue
        result.append(edit)
    return result


def apply(text: str, edits: Sequence[TextEdit]) -> str:
    """A text with edits made. Where lines go between two blank ones, one of these goes too."""
    pieces: list[str] = []
    at = 0
    for edit in joined(outermost(edits)):
        edit = _with_line(text, edit)
        end = edit.end
        if not edit.text and text[end : end + 1] == "\n" and re.search(r"(?:^|\n)\n\Z", text[: edit.start]):
            end += 1
        pieces += [text[at : edit.start], edit.text]
        at = end
    return "".join([*pieces, text[at:]])


def _with_line(text: str, edit: TextEdit) -> TextEdit:
    """A removal of all that is on its lines, with the lines; of a line's end, with the space before it."""
    end = text.find("\n", edit.end)
    at_end = not edit.text and end >= 0 and not text[edit.end : end].strip()
    if not at_end or text[edit.end - 1] == "\n":
        return edit
    start = len(text[: edit.start].rstrip(" \t"))
    return TextEdit(start, end, "") if start and text[start - 1] != "\n" else TextEdit(start, end + 1, "")


def joined(edits: Sequence[TextEdit]) -> list[TextEdit]:
    """Removals one behind the other as one."""
    result: list[TextEdit] = []
    for edit in edits:
        if result and not edit.text and not result[-1].text and result[-1].end == edit.start:
            edit = TextEdit(result.pop().start, edit.end, "")
        result.append(edit)
    return result
