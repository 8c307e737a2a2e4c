# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A module imports only its own package and lower layers; docs/architecture.md shows these layers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repository.layers import LAYER_OF, LAYERS, table
from tests.repository.statements import imports

pytestmark = pytest.mark.requirement("TOOL-28")

ROOT = Path(__file__).resolve().parents[2]


def package(module: str) -> str:
    """The entry of the table that a module belongs to."""
    while module and module not in LAYER_OF:
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
    names = {name for module, part in imports(path) for name in (module, f"{module}.{part}")}
    return {name for name in names if name == "camkes" or name.startswith("camkes.")}


@pytest.mark.parametrize(
    ("module", "path"), modules(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_imports_go_down(module: str, path: Path) -> None:
    own = package(module)
    for name in imported(path):
        other = package(name)
        assert other == own or LAYER_OF[other] < LAYER_OF[own], f"{module} imports {name}"


def test_every_module_is_in_a_layer() -> None:
    """And every entry of the table exists."""
    assert {package(module) for module, _ in modules()} == LAYER_OF.keys()
    assert [entry.layer for entry in LAYERS] == sorted((entry.layer for entry in LAYERS), reverse=True)


def test_the_documentation_shows_the_same_layers() -> None:
    assert table() in (ROOT / "docs" / "architecture.md").read_text("utf-8")
