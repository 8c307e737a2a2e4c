# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The keywords that can follow an incomplete text."""

from __future__ import annotations

from camkes.diagnostics import Sink
from camkes.parser.lexer import Tokens
from camkes.parser.parse import Parser
from camkes.parser.recovery import Recovery
from camkes.parser.tables import END, load

_HERE = "?"  # a token that fits nowhere


def expected_words(tokens: Tokens) -> list[str]:
    """The words that can stand at the end of the tokens of a text; broken items before it do no harm."""
    tables = load()
    end = len(tokens.kinds) - 1
    tokens.kinds.insert(end, _HERE)
    tokens.starts.insert(end, tokens.starts[end])
    tokens.ends.insert(end, tokens.ends[end])
    parser = Parser(tables, tokens, Sink())
    recovery = Recovery(parser)
    position: int | None = 0
    while position is not None:
        stopped = parser.advance(position)
        if stopped is None or tokens.kinds[stopped] == END:
            return []
        if tokens.kinds[stopped] == _HERE:
            expected = recovery.look.expected()
            words = {**tables.words, **tables.contextual}
            return [word for word, terminal in words.items() if terminal in expected]
        position = recovery.recover(stopped)
    return []
