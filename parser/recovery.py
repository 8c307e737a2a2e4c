# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""After a syntax error: say what is wrong, and find a place to go on.

The least change of the tokens that makes sense is made: a reserved word becomes the name that is
expected, a missing `;`, `,`, `{` or `}` is put in, a token too much is taken out. If none of this helps, the
text to the end of the broken item is left out. An error soon after a change may be its consequence, and
is not reported.
"""

from __future__ import annotations

from typing import Any, Protocol

from camkes.diagnostics import Sink
from camkes.parser.damage import ENDS, Damage
from camkes.parser.lexer import Tokens
from camkes.parser.tables import END, Tables
from camkes.parser.wording import OF_LONGER_TYPES, Wording

MAX_ERRORS = 100
_OPENING = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}
_CLOSING = frozenset(_OPENING.values())
_BEFORE_A_BLOCK = frozenset(("LBRACE", "NAME", "BUF", "DOT", "SEMICOLON"))
# Words that begin an item, and stand nowhere else.
_BLOCK_WORDS = ("ASSEMBLY", "COMPONENT", "COMPOSITION", "CONFIGURATION", "CONNECTOR", "IMPORT", "PROCEDURE")
_FILE_STARTERS = frozenset(_BLOCK_WORDS)
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
_CALM = 2  # tokens that must fit after a change before errors count again


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


class Recovery:
    """Recovers one parser from all its errors."""

    def __init__(self, parser: Stacks) -> None:
        self._parser = parser
        self._tables = parser.tables
        self._tokens = parser.tokens
        self._wording = Wording(parser.tokens, parser.tables, parser.sink)
        self._damage = parser.damage
        self._doubtful_until = -1
        self._errors = 0
        self._resumed = -1  # where parsing went on after the last item that was left out
        self._closed = False  # whether the end of a block was put in
        self._headless = False  # whether there was such an item
        self._misplaced: frozenset[str] = frozenset()  # the blocks that this item belongs in

    def recover(self, position: int) -> int | None:
        """Report the token at `position`, mend tokens and stacks, and say where to go on (None: nowhere)."""
        self._errors += 1
        if self._errors > MAX_ERRORS:
            self._damage.add_everything()
            return None
        tokens, wording = self._tokens, self._wording
        kind = tokens.kinds[position]
        expected = self.expected()
        quiet = position < self._doubtful_until or self._is_doubtful(position)
        if kind == END:
            if not quiet and not tokens.cut_short:
                wording.end_of_file(expected)
            if wording.open_bracket(position) is not None:
                self._damage.add_everything()
            return self._close(position) if self._parser.partial else None
        doubled = self._doubled(position)
        if doubled is not None:
            if not quiet:
                wording.doubled(doubled)
            self._rewind(doubled)
            del tokens.kinds[doubled], tokens.starts[doubled], tokens.ends[doubled]
            return self._changed(doubled)
        if (
            "NAME" in expected
            and tokens.word(position) in self._tables.words
            and not self._begins_an_item(position)
            and not wording.names_no_clause(position, expected)
        ):
            after = self._accept("NAME")
            ends = tokens.kinds[position + 1] == END  # of a text that is being written
            if after is not None and (ends or self._fits(position + 1, after)):
                if not quiet:
                    wording.reserved_word(position)
                tokens.kinds[position] = "NAME"
                return self._changed(position)
        opened = self._block_without_brace(position)
        if opened is not None:
            if not quiet:
                wording.missing("LBRACE", opened)
            self._rewind(opened)
            return self._mended(opened, "LBRACE")
        if not wording.knows_better(position, expected):
            for missing in ("SEMICOLON", "COMMA"):
                if kind == missing or (missing == "COMMA" and wording.continues_no_clauses(position)):
                    continue
                after = self._accept(missing)
                if after is not None and self._fits(position, after):
                    if not quiet:
                        wording.missing(missing, position)
                    return self._mended(position, missing)
        closing = kind in _CLOSING and not (
            kind == "RBRACE" and tokens.kinds.count("RBRACE") > tokens.kinds.count("LBRACE")
        )
        block = self._accept("LBRACE") if expected <= _BEFORE_A_BLOCK and not closing else None
        if block is not None and self._fits(position, block):
            if not quiet:
                wording.missing("LBRACE", position)
            return self._mended(position, "LBRACE")
        replaced = block is not None and kind != "SEMICOLON" and tokens.kinds[position + 1] != "LBRACE"
        replaced = replaced and not self._has_its_end(position)
        if replaced and not self._begins_an_item(position) and self._fits(position + 1, block):
            if not quiet:
                wording.unexpected(position, expected)
            tokens.kinds[position] = "LBRACE"
            return self._changed(position)
        if kind in _FILE_STARTERS and self._outdented(position):
            after = self._accept("RBRACE")
            if after is not None and self._fits(position, after):
                if not quiet:
                    wording.missing_brace(position)
                self._closed = True
                return self._mended(position, "RBRACE")
        misplaced = wording.belongs_in(position, expected)
        if position == self._resumed and misplaced & self._misplaced:
            quiet = True  # a block's first line is missing, which was reported at its first item
        if misplaced and self._closed:
            quiet, self._closed = True, False  # it belongs in the block whose end was put in
        self._headless = self._headless or bool(misplaced)
        if kind == "RBRACE" and END in expected and self._headless:
            quiet, self._headless = True, False  # the end of that block
        self._misplaced = misplaced
        if not quiet:
            wording.unexpected(position, expected)
            if wording.is_separator(position, expected):
                tokens.kinds[position] = "COMMA"
                return self._changed(position)
            bracket = kind in _OPENING or kind in _CLOSING
            ends = kind == "SEMICOLON" and position > 0 and tokens.kinds[position - 1] not in ENDS
            kept = bracket or ends or misplaced or self._begins_an_item(position)
            if not kept and self._fits_without(position):
                del tokens.kinds[position], tokens.starts[position], tokens.ends[position]
                return self._changed(position)
        return self._skip(position)

    # What can stand here --------------------------------------------------------------------------

    def _accept(self, kind: str, states: list[int] | None = None) -> list[int] | None:
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
        return {symbol for symbol in terminals if self._accept(symbol) is not None}

    def _fits(self, position: int, states: list[int] | None = None) -> bool:
        """Whether the token at `position` can stand here, as a word of the context or as a name."""
        tokens = self._tokens
        kind = tokens.kinds[position]
        word = self._tables.contextual.get(tokens.word(position)) if kind == "NAME" else None
        if word and self._accept(word, states) is not None:
            return True
        return self._accept(kind, states) is not None

    def _fits_without(self, position: int) -> bool:
        """Whether the text goes on as it should when the token at `position` is taken out."""
        return self._fits(position + 1)

    # Where ----------------------------------------------------------------------------------------

    def _is_doubtful(self, position: int) -> bool:
        """Whether a token, or the one before it, has characters that were reported already."""
        tokens = self._tokens
        start, end = tokens.starts[max(position - 1, 0)], tokens.ends[position]
        return any(start <= offset < end for offset in tokens.doubtful)

    def _on_new_line(self, position: int) -> bool:
        """Whether a token is the first of its line."""
        tokens = self._tokens
        before = tokens.ends[position - 1] if position else 0
        return "\n" in tokens.text.content[before : tokens.starts[position]]

    def _begins_an_item(self, position: int) -> bool:
        """Whether a token looks like the first of an item."""
        return self._tokens.kinds[position] in _STARTERS and self._on_new_line(position)

    def _outdented(self, position: int) -> bool:
        """Whether a token begins a line, and stands no deeper than the line that opened the block."""
        if not self._on_new_line(position):
            return False
        opening = self._wording.open_bracket(position)
        if opening is None:
            return False
        return self._is_put_in(opening) or self._indent(position) <= self._indent(opening)

    def _has_its_end(self, position: int) -> bool:
        """Whether a bracket is closed in its statement, so that it does not stand for a brace."""
        kinds = self._tokens.kinds
        last = next(n for n in range(position, len(kinds)) if kinds[n] in (*ENDS, END))
        return kinds[position] in _OPENING and _OPENING[kinds[position]] in kinds[position:last]

    def _is_put_in(self, opening: int | None) -> bool:
        """Whether a bracket is not in the text, so that it need not have a closing one."""
        return opening is not None and self._tokens.word(opening) not in ("{", "(", "[")

    def _indent(self, position: int) -> int:
        content = self._tokens.text.content
        start = content.rfind("\n", 0, self._tokens.starts[position]) + 1
        line = content[start : self._tokens.starts[position] + 1]
        return len(line) - len(line.lstrip())

    # Mending --------------------------------------------------------------------------------------

    def _doubled(self, position: int) -> int | None:
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

    def _goes_on(self, position: int, states: list[int]) -> bool:
        """Whether the next tokens can stand here."""
        after: list[int] | None = states
        for index in range(position, min(position + _SURE, len(self._tokens.kinds))):
            kind, word = self._tokens.kinds[index], None
            if kind == "NAME":
                word = self._tables.contextual.get(self._tokens.word(index))
            after = (word and self._accept(word, after)) or self._accept(kind, after)
            if after is None:
                return False
        return True

    def _block_without_brace(self, position: int) -> int | None:
        """The first token of a block whose `{` is missing: `configuration a.b = 1;` for `... { a.b = 1;`."""
        kinds = self._tokens.kinds
        if kinds[position] not in ("EQUAL", "__ANON_1"):
            return None
        first = position
        while first and kinds[first - 1] in ("NAME", "DOT"):
            first -= 1
        return first if first and first < position and kinds[first - 1] == "CONFIGURATION" else None

    def _rewind(self, position: int) -> None:
        """Take the tokens from `position` on off the stacks."""
        parser = self._parser
        while parser.firsts and parser.firsts[-1] >= position:
            del parser.states[-1], parser.values[-1], parser.firsts[-1]

    def _changed(self, position: int) -> int:
        self._damage.add_statement(self._start_of_item(position), position)
        self._doubtful_until = position + _CALM
        return position

    def _mended(self, position: int, missing: str) -> int:
        """Put a token in that begins or ends something; what follows is as it was written."""
        if missing in ("LBRACE", "RBRACE"):
            self._damage.add(position - 1, position - 1)
        elif missing == "SEMICOLON":
            self._damage.add(self._start_of_item(position), position - 1)
        else:
            self._damage.add_statement(self._start_of_item(position), position)
        self._insert(position, missing)
        self._doubtful_until = position + _CALM
        return position

    def _insert(self, position: int, kind: str) -> None:
        """Put a token in, at the end of the one before."""
        tokens = self._tokens
        place = tokens.ends[position - 1] if position else 0
        tokens.kinds.insert(position, kind)
        tokens.starts.insert(position, place)
        tokens.ends.insert(position, place)

    def _skip(self, position: int) -> int | None:
        """Leave the broken item out: the text to its end, and what the stacks hold of it."""
        start, first = position, self._start_of_item(position)
        position = self._end_of_item(position)
        self._damage.add(first, position - 1)
        if self._parser.partial and self._tokens.kinds[position] == END:
            return self._close(position)
        inside = first == start < position  # nothing of the item is on the stacks
        inside = inside and not self._is_put_in(self._wording.open_bracket(start))
        if inside and (self._fits(position) or not self._outdented(start)):
            self._doubtful_until = -1
            self._resumed = position
            return position
        while not self._unwind(position):  # a closing brace that closes nothing
            self._damage.add_everything()
            if self._tokens.kinds[position] == END:
                return None
            position += 1
        self._doubtful_until = -1
        self._resumed = position
        return position

    def _close(self, position: int) -> int | None:
        """At the end of the text: close the open blocks, without the item under way if it is not whole."""
        parser = self._parser
        closing = self._closing(parser.states)
        if closing is None:
            size = self._blocks_around()
            closing = self._closing(parser.states[:size]) if size else None
            if closing is None:
                return None
            self._damage.add(self._start_of_item(position), position)
            del parser.states[size:], parser.values[size - 1 :], parser.firsts[size - 1 :]
        for kind in closing:
            self._insert(position, kind)
        self._doubtful_until = len(self._tokens.kinds)
        return position

    def _closing(self, states: list[int]) -> list[str] | None:
        """The braces that are missing at the end of the text."""
        closing: list[str] = []
        after: list[int] | None = states
        while after is not None and self._accept(END, after) is None:
            closing.append("RBRACE")
            after = self._accept("RBRACE", after)
        return None if after is None else closing

    def _end_of_item(self, position: int) -> int:
        """The token after the item that the token at `position` belongs to."""
        kinds = self._tokens.kinds
        depth = 0
        start = self._start_of_item(position)
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
            elif position > start and depth == 0 and self._begins_an_item(position):
                return position
            position += 1
        return position

    def _open_braces(self, position: int) -> int:
        """How many braces the item that is under way has open before the token at `position`."""
        kinds = self._tokens.kinds[self._start_of_item(position) : position]
        return max(0, kinds.count("LBRACE") - kinds.count("RBRACE"))

    def _blocks_around(self) -> int:
        """The size of the stack of states before the item that is under way."""
        states = self._parser.states
        return next((n for n in range(len(states), 0, -1) if self._between_items(states[n - 1])), 0)

    def _start_of_item(self, position: int) -> int:
        """The first token of the item that is under way before the token at `position`."""
        after_an_item = position == 0 or self._tokens.kinds[position - 1] in ENDS
        may_end = after_an_item and (self._accept("RBRACE") or self._accept(END))
        if may_end and any(self._accept(kind) for kind in _ITEMS):
            return position
        size, firsts = self._blocks_around(), self._parser.firsts
        return firsts[size - 1] if 0 < size <= len(firsts) else position

    def _between_items(self, state: int) -> bool:
        """Whether an item, or the end of the block or of the file, can stand in a state."""
        row = self._tables.rows[state]
        return ("RBRACE" in row or END in row) and any(row.get(kind, -1) >= 0 for kind in _ITEMS)

    def _unwind(self, position: int) -> bool:
        """Go back to the last place between items where the token at `position` can stand."""
        parser = self._parser
        found = 0
        innermost = self._blocks_around()
        closing = self._tokens.kinds[position] in ("RBRACE", END)
        stays = not closing and self._on_new_line(position) and not self._outdented(position)
        for size in range(len(parser.states), 0, -1):
            if not self._between_items(parser.states[size - 1]):
                continue
            if stays:
                found = size
                break
            if self._fits(position, parser.states[:size]):
                found = size
                break
            if self._tokens.kinds[position] != "RBRACE":
                found = found or size
        if not found:
            return False
        if found < innermost:  # out of a block that has no end
            self._damage.add_everything()
        del parser.states[found:], parser.values[found - 1 :], parser.firsts[found - 1 :]
        return True
