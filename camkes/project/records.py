# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Output of a run of CMake: the records of recorder.cmake, and the trace of all commands."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, convert, field
from msgspec.structs import asdict

_FIELD, _RECORD = "\x1f", "\x1e"
RECORDER = Path(__file__).with_name("recorder.cmake")

#: The functions that declare something, in lower case, as CMake compares names.
FUNCTIONS = (
    "declarecamkescomponent",
    "declarecamkesrootserver",
    "declarecamkesconnector",
    "extendcamkescomponentinstance",
    "camkesaddimportpath",
    "camkesmaybeaddimportpath",
    "camkesaddtemplatespath",
    "camkesaddcppinclude",
)


def read_made(path: Path, most: int = 2**28) -> bytes:
    """A file that a run of CMake left, or its first `most` bytes; OSError if it is not a regular file: the
    application may have put anything there."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(22, "not a regular file", str(path))
        return file.read(most)


class CMakeCommand(NamedTuple):
    """A command that CMake ran. `name` is as written. Lists in `arguments` are not split. `folder` is the
    source folder it ran in; empty where that is not known."""

    file: str
    line: int
    name: str
    arguments: tuple[str, ...]
    folder: str


class Declared(NamedTuple):
    """A call of one of FUNCTIONS. A relative path counts from the first of `folders` that has it. `file`,
    `line` and `name` are those of the call as it is written."""

    function: str
    folders: tuple[str, ...]
    arguments: tuple[str, ...]
    file: str
    line: int
    name: str


class CodemodelGroup(NamedTuple):
    """Sources of a target that are compiled alike. The source "" is for any other of that language. Paths
    are absolute. `flags` are words: definitions, folders of system headers, options."""

    language: str
    sources: list[str]
    includes: list[str]
    flags: list[str]


class Answer(Struct, forbid_unknown_fields=True):
    """CMake's result for an application. Only texts and containers of texts: it is kept as JSON.

    `name` is the project's. `libraries` are values by the library and by their kind (sources, includes,
    flags, definitions, libs), `flags` those of all components by language, `folder` more of them by the
    folder's property. `options` are the CAmkES options that are set. `generated` are sources that a build
    makes, `not_made` the output of those commands that failed. `groups` are the compile groups of targets
    (see codemodel.py). `unused` are definitions that no file uses, `known` the names it might have meant.
    `warnings` are (file, line, text). `files` are the user's files that were read."""

    name: str = ""
    calls: list[Declared] = field(default_factory=list)
    libraries: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    flags: dict[str, list[str]] = field(default_factory=dict)
    folder: dict[str, list[str]] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    generated: list[str] = field(default_factory=list)
    not_made: list[str] = field(default_factory=list)
    groups: dict[str, list[CodemodelGroup]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    warnings: list[tuple[str, int, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    @staticmethod
    def from_json(stored: object) -> Answer:
        """Raises msgspec.ValidationError if the text is not such a result."""
        return convert(stored, Answer)


def read_trace(path: Path, source: Path) -> list[CMakeCommand]:
    """The commands of a trace (`--trace-expand --trace-format=json-v1`) in the order they ran; `source` is
    the top folder."""
    commands: list[CMakeCommand] = []
    folders: list[tuple[int, str]] = [(0, str(source))]  # (frame of the add_subdirectory, folder)
    try:
        lines = read_made(path).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return []
    for line in lines:
        try:
            entry = json.loads(line)
            name, file, number = str(entry["cmd"]), str(entry["file"]), int(entry["line"])
            arguments = tuple(map(str, entry["args"]))
            frame = int(entry.get("global_frame", 0))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue  # the version, or a line that was cut off
        while len(folders) > 1 and folders[-1][0] >= frame:
            folders.pop()
        folder = "" if "defer" in entry or not frame else folders[-1][1]
        whole = os.path.join(str(source), file)  # noqa: PTH118
        commands.append(CMakeCommand(whole, number, name, arguments, folder))
        if name.lower() == "add_subdirectory" and arguments:
            folders.append((frame, os.path.normpath(os.path.join(folder, arguments[0]))))  # noqa: PTH118
    return commands


def read_records(path: Path) -> list[list[str]]:
    """The records that recorder.cmake wrote; not all, where CMake stopped."""
    try:
        text = read_made(path).decode("utf-8", "surrogateescape")
    except OSError:
        return []
    return [_evaluated(path, record.split(_FIELD)) for record in text.split(_RECORD)[:-1]]


def _evaluated(path: Path, record: list[str]) -> list[str]:
    """A record with the values of its generator expressions, which CMake wrote to a file of their own."""
    if record[0] != "evaluated" or len(record) < 3:
        return record
    number, *written = record[1:]
    try:
        text = read_made(path.with_name(f"{path.name}.{number}")).decode("utf-8", "surrogateescape")
    except OSError:
        return written  # CMake did not come that far
    values = text.split(_FIELD)
    if len(values) != len(written):
        return written
    pairs = zip(written, values, strict=True)
    return [part for before, value in pairs for part in _parts(before, value)]


def _parts(before: str, value: str) -> list[str]:
    """An argument; those that its generator expressions make, if it has any."""
    return [part for part in value.split(";") if part] if "$<" in before else [value]


def collect(records: list[list[str]], commands: list[CMakeCommand], lists: Path) -> Answer:
    """The answer that the records and the trace of a run make up; `lists` is the top CMakeLists.txt."""
    answer = Answer()
    places = _places(commands)
    for record in records:
        match record:
            case ["call", function, *rest] if len(rest) >= 3:
                place = next(places, None)
                file, line, name = (
                    (place.file, place.line, place.name) if place else (str(lists), 1, function)
                )
                call = Declared(function, tuple(rest[:3]), tuple(rest[3:]), file, line, name)
                answer.calls.append(call)
            case ["flags", language, *values]:
                answer.flags[language] = values
            case ["folder", kind, *values]:
                answer.folder[kind] = values
            case ["generated", name]:
                answer.generated.append(name)
            case ["option", name, *value]:
                answer.options[name] = ";".join(value)
            case ["library", name, kind, *values]:
                library = answer.libraries.setdefault(name, {})
                library[kind] = list(dict.fromkeys([*library.get(kind, []), *values]))
    for command in commands:
        if command.name.lower() == "project" and command.file == str(lists) and command.arguments:
            answer.name = command.arguments[0]
            break
    return answer


def _places(commands: list[CMakeCommand]) -> Iterator[CMakeCommand]:
    """Where each recorded call stands: a call that is recorded is the last one before its record."""
    last: CMakeCommand | None = None
    for command in commands:
        if command.file == str(RECORDER):
            if command.name.lower() == "camkes_record_call" and last is not None:
                yield last
        elif command.name.lower() in FUNCTIONS:
            last = command
