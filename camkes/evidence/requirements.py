# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requirements of a clone: the pages that state them, and the tests that name them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from camkes import process

#: The folder of the pages in a clone.
PAGES = Path("docs", "requirements")
#: Files of a clone that are tests.
TESTS = ("tests/**/test_*.py", "tests/*/unit/*_test.c", "tests/host/scenarios/*.c")

_STATED = re.compile(r"^- \*\*([A-Z][A-Z0-9]*-\d+)\*\* (.+)$", re.MULTILINE)
_TITLE = re.compile(r"^# (?:Requirements: )?(.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKED = re.compile(r"\bmark\.requirement\(([^)]*)\)")
_TIME = ("log", "-1", "--format=%cI")
_COMMENT = re.compile(r"^/\* requirement: (.*?) \*/$", re.MULTILINE)


class Requirement(Struct, frozen=True):
    """A promise. `area` is the title of its page."""

    id: str
    text: str
    area: str


def stated(root: Path) -> list[Requirement]:
    """The requirements of a clone, in the order of pages and lines; an id that is stated twice is there
    twice. Raises OSError."""
    found = []
    for page in sorted((root / PAGES).glob("*.md")):
        text = page.read_text("utf-8")
        title = _TITLE.search(text)
        area = title[1] if title else page.stem
        area = area if area.startswith("seL4") else area[:1].upper() + area[1:]
        found += [Requirement(name, _LINK.sub(r"\1", words), area) for name, words in _STATED.findall(text)]
    return found


def named(text: str) -> tuple[str, ...]:
    """The ids that a test names in marks of pytest, or in comments of C."""
    in_marks = [name for names in _MARKED.findall(text) for name in re.findall(r'"([^"]*)"', names)]
    in_comments = [name for names in _COMMENT.findall(text) for name in re.split(r",\s*", names)]
    return tuple(dict.fromkeys(in_marks + in_comments))


def files_of_tests(root: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tests of a clone: paths, with the ids that they name. Raises OSError."""
    for pattern in TESTS:
        for path in sorted(root.glob(pattern)):
            yield path.relative_to(root).as_posix(), named(path.read_text("utf-8"))


class Commit(Struct, frozen=True):
    """A commit of a clone. `revision` is its hash, with `-dirty` if files differ from it; `time` has the form
    of ISO 8601."""

    revision: str
    time: str


def commit(root: Path) -> Commit | None:
    """The commit of a clone; None where git does not know one."""
    describe = ("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    try:
        done = [process.run(["git", "-C", str(root), *words]) for words in (describe, _TIME)]
    except OSError:  # without git
        return None
    if any(each.status for each in done):
        return None
    return Commit(*(each.output.strip() for each in done))
