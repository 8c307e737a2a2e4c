# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Finds the statements of a file that have errors, so that no further errors are reported because of them.

A statement that was left out, or corrected to what it may have meant, is remembered as a range of the text.
Where brackets do not match, no statement is known to stand where it seems to stand.
"""

from __future__ import annotations

from camkes.diagnostics import Span
from camkes.parser.lexer import Tokens

_MOST = 100  # unexpected characters, after which the rest of the file is not checked
#: Tokens between which statements stand.
ENDS = frozenset({"SEMICOLON", "LBRACE", "RBRACE"})


class Damage:
    """The damage of one file."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._ranges: list[tuple[int, int]] = []  # offsets
        self._everywhere = tokens.cut_short or len(tokens.doubtful) > _MOST
        for offset in () if self._everywhere else tokens.doubtful:
            self._add_around(offset)

    def add(self, first: int, last: int) -> None:
        """The text from a token to another is in doubt."""
        self._ranges.append((self._tokens.starts[first], self._tokens.ends[max(first, last)]))

    def add_statement(self, first: int, position: int) -> None:
        """The text from a token to the end of the statement that contains `position` is in doubt."""
        kinds = self._tokens.kinds
        last = position
        while last < len(kinds) - 1 and kinds[last] not in ENDS:
            last += 1
        self.add(first, last)

    def add_offset(self, offset: int) -> None:
        """The character at an offset was left out."""
        self._ranges.append((offset, offset + 1))

    def add_everything(self) -> None:
        """No bracket is known to belong to another."""
        self._everywhere = True

    def touches(self, first: int, last: int) -> bool:
        """Whether something between two tokens is in doubt."""
        start, end = self._tokens.starts[first], self._tokens.ends[last]
        return self._everywhere or any(start <= high and low <= end for low, high in self._ranges)

    def spans(self) -> list[Span]:
        """The places of the user's text that are in doubt."""
        text = self._tokens.text
        ranges = [(0, len(text.content))] if self._everywhere else self._ranges
        return [text.span(start, end) for start, end in ranges]

    def is_within_blocks(self) -> bool:
        """Whether all damage is in the blocks of definitions, so that all definitions are known."""
        blocks = list(self._blocks())
        return not self._everywhere and all(
            any(low < start and end <= high for low, high in blocks) for start, end in self._ranges
        )

    def _blocks(self) -> list[tuple[int, int]]:
        """The outermost pairs of braces, as offsets."""
        found: list[tuple[int, int]] = []
        depth = opened = 0
        for kind, start, end in zip(self._tokens.kinds, self._tokens.starts, self._tokens.ends, strict=True):
            if kind == "LBRACE":
                opened = start if depth == 0 else opened
                depth += 1
            elif kind == "RBRACE":
                depth -= 1
                if depth == 0:
                    found.append((opened, end))
        return found

    def _add_around(self, offset: int) -> None:
        """The statement around an offset, as far as `;` and braces tell."""
        tokens = self._tokens
        before = [i for i, start in enumerate(tokens.starts) if start < offset and tokens.kinds[i] in ENDS]
        first = before[-1] + 1 if before else 0
        after = next((i for i, start in enumerate(tokens.starts) if start > offset), len(tokens.starts) - 1)
        self.add_statement(first, max(first, after))
        start, end = self._ranges[-1]
        self._ranges[-1] = min(start, offset), max(end, offset + 1)
