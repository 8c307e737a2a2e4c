# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Units of time and of memory."""

from __future__ import annotations

import re

#: Units of time in nanoseconds, the smallest first.
NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}

#: The unit of a schedule of domains where none is written, and the length of one in nanoseconds of a kernel
#: that is not configured otherwise (KernelTimerTickMS).
TICKS = "ticks"
DEFAULT_TICK = 2_000_000

#: The unit of a time in a setting that states none.
DEFAULT_UNIT = "us"

#: Bytes of a page: the smallest frame of every architecture.
PAGE = 4096


def round_up(size: int, unit: int = PAGE) -> int:
    """`size` in whole units."""
    return -(-size // unit) * unit


def is_time(text: object) -> bool:
    """Whether this is a text that states a time: "10 ms"."""
    return isinstance(text, str) and re.fullmatch(rf"[0-9.]+ *({'|'.join(NANOSECONDS)})", text) is not None


def in_largest_unit(nanoseconds: int) -> str:
    """A time in the largest unit of which it has at least one: "300.005 ms"."""
    fitting = [unit for unit, size in NANOSECONDS.items() if nanoseconds >= size] or ["ns"]
    return f"{nanoseconds / NANOSECONDS[fitting[-1]]:.12g} {fitting[-1]}"


def duration(nanoseconds: int) -> str:
    """A time in the largest unit of which it is a whole number: "10 ms"."""
    units = [unit for unit, size in NANOSECONDS.items() if nanoseconds % size == 0]
    unit = units[-1] if nanoseconds else units[0]
    return f"{nanoseconds // NANOSECONDS[unit]} {unit}"
