# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No circle of imports between Python files.

Imports within functions, and those for types only, count too: a file that needs the types of another is not
understood without it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from camkes.protocols.cycles import strongly_connected
from tests.repository.test_layers import modules

#: A module of each circle that there is today. To be removed, one by one; nothing may be added.
EXCEPTIONS: set[str] = set()


def imported(path: Path, known: set[str]) -> list[str]:
    """The modules that a file imports: of a package, the modules that it names, else the package."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found[name if name in known else node.module] = None
    return [name for name in found if name in known]


def circles(files: dict[str, Path]) -> list[list[str]]:
    graph = {name: imported(path, set(files)) for name, path in files.items()}
    own = {name for name, names in graph.items() if name in names}
    return [group for group in strongly_connected(graph) if len(group) > 1 or group[0] in own]


def test_a_circle_is_noticed(tmp_path: Path) -> None:
    texts = {
        "p.a": "def f():\n    from p import b\n",
        "p.b": "import p.c\n",
        "p.c": "from p.a import f\n",
        "p.d": "import p.a\n",
    }
    files = {}
    for name, text in texts.items():
        files[name] = tmp_path / name
        files[name].write_text(text)
    assert [sorted(group) for group in circles(files)] == [["p.a", "p.b", "p.c"]]


def test_there_are_no_circles() -> None:
    found = circles(dict(modules()))
    assert [group for group in found if EXCEPTIONS.isdisjoint(group)] == []
