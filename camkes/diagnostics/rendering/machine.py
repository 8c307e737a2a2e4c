# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Diagnostics for other programs: JSON of our own, and SARIF 2.1.0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from camkes import __version__
from camkes.diagnostics import Code, Diagnostic, Label, Severity, SourceFile, Span
from camkes.diagnostics.explain import explanation
from camkes.documents import json_text

#: Changes when a field goes away or changes its meaning; not when one is added.
JSON_VERSION = 1

ShowPath = Callable[[SourceFile], str]


class Place(Struct, frozen=True):
    """A place in a file; lines and columns count from 1."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class RelatedPlace(Struct, frozen=True):
    """Another place that matters, and why."""

    span: Place
    text: str


class DiagnosticReport(Struct, frozen=True):
    """A diagnostic. `span` is null if it is of no file, `label` describes that place. With `is_walk`, the
    places in `related` follow each other, as the steps of a cycle."""

    code: str
    name: str
    severity: Severity
    message: str
    span: Place | None
    label: str
    related: tuple[RelatedPlace, ...]
    is_walk: bool
    notes: tuple[str, ...]
    help: str


class DiagnosticsReport(Struct, frozen=True, kw_only=True):
    """All diagnostics of a command."""

    version: int = JSON_VERSION
    errors: int
    warnings: int
    diagnostics: tuple[DiagnosticReport, ...]


def to_json(diagnostics: Sequence[Diagnostic], show_path: ShowPath) -> str:

    def place(span: Span) -> Place:
        return Place(show_path(span.file), span.line, span.column, span.end_line, span.end_column)

    severities = [diagnostic.severity for diagnostic in diagnostics]
    document = DiagnosticsReport(
        errors=severities.count(Severity.ERROR),
        warnings=severities.count(Severity.WARNING),
        diagnostics=tuple(
            DiagnosticReport(
                code=diagnostic.code.number,
                name=diagnostic.code.name,
                severity=diagnostic.severity,
                message=diagnostic.message,
                span=None if diagnostic.span is None else place(diagnostic.span),
                label=diagnostic.label,
                related=tuple(RelatedPlace(place(r.span), r.text) for r in diagnostic.related),
                is_walk=diagnostic.is_walk,
                notes=tuple(diagnostic.notes),
                help=diagnostic.help,
            )
            for diagnostic in diagnostics
        ),
    )
    return json_text(document) + "\n"


def to_sarif(diagnostics: Sequence[Diagnostic], show_path: ShowPath) -> str:
    """A SARIF log with one run; a walk (the hops of a cycle) is a code flow."""
    codes = list({d.code.number: d.code for d in diagnostics}.values())
    index = {code.number: i for i, code in enumerate(codes)}

    def location(label: Label, number: int | None = None) -> dict[str, Any]:
        return _location(label, number, show_path)

    def result(diagnostic: Diagnostic) -> dict[str, Any]:
        notes = [f"note: {note}" for note in diagnostic.notes]
        notes += [f"help: {diagnostic.help}"] if diagnostic.help else []
        found: dict[str, Any] = {
            "ruleId": diagnostic.code.number,
            "ruleIndex": index[diagnostic.code.number],
            "level": diagnostic.severity.value,
            "message": {"text": "\n".join([diagnostic.message, *notes])},
        }
        if diagnostic.span is not None:
            main = Label(diagnostic.span, diagnostic.label)
            found["locations"] = [location(main)]
            if diagnostic.is_walk:
                steps = [{"location": location(label)} for label in (main, *diagnostic.related)]
                found["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
        if diagnostic.related:
            found["relatedLocations"] = [location(r, i) for i, r in enumerate(diagnostic.related, 1)]
        return found

    driver = {"name": "camkes-rt", "version": __version__, "rules": [_rule(code) for code in codes]}
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [result(diagnostic) for diagnostic in diagnostics],
            }
        ],
    }
    return json_text(document) + "\n"


def _location(label: Label, number: int | None, show_path: ShowPath) -> dict[str, Any]:
    """A place, as a region of a file; `number` is by what others refer to it."""
    from urllib.parse import quote

    span = label.span
    path = show_path(span.file)
    found: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {
                "uri": ("file://" if path.startswith("/") else "") + quote(path, errors="surrogateescape")
            },
            "region": {
                "startLine": span.line,
                "startColumn": span.column,
                "endLine": span.end_line,
                "endColumn": span.end_column,
            },
        }
    }
    if number is not None:
        found["id"] = number
    if label.text:
        found["message"] = {"text": label.text}
    return found


def _rule(code: Code) -> dict[str, Any]:
    """What a kind of diagnostic is, with its page as help."""
    page = explanation(code)
    return {
        "id": code.number,
        "name": "".join(word.capitalize() for word in code.name.split("-")),
        "shortDescription": {"text": page.split("\n", 1)[0]},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": code.severity.value},
    }
