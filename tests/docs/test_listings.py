# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Listings of the documentation are followed by a reader, see `reader.py`. A page has a folder of its own, in
which `examples` are those of the repository, and `serial.log` is what a board printed; the chapters of the
tutorial share one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command import camkes
from tests.docs.reader import Reader, matches
from tests.docs.test_examples import PAGES, ROOT
from tests.golden import compare

pytestmark = pytest.mark.requirement("TOOL-26")

TUTORIAL = ROOT / "docs" / "tutorial"
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
LANGUAGES = {
    "camkes",
    "c",
    "cmake",
    "console",
    "elisp",
    "json",
    "lua",
    "python",
    "sh",
    "sql",
    "text",
    "toml",
    "yaml",
}


def in_this_process(words: Sequence[str], folder: Path) -> tuple[int, str]:
    result = camkes(*words, cwd=folder)
    return result.status, result.errors + result.output


def reader_in(folder: Path) -> Reader:
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "serial.log").symlink_to(ROOT / "tests" / "measuring" / "golden" / "board.log")
    return Reader(folder, in_this_process)


def test_a_line_of_dots_matches_any_lines() -> None:
    assert matches("a\n[...]\nd\n", "a\nb\nc\nd\n") and matches("a\n[...]\n", "a\n") and matches("", "")
    assert not matches("a\n", "a\nb\n") and not matches("a\n[...]\nd\n", "a\nb\n") and not matches("", "a\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_listings_have_a_language(page: Path) -> None:
    opened = re.findall(r"^```(.*)\n(?:.*\n)*?```$", page.read_text(), re.MULTILINE)
    assert {first.partition(" ")[0] for first in opened} <= LANGUAGES


@pytest.mark.parametrize(
    "page", sorted((ROOT / "examples").glob("*/README.md")), ids=lambda page: page.parent.name
)
def test_examples_show_what_to_expect_and_what_to_change(page: Path) -> None:
    expected, heading, changed = page.read_text().partition("\n## Change it\n")
    assert heading and "```console\n$ camkes" in expected and "$ camkes" in changed


@pytest.mark.long
@pytest.mark.parametrize("page", LISTED)
def test_page(page: Path, tmp_path: Path) -> None:
    for command, program in NEEDS.items():
        if command in page.read_text() and shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    reader_in(tmp_path).follow(page)


@pytest.mark.long
@pytest.mark.parametrize(
    ("example", "duration", "shown"),
    [("inversion", "100ms", "inversion-inherited.svg"), ("flight", "2ms", "flight.svg")],
)
def test_the_pictures_are_what_the_examples_give(
    example: str, duration: str, shown: str, tmp_path: Path
) -> None:
    picture = tmp_path / "timeline.svg"
    run = ("run", ROOT / "examples" / example, "-o", tmp_path / "out", "--for", duration)
    assert camkes(*run, "--timeline", picture).status == 0
    compare(picture.read_text(), ROOT / "docs" / "images" / shown)


@pytest.mark.long
def test_tutorial(tmp_path: Path) -> None:
    reader = reader_in(tmp_path)
    for page in (TUTORIAL / "index.md", *sorted(TUTORIAL.glob("[1-9]*.md"))):
        reader.follow(page)
