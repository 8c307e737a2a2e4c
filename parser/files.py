# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Reading the user's files."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.parser import codes

MAX_SIZE = 64 * 1024 * 1024
_STRING_OR_COMMENT = re.compile(rb'("[^"]*")|//(?:[^\n\\]++|\\\r?\n|\\)*+|/\*.*?(?:\*/|\Z)', re.DOTALL)


def read_meaning(path: Path, sink: Sink, included_from: Span | None = None) -> SourceFile | None:
    """A file as `read_source` returns it, for files of others: comments may contain bytes that are not
    text."""
    return read_source(path, sink, included_from, exact=False)


def read_source(
    path: Path, sink: Sink, included_from: Span | None = None, *, exact: bool = True
) -> SourceFile | None:
    """A file as text, or None and a diagnostic at the place that asked for it.

    Lines end in "\\n" whatever the file has, and a byte order mark is left out.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        _unreadable(path, error, sink, included_from)
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            sink.report(codes.FILE_UNREADABLE, f"`{path}` is {kind}", included_from)
            return None
        if status.st_size > MAX_SIZE:
            sink.report(
                codes.FILE_TOO_LARGE,
                f"`{path}` is too large: {status.st_size // 2**20} MiB, the limit is {MAX_SIZE // 2**20} MiB",
                included_from,
            )
            return None
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            data = stream.read(MAX_SIZE)
    except OSError as error:
        _unreadable(path, error, sink, included_from)
        return None
    finally:
        os.close(descriptor)
    return decode(path, data, sink, included_from, exact=exact)


def decode(
    path: Path, data: bytes, sink: Sink, included_from: Span | None = None, *, exact: bool = True
) -> SourceFile | None:
    """The bytes of a file as text, or None and a diagnostic at the first byte that is not text.

    Unless `exact`, such bytes are let pass where only comments have them.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    bad, what = _no_text(data)
    text = data.decode(errors="replace")
    if bad >= 0 and not exact:
        # a comment keeps its length without its text
        bad, what = _no_text(_STRING_OR_COMMENT.sub(lambda match: match[1] or b" " * len(match[0]), data))
        text = text.replace("\0", "\ufffd")
    source = SourceFile(path, text.replace("\r\n", "\n").replace("\r", "\n"), included_from)
    if bad < 0:
        return source
    before = data[:bad].decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    sink.report(
        codes.FILE_NOT_TEXT,
        f"`{path}` is not a text file: it contains {what}",
        Span(source, line, column, line, column + 1),
        help="a .camkes file is text; save it as UTF-8",
    )
    return None


def _no_text(data: bytes) -> tuple[int, str]:
    """The offset of the first byte that is not text, and a description of it; -1 if there is none."""
    zero = data.find(b"\0")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if zero < 0 or error.start < zero:
            return error.start, f"the byte 0x{data[error.start]:02X}, which is not UTF-8"
    return zero, "a NUL byte"


def _unreadable(path: Path, error: Exception, sink: Sink, included_from: Span | None) -> None:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    sink.report(codes.FILE_UNREADABLE, f"cannot read `{path}`: {reason}", included_from)
