# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Archives in the form `newc`, as `cpio --reproducible` writes them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path

from camkes.files import write_changed

_MAGIC = "070701"
_TRAILER = "TRAILER!!!"
_BLOCK = 512
_PROGRAM, _DATA = 0o100755, 0o100644


def write_cpio(path: Path, members: Iterable[tuple[str, bytes]], data_files: Container[str] = ()) -> None:
    """Write an archive of programs, which belong to root and have no time, unless it is there already. Those
    named in `data_files` are not programs."""
    data = bytearray()
    for name, content in members:
        _add(data, name, content, _DATA if name in data_files else _PROGRAM)
    _add(data, _TRAILER, b"", 0)
    data += bytes(-len(data) % _BLOCK)
    write_changed(path, bytes(data))


def _add(data: bytearray, name: str, content: bytes, mode: int) -> None:
    # inode, mode, user, group, links, time, size, device (2), its own device (2), length of the name, sum
    fields = (0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    data += _MAGIC.encode() + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    data += bytes(-len(data) % 4)
    data += content
    data += bytes(-len(data) % 4)
