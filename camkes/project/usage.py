# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The total resource usage of a process group: limits of the kernel apply to single processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

_DEEPEST = 100  # folders in folders


class Usage(Struct, frozen=True):
    """Limits: the number of processes, the bytes of their memory, and the number and bytes of the files below
    a folder."""

    folder: Path
    processes: int
    memory: int
    files: int
    size: int

    def within(self, group: int) -> bool:
        """Whether a process group keeps within the limits at this moment."""
        memory = 0
        for number, resident in enumerate(_resident(group), 1):
            memory += resident
            if number > self.processes or memory > self.memory:
                return False
        return self.files_within()

    def files_within(self) -> bool:
        """Whether the files do, and no folder is very deep."""
        number = size = 0
        deepest = str(self.folder).count("/") + _DEEPEST
        for folder, folders, files in os.walk(self.folder):
            number += len(folders) + len(files)
            if number > self.files or folder.count("/") > deepest:
                return False
            for file in files:
                with suppress(OSError):
                    size += os.lstat(f"{folder}/{file}").st_blocks * 512
        return size <= self.size


def _resident(group: int) -> Iterator[int]:
    """The bytes in memory of each process of a group; nothing where there is no /proc."""
    with suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208
            with suppress(OSError, ValueError):  # it has ended; not the name of a process
                if os.getpgid(int(name)) == group:
                    status = Path("/proc", name, "stat").read_bytes().rpartition(b") ")[2].split()
                    yield int(status[21]) * os.sysconf("SC_PAGE_SIZE")
