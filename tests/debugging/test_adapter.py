# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes debug --dap`, asked as an editor asks it; and what gdb's machine interface writes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from camkes.debug_adapter import parse_results, unescaped
from tests.command import ROOT

pytestmark = pytest.mark.requirement("TOOL-31")

needs_gdb = pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")


class DebugSession:
    """An editor that debugs."""

    def __init__(self, program: subprocess.Popen[bytes]) -> None:
        self.program, self.number = program, 0
        self.events: list[dict[str, Any]] = []

    def ask(self, command: str, **arguments: object) -> dict[str, Any]:
        self.number += 1
        request = {"seq": self.number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(request).encode()
        assert self.program.stdin is not None
        self.program.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.program.stdin.flush()
        while True:
            message = self.receive()
            if message["type"] == "response":
                assert message["request_seq"] == self.number and message["command"] == command
                return message

    def body(self, command: str, **arguments: object) -> Any:
        answer = self.ask(command, **arguments)
        assert answer["success"], answer
        return answer["body"]

    def receive(self) -> dict[str, Any]:
        assert self.program.stdout is not None
        header = self.program.stdout.readline()
        assert header.startswith(b"Content-Length: "), header
        self.program.stdout.readline()
        message: dict[str, Any] = json.loads(self.program.stdout.read(int(header[16:])))
        if message["type"] == "event":
            self.events.append(message)
        return message

    def event(self, name: str) -> dict[str, Any]:
        """The next event of a kind, which may have come before."""
        while True:
            found = next((each for each in self.events if each["event"] == name), None)
            if found is not None:
                self.events.remove(found)
                return dict(found.get("body") or {})
            self.receive()

    def stopped(self) -> tuple[str, str, int]:
        """Why it stopped, in which function, at which line."""
        reason = self.event("stopped")["reason"]
        top = self.body("stackTrace", threadId=1)["stackFrames"][0]
        return reason, top["name"], top["line"]


@contextmanager
def debugging(*words: str) -> Iterator[DebugSession]:
    command = [sys.executable, "-m", "camkes", "debug", "--dap", *words]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    try:
        yield DebugSession(program)
        assert program.stdin is not None
        program.stdin.close()
        assert program.wait(30) == 0
    finally:
        program.kill()
        program.wait()
        for pipe in (program.stdin, program.stdout):
            if pipe is not None:
                pipe.close()


@needs_gdb
def test_a_system_is_debugged(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "protocols", tmp_path / "protocols")
    source = tmp_path / "protocols" / "shared.c"
    line = next(n for n, text in enumerate(source.read_text().split("\n"), 1) if "next_pow(" in text)
    with debugging(str(tmp_path / "protocols"), "-o", str(tmp_path / "out"), "--debug", "leaf.p") as session:
        assert session.body("initialize", adapterID="camkes")["supportsConfigurationDoneRequest"]
        session.body("launch")
        session.event("initialized")
        (found,) = session.body("setBreakpoints", source={"path": str(source)}, breakpoints=[{"line": line}])[
            "breakpoints"
        ]
        session.body("configurationDone")
        assert session.stopped() == ("breakpoint", "p_pow", line)
        changed = session.event("breakpoint")["breakpoint"]  # its code has been loaded
        assert changed == {"verified": True, "id": found["id"], "line": line}
        assert session.body("threads")["threads"][0]["name"].startswith("shared.p")
        frame = session.body("stackTrace", threadId=1)["stackFrames"][0]
        assert frame["source"]["path"] == str(source)
        (scope,) = session.body("scopes", frameId=frame["id"])["scopes"]
        variables = session.body("variables", variablesReference=scope["variablesReference"])["variables"]
        values = {each["name"]: each["value"] for each in variables}
        assert values
        name = next(iter(values))
        assert session.body("evaluate", expression=name, frameId=frame["id"])["result"] == values[name]
        assert "leaf.p" in session.body("evaluate", expression="camkes threads", context="repl")["result"]
        refused = session.ask("evaluate", expression="no_such_name", frameId=0)
        assert not refused["success"] and "no_such_name" in refused["message"]
        session.body("setBreakpoints", source={"path": str(source)}, breakpoints=[])
        session.body("continue", threadId=1)
        assert session.stopped()[:2] == ("breakpoint", "p_pow")  # of leaf.p
        session.body("next", threadId=1)
        assert session.stopped()[0] == "step"
        session.body("stepOut", threadId=1)
        assert session.event("stopped")["reason"] in ("step", "breakpoint")
        session.body("disconnect")
        session.event("terminated")


@needs_gdb
@pytest.mark.long
def test_the_end_and_what_is_printed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "adder", tmp_path / "adder")
    with debugging(str(tmp_path / "adder"), "-o", str(tmp_path / "out")) as session:
        session.body("initialize")
        session.body("launch")
        session.body("configurationDone")
        text = ""
        while "+" not in text and "=" not in text:
            text += session.event("output")["output"]
        session.event("terminated")
        session.body("disconnect")


def test_a_system_with_errors_is_not_launched(tmp_path: Path) -> None:
    (tmp_path / "a.camkes").write_text(
        "component A { control; }\nassembly { composition { component B b; } }\n"
    )
    with debugging(str(tmp_path / "a.camkes"), "-o", str(tmp_path / "out")) as session:
        session.body("initialize")
        refused = session.ask("launch")
        assert not refused["success"] and "E0203" in refused["message"]
        assert "there is no component `B`" in session.event("output")["output"]
        refused = session.ask("threads")
        assert refused["success"]
        assert not session.ask("noSuchRequest")["success"]
        for lines in (3, ["4"], [{"line": "x"}]):
            refused = session.ask("setBreakpoints", source="a.c", breakpoints=lines)
            assert not refused["success"] and "`setBreakpoints` cannot be answered: " in refused["message"]
        session.body("disconnect")


def test_records_of_gdb() -> None:
    text = 'bkpt={number="1",locations=[{number="1.1",line="7"}],x=[]},'
    text += 'stack=[frame={level="0"},frame={level="1"}]'
    assert parse_results(text) == {
        "bkpt": {"number": "1", "locations": [{"number": "1.1", "line": "7"}], "x": []},
        "stack": [{"level": "0"}, {"level": "1"}],
    }
    assert parse_results('msg="No symbol \\"a\\" in \\303\\244."') == {"msg": 'No symbol "a" in ä.'}
    assert parse_results('names=["a","b"]') == {"names": ["a", "b"]}
    for broken in ("a", "a=", 'a="b', "a=[", "a={b=", "=", 'a=["b" "c"]'):
        parse_results(broken)
    assert unescaped("a\\n\\t\\\\") == "a\n\t\\"
