# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Options of renderings, and functions that all forms share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Severity, SourceFile, Span
from camkes.diagnostics.words import plural
from camkes.visible import visible_line

if TYPE_CHECKING:
    from pathlib import Path


class Form(Enum):
    """What a rendering is for."""

    TEXT = "text"  # excerpts with underlines
    ONELINE = "oneline"  # file:line:column: severity[code]: message
    JSON = "json"
    SARIF = "sarif"


class Style(Struct, frozen=True):
    """How to render. Paths below `base` are shown relative to it (None: the current directory)."""

    form: Form = Form.TEXT
    color: bool = False
    unicode: bool = False
    base: Path | None = None


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; empty if there is neither."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    counts = [(severities.count(s), s.value) for s in (Severity.ERROR, Severity.WARNING)]
    return ", ".join(f"{n} {plural(n, word)}" for n, word in counts if n)


def shown_path(file: SourceFile, style: Style) -> str:
    """The path of a file, relative to the base if it is below that."""
    path = str(file.path)
    base = str(style.base) if style.base is not None else os.getcwd()  # noqa: PTH109 (pathlib is slower)
    if os.path.isabs(path) and path.startswith(base.rstrip(os.sep) + os.sep):  # noqa: PTH117
        path = path[len(base.rstrip(os.sep)) + 1 :]
    return path


def position(span: Span, style: Style) -> str:
    """`path:line:column`."""
    return f"{visible_line(shown_path(span.file, style))}:{span.line}:{span.column}"


def import_chain(file: SourceFile) -> Iterator[Span]:
    """The import that brought a file in, the one that brought that in, and so on."""
    seen = {id(file)}
    while (origin := file.included_from) is not None and id(origin.file) not in seen:
        yield origin
        file = origin.file
        seen.add(id(file))
