# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No cycle of imports between Python files.

Imports within functions, and those for types only, count too: a file that needs the types of another is not
understood without it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.protocols.cycles import strongly_connected
from tests.repository.statements import imports
from tests.repository.test_layers import modules

pytestmark = pytest.mark.requirement("TOOL-28")


def imported(path: Path, known: set[str]) -> list[str]:
    """The modules that a file imports: of a package, the modules that it names, else the package."""
    named = [(module, f"{module}.{name}") for module, name in imports(path)]
    found = dict.fromkeys(name if name in known else module for module, name in named)
    return [name for name in found if name in known]


def cycles(files: dict[str, Path]) -> list[list[str]]:
    graph = {name: imported(path, set(files)) for name, path in files.items()}
    own = {name for name, names in graph.items() if name in names}
    return [group for group in strongly_connected(graph) if len(group) > 1 or group[0] in own]


def test_an_import_cycle_is_detected(tmp_path: Path) -> None:
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
    assert [sorted(group) for group in cycles(files)] == [["p.a", "p.b", "p.c"]]


def test_there_are_no_import_cycles_of_modules() -> None:
    assert cycles(dict(modules())) == []


def part(package: str, module: str) -> str | None:
    """The file or folder of a package that a module is in, or is."""
    inside = module.startswith(f"{package}.")
    return module.removeprefix(f"{package}.").partition(".")[0] if inside else None


def cycles_of_parts(graph: dict[str, list[str]], package: str) -> list[list[str]]:
    """Circles between the files and folders of one package."""
    parts: dict[str, dict[str, None]] = {}
    for module, names in graph.items():
        if (own := part(package, module)) is not None:
            others = (other for name in names if (other := part(package, name)) not in (None, own))
            parts.setdefault(own, {}).update(dict.fromkeys(others))
    graph_of_parts = {own: list(others) for own, others in parts.items()}
    return [group for group in strongly_connected(graph_of_parts) if len(group) > 1]


def test_a_cycle_of_folders_is_detected() -> None:
    """Also where its files form none."""
    graph = {"p": ["p.a"], "p.a": [], "p.b.x": ["p.c.y"], "p.b.z": [], "p.c.y": ["p.a"], "p.c.v": ["p.b.z"]}
    assert [sorted(group) for group in cycles_of_parts(graph, "p")] == [["b", "c"]]


def test_there_are_no_import_cycles_of_folders() -> None:
    files = dict(modules())
    graph = {name: imported(path, set(files)) for name, path in files.items()}
    packages = {name.rpartition(".")[0] for name in files} - {"", "camkes"}  # that one has layers of its own
    assert {name: found for name in sorted(packages) if (found := cycles_of_parts(graph, name))} == {}
