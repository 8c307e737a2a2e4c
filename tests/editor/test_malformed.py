# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Malformed messages get an error as their answer; a huge text does not delay other requests."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from camkes.editor import session as session_module
from tests.editor.client import editor

pytestmark = pytest.mark.requirement("TOOL-7")


class Session:
    """A server at whose standard input anything can be written."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "camkes", "lsp"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}})

    def send(self, message: object) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a message with an id."""
        self.send(message)
        assert self.process.stdout is not None
        while True:
            size = 0
            while line := self.process.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            assert size, "the server ended"
            answer: dict[str, Any] = json.loads(self.process.stdout.read(size))
            if answer.get("id") == message["id"] and "method" not in answer:
                return answer

    def end(self) -> None:
        assert self.ask({"jsonrpc": "2.0", "id": 1000, "method": "shutdown"})["result"] is None
        self.send({"jsonrpc": "2.0", "method": "exit"})
        assert self.process.wait(30) == 0
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()


HOVER = {"jsonrpc": "2.0", "method": "textDocument/hover"}


@pytest.fixture
def session() -> Any:
    one = Session()
    try:
        yield one
        one.end()
    finally:
        one.process.kill()
        one.process.wait()


@pytest.mark.long
def test_malformed_requests_get_errors(session: Session) -> None:
    requests: list[tuple[dict[str, Any], int]] = [
        (HOVER, -32602),
        ({**HOVER, "params": None}, -32602),
        ({**HOVER, "params": {}}, -32602),
        ({**HOVER, "params": {"textDocument": {"uri": []}, "position": 7}}, -32602),
        ({"jsonrpc": "2.0", "method": "no/such"}, -32601),
        ({"jsonrpc": "2.0", "method": "no/such", "params": {}}, -32601),
        ({"method": "textDocument/hover"}, -32600),
    ]
    for number, (request, code) in enumerate(requests, 1):
        assert session.ask({**request, "id": number})["error"]["code"] == code, request


@pytest.mark.long
def test_a_malformed_message_does_not_end_a_session(session: Session) -> None:
    requests = (b"{", b"[]", b"7", b'"a"', b"null", b"\xff", b'{"jsonrpc": "2.0"}', b"[" * 5000)
    for number, data in enumerate(requests, 1):
        session.send(data)
        assert session.ask({"jsonrpc": "2.0", "method": "no/such", "id": number})["error"], data


def test_a_huge_text_does_not_delay_other_requests(tmp_path: Path) -> None:
    """It is not analysed, which is reported; other requests are answered."""
    small = "component A { control; }\nassembly { composition { component A a; } }\n"
    for name in ("huge.camkes", "small.camkes"):
        (tmp_path / name).write_text(small)

    async def run() -> None:
        async with editor(tmp_path) as session:
            session.open("huge.camkes", small + "// and so on\n" * 200_000)
            session.open("small.camkes", small)
            assert "component" in await session.hover("small.camkes", "component A |a")
            while not session.diagnostics.get("huge.camkes"):
                session.change("small.camkes", session.texts["small.camkes"] + " ")
                await session.settled("small.camkes")
            assert "KiB" in session.diagnostics["huge.camkes"][0].message

    asyncio.run(asyncio.wait_for(run(), 120))


def test_the_last_version_of_a_large_text_counts(tmp_path: Path) -> None:
    comment = "// and so on\n" * 40_000  # half a MiB
    text = f"{comment}component A {{ control; }}\nassembly {{ composition {{ component NAME a; }} }}\n"
    (tmp_path / "large.camkes").write_text("")

    async def run() -> None:
        async with editor(tmp_path) as session:
            session.open("large.camkes", text.replace("NAME", "A"))
            for number in range(5):
                session.change("large.camkes", text.replace("NAME", f"Version{number}"))
            while not session.diagnostics.get("large.camkes"):
                await asyncio.sleep(0.05)
            assert ["Version4" in d.message for d in session.diagnostics["large.camkes"]] == [True]

    asyncio.run(asyncio.wait_for(run(), 120))


def test_analyses_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An analysis that has begun is completed although out of date; of those that wait the last is made."""
    monkeypatch.setattr(session_module, "DELAY", 0)
    begun, may_end = threading.Event(), threading.Event()
    running: list[int] = []

    def analyse() -> list[object]:
        running.append(threading.active_count())
        begun.set()
        assert may_end.wait(60)
        return []

    async def run() -> None:
        server = session_module.Server()
        monkeypatch.setattr(server.files, "open_analyses", analyse)
        tasks = []
        for _ in range(5):
            server.changed()
            tasks.append(server.pending)
            await asyncio.to_thread(begun.wait, 60)
            await asyncio.sleep(0.01)  # the change comes to its turn
        assert len(running) == 1
        may_end.set()
        await asyncio.gather(*filter(None, tasks), return_exceptions=True)
        assert len(running) == 2

    asyncio.run(run())
