# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Each row of docs/isolation.md names a test; test_promises.py looks whether it exists."""

from __future__ import annotations

import re

import pytest

from tests.docs.test_promises import ROOT, TEST

pytestmark = pytest.mark.requirement("TOOL-26")

_ROW = re.compile(r"^\|(?! what is tried|---)(.*)\|$", re.MULTILINE)


def test_each_row_has_a_test() -> None:
    rows = _ROW.findall((ROOT / "docs" / "isolation.md").read_text(encoding="utf-8"))
    assert len(rows) > 20
    for row in rows:
        assert TEST.findall(row.split("|")[-1]), row
