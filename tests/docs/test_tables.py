# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tables of all pages become tables: the Markdown of the site, unlike that of GitHub, takes one that begins
right after a paragraph or a fence for text. test_site.py looks at the site itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.command import ROOT
from tests.docs.test_reference import reference

pytestmark = pytest.mark.requirement("TOOL-27")

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/*/README.md", "kernel/**/*.md", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
)
_RULE = re.compile(r"\s*\|(\s*:?-+:?\s*\|)+\s*")


def raw_tables(text: str) -> Iterator[str]:
    """The first lines of tables that nothing sets apart from the text before them."""
    lines = re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "```", text, flags=re.MULTILINE | re.DOTALL).split("\n")
    for before, head, rule in zip(["", *lines], lines, lines[1:], strict=False):
        if _RULE.fullmatch(rule) and before.strip() and not before.startswith("#"):
            yield head


def test_what_is_raw() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert not list(raw_tables(f"{table}\ntext\n\n{table}\n## Heading\n{table}"))
    assert list(raw_tables(f"text\n{table}")) == ["| a | b |"]
    assert list(raw_tables(f"```c\nint x;\n```\n{table}")) == ["| a | b |"]
    assert not list(raw_tables(f"```text\ntext\n{table}```\n"))


@pytest.mark.parametrize("page", PAGES)
def test_tables_of_pages(page: str) -> None:
    assert list(raw_tables((ROOT / page).read_text("utf-8"))) == []


@pytest.mark.parametrize("page", reference.PAGES)
def test_tables_of_pages_that_are_made(page: str) -> None:
    assert list(raw_tables(reference.PAGES[page]())) == []
