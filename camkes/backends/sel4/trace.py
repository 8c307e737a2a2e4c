# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Traces from seL4: the lines that an image built with CAmkESTrace prints, as records of a trace file.

A record has the time since the timer driver's first instruction, or since power-on where there is none.
Threads have the numbers that the host kernel's table gives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from camkes.model.limits import NO_NUMBER
from camkes.running.kinds import Kind

#: the time, the kind and two threads; the most arguments that the size of a record can express
_LEAST, _MOST = 4, 4 + 8_000

#: a word of 64 bits
_NUMBER = re.compile(r"[0-9a-fA-F]{1,16}", re.ASCII)


class Record(NamedTuple):
    time: int
    kind: int
    thread: int
    other: int
    arguments: tuple[int, ...]

    @property
    def text(self) -> str:
        """The text of an OUTPUT record."""
        length, *words = self.arguments or (0,)
        data = b"".join(word.to_bytes(8, "little") for word in words)
        return data[:length].decode(errors="replace")


#: kinds of records that images make and trace files do not have, of runtime/src/platform/sel4/trace_sel4.h:
#: the thread runs again after a kernel call; it was preempted, from one time to another; its last kernel call
#: was an error
RETURN, GAP, FAILED = 128, 129, 130

#: the line before the first record after some that were overwritten before the image printed them
LOST = "~ lost"


def read_line(line: str) -> Record | None:
    """The record that a line of a console is, if it is one. Its numbers fit into the fields of a record."""
    words = line.strip().split(" ")
    if words[0] != "~" or not all(map(_NUMBER.fullmatch, words[1:])):
        return None
    numbers = [int(word, 16) for word in words[1:]]
    if not _LEAST <= len(numbers) <= _MOST or max(numbers[1:_LEAST]) > NO_NUMBER:
        return None
    time, kind, thread, other, *arguments = numbers
    return Record(time, kind, thread, other, tuple(arguments))


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
    lines = "".join(text.add(record) for record in records if record.kind == Kind.OUTPUT)
    return lines + text.rest()
