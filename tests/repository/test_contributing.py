# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""CONTRIBUTING.md names files that exist for each change, and at most four of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(
    r"^\| (a new [^|]*) \| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
)


def test_there_are_ten_changes() -> None:
    assert len(ROWS) == 10


@pytest.mark.parametrize(("change", "text"), ROWS, ids=[change for change, _ in ROWS])
def test_a_change_needs_at_most_four_places_and_they_exist(change: str, text: str) -> None:
    needed = text.partition(". ")[0]  # what follows says where to look if more is wanted
    assert needed.count(";") < 4, change
    for path in re.findall(r"`((?:camkes|docs|kernel|runtime)/[\w./-]+)`", text):
        assert (ROOT / path).exists() or "NAME" in path, path
