# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Applications for tests of CMake's results."""

from __future__ import annotations

from pathlib import Path

from camkes.diagnostics import Sink
from camkes.project import cmake
from camkes.project.application import Application, find_application
from tests.written import write_files

HEAD = "cmake_minimum_required(VERSION 3.16)\nproject(app C)\n"
ROOT = "DeclareCAmkESRootserver(app.camkes)\n"


def app(folder: Path, text: str, **files: str) -> Path:
    """An application with `text` in its CMakeLists.txt."""
    return write_files(folder, {"app.camkes": "", "CMakeLists.txt": f"{HEAD}{text}\n{ROOT}", **files})


def find(folder: Path, **definitions: str) -> tuple[Application | None, list[str]]:
    """The application, and the codes of its diagnostics."""
    sink = Sink()
    found = find_application(folder, sink, definitions)
    return found, [d.code.number for d in sink.diagnostics]


def age(folder: Path) -> None:
    """Let the clock of the file system pass the times of all files in a folder."""
    newest = max(path.stat().st_ctime_ns for path in (folder, *folder.rglob("*")))
    mark = folder.parent / f".{folder.name}.mark"
    while True:
        mark.write_text("")
        if mark.stat().st_ctime_ns > newest:
            return


class Asked:
    """Counts the runs of CMake."""

    def __init__(self) -> None:
        self.times = 0
        self._ask = cmake.ask

    def __call__(self, *arguments: object) -> object:
        self.times += 1
        return self._ask(*arguments)  # type: ignore[arg-type]
