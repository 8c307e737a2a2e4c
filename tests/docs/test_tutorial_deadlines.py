# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The tutorial about deadlines, followed by a reader: each command is run, in order, and prints what the page
shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from camkes.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial-deadlines.md").read_text("utf-8")
#: exit statuses of commands, other than 0, by what they begin with; the first one of two counts once
MISSED = [["analyze", "deadlines.camkes"], ["analyze", "deadlines.camkes", "--explain"],
          ["analyze", "deadlines.camkes", "--witnesses"], ["run"]]  # fmt: skip


def commands() -> Iterator[tuple[list[str], list[str]]]:
    """Each command and the lines that the page shows after it."""
    for block in re.findall(r"^    camkes .*(?:\n(?:    .*)?)*", PAGE, re.MULTILINE):
        shown: list[str] = []
        words: list[str] | None = None
        for line in (line.removeprefix("    ") for line in block.splitlines()):
            if line.startswith("camkes "):
                if words is not None:
                    yield words, shown
                words, shown = shlex.split(line)[1:], []
            elif line.strip():
                shown.append(line)
        assert words is not None
        yield words, shown


def test_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    system = re.search(r"```camkes\n(.*?)```", PAGE, re.DOTALL)
    assert system is not None
    Path("deadlines.camkes").write_text(system[1])
    Path("examples").symlink_to(ROOT / "examples")
    missed = [*MISSED]
    count = 0
    for words, shown in commands():
        if words[0] == "measure":
            words += ["--output", "out"]
        expected = 1 if missed and words[: len(missed[0])] == missed[0] else 0
        missed = missed[expected:]
        assert main(words) == expected, words
        printed = iter(capsys.readouterr().out.splitlines())
        for line in shown:  # in this order
            assert any(each.startswith(line) for each in printed), (words, line)
        count += 1
    assert count >= 10 and not missed
    assert "missed" in Path("radar.svg").read_text()
    assert Path("deadlines.html").read_text().startswith("<!doctype html>")
