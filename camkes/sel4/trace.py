# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Traces from seL4: the lines that an image built with CAmkESTrace prints, as records of a trace file.

A record has the time since the timer driver's first instruction, or since power-on where there is none.
Threads have the numbers that the host kernel's table gives them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_HEADER = struct.Struct("<QHHHH")
_MAGIC = b"CAMKTRC1"
OUTPUT = 14
NOBODY = 65535


class Record(NamedTuple):
    time: int
    kind: int
    thread: int
    other: int
    arguments: tuple[int, ...]

    @property
    def text(self) -> str:
        """What an OUTPUT record says."""
        data = b"".join(word.to_bytes(8, "little") for word in self.arguments[1:])
        return data[: self.arguments[0]].decode(errors="replace")


def read_console(lines: Iterable[str]) -> Iterator[Record]:
    """The records among the lines of a console, in their order; a damaged line is left out."""
    for line in lines:
        words = line.strip().split(" ")
        if words[0] != "~" or len(words) < 5:
            continue
        try:
            time, kind, thread, other, *arguments = (int(word, 16) for word in words[1:])
        except ValueError:
            continue
        yield Record(time, kind, thread, other, tuple(arguments))


def output(records: Iterable[Record]) -> str:
    """What components printed, in the order in which they did. A line that another thread interrupted is
    put together again."""
    unfinished: dict[int, str] = {}
    lines: list[str] = []
    for record in records:
        if record.kind != OUTPUT:
            continue
        *whole, rest = (unfinished.pop(record.thread, "") + record.text).split("\n")
        lines += whole
        if rest:
            unfinished[record.thread] = rest
    return "".join(f"{line}\n" for line in (*lines, *unfinished.values()))


def trace_file(records: Iterable[Record]) -> bytes:
    """A trace file as the host kernel writes it; without the records that only a kernel can make."""
    parts = [_MAGIC]
    for record in records:
        arguments = struct.pack(f"<{len(record.arguments)}Q", *record.arguments)
        size = _HEADER.size + len(arguments)
        parts.append(_HEADER.pack(record.time, record.kind, size, record.thread, record.other) + arguments)
    return b"".join(parts)
