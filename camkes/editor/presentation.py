# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests about how a text is shown: hints in it, colours of names, commands above an assembly."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as lsp

from camkes.diagnostics import Span
from camkes.editor.hover import hints
from camkes.editor.index import NamedSymbol
from camkes.editor.session import Feature, Server
from camkes.parser import ast

#: The colour of a name, by the kind of its symbol.
_TOKENS = {
    "procedure": "interface",
    "struct": "struct",
    "connector": "macro",
    "component": "class",
    "method": "method",
    "interface": "property",
    "mutex": "property",
    "attribute": "property",
    "instance": "variable",
    "group": "namespace",
    "connection": "function",
}
_TYPES = list(dict.fromkeys(_TOKENS.values()))
_MODIFIERS = ["declaration"]

#: What an editor runs for a lens; one that can names these commands in the initialization option `commands`.
LENSES = {"camkes.run": "run", "camkes.debug": "debug", "camkes.analyze": "analyze"}


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


async def tokens(server: Server, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    found = await server.file(params.text_document.uri)
    if found is None:
        return lsp.SemanticTokens([])
    analysis, source = found
    uses = analysis.index.uses.get(str(source.path), ())
    return lsp.SemanticTokens(_encoded(server, ((use.span, use.symbol) for use in uses if use.literal)))


def _encoded(server: Server, names: Iterable[tuple[Span, NamedSymbol]]) -> list[int]:
    """Five numbers for each name: lines and characters since the last one, its length, type and modifiers."""
    data: list[int] = []
    line = character = 0
    for span, symbol in sorted(dict(names).items(), key=lambda each: (each[0].line, each[0].column)):
        place = server.range(span)
        start, end = place.start, place.end
        same = start.line == line and bool(data)
        kind = _TYPES.index(_TOKENS[symbol.kind])
        data += [
            start.line - line,
            start.character - character if same else start.character,
            end.character - start.character,
            kind,
            int(span == symbol.name.span),
        ]
        line, character = start.line, start.character
    return data


async def lenses(server: Server, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    found = await server.file(params.text_document.uri)
    if found is None or not server.commands:
        return []
    analysis, source = found
    assemblies = [
        item
        for item in analysis.program.items
        if isinstance(item, ast.AssemblyDecl) and item.span.file is source
    ]
    lists = analysis.application.lists
    path = str(lists.parent if lists is not None else source.path)
    return [
        lsp.CodeLens(server.range(item.span), lsp.Command(title, name, arguments=[path]))
        for item in assemblies
        for name, title in LENSES.items()
        if name in server.commands
    ]


FEATURES = (
    Feature(lsp.TEXT_DOCUMENT_INLAY_HINT, inlay),
    Feature(
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        tokens,
        lsp.SemanticTokensLegend(_TYPES, _MODIFIERS),
    ),
    Feature(lsp.TEXT_DOCUMENT_CODE_LENS, lenses),
)
