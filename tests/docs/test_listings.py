# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Listings of the documentation, followed by a reader: files with a title are written, commands of blocks
`console` are run, in order, and print what the page shows.

A page has a folder of its own, in which `examples` are those of the repository; the chapters of the tutorial
share one. In what is shown, a line `[...]` matches any lines. `$ echo $?` shows the exit status of the
command before; without it, it is 0. CAMKES_UPDATE_GOLDEN=1 writes what commands print into blocks without
such a line.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command import camkes
from tests.docs.test_examples import PAGES, ROOT
from tests.golden import compare

TUTORIAL = ROOT / "docs" / "tutorial"
BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
#: what commands need that a machine may lack
NEEDS = {"camkes debug": "gdb"}


#: Pages with commands that are run, outside of the tutorial. `make docs` runs all of them.
LISTED = [
    pytest.param(
        page,
        marks=() if page.name.startswith("tutorial") else pytest.mark.long,
        id=str(page.relative_to(ROOT)),
    )
    for page in PAGES
    if "\n```console\n" in page.read_text() and page.parent != TUTORIAL
]
#: Languages of listings: `console` is run, `text` and `sh` are not.
LANGUAGES = {"camkes", "c", "cmake", "console", "elisp", "json", "lua", "sh", "text", "toml"}


class Reader:
    """Follows pages in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        (folder / "examples").symlink_to(ROOT / "examples")

    def follow(self, page: Path) -> None:
        text = page.read_text()
        changed = BLOCK.sub(lambda match: self._block(page, match), text)
        if changed != text:
            page.write_text(changed)

    def _block(self, page: Path, match: re.Match[str]) -> str:
        if match["title"]:
            path = self.folder / match["title"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(match["text"])
        elif match["kind"] == "console":
            shown = COMMAND.sub(lambda each: self._command(page, each[1], each[2]), match["text"])
            assert self.status == 0, (page.name, match["text"], "the exit status is not shown")
            return f"```console\n{shown}```"
        return match[0]

    def _command(self, page: Path, line: str, shown: str) -> str:
        if line == "echo $?":
            status, self.status = self.status, 0
            printed = f"{status}\n"
        else:
            assert self.status == 0, (page.name, line, "the status of the command before is not shown")
            printed = self._run(line)
        if os.environ.get("CAMKES_UPDATE_GOLDEN") and "[...]" not in shown.splitlines():
            shown = printed
        assert matches(shown, printed), f"{page.name}: {line}\nshown:\n{shown}\nprinted:\n{printed}"
        return f"$ {line}\n{shown}"

    def _run(self, line: str) -> str:
        words = shlex.split(line, comments=True)
        if words[0] == "cd":
            self.folder = self.folder / words[1]
            return ""
        if words[0] != "camkes":
            done = subprocess.run(
                line, shell=True, cwd=self.folder, capture_output=True, text=True, check=True
            )
            return done.stdout
        result = camkes(*words[1:], cwd=self.folder)
        self.status = result.status
        text = result.errors + result.output
        return "".join(f"{each.rstrip()}\n" for each in text.splitlines())


def matches(shown: str, printed: str) -> bool:
    """Whether lines are as shown, where a line `[...]` matches any lines."""
    parts = re.split(r"^\[\.\.\.\]\n", shown, flags=re.MULTILINE)
    return re.fullmatch(r"(?:.*\n)*?".join(map(re.escape, parts)), printed) is not None


def test_a_line_of_dots_matches_any_lines() -> None:
    assert matches("a\n[...]\nd\n", "a\nb\nc\nd\n") and matches("a\n[...]\n", "a\n") and matches("", "")
    assert not matches("a\n", "a\nb\n") and not matches("a\n[...]\nd\n", "a\nb\n") and not matches("", "a\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_listings_have_a_language(page: Path) -> None:
    opened = re.findall(r"^```(.*)\n(?:.*\n)*?```$", page.read_text(), re.MULTILINE)
    assert {first.partition(" ")[0] for first in opened} <= LANGUAGES


@pytest.mark.long
@pytest.mark.parametrize("page", LISTED)
def test_page(page: Path, tmp_path: Path) -> None:
    for command, program in NEEDS.items():
        if command in page.read_text() and shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    Reader(tmp_path).follow(page)


@pytest.mark.long
def test_the_picture_of_the_readme_is_what_the_example_gives(tmp_path: Path) -> None:
    picture = tmp_path / "inversion.svg"
    run = ("run", ROOT / "examples" / "inversion", "-o", tmp_path / "out", "--for", "100ms")
    assert camkes(*run, "--timeline", picture).status == 0
    compare(picture.read_text(), ROOT / "docs" / "images" / "inversion-inherited.svg")


@pytest.mark.long
def test_tutorial(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for chapter in sorted(TUTORIAL.glob("[1-9]*.md")):
        reader.follow(chapter)
