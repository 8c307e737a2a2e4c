# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command in the process of the tests, which saves starting Python and importing the tool each time.

Tests of what only a process of its own shows (signals, terminals, its end) start one.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

from camkes.cli.captured import captured
from camkes.process import Finished as Result

__all__ = ["ROOT", "Result", "camkes"]

ROOT = Path(__file__).resolve().parents[1]


def camkes(*arguments: str | Path, cwd: Path = ROOT) -> Result:
    """Run `camkes` with these arguments; what processes that it starts write counts as its own."""
    with chdir(cwd):
        return captured([str(argument) for argument in arguments])
