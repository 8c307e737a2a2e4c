# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Who makes a record of many fields names them: of eight values in a row no reader knows which is which."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-28")

ROOT = Path(__file__).resolve().parents[2]
MOST = 7
#: rows of tables, whose columns have names above them
TABLES = ("camkes/model/settings.py",)


def unnamed(text: str) -> list[int]:
    """The lines of constructors with more arguments without names."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and len(node.args) > MOST
        and ast.unparse(node.func).rpartition(".")[2][:1].isupper()
    ]


def test_one_with_eight_is_found() -> None:
    assert unnamed(
        "x = 1\nC(1, 2, 3, 4, 5, 6, 7, 8)\nC(1, 2, 3, 4, 5, 6, 7, h=8)\nf(1, 2, 3, 4, 5, 6, 7, 8)"
    ) == [2]


def test_fields_of_large_records_are_named() -> None:
    found = [
        (name, line)
        for folder in ("camkes", "parser", "tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not (name := path.relative_to(ROOT).as_posix()).startswith(("camkes/parser/", *TABLES))
        for line in unnamed(path.read_text("utf-8"))
    ]
    assert found == []
