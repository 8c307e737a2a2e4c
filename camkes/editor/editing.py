# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests that lead to changes: completion, renaming, formatting, fixes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from camkes.backends.host.codes import LINK_ERROR
from camkes.diagnostics import Sink, Span
from camkes.editor import convert
from camkes.editor.code_names import CodeRename, rename_in_code
from camkes.editor.complete import Entry, Sort, complete
from camkes.editor.fixes import Fix, fixes, missing_handlers
from camkes.editor.index import NamedSymbol
from camkes.editor.rename import RefusedError, check_damage, check_name, check_symbol
from camkes.editor.session import SUFFIXES, Feature, Server, path_of
from camkes.editor.workspace import SystemSnapshot
from camkes.format import format_file
from camkes.parser.parse import ParseOptions

_COMPLETIONS = {
    "procedure": lsp.CompletionItemKind.Interface,
    "struct": lsp.CompletionItemKind.Struct,
    "connector": lsp.CompletionItemKind.Operator,
    "component": lsp.CompletionItemKind.Class,
    "interface": lsp.CompletionItemKind.Property,
    "attribute": lsp.CompletionItemKind.Field,
    "setting": lsp.CompletionItemKind.Property,
    "instance": lsp.CompletionItemKind.Variable,
    "connection": lsp.CompletionItemKind.Event,
    "protocol": lsp.CompletionItemKind.EnumMember,
}


#: Kinds of symbols of which C code has names.
_IN_CODE = ("method", "interface", "mutex", "attribute")


async def completion(server: Server, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    path = Path(path_of(params.text_document.uri))
    text = server.files.buffers.get(os.path.realpath(path))
    if text is None:
        return []
    analysis = await server.at_hand(str(path))  # names that were written just now may be missing
    offset = convert.offset_of(params.position, text, server.encoding)
    found = complete(analysis, path, text, offset)
    return [
        _completion(entry) for entry in found if entry.sort is not Sort.SNIPPET or _takes_snippets(server)
    ]


def _takes_snippets(server: Server) -> bool:
    document = server.client_capabilities.text_document
    items = document.completion.completion_item if document and document.completion else None
    return bool(items and items.snippet_support)


async def prepare(server: Server, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    found = await _renamed(server, params.text_document.uri, params.position)
    if found is None:
        return None
    analysis, symbol, span = found
    with _refusals():
        check_symbol(analysis, symbol)
    return server.range(span)


async def rename(server: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    """In the files of the system and in its C code; what cannot be certain is refused, what is elsewhere
    said."""
    found = await _renamed(server, params.text_document.uri, params.position)
    if found is None:
        return None
    analysis, symbol, _ = found
    code = CodeRename()
    with _refusals():
        check_symbol(analysis, symbol)
        check_name(analysis, symbol, params.new_name)
        check_damage(analysis, symbol)
        if symbol.kind in _IN_CODE:
            read = server.texts()
            code = await asyncio.to_thread(rename_in_code, analysis, symbol, params.new_name, read)
    changes: dict[str, list[lsp.TextEdit]] = {}
    edits = [(each.span, params.new_name) for each in analysis.index.uses_of(symbol)] + code.edits
    for span, text in sorted(set(edits), key=lambda each: _order(each[0])):
        changes.setdefault(server.uri(span.file.path), []).append(lsp.TextEdit(server.range(span), text))
    if code.left:
        text = f"`{symbol.name.text}` was renamed. Look at what was left: {'; '.join(code.left)}."
        server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, text))
    return lsp.WorkspaceEdit(changes=changes)


async def _renamed(
    server: Server, uri: str, position: lsp.Position
) -> tuple[SystemSnapshot, NamedSymbol, Span] | None:
    """What is at a place of a system or of C code, and where its name is there."""
    if path_of(uri).endswith(SUFFIXES):
        found = await server.use(uri, position)
        return None if found is None else (found[0], found[1].symbol, found[1].span)
    code = await server.in_code(uri, position)
    return None if code is None else (code.analysis, code.symbol, code.span)


async def formatting(server: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    found = await server.file(params.text_document.uri)
    if found is None:
        return None
    analysis, source = found
    flags, folders = analysis.options.cpp_flags, analysis.options.include_path
    options = ParseOptions(cpp_flags=flags, include_path=folders)
    formatted = await asyncio.to_thread(format_file, source, Sink(), options=options)
    if formatted is None or formatted == source.text:
        return None
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(source.lines), 0))
    return [lsp.TextEdit(whole, formatted)]


async def actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    file = await server.file(params.text_document.uri)
    if file is None:
        return []
    analysis, source = file
    result = []
    for diagnostic in analysis.diagnostics:
        span = diagnostic.span
        if span is None or span.file.path != source.path:
            continue
        shown = server.diagnostic(diagnostic, span)
        first, last = shown.range.start.line, shown.range.end.line
        if last < params.range.start.line or first > params.range.end.line:
            continue
        found = fixes(analysis, diagnostic)
        result += [_action(server, fix, [shown], preferred=len(found) == 1) for fix in found]
    lines = params.range.start.line + 1, params.range.end.line + 1
    told = [each for each in params.context.diagnostics if each.code == LINK_ERROR.number]  # by a build
    missing = missing_handlers(analysis, source, *lines, server.text)
    return result + [_action(server, fix, told, preferred=bool(told)) for fix in missing]


def _action(server: Server, fix: Fix, shown: list[lsp.Diagnostic], *, preferred: bool) -> lsp.CodeAction:
    edits = {server.uri(fix.span.file.path): [lsp.TextEdit(server.range(fix.span), fix.text)]}
    return lsp.CodeAction(
        fix.title,
        lsp.CodeActionKind.QuickFix,
        shown or None,
        is_preferred=preferred,
        edit=lsp.WorkspaceEdit(changes=edits),
    )


def _completion(entry: Entry) -> lsp.CompletionItem:
    kinds = {Sort.WORD: lsp.CompletionItemKind.Keyword, Sort.FILE: lsp.CompletionItemKind.File}
    kind = kinds.get(entry.sort) or _COMPLETIONS.get(entry.kind, lsp.CompletionItemKind.Text)
    if entry.sort is Sort.SNIPPET:
        return lsp.CompletionItem(
            entry.text,
            kind=lsp.CompletionItemKind.Snippet,
            insert_text=entry.detail,
            insert_text_format=lsp.InsertTextFormat.Snippet,
            filter_text=f"{entry.detail.split()[0]} {entry.text}",
            sort_text=f"{entry.sort.value}{entry.text}",
        )
    order = f"{entry.sort.value}{entry.rank:06}{entry.text}"
    return lsp.CompletionItem(entry.text, kind=kind, detail=entry.detail or None, sort_text=order)


def _order(span: Span) -> tuple[str, int, int]:
    return str(span.file.path), span.line, span.column


@contextmanager
def _refusals() -> Iterator[None]:
    """What cannot be renamed is an error that the editor shows."""
    try:
        yield
    except RefusedError as error:
        raise JsonRpcException(str(error), lsp.LSPErrorCodes.RequestFailed) from error


FEATURES = (
    Feature(
        lsp.TEXT_DOCUMENT_COMPLETION, completion, lsp.CompletionOptions(trigger_characters=[".", "<", '"'])
    ),
    Feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME, prepare),
    Feature(lsp.TEXT_DOCUMENT_RENAME, rename, lsp.RenameOptions(prepare_provider=True)),
    Feature(lsp.TEXT_DOCUMENT_FORMATTING, formatting),
    Feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        actions,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    ),
)
