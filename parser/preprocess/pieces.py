# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Cuts files into directives, macro invocations and the text between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from camkes.diagnostics import SourceFile

# Tokens of C, as far as macros are concerned. White space and comments are one token.
C_TOKEN = re.compile(
    r"(?P<blank>(?:\s|\\\n|//(?:\\\n|[^\n])*|/\*[\s\S]*?\*/)+)"
    r"|(?P<name>[^\W\d][\w$]*)"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r'|(?P<quoted>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    r"|(?P<other>.)",
    re.DOTALL,
)
_RENUMBER = re.compile(r"\s*#\s*(?:line\b|\d)")
_FIRST = re.compile(r"\w+|\S")
_COMMENT = re.compile(r"/\*[\s\S]*?\*/")
_DIRECTIVE = re.compile(r"#(?:/\*[\s\S]*?\*/|//(?:\\\n|[^\n])*|\\\n|\"(?:\\.|[^\"\\\n])*\"|[^\n])*\n?")


class PlainBlock(NamedTuple):
    """What stands between two directives: its first line, its pieces as `cut` gives them."""

    line: int
    pieces: list[tuple[int, int, str]]
    expanded: set[int]  # the lines that have a macro


class Macros(Struct, frozen=True):
    """The names of all macros of a run, and those of them that may take what follows as arguments."""

    names: frozenset[str]
    calls: frozenset[str]


def blocks_of(text: str, macros: Macros) -> list[PlainBlock] | None:
    """What stands between the directives of a file; None where a directive renumbers lines, or a line has two
    macros."""
    blocks: list[PlainBlock] = []
    block: PlainBlock | None = None
    line, counted = 1, 0
    for start, end, kind in cut(text, macros):
        line += text.count("\n", counted, start)
        counted = start
        if kind == "directive":
            if _RENUMBER.match(text, start):
                return None
            block = None
            continue
        if block is None:
            block = PlainBlock(line, [], set())
            blocks.append(block)
        if kind == "macro":
            if line in block.expanded or "\n" in text[start:end]:
                return None
            block.expanded.add(line)
        block.pieces.append((start, end, kind))
    return blocks


def expansion_of(file: SourceFile, start: int, end: int, lines: Mapping[int, str]) -> str | None:
    """What a macro has become, which is alone in its line: what is left of the line of output without the
    tokens before and after it."""
    begin = file.text.rfind("\n", 0, start) + 1
    finish = file.text.find("\n", end)
    output = lines.get(file.text.count("\n", 0, start) + 1, "")
    before = _tokens(file.text[begin:start])
    after = _tokens(file.text[end : finish if finish >= 0 else len(file.text)])
    found = _tokens(output)
    rest = len(found) - len(after)
    if len(before) > rest or _words(found[: len(before)]) != _words(before):
        return None
    if _words(found[rest:]) != _words(after):
        return None
    middle = found[len(before) : rest]
    return output[middle[0].start() : middle[-1].end()] if middle else ""


def first_token(text: str) -> str:
    found = _FIRST.match(text)
    return found.group() if found else ""


def _tokens(text: str) -> list[re.Match[str]]:
    return [token for token in C_TOKEN.finditer(text) if token.lastgroup != "blank"]


def _words(tokens: list[re.Match[str]]) -> list[str]:
    return [token.group() for token in tokens]


def cut(text: str, macros: Macros) -> Iterator[tuple[int, int, str]]:
    """Cut a file into "directive"s, "macro" invocations, and plain "text"."""
    position = start = 0
    at_line_start = True
    while position < len(text):
        if at_line_start and text[position] == "#":
            directive = _DIRECTIVE.match(text, position)
            assert directive is not None
            if start < position:
                yield start, position, "text"
            start = position = directive.end()
            yield directive.start(), position, "directive"
            continue
        match = C_TOKEN.match(text, position)
        assert match is not None
        if match.lastgroup == "blank":
            at_line_start = at_line_start or "\n" in _COMMENT.sub("", match.group())
            position = match.end()
            continue
        at_line_start = False
        if match.lastgroup == "name" and match.group() in macros.names:
            if start < position:
                yield start, position, "text"
            end = match.end()
            if match.group() in macros.calls:
                end = _arguments(text, end)
            yield position, end, "macro"
            start = position = end
        else:
            position = match.end()
    if start < len(text):
        yield start, len(text), "text"


def _arguments(text: str, end: int) -> int:
    """The end of the parenthesised groups that follow a macro's name; `end` itself if there are none."""
    depth, position = 0, end
    while position < len(text):
        match = C_TOKEN.match(text, position)
        assert match is not None
        position = match.end()
        if match.lastgroup == "blank":
            continue
        if match.group() == "(":
            depth += 1
        elif depth == 0:
            break
        elif match.group() == ")":
            depth -= 1
            if depth == 0:
                end = position
    return end
