# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which part of what is copied into memory goes to one page."""

from __future__ import annotations

import pytest

from camkes.capdl.fill import FileData, Fill

pytestmark = pytest.mark.requirement("PLAN-9")

FILE = FileData("image")


@pytest.mark.parametrize(
    ("start", "length", "part"),
    [
        (0, 10, None),
        (0, 11, Fill(10, 1, FILE, 5)),
        (15, 5, Fill(0, 5, FILE, 10)),
        (0, 100, Fill(10, 20, FILE, 5)),
        (29, 5, Fill(0, 1, FILE, 24)),
        (30, 5, None),
    ],
)
def test_the_part_within_some_bytes(start: int, length: int, part: Fill | None) -> None:
    assert Fill(10, 20, FILE, 5).within(start, length) == part
