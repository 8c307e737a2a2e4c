# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Methods and their C functions: where a handler is defined, and what a name in C refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from camkes.diagnostics import SourceFile, Span
from camkes.editor.index import NamedSymbol, NameUse
from camkes.editor.workspace import SystemSnapshot
from camkes.parser import ast
from camkes.scaffold.stubs import defined, text_of


def handlers(analysis: SystemSnapshot, use: NameUse) -> list[Span]:
    """Where C code defines what a name refers to: a method, an interface or a component."""
    symbol = use.symbol
    found: list[Span] = []
    for component in analysis.index.tops["component"].values():
        names = [] if symbol is not component else ["run"]
        for interface in component.members.values():
            if interface.interface is None or interface.interface.kind != "provides":
                continue
            methods = interface.type.members.values() if interface.type is not None else ()
            names += [
                f"{interface.name.text}_{method.name.text}"
                for method in methods
                if symbol in (method, interface, component)
            ]
        if names:
            for source in sources_of(analysis, component):
                found += _places(source, names)
    return found


def meaning(
    analysis: SystemSnapshot, source: Path, line: str, column: int
) -> tuple[NamedSymbol, NamedSymbol, int, int] | None:
    """What a name in C code, at a column of a line, refers to: the member of a component or the method that
    its part at the column names, what the whole of it names, and the columns of the part."""
    match = next((m for m in re.finditer(r"\w+", line) if m.start() < column <= m.end() + 1), None)
    if match is None:
        return None
    word = match[0]
    for component in analysis.index.tops["component"].values():
        members = [m for name, m in component.members.items() if word == name or word.startswith(f"{name}_")]
        if not members or source.resolve() not in (
            each.resolve() for each in sources_of(analysis, component)
        ):
            continue
        member = max(members, key=lambda each: len(each.name.text))
        length = len(member.name.text)
        method = (member.type.members if member.type is not None else {}).get(word[length + 1 :])
        if method is not None and column > match.start() + length + 1:
            return method, method, match.start() + length + 2, match.end() + 1
        return member, method or member, match.start() + 1, match.start() + length + 1
    return None


def sources_of(analysis: SystemSnapshot, component: NamedSymbol) -> tuple[Path, ...]:
    """The C sources of a component, as far as these are known."""
    if not isinstance(component.node, ast.ComponentDecl):
        return ()
    declared = component.name.span.file.path
    build = analysis.application.build_of(component.name.text, "", declared)
    return build.sources if build is not None else ()


def _places(path: Path, names: Sequence[str]) -> Iterator[Span]:
    text = text_of(path)
    if text is None:  # the file has gone
        return
    file = SourceFile(path, text)
    for name, offset in defined(text, names):
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        yield Span(file, line, column, line, column + len(name))
