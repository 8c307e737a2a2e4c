# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An editor for tests: a client that talks to the server of `camkes lsp` in this process. That the command
serves it on its standard input and output is for `test_malformed.py` and `test_setup.py`."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from lsprotocol import types as lsp
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from camkes.editor.server import make_server
from camkes.editor.session import Server

TIMEOUT = 30


class Editor:
    """Open files, and questions about places in them. A place is a piece of text, `|` in it is the cursor."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.diagnostics: dict[str, list[lsp.Diagnostic]] = {}
        self.round = asyncio.Event()  # the diagnostics of all files have come
        self.shown: list[str] = []  # messages
        self.registered: dict[str, object] = {}  # options of what is registered later, by method

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.diagnostics[Path(params.uri).name] = list(params.diagnostics)

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def show(params: lsp.ShowMessageParams) -> None:
            self.shown.append(params.message)

        @client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
        def register(params: lsp.RegistrationParams) -> None:
            self.registered |= {each.method: each.register_options for each in params.registrations}

        @client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
        def refresh(params: None) -> None:
            self.round.set()  # the last message of a round

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def name(self, uri: str) -> str:
        return uri.removeprefix(f"{self.folder.as_uri()}/")

    def open(self, name: str, text: str | None = None) -> None:
        text = (self.folder / name).read_text() if text is None else text
        self.texts[name], self.versions[name] = text, 1
        self.client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(self.uri(name), "camkes", 1, text))
        )

    def change(self, name: str, text: str) -> None:
        self.texts[name] = text
        self.versions[name] += 1
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name)),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def replace(self, name: str, before: str, after: str) -> None:
        assert before in self.texts[name]
        self.change(name, self.texts[name].replace(before, after, 1))

    async def settled(self, name: str) -> list[lsp.Diagnostic]:
        """The diagnostics of a file after the next round of them."""
        self.round.clear()
        await asyncio.wait_for(self.round.wait(), TIMEOUT)
        return self.diagnostics.get(name, [])

    def place(self, name: str, text: str) -> tuple[lsp.TextDocumentIdentifier, lsp.Position]:
        before, _, after = text.partition("|")
        found = self.texts[name].index(before + after) + len(before)
        lines = self.texts[name][:found].split("\n")
        position = lsp.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)
        return lsp.TextDocumentIdentifier(self.uri(name)), position

    def text_of(self, location: lsp.Location) -> str:
        """`file:line:text` of a place."""
        name = self.name(location.uri)
        lines = (self.texts.get(name) or (self.folder / name).read_text()).split("\n")
        start, end = location.range.start, location.range.end
        return f"{name}:{start.line + 1}:{lines[start.line][start.character : end.character]}"

    async def hover(self, name: str, text: str) -> str:
        """The hover when all of it is known."""
        async with asyncio.timeout(TIMEOUT):
            while "hover again" in (found := await self.first_hover(name, text)):
                await asyncio.sleep(0.1)
        return found

    async def first_hover(self, name: str, text: str) -> str:
        """What is said at once."""
        found = await self.client.text_document_hover_async(lsp.HoverParams(*self.place(name, text)))
        if found is None:
            return ""
        assert isinstance(found.contents, lsp.MarkupContent)
        return found.contents.value

    async def definition(self, name: str, text: str) -> str:
        found = await self.client.text_document_definition_async(
            lsp.DefinitionParams(*self.place(name, text))
        )
        assert found is None or isinstance(found, lsp.Location)
        return "" if found is None else self.text_of(found)

    async def references(self, name: str, text: str) -> list[str]:
        found = await self.client.text_document_references_async(
            lsp.ReferenceParams(lsp.ReferenceContext(True), *self.place(name, text))
        )
        return [self.text_of(each) for each in found or []]

    async def rename(self, name: str, text: str, new: str) -> dict[str, str]:
        """The texts of the files that change."""
        identifier, position = self.place(name, text)
        edit = await self.client.text_document_rename_async(lsp.RenameParams(identifier, position, new))
        assert edit is not None and edit.changes is not None
        result = {}
        for uri, edits in edit.changes.items():
            file = self.name(uri)
            lines = (self.texts.get(file) or (self.folder / file).read_text()).split("\n")
            for each in reversed(edits):
                start, end = each.range.start, each.range.end
                line = lines[start.line]
                lines[start.line] = line[: start.character] + each.new_text + line[end.character :]
            result[file] = "\n".join(lines)
        return result

    async def complete(self, name: str, text: str) -> list[str]:
        found = await self.client.text_document_completion_async(
            lsp.CompletionParams(*self.place(name, text))
        )
        items = found.items if isinstance(found, lsp.CompletionList) else found or []
        return [item.label for item in sorted(items, key=lambda item: item.sort_text or item.label)]

    async def hints(self, name: str) -> dict[str, str]:
        """Hints by the line they stand on."""
        lines = self.texts[name].split("\n")
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(lines), 0))
        found = await self.client.text_document_inlay_hint_async(
            lsp.InlayHintParams(lsp.TextDocumentIdentifier(self.uri(name)), whole)
        )
        return {lines[h.position.line][: h.position.character].strip(): str(h.label) for h in found or []}

    async def actions(self, name: str, diagnostic: lsp.Diagnostic) -> list[tuple[str, str, str]]:
        """Title, what is replaced, by what."""
        found = await self.client.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(self.uri(name)),
                diagnostic.range,
                lsp.CodeActionContext([diagnostic]),
            )
        )
        result = []
        for action in found or []:
            assert isinstance(action, lsp.CodeAction) and action.edit and action.edit.changes
            ((uri, (edit,)),) = action.edit.changes.items()
            result.append((action.title, self.text_of(lsp.Location(uri, edit.range)), edit.new_text))
        return result

    async def format(self, name: str) -> str | None:
        found = await self.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(
                lsp.TextDocumentIdentifier(self.uri(name)), lsp.FormattingOptions(4, True)
            )
        )
        return None if not found else found[0].new_text

    async def symbols(self, name: str) -> list[lsp.DocumentSymbol]:
        found = await self.client.text_document_document_symbol_async(
            lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(self.uri(name)))
        )
        return [each for each in found or [] if isinstance(each, lsp.DocumentSymbol)]


def _serve(server: Server, end: socket.socket) -> None:
    with end, end.makefile("rb") as stdin, end.makefile("wb") as stdout:
        server.start_io(stdin, stdout)


@asynccontextmanager
async def editor(
    folder: Path,
    *,
    trusted: bool = True,
    definitions: Mapping[str, str] | None = None,
    snippets: bool = False,
    dynamic: bool = False,
) -> AsyncIterator[Editor]:
    """A session in a folder, with the server of `camkes lsp` in a thread. A server that does not end well is
    an error."""
    client, server = LanguageClient("tests", "1"), make_server()
    here, there = socket.socketpair()
    serving = asyncio.create_task(asyncio.to_thread(_serve, server, there))
    reader, writer = await asyncio.open_connection(sock=here)
    client.protocol.set_writer(writer)
    reading = asyncio.create_task(
        run_async(stop_event=client._stop_event, reader=reader, protocol=client.protocol)
    )
    session = Editor(client, folder)
    hints = lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    completion = lsp.CompletionClientCapabilities(
        completion_item=lsp.ClientCompletionItemOptions(snippet_support=snippets)
    )
    parameters = lsp.InitializeParams(
        lsp.ClientCapabilities(
            workspace=lsp.WorkspaceClientCapabilities(inlay_hint=hints),
            text_document=lsp.TextDocumentClientCapabilities(
                synchronization=lsp.TextDocumentSyncClientCapabilities(dynamic_registration=dynamic),
                completion=completion,
                definition=lsp.DefinitionClientCapabilities(dynamic_registration=dynamic),
                rename=lsp.RenameClientCapabilities(dynamic_registration=dynamic),
                signature_help=lsp.SignatureHelpClientCapabilities(dynamic_registration=dynamic),
            ),
        ),
        root_uri=folder.as_uri(),
        initialization_options={
            "trusted": trusted,
            "definitions": dict(definitions or {}),
            "commands": ["camkes.run", "camkes.debug", "camkes.analyze"],
        },
    )
    try:
        await asyncio.wait_for(client.initialize_async(parameters), TIMEOUT)
        client.initialized(lsp.InitializedParams())
        yield session
        await asyncio.wait_for(client.shutdown_async(None), TIMEOUT)
        client.exit(None)
        await asyncio.wait_for(serving, TIMEOUT)
    finally:
        with suppress(OSError):  # the reading has ended, and closed it
            here.shutdown(socket.SHUT_RDWR)  # ends the server, if it still runs, and the reading
        await asyncio.wait_for(asyncio.gather(serving, reading, return_exceptions=True), TIMEOUT)
        writer.close()
    assert server.dismissed
