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


def read_line(line: str) -> Record | None:
    """The record that a line of a console is, if it is one."""
    words = line.strip().split(" ")
    if words[0] != "~" or len(words) < 5:
        return None
    try:
        time, kind, thread, other, *arguments = (int(word, 16) for word in words[1:])
    except ValueError:
        return None
    return Record(time, kind, thread, other, tuple(arguments))


def read_console(lines: Iterable[str]) -> Iterator[Record]:
    """The records among the lines of a console, in their order; a damaged line is left out."""
    for line in lines:
        record = read_line(line)
        if record is not None:
            yield record


class ConsoleText:
    """What components printed, line by line. A line that another thread interrupted is put together again."""

    def __init__(self) -> None:
        self._unfinished: dict[int, str] = {}

    def add(self, record: Record) -> str:
        """The lines that an OUTPUT record ends; empty if it ends none."""
        *whole, rest = (self._unfinished.pop(record.thread, "") + record.text).split("\n")
        if rest:
            self._unfinished[record.thread] = rest
        return "".join(f"{line}\n" for line in whole)

    def rest(self) -> str:
        """The lines that nothing ended."""
        return "".join(f"{line}\n" for line in self._unfinished.values())


def output(records: Iterable[Record]) -> str:
    """What components printed, in the order in which they did."""
    text = ConsoleText()
    lines = "".join(text.add(record) for record in records if record.kind == OUTPUT)
    return lines + text.rest()


def trace_file(records: Iterable[Record]) -> bytes:
    """A trace file as the host kernel writes it; without the records that only a kernel can make."""
    parts = [_MAGIC]
    for record in records:
        arguments = struct.pack(f"<{len(record.arguments)}Q", *record.arguments)
        size = _HEADER.size + len(arguments)
        parts.append(_HEADER.pack(record.time, record.kind, size, record.thread, record.other) + arguments)
    return b"".join(parts)
