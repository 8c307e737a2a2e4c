# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests that read: hover, definition, references, symbols, hints."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as lsp

from camkes.editor.hover import hints, hover, hover_setting
from camkes.editor.outline import Item, outline
from camkes.editor.session import Feature, Server

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
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), server.range(span))


async def definition(server: Server, params: lsp.DefinitionParams) -> lsp.Location | None:
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


async def inlay(server: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    found = await server.file(params.text_document.uri)
    if found is None:
        return []
    analysis, source = found
    result = []
    for hint in hints(analysis, str(source.path)):
        end = server.range(hint.span).end
        if params.range.start.line <= end.line <= params.range.end.line:
            result.append(lsp.InlayHint(end, hint.text, tooltip=hint.tooltip, padding_left=True))
    return result


def _symbols(server: Server, items: Iterable[Item]) -> list[lsp.DocumentSymbol]:
    return [
        lsp.DocumentSymbol(
            item.name,
            _SYMBOLS.get(item.kind, lsp.SymbolKind.Namespace),
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
    Feature(lsp.TEXT_DOCUMENT_INLAY_HINT, inlay),
)
