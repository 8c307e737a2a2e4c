# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Diagnostics as text for people, as lines for editors, as JSON and as SARIF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from camkes.diagnostics import Diagnostic, SourceFile
from camkes.diagnostics.rendering import machine
from camkes.diagnostics.rendering.style import Form, Style, import_chain, position, shown_path, summary
from camkes.diagnostics.rendering.text import to_text

__all__ = ["Form", "Style", "in_source_order", "render", "shown_path", "summary"]


def render(diagnostics: Iterable[Diagnostic], style: Style | None = None) -> str:
    """All diagnostics in source order, as one text that ends in a newline, empty without diagnostics."""
    style = style or Style()
    ordered = in_source_order(diagnostics)
    if style.form is Form.TEXT:
        return to_text(ordered, style)
    if style.form is Form.ONELINE:
        return "".join(f"{line}\n" for line in _lines(ordered, style))
    make = machine.to_json if style.form is Form.JSON else machine.to_sarif
    return make(ordered, lambda file: shown_path(file, style))


def in_source_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """In the order in which a reader meets the places who follows each import where it stands."""
    given = list(diagnostics)
    roots: dict[int, int] = {}
    keys: dict[int, tuple[tuple[int, int], ...]] = {}

    def key_of(file: SourceFile) -> tuple[tuple[int, int], ...]:
        """The places to follow from the root to this file."""
        if id(file) not in keys:
            origins = list(import_chain(file))
            root = origins[-1].file if origins else file
            places = [(origin.line, origin.column) for origin in reversed(origins)]
            keys[id(file)] = ((roots.setdefault(id(root), len(roots)), 0), *places)
        return keys[id(file)]

    def key(diagnostic: Diagnostic) -> tuple[tuple[int, int], ...]:
        span = diagnostic.span
        return () if span is None else (*key_of(span.file), (span.line, span.column))

    return sorted(given, key=key)


def _lines(diagnostics: Sequence[Diagnostic], style: Style) -> Iterator[str]:
    """One line each, as compilers have always written them; related places follow as notes."""
    for diagnostic in diagnostics:
        place = f"{position(diagnostic.span, style)}: " if diagnostic.span is not None else ""
        message = diagnostic.message.replace("\n", " ")
        yield f"{place}{diagnostic.severity.value}[{diagnostic.code.number}]: {message}"
        for label in diagnostic.related:
            yield f"{position(label.span, style)}: note: {label.text}"
