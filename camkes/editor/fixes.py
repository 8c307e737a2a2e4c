# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Changes that correct what a diagnostic reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from camkes.diagnostics import Diagnostic, SourceFile, Span
from camkes.editor.workspace import SystemSnapshot
from camkes.parser import ast
from camkes.resolve.words.nearest import suggested
from camkes.scaffold import stubs
from camkes.scaffold.stubs import ReadText, component_types


class Fix(NamedTuple):
    """Replace what stands at a place; an empty place means: insert. `title` is what the user chooses."""

    title: str
    span: Span
    text: str


def fixes(analysis: SystemSnapshot, diagnostic: Diagnostic) -> list[Fix]:
    """The changes for a diagnostic."""
    if diagnostic.span is None:
        return []
    return [fix for rule in _RULES for fix in rule(analysis, diagnostic, diagnostic.span)]


def missing_handlers(
    analysis: SystemSnapshot, source: SourceFile, first: int, last: int, read: ReadText
) -> list[Fix]:
    """What `camkes stubs` does, for the components whose name, `control` or `provides` is in some lines of a
    file. A source that there is not yet is left to the command."""
    own = [
        (node.name, node.items)
        for node in analysis.program.items
        if isinstance(node, ast.ComponentDecl) and node.name and node.span.file.path == source.path
    ]
    names = [
        name.text
        for name, items in own
        for span in (name.span, *(item.span for item in items if _has_handlers(item)))
        if span.line <= last and first <= span.end_line
    ]
    if not names:
        return []
    kinds = component_types(analysis.program, forward=analysis.options.allow_forward_references)
    only = [name for name in dict.fromkeys(names) if name in kinds]
    found = []
    for each in stubs.missing_handlers(analysis.application, kinds, analysis.system, only, read):
        text = None if each.insertion is None else read(each.insertion.path)
        if each.insertion is None or text is None:
            continue
        file = SourceFile(each.insertion.path, text)
        end = _at(file, len(file.lines), len(file.lines[-1]) + 1)
        begin = "\n" if file.lines[-1] else ""
        what = f"`{each.handlers[0].name}()`"
        if len(each.handlers) > 1:
            what = f"the {len(each.handlers)} missing handlers of `{each.kind.name}`"
        title = f"Define {what} in {file.path.name}"
        found.append(Fix(title, end, f"{begin}{each.insertion.text}"))
    return found


def _has_handlers(item: object) -> bool:
    return isinstance(item, ast.Control) or (isinstance(item, ast.InterfaceDecl) and item.kind == "provides")


def _word(analysis: SystemSnapshot, diagnostic: Diagnostic, span: Span) -> Iterator[Fix]:
    """Write the word that the diagnostic suggests."""
    right = suggested(diagnostic.help)
    if right is None or span.line != span.end_line:
        return
    written = span.file.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    if right.startswith("import ") and written.startswith("import"):
        yield Fix(f"Change to `{right}`", span, right)
        return
    for quoted in re.findall(r"`([^`]+)`", diagnostic.message):
        for word in re.findall(r"\w+", quoted):
            places = [match.start() for match in re.finditer(rf"\b{word}\b", written)]
            if len(places) == 1 and word != right:
                start = span.column + places[0]
                place = Span(span.file, span.line, start, span.line, start + len(word))
                yield Fix(f"Change to `{right}`", place, right)
                return


def _semicolon(analysis: SystemSnapshot, diagnostic: Diagnostic, span: Span) -> Iterator[Fix]:
    if diagnostic.code.name == "missing-semicolon":
        yield Fix("Add `;`", _at(span.file, span.end_line, span.end_column), ";")


def _import(analysis: SystemSnapshot, diagnostic: Diagnostic, span: Span) -> Iterator[Fix]:
    """Import the file that a help text names."""
    found = re.search(r"`(import [<\"][^`]+;)`", diagnostic.help)
    if found is not None and "did you mean" not in diagnostic.help:
        own = [item for item in analysis.program.items if item.span.file is span.file]
        line = min((item.span.line for item in own), default=1)
        first = next((n for n, text in enumerate(span.file.lines, 1) if text.startswith("import ")), line)
        yield Fix(f"Add `{found[1]}`", _at(span.file, first, 1), f"{found[1]}\n")


def _item(analysis: SystemSnapshot, diagnostic: Diagnostic, span: Span) -> Iterator[Fix]:
    """Add the item that a help text names (`control`, `requestor`, `include`)."""
    found = re.search(r"add `([^`]+;)` to (component|procedure) `(\w+)`", diagnostic.help)
    symbol = analysis.index.tops[found[2]].get(found[3]) if found is not None else None
    if found is not None and symbol is not None:
        yield from _added(symbol.node, found[1])


_RULES: tuple[Callable[[SystemSnapshot, Diagnostic, Span], Iterator[Fix]], ...] = (
    _word,
    _semicolon,
    _import,
    _item,
)


def _added(node: object, text: str) -> Iterator[Fix]:
    """Add an item: behind `control`, or as the first one."""
    items: list[Span] = []
    control = None
    match node:
        case ast.ComponentDecl():
            items = [item.span for item in node.items]
            control = next((item.span for item in node.items if isinstance(item, ast.Control)), None)
        case ast.ProcedureDecl():
            items = [item.span for item in node.methods]
    if not items:
        return
    span = control or items[0]
    line = span.file.lines[span.line - 1]
    alone = not line[: span.column - 1].strip()
    space = f"\n{line[: span.column - 1]}" if alone else " "
    if control is not None:
        yield Fix(f"Add `{text}`", _at(span.file, span.end_line, span.end_column), f"{space}{text}")
    else:
        yield Fix(f"Add `{text}`", _at(span.file, span.line, span.column), f"{text}{space}")


def _at(file: SourceFile, line: int, column: int) -> Span:
    return Span(file, line, column, line, column)
