# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Errors of the preprocessor as diagnostics, each error once."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.parser import codes

_MESSAGE = re.compile(r"(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)")
_OPENING = "the conditional began here"
_UNOPENED = re.compile("without '?#if'?$")  # in quotes since GCC 16


def complaints(stderr: str, span_of: Callable[[str, int, int], Span | None]) -> list[Diagnostic]:
    """The errors in the messages of a preprocessor. `span_of` finds a place by file, line and column."""
    found: list[Diagnostic] = []
    unopened = False
    for match in _MESSAGE.finditer(stderr):
        path, line, column, message = match.groups()
        span = span_of(path, int(line), int(column or 1))
        if message.endswith(_OPENING) and found and span is not None:
            found[-1] = replace(found[-1], related=(Label(span, "the conditional begins here"),))
            continue
        if _UNOPENED.search(message):
            if unopened:  # of the same conditional
                continue
            unopened = True
        if span is None and not path.startswith("<"):
            message = f"{path}:{line}: {message}"
        help = _help(message, span)
        found.append(Diagnostic(codes.PREPROCESSOR_ERROR, message.strip(), span, help=help))
    return found


def _help(message: str, span: Span | None) -> str:
    """What to write in place of a directive for a file that is not found."""
    missing = re.match(r"(\S+): No such file", message)
    if missing is None or span is None:
        return ""
    name = missing[1]
    quoted = f"<{name}>" if "<" in span.file.lines[span.line - 1] else f'"{name}"'
    if name.endswith(".camkes"):
        return f"a .camkes file is imported with `import {quoted};`"
    if name.endswith(".h"):
        return f"a C header for the code of a component is included with `include {quoted};`"
    return ""
