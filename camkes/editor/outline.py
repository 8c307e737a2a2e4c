# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The outline of a file: its definitions and their members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from camkes.diagnostics import SourceFile, Span
from camkes.parser import ast


class Item(NamedTuple):
    """A definition. `kind` is that of its `NamedSymbol`, or the word of a block."""

    name: str
    kind: str
    span: Span
    name_span: Span
    children: tuple[Item, ...]
    detail: str = ""


def outline(source: SourceFile, items: Iterable[ast.TopLevelItem]) -> list[Item]:
    """The outline of one file of a program."""
    return [each for node in items for each in _item(node) if each.span.file is source]


def _item(node: object) -> Iterator[Item]:
    match node:
        case ast.ProcedureDecl():
            children = [Item(m.name.text, "method", m.span, m.name.span, ()) for m in node.methods]
            yield _block(node.name, "procedure", node.span, children)
        case ast.StructDecl():
            yield _block(node.name, "struct", node.span, _items(node.body.members))
        case ast.ConnectorDecl():
            yield _block(node.name, "connector", node.span, [])
        case ast.ComponentDecl():
            blocks = [block for block in (node.composition, node.configuration) if block is not None]
            yield _block(node.name, "component", node.span, [*_items(node.items), *_items(blocks)])
        case ast.InterfaceDecl():
            type = node.type.name if isinstance(node.type, ast.TypeName) else "Buf"
            yield Item(node.name.text, "interface", node.span, node.name.span, (), f"{node.kind} {type}")
        case ast.SyncDecl():
            yield Item(node.name.text, "mutex", node.span, node.name.span, (), node.kind)
        case ast.AttributeDecl():
            yield Item(node.name.text, "attribute", node.span, node.name.span, ())
        case ast.AssemblyDecl():
            yield _block(node.name, "assembly", node.span, _items(node.items))
        case ast.CompositionDecl():
            yield _block(node.name, "composition", node.span, _items(node.items))
        case ast.ConfigurationDecl():
            yield _block(node.name, "configuration", node.span, [])
        case ast.GroupDecl():
            yield _block(node.name, "group", node.span, _items(node.instances))
        case ast.InstanceDecl():
            inside = _items([node.type]) if isinstance(node.type, ast.ComponentDecl) else []
            type = node.type.text if isinstance(node.type, ast.Identifier) else "component"
            yield Item(node.name.text, "instance", node.span, node.name.span, tuple(inside), type)
        case ast.ConnectionDecl():
            type = node.connector.text if isinstance(node.connector, ast.Identifier) else "connector"
            yield Item(node.name.text, "connection", node.span, node.name.span, (), type)


def _items(nodes: Iterable[object]) -> list[Item]:
    return [each for node in nodes for each in _item(node)]


def _block(name: ast.Identifier | None, kind: str, span: Span, children: list[Item]) -> Item:
    own = tuple(child for child in children if child.span.file is span.file)
    return Item(name.text if name else kind, kind, span, name.span if name else span, own)
