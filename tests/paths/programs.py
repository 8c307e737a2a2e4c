# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Programs of C text for tests of paths: their bounds, and the instructions that they execute."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from camkes.paths.bound import PathBound, bound
from camkes.paths.contracts import LoopStatements, StatedSources
from camkes.paths.graph import WayFinder
from camkes.paths.program import LinkedProgram
from camkes.paths.steps import Path as WayThrough
from camkes.paths.system import CALLS

COUNT = Path(__file__).parent / "count.c"
_FLAGS = (
    *("-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-fno-pic", "-fno-pie", "-no-pie"),
    *("-fcf-protection=none", "-fno-stack-protector", "-fno-stack-clash-protection", "-U_FORTIFY_SOURCE"),
)
_COMPILER = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False).stdout

#: instructions are counted by single steps, and what is compiled is that of GCC
needs_gcc = pytest.mark.skipif(
    platform.machine() != "x86_64" or "Free Software Foundation" not in _COMPILER,
    reason="the programs are those of GCC for x86_64",
)


class Compiled:
    """A program with functions `unsigned long NAME(unsigned long)` that can be counted."""

    def __init__(self, folder: Path, text: str, names: Sequence[str], *flags: str) -> None:
        self.source = folder / "functions.c"
        self.names = names
        table = ", ".join(names)
        # what is called by a pointer of a table is neither inlined nor changed for its only call
        self.source.write_text(f"{text}\nunsigned long (*const functions[])(unsigned long) = {{{table}}};\n")
        self.path = folder / "count"
        subprocess.run(["cc", *_FLAGS, *(flags or ("-O2",)), "-o", self.path, self.source, COUNT], check=True)

    def count(self, name: str, argument: int) -> int:
        """The instructions of a call."""
        words = [str(self.path), str(self.names.index(name)), str(argument)]
        return int(subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout)

    def bound(
        self, name: str, numbers: Mapping[str, int] = {}, limits: Mapping[str, int] = {}, **path: object
    ) -> PathBound:
        """The bound of a function, or of another path from it. Raises PathError."""
        statements = LoopStatements(StatedSources(), numbers, limits)
        finder = WayFinder(LinkedProgram(self.path), CALLS, statements)
        return bound(finder, WayThrough(function=name, **path))  # type: ignore[arg-type]

    def least(self, name: str) -> int:
        """What an execution of a function takes at least."""
        finder = WayFinder(LinkedProgram(self.path), CALLS, LoopStatements(StatedSources()))
        return finder.least(WayThrough(function=name))

    def line(self, text: str) -> int:
        """The line of the source with a text."""
        lines = self.source.read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)
