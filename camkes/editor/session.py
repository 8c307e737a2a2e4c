# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The state of a session with an editor, and functions that its requests share."""

from __future__ import annotations

import asyncio
import os
import re
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from camkes import __version__
from camkes.diagnostics import Diagnostic, Severity, SourceFile, Span
from camkes.editor import convert
from camkes.editor.index import NameUse
from camkes.editor.protocol import ValidatingProtocol
from camkes.editor.workspace import SystemSnapshot, Workspace
from camkes.scaffold.stubs import text_of

#: The files that are ours.
SUFFIXES = (".camkes", ".idl4")

#: How long after a change the diagnostics are made, if no other change follows: in seconds, and more for each
#: MiB of open texts, about half of the time that their analysis takes.
DELAY, DELAY_PER_MIB = 0.2, 1.0

#: Characters of a text that is analysed; of such a text that takes several seconds.
LARGEST = 2 * 2**20

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}

#: Diagnostics of text that has no effect, which editors show faded.
_WITHOUT_EFFECT = re.compile(r"no effect|not used|unused|ignored")


class Feature(NamedTuple):
    """A message of the protocol, and the function that answers it: with a `Server` and the parameters.
    `options` are the capabilities that the server announces."""

    method: str
    answer: Callable[..., Awaitable[object]]
    options: object = None


class Server(LanguageServer):
    """The state of a session. Analyses run in a thread of their own, one at a time: one that was begun goes
    on, one that waits and is not wanted any more is dropped, and each is of the texts when it begins."""

    def __init__(self) -> None:
        super().__init__(
            "camkes",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
            protocol_cls=ValidatingProtocol,
        )
        self.files = Workspace()
        self.worker = ThreadPoolExecutor(1, "analysis")
        self.pending: asyncio.Task[None] | None = None
        self.published: set[str] = set()
        self.said_unasked: set[str] = set()
        self.commands: frozenset[str] = frozenset()  # that the editor can run for a lens
        self.dismissed = False  # by the editor, before it leaves

    def take(self, uri: str, text: str) -> None:
        """Work on a text from now on, if it is one of ours and not too large."""
        path = path_of(uri)
        if not path.endswith(SUFFIXES):  # editors may send other plain texts too
            return
        if len(text) <= LARGEST:
            self.files.open(path, text)
            self.changed()
            return
        self.files.close(path)
        message = (
            f"this file has {len(text) // 1024} KiB, but at most {LARGEST // 1024} are checked in the editor"
        )
        start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        note = lsp.Diagnostic(start, message, lsp.DiagnosticSeverity.Information, source="camkes")
        self.publish(path, [note])

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A message that cannot be understood goes to the log: it is not the fault of the user."""
        self.window_log_message(
            lsp.LogMessageParams(lsp.MessageType.Error, f"{type(error).__name__}: {error}")
        )

    @property
    def encoding(self) -> str:
        encoding = self.workspace.position_encoding or "utf-16"
        return str(getattr(encoding, "value", encoding))

    async def analysis(self, path: str) -> SystemSnapshot:
        return await asyncio.get_running_loop().run_in_executor(self.worker, self.files.analysis, path)

    async def file(self, uri: str) -> tuple[SystemSnapshot, SourceFile] | None:
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
        await asyncio.sleep(DELAY + DELAY_PER_MIB * sum(map(len, self.files.buffers.values())) / 2**20)
        loop = asyncio.get_running_loop()
        try:
            analyses = await loop.run_in_executor(self.worker, self.files.open_analyses)
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
                f"CMake is not run in {folder}, because its CMakeLists.txt can run programs. The sources "
                "and flags declared there are not known. If you trust the folder, run "
                f"`camkes trust {folder}`, or set the initialization option `trusted` in your editor."
            )
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))
        self.said_unasked |= self.files.unasked

    def publish(self, path: str, diagnostics: list[lsp.Diagnostic]) -> None:
        uri = self.uri(path)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics))

    def uri(self, path: str | Path) -> str:
        """The name of a file as the editor gives it, where it has it open."""
        real = os.path.realpath(path)
        for uri in self.workspace.text_documents:
            if os.path.realpath(path_of(uri)) == real:
                return str(uri)
        return from_fs_path(str(path)) or ""

    def text(self, path: Path) -> str | None:
        """The text of a file, as the editor has it where it is open; None if there is no such file."""
        for uri, document in self.workspace.text_documents.items():
            if os.path.realpath(path_of(uri)) == os.path.realpath(path):
                return str(document.source)
        return text_of(path)

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
    ) -> tuple[SystemSnapshot, SourceFile, tuple[int, int]] | None:
        """A place in an open file: line and column."""
        found = await self.file(uri)
        if found is None:
            return None
        return *found, convert.place_of(position, found[1].lines, self.encoding)

    async def use(self, uri: str, position: lsp.Position) -> tuple[SystemSnapshot, NameUse] | None:
        """The name at a place."""
        found = await self.place(uri, position)
        if found is None:
            return None
        analysis, source, place = found
        use = analysis.index.at(str(source.path), *place)
        return None if use is None else (analysis, use)


def path_of(uri: str) -> str:
    return to_fs_path(uri) or uri
