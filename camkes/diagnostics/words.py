# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Words in messages and reports."""


def plural(number: int, word: str) -> str:
    """The word for so many: "job", "jobs"."""
    return word if number == 1 else f"{word}s"
