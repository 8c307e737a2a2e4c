# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Finds the source lines of addresses in an image in its debugging information."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from camkes.files import as_here
from camkes.process import run
from camkes.resources import ROOT

#: What images call the folder of the application, that of the build, and that of the tool: equal inputs make
#: equal images, wherever these are.
APPLICATION, BUILD, TOOL = "/application", "/build", "/camkes-rt"

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)(?: \(discriminator \d+\))?$")


class CodeLine(Struct, frozen=True):
    """A line of C, and the function it is in ("" where that is not known)."""

    file: Path
    line: int
    function: str


def named_folders(application: Path | None, out: Path) -> dict[str, Path]:
    """The folders that images built in `out` have names for, by these; the first that fits counts."""
    own = {} if application is None else {APPLICATION: application.absolute()}
    return {BUILD: out.absolute(), **own, TOOL: ROOT}


def naming_flags(folders: Mapping[str, Path]) -> tuple[str, ...]:
    """What makes compilers write these names. Of flags, the last that fits counts; a folder with `=` in its
    path has no name, as compilers divide the flag there."""
    named = [(place, name) for name, place in folders.items() if "=" not in str(place)]
    return tuple(f"-ffile-prefix-map={place}={name}" for place, name in reversed(named))


def names_as_here(text: str, folders: Mapping[str, Path]) -> str:
    """The text of a linker with the places of files."""
    for name, place in folders.items():
        there = str(place).replace("\\", r"\\")
        text = re.sub(rf"(?<![\w./-]){name}(?=/)", there, text)
    return text


def locate(image: Path, offsets: Sequence[int], folders: Mapping[str, Path]) -> list[tuple[CodeLine, ...]]:
    """The places of each offset in an image, which has names for `folders`: the innermost inlined function
    first, then those that it was inlined into. Empty if the image has no line numbers, or if binutils'
    addr2line is missing."""
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
                file = as_here(Path(match["file"]), folders)
                found[-1].append(CodeLine(file, int(match["line"]), function.strip("?")))
    found += [[] for _ in range(len(offsets) - len(found))]
    return [tuple(places) for places in found]
