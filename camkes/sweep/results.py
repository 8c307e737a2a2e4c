# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The file of a sweep's rows, to which each is appended when it is known, and from which a sweep goes on.

Its lines are JSON: the first says which sweep it is, each other one is a row. A last line that is not whole
is that of a command that was stopped while it wrote it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from camkes.diagnostics import Sink
from camkes.files import OutputError
from camkes.sweep.codes import RESULTS_FILE
from camkes.sweep.rows import SweepRow


class SweepIdentity(Struct, frozen=True, kw_only=True):
    """Which sweep a file of results is of. `files` is a digest of the system, its code and the version of
    camkes-rt, `options` is what they are evaluated with, `vary` the text of each option."""

    schema: str = "camkes-sweep-results 1"
    vary: tuple[str, ...]
    options: Mapping[str, str]
    files: str

    def difference(self, other: SweepIdentity) -> str:
        """How another one differs, in words; empty: it does not."""
        if self.vary != other.vary:
            return f"it varies {', '.join(other.vary)}"
        for name in sorted(self.options.keys() | other.options.keys()):
            if self.options.get(name) != other.options.get(name):
                return f"it has {name} {other.options.get(name, 'not given') or 'not given'}"
        return "" if self.files == other.files else "the system, or camkes-rt, has changed since then"


class ResultsFile:
    """The rows that are known, and where more are written. Writing raises OutputError."""

    def __init__(self, path: Path | None, handle: int | None, rows: dict[int, SweepRow]) -> None:
        self.path, self.rows = path, rows
        self._handle = handle

    def add(self, row: SweepRow) -> None:
        if self._handle is not None and self.path is not None:
            _append(self._handle, self.path, msgspec.json.encode(row))
        self.rows[row.number] = row


@contextmanager
def results_file(path: Path | None, identity: SweepIdentity, sink: Sink) -> Iterator[ResultsFile | None]:
    """The file of a sweep, with what it has; None, and an error, where it is that of another one, or another
    command has it. Without a path, rows are only kept here. Raises OutputError."""
    if path is None:
        yield ResultsFile(None, None, {})
        return
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sink.report(RESULTS_FILE, f"another command writes to {path}", help="wait until it has ended")
            yield None
            return
        except OSError:
            pass  # a file system without locks
        yield _opened(path, handle, identity, sink)
    finally:
        os.close(handle)


def _opened(path: Path, handle: int, identity: SweepIdentity, sink: Sink) -> ResultsFile | None:
    data = _read(handle, path)
    lines = data.split(b"\n")
    lines.pop()  # what is behind the last line: nothing, or a part of one
    rows: dict[int, SweepRow] = {}
    good = 0
    for place, line in enumerate(lines):
        try:
            if place == 0:
                known = msgspec.json.decode(line, type=SweepIdentity)
            else:
                row = msgspec.json.decode(line, type=SweepRow)
                rows[row.number] = row
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            if place and place == len(lines) - 1:
                break
            sink.report(
                RESULTS_FILE,
                f"line {place + 1} of {path} is not one of a file of results: {error}",
                help="name another file with `--out`",
            )
            return None
        if place == 0 and (difference := identity.difference(known)):
            sink.report(
                RESULTS_FILE,
                f"{path} has the results of another sweep: {difference}",
                help="name another file with `--out`, or remove this one",
            )
            return None
        good += len(line) + 1
    if not lines and data and not msgspec.json.encode(identity).startswith(data):
        sink.report(RESULTS_FILE, f"{path} is not a file of results", help="name another file with `--out`")
        return None
    try:
        os.ftruncate(handle, good)
        os.lseek(handle, 0, os.SEEK_END)
    except OSError as error:  # a pipe or a device has no place
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    if not good:
        _append(handle, path, msgspec.json.encode(identity))
    return ResultsFile(path, handle, rows)


def _read(handle: int, path: Path) -> bytes:
    parts = []
    try:
        while part := os.read(handle, 1 << 20):
            parts.append(part)
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror}") from error
    return b"".join(parts)


def _append(handle: int, path: Path, line: bytes) -> None:
    """Write a line whole, or leave the file as it was."""
    data = memoryview(line + b"\n")
    written = 0
    try:
        while written < len(data):
            written += os.write(handle, data[written:])
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(handle, os.lseek(handle, -written, os.SEEK_CUR))
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
