# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes fmt`: selects files, formats them, and writes the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from camkes.diagnostics import Sink, SourceFile
from camkes.diagnostics.rendering.patch import patch
from camkes.files import write_output
from camkes.format import format_file
from camkes.parser.files import decode, read_source
from camkes.parser.parse import ParseOptions
from camkes.project.application import surrounding_applications

SUFFIXES = (".camkes", ".idl4")
_MARK = "\ufeff"


class FormattedFile(Struct, frozen=True):
    """A file as it is stored and as it should be. Its line ends and a byte order mark stay."""

    source: SourceFile
    before: str
    after: str

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def write(self) -> None:
        """Put the file in order, whole or not at all. Raises OutputError."""
        write_output(self.source.path, self.after.encode())

    def diff(self) -> str:
        """What would change, as a patch."""
        name = str(self.source.path)
        return "".join(patch(self.before, self.after, name, name))


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files that are meant: those named, and all below the folders named."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        next(path.iterdir(), None)  # an error if it cannot be read
        for found in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in found.relative_to(path).parts)
            if found.suffix in SUFFIXES and not hidden and found.is_file():
                yield found


def lay_out(path: Path, sink: Sink) -> FormattedFile | None:
    """The layout of a file, or None and errors if it is not a correct one."""
    source = read_source(path, sink)
    return None if source is None else _lay_out(source, path.read_bytes(), sink, parse_options(path))


def lay_out_text(data: bytes, sink: Sink) -> FormattedFile | None:
    """The layout of a text that is in no file."""
    source = decode(Path("<stdin>"), data, sink)
    return None if source is None else _lay_out(source, data, sink, ParseOptions())


def _lay_out(source: SourceFile, stored: bytes, sink: Sink, options: ParseOptions) -> FormattedFile | None:
    formatted = format_file(source, sink, options=options)
    if formatted is None:
        return None
    before = stored.decode()
    after = formatted.replace("\n", "\r\n") if "\r\n" in before else formatted
    return FormattedFile(source, before, f"{_MARK}{after}" if before.startswith(_MARK) else after)


def parse_options(path: Path) -> ParseOptions:
    """How the application around a file reads it: macros can come from its flags."""
    application = next(surrounding_applications(path, may_ask=True), None)
    if application is None:
        return ParseOptions()
    return ParseOptions(cpp_flags=application.cpp_flags, include_path=application.cpp_includes)
