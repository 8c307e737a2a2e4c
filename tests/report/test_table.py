# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tables for the terminal."""

from __future__ import annotations

import pytest

from camkes.showing.draw.table import table

pytestmark = pytest.mark.requirement("TOOL-12")


@pytest.mark.parametrize("width", [None, 80])
def test_a_last_column_without_text_is_left_empty(width: int | None) -> None:
    assert table([("name", ""), ("a", "")], right=(), color=False, width=width) == "name\na"


def test_spaces_of_a_cell_that_fits_are_kept() -> None:
    assert (
        table([("name", "path"), ("a", "  b  c")], right=(), color=False, width=20)
        == "name  path\na       b  c"
    )
