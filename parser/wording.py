# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Messages about syntax errors, in terms of the language instead of the grammar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from camkes.diagnostics import Code, Label, Sink, Span
from camkes.parser import codes
from camkes.parser.braces import unclosed_brace
from camkes.parser.lexer import Tokens
from camkes.parser.places import ITEM_HELP, PLACES, SyntaxPlace
from camkes.parser.tables import END, Tables


def _terminals(names: str) -> frozenset[str]:
    return frozenset(names.split())


class _Slip(NamedTuple):
    """A known slip: the message about the token `at`, or about the unexpected one."""

    message: str
    label: str
    help: str = ""
    code: Code = codes.SYNTAX_ERROR
    at: int | None = None


_TYPES = _terminals("INT INTEGER CHAR SIGNED UNSIGNED INT64_T UINT64_T STRING_TYPE STRUCT")
_OPERATORS = _terminals(
    "OR AND BIT_OR BIT_XOR BIT_AND EQ NE LT LE GT GE SHIFT_LEFT SHIFT_RIGHT"
    " PLUS MINUS TIMES DIVIDE MODULO POWER QMARK"
)
#: Words of C's types of several words.
OF_LONGER_TYPES = ("long", "short", "const", "volatile", "double")
_NAMES = _terminals("NAME BUF")
_AFTER_A_UNIT = _terminals("SEMICOLON COMMA RPAR RSQB RBRACE") | {END}
_CLAUSE_WORDS = ("priority_protocol", "requests", "monitor", "overrun", "helpers", "within")
_NUMBER = _terminals("NUMBER LPAR PLUS MINUS NOT INVERT TRUE TRUE_CAPITAL FALSE FALSE_CAPITAL")
# What is expected, as a group of terminals and a phrase. The first that is wholly possible is reported.
_PHRASES: tuple[tuple[frozenset[str], str], ...] = (
    (_NUMBER | {"STRING", "LSQB", "LBRACE"}, "a value"),
    (_NUMBER | {"STRING"}, "a number or a string"),
    (_NUMBER, "a number"),
    (_TYPES | {"NAME", "BUF"}, "a type"),
    (frozenset({"IN", "OUT", "INOUT", "REFIN"}), ""),
    (_NAMES, "a name"),
    (
        frozenset({"EVENT", "EVENTS", "PROCEDURE_KIND", "PROCEDURES", "DATAPORT_KIND", "DATAPORTS"}),
        "`Procedure`, `Event` or `Dataport` (or one of their plurals)",
    ),
    (frozenset({"NS_WORD", "US_WORD", "MS_WORD", "S_WORD", "TICKS_WORD"}), "a unit of time"),
    (frozenset({"STRING", "ANGLE"}), '`"FILE"` or `<FILE>`'),
    (frozenset({"STRING"}), "a string"),
    (frozenset({"NUMBER"}), "a number"),
    (frozenset({END}), "the end of the file"),
)


class Wording:
    """Reports the syntax errors of one file."""

    def __init__(self, tokens: Tokens, tables: Tables, sink: Sink) -> None:
        self._tokens = tokens
        self._sink = sink
        self._text = {terminal: text for text, terminal in tables.words.items()}
        self._text |= {terminal: text for text, terminal in tables.symbols.items()}
        self._text |= {terminal: text for text, terminal in tables.contextual.items()}

    def span(self, position: int) -> Span:
        """The place of a token."""
        return self._tokens.text.span(self._tokens.starts[position], self._tokens.ends[position])

    def open_bracket(self, position: int) -> int | None:
        """The innermost bracket that is open before a token."""
        depth = 0
        for index in range(position - 1, -1, -1):
            kind = self._tokens.kinds[index]
            if kind in ("RBRACE", "RPAR", "RSQB"):
                depth += 1
            elif kind in ("LBRACE", "LPAR", "LSQB"):
                if depth == 0:
                    return index
                depth -= 1
        return None

    # The kinds of errors ----------------------------------------------------------------------------

    def reserved_word(self, position: int) -> None:
        """A reserved word where a name is expected."""
        word = self._tokens.word(position)
        self._sink.report(
            codes.RESERVED_WORD,
            f"`{word}` is a keyword and cannot be used as a name",
            self.span(position),
            "expected a name here",
            help=f"choose another name, for example `{word}_`",
        )

    def knows_better(self, position: int, expected: set[str]) -> bool:
        """Whether an error that looks like a missing `;` or `,` is a known one of another kind."""
        return self._kind_of_slip(position, expected) != ""

    def is_separator(self, position: int, expected: set[str]) -> bool:
        """Whether a `;` is in the place of a `,`."""
        return self._kind_of_slip(position, expected) == "separator"

    def continues_no_clauses(self, position: int) -> bool:
        """Whether a token stands behind a clause, and no other one begins with it."""
        number = self._tokens.kinds[position] == "NUMBER"
        return self._in_clauses(position) and not number and self._tokens.word(position) not in _CLAUSE_WORDS

    def names_no_clause(self, position: int, expected: set[str]) -> bool:
        """Whether a reserved word stands where a clause begins, or its number is missing."""
        return "PRIORITY_PROTOCOL_WORD" in expected or (
            self._in_clauses(position) and self._tokens.kinds[position] in ("THREAD", "THREADS")
        )

    def _in_clauses(self, position: int) -> bool:
        """Whether a token stands behind `with`, in the same item."""
        kinds = self._tokens.kinds
        start = position
        while start and kinds[start - 1] not in ("SEMICOLON", "LBRACE", "RBRACE"):
            start -= 1
        return "WITH" in kinds[start:position] and not {"FROM", "TO"} & set(kinds[start : start + 1])

    def doubled(self, position: int) -> None:
        """A word that is written twice."""
        self._sink.report(
            codes.SYNTAX_ERROR,
            f"`{self._tokens.word(position)}` is written twice",
            self.span(position),
            "remove this one",
        )

    def belongs_in(self, position: int, expected: set[str]) -> frozenset[str]:
        """The blocks that allow the item at a token, which is not allowed here."""
        kinds = self._tokens.kinds
        if self._place(expected) is None:
            return frozenset()
        word = self._tokens.word(position)
        if kinds[position] in ("VOID", *_TYPES):
            return frozenset({"a procedure"})
        if kinds[position] == "NAME" and kinds[position + 1] in ("DOT", "EQUAL"):
            return frozenset({"a configuration"})
        return frozenset(other.name for other in PLACES if word in other.words)

    def missing(self, kind: str, position: int) -> None:
        """A `;` or `,` is missing before a token."""
        end, sign = self._tokens.ends[position - 1], self._text[kind]
        self._sink.report(
            codes.MISSING_SEMICOLON if kind == "SEMICOLON" else codes.SYNTAX_ERROR,
            f"expected `{sign}` after {self._found(position - 1)}",
            self._tokens.text.span(max(end - 1, 0), end),
            f"add `{sign}` here",
            related=[Label(self.span(position), f"{self._found(position)} is not allowed without it")],
        )

    def missing_brace(self, position: int) -> None:
        """The block before a token has no end."""
        self._unclosed(len(self._tokens.kinds[:position]), self.span(position))

    def end_of_file(self, expected: set[str]) -> None:
        """The file ends too early."""
        position = len(self._tokens.kinds) - 1
        if self.open_bracket(position) is not None:
            self._unclosed(position, None)
            return
        previous = max(position - 1, 0)
        self._sink.report(
            codes.SYNTAX_ERROR,
            f"the file ends too early: expected {self._expected(expected)} after {self._found(previous)}",
            self.span(previous),
            "end of the file",
        )

    def _unclosed(self, position: int, before: Span | None) -> None:
        opening = None if before else unclosed_brace(self._tokens)
        if opening is None:
            opening = self.open_bracket(position)
        assert opening is not None
        bracket = self._tokens.word(opening)
        if bracket != self._text[self._tokens.kinds[opening]]:  # one that was put in, and was reported then
            return
        closing = {"{": "}", "(": ")", "[": "]"}[bracket]
        self._sink.report(
            codes.UNCLOSED_BRACKET,
            f"this `{bracket}` is not closed",
            self.span(opening),
            f"it has no matching `{closing}`",
            related=[Label(before, f"`{closing}` is missing before this")] if before else (),
            help=f"add `{closing}`",
        )

    def unexpected(self, position: int, expected: set[str]) -> None:
        """A token that cannot stand where it stands."""
        if self._special(position, expected):
            return
        place = self._place(expected)
        if place is not None:
            self._not_an_item(position, place)
            return
        found, wanted = self._found(position), self._expected(expected)
        after = f" after {self._found(position - 1)}" if position else ""
        opening = self.open_bracket(position) if expected & {"RPAR", "RSQB"} else None
        words = sorted(
            text for text in (self._text.get(kind, "") for kind in expected) if text.isidentifier()
        )
        self._sink.report(
            codes.SYNTAX_ERROR,
            f"expected {wanted}{after}, found {found}",
            self.span(position),
            "unexpected",
            related=[] if opening is None else [Label(self.span(opening), "opened here")],
            help=(
                self._nearest(self._tokens.word(position), words)
                if self._tokens.kinds[position] == "NAME"
                else ""
            )
            or self._form(position, expected),
        )

    def _form(self, position: int, expected: set[str]) -> str:
        """How what stands here is written, if that is known."""
        kinds, before = self._tokens.kinds, self._tokens.word(position - 1)
        if {"FROM", "TO"} <= expected and kinds[position] == "NAME":
            return "an end of a connection is written `from INSTANCE.INTERFACE` or `to INSTANCE.INTERFACE`"
        if "EQUAL" in expected and kinds[position] == "SEMICOLON" and kinds[position - 1] == "NAME":
            return f"write `{before} = VALUE;`"
        if expected == {"LPAR"} and kinds[position] == "SEMICOLON" and kinds[position - 1] == "NAME":
            return f"write `{before}();`"
        return ""

    # Common slips ---------------------------------------------------------------------------------

    def _special(self, position: int, expected: set[str]) -> bool:
        """Replace the message if the intention is known. Whether it was."""
        slip = (
            self._slip_of_clauses(position, expected)
            or self._slip_of_declarations(position, expected)
            or self._slip_of_values(position, expected)
            or self._slip_of_operators(position, expected)
        )
        if slip is None:
            return False
        place = self.span(position if slip.at is None else slip.at)
        self._sink.report(slip.code, slip.message, place, slip.label, help=slip.help)
        return True

    def _slip_of_clauses(self, position: int, expected: set[str]) -> _Slip | None:
        """Pointers, and what follows `with`."""
        tokens = self._tokens
        kinds, word = tokens.kinds, tokens.word(position)
        kind = kinds[position]
        before = kinds[position - 1] if position else ""
        if kind == "TIMES" and "NAME" in expected and not expected & _OPERATORS:
            message, label = "the language has no pointers", "`*` is not part of a type"
            help = "use `refin TYPE name` for a large input, `TYPE name[]` for an array, or a typedef"
            return _Slip(message, label, help)
        if before == "WITH" and kind in ("THREAD", "THREADS"):
            message, label = f"`with` needs the number of threads before `{word}`", "the number is missing"
            number = tokens.word(position + 1) if kinds[position + 1] == "NUMBER" else "1"
            help = f"write `with {number} {word}`"
            return _Slip(message, label, help)
        if kind in ("THREAD", "THREADS") and before == "NAME" and kinds[position - 2] in ("WITH", "COMMA"):
            return _Slip(
                f"expected the number of threads, found the name `{tokens.word(position - 1)}`",
                "a name is not allowed here",
                "write the number itself",
                at=position - 1,
            )
        if "PRIORITY_PROTOCOL_WORD" in expected:
            after, found = self._found(position - 1), self._found(position)
            message, label = f"expected a clause after {after}, found {found}", "unexpected"
            help = "a clause is `priority_protocol PROTOCOL`, `requests (INTERFACE, ...)` or `N threads`"
            return _Slip(message, label, help)
        if "WITH" in expected and word in _CLAUSE_WORDS:
            message, label = f"the clause `{word}` needs `with` before it", "unexpected"
            help = f"write `with {word}`"
            return _Slip(message, label, help)
        if before == "NAME" and tokens.word(position - 1) == "priority_protocol" and expected <= _NAMES:
            message = f"expected a protocol after `priority_protocol`, found {self._found(position)}"
            label, help = "unexpected", "for example `priority_protocol inherited`"
            return _Slip(message, label, help)
        return None

    def _slip_of_declarations(self, position: int, expected: set[str]) -> _Slip | None:
        """What is written in procedures, components and compositions."""
        tokens = self._tokens
        kinds, word = tokens.kinds, tokens.word(position)
        kind = kinds[position]
        before = kinds[position - 1] if position else ""
        if kind == "ATTRIBUTE" and {"VOID", "INT"} <= expected:
            message, label = "an attribute of a procedure is written without `attribute`", "remove this word"
            help = "write `TYPE name`, and no `;` after it"
            return _Slip(message, label, help)
        if kind == "SEMICOLON" and {"VOID", "INT", "INCLUDE"} <= expected:
            message, label = "an attribute of a procedure does not end with `;`", "remove it"
            return _Slip(message, label)
        if kind == "SEMICOLON" and before == "RBRACE":
            message, label = "`;` is not allowed after this `}`", "remove it"
            return _Slip(message, label)
        if kind == "RBRACE" and END in expected:
            message, label = "this `}` has no matching `{`", "no `{` is open here"
            return _Slip(message, label, code=codes.UNCLOSED_BRACKET)
        if (surplus := self.surplus_word(position)) is not None:
            help = "use `int64_t` or `uint64_t`, or a typedef of your own"
            help = "remove it: parameters are copies" if tokens.word(surplus) == "const" else help
            return _Slip("a type is a single word", "one word too much", help, at=surplus)
        if self._kind_of_slip(position, expected) == "unit":
            message, label = f"`{word}` is not a unit of time", "unknown unit"
            help = "the units are `ns`, `us`, `ms` and `s`"
            if word.lower().endswith("hz"):
                help = "write the time from one to the next, for example `1 ms` for 1000 Hz"
            return _Slip(message, label, help)
        return None

    def _slip_of_values(self, position: int, expected: set[str]) -> _Slip | None:
        """Values, and connections."""
        tokens = self._tokens
        kinds, word = tokens.kinds, tokens.word(position)
        kind = kinds[position]
        before = kinds[position - 1] if position else ""
        if kind == "NAME" and "NUMBER" in expected and "NAME" not in expected:
            message = f"expected {self._expected(expected)}, found the name `{word}`"
            label = "a name is not allowed here"
            help = self._nearest(word, ("true", "false")) or (
                f'for a string write `"{word}"`' if "STRING" in expected else "write the number itself"
            )
            return _Slip(message, label, help)
        if kind == "NAME" and expected == {"LBRACE"} and kinds[max(position - 2, 0)] == "COMPONENT":
            message, label = f"expected `{{` after {self._found(position - 1)}, found `{word}`", "unexpected"
            help = "an instance belongs in a composition: `composition { ... }`"
            return _Slip(message, label, help)
        if self._kind_of_slip(position, expected) == "enum":
            message, label = "the language has no enumerations", "a type is a single word"
            help = "pass an `int`, or a typedef of your enumeration"
            return _Slip(message, label, help)
        if self._kind_of_slip(position, expected) == "body":
            message = "a method of a procedure is declared without a body"
            label = "it is implemented by a C function"
            help = "write `;`, and define the function in a source file of the component"
            return _Slip(message, label, help)
        if self._kind_of_slip(position, expected) == "separator":
            message, label = "the ends of a connection are separated by `,`", "this is the end of a statement"
            help = "write `,`"
            return _Slip(message, label, help)
        if before == "LBRACE" and word == "." and "STRING" in expected:
            message, label = 'a member is written `"NAME": VALUE`', "this is C syntax"
            help = 'write for example `{ "x": 1, "y": 2 }`'
            return _Slip(message, label, help)
        return None

    def _slip_of_operators(self, position: int, expected: set[str]) -> _Slip | None:
        """Arrays, conditionals and comparisons."""
        tokens = self._tokens
        kinds, word = tokens.kinds, tokens.word(position)
        kind = kinds[position]
        before = kinds[position - 1] if position else ""
        if kind == "COMMA" and expected >= {"COLON"} and before in ("NUMBER", "STRING"):
            message, label = f"expected `:` after {self._found(position - 1)}, found `,`", "unexpected"
            help = 'an array is written `[1, 2, 3]`, a struct `{ "NAME": VALUE }`'
            return _Slip(message, label, help)
        if kind == "NAME" and "ANGLE" in expected:
            message = f"expected {self._expected(expected)} after {self._found(position - 1)}, found `{word}`"
            label, help = (
                "unexpected",
                f"write `{tokens.word(position - 1)} {self._file(position, expected)};`",
            )
            return _Slip(message, label, help)
        if kind == "QMARK" and "SEMICOLON" in expected:
            message, label = "a conditional in the last operand of `? :` needs parentheses", "second `?`"
            help = "write `A ? B : (C ? D : E)`"
            return _Slip(message, label, help)
        if kind == "EQ" and "EQUAL" in expected:
            message, label, help = "a value is assigned with a single `=`", "one too much", "write `=`"
            return _Slip(message, label, help)
        if expected == {"LPAR"} and before == "NAME" and kinds[position - 2] == "EQUAL":
            name = tokens.word(position - 1)
            help = self._nearest(name, ("true", "false")) or f'for a string write `"{name}"`'
            message = f"expected a value, found the name `{name}`"
            return _Slip(message, "a name is not allowed here", help, at=position - 1)
        if kind == "LSQB" and before in ("INT", "NAME", "CHAR", "STRING_TYPE") and "NAME" in expected:
            message, label = "the `[]` of an array is written after the name", "move it"
            help = "write `TYPE name[]`"
            return _Slip(message, label, help)
        if before == "LSQB" and kind == "NUMBER" and expected == {"RSQB"}:
            message, label = "an array is declared without a size", "remove this number"
            help = "write `TYPE name[]`"
            return _Slip(message, label, help)
        return None

    def _file(self, position: int, expected: set[str]) -> str:
        """The name of a file that is written without quotes, as it must be written."""
        tokens = self._tokens
        last = next(
            (n for n in range(position, len(tokens.kinds)) if tokens.kinds[n] == "SEMICOLON"), position
        )
        name = tokens.text.content[tokens.starts[position] : tokens.ends[max(last - 1, position)]]
        return f"<{name}>" if name.endswith(".camkes") else f'"{name}"'

    def _kind_of_slip(self, position: int, expected: set[str]) -> str:
        """What a token in the wrong place is likely to be: a "unit" or "type" behind something complete, an
        "enum", the "body" of a method, a "separator" that ought to be a comma; "" if nothing of these."""
        tokens = self._tokens
        kind = tokens.kinds[position]
        after_parenthesis = position >= 1 and tokens.kinds[position - 1] == "RPAR"
        if kind == "LBRACE" and after_parenthesis and "SEMICOLON" in expected:
            return "body"
        if (
            kind == "SEMICOLON"
            and {"COMMA", "RPAR"} <= expected
            and tokens.kinds[position + 1] in ("FROM", "TO")
        ):
            return "separator"
        if kind != "NAME" or position < 2:
            return ""
        if tokens.word(position - 2) == "enum":
            return "enum"
        between = tokens.text.content[tokens.ends[position - 1] : tokens.starts[position]]
        ends = tokens.kinds[position + 1] in _AFTER_A_UNIT  # else it is the first word of what follows
        after = tokens.kinds[position - 1] in ("NUMBER", "RPAR")
        if "MS_WORD" in expected and after and ends and "\n" not in between:
            return "unit"
        return "" if self.surplus_word(position) is None else "type"

    def surplus_word(self, position: int) -> int | None:
        """The word too much in a type. The token belongs to it, is the name behind it, or a method's `(`."""
        kinds, word = self._tokens.kinds, self._tokens.word
        of_a_type = word(position) in OF_LONGER_TYPES or kinds[position] in _TYPES
        if not of_a_type and kinds[position] not in ("NAME", "LPAR"):
            return None
        last = first = position + 1 - (0 if of_a_type else 2 if kinds[position] == "LPAR" else 1)
        if first > 1 and word(first - 2) in ("const", "volatile"):
            first -= 1  # of a typedef
        while first > 0 and (word(first - 1) in OF_LONGER_TYPES or kinds[first - 1] in _TYPES):
            first -= 1
        return next((i for i in range(first, last) if word(i) in OF_LONGER_TYPES and last - first > 1), None)

    def _place(self, expected: set[str]) -> SyntaxPlace | None:
        """The kind of block in which an item, or the end, is expected."""
        if "RBRACE" not in expected and END not in expected:
            return None
        return next((place for place in PLACES if place.sign <= expected), None)

    def _not_an_item(self, position: int, place: SyntaxPlace) -> None:
        word = self._tokens.word(position)
        help = self._nearest(word, place.words) if self._tokens.kinds[position] == "NAME" else ""
        if not help:
            help = ITEM_HELP.get(place.name) or (
                f"allowed in {place.name}: {_either(f'`{each}`' for each in place.words)}"
            )
            homes = [other.name for other in PLACES if word in other.words]
            if "a composition" in homes and place.name in ("a component", "an assembly"):
                help = "it is allowed in a composition: `composition { ... }`"
            elif homes:
                help = (
                    "it is allowed only outside of all blocks"
                    if homes[0] == "a file"
                    else f"it is allowed in {homes[0]}"
                )
        self._sink.report(
            codes.UNKNOWN_ITEM,
            f"{self._found(position)} is not allowed in {place.name}"
            if place.name != "a file"
            else f"{self._found(position)} is not allowed outside of a block",
            self.span(position),
            "unexpected",
            help=help,
        )

    def _nearest(self, word: str, words: Iterable[str]) -> str:
        from difflib import get_close_matches

        near = get_close_matches(word.lower(), list(words), n=1)
        return f"did you mean `{near[0]}`?" if near else ""

    # Names of things ------------------------------------------------------------------------------

    def _found(self, position: int) -> str:
        kind, word = self._tokens.kinds[position], self._tokens.word(position)
        if kind == END:
            return "the end of the file"
        if kind == "STRING":
            return "a string" if len(word) > 30 or "\n" in word else f"the string `{word}`"
        if kind == "NUMBER":
            return "a number" if len(word) > 30 else f"the number `{word}`"
        if not word:
            return f"`{self._text.get(kind, kind)}`"
        return f"`{word}`" if len(word) <= 60 else "a long name"

    def _expected(self, expected: set[str]) -> str:
        """What can stand here, in words."""
        left = set(expected)
        if ("SEMICOLON" in left or "COMMA" in left or "RPAR" in left) and not left >= _NUMBER:
            left -= _OPERATORS
        for obvious in ("STRING", "DOT", "LSQB"):  # what may always go on there is not what is missed
            if obvious in left and not left & (_NUMBER | {"ANGLE"}) and len(left) > 1:
                left.discard(obvious)
        phrases: list[str] = []
        for group, phrase in _PHRASES:
            if group <= left:
                left -= group
                if phrase:
                    phrases.append(phrase)
        return _either([*phrases, *sorted(f"`{self._text.get(kind, kind)}`" for kind in left)])


def _either(phrases: Iterable[str]) -> str:
    each = list(phrases)
    if len(each) < 2:
        return "".join(each) or "something else"
    return f"{', '.join(each[:-1])} or {each[-1]}"
