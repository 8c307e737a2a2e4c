# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every floor imports only floors below it or its own room (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The longest prefix wins. Rooms of one floor do not import each other.
FLOORS = {
    "camkes": 0,  # the version
    "camkes.cache": 0,
    "camkes.sandbox": 0,
    "camkes.process": 0,
    "camkes.resources": 0,
    "camkes.records": -1,
    "camkes.diagnostics": 1,
    "camkes.rendering": 2,
    "camkes.parser": 2,
    "camkes.format": 3,
    "camkes.model": 3,
    "camkes.resolve": 4,
    "camkes.project": 5,
    "camkes.protocols": 4,
    "camkes.capdl": 5,
    "camkes.report": 6,
    "camkes.generate": 6,
    "camkes.build": 7,
    "camkes.upstream_templates": 8,
    "camkes.callgraph": 8,
    "camkes.sel4": 9,
    "camkes.explain": 8,
    "camkes.migrate": 8,
    "camkes.pipeline": 10,
    "camkes.editor": 11,
    "camkes.reformat": 11,
    "camkes.completion": 11,
    "camkes.cli": 12,
    "camkes.__main__": 13,
}


def room(module: str) -> str:
    while module and module not in FLOORS:
        module = module.rpartition(".")[0]
    return module


def modules() -> list[tuple[str, Path]]:
    found = []
    for folder, package in ((ROOT / "camkes", "camkes"), (ROOT / "parser", "camkes.parser")):
        for path in sorted(folder.rglob("*.py")):
            relative = path.relative_to(folder)
            if folder.name == "camkes" and relative.parts[0] == "parser":
                continue
            parts = [p for p in relative.with_suffix("").parts if p != "__init__"]
            found.append((".".join([package, *parts]), path))
    return found


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in names if name == "camkes" or name.startswith("camkes.")}


@pytest.mark.parametrize(
    ("module", "path"), modules(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_imports_go_down(module: str, path: Path) -> None:
    own = room(module)
    for name in imported(path):
        other = room(name)
        assert other == own or FLOORS[other] < FLOORS[own], f"{module} imports {name}"
