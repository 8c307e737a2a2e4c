# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Sets of small numbers as the bits of integers."""

from __future__ import annotations


def bits(number: int) -> list[int]:
    """The positions of the ones in a number, from the lowest."""
    found = []
    digits = f"{number:b}"[::-1]
    position = digits.find("1")
    while position >= 0:
        found.append(position)
        position = digits.find("1", position + 1)
    return found
