# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Each row of docs/isolation.md names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_ROW = re.compile(r"^\|(?! what is tried|---)(.*)\|$", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_each_row_has_a_test() -> None:
    rows = _ROW.findall((ROOT / "docs" / "isolation.md").read_text(encoding="utf-8"))
    assert len(rows) > 20
    for row in rows:
        tests = _TEST.findall(row.split("|")[-1])
        assert tests, row
        for path, name in tests:
            assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), row
