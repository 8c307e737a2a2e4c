# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every code of every package: a number and a name of its own, a page, and a golden file."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import camkes
from camkes.diagnostics import Code, explain
from camkes.diagnostics.explain import explanation

pytestmark = pytest.mark.requirement("TOOL-1")

TESTS = Path(__file__).resolve().parents[1]

#: The numbers of each package.
RANGES = {
    "parser": [(100, 199)],
    "resolve": [(200, 499)],
    "protocols": [(500, 599)],
    "model": [(600, 603), (656, 656)],
    "capdl": [(604, 649), (960, 962)],
    "generate": [(650, 655), (657, 699)],
    "project": [(700, 720)],
    "host": [(721, 740), (750, 759)],
    "callgraph": [(741, 749)],
    "testing": [(760, 774)],
    "scaffold": [(775, 779)],
    "sweep": [(780, 789)],
    "measuring": [(790, 794)],
    "paths": [(795, 799)],
    "running": [(800, 849)],
    "analysis": [(900, 949)],
    "sel4": [(950, 950), (952, 955), (963, 999)],
    "upstream_templates": [(956, 959)],
}


def packages() -> dict[str, list[Code]]:
    """The codes of each package."""
    root = Path(camkes.__file__).parent
    files = [*sorted(root.rglob("codes.py")), root / "parser" / "codes.py"]
    names = {path.parent.name: path.relative_to(root.parent).with_suffix("").parts for path in files}
    modules = {package: import_module(".".join(name)) for package, name in names.items()}
    return {
        name: [value for value in vars(module).values() if isinstance(value, Code)]
        for name, module in modules.items()
    }


ALL = [(package, code) for package, codes in packages().items() for code in codes]


def golden() -> str:
    """What golden files say, without the bad input beside them."""
    kinds = (
        *("**/golden/*.txt", "**/golden/*.expected", "**/bad/*.expected"),
        "diagnostics/golden/commands/*/transcript.txt",
        "diagnostics/golden/flight/*.txt",
    )
    return "\n".join(path.read_text(encoding="utf-8") for kind in kinds for path in TESTS.glob(kind))


def test_no_two_codes_share_a_number_or_a_name() -> None:
    for what in ("number", "name"):
        found = [getattr(code, what) for _, code in ALL]
        assert sorted(found) == sorted(set(found)), what


@pytest.mark.parametrize(("package", "code"), ALL, ids=[code.number for _, code in ALL])
def test_numbers_names_and_pages(package: str, code: Code) -> None:
    number = int(code.number[1:])
    assert re.fullmatch(r"[EWN]\d{4}", code.number)
    assert any(low <= number <= high for low, high in RANGES[package])
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+|[a-z]+", code.name)
    page = explain.page(code)
    assert page.startswith(f"{code.number} {code.name}\n\n")
    assert len(explanation(code)) >= 40
    assert explanation(code).endswith((".", "`", "```", ")"))
    if package == "resolve":
        assert "```camkes" in explanation(code)
    assert explain.find(code.number) == code == explain.find(code.name)


def test_every_code_has_a_golden_file() -> None:
    shown = set(re.findall(r"\b[EWN]\d{4}\b", golden()))
    assert [code.number for _, code in ALL if code.number not in shown] == []


def test_every_page_belongs_to_a_code() -> None:
    assert set(explain.all_codes()) == {code for _, code in ALL}
