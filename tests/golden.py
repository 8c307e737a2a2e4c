# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Golden files: the exact text that something must have.

With CAMKES_UPDATE_GOLDEN=1 in the environment they are written instead of compared. Read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path


def compare(text: str, golden: Path) -> None:
    """The text is what the golden file says."""
    if os.environ.get("CAMKES_UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def compare_part(text: str, name: str, golden: Path) -> None:
    """The text is what the golden file has under a name."""
    before = golden.read_text("utf-8") if golden.exists() else ""
    parts = dict(part.split("\n", 1) for part in before.split("\n=== ")[1:])
    if os.environ.get("CAMKES_UPDATE_GOLDEN"):
        parts[name] = text
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text("".join(f"\n=== {name}\n{part}" for name, part in parts.items()), "utf-8")
    assert text.rstrip("\n") == parts.get(name, "").rstrip("\n")


def names_of_parts(golden: Path) -> set[str]:
    """The names under which a golden file has texts."""
    return {part.partition("\n")[0] for part in golden.read_text("utf-8").split("\n=== ")[1:]}
