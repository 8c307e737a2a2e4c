# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes planted in the flight controller: each is one message, to the letter.

flight_mistakes.txt has the mistakes and the commands, golden/flight/NAME.txt their messages. What a compiler
says in its own words, which differ from version to version, is left out.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.command import ROOT, camkes
from tests.golden import compare

pytestmark = pytest.mark.requirement("CHECK-5")

GOLDEN = Path(__file__).parent / "golden" / "flight"
TABLE = Path(__file__).with_name("flight_mistakes.txt")
#: what compilers word, and what is another in each run or on each machine
VARYING = (
    (re.compile(r"(the compiler says: ).*"), r"\1..."),
    (re.compile(r"(program counter )0x[0-9a-f]+"), r"\1..."),
)
#: a message in words of a compiler, and the excerpt, whose place is another with each
OF_COMPILER = re.compile(r"^(error\[E0722\]: )[^`\n]*$", re.MULTILINE)
EXCERPT = re.compile(r" *(\d+ )?[│⋮├].*\n|(?<=\w):\d+:\d+$", re.MULTILINE)
#: an undeclared function is an error with GCC 14, and a warning before
NOT_DECLARED = re.compile(r"^error\[E0722\]: `\w+\(\)` is not declared", re.MULTILINE)
PLACE = re.compile(r"┌─ .*|= help: .*")
MESSAGE = re.compile(r"^(?:(?:error|warning|note)(?:\[\w+\])?|camkes \w+): ", re.MULTILINE)


class Change(NamedTuple):
    """What is written in the place of what, in which file."""

    file: str
    before: str
    after: str


class Mistake(NamedTuple):
    command: str
    changes: tuple[Change, ...]


def _changes(text: str) -> Iterator[Change]:
    for part in text.split("--- ")[1:]:
        file, *lines = part.rstrip("\n").split("\n")
        before, after = ("\n".join(line[2:] for line in lines if line[0] == mark) for mark in "-+")
        yield Change(file, before, after)


def _mistakes() -> dict[str, Mistake]:
    found = {}
    for part in TABLE.read_text("utf-8").split("\n=== ")[1:]:
        head, _, changes = part.partition("\n")
        name, _, command = head.partition(": ")
        found[name] = Mistake(command, tuple(_changes(changes)))
    return found


MISTAKES = _mistakes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy for all mistakes, so that only what a mistake is in is compiled again."""
    folder = tmp_path_factory.mktemp("mistakes") / "flight"
    shutil.copytree(ROOT / "examples" / "flight", folder, ignore=shutil.ignore_patterns("build"))
    return folder


@contextmanager
def planted(mistake: Mistake, folder: Path) -> Iterator[None]:
    texts = {change.file: (folder / change.file).read_text("utf-8") for change in mistake.changes}
    for file, before, after in mistake.changes:
        text = (folder / file).read_text("utf-8")
        assert text.count(before) == 1, (file, before)
        (folder / file).write_text(text.replace(before, after), "utf-8")
    try:
        yield
    finally:
        for file, text in texts.items():
            (folder / file).write_text(text, "utf-8")


def _case(name: str) -> object:
    compiles = MISTAKES[name].command.partition(" ")[0] in ("build", "run", "analyze")
    return pytest.param(name, marks=[pytest.mark.long] if compiles else [])


@pytest.mark.parametrize("name", [_case(name) for name in MISTAKES])
def test_a_mistake_is_one_message(name: str, folder: Path) -> None:
    mistake = MISTAKES[name]
    with planted(mistake, folder):
        result = camkes(*mistake.command.split(), cwd=folder)
    said = result.errors.replace(f"{folder}/", "").replace(str(folder), "FOLDER").replace(str(ROOT), "CAMKES")
    for pattern, word in VARYING:
        said = pattern.sub(word, said)
    assert len(MESSAGE.findall(said)) == 1, said
    if OF_COMPILER.search(said):
        said = EXCERPT.sub("", OF_COMPILER.sub(r"\1...", said))
    golden = GOLDEN / f"{name}.txt"
    if (
        NOT_DECLARED.search(said) and golden.exists()
    ):  # where it is an error, the linker does not see the name
        assert PLACE.findall(said) == PLACE.findall(golden.read_text("utf-8"))
        return
    compare(f"$ camkes {mistake.command}\n{said}[{result.status}]\n", golden)


def test_each_golden_file_has_a_mistake() -> None:
    assert len(MISTAKES) >= 60
    assert {path.stem for path in GOLDEN.iterdir()} == MISTAKES.keys()
