# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An output folder that several commands use: a lock for builds, and a copy for each run."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from camkes.backends.host.codes import FOLDER_IN_USE
from camkes.diagnostics import Diagnostic
from camkes.files import temporary_folder

LOCK = ".camkes-lock"
WAIT = 60.0  # seconds for another command to finish its build

_COPY = ".run-"  # begins the name of a copy
_STEP = 0.05  # seconds between two attempts


class FolderInUseError(Exception):
    """Another command builds in a folder, and did not finish in time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder))
        self.diagnostic = Diagnostic(
            FOLDER_IN_USE,
            f"another camkes command is building in {folder}",
            help="wait until it has finished, or choose another folder with -o",
        )


@contextmanager
def locked(folder: Path, progress: Callable[[str], None], wait: float | None = None) -> Iterator[int]:
    """Be the only one who builds in a folder, which is made if need be. The value is the open
    lock; a program that inherits it holds it too. FolderInUseError after
    `wait` seconds (default: WAIT); OSError where the folder cannot be written, or is removed meanwhile."""
    handle = _acquire(folder, progress, WAIT if wait is None else wait)
    try:
        try:
            yield handle
        except OSError:
            _check_there(handle, folder)  # else that is why
            raise
        _check_there(handle, folder)
    finally:
        os.close(handle)


def _acquire(folder: Path, progress: Callable[[str], None], wait: float) -> int:
    end = time.monotonic() + wait
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if _lock(handle) and _is_there(handle, folder):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if time.monotonic() >= end:
            raise FolderInUseError(folder)
        progress(f"waiting for another camkes command in {folder}")
        time.sleep(_STEP)


def _lock(handle: int) -> bool:
    """Whether no other process has the lock."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise  # else: a file system without locks
    return True


def _is_there(handle: int, folder: Path) -> bool:
    """Whether the folder still is the one with this lock: it may have been removed, and made again."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(handle), (folder / LOCK).stat())
    return False


def _check_there(handle: int, folder: Path) -> None:
    if not _is_there(handle, folder):
        raise FileNotFoundError(errno.ENOENT, "it was removed while it was in use", str(folder))


@contextmanager
def copied(files: Iterable[Path], folder: Path) -> Iterator[Path]:
    """A folder below `folder` with these files, which share their content with the copy where that is
    possible; it is removed in the end. Who replaces one of the files does not change the copy. To be entered
    with `folder` locked."""
    with temporary_folder(_COPY, folder) as copy:
        for file in files:
            _link(file, copy / file.name)
        yield copy


def publish(files: Iterable[Path], folder: Path) -> None:
    """Put files into a folder too, each in one step, in place of those of the same names.
    OSError where that cannot be."""
    for file in files:
        part = folder / f".{file.name}.{os.getpid()}"
        try:
            _link(file, part)
            part.replace(folder / file.name)
        finally:
            part.unlink(missing_ok=True)


def _link(file: Path, to: Path) -> None:
    try:
        os.link(file, to)
    except OSError:
        shutil.copy2(file, to)
