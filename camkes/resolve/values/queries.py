# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Queries: `dtb(...)` of the device tree, `gpio(...)` of the list of pins."""

from __future__ import annotations

from camkes.diagnostics import Sink
from camkes.model.system import Value
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.options import LoadOptions
from camkes.resolve.values.answers import answer
from camkes.resolve.words.nearest import suggestion


class Queries:
    """Answers queries of one run; each query in the text is evaluated once."""

    def __init__(self, options: LoadOptions, sink: Sink) -> None:
        self.options = options
        self.sink = sink
        self.answers: dict[int, tuple[ast.Query, Value | None]] = {}

    def ask(self, query: ast.Query) -> Value | None:
        """The answer; None, and an error, if there is none."""
        if id(query) not in self.answers:
            self.answers[id(query)] = (query, self._ask(query))
        return self.answers[id(query)][1]

    def _ask(self, query: ast.Query) -> Value | None:
        if query.name.text not in ("dtb", "gpio"):
            self.sink.report(
                codes.UNKNOWN_QUERY,
                f"there is no query `{query.name.text}`",
                query.name.span,
                help=suggestion(query.name.text, ("dtb", "gpio")),
            )
            return None
        return answer(query, self.options, self.sink)
