# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The costs in the README are those of docs/costs.md."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-26")

ROOT = Path(__file__).parents[2]

#: a row of the README: the rows of docs/costs.md that its columns are from
ROWS = {
    "plain": ("plain", "plain, as camkes-tool makes it", ""),
    "`fixed`": ("fixed", "", "`fixed`, library"),
    "`propagated`": ("propagated", "", "`propagated`, library"),
    "`inherited`, free lock": ("inherited, free lock", "", "`inherited`, library, free lock"),
    "`inherited`, contended": ("contended, one lock", "", "`inherited`, library, contended"),
    "`inherited` through `inherited`, free locks": ("inherited through inherited", "", ""),
}


def rows(text: str) -> dict[str, list[str]]:
    """The first row of each name in the tables of a text, without the name."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("| "):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(name, cells)
    return found


def test_costs_in_the_readme_are_those_that_were_measured() -> None:
    page = (ROOT / "docs/costs.md").read_text("utf-8")
    section = (ROOT / "README.md").read_text("utf-8").partition("## What a request costs")[2]
    shown = rows(section.partition("\n## ")[0])
    shown.pop("request")
    costs = rows(page)
    assert shown == {name: [costs[row][0] if row else "" for row in from_] for name, from_ in ROWS.items()}
