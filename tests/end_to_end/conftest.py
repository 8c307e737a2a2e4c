# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command in the process of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.cli import main as cli
from tests.end_to_end.support import ROOT, Here, Result


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """As `support.camkes`, for tests of what a command does; others need a process."""

    def run(*arguments: str | Path, cwd: Path = ROOT) -> Result:
        monkeypatch.chdir(cwd)
        capfd.readouterr()
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            assert isinstance(end.code, int)
            status = end.code
        return Result(status, *capfd.readouterr())

    return run
