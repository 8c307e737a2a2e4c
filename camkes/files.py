# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Atomic writes of files, temporary folders, and the places of files."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

_RANDOM = "[a-z0-9_]{8}"  # ends the names that tempfile makes


class OutputError(Exception):
    """A file the user asked for cannot be written. The message names the file and the reason."""


def as_here(file: Path, folders: Mapping[str, Path]) -> Path:
    """The place of a file that a program names, which has names for `folders`; the first that fits counts."""
    return next(
        (there / file.relative_to(name) for name, there in folders.items() if file.is_relative_to(name)), file
    )


def write_output(path: Path, data: bytes) -> None:
    """Write a file the user asked for, as `write_whole` does. Raises OutputError."""
    try:
        write_whole(path, data)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error


def write_changed(path: Path, content: str | bytes) -> bool:
    """Write as `write_whole` does, unless the file has this content already; then its time of change stays.
    Returns whether something was written. Raises OSError."""
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.read_bytes() == data:
            return False
    except OSError:
        pass
    write_whole(path, data)
    return True


def write_whole(path: Path, data: bytes) -> None:
    """Replace the content of a file in one step: who reads it finds the old content or the new one.

    The new content is written to another file in the same folder, which then takes the place of the old
    one; after an error or an interruption the old one is as it was. Missing folders are made. A symbolic
    link stays and the file it names is replaced, a file keeps its permissions, and what is not a regular
    file (a device, a pipe) is written to directly. The content is not forced to the disk. Raises OSError
    with `path` as its file name.
    """
    write_all([(path, data)])


def write_all(files: Iterable[tuple[Path, bytes]]) -> None:
    """Write several files as `write_whole` does. No file changes unless there is space for the content of
    all.
    Raises OSError with the name of the file that could not be written."""
    ready: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path, data in files:
            place = path.resolve()
            if place.exists() and not place.is_file():
                place.write_bytes(data)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            part = place.parent / f".{place.name[:40]}.{os.urandom(8).hex()}.part"
            ready.append((part, place))
            with part.open("xb") as file:
                file.write(data)
            if place.exists():
                part.chmod(place.stat().st_mode)
        for part, path in ready:
            part.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        for part, _ in ready:
            part.unlink(missing_ok=True)


@contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A new folder whose name begins with `prefix` in `parent`, or else in the folder for temporary files; in
    the end it is removed. Those that commands left there which were killed are removed at the beginning: a
    command has a lock on its own. Raises OSError."""
    import shutil
    import tempfile

    place = Path(tempfile.gettempdir()) if parent is None else parent
    name = re.compile(re.escape(prefix) + _RANDOM)
    for left in filter(name.fullmatch, os.listdir(place)):  # noqa: PTH208
        with suppress(OSError):
            handle, locked = _lock(place / left)
            if locked and os.fstat(handle).st_uid == os.geteuid():
                shutil.rmtree(place / left, ignore_errors=True)
            os.close(handle)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        with suppress(BlockingIOError, FileNotFoundError):  # another command took it for one that was left
            handle, _ = _lock(folder)
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def _lock(folder: Path) -> tuple[int, bool]:
    """An open folder, and whether we have a lock on it: there are file systems without locks. Raises OSError,
    BlockingIOError where another process has one."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.lstat()  # it may have been removed meanwhile
        return handle, True
    except OSError as error:
        if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            return handle, False
        os.close(handle)
        raise
