# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Changes of a file as a patch."""

from __future__ import annotations

from collections.abc import Iterator


def patch(before: str, after: str, old: str, new: str) -> Iterator[str]:
    """The lines of a patch from the file `old` to `new`. Only "\\n" ends a line, as it does for `patch`."""
    from difflib import unified_diff

    for line in unified_diff(_lines(before), _lines(after), old, new):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
