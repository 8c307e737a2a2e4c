# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""After a syntax error: report it, and find a position at which to continue.

The least change of the tokens that makes sense is made: a reserved word becomes the name that is
expected, a missing `;`, `,`, `{` or `}` is put in, a token too much is taken out. If none of this helps, the
text to the end of the broken item is left out. An error soon after a change may be its consequence, and
is not reported.
"""

from __future__ import annotations

from msgspec import Struct

from camkes.parser.damage import ENDS
from camkes.parser.lookahead import BEFORE_A_BLOCK, CLOSING, FILE_STARTERS, OPENING, Lookahead, Stacks
from camkes.parser.tables import END
from camkes.parser.wording import Wording

MAX_ERRORS = 100
_CALM = 2  # tokens that must fit after a change before errors count again


class _Error(Struct, frozen=True):
    """A token that cannot stand where it is. Where that may follow from the error before, it is `quiet`: not
    reported."""

    position: int
    kind: str
    expected: set[str]  # the terminals that can stand there
    quiet: bool


class Recovery:
    """Recovers one parser from all its errors."""

    def __init__(self, parser: Stacks) -> None:
        self._parser = parser
        self._tables = parser.tables
        self._tokens = parser.tokens
        self._wording = Wording(parser.tokens, parser.tables, parser.sink)
        self.look = Lookahead(parser, self._wording)
        self._damage = parser.damage
        self._doubtful_until = -1
        self._errors = 0
        self._resumed = -1  # where parsing went on after the last item that was left out
        self._closed = False  # whether the end of a block was put in
        self._headless = False  # whether there was such an item
        self._misplaced: frozenset[str] = frozenset()  # the blocks that this item belongs in

    def recover(self, position: int) -> int | None:
        """Report the token at `position`, correct tokens and stacks; return the position at which to
        continue, or None."""
        self._errors += 1
        if self._errors > MAX_ERRORS:
            self._damage.add_everything()
            return None
        quiet = position < self._doubtful_until or self.look.is_doubtful(position)
        error = _Error(position, self._tokens.kinds[position], self.look.expected(), quiet)
        if error.kind == END:
            return self._end_of_file(error)
        for change in (
            self._without_doubled_word,
            self._with_word_as_name,
            self._with_brace_before_settings,
            self._with_separator,
            self._with_opening_brace,
            self._with_closing_brace,
        ):
            resumed = change(error)
            if resumed is not None:
                return resumed
        return self._without_token_or_item(error)

    # Changes to try: each gives where to go on, or None where it does not help ---------------------

    def _end_of_file(self, error: _Error) -> int | None:
        """The file ends within an item or a block."""
        if not error.quiet and not self._tokens.cut_short:
            self._wording.end_of_file(error.expected)
        if self._wording.open_bracket(error.position) is not None:
            self._damage.add_everything()
        return self._close(error.position) if self._parser.partial else None

    def _without_doubled_word(self, error: _Error) -> int | None:
        """A word stands there twice."""
        doubled = self.look.doubled(error.position)
        if doubled is None:
            return None
        if not error.quiet:
            self._wording.doubled(doubled)
        self._rewind(doubled)
        self._delete(doubled)
        return self._changed(doubled)

    def _with_word_as_name(self, error: _Error) -> int | None:
        """A reserved word stands where a name is expected."""
        tokens, wording, position = self._tokens, self._wording, error.position
        if (
            "NAME" not in error.expected
            or tokens.word(position) not in self._tables.words
            or self.look.begins_an_item(position)
            or wording.names_no_clause(position, error.expected)
            or wording.surplus_word(position) is not None
        ):
            return None
        after = self.look.accept("NAME")
        ends = tokens.kinds[position + 1] == END  # of a text that is being written
        if after is None or not (ends or self.look.fits(position + 1, after)):
            return None
        if not error.quiet:
            wording.reserved_word(position)
        tokens.kinds[position] = "NAME"
        return self._changed(position)

    def _with_brace_before_settings(self, error: _Error) -> int | None:
        """The `{` of a configuration is missing, which shows after its first words."""
        opened = self.look.block_without_brace(error.position)
        if opened is None:
            return None
        if not error.quiet:
            self._wording.missing("LBRACE", opened)
        self._rewind(opened)
        return self._mended(opened, "LBRACE")

    def _with_separator(self, error: _Error) -> int | None:
        """A `;` or a `,` is missing."""
        wording, position = self._wording, error.position
        if wording.knows_better(position, error.expected):
            return None
        for missing in ("SEMICOLON", "COMMA"):
            if error.kind == missing or (missing == "COMMA" and wording.continues_no_clauses(position)):
                continue
            after = self.look.accept(missing)
            if after is not None and self.look.fits(position, after):
                if not error.quiet:
                    wording.missing(missing, position)
                return self._mended(position, missing)
        return None

    def _with_opening_brace(self, error: _Error) -> int | None:
        """A `{` is missing, or another sign is in its place."""
        tokens, wording, position, kind = self._tokens, self._wording, error.position, error.kind
        closing = kind in CLOSING and not (kind == "RBRACE" and self.look.closes_too_often())
        block = self.look.accept("LBRACE") if error.expected <= BEFORE_A_BLOCK and not closing else None
        if block is None:
            return None
        if self.look.fits(position, block):
            if not error.quiet:
                wording.missing("LBRACE", position)
            return self._mended(position, "LBRACE")
        # its `}` shows that there should be one
        replaced = self.look.closes_too_often() and not self.look.has_its_end(position)
        replaced = replaced and kind != "SEMICOLON" and tokens.kinds[position + 1] != "LBRACE"
        replaced = replaced and not self.look.begins_an_item(position)
        if not replaced or not self.look.fits(position + 1, block):
            return None
        if not error.quiet:
            wording.unexpected(position, error.expected)
        tokens.kinds[position] = "LBRACE"
        return self._changed(position)

    def _with_closing_brace(self, error: _Error) -> int | None:
        """A block has no `}`, and what begins here is in no block."""
        position = error.position
        if error.kind not in FILE_STARTERS or not self.look.outdented(position):
            return None
        after = self.look.accept("RBRACE")
        if after is None or not self.look.fits(position, after):
            return None
        if not error.quiet:
            self._wording.missing_brace(position)
        self._closed = True
        return self._mended(position, "RBRACE")

    def _without_token_or_item(self, error: _Error) -> int | None:
        """If the text goes on without the token, that is left out, else the broken item is."""
        tokens, wording, position = self._tokens, self._wording, error.position
        misplaced = wording.belongs_in(position, error.expected)
        if self._follows_from_a_block(error, misplaced) or error.quiet:
            return self._skip(position)
        wording.unexpected(position, error.expected)
        if wording.is_separator(position, error.expected):
            tokens.kinds[position] = "COMMA"
            return self._changed(position)
        surplus = wording.surplus_word(position)
        if surplus is not None:
            self._damage.add(surplus - 1, position)
        bracket = error.kind in OPENING or error.kind in CLOSING
        ends = error.kind == "SEMICOLON" and position > 0 and tokens.kinds[position - 1] not in ENDS
        kept = bracket or ends or misplaced or self.look.begins_an_item(position)
        if kept or not self.look.fits(position + 1):
            return self._skip(position)
        self._delete(position)
        return self._changed(position)

    def _follows_from_a_block(self, error: _Error, misplaced: frozenset[str]) -> bool:
        """Whether the error is that of a block whose first line or whose end is missing, which was reported.
        `misplaced` are the blocks that the item belongs in."""
        follows = error.position == self._resumed and bool(misplaced & self._misplaced)
        if misplaced and self._closed:  # it belongs in the block whose end was put in
            follows, self._closed = True, False
        self._headless = self._headless or bool(misplaced)
        if error.kind == "RBRACE" and END in error.expected and self._headless:  # the end of that block
            follows, self._headless = True, False
        self._misplaced = misplaced
        return follows

    # Corrections ----------------------------------------------------------------------------------

    def _rewind(self, position: int) -> None:
        """Take the tokens from `position` on off the stacks."""
        parser = self._parser
        while parser.firsts and parser.firsts[-1] >= position:
            del parser.states[-1], parser.values[-1], parser.firsts[-1]

    def _changed(self, position: int) -> int:
        self._damage.add_statement(self.look.start_of_item(position), position)
        self._doubtful_until = position + _CALM
        return position

    def _mended(self, position: int, missing: str) -> int:
        """Put a token in that begins or ends something; what follows is as it was written."""
        if missing in ("LBRACE", "RBRACE"):
            self._damage.add(position - 1, position - 1)
        elif missing == "SEMICOLON":
            self._damage.add(self.look.start_of_item(position), position - 1)
        else:
            self._damage.add_statement(self.look.start_of_item(position), position)
        self._insert(position, missing)
        self._doubtful_until = position + _CALM
        return position

    def _delete(self, position: int) -> None:
        """Take a token out."""
        tokens = self._tokens
        del tokens.kinds[position], tokens.starts[position], tokens.ends[position]

    def _insert(self, position: int, kind: str) -> None:
        """Put a token in, at the end of the one before."""
        tokens = self._tokens
        place = tokens.ends[position - 1] if position else 0
        tokens.kinds.insert(position, kind)
        tokens.starts.insert(position, place)
        tokens.ends.insert(position, place)

    def _skip(self, position: int) -> int | None:
        """Leave the broken item out: the text to its end, and what the stacks hold of it."""
        start, first = position, self.look.start_of_item(position)
        position = self.look.end_of_item(position)
        self._damage.add(first, position - 1)
        if self._parser.partial and self._tokens.kinds[position] == END:
            return self._close(position)
        inside = first == start < position  # nothing of the item is on the stacks
        inside = inside and not self.look.is_put_in(self._wording.open_bracket(start))
        if inside and (self.look.fits(position) or not self.look.outdented(start)):
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
        closing = self.look.closing(parser.states)
        if closing is None:
            size = self.look.blocks_around()
            closing = self.look.closing(parser.states[:size]) if size else None
            if closing is None:
                return None
            self._damage.add(self.look.start_of_item(position), position)
            del parser.states[size:], parser.values[size - 1 :], parser.firsts[size - 1 :]
        for kind in closing:
            self._insert(position, kind)
        self._doubtful_until = len(self._tokens.kinds)
        return position

    def _unwind(self, position: int) -> bool:
        """Go back to the last place between items where the token at `position` can stand."""
        parser = self._parser
        found = 0
        innermost = self.look.blocks_around()
        closing = self._tokens.kinds[position] in ("RBRACE", END)
        stays = not closing and self.look.on_new_line(position) and not self.look.outdented(position)
        for size in range(len(parser.states), 0, -1):
            if not self.look.between_items(parser.states[size - 1]):
                continue
            if stays:
                found = size
                break
            if self.look.fits(position, parser.states[:size]):
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
