# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Asks CMake itself what an application declares, with functions of the same names that write it down."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from camkes.cmakelists.codes import CMAKE_FAILED, CMAKE_MESSAGE
from camkes.cmakelists.declarations import Call, ComponentBuild, Declarations, absolute, declare
from camkes.diagnostics import Sink, SourceFile, Span

_FIELD = "\x1f"
_RECORD = "\x1e"
_MODULE = Path(__file__).with_name("recorder.cmake")
_ERROR = re.compile(
    r"CMake Error at (?P<file>.*?):(?P<line>\d+) \((?P<command>\w+)\):\n(?P<text>.*)", re.DOTALL
)
_TIMEOUT = 120


def run_cmake(
    file: Path, variables: Mapping[str, str], reason: str, span: Span, sink: Sink
) -> Declarations | None:
    """What `file`, a CMakeLists.txt, declares; None after a diagnostic. `reason` and `span` say why CMake
    is asked, and are what the diagnostic points at if CMake does not know either."""
    cmake = _find_cmake()
    if cmake is None:
        notes = ["CMake is not installed, so it could not be asked"]
        sink.report(CMAKE_FAILED, reason, span, notes=notes, help="install it (apt install cmake)")
        return None
    with tempfile.TemporaryDirectory(prefix="camkes-cmake-") as name:
        folder = Path(name)
        output = folder / "declared"
        _write_project(folder, file, variables, output)
        command = [cmake, "-S", name, "-B", str(folder / "build"), "--no-warn-unused-cli", "-Wno-dev"]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            sink.report(CMAKE_FAILED, reason, span, notes=[f"CMake could not be run: {error}"])
            return None
        if done.returncode != 0 or not output.exists():
            _report(done.stderr, reason, span, sink)
            return None
        text = output.read_text(encoding="utf-8")
    return _collect(text, file, variables, sink)


def _find_cmake() -> str | None:
    beside = Path(sysconfig.get_path("scripts")) / ("cmake.exe" if sys.platform == "win32" else "cmake")
    return str(beside) if beside.is_file() else shutil.which("cmake")


def _write_project(folder: Path, file: Path, variables: Mapping[str, str], output: Path) -> None:
    for name in ("simulation", "application_settings"):
        (folder / f"{name}.cmake").write_text("", encoding="utf-8")
    settings = "".join(f"set({k} [==[{v}]==])\n" for k, v in variables.items())
    text = (
        "cmake_minimum_required(VERSION 3.16)\n"
        "project(application NONE)\n"
        f"{settings}"
        f"list(APPEND CMAKE_MODULE_PATH [==[{folder}]==])\n"
        f"set(CAMKES_RECORD_FILE [==[{output}]==])\n"
        f"include([==[{_MODULE}]==])\n"
        f"add_subdirectory([==[{file.parent}]==] application)\n"
        "camkes_recorder_finish()\n"
    )
    (folder / "CMakeLists.txt").write_text(text, encoding="utf-8")


def _report(stderr: str, reason: str, span: Span, sink: Sink) -> None:
    """Point at what CMake says is wrong, if that is in a file of the user."""
    match = _ERROR.search(stderr)
    if match is None:
        notes = [line.strip() for line in stderr.splitlines() if line.strip()][:10]
        sink.report(CMAKE_FAILED, reason, span, notes=notes)
        return
    text = " ".join(match["text"].split("\n\n\n")[0].split("Call Stack")[0].split())
    where = Path(match["file"])
    line = int(match["line"])
    if where.is_file() and where != _MODULE:
        source = SourceFile(where, where.read_text(encoding="utf-8", errors="replace"))
        text_of_line = source.lines[line - 1].rstrip() if line <= len(source.lines) else ""
        indent = len(text_of_line) - len(text_of_line.lstrip())
        span = Span(source, line, indent + 1, line, max(len(text_of_line), 1) + 1)
    if match["command"].lower() == "message":
        sink.report(CMAKE_MESSAGE, text, span, "the application says so")
    else:
        sink.report(CMAKE_FAILED, text, span, notes=[f"CMake was asked because of {reason}"])


def _collect(text: str, file: Path, variables: Mapping[str, str], sink: Sink) -> Declarations:
    result = Declarations()
    sources: dict[str, SourceFile] = {}
    for fields in _records(text):
        match fields:
            case ["call", where, function, *arguments]:
                if where not in sources:
                    path = Path(where)
                    sources[where] = SourceFile(path, path.read_text(encoding="utf-8", errors="replace"))
                span = Span(sources[where], 1, 1, 1, 1)
                declare(Call(function, tuple(arguments), Path(where).parent, span), result, sink)
            case ["project", where, name] if Path(where) == file:
                result.name = result.name or name
            case ["workspace", where]:
                _import_workspace(Path(where).parent, variables, result)
            case ["generated", *files]:
                result.generated.update(Path(f).name for f in files)
            case ["option", name, value]:
                result.options[name] = value
            case ["file", name]:
                result.files.append(Path(name))
            case ["library", name, kind, *values]:
                library = result.libraries.get(name, ComponentBuild())
                paths = tuple(absolute(file.parent, v) for v in values)
                more = {
                    "sources": ComponentBuild(sources=paths),
                    "includes": ComponentBuild(includes=paths),
                    "flags": ComponentBuild(c_flags=tuple(values)),
                    "libs": ComponentBuild(libs=tuple(values)),
                }[kind]
                result.libraries[name] = library.extended(more)
    if file not in result.files:
        result.files.insert(0, file)
    return result


def _import_workspace(folder: Path, variables: Mapping[str, str], to: Declarations) -> None:
    """Components of other projects, which CMake could not read alone."""
    from camkes.cmakelists.evaluate import Evaluator

    evaluator = Evaluator(variables, Sink())
    evaluator.enter(folder)
    evaluator.import_global_components(folder)
    found = evaluator.declarations
    to.components.update(found.components)
    to.connectors.update(found.connectors)
    to.libraries.update(found.libraries)
    to.import_paths += found.import_paths
    to.template_paths += found.template_paths
    to.cpp_includes += found.cpp_includes
    to.generated |= found.generated
    to.files += found.files


def _records(text: str) -> Iterator[list[str]]:
    for record in text.split(_RECORD):
        if record:
            yield record.split(_FIELD)
