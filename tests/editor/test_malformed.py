# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Malformed messages get an error as their answer; a huge text keeps nobody waiting."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.editor.client import editor


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


def test_what_is_no_request_does_not_end_a_session(session: Session) -> None:
    requests = (b"{", b"[]", b"7", b'"a"', b"null", b"\xff", b'{"jsonrpc": "2.0"}', b"[" * 5000)
    for number, data in enumerate(requests, 1):
        session.send(data)
        assert session.ask({"jsonrpc": "2.0", "method": "no/such", "id": number})["error"], data


def test_a_huge_text_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It is not looked at, which is said; others get their answers."""
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
