# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files and folders that the user may not read or write are errors that name them, in every command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ADDER = Path(__file__).parents[2] / "examples" / "adder"
#: root reads and writes everything, unless it gives that up
_AS_USERS_ARE = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.getuid() == 0 else []
pytestmark = pytest.mark.skipif(
    bool(_AS_USERS_ARE) and shutil.which("setpriv") is None, reason="needs setpriv, as root"
)
COMMANDS = ("check", "run", "run --json", "build", "graph", "plan", "migrate", "fmt", "analyze")


def camkes(command: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    verb, *options = command.split()
    words = [sys.executable, "-m", "camkes", verb, str(folder), *options, *more]
    return subprocess.run(
        [*_AS_USERS_ARE, *words], capture_output=True, text=True, check=False, cwd=folder.parent
    )


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    copy = tmp_path / "adder"
    shutil.copytree(ADDER, copy)
    yield copy
    copy.chmod(0o755)


def refused(done: subprocess.CompletedProcess[str], name: str) -> None:
    assert done.returncode == 1, done.stderr
    assert "Permission denied" in done.stderr and name in done.stderr
    assert "Traceback" not in done.stderr
    if done.stdout.startswith("{"):
        assert json.loads(done.stdout)["errors"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_cannot_be_entered(command: str, folder: Path) -> None:
    folder.chmod(0o644)
    refused(camkes(command, folder), "adder")


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "fmt"])
def test_a_list_that_cannot_be_read(command: str, folder: Path) -> None:
    (folder / "CMakeLists.txt").chmod(0)
    refused(camkes(command, folder), "CMakeLists.txt")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_system_that_cannot_be_read(command: str, folder: Path) -> None:
    (folder / "adder.camkes").chmod(0)
    refused(camkes(command, folder), "adder.camkes")


@pytest.mark.parametrize("command", ["run", "run --json", "build", "migrate"])
def test_a_source_that_cannot_be_read(command: str, folder: Path) -> None:
    (folder / "client.c").chmod(0)
    refused(camkes(command, folder), "client.c")


@pytest.mark.parametrize(
    "command", ["run -o", "run --json -o", "build -o", "run --trace", "run --console", "graph -o"]
)
def test_a_folder_that_cannot_be_written(command: str, folder: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(0o555)
    name = "out.json" if "--trace" in command else "out.svg"
    refused(camkes(command.rpartition(" ")[0], folder, command.split()[-1], str(closed / name)), str(closed))
