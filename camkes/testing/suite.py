# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Finds the tests of a project, and reads their settings."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from camkes.backends.host.messages import Sources
from camkes.diagnostics import Sink
from camkes.model.units import NANOSECONDS
from camkes.project.application import systems_of
from camkes.resolve.words.nearest import nearest, suggestion
from camkes.testing.codes import NO_TESTS, TEST_SETTINGS

#: where tests are, below the folder of a project
FOLDER = "tests"
_CHOICES = re.compile(r"first|random:\d+")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s)")


class CaseSettings(Struct, frozen=True, kw_only=True):
    """What the file `NAME.toml` of a test states; times are in nanoseconds. There is a run for each of
    `choices`."""

    duration: int | None = None
    scheduling: str = "fifo"
    timeslice: int | None = None
    choices: tuple[str, ...] = ("first",)
    definitions: Mapping[str, str] = field(default_factory=dict)


class Test(Struct, frozen=True):
    """A run of the assembly in `file`. `project` is the folder of the project; `choices` is one of those of
    the settings."""

    name: str
    file: Path
    project: Path
    settings: CaseSettings
    choices: str

    @property
    def title(self) -> str:
        """The name, with how choices are made if that is stated."""
        return self.name if len(self.settings.choices) == 1 else f"{self.name}[{self.choices}]"

    @property
    def first(self) -> bool:
        """Whether it is the run whose output and events are compared with what is expected."""
        return self.choices == self.settings.choices[0]

    def expected(self, suffix: str) -> Path:
        """The file with what is expected of the test."""
        return self.file.with_suffix(suffix)


def _meant(path: Path) -> str:
    """The test whose name is like that of a file that is not there."""
    beside = [file.name for file in path.parent.glob("*.camkes")] if path.parent.is_dir() else []
    found = nearest(path.name, beside)
    return f"did you mean `{path.with_name(found)}`?" if found else ""


def find_tests(path: Path, sink: Sink) -> tuple[Test, ...]:
    """The tests at `path`: a project, its folder `tests`, or one assembly in that; none after a
    diagnostic."""
    if path.is_file():
        files, folder = [path], path.parent
    else:
        folder = path if path.absolute().name == FOLDER else path / FOLDER
        files = systems_of(folder) if folder.is_dir() else []
    if not files:
        where = f"in {folder}" if folder.is_dir() else f"for {path}: there is no folder {folder}"
        if not path.exists():
            where = f"at {path}, which does not exist"
        sink.report(
            NO_TESTS,
            f"there are no tests {where}",
            help=_meant(path)
            or "a test is a .camkes file with an assembly in the folder `tests` of a project; "
            "`camkes new NAME` makes a project with one",
        )
    project = folder.absolute()
    project = project.parent if project.name == FOLDER else project
    tests = []
    for file in files:
        settings = read_settings(file.with_suffix(".toml"), sink)
        if settings is not None:
            name = file.stem
            tests += [Test(name, file.absolute(), project, settings, how) for how in settings.choices]
    return tuple(tests)


def read_settings(path: Path, sink: Sink) -> CaseSettings | None:
    """The settings in a file, those that hold without one if it is missing; None after a diagnostic."""
    if not path.is_file():
        return CaseSettings()
    try:
        text = path.read_text(encoding="utf-8")
        given = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        line = re.search(r"at line (\d+)", str(error))
        span = Sources().span(path, int(line[1])) if line else None
        sink.report(TEST_SETTINGS, f"{path.name} is not valid TOML: {error}", span)
        return None
    values: dict[str, Any] = {}
    good = True
    for key, value in given.items():
        reader = _READERS.get(key)
        read = reader[1](value) if reader is not None else None
        if reader is None or read is None:
            _report(path, text, key, None if reader is None else reader[2], sink)
            good = False
        else:
            values[reader[0]] = read
    return CaseSettings(**values) if good else None


def _report(path: Path, text: str, key: str, expected: str | None, sink: Sink) -> None:
    lines = text.splitlines()
    line = next((n for n, each in enumerate(lines, 1) if re.match(rf"\s*\[?{re.escape(key)}\b", each)), 1)
    span = Sources().span(path, line)
    if expected is None:
        known = ", ".join(_READERS)
        help = suggestion(key, _READERS) or f"expected one of {known}"
        sink.report(TEST_SETTINGS, f"`{key}` is not a setting of a test", span, help=help)
    else:
        message = f"the value of `{key}` is not valid"
        sink.report(TEST_SETTINGS, message, span, help=f"write {expected}")


def _duration(value: object) -> int | None:
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return round(float(match[1]) * NANOSECONDS[match[2]]) or None if match else None


def _scheduling(value: object) -> str | None:
    return value if isinstance(value, str) and value in ("fifo", "rr") else None


def _choices(value: object) -> tuple[str, ...] | None:
    words: Sequence[object] = value if isinstance(value, list) else [value]
    found = [word for word in words if isinstance(word, str) and _CHOICES.fullmatch(word)]
    return tuple(dict.fromkeys(found)) if found and len(found) == len(words) else None


def _definitions(value: object) -> Mapping[str, str] | None:
    good = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    return value if good and isinstance(value, dict) else None


#: The keys of a file: the field, what reads a value (None: it is not valid), what to write.
_READERS = {
    "for": ("duration", _duration, 'a time, as in for = "100ms"'),
    "scheduling": ("scheduling", _scheduling, 'scheduling = "fifo" or "rr"'),
    "timeslice": ("timeslice", _duration, 'a time, as in timeslice = "5ms"'),
    "choices": ("choices", _choices, 'choices = "first", or a list as in ["first", "random:1"]'),
    "definitions": ("definitions", _definitions, 'CMake variables, as in definitions = { NAME = "ON" }'),
}
