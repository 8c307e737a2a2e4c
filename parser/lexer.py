# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Text -> tokens.

White space, comments, lines joined by a backslash, and everything from a `#` to the end of its line
stand between tokens. The words of a context are left to the parser, which alone knows the context.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct, field

from camkes.diagnostics import Sink
from camkes.parser import codes
from camkes.parser.positions import ParsedText
from camkes.parser.tables import END, Tables

# Possessive: what is matched is never given back, so that a comment of many megabytes needs no memory.
_COMMENT = r"/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/"
_BLANK = (
    r"(?:[ \t\f\v\r\n]++|\\\r?\n|//(?:[^\n\\]++|\\\r?\n|\\)*+"
    rf"|{_COMMENT}|\#(?:[^\n\\/]++|\\\r?\n|{_COMMENT}|[\\/])*+)++"
)
# For texts with mistakes; compiled when there is one.
_ESCAPED_STRING = r'"(?:\\.|[^"\\\n])*"'
_WORD = r"\w*"
_LINE = r"[^\n]*"


class Tokens(Struct):
    """The tokens of a text, by number. The last is the end of the text."""

    text: ParsedText
    kinds: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    cut_short: bool = False  # a comment that is not closed has taken the rest
    doubtful: list[int] = field(default_factory=list)  # offsets of invalid and corrected tokens

    def add(self, kind: str, start: int, end: int) -> None:
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)

    def word(self, index: int) -> str:
        """What is written there."""
        return self.text.content[self.starts[index] : self.ends[index]]


def tokenise(text: ParsedText, tables: Tables, sink: Sink) -> Tokens:
    """Split a text into tokens; invalid characters are reported and skipped."""
    tokens = _scan(text, tables, sink, mend_strings=False)
    if tokens is None:
        tokens = _scan(text, tables, sink, mend_strings=True)
        assert tokens is not None
    return tokens


def _master(tables: Tables) -> re.Pattern[str]:
    patterns = tables.patterns
    return _compiled(patterns["NAME"], patterns["NUMBER"], patterns["STRING"], tuple(tables.symbols))


@lru_cache(maxsize=1)
def _compiled(name: str, number: str, string: str, symbols: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all tokens; the longest symbol counts."""
    several = sorted((symbol for symbol in symbols if len(symbol) > 1), key=len, reverse=True)
    single = "".join(symbol for symbol in symbols if len(symbol) == 1)
    return re.compile(
        f"(?P<blank>{_BLANK})|(?P<NAME>{name})|(?P<NUMBER>{number})|(?P<STRING>{string})"
        f"|(?!/\\*)(?P<symbol>{'|'.join(map(re.escape, several))}|[{re.escape(single)}])"
    )


def _scan(text: ParsedText, tables: Tables, sink: Sink, *, mend_strings: bool) -> Tokens | None:
    """The tokens, or None where the quotes do not match and the text has to be read with more care.

    With `mend_strings` a string ends at the end of its line at the latest, and may have escaped quotes.
    """
    content = text.content
    tokens = Tokens(text)
    kinds, starts, ends = tokens.kinds, tokens.starts, tokens.ends
    words, symbols = tables.words, tables.symbols
    master = _master(tables)
    match = master.scanner(content).match  # type: ignore[attr-defined]
    blamed = False  # only the first broken string is to blame for the rest
    position = 0
    while True:
        found = match()
        group = found.lastgroup if found else None
        if group == "blank":
            position = found.end()
            continue
        if group is None:
            if position >= len(content):
                break
            if not mend_strings and _quotes_are_at_odds(content, position):
                return None
            resume = _no_token(text, position, sink)
            tokens.doubtful.append(position)
            tokens.cut_short = resume == len(content) and content.startswith("/*", position)
            if content[position] in "'\"" and resume > position + 1:  # meant as a string
                tokens.add("STRING", position, resume)
            elif content[position] not in "\\/":
                resume = _mend_name(tokens, position, resume)
            position = resume
            match = master.scanner(content, position).match  # type: ignore[attr-defined]
            continue
        start, end = found.span()
        if group == "NAME":
            kind = words.get(found.group(), "NAME")
        elif group == "symbol":
            kind = symbols[found.group()]
            if content[start] == "<" and kinds and kinds[-1] in ("IMPORT", "INCLUDE"):
                angle = re.compile(tables.patterns["ANGLE"]).match(content, start)
                if angle:
                    kind, end = "ANGLE", angle.end()
                    match = master.scanner(content, end).match  # type: ignore[attr-defined]
        elif group == "STRING" and mend_strings:
            kind = group
            before, (end, blamed) = end, _mend(text, start, end, blamed, sink)
            if end != before:
                tokens.doubtful.append(start)
            match = master.scanner(content, end).match  # type: ignore[attr-defined]
        else:
            kind = group
        kinds.append(kind)
        starts.append(start)
        ends.append(end)
        position = end
    tokens.add(END, len(content), len(content))
    return tokens


def _mend(text: ParsedText, start: int, end: int, blamed: bool, sink: Sink) -> tuple[int, bool]:
    """Where a string ends in a file whose quotes do not match, and whether one has been blamed for it."""
    content = text.content
    if "\n" not in content[start:end] and not content[start:end].endswith('\\"'):
        return end, blamed
    escaped = re.compile(_ESCAPED_STRING).match(content, start)
    if escaped and escaped.end() != end:
        sink.report(
            codes.STRING_ESCAPE,
            "a string cannot contain a double quote",
            text.span(start, escaped.end()),
            "`\\` is an ordinary character in a string",
            help="remove the inner quotes",
        )
        return escaped.end(), True
    if "\n" not in content[start:end]:
        return end, blamed
    last = _end_of_open_string(content, start)
    if not blamed:
        _report_unterminated(text, start, last, sink)
    return last, True


def _end_of_open_string(content: str, start: int) -> int:
    """Where a string that is not closed was most likely meant to end: on its line, before a last `;`."""
    found = re.compile(_LINE).match(content, start)
    assert found is not None
    return start + len(re.sub(r"[\s;,)\]}]+\Z", "", found.group()))


def _mend_name(tokens: Tokens, position: int, resume: int) -> int:
    """Take a strange character in or next to a word as part of it: that is one mistake, not two."""
    content = tokens.text.content
    rest = re.compile(_WORD).match(content, resume)
    assert rest is not None
    if tokens.ends and tokens.ends[-1] == position and tokens.kinds[-1] == "NAME":
        tokens.ends[-1] = rest.end()
    elif rest.end() > resume:
        tokens.add("NAME", position, rest.end())
    return rest.end()


def _report_unterminated(text: ParsedText, start: int, end: int, sink: Sink) -> None:
    sink.report(
        codes.UNTERMINATED_STRING,
        "this string is not closed",
        text.span(start, end),
        'there is no closing `"`',
        help='add a `"` at its end',
    )


def _quotes_are_at_odds(content: str, position: int) -> bool:
    """Whether an invalid token may be the consequence of an earlier quote."""
    if content[position] == '"':
        return "\\" in content or '"' in content[:position]
    return content.startswith('\\"', position)


def _no_token(text: ParsedText, position: int, sink: Sink) -> int:
    """Report that no token starts at `position`; where to go on."""
    content = text.content
    character = content[position]
    if character == '"':
        last = _end_of_open_string(content, position)
        _report_unterminated(text, position, last, sink)
        return last
    if content.startswith("/*", position):
        sink.report(
            codes.UNTERMINATED_COMMENT,
            "this comment is not closed",
            text.span(position, position + 2),
            "everything after it is part of the comment",
            help="end it with `*/`; comments do not nest",
        )
        return len(content)
    helps = {
        '\\"': "quotes are written without a backslash",
        "'": "strings are written in double quotes",
        "`": "strings are written in double quotes",
        "\\": "only the last character of a line may be a backslash",
        "@": "names consist of letters, digits and `_`",
        "$": "names consist of letters, digits and `_`",
    }
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    sink.report(
        codes.ILLEGAL_CHARACTER,
        f"unexpected character `{shown}`",
        text.span(position, position + 1),
        "the language does not use this character",
        help=helps.get(content[position : position + 2]) or helps.get(character, ""),
    )
    if character == "'":  # a quoted text in the wrong quotes is one mistake
        line = re.compile(_LINE).match(content, position)
        assert line is not None
        close = content.find("'", position + 1, line.end())
        return close + 1 if close >= 0 else position + 1
    return position + 1
