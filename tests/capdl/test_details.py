# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Rights and details of kernel objects are typed; words of capDL are made by its writer only."""

from __future__ import annotations

import ast
import re
from itertools import product
from pathlib import Path

import pytest

from camkes.capdl.details import Ports, Rights

pytestmark = pytest.mark.requirement("PLAN-9")

ROOT = Path(__file__).resolve().parents[2]
#: parameters of objects in capDL: "dom: 1", "ports: [0x40..0x43]"
WORDS = re.compile(r"(dom|ports|bank|domainID|trigger|target|(ioapic|msi)_\w+|period|budget|data): .*")


@pytest.mark.parametrize("letters", ["".join(p) for p in product(*(("", each) for each in "RWXGP"))])
def test_rights_are_read_from_letters(letters: str) -> None:
    assert str(Rights.of(letters)) == letters
    assert bool(Rights.of(letters)) == bool(letters)


def test_ports_overlap_where_they_have_one_in_common() -> None:
    pit = Ports(0x40, 0x43)
    found = [pit.overlaps(Ports(*each)) for each in ((0x43, 0x50), (0x30, 0x40), (0x44, 0x50), (0x41, 0x42))]
    assert found == [True, True, False, True]


def test_keywords_of_capdl_are_in_one_module() -> None:
    found = set()
    for path in [*(ROOT / "camkes/capdl").glob("*.py"), *(ROOT / "camkes/backends/sel4").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else None
            if isinstance(first, ast.Constant) and WORDS.fullmatch(f"{first.value}."):
                found.add(path.name)
    assert found == {"text.py"}
