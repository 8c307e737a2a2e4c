# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The Debug Adapter Protocol on one side and gdb's machine interface on the other, for editors.

gdb before 14 does not speak the protocol. What is here is what a run of a system needs: breakpoints, steps,
the stack, variables, and gdb's own commands in the console of the editor.
"""

from __future__ import annotations

import json
import os
import pty
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from camkes import process

_RESULT = re.compile(r"(\d*)([\^*=~@&])(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w-]*")
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
#: seconds for an answer of gdb, but for one that starts the system
_PATIENCE = 30
#: bytes of what the system prints that are read at once
_CHUNK = 2048
#: the one thread that editors see: all components are in one process, and one of their threads runs at a time
_THREAD = 1

#: What starts gdb, with the folder it starts in; or why it cannot, for the user.
Prepare = Callable[[], tuple[list[str], Path] | str]


class GdbError(Exception):
    """Why gdb cannot do a command."""


def parse_results(text: str) -> dict[str, Any]:
    """The results of a record of gdb's machine interface: `name=value,...`, where a value is a string, a
    tuple `{...}` or a list `[...]`. What cannot be read ends them."""
    return _results(text, 0, "")[0]


def _results(text: str, at: int, end: str) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while at < len(text) and text[at] != end:
        name = _NAME.match(text, at)
        if name is None or not text.startswith("=", name.end()):
            break
        value, at = _value(text, name.end() + 1)
        found[name[0]] = value
        at += text.startswith(",", at)
    return found, at


def _value(text: str, at: int) -> tuple[Any, int]:
    if text.startswith("{", at):
        found, at = _results(text, at + 1, "}")
        return found, at + 1
    if text.startswith("[", at):
        at += 1
        items = []
        while at < len(text) and text[at] != "]":
            name = _NAME.match(text, at)  # an item may have a name, that of its kind
            if name is not None and text.startswith("=", name.end()):
                at = name.end() + 1
            before = at
            value, at = _value(text, at)
            items.append(value)
            at += text.startswith(",", at)
            if at == before:
                break
        return items, at + 1
    string = _STRING.match(text, at)
    if string is None:
        return "", at
    return unescaped(string[1]), string.end()


def unescaped(text: str) -> str:
    """A string of C as gdb writes it, with the bytes of UTF-8 in octal."""

    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPED.get(code, code)

    plain = _ESCAPE.sub(character, text)
    with suppress(UnicodeError):
        return plain.encode("latin-1").decode()
    return plain


class Gdb:
    """A gdb that is asked by a program. `stopped` gets the results of each stop, `printed` what the system
    prints, `modified` a breakpoint that has changed, `ended` is called when gdb has ended."""

    def __init__(
        self,
        program: process.StartedProgram,
        stopped: Callable[[dict[str, Any]], None],
        printed: Callable[[str, str], None],
        ended: Callable[[], None],
        modified: Callable[[dict[str, Any]], None],
    ) -> None:
        self._program = program
        self._modified = modified
        self._stopped, self._printed, self._ended = stopped, printed, ended
        self._answers: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self._console: list[str] = []
        self._asking = threading.Lock()
        self._number = 0
        main, self._terminal = pty.openpty()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_system, args=(main,), daemon=True).start()
        self.ask(f"-inferior-tty-set {os.ttyname(self._terminal)}")
        self.ask("-gdb-set mi-async on")

    def ask(self, command: str) -> dict[str, Any]:
        """The results of a command. Raises GdbError."""
        with self._asking:
            self._number += 1
            self._console.clear()
            assert self._program.stdin is not None
            try:
                self._program.stdin.write(f"{self._number}{command}\n".encode())
                self._program.stdin.flush()
                kind, results = self._answers.get(timeout=_PATIENCE)
            except (OSError, ValueError, queue.Empty) as error:
                raise GdbError(f"gdb does not answer `{command}`") from error
        if kind == "error":
            raise GdbError(str(results.get("msg", "gdb cannot do this")))
        return results

    def console(self, command: str) -> str:
        """What gdb prints for a command of its own. Raises GdbError."""
        self.ask(f"-interpreter-exec console {json.dumps(command)}")
        return "".join(self._console)

    def _read(self) -> None:
        assert self._program.stdout is not None
        for line in self._program.stdout:
            match = _RESULT.fullmatch(line.decode(errors="replace").rstrip("\r\n"))
            if match is None:
                continue
            _, kind, rest = match.groups()
            if kind == "~":
                text = unescaped(rest.strip()[1:-1])
                self._console.append(text)
            elif kind == "^":
                name, _, results = rest.partition(",")
                self._answers.put((name, parse_results(results)))
            elif rest.startswith("breakpoint-modified"):
                self._modified(parse_results(rest.partition(",")[2]).get("bkpt", {}))
            elif kind == "*" and rest.startswith("stopped"):
                results = parse_results(rest.partition(",")[2])
                # a stop is answered by requests to gdb, whose answers this thread reads
                threading.Thread(target=self._stopped, args=(results,), daemon=True).start()
        self._answers.put(("error", {"msg": "gdb has ended"}))
        self._ended()

    def _read_system(self, main: int) -> None:
        with suppress(OSError):
            while data := os.read(main, _CHUNK):
                self._printed("stdout", data.decode(errors="replace").replace("\r\n", "\n"))


class DebugAdapter:
    """One session with an editor. `prepare` builds the system when the editor asks to launch it."""

    def __init__(self, source: IO[bytes], target: IO[bytes], prepare: Prepare) -> None:
        self._source, self._target, self._prepare = source, target, prepare
        self._writing = threading.Lock()
        self._sent = 0
        self._gdb: Gdb | None = None
        self._program: process.StartedProgram | None = None
        self._numbers: dict[str, list[str]] = {}  # of the breakpoints in each file
        self._over = False

    def serve(self) -> None:
        """Answer the editor until it disconnects."""
        try:
            for message in self._messages():
                if message.get("type") == "request" and not self._answer(message):
                    break
        finally:
            if self._program is not None:
                self._program.__exit__(None, None, None)

    def _messages(self) -> Iterator[dict[str, Any]]:
        while True:
            length = 0
            while (line := self._source.readline()) not in (b"\r\n", b"\n", b""):
                name, _, value = line.partition(b":")
                if name.strip().lower() == b"content-length" and value.strip().isdigit():
                    length = int(value)
            if not line:
                return
            with suppress(ValueError):
                message = json.loads(self._source.read(length))
                if isinstance(message, dict):
                    yield message

    def _send(self, message: dict[str, Any]) -> None:
        with self._writing, suppress(OSError, ValueError):
            self._sent += 1
            body = json.dumps({"seq": self._sent, **message}).encode()
            self._target.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self._target.flush()

    def _event(self, name: str, **body: object) -> None:
        self._send({"type": "event", "event": name, "body": body})

    def _answer(self, request: dict[str, Any]) -> bool:
        """Answer a request; whether others can follow."""
        command = str(request.get("command", ""))
        reply = {"type": "response", "request_seq": request.get("seq", 0), "command": command}
        arguments = request.get("arguments")
        try:
            does = _REQUESTS.get(command)
            if does is None:
                raise GdbError(f"`{command}` is not supported")
            body = does(self, arguments if isinstance(arguments, dict) else {})
        except (GdbError, AttributeError, TypeError, ValueError) as error:
            why = str(error)
            if not isinstance(error, GdbError):  # an argument of another kind than the protocol has
                if command == "launch":
                    raise
                why = f"`{command}` cannot be answered: {why}"
            shown = {"error": {"id": 1, "format": why.replace("{", "(").replace("}", ")")}}
            self._send({**reply, "success": False, "message": why, "body": shown})
            return True
        self._send({**reply, "success": True, "body": body})
        if command == "launch":
            self._event("initialized")
        return command not in ("disconnect", "terminate")

    @property
    def gdb(self) -> Gdb:
        if self._gdb is None:
            raise GdbError("the system has not been launched")
        return self._gdb

    # Events of gdb -----------------------------------------------------------------------------

    def _stopped(self, results: dict[str, Any]) -> None:
        reason = str(results.get("reason", ""))
        if reason.startswith("exited"):
            code = results.get("exit-code", "0")
            self._event("exited", exitCode=int(str(code), 8) if reason == "exited" else 0)
            self._end()
            return
        told = {"breakpoint-hit": "breakpoint", "end-stepping-range": "step", "function-finished": "step"}
        kind = told.get(reason, "exception" if reason == "signal-received" else "pause")
        text = str(results.get("signal-meaning", ""))
        self._event("stopped", reason=kind, text=text, threadId=_THREAD, allThreadsStopped=True)

    def _modified(self, made: dict[str, Any]) -> None:
        own = {number for numbers in self._numbers.values() for number in numbers}
        if made.get("number") in own:
            self._event("breakpoint", reason="changed", breakpoint=_breakpoint(made))

    def _printed(self, category: str, text: str) -> None:
        self._event("output", category=category, output=text)

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._event("terminated")

    # What the editor asks -----------------------------------------------------------------------

    def initialize(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {
            "supportsConfigurationDoneRequest": True,
            "supportsFunctionBreakpoints": True,
            "supportsConditionalBreakpoints": True,
            "supportsEvaluateForHovers": True,
            "supportsTerminateRequest": True,
        }

    def launch(self, arguments: dict[str, Any]) -> None:
        prepared = self._prepare()
        if isinstance(prepared, str):
            self._printed("stderr", prepared)
            first = next((line for line in prepared.splitlines() if line.strip()), "it cannot be built")
            raise GdbError(first)
        command, folder = prepared
        self._program = process.StartedProgram(
            command, cwd=folder, env=os.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._program.__enter__()
        self._gdb = Gdb(self._program, self._stopped, self._printed, self._end, self._modified)

    def set_breakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        path = str(arguments.get("source", {}).get("path", ""))
        places = [
            (json.dumps(f"{path}:{each.get('line', 1)}"), str(each.get("condition", "")))
            for each in arguments.get("breakpoints", [])
        ]
        return self._set(path, places)

    def set_function_breakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:
        places = [
            (json.dumps(str(each.get("name", ""))), str(each.get("condition", "")))
            for each in arguments.get("breakpoints", [])
        ]
        return self._set("", places)

    def _set(self, group: str, places: list[tuple[str, str]]) -> dict[str, Any]:
        """Breakpoints in place of those that a file had."""
        for number in self._numbers.pop(group, []):
            self.gdb.ask(f"-break-delete {number}")
        found: list[dict[str, Any]] = []
        for place, condition in places:
            only = f"-c {json.dumps(condition)} " if condition else ""
            try:
                made = self.gdb.ask(f"-break-insert -f {only}{place}").get("bkpt", {})
            except GdbError as error:
                found.append({"verified": False, "message": str(error)})
                continue
            number = str(made.get("number", ""))
            self._numbers.setdefault(group, []).append(number)
            found.append(_breakpoint(made))
        return {"breakpoints": found}

    def configuration_done(self, arguments: dict[str, Any]) -> None:
        self.gdb.ask("-exec-run")

    def threads(self, arguments: dict[str, Any]) -> dict[str, Any]:
        name = "system"
        with suppress(GdbError):
            said = self.gdb.console("python print(name_of(running()) if running() else 'idle')").strip()
            name = said or name
        return {"threads": [{"id": _THREAD, "name": name}]}

    def stack_trace(self, arguments: dict[str, Any]) -> dict[str, Any]:
        frames = []
        for each in self.gdb.ask("-stack-list-frames").get("stack", []):
            path = each.get("fullname", "")
            frame = {"id": int(each.get("level", 0)), "name": each.get("func", each.get("addr", "?"))}
            frame |= {"line": int(each.get("line", 0)), "column": 1}
            if path:
                frame["source"] = {"name": Path(path).name, "path": path}
            frames.append(frame)
        first = int(arguments.get("startFrame") or 0)
        most = int(arguments.get("levels") or len(frames))
        return {"stackFrames": frames[first : first + most], "totalFrames": len(frames)}

    def scopes(self, arguments: dict[str, Any]) -> dict[str, Any]:
        reference = int(arguments.get("frameId", 0)) + 1
        return {"scopes": [{"name": "Locals", "variablesReference": reference, "expensive": False}]}

    def variables(self, arguments: dict[str, Any]) -> dict[str, Any]:
        frame = int(arguments.get("variablesReference", 1)) - 1
        command = f"-stack-list-variables --thread {_THREAD} --frame {frame} --all-values"
        return {
            "variables": [
                {"name": each.get("name", ""), "value": each.get("value", ""), "variablesReference": 0}
                for each in self.gdb.ask(command).get("variables", [])
            ]
        }

    def evaluate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """A command of gdb in the console, else an expression of C."""
        text = str(arguments.get("expression", ""))
        if arguments.get("context") == "repl":
            return {"result": self.gdb.console(text).rstrip("\n"), "variablesReference": 0}
        frame = int(arguments.get("frameId") or 0)
        command = f"-data-evaluate-expression --thread {_THREAD} --frame {frame} {json.dumps(text)}"
        return {"result": self.gdb.ask(command).get("value", ""), "variablesReference": 0}

    def resume(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self.gdb.ask("-exec-continue")
        return {"allThreadsContinued": True}

    def next(self, arguments: dict[str, Any]) -> None:
        self.gdb.ask("-exec-next")

    def step_in(self, arguments: dict[str, Any]) -> None:
        self.gdb.ask("-exec-step")

    def step_out(self, arguments: dict[str, Any]) -> None:
        self.gdb.ask("-exec-finish")

    def pause(self, arguments: dict[str, Any]) -> None:
        self.gdb.ask("-exec-interrupt")

    def leave(self, arguments: dict[str, Any]) -> None:
        self._end()
        if self._program is not None:
            with suppress(OSError):
                os.kill(self._program.process, signal.SIGKILL)


def _breakpoint(made: dict[str, Any]) -> dict[str, Any]:
    """As the editor shows it. It is not verified before its code is loaded, when the system runs."""
    line = str(made.get("line") or next((x.get("line") for x in made.get("locations", [])), ""))
    at = {"line": int(line)} if line.isdigit() else {}
    return {"verified": "pending" not in made, "id": int(made.get("number", 0)), **at}


_REQUESTS: dict[str, Callable[[DebugAdapter, dict[str, Any]], object]] = {
    "initialize": DebugAdapter.initialize,
    "launch": DebugAdapter.launch,
    "setBreakpoints": DebugAdapter.set_breakpoints,
    "setFunctionBreakpoints": DebugAdapter.set_function_breakpoints,
    "setExceptionBreakpoints": lambda adapter, arguments: None,
    "configurationDone": DebugAdapter.configuration_done,
    "threads": DebugAdapter.threads,
    "stackTrace": DebugAdapter.stack_trace,
    "scopes": DebugAdapter.scopes,
    "variables": DebugAdapter.variables,
    "evaluate": DebugAdapter.evaluate,
    "continue": DebugAdapter.resume,
    "next": DebugAdapter.next,
    "stepIn": DebugAdapter.step_in,
    "stepOut": DebugAdapter.step_out,
    "pause": DebugAdapter.pause,
    "disconnect": DebugAdapter.leave,
    "terminate": DebugAdapter.leave,
}
