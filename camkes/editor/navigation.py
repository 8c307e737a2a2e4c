# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests that read: hover, definition, references, symbols; also from a method to its C code, and back."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lsprotocol import types as lsp

from camkes.diagnostics import SourceFile, Span
from camkes.editor.code import handlers
from camkes.editor.convert import place_of
from camkes.editor.hover import hover, hover_setting
from camkes.editor.outline import Item, outline
from camkes.editor.session import PATIENCE, SUFFIXES, Feature, Server, path_of
from camkes.editor.words import hover_word
from camkes.editor.workspace import ChangedStatements, SystemSnapshot
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


#: What is added to a hover where an analysis is under way.
_OF_BEFORE = "*what is computed is of before the last change; hover again for the present values*"
_TO_FOLLOW = "*protocols, ceilings, tasks and times follow; hover again*"
_TIMES_FOLLOW = "*response times follow; hover again*"


async def show(server: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    """Of the present text, or at once of what is known of an older one."""
    path = path_of(params.text_document.uri)
    real = os.path.realpath(path)
    if real not in server.files.buffers:
        return None
    analysis = await server.soon(path)
    if analysis is not None:
        source = analysis.files.get(real)
        if source is None:
            return None
        found = _hover(analysis, source, place_of(params.position, source.lines, server.encoding))
        if found is not None and found.times:
            await server.timed(analysis)
            found = _hover(analysis, source, place_of(params.position, source.lines, server.encoding))
    else:
        waiting = asyncio.ensure_future(server.analysis(path))
        while server.files.last(path) is None and not waiting.done():
            await asyncio.sleep(PATIENCE)  # the files are being read for the first time
        changes = server.files.changed_statements(path)
        if changes is None or real not in changes.now:
            analysis = await waiting
            source = analysis.files.get(real)
            if source is None:
                return None
            found = _hover(analysis, source, place_of(params.position, source.lines, server.encoding))
        else:
            found = _hover_before(changes, real, params.position, server.encoding)
    if found is None:
        return None
    return lsp.Hover(
        lsp.MarkupContent(lsp.MarkupKind.Markdown, visible(found.text)), server.range(found.span)
    )


class _Hover(NamedTuple):
    """`times`: whether a task is meant."""

    text: str
    span: Span
    times: bool = False


def _hover_before(
    changes: ChangedStatements, real: str, position: lsp.Position, encoding: str
) -> _Hover | None:
    """What is known without another analysis."""
    place = place_of(position, changes.files[real].lines, encoding)
    old = changes.before(real, *place)
    if old is not None:
        found = _hover(changes.last, changes.last.files[real], old)
        span = None if found is None else changes.moved(found.span)
        if found is None or span is None:
            return None
        return _Hover(f"{found.text}\n\n{_OF_BEFORE if changes.last.whole else _TO_FOLLOW}", span)
    read = changes.around(real, *place)
    found = None if read is None else _hover(read, read.files[real], place)
    if found is None:
        return None
    return _Hover(f"{found.text}\n\n{_TO_FOLLOW}", found.span._replace(file=changes.files[real]))


def _hover(analysis: SystemSnapshot, source: SourceFile, place: tuple[int, int]) -> _Hover | None:
    setting = analysis.index.setting_at(str(source.path), *place)
    use = analysis.index.at(str(source.path), *place)
    times = use is not None and use.symbol.kind == "instance" and not analysis.has_responses
    texts = [
        hover_setting(setting) if setting else None,
        hover(analysis, use) if use else None,
        _TIMES_FOLLOW if times else None,
    ]
    text = "\n\n".join(text for text in texts if text)
    span = use.whole if use else setting.name.span if setting else None
    if text and span is not None:
        return _Hover(text, span, times)
    word = hover_word(source.text, *place)
    if word is None:
        return None
    text, first, last = word
    return _Hover(text, Span(source, place[0], first, place[0], last))


async def definition(server: Server, params: lsp.DefinitionParams) -> lsp.Location | None:
    if not path_of(params.text_document.uri).endswith(SUFFIXES):
        code = await server.in_code(params.text_document.uri, params.position)
        return None if code is None else server.location(code.whole.name.span)
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
