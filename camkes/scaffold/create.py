# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes the files of a new project."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from camkes.diagnostics import Sink
from camkes.files import OutputError, write_all
from camkes.resources import EXAMPLES
from camkes.scaffold.codes import PROJECT_EXISTS, PROJECT_NAME
from camkes.scaffold.installation import ToolSource

_PROJECTS = Path(__file__).parent / "projects"
#: files that all projects have
_COMMON = "common"
#: replaced by the name of the project, in names of files too
_NAME = "@NAME@"
#: replaced by what its workflow installs
_SOURCE = "@SOURCE@"
#: names that tools treat in another way where they are stored
_STORED = {"gitignore": ".gitignore"}

#: what a new repository often has: it is kept
_KEPT = {"README.md", ".gitignore"}

#: The projects there are, each with what it shows.
TEMPLATES = {
    "task": "a periodic task that uses a sensor",
    "locks": "two tasks that share a lock with priority inheritance",
    "driver": "a driver with registers, an interrupt and a model of the device",
    "rpc": "a client that calls a server, without real-time features",
    "system": "a whole system, the flight controller of examples/flight, with tests",
}
#: of these, the files are those of an example, but for what `projects/` has
_EXAMPLES = {"system": "flight"}
#: what no project has: a build of an example, and what tests of this tool compare
_LEFT_OUT = re.compile(r"expected.*\.txt|build/.*")
#: the lines in which files of this tool name their licence
_HEADER = re.compile(r"\A(?:(?:/\*|#) SPDX-.*\n)+")


def files_of(template: str, name: str, source: ToolSource) -> dict[Path, bytes]:
    """The files of a project called `name`, by their paths in its folder; its workflow installs the tool from
    the `source`."""
    found = {}
    for folder in (_PROJECTS / _COMMON, _PROJECTS / template):
        for place, text in _texts(folder):
            text = text.replace(_NAME, name).replace(_SOURCE, json.dumps(source.reference))
            found[_STORED.get(place, place).replace(_NAME, name)] = text
    example = _EXAMPLES.get(template)
    for place, text in _texts(EXAMPLES / example) if example else ():
        if place == "CMakeLists.txt":
            text = re.sub(rf"\b{example}\b", name, text)
        place = f"{name}.camkes" if place == f"{example}.camkes" else place
        found.setdefault(place, _HEADER.sub("", text))
    files = {Path(place): text.encode() for place, text in found.items()}
    return files | dict([source.wheel] if source.wheel is not None else [])


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The files in a folder that belong to projects, with their paths there."""
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        if path.is_file() and not _LEFT_OUT.fullmatch(place):
            yield place, path.read_text(encoding="utf-8")


def create(folder: Path, template: str, source: ToolSource, sink: Sink) -> tuple[Path, ...]:
    """Make a project in `folder`, whose name is the project's; the files that were written, none after a
    diagnostic. Its workflow installs the tool from the `source`. Raises OutputError."""
    name = folder.absolute().name
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        sink.report(
            PROJECT_NAME,
            f"{name!r} is not a valid name of a project",
            notes=["it is the name of a CMake project and of files"],
            help="begin with a letter, then use letters, digits, `_` and `-`",
        )
        return ()
    files = {
        path: data
        for path, data in files_of(template, name, source).items()
        if str(path) not in _KEPT or not (folder / path).exists()
    }
    existing = [str(path) for path in files if (folder / path).exists()]
    if (folder.exists() and not folder.is_dir()) or existing:
        message = f"{folder} has files of a project already" if existing else f"{folder} is a file"
        notes = [", ".join(existing[:8]) + (" and others" if len(existing) > 8 else "")] if existing else []
        sink.report(PROJECT_EXISTS, message, notes=notes, help="choose another name; nothing was written")
        return ()
    is_new = not folder.exists()
    try:
        write_all([(folder / path, data) for path, data in files.items()])
    except OSError as error:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise OutputError(f"cannot write {error.filename}: {error.strerror}") from error
    return tuple(files)
