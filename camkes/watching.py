# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Notices changes of the files of an application, by looking at them again and again."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

#: Folders that no application has its files in.
_PASSED_OVER = frozenset(("build", "__pycache__", "node_modules"))
_SECONDS = 0.2

#: When each file changed, and its size.
State = Mapping[str, tuple[int, int]]


class Written(Struct, frozen=True):
    """What a command itself writes, which does not count: the names of files and folders, and (device, inode)
    of open files."""

    names: frozenset[str] = frozenset()
    files: frozenset[tuple[int, int]] = frozenset()


def written(paths: Iterable[Path | None], streams: Iterable[int]) -> Written:
    """Files and folders that options name, and where descriptors such as standard output lead to."""
    status = [os.fstat(stream) for stream in streams]
    return Written(
        frozenset(str(path.resolve()) for path in paths if path is not None),
        frozenset((each.st_dev, each.st_ino) for each in status),
    )


def state_of(path: Path, own: Written) -> State:
    """The files below the folder of an application, without hidden ones, those of builds and `own`."""
    found = {}
    root = (path if path.is_dir() else path.parent).resolve()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _PASSED_OVER and name[0] != "." and f"{folder}/{name}" not in own.names
        )
        for name in names:
            file = f"{folder}/{name}"
            if name[0] == "." or name.endswith(("~", ".part")) or file in own.names:
                continue
            try:
                status = os.stat(file)  # noqa: PTH116 - many files, several times a second
            except OSError:
                continue  # it was removed meanwhile
            if (status.st_dev, status.st_ino) not in own.files:
                found[file] = (status.st_mtime_ns, status.st_size)
    return found


def changed(before: State, after: State) -> list[str]:
    """The files that changed, came or went."""
    every = sorted({*before, *after})
    return [file for file in every if before.get(file) != after.get(file)]


def wait_for_change(path: Path, before: State, own: Written) -> list[str]:
    """Wait until files differ from `before`, and change no more for a moment: an editor writes several."""
    while not (found := changed(before, state_of(path, own))):
        time.sleep(_SECONDS)
    while True:
        last = state_of(path, own)
        time.sleep(_SECONDS / 2)
        if state_of(path, own) == last:
            return changed(before, last) or found
