# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Excerpts of a program: a few statements, with all that they refer to, at their places in the files.

What an excerpt leaves out is blank in it, so that lines and columns are those of the whole. Reading it takes
as long as its size, whatever that of the program is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from camkes.parser.positions import line_starts

#: Characters of an excerpt, without the files that it imports.
LARGEST_EXCERPT = 16 * 1024

_MARK = re.compile(r"//[^\n]*+|/\*.*?(?:\*/|\Z)|\"[^\"]*+\"?|[{};]", re.DOTALL)
_BLANK = r"(?:\s++|//[^\n]*+|/\*.*?\*/)*+"
_HEAD = re.compile(rf"{_BLANK}(\w*+){_BLANK}(\w*+){_BLANK}(\w*+){_BLANK}(.?)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")

#: Blocks whose statements are counted one by one, by the block around them.
_OPENED = {
    "": ("assembly", "composition", "configuration"),
    "assembly": ("composition", "configuration"),
}
_DEFINITIONS = ("component", "connector", "procedure", "struct")

#: Kinds of statements that are in compositions and configurations.
_INNER = ("instance", "connection", "group", "setting")


class Statement(Struct, frozen=True):
    """A statement, a definition, or the begin or the end of a block, with the blanks and comments before it.

    `kind`: import, definition, instance, connection, group, setting, frame (of a block), other. `names` are
    those that it declares.
    """

    text: str
    kind: str
    names: tuple[str, ...]


class Statements:
    """A text in statements; `starts` are the offsets at which they begin. Most of them are those of another
    version, `like` this one, where there is one."""

    def __init__(self, text: str, like: Statements | None = None) -> None:
        self.text = text
        self._lines = line_starts(text)
        self.all: list[Statement] = []
        self.starts = [0]
        self._blocks: list[tuple[str, ...]] = [("",)]  # that are open before each
        last, tail = None, 0
        if like is not None:
            same = _common_start(text, like.text)
            count = min(bisect_right(like.starts, same), len(like.all)) - 1  # the last one has no end
            self.all, self.starts = like.all[:count], like.starts[: count + 1]
            self._blocks = like._blocks[: count + 1]
            most = min(len(text), len(like.text)) - same
            tail = len(text) - _common_start(text[: -most - 1 : -1], like.text[: -most - 1 : -1])
            last = like
        longer = 0 if last is None else len(text) - len(last.text)
        for statement, blocks in _split(text, self.starts[-1], self._blocks[-1]):
            if last is not None and self.starts[-1] >= tail:
                number = bisect_left(last.starts, self.starts[-1] - longer)
                same_place = number < len(last.all) and last.starts[number] + longer == self.starts[-1]
                if same_place and last._blocks[number] == self._blocks[-1]:
                    self.all += last.all[number:]
                    self.starts += [start + longer for start in last.starts[number + 1 :]]
                    self._blocks += last._blocks[number + 1 :]
                    break
            self.all.append(statement)
            self.starts.append(self.starts[-1] + len(statement.text))
            self._blocks.append(blocks)

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """The numbers of the statements that declare a name."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, each in enumerate(self.all):
            for name in each.names:
                found[name].append(number)
        return found

    @cached_property
    def by_text(self) -> dict[str, list[int]]:
        """The numbers of the statements with a text, in their order."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, each in enumerate(self.all):
            found[each.text].append(number)
        return found

    def blocks(self, number: int) -> tuple[str, ...]:
        """The blocks that are open before a statement, from the outermost one."""
        return self._blocks[number][1:]

    def offset(self, line: int, column: int) -> int:
        """Of a place, counted from 1."""
        return self._lines[min(line, len(self._lines)) - 1] + column - 1

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset, from 1."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def at(self, line: int, column: int) -> int:
        """The number of the statement at a place."""
        return min(bisect_right(self.starts, self.offset(line, column)), len(self.all)) - 1

    def unlike(self, others: Statements) -> set[int]:
        """The numbers of the statements that `others` do not have."""
        return {number for number, each in enumerate(self.all) if each.text not in others.by_text}

    def moved(self, line: int, column: int, to: Statements) -> tuple[int, int] | None:
        """Where a place is in another version of the text; None if its statement is not there."""
        number = self.at(line, column)
        text = self.all[number].text
        others = to.by_text.get(text, ())
        same = self.by_text[text].index(number)
        if same >= len(others):
            return None
        return to.place(to.starts[others[same]] + self.offset(line, column) - self.starts[number])


def _common_start(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _split(text: str, start: int, blocks: tuple[str, ...]) -> Iterator[tuple[Statement, tuple[str, ...]]]:
    """All of a text from a statement on, also of one with mistakes: the statements, each with the blocks that
    are open behind it."""
    depth = 0  # of blocks that are a part of a statement
    for match in _MARK.finditer(text, start):
        mark, end = match[0], match.end()
        if mark == "{":
            head = _HEAD.match(text, start, match.start())
            word = head[1] if head is not None else ""
            if depth or word not in _OPENED.get(blocks[-1], ()):
                depth += 1
                continue
            blocks = (*blocks, word)
            yield Statement(text[start:end], "frame", ()), blocks
        elif mark == "}":
            if depth:
                depth -= 1
                if depth or _is_value(text, start):
                    continue
                yield _statement(text[start:end], blocks[-1]), blocks
            else:
                blocks = blocks[:-1] or blocks
                yield Statement(text[start:end], "frame", ()), blocks
        elif mark == ";" and not depth:
            yield _statement(text[start:end], blocks[-1]), blocks
        else:
            continue
        start = end
    yield Statement(text[start:], "other", ()), blocks


def _is_value(text: str, start: int) -> bool:
    """Whether the braces of a statement are those of a dictionary, or of a component that is written where
    its instance is: then it ends with a semicolon."""
    head = _HEAD.match(text, start)
    return head is not None and (head[1] not in (*_DEFINITIONS, "group") or head[2] == "")


def _statement(text: str, block: str) -> Statement:
    head = _HEAD.match(text)
    word, first, second, mark = head.groups() if head is not None else ("", "", "", "")
    if word == "import":
        return Statement(text, "import", ())
    if word == "group":
        return Statement(text, "group", tuple(_NAME.findall(text)))
    if word in _DEFINITIONS and (mark == "{" or not block):
        return Statement(text, "definition", (first,))
    if word == "component":
        return Statement(text, "instance", (second or _NAME.findall(text)[-1],))
    if word == "connection":
        return Statement(text, "connection", (second,))
    return Statement(text, "setting" if block == "configuration" else "other", ())


def excerpt(files: Mapping[str, Statements], wanted: Mapping[str, Collection[int]]) -> dict[str, str] | None:
    """The texts of files with the statements that are `wanted`, by their numbers, and what these need: other
    statements about the same instances and connections, and all that is referred to. None if that is too
    much."""
    chosen = {(path, number) for path, numbers in wanted.items() for number in numbers}
    subjects = {
        name
        for path, number in chosen
        if files[path].all[number].kind in _INNER
        for name in _NAME.findall(files[path].all[number].text)
        if any(file.all[n].kind in _INNER for file in files.values() for n in file.by_name.get(name, ()))
    }
    if subjects:
        about = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(subjects)))})\b")
        for path, file in files.items():
            for match in about.finditer(file.text):
                number = bisect_right(file.starts, match.start()) - 1
                if file.all[number].kind in _INNER:
                    chosen.add((path, number))
    size = 0
    waiting = list(chosen)
    while waiting:
        path, number = waiting.pop()
        statement = files[path].all[number]
        size += len(statement.text)
        if size > LARGEST_EXCERPT:
            return None
        for name in set(_NAME.findall(statement.text)):
            for other, file in files.items():
                for found in file.by_name.get(name, ()):
                    can_be_meant = statement.kind in _INNER or file.all[found].kind == "definition"
                    if can_be_meant and (other, found) not in chosen:
                        chosen.add((other, found))
                        waiting.append((other, found))
    return {path: "".join(_cut(file, {n for p, n in chosen if p == path})) for path, file in files.items()}


def _cut(file: Statements, chosen: Collection[int]) -> Iterator[str]:
    """The chosen statements of a text, with frames and imports, and blanks for the others."""
    column = 0  # of what is not blank, behind a line's end
    for number, statement in enumerate(file.all):
        lines = statement.text.count("\n")
        if number in chosen or statement.kind in ("frame", "import"):
            if column and not statement.text.startswith("\n"):
                yield " " * column
            column = 0
            yield statement.text
        elif lines:
            yield "\n" * lines
            column = len(statement.text) - statement.text.rindex("\n") - 1
        else:
            column += len(statement.text)
