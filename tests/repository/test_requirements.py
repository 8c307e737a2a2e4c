# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every requirement is stated once and has a test, and every test names requirements that are stated."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from camkes.evidence.requirements import TESTS, Requirement, files_of_tests, stated
from camkes.resources import ROOT
from tests.repository.statements import statements

pytestmark = pytest.mark.requirement("TOOL-30")

STATED = stated(ROOT)
FILES = list(files_of_tests(ROOT))


def stated_twice(requirements: Sequence[Requirement]) -> list[str]:
    count = Counter(each.id for each in requirements)
    return [f"{name} is stated {times} times" for name, times in count.items() if times > 1]


def without_a_test(
    requirements: Sequence[Requirement], files: Sequence[tuple[str, Sequence[str]]]
) -> list[str]:
    tested = {name for _, names in files for name in names}
    return [f"{each.id} has no test" for each in requirements if each.id not in tested]


def not_stated(requirements: Sequence[Requirement], files: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    names = {each.id for each in requirements}
    return [
        f"{file}: {name} is not stated in docs/requirements"
        for file, found in files
        for name in found
        if name not in names
    ]


def without_a_requirement(root: Path, files: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Files, and functions of files without a mark for all of theirs."""
    for file, names in files:
        if not names:
            yield f"{file} names no requirement"
        elif file.endswith(".py"):
            text = (root / file).read_text("utf-8")
            if not re.search(r"^pytestmark = \[?\s*pytest\.mark\.requirement\(", text, re.MULTILINE):
                yield from (f"{file}::{name} names no requirement" for name in unmarked(text))


def unmarked(text: str) -> Iterator[str]:
    for node in statements(text):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            marks = " ".join(ast.unparse(each) for each in node.decorator_list)
            if "requirement" not in marks:
                yield node.name


def test_every_requirement_has_a_test() -> None:
    assert len(STATED) > 100
    found = without_a_test(STATED, FILES)
    assert not found, "\n".join(found)


def test_no_id_is_stated_twice() -> None:
    found = stated_twice(STATED)
    assert not found, "\n".join(found)


def test_every_id_that_a_test_names_is_stated() -> None:
    found = not_stated(STATED, FILES)
    assert not found, "\n".join(found)


def test_every_test_names_a_requirement() -> None:
    assert all(any(ROOT.glob(pattern)) for pattern in TESTS)
    found = list(without_a_requirement(ROOT, FILES))
    assert not found, "\n".join(found)


def test_every_line_of_the_pages_is_a_requirement() -> None:
    """One that is not in the form of the others would not count."""
    for page in sorted((ROOT / "docs" / "requirements").glob("*.md")):
        lines = page.read_text("utf-8").splitlines()
        bullets = [line for line in lines if line.startswith("- ") and page.name != "index.md"]
        form = re.compile(r"- \*\*[A-Z][A-Z0-9]*-\d+\*\* [^*]+\.")
        assert [line for line in bullets if not form.fullmatch(line)] == [], page


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "docs/requirements").mkdir(parents=True)
    (tmp_path / "docs/requirements/a.md").write_text("# A\n\n- **A-1** x.\n- **A-2** y.\n- **A-1** z.\n")
    (tmp_path / "tests/part/unit").mkdir(parents=True)
    (tmp_path / "tests/part/unit/c_test.c").write_text("/* requirement: A-1, B-7 */\n")
    (tmp_path / "tests/part/unit/d_test.c").write_text("int main(void);\n")
    (tmp_path / "tests/part/test_one.py").write_text("def test_a() -> None: ...\n")
    marked = (
        '@pytest.mark.{}(\n    "A-1",\n    "A-3",\n)\ndef test_a() -> None: ...\ndef test_b() -> None: ...\n'
    )
    (tmp_path / "tests/part/test_two.py").write_text(marked.format("requirement"))
    requirements, files = stated(tmp_path), list(files_of_tests(tmp_path))
    assert stated_twice(requirements) == ["A-1 is stated 2 times"]
    assert without_a_test(requirements, files) == ["A-2 has no test"]
    assert not_stated(requirements, files) == [
        "tests/part/test_two.py: A-3 is not stated in docs/requirements",
        "tests/part/unit/c_test.c: B-7 is not stated in docs/requirements",
    ]
    assert list(without_a_requirement(tmp_path, files)) == [
        "tests/part/test_one.py names no requirement",
        "tests/part/test_two.py::test_b names no requirement",
        "tests/part/unit/d_test.c names no requirement",
    ]
