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
import json
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

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
    """A server of a checkout, which has the system open; and what came from it, as it came."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder, self.text, self.version, self.requests = folder, text, 1, 0
        self.uri = (folder / "system.camkes").as_uri()
        self.codes: list[str] = []
        self.whole = True  # all diagnostics are there
        self.at = 0.0  # processor time of the server when the last message came

    async def begin(self, checkout: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        self.server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "camkes", "lsp"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            cwd=self.folder,
        )
        capabilities = {"workspace": {"inlayHint": {"refreshSupport": True}}}
        parameters = {"processId": None, "rootUri": self.folder.as_uri(), "capabilities": capabilities}
        result = await self.ask("initialize", parameters)
        kind = result["capabilities"]["textDocumentSync"]
        self.in_parts = (kind if isinstance(kind, int) else kind["change"]) == 2
        self.send("initialized", {})

    def send(self, method: str, parameters: object, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": parameters}
        body = json.dumps(message if number is None else {**message, "id": number}).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def ask(self, method: str, parameters: object) -> Any:
        self.requests += 1
        self.send(method, parameters, self.requests)
        while (message := await self.receive()).get("id") != self.requests or "method" in message:
            pass
        return message["result"]

    async def receive(self) -> dict[str, Any]:
        """The next message. The processor time is taken before it is read."""
        assert self.server.stdout is not None
        header = await asyncio.wait_for(self.server.stdout.readuntil(b"\r\n\r\n"), LIMIT)
        length = next(int(line[15:]) for line in header.split(b"\r\n") if line.startswith(b"Content-Length:"))
        body = await self.server.stdout.readexactly(length)
        self.at = self.spent()
        message: dict[str, Any] = json.loads(body)
        if message.get("method") == "textDocument/publishDiagnostics":
            self.codes = [each.get("code") for each in message["params"]["diagnostics"]]
        elif message.get("method") == "workspace/inlayHint/refresh":
            self.whole = True
            reply = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None}).encode()
            assert self.server.stdin is not None
            self.server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(reply), reply))
        return message

    def open(self) -> None:
        self.whole = False
        item = {"uri": self.uri, "languageId": "camkes", "version": 1, "text": self.text}
        self.send("textDocument/didOpen", {"textDocument": item})

    def replace(self, before: str, after: str) -> None:
        at = self.text.index(before)
        start, end = self.position(at), self.position(at + len(before))
        self.text = self.text[:at] + after + self.text[at + len(before) :]
        self.version += 1
        change: dict[str, object] = {"text": self.text}
        if self.in_parts:
            change = {"range": {"start": start, "end": end}, "text": after}
        self.whole = False
        identifier = {"uri": self.uri, "version": self.version}
        self.send("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})

    def spent(self) -> float:
        """Processor time of the server so far, in seconds."""
        tasks = Path(f"/proc/{self.server.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in tasks) / 1e9

    async def reported(self, code: str, *, there: bool) -> None:
        while (code in self.codes) is not there:
            await self.receive()

    async def all_there(self) -> None:
        while not self.whole:
            await self.receive()

    async def hover(self, name: str) -> str:
        place = {"textDocument": {"uri": self.uri}, "position": self.position(self.text.index(name))}
        found = await self.ask("textDocument/hover", place)
        return "" if found is None else str(found["contents"]["value"])

    async def end(self) -> None:
        await self.ask("shutdown", None)
        self.send("exit", None)
        await self.server.wait()

    def position(self, offset: int) -> dict[str, int]:
        before = self.text[:offset]
        return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


async def measure(checkout: Path, folder: Path, text: str, rounds: int) -> dict[str, list[float]]:
    """Processor times in seconds."""
    found: dict[str, list[float]] = {}

    def note(what: str, begin: float) -> None:
        found.setdefault(what, []).append(session.at - begin)

    for _ in range(rounds):
        session = Session(folder, text)
        await session.begin(checkout)
        begin = session.spent()
        session.open()
        assert "Task" in await session.hover("task4_3;")
        note("first hover on a task", begin)
        await session.all_there()
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
                await session.all_there()
                note("    all diagnostics of the system", begin)
        if "again" in await session.hover("task4_3;"):
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
