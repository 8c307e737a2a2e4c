# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes lsp`: the requests of an editor to calls of this package, and the answers back."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from camkes import __version__
from camkes.diagnostics import Diagnostic, Severity, Sink, SourceFile, Span
from camkes.editor import convert
from camkes.editor.complete import Entry, Sort, complete
from camkes.editor.hover import hints, hover, hover_setting
from camkes.editor.index import Use
from camkes.editor.outline import Item, outline
from camkes.editor.protocol import Protocol
from camkes.editor.rename import RefusedError, check_damage, check_name, check_symbol
from camkes.editor.workspace import Analysis, Workspace
from camkes.format import format_file
from camkes.parser.parse import ParseOptions
from camkes.resolve.nearest import suggested

#: The files that are ours.
SUFFIXES = (".camkes", ".idl4")

#: How long after a change the diagnostics are made, if no other change follows.
DELAY = 0.2

#: Characters of a text that is looked at: a larger one would keep all other answers waiting.
LARGEST = 256 * 1024

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}
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
#: What is said of something that has no effect, which editors show faded.
_WITHOUT_EFFECT = re.compile(r"no effect|not used|unused|ignored")


class Server(LanguageServer):
    """The state of a session. Analyses run in a thread of their own, one at a time."""

    def __init__(self) -> None:
        super().__init__(
            "camkes",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
            protocol_cls=Protocol,
        )
        self.files = Workspace()
        self.lock = asyncio.Lock()
        self.pending: asyncio.Task[None] | None = None
        self.published: set[str] = set()
        self.said_unasked: set[str] = set()
        self.dismissed = False  # by the editor, before it leaves

    def take(self, uri: str, text: str) -> None:
        """Work on a text from now on, if it is one of ours and not too large to answer soon."""
        path = path_of(uri)
        if not path.endswith(SUFFIXES):  # editors may send other plain texts too
            return
        if len(text) <= LARGEST:
            self.files.open(path, text)
            self.changed()
            return
        self.files.close(path)
        message = (
            f"this file has {len(text) // 1024} KiB, and more than {LARGEST // 1024} are not looked at here"
        )
        start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        note = lsp.Diagnostic(start, message, lsp.DiagnosticSeverity.Information, source="camkes")
        self.publish(path, [note])

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A message that cannot be understood is no matter of the user: it goes to the log."""
        self.window_log_message(
            lsp.LogMessageParams(lsp.MessageType.Error, f"{type(error).__name__}: {error}")
        )

    @property
    def encoding(self) -> str:
        encoding = self.workspace.position_encoding or "utf-16"
        return str(getattr(encoding, "value", encoding))

    async def analysis(self, path: str) -> Analysis:
        async with self.lock:
            return await asyncio.to_thread(self.files.analysis, path)

    async def file(self, uri: str) -> tuple[Analysis, SourceFile] | None:
        """An open file and the system it belongs to; None if it is none of ours."""
        real = os.path.realpath(path_of(uri))
        if real not in self.files.buffers:
            return None
        analysis = await self.analysis(path_of(uri))
        source = analysis.files.get(real)
        return None if source is None else (analysis, source)

    def changed(self) -> None:
        """Diagnose soon, and not before a pause in typing."""
        if self.pending is not None:
            self.pending.cancel()
        self.pending = asyncio.get_running_loop().create_task(self.diagnose())

    async def diagnose(self) -> None:
        await asyncio.sleep(DELAY)
        try:
            async with self.lock:
                analyses = await asyncio.to_thread(self.files.open_analyses)
        except Exception:  # a defect of ours must not silence the rest of the session
            text = f"this is a defect of camkes:\n{traceback.format_exc()}"
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, text))
            return
        self.say_unasked()
        found: dict[str, list[lsp.Diagnostic]] = {path: [] for path in self.files.buffers}
        for analysis in analyses:
            for diagnostic in analysis.diagnostics:
                span = diagnostic.span or Span(analysis.program.root, 1, 1, 1, 1)
                shown = self.diagnostic(diagnostic, span)
                at = found.setdefault(os.path.realpath(span.file.path), [])
                if shown not in at:
                    at.append(shown)
        for path in sorted(self.published - found.keys()):
            self.publish(path, [])
        for path, diagnostics in found.items():
            self.publish(path, diagnostics)
        self.published = {path for path, diagnostics in found.items() if diagnostics}
        if self.client_capabilities.workspace and self.client_capabilities.workspace.inlay_hint:
            self.workspace_inlay_hint_refresh(None)

    def say_unasked(self) -> None:
        """Tell the user, once for each folder, that CMake is not asked there."""
        for folder in sorted(self.files.unasked - self.said_unasked):
            text = (
                f"CMake is not asked about {folder}: its CMakeLists.txt can run programs. Sources and flags"
                f" that it declares are not known. If you trust the folder: `camkes trust {folder}`, or let"
                " your editor set the initialization option `trusted`."
            )
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))
        self.said_unasked |= self.files.unasked

    def publish(self, path: str, diagnostics: list[lsp.Diagnostic]) -> None:
        uri = self.uri(path)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics))

    def uri(self, path: str | Path) -> str:
        """The name of a file as the editor says it, where it has it open."""
        real = os.path.realpath(path)
        for uri in self.workspace.text_documents:
            if os.path.realpath(path_of(uri)) == real:
                return str(uri)
        return from_fs_path(str(path)) or ""

    def range(self, span: Span) -> lsp.Range:
        return convert.range_of(span, self.encoding)

    def location(self, span: Span) -> lsp.Location:
        return lsp.Location(self.uri(span.file.path), self.range(span))

    def diagnostic(self, diagnostic: Diagnostic, span: Span) -> lsp.Diagnostic:
        parts = [diagnostic.message]
        if diagnostic.label:
            parts[0] += f" ({diagnostic.label})"
        parts += [f"note: {note}" for note in diagnostic.notes]
        if diagnostic.help:
            parts.append(f"help: {diagnostic.help}")
        related = [
            lsp.DiagnosticRelatedInformation(self.location(label.span), label.text)
            for label in diagnostic.related
        ]
        faded = diagnostic.severity is not Severity.ERROR and _WITHOUT_EFFECT.search(
            f"{diagnostic.code.name} {diagnostic.message} {diagnostic.label}"
        )
        return lsp.Diagnostic(
            range=self.range(span),
            message="\n".join(parts),
            severity=_SEVERITIES[diagnostic.severity],
            code=diagnostic.code.number,
            source="camkes",
            related_information=related or None,
            tags=[lsp.DiagnosticTag.Unnecessary] if faded else None,
        )

    async def place(
        self, uri: str, position: lsp.Position
    ) -> tuple[Analysis, SourceFile, tuple[int, int]] | None:
        """A place in an open file: line and column."""
        found = await self.file(uri)
        if found is None:
            return None
        return *found, convert.place_of(position, found[1].lines, self.encoding)

    async def use(self, uri: str, position: lsp.Position) -> tuple[Analysis, Use] | None:
        """The name at a place."""
        found = await self.place(uri, position)
        if found is None:
            return None
        analysis, source, place = found
        use = analysis.index.at(str(source.path), *place)
        return None if use is None else (analysis, use)


def path_of(uri: str) -> str:
    return to_fs_path(uri) or uri


def make_server() -> Server:
    """A server with all its features."""
    server = Server()
    _add_synchronisation(server)
    _add_navigation(server)
    _add_editing(server)
    return server


def serve() -> bool:
    """Serve one editor until it leaves. Whether it said so before.

    The protocol gets standard output for itself; what anything else prints goes to standard error.
    """
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server = make_server()
        server.start_io(stdout=output)
        return server.dismissed


# Files -------------------------------------------------------------------------------------------


def _add_synchronisation(server: Server) -> None:
    @server.feature(lsp.INITIALIZE)
    async def initialize(params: lsp.InitializeParams) -> None:
        """`trusted` says that CMake may run for all folders of the session."""
        options = params.initialization_options
        given = options.get("trusted") if isinstance(options, dict) else getattr(options, "trusted", False)
        server.files.trusts_all = given is True

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        """Ask to hear of changes on disk."""
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        if watching is None or not watching.dynamic_registration:
            return
        watchers = [lsp.FileSystemWatcher("**/*.{camkes,idl4}"), lsp.FileSystemWatcher("**/CMakeLists.txt")]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await server.client_register_capability_async(lsp.RegistrationParams([registration]))

    @server.feature(lsp.SHUTDOWN)
    async def dismissed(params: None) -> None:
        server.dismissed = True

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.take(params.text_document.uri, params.text_document.text)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.take(uri, server.workspace.get_text_document(uri).source)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.files.close(path_of(params.text_document.uri))
        server.changed()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.files.forget()
        server.changed()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.files.forget()
        server.changed()


# Reading -----------------------------------------------------------------------------------------


def _add_navigation(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def show(params: lsp.HoverParams) -> lsp.Hover | None:
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

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
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

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        found = await server.use(params.text_document.uri, params.position)
        if found is None:
            return []
        analysis, use = found
        uses = analysis.index.uses_of(use.symbol)
        if not params.context.include_declaration:
            uses = [each for each in uses if each.span != use.symbol.name.span]
        return [server.location(each.span) for each in uses]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        found = await server.use(params.text_document.uri, params.position)
        if found is None:
            return []
        analysis, use = found
        uses = [each for each in analysis.index.uses_of(use.symbol) if each.span.file is use.span.file]
        return [lsp.DocumentHighlight(server.range(each.span)) for each in uses]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        found = await server.file(params.text_document.uri)
        if found is None:
            return []
        analysis, source = found
        return _symbols(server, outline(source, analysis.program.items))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
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


# Writing -----------------------------------------------------------------------------------------


def _add_editing(server: Server) -> None:
    options = lsp.CompletionOptions(trigger_characters=[".", "<", '"'])

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, options)
    async def completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        found = await server.file(params.text_document.uri)
        if found is None:
            return []
        analysis, source = found
        offset = convert.offset_of(params.position, source.text, server.encoding)
        return [_completion(entry) for entry in complete(analysis, source.path, source.text, offset)]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        found = await server.use(params.text_document.uri, params.position)
        if found is None:
            return None
        analysis, use = found
        with _refusals():
            check_symbol(analysis, use.symbol)
        return server.range(use.span)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        found = await server.use(params.text_document.uri, params.position)
        if found is None:
            return None
        analysis, use = found
        with _refusals():
            check_symbol(analysis, use.symbol)
            check_name(analysis, use.symbol, params.new_name)
            check_damage(analysis, use.symbol)
        changes: dict[str, list[lsp.TextEdit]] = {}
        for span in sorted({each.span for each in analysis.index.uses_of(use.symbol)}, key=_order):
            edits = changes.setdefault(server.uri(span.file.path), [])
            edits.append(lsp.TextEdit(server.range(span), params.new_name))
        return lsp.WorkspaceEdit(changes=changes)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
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

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        file = await server.file(uri)
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
            fix = _fix(diagnostic, span)
            if fix is None or last < params.range.start.line or first > params.range.end.line:
                continue
            wrong, right = fix
            edit = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(server.range(wrong), right)]})
            title, kind = f"Change to `{right}`", lsp.CodeActionKind.QuickFix
            result.append(lsp.CodeAction(title, kind, [shown], is_preferred=True, edit=edit))
        return result


def _completion(entry: Entry) -> lsp.CompletionItem:
    kinds = {Sort.WORD: lsp.CompletionItemKind.Keyword, Sort.FILE: lsp.CompletionItemKind.File}
    kind = kinds.get(entry.sort) or _COMPLETIONS.get(entry.kind, lsp.CompletionItemKind.Text)
    order = f"{entry.sort.value}{entry.rank:06}{entry.text}"
    return lsp.CompletionItem(entry.text, kind=kind, detail=entry.detail or None, sort_text=order)


def _order(span: Span) -> tuple[str, int, int]:
    return str(span.file.path), span.line, span.column


def _fix(diagnostic: Diagnostic, span: Span) -> tuple[Span, str] | None:
    """What to replace by the word that a diagnostic suggests."""
    right = suggested(diagnostic.help)
    if right is None or span.line != span.end_line:
        return None
    written = span.file.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    if right.startswith("import ") and written.startswith("import"):
        return span, right
    for quoted in re.findall(r"`([^`]+)`", diagnostic.message):
        for word in re.findall(r"\w+", quoted):
            places = [match.start() for match in re.finditer(rf"\b{word}\b", written)]
            if len(places) == 1 and word != right:
                start = span.column + places[0]
                return Span(span.file, span.line, start, span.line, start + len(word)), right
    return None


@contextmanager
def _refusals() -> Iterator[None]:
    """What cannot be renamed is an error that the editor shows."""
    try:
        yield
    except RefusedError as error:
        raise JsonRpcException(str(error), lsp.LSPErrorCodes.RequestFailed) from error
