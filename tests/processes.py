# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which processes a test has started, found by a mark in their environment."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path

#: Long enough for the slowest machine, in seconds; what is waited for usually holds at once.
PATIENCE = 60


def default_signals() -> None:
    """For a program that a test starts: what `nohup` or a shell lets us ignore ends it."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Marked:
    """An environment that marks all processes that inherit it."""

    def __init__(self) -> None:
        self.mark = f"CAMKES_TEST_MARK={uuid.uuid4()}"

    @property
    def variable(self) -> tuple[str, str]:
        name, _, value = self.mark.partition("=")
        return name, value

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, **dict([self.variable])}

    def alive(self) -> list[str]:
        """The command lines of marked processes; not of those that have ended."""
        return [line for _, line in self.numbered()]

    def numbered(self) -> list[tuple[int, str]]:
        """Marked processes with their command lines."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in process.joinpath("environ").read_bytes().split(b"\0"):
                    line = process.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append((int(process.name), line))
            except OSError:
                continue  # it has ended
        return found

    def assert_none(self) -> None:
        """Processes that were killed are given the time to disappear."""
        wait_for(lambda: not self.alive(), lambda: f"still running: {self.alive()}")


def wait_for(condition: Callable[[], bool], what: Callable[[], str] = lambda: "") -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.01)
