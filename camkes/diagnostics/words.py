# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Words in messages and reports."""

from __future__ import annotations

from collections.abc import Iterable


def plural(number: int, word: str) -> str:
    """The word for so many: "job", "jobs"."""
    return word if number == 1 else f"{word}s"


def listing(names: Iterable[str], most: int = 6) -> str:
    """Names for a sentence: `a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > most:
        quoted[most - 1 :] = [f"{len(quoted) - most + 1} more"]
    return " and ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))
