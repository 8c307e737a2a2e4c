# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Documents, messages, comments and names of tests use the terms of the field, and none of these phrases."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from camkes.diagnostics.explain import PAGES
from camkes.resources import ROOT
from tests.repository.statements import statements

pytestmark = pytest.mark.requirement("TOOL-29")

#: Phrases, each with what to write instead.
PHRASES = (
    (r"walls?(?![- ](?:clock|time))", "process isolation, barrier"),
    (r"(?:houses?|rooms?|floors?|roads?)", "process, space, layer, path"),
    (r"(?:told|believed?|by heart)", "informed, assumed"),
    (r"(?:somebody|nobody|anybody)", "the component, thread, task or user that is meant; no thread"),
    (r"reads? off", "found in, determined from"),
    (r"put right", "corrected"),
    (r"mend(?:s|ed|ing)?", "correct, repair"),
    (
        r"(?<!there )(?:is|are) no(?= (?!longer\b|more\b|less\b|other\b)[a-z`])",
        "is not a valid X; expected X",
    ),
    (r"what is said", "the clause, the message, the declaration that is meant"),
    (r"(?:CMake|it) is asked", "CMake is run"),
    (r"says? nothing", "has no effect; is missing"),
    (r"go(?:es)? round", "form a cycle"),
    (r"for want of", "because there is no"),
    (r"as it likes", "for an unbounded time"),
    (r"in the words of", "in terms of"),
    (r"stands? for", "is, means, represents, takes the place of"),
    (r"at hand", "available, installed"),
    (r"(?:say|says|said) so", "reports it, states it"),
    (
        r"what (?:(?:a|an|the) )?(?!you\b|to\b)[\w`']+ (?:says?|said)",
        "the message, value, clause or result of it",
    ),
    (r"who (?:waits?|asks|calls|requests|signals?|lends?|helps?|holds)", "the thread or task that waits"),
    (r"for good", "permanently, irrevocably"),
    (r"(?:in|a) circles?", "a cycle"),
)
_ANY = re.compile("|".join(rf"(?<![-\w])(?:{phrase})(?!\w)" for phrase, _ in PHRASES), re.IGNORECASE)

DOCUMENTS = sorted(
    path
    for path in (
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("**/*.md"),
        *(ROOT / "kernel").glob("*/README.md"),
        *(ROOT / "examples").glob("**/*.md"),
        *PAGES.glob("*.md"),
    )
    if path.name != "CHANGELOG.md"  # of releases that are out
)
MODULES = sorted(path for folder in ("camkes", "parser") for path in (ROOT / folder).resolve().rglob("*.py"))
TESTS = sorted(path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
C_SOURCES = sorted(
    path
    for folder in ("runtime", "kernel", "templates", "examples", "tests")
    for path in (ROOT / folder).rglob("*.[chS]")
)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a document, with their numbers, without code."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`", "`", line)


def strings(text: str) -> Iterator[tuple[int, str]]:
    """The strings of a module that are sentences, with their lines: messages, help and docstrings."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, line


def comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a module, with their lines; none if no line can have a comment to be found."""
    if not any(_ANY.search(line, line.index("#")) for line in text.splitlines() if "#" in line):
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def comments_of_c(text: str) -> Iterator[tuple[int, str]]:
    for match in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL):
        for offset, line in enumerate(match.group().splitlines()):
            yield text.count("\n", 0, match.start()) + 1 + offset, line


def documentation(text: str) -> Iterator[tuple[int, str]]:
    """The names of functions and classes of a module as words, and their docstrings."""
    for node in statements(text):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            if not isinstance(node, ast.Module):
                yield node.lineno, node.name.replace("_", " ")
            for line in (ast.get_docstring(node) or "").splitlines():
                yield getattr(node, "lineno", 1), line


def _found(path: Path, lines: Iterator[tuple[int, str]]) -> list[str]:
    return [
        f"{path.name}:{number}: {match.group()}" for number, line in lines for match in _ANY.finditer(line)
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents(path: Path) -> None:
    assert _found(path, prose(path.read_text())) == []


def test_messages_help_and_docstrings() -> None:
    assert [each for path in MODULES for each in _found(path, strings(path.read_text()))] == []


def test_comments() -> None:
    assert [each for path in (*MODULES, *TESTS) for each in _found(path, comments(path.read_text()))] == []
    assert [each for path in C_SOURCES for each in _found(path, comments_of_c(path.read_text()))] == []


def test_names_and_documentation_of_tests() -> None:
    assert [each for path in TESTS for each in _found(path, documentation(path.read_text()))] == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("`x` is no type", True),
        ("there is no type `x`", False),
        ("the clause is no longer used", False),
        ("compiled with -Wall", False),
        ("the Walls of a process", True),
        ("a manager is told of it", True),
        ("a wallet, a mushroom and a recommendation", False),
        ("calls are read off the code", True),
    ],
)
def test_phrases_are_found_as_whole_words(line: str, found: bool) -> None:
    assert bool(_ANY.search(line)) is found


def test_no_part_of_a_text_is_a_statement_of_its_own() -> None:
    """A string in a second line without parentheses is not part of the first."""
    found = []
    for path in MODULES:
        for node in statements(path.read_text()):
            for before, after in pairwise(getattr(node, "body", ())):
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant | ast.JoinedStr):
                    found.append(f"{path.name}:{after.lineno}: {ast.unparse(before)[:40]}")
    assert found == []
