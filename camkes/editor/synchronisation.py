# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files that the editor opens, changes and closes, and the begin and end of a session."""

from __future__ import annotations

from lsprotocol import types as lsp

from camkes.editor.session import SUFFIXES, Feature, Server, path_of


async def initialize(server: Server, params: lsp.InitializeParams) -> None:
    """`trusted`: CMake may run for all folders of the session; `definitions` are those of -D of the command
    line, by name; `commands` names those that the editor can run."""
    given = params.initialization_options
    options = given if isinstance(given, dict) else getattr(given, "_asdict", dict)()
    server.files.trusts_all = options.get("trusted") is True
    definitions = options.get("definitions")
    definitions = definitions if isinstance(definitions, dict) else getattr(definitions, "_asdict", dict)()
    server.files.definitions = {name: str(value) for name, value in definitions.items()}
    commands = options.get("commands")
    server.commands = frozenset(commands) if isinstance(commands, list | tuple) else frozenset()


async def initialized(server: Server, params: lsp.InitializedParams) -> None:
    """Register for changes on disk, and for requests about names in C code."""
    workspace, document = server.client_capabilities.workspace, server.client_capabilities.text_document
    watching = workspace.did_change_watched_files if workspace else None
    registrations = []
    if watching is not None and watching.dynamic_registration:
        watchers = [lsp.FileSystemWatcher("**/*.{camkes,idl4}"), lsp.FileSystemWatcher("**/CMakeLists.txt")]
        files = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
        registrations.append(lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, files))
    code = [lsp.TextDocumentFilterLanguage(name, scheme="file") for name in ("c", "cpp")]
    synchronised = document.synchronization if document is not None else None
    if synchronised is not None and synchronised.dynamic_registration:  # texts that are not saved
        options: list[tuple[str, object]] = [
            (lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TextDocumentRegistrationOptions(code)),
            (
                lsp.TEXT_DOCUMENT_DID_CHANGE,
                lsp.TextDocumentChangeRegistrationOptions(lsp.TextDocumentSyncKind.Incremental, code),
            ),
            (lsp.TEXT_DOCUMENT_DID_CLOSE, lsp.TextDocumentRegistrationOptions(code)),
        ]
        registrations += [lsp.Registration(f"code {name}", name, each) for name, each in options]
    if document is not None and document.definition and document.definition.dynamic_registration:
        options_of_definition = lsp.DefinitionRegistrationOptions(code)
        registrations.append(lsp.Registration("code", lsp.TEXT_DOCUMENT_DEFINITION, options_of_definition))
    if document is not None and document.rename and document.rename.dynamic_registration:
        options_of_rename = lsp.RenameRegistrationOptions(code, prepare_provider=True)
        registrations.append(lsp.Registration("rename in code", lsp.TEXT_DOCUMENT_RENAME, options_of_rename))
    if document is not None and document.signature_help and document.signature_help.dynamic_registration:
        options_of_calls = lsp.SignatureHelpRegistrationOptions(code, trigger_characters=["(", ","])
        method = lsp.TEXT_DOCUMENT_SIGNATURE_HELP
        registrations.append(lsp.Registration("calls in code", method, options_of_calls))
    if registrations:
        await server.client_register_capability_async(lsp.RegistrationParams(registrations))


async def dismissed(server: Server, params: None) -> None:
    server.dismissed = True


async def opened(server: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    server.take(params.text_document.uri, params.text_document.text)


async def changed(server: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    server.take(uri, server.workspace.get_text_document(uri).source)


async def closed(server: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    if not params.text_document.uri.endswith(SUFFIXES):
        return
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
