# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A log of all images, which they printed in QEMU, and what a serial line can make of it."""

from __future__ import annotations

from pathlib import Path

from camkes.measuring.log import content, written

GOLDEN = Path(__file__).parent / "golden"

#: lines of the images of x86_64 with 5 samples
LINES = tuple((GOLDEN / "qemu-x86_64.log").read_text().splitlines())


def with_about(old: str, new: str, part: str, lines: tuple[str, ...] = LINES) -> list[str]:
    """With other words in the first line of an image."""
    found = []
    for line in lines:
        text = content(line) or ""
        begins = text.startswith(f"begin {part} ")
        assert not begins or old in text
        found.append(written(text.replace(old, new)) if begins else line)
    return found


def damaged(lines: tuple[str, ...] = LINES) -> list[str]:
    """The third line has lost its last digit before the sum."""
    before, star, total = lines[2].rpartition(" *")
    return [*lines[:2], before[:-1] + star + total, *lines[3:]]


def cut(count: int = 4, lines: tuple[str, ...] = LINES) -> str:
    """The beginning of the log, the last line of which is cut off."""
    return "\n".join(lines[:count])[:-10]
