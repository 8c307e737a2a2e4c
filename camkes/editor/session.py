# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The state of a session with an editor, and functions that its requests share."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import traceback
from collections.abc import Awaitable, Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from camkes import __version__
from camkes.analysis.verdict import TaskResult
from camkes.diagnostics import Diagnostic, Severity, SourceFile, Span
from camkes.editor import convert
from camkes.editor.code import meaning
from camkes.editor.index import NamedSymbol, NameUse
from camkes.editor.protocol import ValidatingProtocol
from camkes.editor.workspace import SystemSnapshot, Workspace
from camkes.scaffold.stubs import ReadText, text_of

#: The files that are ours.
SUFFIXES = (".camkes", ".idl4")

#: How long after a change the diagnostics are made, if no other change follows: in seconds, and more for each
#: MiB of open texts, about half of the time that their analysis takes.
DELAY, DELAY_PER_MIB = 0.2, 1.0

#: How long after a change what is known of the changed statements is made, in seconds.
QUICK_DELAY = 0.01

#: When memory is collected, which can stop an answer for some tenths of a second: after so many seconds
#: without a change, or so many analyses.
IDLE, MOST_UNCOLLECTED = 5.0, 10

#: How long an answer waits for an analysis, in seconds, where an older one, or a part of it, has an answer
#: too.
PATIENCE = 0.05

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


class CodeUse(NamedTuple):
    """A name in C code: `symbol` is what the part at the cursor, which is at `span`, names; `whole` the
    method that the whole of it names, if it names one."""

    analysis: SystemSnapshot
    symbol: NamedSymbol
    whole: NamedSymbol
    span: Span


class Server(LanguageServer):
    """The state of a session. Analyses run in a thread of their own, one at a time: one that was begun goes
    on, one that waits and is not wanted any more is dropped, and each is of the texts when it begins."""

    def __init__(self) -> None:
        super().__init__(
            "camkes",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
            protocol_cls=ValidatingProtocol,
        )
        self.files = Workspace()
        self.worker = ThreadPoolExecutor(1, "analysis")
        self.timing = ThreadPoolExecutor(1, "times")
        self.uncollected = 0  # analyses since memory was collected
        self.computed: asyncio.Future[dict[str, TaskResult]] | None = None
        self.pending: asyncio.Task[None] | None = None
        self.shown: dict[str, list[lsp.Diagnostic]] = {}  # by path
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
            self.changed(path)
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

    async def soon(self, path: str) -> SystemSnapshot | None:
        """The analysis of a file, if it is there after `PATIENCE`."""
        known = self.files.known(path)
        if known is not None:
            return known
        with suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(self.analysis(path)), PATIENCE)
        return None

    async def at_hand(self, path: str) -> SystemSnapshot:
        """The analysis of a file, or the last one of older texts."""
        return await self.soon(path) or self.files.last(path) or await self.analysis(path)

    async def timed(self, analysis: SystemSnapshot) -> None:
        """Let the responses of tasks be computed, when those of an older analysis have been; they may not yet
        be there."""
        if analysis.has_responses:
            return
        if self.computed is None or self.computed.done():
            loop = asyncio.get_running_loop()
            self.computed = loop.run_in_executor(self.timing, lambda: analysis.responses)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self.computed), PATIENCE)

    def changed(self, path: str | None = None) -> None:
        """Diagnose soon: what changed in the file at `path` first, and all when there is a pause in
        typing."""
        if self.pending is not None:
            self.pending.cancel()
        self.pending = asyncio.get_running_loop().create_task(self.diagnose(path))

    async def diagnose(self, path: str | None) -> None:
        try:
            if path is not None:
                await asyncio.sleep(QUICK_DELAY)
                self.diagnose_changes(path)
            size = sum(map(len, self.files.buffers.values()))
            await asyncio.sleep(DELAY + DELAY_PER_MIB * size / 2**20)
            analyses = await asyncio.get_running_loop().run_in_executor(self.worker, self.files.open_analyses)
        except Exception:  # a defect of ours must not silence the rest of the session
            text = f"this is a defect of camkes:\n{traceback.format_exc()}"
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, text))
            return
        self.say_unasked()
        self.show(
            (diagnostic, diagnostic.span or Span(analysis.program.root, 1, 1, 1, 1))
            for analysis in analyses
            for diagnostic in analysis.diagnostics
        )
        if self.client_capabilities.workspace and self.client_capabilities.workspace.inlay_hint:
            self.workspace_inlay_hint_refresh(None)
        if not gc.isenabled():
            self.uncollected += 1
            if self.uncollected < MOST_UNCOLLECTED:
                await asyncio.sleep(IDLE)  # a change ends this task
            self.uncollected = 0
            asyncio.get_running_loop().run_in_executor(self.worker, gc.collect)

    def diagnose_changes(self, path: str) -> None:
        """Show the errors in changed statements, where these can be read by themselves."""
        changes = self.files.changed_statements(path)
        found = changes.diagnostics() if changes is not None and changes.last.whole else None
        if changes is not None and found is not None:
            root = changes.last.program.root
            own = {os.path.realpath(file.path) for file in changes.last.program.files}
            spans = ((each, each.span or Span(root, 1, 1, 1, 1)) for each in found)
            self.show(spans, keep={real for real in self.shown if real not in own})

    def show(self, found: Iterable[tuple[Diagnostic, Span]], keep: Collection[str] = ()) -> None:
        """Show diagnostics, each at its place, in place of all others but those of the files to `keep`."""
        by_file: dict[str, list[lsp.Diagnostic]] = {path: [] for path in self.files.buffers}
        seen: set[object] = set()
        for diagnostic, span in found:
            shown = self.diagnostic(diagnostic, span)
            real = self.files.real(span.file.path)
            start, end = shown.range.start, shown.range.end
            key = real, start.line, start.character, end.line, end.character, shown.code, shown.message
            if key not in seen:
                seen.add(key)
                by_file.setdefault(real, []).append(shown)
        for path in sorted({*self.shown, *by_file}):
            if path not in keep and (path not in self.shown or self.shown[path] != by_file.get(path, [])):
                self.shown[path] = by_file.get(path, [])
                self.publish(path, self.shown[path])

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
        real = self.files.real(path)
        for uri in self.workspace.text_documents:
            if self.files.real(path_of(uri)) == real:
                return str(uri)
        return from_fs_path(str(path)) or ""

    def text(self, path: Path) -> str | None:
        """The text of a file, as the editor has it where it is open; None if there is no such file."""
        for uri, document in self.workspace.text_documents.items():
            if os.path.realpath(path_of(uri)) == os.path.realpath(path):
                return str(document.source)
        return text_of(path)

    def texts(self) -> ReadText:
        """What `text` gives, as it is now: for another thread."""
        documents = self.workspace.text_documents
        opened = {os.path.realpath(path_of(uri)): str(each.source) for uri, each in documents.items()}

        def read(path: Path) -> str | None:
            real = os.path.realpath(path)
            return opened[real] if real in opened else text_of(path)

        return read

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

    async def in_code(self, uri: str, position: lsp.Position) -> CodeUse | None:
        """What a name in C code refers to, in a system that has an open file."""
        lines = self.workspace.get_text_document(uri).lines
        if position.line >= len(lines):
            return None
        line, column = convert.place_of(position, lines, self.encoding)
        for name in sorted(self.files.buffers):
            analysis = await self.analysis(name)
            found = meaning(analysis, Path(path_of(uri)), lines[line - 1], column)
            if found is not None:
                symbol, method, first, last = found
                file = SourceFile(Path(path_of(uri)), "".join(lines))
                return CodeUse(analysis, symbol, method, Span(file, line, first, line, last))
        return None

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
