# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Predicates on the tokens and stacks of a parser, which change neither."""

from __future__ import annotations

from typing import Any, Protocol

from camkes.diagnostics import Sink
from camkes.parser.damage import ENDS, Damage
from camkes.parser.lexer import Tokens
from camkes.parser.tables import END, Tables
from camkes.parser.wording import OF_LONGER_TYPES, Wording

OPENING = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}
CLOSING = frozenset(OPENING.values())
BEFORE_A_BLOCK = frozenset(("LBRACE", "NAME", "BUF", "DOT", "SEMICOLON"))
# Words that begin an item, and stand nowhere else.
_BLOCK_WORDS = ("ASSEMBLY", "COMPONENT", "COMPOSITION", "CONFIGURATION", "CONNECTOR", "IMPORT", "PROCEDURE")
FILE_STARTERS = frozenset(_BLOCK_WORDS)
_STARTERS = frozenset(
    (
        *_BLOCK_WORDS,
        *("ATTRIBUTE", "CONNECTION", "CONSUMES", "CONTROL", "DATAPORT", "EMITS", "EXPORT"),
        *("GROUP", "HAS", "INCLUDE", "MAYBE", "PROVIDES", "STRUCT", "USES", "VOID"),
    )
)
# What begins an item somewhere. A state that can shift one of these, and take the end of a block or of
# the file, is a place between items.
_ITEMS = _STARTERS | {"NAME", "INT", "FROM", "SCHEDULE_WORD"}
_SURE = 3  # tokens that have to fit where a word is left out because it stands there twice


class Stacks(Protocol):
    """The state of a parser: its tokens, which recovery edits, and its stacks, which recovery cuts."""

    partial: bool
    tables: Tables
    tokens: Tokens
    sink: Sink
    damage: Damage
    states: list[int]
    values: list[Any]
    firsts: list[int]


class Lookahead:
    """Answers for one parser."""

    def __init__(self, parser: Stacks, wording: Wording) -> None:
        self._parser = parser
        self._tables = parser.tables
        self._tokens = parser.tokens
        self._wording = wording

    def accept(self, kind: str, states: list[int] | None = None) -> list[int] | None:
        """The states after `kind`, if it can stand here."""
        tables = self._tables
        states = list(self._parser.states if states is None else states)
        while True:
            action = tables.rows[states[-1]].get(kind)
            if action is None:
                return None
            if action >= 0:
                states.append(action)
                return states
            rule = tables.rules[-action - 1]
            if rule.length:
                del states[-rule.length :]
            states.append(tables.rows[states[-1]][rule.head])
            if states[-1] == tables.end and kind == END:
                return states

    def expected(self) -> set[str]:
        """The terminals that can stand here."""
        row = self._tables.rows[self._parser.states[-1]]
        terminals = [symbol for symbol in row if symbol.isupper() or symbol == END]
        return {symbol for symbol in terminals if self.accept(symbol) is not None}

    def fits(self, position: int, states: list[int] | None = None) -> bool:
        """Whether the token at `position` can stand here, as a word of the context or as a name."""
        tokens = self._tokens
        kind = tokens.kinds[position]
        word = self._tables.contextual.get(tokens.word(position)) if kind == "NAME" else None
        if word and self.accept(word, states) is not None:
            return True
        return self.accept(kind, states) is not None

    def is_doubtful(self, position: int) -> bool:
        """Whether a token, or the one before it, has characters that were reported already."""
        tokens = self._tokens
        start, end = tokens.starts[max(position - 1, 0)], tokens.ends[position]
        return any(start <= offset < end for offset in tokens.doubtful)

    def on_new_line(self, position: int) -> bool:
        """Whether a token is the first of its line."""
        tokens = self._tokens
        before = tokens.ends[position - 1] if position else 0
        return "\n" in tokens.text.content[before : tokens.starts[position]]

    def begins_an_item(self, position: int) -> bool:
        """Whether a token looks like the first of an item."""
        return self._tokens.kinds[position] in _STARTERS and self.on_new_line(position)

    def outdented(self, position: int) -> bool:
        """Whether a token begins a line, and stands no deeper than the line that opened the block."""
        if not self.on_new_line(position):
            return False
        opening = self._wording.open_bracket(position)
        if opening is None:
            return False
        return self.is_put_in(opening) or self._indent(position) <= self._indent(opening)

    def has_its_end(self, position: int) -> bool:
        """Whether a bracket is closed in its statement, so that it is not a misspelt brace."""
        kinds = self._tokens.kinds
        last = next(n for n in range(position, len(kinds)) if kinds[n] in (*ENDS, END))
        return kinds[position] in OPENING and OPENING[kinds[position]] in kinds[position:last]

    def is_put_in(self, opening: int | None) -> bool:
        """Whether a bracket is not in the text, so that it need not have a closing one."""
        return opening is not None and self._tokens.word(opening) not in ("{", "(", "[")

    def _indent(self, position: int) -> int:
        content = self._tokens.text.content
        start = content.rfind("\n", 0, self._tokens.starts[position]) + 1
        line = content[start : self._tokens.starts[position] + 1]
        return len(line) - len(line.lstrip())

    def doubled(self, position: int) -> int | None:
        """The second of two words that are the same, without which the text goes on as it should."""
        tokens = self._tokens
        for second in (position, position - 1):
            word = tokens.word(second) if second > 0 else ""
            if word in ("", *OF_LONGER_TYPES) or word != tokens.word(second - 1):
                continue
            brace = tokens.kinds[second] == "LBRACE" and not self._balanced()
            if not brace and (tokens.kinds[second] == "NUMBER" or not tokens.word(second)[0].isalnum()):
                continue
            size = next((n for n, first in enumerate(self._parser.firsts, 1) if first >= second), None)
            states = self._parser.states if size is None else self._parser.states[:size]
            if self._goes_on(second + 1, states):
                return second
        return None

    def _balanced(self) -> bool:
        """Whether as many braces are closed as are opened."""
        return self._tokens.kinds.count("LBRACE") <= self._tokens.kinds.count("RBRACE")

    def closes_too_often(self) -> bool:
        """Whether more braces are closed than are opened."""
        return self._tokens.kinds.count("RBRACE") > self._tokens.kinds.count("LBRACE")

    def _goes_on(self, position: int, states: list[int]) -> bool:
        """Whether the next tokens can stand here."""
        after: list[int] | None = states
        for index in range(position, min(position + _SURE, len(self._tokens.kinds))):
            kind, word = self._tokens.kinds[index], None
            if kind == "NAME":
                word = self._tables.contextual.get(self._tokens.word(index))
            after = (word and self.accept(word, after)) or self.accept(kind, after)
            if after is None:
                return False
        return True

    def block_without_brace(self, position: int) -> int | None:
        """The first token of a block whose `{` is missing: `configuration a.b = 1;` for `... { a.b = 1;`."""
        kinds = self._tokens.kinds
        if kinds[position] not in ("EQUAL", "__ANON_1"):
            return None
        first = position
        while first and kinds[first - 1] in ("NAME", "DOT"):
            first -= 1
        return first if first and first < position and kinds[first - 1] == "CONFIGURATION" else None

    def closing(self, states: list[int]) -> list[str] | None:
        """The braces that are missing at the end of the text."""
        closing: list[str] = []
        after: list[int] | None = states
        while after is not None and self.accept(END, after) is None:
            closing.append("RBRACE")
            after = self.accept("RBRACE", after)
        return None if after is None else closing

    def end_of_item(self, position: int) -> int:
        """The token after the item that the token at `position` belongs to."""
        kinds = self._tokens.kinds
        depth = 0
        start = self.start_of_item(position)
        pending = self._open_braces(
            position
        )  # of dictionaries and schedules; `;` ends an item in spite of them
        while kinds[position] != END:
            kind, following = kinds[position], kinds[position + 1 : position + 2]
            if kind == "LBRACE":
                depth += 1
            elif kind == "RBRACE":
                if depth:
                    depth -= 1
                elif pending:
                    pending -= 1
                else:
                    return position
                last = not depth and not pending
                if last and (following[0] in _STARTERS or following[0] in ("RBRACE", END)):
                    return position + 1
            elif kind == "SEMICOLON" and depth == 0:
                return position + 1
            elif position > start and depth == 0 and self.begins_an_item(position):
                return position
            position += 1
        return position

    def _open_braces(self, position: int) -> int:
        """How many braces the item that is under way has open before the token at `position`."""
        kinds = self._tokens.kinds[self.start_of_item(position) : position]
        return max(0, kinds.count("LBRACE") - kinds.count("RBRACE"))

    def blocks_around(self) -> int:
        """The size of the stack of states before the item that is under way."""
        states = self._parser.states
        return next((n for n in range(len(states), 0, -1) if self.between_items(states[n - 1])), 0)

    def start_of_item(self, position: int) -> int:
        """The first token of the item that is under way before the token at `position`."""
        after_an_item = position == 0 or self._tokens.kinds[position - 1] in ENDS
        may_end = after_an_item and (self.accept("RBRACE") or self.accept(END))
        if may_end and any(self.accept(kind) for kind in _ITEMS):
            return position
        size, firsts = self.blocks_around(), self._parser.firsts
        return firsts[size - 1] if 0 < size <= len(firsts) else position

    def between_items(self, state: int) -> bool:
        """Whether an item, or the end of the block or of the file, is possible in a state."""
        row = self._tables.rows[state]
        return ("RBRACE" in row or END in row) and any(row.get(kind, -1) >= 0 for kind in _ITEMS)
