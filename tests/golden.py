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
