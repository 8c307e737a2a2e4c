# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The syntax of CMake: a file is a list of commands, an argument a piece of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from camkes.diagnostics import SourceFile, Span
from camkes.records import NamedTuple


class Quoting(Enum):
    BARE = "bare"
    QUOTED = "quoted"
    BRACKET = "bracket"


class Argument(NamedTuple):
    """Text as written, without its quotes. A parenthesis inside a command is a bare argument."""

    text: str
    quoting: Quoting


class Command(NamedTuple):
    """`name` is in lower case."""

    name: str
    arguments: tuple[Argument, ...]
    span: Span


class CMakeSyntaxError(Exception):
    """A file that is no CMake text."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+)
      | \#\[(?P<comment_level>=*)\[
      | (?P<comment>\#[^\n]*)
      | \[(?P<level>=*)\[
      | "(?P<quoted>(?:[^"\\]|\\.)*)"
      | (?P<open>\()
      | (?P<close>\))
      | (?P<bare>(?:[^\s()\#"\\]|\\.|"(?:[^"\\]|\\.)*")+)
    """,
    re.VERBOSE | re.DOTALL,
)


def parse(file: SourceFile) -> tuple[Command, ...]:
    """The commands of a file; raises CMakeSyntaxError."""
    commands: list[Command] = []
    tokens = _tokens(file)
    for kind, text, start in tokens:
        if kind != "bare":
            raise CMakeSyntaxError(f"expected a command, found {text!r}", _span(file, start, start + 1))
        after = next(tokens, None)
        if after is None or after[0] != "open":
            raise CMakeSyntaxError(f"expected ( after {text}", _span(file, start, start + len(text)))
        span = _span(file, start, start + len(text))
        commands.append(Command(text.lower(), tuple(_arguments(tokens, span)), span))
    return tuple(commands)


def _arguments(tokens: Iterator[tuple[str, str, int]], span: Span) -> Iterator[Argument]:
    depth = 0
    for kind, text, _ in tokens:
        match kind:
            case "open":
                depth += 1
                yield Argument("(", Quoting.BARE)
            case "close" if depth == 0:
                return
            case "close":
                depth -= 1
                yield Argument(")", Quoting.BARE)
            case _:
                yield Argument(text, Quoting(kind))
    raise CMakeSyntaxError("this command is never closed: a `)` is missing", span)


def _tokens(file: SourceFile) -> Iterator[tuple[str, str, int]]:
    text = file.text
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise CMakeSyntaxError("this text is never closed", _span(file, position, position + 1))
        start, position = position, match.end()
        kind = match.lastgroup or ""
        if kind in ("comment_level", "level"):
            end = f"]{match[kind]}]"
            closing = text.find(end, position)
            if closing < 0:
                raise CMakeSyntaxError("this bracket is never closed", _span(file, start, position))
            if kind == "level":
                yield "bracket", text[position:closing].removeprefix("\n"), start
            position = closing + len(end)
        elif kind not in ("blank", "comment"):
            yield kind, match[kind], start


def _span(file: SourceFile, start: int, end: int) -> Span:
    line = file.text.count("\n", 0, start) + 1
    column = start - (file.text.rfind("\n", 0, start) + 1) + 1
    return Span(file, line, column, line, column + end - start)
