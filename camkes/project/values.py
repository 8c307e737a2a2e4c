# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What values of variables mean to CMake."""

from __future__ import annotations

_ON, _OFF = ("1", "ON", "YES", "TRUE", "Y"), ("0", "OFF", "NO", "FALSE", "N", "")


def is_on(value: str) -> bool:
    """Whether a switch has been turned on with it."""
    return value.upper() in _ON


def is_off(value: str) -> bool:
    """Whether a switch has been turned off with it, or it is nothing."""
    return value.upper() in _OFF


def same(one: str, other: str) -> bool:
    """Whether two values are the same, as strings, switches or numbers."""
    first, second = one.strip('"').upper(), other.strip('"').upper()
    if first == second or (is_on(first) and is_on(second)) or (is_off(first) and is_off(second)):
        return True
    try:
        return int(first, 0) == int(second, 0)
    except ValueError:
        return False
