# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What comments in sources state about loops and calls through pointers.

`/* at most N times: why */` bounds how often the body of a loop is executed each time that it is entered: of
the loop whose `for` or `while`, also that of a `do`, is in the same line, or in the one after a comment that
has lines of its own. N is a sum or product of numbers and names of numbers of the system. `/* calls f, g: why
*/` lists the functions that a call through a pointer can lead to.
"""

from __future__ import annotations

import ast
import operator
import re
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from camkes.paths.codes import UNBOUNDED_LOOP
from camkes.paths.program import SourceLine
from camkes.paths.steps import PathError

_COMMENT = re.compile(r"/\*(.*?)\*/|//([^\n]*)", re.DOTALL)
_BORDER = re.compile(r"^[ \t]*\*", re.MULTILINE)
_AT_MOST = re.compile(r"\s*at most (.+?) times?\b", re.DOTALL)
_CALLS = re.compile(r"\s*calls ((?:\w+, )*\w+)(?::|\s*$)")
#: comments, strings and lines of the preprocessor
_NO_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"\w+|\S")
_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


class SourceLoop(Struct, frozen=True, order=True):
    """A loop of a source, from its first line to its last one, with what bounds it, if that is stated."""

    begin: int
    end: int
    bound: str | None = None

    def __contains__(self, line: int) -> bool:
        return self.begin <= line <= self.end


class Contracts(Struct, frozen=True):
    """Of a source file: its loops, and what a call in a line leads to."""

    loops: tuple[SourceLoop, ...]
    calls: Mapping[int, tuple[str, ...]]

    def innermost(self, line: int) -> SourceLoop | None:
        """The loop that a line is in."""
        return min(
            (loop for loop in self.loops if line in loop),
            key=lambda loop: loop.end - loop.begin,
            default=None,
        )


def _contracts_of(path: str) -> Contracts:
    try:
        text = Path(path).read_text("utf-8", "replace")
    except OSError:
        return Contracts((), {})
    bounds, calls = {}, {}
    for comment in _COMMENT.finditer(text):
        words = " ".join(_BORDER.sub("", comment[1] or comment[2] or "").split())
        alone = not text[text.rfind("\n", 0, comment.start()) + 1 : comment.start()].strip()
        line = text.count("\n", 0, comment.end()) + (2 if alone else 1)
        if (found := _AT_MOST.match(words)) is not None:
            bounds[line] = found[1]
        elif (found := _CALLS.match(words)) is not None:
            calls[line] = tuple(found[1].split(", "))
    return Contracts(tuple(_LoopsInSource(text, bounds).found), calls)


class _LoopsInSource:
    """Finds the loops of a C source. Where the preprocessor leaves braces out, an end can be too late."""

    def __init__(self, text: str, bounds: Mapping[int, str]) -> None:
        self.found: list[SourceLoop] = []
        self._bounds = bounds
        code = _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        lines = [0, *(match.end() for match in re.finditer("\n", code))]
        self._tokens = [(match[0], bisect_right(lines, match.start())) for match in _TOKEN.finditer(code)]
        for at, (token, _) in enumerate(self._tokens):
            if token in ("for", "while") and not self._ends_do(at):
                self._add(at, at, self._statement(at))
            elif token == "do":
                end = self._statement(at + 1)  # the `while` follows
                self._add(at, end, self._statement(end))

    def _add(self, begin: int, condition: int, end: int) -> None:
        first, tested, last = (self._line(at) for at in (begin, condition, end - 1))
        self.found.append(SourceLoop(first, last, self._bounds.get(first, self._bounds.get(tested))))

    def _line(self, at: int) -> int:
        return self._tokens[min(at, len(self._tokens) - 1)][1]

    def _text(self, at: int) -> str:
        return self._tokens[at][0] if at < len(self._tokens) else ""

    def _ends_do(self, at: int) -> bool:
        """Whether a `while` is the end of a `do`."""
        return (
            self._text(at) == "while"
            and self._text(self._matching(at + 1)) == ";"
            and self._text(at - 1) == "}"
        )

    def _matching(self, at: int) -> int:
        """Behind what closes the bracket at an index."""
        depth = 0
        while at < len(self._tokens):
            depth += (self._text(at) in "({[") - (self._text(at) in ")}]")
            at += 1
            if depth == 0:
                break
        return at

    def _statement(self, at: int) -> int:
        """Behind the statement at an index."""
        token = self._text(at)
        if token == "{":
            return self._matching(at)
        if token in ("for", "while", "if", "switch"):
            end = self._statement(self._matching(at + 1))
            return self._statement(end + 1) if token == "if" and self._text(end) == "else" else end
        if token == "do":
            return self._statement(self._statement(at + 1))
        while at < len(self._tokens) and self._text(at) != ";":
            at = self._matching(at) if self._text(at) in "({[" else at + 1
        return at + 1


class StatedSources:
    """What sources state, each of which is read once."""

    def __init__(self) -> None:
        self._known: dict[str, Contracts] = {}

    def of(self, path: str) -> Contracts:
        """What a source states; nothing if it cannot be read."""
        if path not in self._known:
            self._known[path] = _contracts_of(path)
        return self._known[path]


class LoopStatements:
    """What sources state, with the `numbers` of the system that they name, and `limits` of functions, each of
    whose loops without a contract goes back at most so often. `used` are the contracts that were asked for,
    with their values."""

    def __init__(
        self, sources: StatedSources, numbers: Mapping[str, int] = {}, limits: Mapping[str, int] = {}
    ) -> None:
        self._sources, self._numbers, self.limits = sources, numbers, limits
        self.used: dict[SourceLine, int] = {}

    def loop_at(self, place: SourceLine) -> SourceLoop | None:
        """The innermost loop with a line."""
        return self._sources.of(place.path).innermost(place.line)

    def calls_at(self, place: SourceLine) -> tuple[str, ...]:
        """What a call in a line leads to."""
        return self._sources.of(place.path).calls.get(place.line, ())

    def evaluate(self, text: str, place: SourceLine) -> int:
        """The value of the contract of a loop at a place. Raises PathError."""

        def wrong(why: str) -> PathError:
            return PathError(UNBOUNDED_LOOP, why, place, "write a number, or a sum or product of numbers")

        def value(node: ast.expr) -> int:
            if isinstance(node, ast.Constant) and type(node.value) is int:
                return node.value
            if isinstance(node, ast.Name) and node.id in self._numbers:
                return self._numbers[node.id]
            if isinstance(node, ast.Name):
                known = ", ".join(sorted(self._numbers)) or "none"
                raise wrong(f"there is no number `{node.id}` here; known are: {known}")
            if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
                return int(_OPERATIONS[type(node.op)](value(node.left), value(node.right)))
            raise wrong(f"the bound `{text}` is not a sum or product of numbers")

        try:
            self.used[place] = max(0, value(ast.parse(text, mode="eval").body))
        except SyntaxError:
            raise wrong(f"the bound `{text}` is not a sum or product of numbers") from None
        return self.used[place]
