# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A command in this process, with what it and the programs that it starts write."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from camkes.cli.main import main
from camkes.process import Finished, VisibleStream


def captured(words: Sequence[str]) -> Finished:
    """Run `camkes` with these words."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with _written_to(output, "stdout"), _written_to(errors, "stderr"):
            status = main(words)
        return Finished(status, _text(output), _text(errors))


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
