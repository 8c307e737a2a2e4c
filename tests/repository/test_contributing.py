# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""CONTRIBUTING.md names files that exist for each change, and at most four of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.model.protocols import Protocol

pytestmark = pytest.mark.requirement("TOOL-29")

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(
    r"^\| (a new [^|]*) \| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
)


def test_all_changes_are_listed() -> None:
    assert len(ROWS) == 15


@pytest.mark.parametrize(("change", "text"), ROWS, ids=[change for change, _ in ROWS])
def test_a_change_needs_at_most_four_places_and_they_exist(change: str, text: str) -> None:
    needed = text.partition(". ")[0]  # what follows is where to look for other changes
    assert needed.count(";") < 4, change
    for path in re.findall(r"`((?:camkes|docs|kernel|runtime)/[\w./-]+)`", text):
        assert (ROOT / path).exists() or "NAME" in path, path


def test_code_uses_properties_of_protocols_and_not_their_names() -> None:
    """The words are in the table of protocols."""
    words = "|".join(protocol.value for protocol in Protocol)
    name = re.compile(
        rf'"(propagated|inherited)"|\bProtocol\.({words})\b|\b(CAMKES|ORACLE)_({words})\b', re.IGNORECASE
    )
    where = {ROOT / "camkes/model/protocols.py"}
    folders = ("camkes", "runtime", "kernel", "templates")
    files = [
        path for folder in folders for end in ("py", "c", "h") for path in (ROOT / folder).rglob(f"*.{end}")
    ]
    assert len(files) > 200
    for path in set(files) - where:
        found = [line for line in path.read_text("utf-8").splitlines() if name.search(line)]
        assert not found, (path, found)
