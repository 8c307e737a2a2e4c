# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command in the process of the tests, which saves starting Python and importing the tool each time.

Tests of what only a process of its own shows (signals, terminals, its end) start one.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from camkes.cli.main import main
from camkes.process import VisibleStream

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Result:
    status: int
    output: str
    errors: str


def camkes(*arguments: str | Path, cwd: Path = ROOT) -> Result:
    """Run `camkes` with these arguments; what processes that it starts write counts as its own."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with chdir(cwd), _written_to(output, "stdout"), _written_to(errors, "stderr"):
            status = main([str(argument) for argument in arguments])
        return Result(status, _text(output), _text(errors))


@contextmanager
def _written_to(file: IO[bytes], name: str) -> Iterator[None]:
    stream, descriptor = getattr(sys, name), {"stdout": 1, "stderr": 2}[name]
    stream.flush()
    before = os.dup(descriptor)
    os.dup2(file.fileno(), descriptor)
    try:
        with VisibleStream(open(descriptor, "w", encoding="utf-8", closefd=False)) as opened:
            setattr(sys, name, opened)
            yield
    finally:
        setattr(sys, name, stream)
        os.dup2(before, descriptor)
        os.close(before)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="surrogateescape")
