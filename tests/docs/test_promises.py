# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What documents promise is held by tests that they name: `tests/FILE.py::test_NAME`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-26")

ROOT = Path(__file__).resolve().parents[2]
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
#: documents that promise something, and the least number of sentences in each that name a test
LEAST = {
    "README.md": 4,
    "docs/comparison.md": 4,
    "docs/explore.md": 3,
    "docs/isolation.md": 20,
    "docs/mcs.md": 4,
    "docs/protocols.md": 7,
}
#: strong words, and the paragraphs in which one stands without a test, by their first words
STRONG = re.compile(r"\b(?:never|proved|guaranteed|identical|be lost|no effect|no other effect)\b")
WITHOUT = (
    "Assumed are fewer than 2^56",  # what is not proved; the paragraph after it names the tests
    "In a busy period, a server",  # an argument
    "- No budget and no period is shorter",  # of seL4
)


def documents() -> list[str]:
    return ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]


@pytest.mark.parametrize("name", documents())
def test_tests_that_are_named_exist(name: str) -> None:
    found = TEST.findall((ROOT / name).read_text(encoding="utf-8"))
    assert len(found) >= LEAST.get(name, 0)
    for path, test in found:
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), (path, test)


@pytest.mark.parametrize("name", sorted(LEAST))
def test_strong_words_name_a_test(name: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", text):
        if STRONG.search(paragraph) and not paragraph.lstrip().startswith(("#", "|", *WITHOUT)):
            assert TEST.search(paragraph), paragraph
