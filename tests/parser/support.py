# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Helpers of the parser's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from camkes.diagnostics import Diagnostic, Sink, SourceFile, Span
from camkes.parser import ast
from camkes.parser.parse import ParseOptions, parse


def read(text: str, options: ParseOptions | None = None) -> tuple[ast.File | None, Sink]:
    """Parse a text that is in no file."""
    sink = Sink()
    return parse(SourceFile(Path("test.camkes"), text), sink, options=options), sink


def good(text: str) -> tuple[Any, ...]:
    """The items of a text that must be without error."""
    tree, sink = read(text)
    assert tree is not None, listing(sink)
    assert not sink.diagnostics
    return tree.items


def errors(text: str) -> list[str]:
    """The messages about a text that must be wrong, in source order."""
    tree, sink = read(text)
    assert tree is None
    assert sink.has_errors
    return [diagnostic.message for diagnostic in in_order(sink)]


def value(text: str) -> Any:
    """The value that a setting gets from a text."""
    (configuration,) = good(f"configuration {{ a.b = {text}; }}")
    return configuration.settings[0].value


def in_order(sink: Sink) -> list[Diagnostic]:
    """The diagnostics in the order of the source."""
    return sorted(sink.diagnostics, key=lambda each: each.span[1:] if each.span else ())


def place(span: Span | None) -> str:
    """A span as line:column-line:column."""
    return f"{span.line}:{span.column}-{span.end_line}:{span.end_column}" if span else "nowhere"


def listing(sink: Sink) -> str:
    """All that was said, in the form of the golden files."""
    lines = []
    for each in in_order(sink):
        lines.append(f"{each.code.number} {place(each.span)} {each.message}")
        if each.label:
            lines.append(f"    label: {each.label}")
        lines += [f"    {place(related.span)} {related.text}" for related in each.related]
        if each.help:
            lines.append(f"    help: {each.help}")
    return "".join(f"{line}\n" for line in lines)


def shape(node: Any) -> Any:
    """A tree without its spans, for comparison."""
    if isinstance(node, ast.Identifier):
        return node.text
    if isinstance(node, tuple):
        return tuple(shape(each) for each in node)
    if isinstance(node, Struct):
        names = [field.name for field in fields(node) if field.name != "span"]
        return (type(node).__name__, *(shape(getattr(node, name)) for name in names))
    return node


def nodes(node: Any) -> Iterator[Any]:
    """A node and all nodes in it."""
    if isinstance(node, ast.Identifier):
        yield node
    elif isinstance(node, tuple):
        for each in node:
            yield from nodes(each)
    elif isinstance(node, Struct):
        yield node
        for field in fields(node):
            yield from nodes(getattr(node, field.name))


def written(span: Span) -> str:
    """The text of a span."""
    lines = list(span.file.lines[span.line - 1 : span.end_line])
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)
