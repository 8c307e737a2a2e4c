# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files that the editor opens, changes and closes, and the begin and end of a session."""

from __future__ import annotations

from lsprotocol import types as lsp

from camkes.editor.session import Feature, Server, path_of


async def initialize(server: Server, params: lsp.InitializeParams) -> None:
    """`trusted` says that CMake may run for all folders of the session."""
    options = params.initialization_options
    given = options.get("trusted") if isinstance(options, dict) else getattr(options, "trusted", False)
    server.files.trusts_all = given is True


async def initialized(server: Server, params: lsp.InitializedParams) -> None:
    """Ask to hear of changes on disk."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching is None or not watching.dynamic_registration:
        return
    watchers = [lsp.FileSystemWatcher("**/*.{camkes,idl4}"), lsp.FileSystemWatcher("**/CMakeLists.txt")]
    options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
    registration = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    await server.client_register_capability_async(lsp.RegistrationParams([registration]))


async def dismissed(server: Server, params: None) -> None:
    server.dismissed = True


async def opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    server.take(params.text_document.uri, params.text_document.text)


async def changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    server.take(uri, server.workspace.get_text_document(uri).source)


async def closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    server.files.close(path_of(params.text_document.uri))
    server.changed()


async def saved(server: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    server.files.forget()
    server.changed()


async def watched(server: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    server.files.forget()
    server.changed()


FEATURES = (
    Feature(lsp.INITIALIZE, initialize),
    Feature(lsp.INITIALIZED, initialized),
    Feature(lsp.SHUTDOWN, dismissed),
    Feature(lsp.TEXT_DOCUMENT_DID_OPEN, opened),
    Feature(lsp.TEXT_DOCUMENT_DID_CHANGE, changed),
    Feature(lsp.TEXT_DOCUMENT_DID_CLOSE, closed),
    Feature(lsp.TEXT_DOCUMENT_DID_SAVE, saved),
    Feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, watched),
)
