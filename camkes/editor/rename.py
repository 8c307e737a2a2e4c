# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Renaming: which symbols can be renamed, and valid new names."""

from __future__ import annotations

import re

from camkes.editor.index import NamedSymbol, Scope
from camkes.editor.workspace import SystemSnapshot
from camkes.parser.tables import load
from camkes.resolve.files.library import comes_with_tool
from camkes.resolve.words.keywords import C_KEYWORDS

_RENAMED = frozenset(
    (
        "procedure",
        "struct",
        "connector",
        "component",
        "method",
        "interface",
        "mutex",
        "attribute",
        "instance",
        "connection",
    )
)


class RefusedError(Exception):
    """Why a name stays as it is."""


def check_symbol(analysis: SystemSnapshot, symbol: NamedSymbol) -> None:
    """Raise RefusedError if the symbol cannot be renamed."""
    if symbol.kind not in _RENAMED or symbol.node is None:
        raise RefusedError(f"a {symbol.kind} cannot be renamed here")
    for use in analysis.index.uses_of(symbol):
        path = use.span.file.path
        if comes_with_tool(path):
            raise RefusedError(f"`{symbol.name.text}` comes with the tool")
        if not use.literal:
            place = f"{path.name}:{use.span.line}"
            raise RefusedError(f"`{symbol.name.text}` is written by a macro at {place}; rename it by hand")


def check_damage(analysis: SystemSnapshot, symbol: NamedSymbol) -> None:
    """Raise RefusedError if a statement with a mistake, which was not understood, names the symbol."""
    word = re.compile(rf"\b{re.escape(symbol.name.text)}\b")
    for span in analysis.program.damage:
        for line in range(span.line, span.end_line + 1):
            text = span.file.lines[line - 1] if line <= len(span.file.lines) else ""
            first = span.column - 1 if line == span.line else 0
            last = span.end_column - 1 if line == span.end_line else len(text)
            for found in word.finditer(text, first, last):
                if analysis.index.at(str(span.file.path), line, found.start() + 1) is None:
                    place = f"{span.file.path.name}:{line}"
                    raise RefusedError(
                        f"{place} has an error and may contain a `{found.group()}`; correct it first"
                    )


def check_name(analysis: SystemSnapshot, symbol: NamedSymbol, name: str) -> None:
    """Raise RefusedError if the symbol cannot have this name."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise RefusedError(
            f"`{name}` is not a valid name; expected letters, digits and `_`, and no digit first"
        )
    if name in load().words or name in C_KEYWORDS:
        raise RefusedError(f"`{name}` is a reserved word")
    if _is_macro(analysis, name):
        raise RefusedError(f"`{name}` is a macro")
    if name != symbol.name.text and name in _beside(analysis, symbol):
        raise RefusedError(f"`{name}` is already in use")


def _is_macro(analysis: SystemSnapshot, name: str) -> bool:
    defined = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+{name}\b", re.MULTILINE)
    flags = re.compile(rf"(?:-D)?{name}(?:[=(]|\Z)")
    return any(defined.search(file.text) for file in analysis.program.files) or any(
        flags.match(flag) for flag in analysis.options.cpp_flags
    )


def _beside(analysis: SystemSnapshot, symbol: NamedSymbol) -> set[str]:
    """The names that are taken where a symbol stands."""
    if symbol.kind in analysis.index.tops:
        return set(analysis.index.tops[symbol.kind])
    if symbol.kind in ("instance", "connection"):
        scope = (symbol.owner.scope if symbol.owner else analysis.index.assembly) or Scope()
        return {*scope.instances, *scope.connections, *scope.groups}
    return set(symbol.owner.members) if symbol.owner else set()
