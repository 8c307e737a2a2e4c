# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Notices changes of the files of an application, by looking at them again and again."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

#: Folders that no application has its files in.
_PASSED_OVER = frozenset(("build", "__pycache__", "node_modules"))
_SECONDS = 0.2

#: When each file changed, and its size.
State = Mapping[str, tuple[int, int]]


def state_of(path: Path) -> State:
    """The files below the folder of an application, without hidden ones and those of builds."""
    found = {}
    root = path if path.is_dir() else path.parent
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER and name[0] != ".")
        for name in names:
            if name[0] != "." and not name.endswith(("~", ".part")):
                file = os.path.join(folder, name)  # noqa: PTH118 - many files, several times a second
                try:
                    status = os.stat(file)  # noqa: PTH116
                except OSError:
                    continue  # it was removed meanwhile
                found[file] = (status.st_mtime_ns, status.st_size)
    return found


def changed(before: State, after: State) -> list[str]:
    """The files that changed, came or went."""
    every = sorted({*before, *after})
    return [file for file in every if before.get(file) != after.get(file)]


def wait_for_change(path: Path, before: State) -> list[str]:
    """Wait until files differ from `before`, and change no more for a moment: an editor writes several."""
    while not (found := changed(before, state_of(path))):
        time.sleep(_SECONDS)
    while True:
        last = state_of(path)
        time.sleep(_SECONDS / 2)
        if state_of(path) == last:
            return changed(before, last) or found
