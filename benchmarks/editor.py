# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How soon the editor server answers in a system of 5,000 lines: 1,000 instances, 2,800 connections.

The system is that of `scale.py` (clusters), with execution times. An editor opens it and asks at once for a
hover; then one statement at a time is changed and changed back, and after each change a hover is asked for.
The processor time of the server until its answer is there, the median of all changes; with `--beside`, also
of that checkout, each in turn, and how many times as long it takes.

    .venv/bin/python benchmarks/editor.py [--rounds N] [--beside CHECKOUT]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from benchmarks.scale import write_clusters

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 120

#: what is written in place of what, and the code that is then reported
MISTAKES = (
    ("from lock2_15.to0", "from lock2_15.left", "E0302"),
    ("component Leaf leaf2_1;", "component Leef leaf2_1;", "E0203"),
    ("task3_4._priority = ", "task3_4._priority = 900", "E0602"),
    ("task5_2._wcet = 1 us;", "task5_2._wcet = 1 us", "E0131"),
    ("uses P to0;", "uses Q to0;", "E0203"),
)


def system() -> str:
    text = write_clusters(1000)
    servers = re.findall(r"component (?:Lock|Pass|Ceiling|Leaf) (\w+);", text)
    tasks = re.findall(r"component Task (\w+);", text)
    times = [f"{name}.p_wcet = {100 + index % 100} ns;" for index, name in enumerate(servers)]
    times += [f"{task}._wcet = 1 us;" for task in tasks]
    return "\n".join([text.rstrip()[:-3], *times, "} }\n"])


class Session:
    """A server of a checkout, which has the system open."""

    def __init__(self, folder: Path, text: str) -> None:
        self.client = LanguageClient("benchmark", "1")
        self.folder, self.text, self.version = folder, text, 1
        self.path = folder / "system.camkes"
        self.arrived = asyncio.Event()
        self.codes: set[str] = set()
        self.whole = asyncio.Event()  # all diagnostics are there

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.codes = {str(each.code) for each in params.diagnostics}
            self.arrived.set()

        @self.client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
        def refresh(params: None) -> None:
            self.whole.set()

    async def begin(self, checkout: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        await self.client.start_io(sys.executable, "-m", "camkes", "lsp", env=environment, cwd=self.folder)
        hints = lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)
        capabilities = lsp.ClientCapabilities(workspace=lsp.WorkspaceClientCapabilities(inlay_hint=hints))
        result = await self.client.initialize_async(
            lsp.InitializeParams(capabilities, root_uri=self.folder.as_uri())
        )
        kind = result.capabilities.text_document_sync
        change = kind.change if isinstance(kind, lsp.TextDocumentSyncOptions) else kind
        self.in_parts = change == lsp.TextDocumentSyncKind.Incremental
        self.client.initialized(lsp.InitializedParams())

    def open(self) -> None:
        item = lsp.TextDocumentItem(self.path.as_uri(), "camkes", 1, self.text)
        self.whole.clear()
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def replace(self, before: str, after: str) -> None:
        at = self.text.index(before)
        start, end = self._position(at), self._position(at + len(before))
        self.text = self.text[:at] + after + self.text[at + len(before) :]
        self.version += 1
        change: lsp.TextDocumentContentChangeEvent = lsp.TextDocumentContentChangeWholeDocument(self.text)
        if self.in_parts:
            change = lsp.TextDocumentContentChangePartial(lsp.Range(start, end), after)
        identifier = lsp.VersionedTextDocumentIdentifier(self.version, self.path.as_uri())
        self.whole.clear()
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [change]))

    def spent(self) -> float:
        """Processor time of the server so far, in seconds."""
        server = self.client._server
        assert server is not None
        tasks = Path(f"/proc/{server.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in tasks) / 1e9

    async def reported(self, code: str, *, there: bool) -> None:
        while (code in self.codes) is not there:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), LIMIT)

    async def hover(self, name: str) -> str:
        position = self._position(self.text.index(name))
        found = await self.client.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(self.path.as_uri()), position)
        )
        return (
            "" if found is None or not isinstance(found.contents, lsp.MarkupContent) else found.contents.value
        )

    async def end(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def _position(self, offset: int) -> lsp.Position:
        before = self.text[:offset]
        return lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


async def measure(checkout: Path, folder: Path, text: str, rounds: int) -> dict[str, list[float]]:
    """Processor times in seconds."""
    found: dict[str, list[float]] = {}

    def note(what: str, begin: float) -> None:
        found.setdefault(what, []).append(session.spent() - begin)

    for _ in range(rounds):
        session = Session(folder, text)
        await session.begin(checkout)
        begin = session.spent()
        session.open()
        assert "Task" in await session.hover("task4_3;")
        note("first hover on a task", begin)
        if not session.whole.is_set():
            await asyncio.wait_for(session.whole.wait(), LIMIT)
        note("  all diagnostics of the system", begin)
        for before, after, code in MISTAKES:
            for one, other, there in ((before, after, True), (after, before, False)):
                begin = session.spent()
                session.replace(one, other)
                await session.reported(code, there=there)
                note("a mistake is reported" if there else "and is no more", begin)
                begin_of_hover = session.spent()
                assert "Task" in await session.hover("task4_3;")
                note("  hover after that", begin_of_hover)
                if not session.whole.is_set():
                    await asyncio.wait_for(session.whole.wait(), LIMIT)
                note("    all diagnostics of the system", begin)
        begin = session.spent()
        while "again" in await session.hover("task4_3;"):
            await asyncio.sleep(0.5)
        note("response times of 100 tasks", begin)
        await session.end()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", type=Path)
    arguments = parser.parse_args()
    text = system()
    print(f"{len(text.splitlines())} lines")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "system.camkes").write_text(text, encoding="utf-8")
        own: dict[str, list[float]] = {}
        others: dict[str, list[float]] = {}
        for _ in range(arguments.rounds):
            for checkout, times in ((ROOT, own), (arguments.beside, others)):
                for what, seconds in (
                    asyncio.run(measure(checkout, folder, text, 1)).items() if checkout else ()
                ):
                    times.setdefault(what, []).extend(seconds)
        for what, seconds in own.items():
            median = statistics.median(seconds) * 1000
            line = f"{what:34} {median:7.0f} ms, at most {max(seconds) * 1000:7.0f} ms"
            if what in others:
                other = statistics.median(others[what]) * 1000
                line += f"   beside {other:7.0f} ms: {other / median:5.1f} times"
            print(line)


if __name__ == "__main__":
    main()
