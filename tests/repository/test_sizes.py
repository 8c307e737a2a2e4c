# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No source file has more than 500 lines, no function more than 60."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.repository.statements import statements

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES, FUNCTION_LINES = 500, 60


def sources(*patterns: str) -> list[Path]:
    """What is kept under version control, without what tools wrote and tests compare with."""
    command = ["git", "ls-files", "-z", "--", *patterns, ":!**/golden/**"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    for node in statements(text):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno is not None:
            yield node.name, node.end_lineno - node.lineno + 1


def c_functions(text: str) -> Iterator[tuple[str, int]]:
    """By the layout that clang-format gives them: the braces of a function are lines of their own."""
    lines = text.splitlines()
    begin = 0  # of what stands before the brace
    for number, line in enumerate(lines):
        if line == "{":
            head = " ".join(lines[begin:number])
            yield head.partition("(")[0].split(" ")[-1].lstrip("*"), lines.index("}", number) - begin + 1
        if not line or line.startswith(("}", "#", "/*", " *")):
            begin = number + 1


def too_long(path: Path) -> list[str]:
    """What is too long in a file: functions and the file itself."""
    text = path.read_text("utf-8")
    place = str(path.relative_to(ROOT))
    functions = python_functions(text) if path.suffix == ".py" else c_functions(text)
    found = [f"{place}: {name}()" for name, lines in functions if lines > FUNCTION_LINES]
    return found + [place] * (text.count("\n") > FILE_LINES)


def test_a_function_that_is_too_long_is_found() -> None:
    body = "    x++;\n" * 60
    (short,) = c_functions("int f(int a,\n      int b)\n{\n    x++;\n}\n")
    (long,) = c_functions(f"/* About\n * it. */\nstatic char *const *g(void)\n{{\n{body}}}\n")
    assert short == ("f", 5)
    assert long == ("g", 63)
    (method,) = python_functions("class C:\n    def f(self):\n        pass\n        pass\n")
    assert method == ("f", 3)


def test_sizes_of_c() -> None:
    files = sources("*.c", "*.h", "*.S", ":!templates")
    assert files
    assert [place for path in files for place in too_long(path)] == []


def test_sizes_of_python() -> None:
    files = sources("*.py")
    assert files
    assert [place for path in files for place in too_long(path)] == []
