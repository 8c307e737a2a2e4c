# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The check of commits that continuous integration runs on a pull request."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-29")

SCRIPT = Path(__file__).resolve().parents[2] / ".github" / "scripts" / "check-commits"
AUTHOR = "Ada <ada@example.org>"


def commit(folder: Path, message: str, author: str = AUTHOR) -> None:
    """An empty commit of `author`, made by another person."""
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_COMMITTER_NAME": "Ben",
        "GIT_COMMITTER_EMAIL": "ben@example.org",
    }
    command = ["git", "commit", "--quiet", "--allow-empty", f"--author={author}", "-m", message]
    subprocess.run(command, cwd=folder, env=environment, check=True)


def check(folder: Path, since: str = "HEAD~1") -> tuple[int, str]:
    """Exit status and messages for commits since one, by default for the newest."""
    done = subprocess.run([SCRIPT, f"{since}..HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    commit(tmp_path, "tests: a first commit")
    return tmp_path


@pytest.mark.parametrize("subject", ["parser: less memory", "host, sel4: " + "x" * 60])
def test_a_commit_of_the_right_form_passes(repository: Path, subject: str) -> None:
    commit(repository, f"{subject}\n\nWhy.\n\nSigned-off-by: {AUTHOR}")
    assert check(repository) == (0, "")


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ("parser: less memory", "not signed off"),
        ("parser: less memory\n\nSigned-off-by: Ben <ben@example.org>", "not signed off"),
        (f"parser: less memory\n\nSigned-off-by: {AUTHOR}.uk", "not signed off"),
        (f"parser: less memory\n\nSigned-off-by: {AUTHOR}\n\nand then more text", "not signed off"),
        (f"parser: {'x' * 65}\n\nSigned-off-by: {AUTHOR}", "has 73 characters"),
        (f"less memory\n\nSigned-off-by: {AUTHOR}", "does not begin with an area"),
    ],
)
def test_a_wrong_commit_is_named(repository: Path, message: str, complaint: str) -> None:
    commit(repository, message)
    status, messages = check(repository)
    assert status == 1
    assert messages.count("\n") == 1 and complaint in messages


def test_the_first_push_of_a_branch(repository: Path) -> None:
    """There is no commit before it: the last one is looked at."""
    commit(repository, f"parser: less memory\n\nSigned-off-by: {AUTHOR}")
    assert check(repository, "0" * 40) == (0, "")
    commit(repository, "parser: more of it")
    assert check(repository, "0" * 40)[0] == 1


def test_a_commit_that_is_not_there(repository: Path) -> None:
    assert check(repository, "f" * 40)[0] != 0
