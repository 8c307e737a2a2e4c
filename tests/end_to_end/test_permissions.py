# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files and folders that the user may not read or write are errors that name them, in every command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.command import ROOT, Result

ADDER = ROOT / "examples" / "adder"
#: root reads and writes everything, unless it gives that up
_AS_USERS_ARE = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.getuid() == 0 else []
pytestmark = [
    pytest.mark.requirement("TOOL-6"),
    pytest.mark.skipif(
        bool(_AS_USERS_ARE) and shutil.which("setpriv") is None, reason="needs setpriv, as root"
    ),
]
COMMANDS = (
    *("check {}", "run {}", "run {} --json", "build {}", "graph {}", "plan {}"),
    *("fmt {}", "analyze {}"),
)


#: All commands of a test in one process, each to its end.
_ALL = """
import json, pathlib, sys
from tests.command import camkes
here = pathlib.Path(sys.argv[1])
done = [camkes(*words, cwd=here) for words in json.load(sys.stdin)]
json.dump([[each.status, each.output, each.errors] for each in done], sys.stdout)
"""


def outcomes(folder: Path, *commands: str) -> Iterator[tuple[str, Result]]:
    """What comes of `camkes` commands as a user who is not root gives them, each with the command. In them,
    {} is the folder."""
    given = [[word.replace("{}", str(folder)) for word in command.split()] for command in commands]
    done = subprocess.run(
        [*_AS_USERS_ARE, sys.executable, "-c", _ALL, str(folder.parent)],
        input=json.dumps(given), capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for command, (status, output, errors) in zip(commands, json.loads(done.stdout), strict=True):
        yield command, Result(status, output, errors)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    copy = tmp_path / "adder"
    shutil.copytree(ADDER, copy)
    yield copy
    copy.chmod(0o755)


def refused(found: Iterable[tuple[str, Result]], name: str) -> None:
    for command, done in found:
        assert done.status == 1, (command, done.errors)
        assert "Permission denied" in done.errors and name in done.errors, command
        assert "Traceback" not in done.errors, command
        if done.output.startswith("{"):
            assert json.loads(done.output)["errors"], command


@pytest.mark.long
def test_a_folder_that_cannot_be_entered(folder: Path) -> None:
    folder.chmod(0o644)
    refused(outcomes(folder, *COMMANDS), "adder")


def test_a_list_that_cannot_be_read(folder: Path) -> None:
    (folder / "CMakeLists.txt").chmod(0)
    refused(outcomes(folder, *(c for c in COMMANDS if c != "fmt {}")), "CMakeLists.txt")


@pytest.mark.long
def test_a_system_that_cannot_be_read(folder: Path) -> None:
    (folder / "adder.camkes").chmod(0)
    refused(outcomes(folder, *COMMANDS), "adder.camkes")


@pytest.mark.long
def test_a_source_that_cannot_be_read(folder: Path) -> None:
    (folder / "client.c").chmod(0)
    refused(outcomes(folder, "run {}", "run {} --json", "build {}"), "client.c")


@pytest.mark.long
def test_a_folder_that_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(0o555)
    options = (
        "run {} -o",
        "run {} --json -o",
        "build {} -o",
        "run {} --trace",
        "run {} --console",
        "graph {} -o",
    )
    names = ("out.json" if "--trace" in option else "out.svg" for option in options)
    commands = (f"{option} {closed / name}" for option, name in zip(options, names, strict=True))
    refused(outcomes(folder, *commands), str(closed))
