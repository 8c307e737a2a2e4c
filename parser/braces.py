# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Braces that are missing or too many, found by the indentation of the text.

A parser notices a stray brace only where the braces run out, which can be far below it. If without one brace
the lines of all closing braces are indented as those of their opening ones, that one is the stray brace.
"""

from __future__ import annotations

from camkes.diagnostics import Sink
from camkes.parser import codes
from camkes.parser.lexer import Tokens

_MOST_CANDIDATES = 20
_LONGEST_OPENING = 5  # tokens, of `component NAME {` and the like
_ENDS = ("SEMICOLON", "RBRACE", "LBRACE")


def remove_stray_braces(tokens: Tokens, stopped: int | None, sink: Sink) -> list[int]:
    """Report each `}` that is too many, take it out, and return the offsets; none if it is not known which.

    `stopped` is the token at which a parser stops: a stray brace stands before it, else another error does.
    """
    kinds = tokens.kinds
    excess = kinds.count("RBRACE") - kinds.count("LBRACE")
    one = _stray(tokens) if excess == 1 else None
    stray = [one] if one is not None else _strays(tokens, excess)
    if not stray or stopped is None or stopped < stray[0]:
        return []
    if any(each and kinds[each - 1] not in _ENDS for each in stray):
        return []  # the beginning of its block is missing
    offsets = [tokens.starts[each] for each in stray]
    for each in stray:
        sink.report(
            codes.UNCLOSED_BRACKET,
            "this `}` has no matching `{`",
            tokens.text.span(tokens.starts[each], tokens.ends[each]),
            "one `}` too many",
            help="remove it",
        )
    for each in reversed(stray):
        del tokens.kinds[each], tokens.starts[each], tokens.ends[each]
    return offsets


def remove_doubled_opening(tokens: Tokens, sink: Sink) -> int | None:
    """Report the beginning of a block that is written twice, `composition { composition {` or `{ {`, take the
    second one out, and return its offset; None if there is none."""
    kinds = tokens.kinds
    for index in range(1, len(kinds)):
        if kinds[index] != "LBRACE":
            continue
        for size in range(1, _LONGEST_OPENING + 1):
            first, second = index + 1 - 2 * size, index + 1 - size
            if index > 1 and kinds[index - 2] == kinds[index - 1] == "LBRACE":
                break  # many of them are not a typing error
            if first < 0 or any(kind in _ENDS for kind in kinds[second:index]):
                break
            if all(tokens.word(first + n) == tokens.word(second + n) for n in range(size)):
                start, end = tokens.starts[second], tokens.ends[index]
                text = " ".join(tokens.word(n) for n in range(second, index + 1))
                place = tokens.text.span(start, end)
                message = f"`{text}` is written twice"
                sink.report(codes.UNCLOSED_BRACKET, message, place, "remove this one")
                del kinds[second : index + 1], tokens.starts[second : index + 1]
                del tokens.ends[second : index + 1]
                return start
    return None


def unclosed_brace(tokens: Tokens) -> int | None:
    """The number of the `{` whose closing brace is missing, as the indentation shows; one is missing."""
    opened: list[int] = []
    found: int | None = None
    for index, kind in enumerate(tokens.kinds):
        if kind == "LBRACE":
            opened.append(index)
        elif kind == "RBRACE":
            if not opened:
                return None
            opening = opened.pop()
            depth = _indent(tokens, index)
            if _begins_line(tokens, index) and depth != _indent(tokens, opening):
                if found is not None or not opened or depth != _indent(tokens, opened[-1]):
                    return None
                found = opening  # the brace belongs to the one around
                opened.pop()
    return found if not opened else None


def _stray(tokens: Tokens) -> int | None:
    """The number of the stray brace."""
    at_odds = _at_odds(tokens, None)
    if at_odds is None:
        return None
    for candidate in at_odds[:_MOST_CANDIDATES]:
        if _at_odds(tokens, candidate) == []:
            return candidate
    return None


def _strays(tokens: Tokens, excess: int) -> list[int]:
    """The stray braces if there are several: those that begin a line at the indentation of no open block."""
    found: list[int] = []
    opened: list[int] = []
    for index, kind in enumerate(tokens.kinds):
        if kind == "LBRACE":
            opened.append(index)
        elif kind == "RBRACE":
            fits = opened and _indent(tokens, opened[-1]) == _indent(tokens, index)
            if not fits and _begins_line(tokens, index):
                found.append(index)
            elif opened:
                opened.pop()
    return found if len(found) == excess and not opened else []


def _at_odds(tokens: Tokens, without: int | None) -> list[int] | None:
    """The closing braces whose line is not indented as that of their opening ones.

    Without the brace `without`; None if a brace then closes nothing before the last one.
    """
    found: list[int] = []
    opened: list[int] = []
    for index, kind in enumerate(tokens.kinds):
        if kind == "LBRACE":
            opened.append(index)
        elif kind == "RBRACE" and index != without:
            if not opened:
                return [*found, index] if without is None else None
            if _indent(tokens, opened.pop()) != _indent(tokens, index):
                found.append(index)
    return found


def _line(tokens: Tokens, index: int) -> str:
    """The line of a token up to it."""
    content, start = tokens.text.content, tokens.starts[index]
    return content[content.rfind("\n", 0, start) + 1 : start]


def _begins_line(tokens: Tokens, index: int) -> bool:
    return not _line(tokens, index).strip()


def _indent(tokens: Tokens, index: int) -> int:
    line = _line(tokens, index).expandtabs(8)
    return len(line) - len(line.lstrip())
