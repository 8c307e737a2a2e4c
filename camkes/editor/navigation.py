# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests that read: hover, definition, references, symbols; also from a method to its C code, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types as lsp

from camkes.diagnostics import Span
from camkes.editor.code import handlers, meaning
from camkes.editor.convert import place_of
from camkes.editor.hover import hover, hover_setting
from camkes.editor.outline import Item, outline
from camkes.editor.session import SUFFIXES, Feature, Server, path_of
from camkes.editor.words import hover_word
from camkes.visible import visible

_SYMBOLS = {
    "procedure": lsp.SymbolKind.Interface,
    "struct": lsp.SymbolKind.Struct,
    "connector": lsp.SymbolKind.Operator,
    "component": lsp.SymbolKind.Class,
    "method": lsp.SymbolKind.Method,
    "interface": lsp.SymbolKind.Property,
    "mutex": lsp.SymbolKind.Key,
    "attribute": lsp.SymbolKind.Field,
    "instance": lsp.SymbolKind.Object,
    "connection": lsp.SymbolKind.Event,
}


async def show(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    found = await server.place(params.text_document.uri, params.position)
    if found is None:
        return None
    analysis, source, place = found
    setting = analysis.index.setting_at(str(source.path), *place)
    use = analysis.index.at(str(source.path), *place)
    texts = [hover_setting(setting) if setting else None, hover(analysis, use) if use else None]
    text = "\n\n".join(text for text in texts if text)
    span = use.whole if use else setting.name.span if setting else None
    if not text or span is None:
        word = hover_word(source.text, *place)
        if word is None:
            return None
        text, first, last = word
        span = Span(source, place[0], first, place[0], last)
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, visible(text)), server.range(span))


async def definition(server: Server, params: lsp.DefinitionParams) -> lsp.Location | None:
    if not path_of(params.text_document.uri).endswith(SUFFIXES):
        return await _from_code(server, params)
    found = await server.place(params.text_document.uri, params.position)
    if found is None:
        return None
    analysis, source, place = found
    use = analysis.index.at(str(source.path), *place)
    if use is not None:
        return server.location(use.symbol.name.span)
    target = analysis.imported(source, *place)
    start = lsp.Position(0, 0)
    return None if target is None else lsp.Location(server.uri(target), lsp.Range(start, start))


async def _from_code(server: Server, params: lsp.DefinitionParams) -> lsp.Location | None:
    """The method that a function in C code implements or calls, in a system that has an open file."""
    path = Path(path_of(params.text_document.uri))
    lines = server.workspace.get_text_document(params.text_document.uri).lines
    if params.position.line >= len(lines):
        return None
    line, column = place_of(params.position, lines, server.encoding)
    for name in sorted(server.files.buffers):
        symbol = meaning(await server.analysis(name), path, lines[line - 1], column)
        if symbol is not None:
            return server.location(symbol.name.span)
    return None


async def implementation(server: Server, params: lsp.ImplementationParams) -> list[lsp.Location]:
    found = await server.use(params.text_document.uri, params.position)
    return [] if found is None else [server.location(span) for span in handlers(*found)]


async def workspace_symbols(server: Server, params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
    """Definitions of the open systems whose names have the letters of the query in this order."""
    wanted = re.compile(".*".join(map(re.escape, params.query)), re.IGNORECASE)
    found: dict[Span, lsp.SymbolInformation] = {}
    for path in sorted(server.files.buffers):
        analysis = await server.analysis(path)
        for file in analysis.files.values():
            for item in _every(outline(file, analysis.program.items)):
                if wanted.search(item.name):
                    place = server.location(item.name_span)
                    found[item.name_span] = lsp.SymbolInformation(place, item.name, _kind(item))
    return list(found.values())


def _every(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from _every(item.children)


def _kind(item: Item) -> lsp.SymbolKind:
    return _SYMBOLS.get(item.kind, lsp.SymbolKind.Namespace)


async def references(server: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
    found = await server.use(params.text_document.uri, params.position)
    if found is None:
        return []
    analysis, use = found
    uses = analysis.index.uses_of(use.symbol)
    if not params.context.include_declaration:
        uses = [each for each in uses if each.span != use.symbol.name.span]
    return [server.location(each.span) for each in uses]


async def highlight(server: Server, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
    found = await server.use(params.text_document.uri, params.position)
    if found is None:
        return []
    analysis, use = found
    uses = [each for each in analysis.index.uses_of(use.symbol) if each.span.file is use.span.file]
    return [lsp.DocumentHighlight(server.range(each.span)) for each in uses]


async def symbols(server: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    found = await server.file(params.text_document.uri)
    if found is None:
        return []
    analysis, source = found
    return _symbols(server, outline(source, analysis.program.items))


def _symbols(server: Server, items: Iterable[Item]) -> list[lsp.DocumentSymbol]:
    return [
        lsp.DocumentSymbol(
            item.name,
            _kind(item),
            server.range(item.span),
            server.range(item.name_span),
            item.detail or item.kind,
            children=_symbols(server, item.children),
        )
        for item in items
    ]


FEATURES = (
    Feature(lsp.TEXT_DOCUMENT_HOVER, show),
    Feature(lsp.TEXT_DOCUMENT_DEFINITION, definition),
    Feature(lsp.TEXT_DOCUMENT_REFERENCES, references),
    Feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, highlight),
    Feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, symbols),
    Feature(lsp.TEXT_DOCUMENT_IMPLEMENTATION, implementation),
    Feature(lsp.WORKSPACE_SYMBOL, workspace_symbols),
)
