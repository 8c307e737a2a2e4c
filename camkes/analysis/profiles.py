# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Platform profiles: kernel/sel4/platforms/NAME.toml, and files of users."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from camkes import resources
from camkes.analysis.codes import PLATFORM
from camkes.analysis.platform import FREE, Platform
from camkes.diagnostics import Sink, SourceFile, Span

PROFILES = resources.SEL4_KERNEL / "platforms"


def names() -> tuple[str, ...]:
    """The profiles that come with the tool."""
    return (FREE.name, *sorted(path.stem for path in PROFILES.glob("*.toml")))


def find_platform(name: str, sink: Sink) -> Platform | None:
    """The profile of this name, or in this file; None, and an error, where there is no good one."""
    try:
        return read_platform(name)
    except FileNotFoundError:
        sink.report(
            PLATFORM,
            f"there is no platform profile `{name}`",
            help=f"expected one of {', '.join(names())}, or a file with the suffix .toml",
        )
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        sink.report(PLATFORM, f"the platform profile `{name}` cannot be read: {reason}")
    except tomllib.TOMLDecodeError as error:
        _report_syntax(_source(name), str(error), sink)
    except msgspec.ValidationError as error:
        _report_value(_source(name), str(error), sink)
    return None


def _report_syntax(file: SourceFile, error: str, sink: Sink) -> None:
    reason, _, where = error.partition(" (at ")
    numbers = [int(each) for each in re.findall(r"\d+", where)]
    if len(numbers) == 2:
        line, column = numbers
    else:  # at the end of the document
        line = max((n for n, each in enumerate(file.lines, 1) if each.strip()), default=1)
        column = len(file.lines[line - 1].rstrip())
    column = max(min(column, len(file.lines[line - 1])), 1)
    span = Span(file, line, column, line, column + 1)
    sink.report(PLATFORM, f"the platform profile is not valid TOML: {reason[:1].lower()}{reason[1:]}", span)


def _report_value(file: SourceFile, error: str, sink: Sink) -> None:
    """An error of a key, at the key, or of its value, at that."""
    reason, _, where = error.partition(" - at `$")
    keys = where.rstrip("`").split(".")[1:]
    unknown = re.search("unknown field `(.*)`", reason)
    if unknown is not None:
        where = f" in `{'.'.join(keys)}`" if keys else ""
        span = _place(file, [*keys, unknown[1]], value=False)
        sink.report(PLATFORM, f"a platform profile has no key `{unknown[1]}`{where}", span)
    else:
        text = f"the value of `{'.'.join(keys)}` is wrong: {reason[:1].lower()}{reason[1:]}"
        sink.report(PLATFORM, text, _place(file, keys, value=True))


def _place(file: SourceFile, keys: Sequence[str], *, value: bool) -> Span:
    """Where the text gives a key its value, in its table or with a dotted name; or the table of this name."""
    table = ""
    wanted = ".".join(keys)
    for number, line in enumerate(file.lines, 1):
        if (header := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line)) is not None:
            table = header[1]
            if table == wanted:
                return Span(file, number, header.start(1) + 1, number, header.end(1) + 1)
            continue
        found = re.match(r"\s*([\w.-]+)\s*=\s*([^#]*[^#\s])", line)
        if found is not None and ".".join(filter(None, (table, found[1]))) == wanted:
            start, end = found.span(2 if value else 1)
            return Span(file, number, start + 1, number, end + 1)
    return Span(file, 1, 1, 1, len(file.lines[0]) + 1)


def _path(name: str) -> Path:
    return Path(name) if name.endswith(".toml") else PROFILES / f"{name}.toml"


def _source(name: str) -> SourceFile:
    return SourceFile(_path(name), _path(name).read_text("utf-8"))


def read_platform(name: str) -> Platform:
    """The profile of this name, or in this file. Raises OSError where there is none, ValueError for a bad
    one."""
    if name == FREE.name:
        return FREE
    path = _path(name)
    return msgspec.convert({"name": path.stem, **tomllib.loads(path.read_text("utf-8"))}, Platform)
