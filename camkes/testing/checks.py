# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the code of a test reports, in lines of output that `runtime/include/camkes/test.h` writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

_MARK = "camkes-test\t"


class Report(Struct, frozen=True):
    """A line of a test. `what` is failed, stopped, case, fault, blocked, missed, response, crash, silence; of
    scripted calls script (those of a periodic task begin), played (all were made) or empty. `instance` is the
    one that wrote it, "": not known. `time` is in nanoseconds since boot."""

    what: str
    file: str
    line: int
    text: str
    instance: str
    time: int

    @property
    def path(self) -> Path:
        return Path(self.file)


class OutputLine(Struct, frozen=True):
    """A whole line that an instance printed, without its end."""

    time: int
    instance: str
    text: str


def whole_lines(pieces: Iterable[tuple[int, int, str]], instances: Sequence[str]) -> list[OutputLine]:
    """The lines of (time, number of a thread, text), of which the kernel cuts long ones into pieces;
    `instances` are those of the threads."""
    begun: dict[int, str] = {}
    lines = []
    for time, thread, text in pieces:
        *whole, rest = (begun.pop(thread, "") + text).split("\n")
        instance = instances[thread] if thread < len(instances) else ""
        lines += [OutputLine(time, instance, line) for line in whole]
        if rest:
            begun[thread] = rest
    return lines


def split_reports(lines: Iterable[OutputLine]) -> tuple[list[Report], list[OutputLine]]:
    """The reports among lines, and all other lines."""
    reports: list[Report] = []
    others: list[OutputLine] = []
    for line in lines:
        report = _report(line)
        if report is None:
            others.append(line)
        else:
            reports.append(report)
    return reports, others


def _report(line: OutputLine) -> Report | None:
    if not line.text.startswith(_MARK):
        return None
    fields = line.text.split("\t", 4)
    if len(fields) < 5 or not fields[3].isdecimal():
        return None
    _, what, file, number, text = fields
    return Report(what, file, int(number), text, line.instance, line.time)
