# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Finds the source lines of addresses in an image in its debugging information."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from camkes.process import run

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)(?: \(discriminator \d+\))?$")


class CodeLine(Struct, frozen=True):
    """A line of C, and the function it is in ("" where that is not known)."""

    file: Path
    line: int
    function: str


def locate(image: Path, offsets: Sequence[int]) -> list[tuple[CodeLine, ...]]:
    """The places of each offset in an image: the innermost inlined function first, then those that it was
    inlined into. Empty if the image has no line numbers, or if binutils' addr2line is missing."""
    if not offsets:
        return []
    command = ["addr2line", "-e", str(image), "-a", "-i", "-f", "-C", *map(hex, offsets)]
    try:
        done = run(command)
    except OSError:
        return [()] * len(offsets)
    # an address, then pairs of lines: a function and FILE:LINE
    found: list[list[CodeLine]] = []
    function = ""
    wants_function = True
    for line in done.output.splitlines():
        if line.startswith("0x") and wants_function:
            found.append([])
        elif wants_function:
            function, wants_function = line.partition("(")[0].partition(".")[0], False
        else:
            wants_function = True
            match = _PLACE.match(line)
            if match is not None and found and int(match["line"]) > 0:
                found[-1].append(CodeLine(Path(match["file"]), int(match["line"]), function.strip("?")))
    found += [[] for _ in range(len(offsets) - len(found))]
    return [tuple(places) for places in found]
