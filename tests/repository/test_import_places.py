# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Imports stand at the top, where a reader looks for them, but for those that would make every command start
later."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-28")

ROOT = Path(__file__).resolve().parents[2]

#: Modules that import what they use when they use it, and why.
LATE = {
    "camkes/__main__.py": "Ctrl-C is handled before anything else is loaded",
    "camkes/cli/": "a command loads its own modules only",
    "camkes/pipeline.py": "a check loads nothing of builds and runs",
    "camkes/backends/host/backend.py": "a check of types loads nothing of builds: 60 modules",
    "camkes/backends/upstream_templates/adapter.py": "few systems need templates of others",
    "camkes/process/__init__.py": "a check whose answers are kept starts no program",
    "parser/parse.py": "most texts are right, and have no directives for the preprocessor",
    "camkes/sandbox.py": "a script of its own, in front of another program",
}
#: Libraries that are imported in functions, with what they are for. They take milliseconds each.
SLOW = {
    "concurrent": "many cases at once",
    "dask": "many cases on many machines",
    "difflib": "a misspelt name, a patch",
    "jinja2": "templates",
    "json": "documents",
    "lark": "the tables of the parser, which are made once",
    "multiprocessing": "many cases at once",
    "networkx": "cycles",
    "ninja": "builds",
    "shutil": "copies of folders",
    "subprocess": "programs",
    "tempfile": "files that are written",
    "urllib": "addresses in SARIF",
    "yaml": "queries of device trees",
}


def late_imports(text: str) -> set[str]:
    """The modules that functions import."""
    found = set()
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom):
                    found.add(node.module or "")
                elif isinstance(node, ast.Import):
                    found |= {name.name for name in node.names}
    return found


def test_imports_are_at_the_top() -> None:
    wrong, used = [], set()
    for folder in ("camkes", "parser", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            libraries = {module.partition(".")[0] for module in late_imports(path.read_text("utf-8"))}
            used |= libraries
            if not name.startswith(tuple(LATE)):
                wrong += [f"{name}: {library}" for library in sorted(libraries - SLOW.keys())]
    assert wrong == []
    assert used >= SLOW.keys()


def test_what_is_late_imports_late() -> None:
    """A module of the table that does so no more is none of it."""
    for name in LATE:
        paths = [ROOT / name] if name.endswith(".py") else sorted((ROOT / name).rglob("*.py"))
        assert any(late_imports(path.read_text("utf-8")) for path in paths), name
