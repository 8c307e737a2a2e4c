# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Each source begins with the sentence of what it alone knows: every one has it, and no two have the same."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-28")

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("camkes", "parser", "runtime", "kernel", "tools")
#: written for users of the tool, whose first lines are about their systems
OF_USERS = ("camkes/resolve/builtin/", "camkes/scaffold/projects/")
#: one for each processor
VARIANTS = re.compile(r"/(x86_64|aarch64)/")


def sources() -> list[str]:
    """Python, C and assembler of the product; a package without code has nothing to say."""
    patterns = [f"{folder}/**/*{end}" for folder in FOLDERS for end in (".py", ".c", ".h", ".S")]
    command = ["git", "ls-files", "-z", "--", *(f":(glob){pattern}" for pattern in patterns)]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [name for name in names.split("\0") if name and (ROOT / name).is_file()]
    return [name for name in found if not name.startswith(OF_USERS) and not empty_package(name)]


def empty_package(name: str) -> bool:
    path = ROOT / name
    return path.name == "__init__.py" and not ast.parse(path.read_text("utf-8")).body


def beginning(name: str) -> str:
    """The text of the first comment after the licence, up to an empty line; nothing if there is none."""
    text = (ROOT / name).read_text("utf-8")
    if name.endswith(".py"):
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
    rest = re.sub(r"\A(/\* SPDX[^\n]*\n)+", "", text)
    match = re.match(r"/\*(.*?)\*/", rest, re.DOTALL)
    return re.sub(r"\s*\n \*\s*", " ", match[1]).strip() if match else ""


@pytest.fixture(scope="module")
def beginnings() -> dict[str, str]:
    return {name: beginning(name) for name in sources()}


def test_every_source_says_what_it_knows(beginnings: dict[str, str]) -> None:
    assert len(beginnings) > 400
    assert [name for name, text in beginnings.items() if not re.search(r"\w{2}", text)] == []


def test_no_two_sources_know_the_same(beginnings: dict[str, str]) -> None:
    places = defaultdict(set)
    for name, text in beginnings.items():
        places[text].add(VARIANTS.sub("/", name))
    assert {text: names for text, names in places.items() if len(names) > 1} == {}
