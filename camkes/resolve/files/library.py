# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The `.camkes` files that come with the tool."""

from __future__ import annotations

from pathlib import Path

from camkes.resources import DEVICES

#: The files that `import <name>` finds after those of the import path.
BUILTIN = Path(__file__).parents[1] / "builtin"

#: Takes the place of a library that applications name by a path beside their own: found last.
LIBRARY = BUILTIN / "priority-aware-camkes"


def comes_with_tool(path: Path) -> bool:
    """Is it a file of these, or of the substitutes for device components?"""
    return path.is_relative_to(BUILTIN) or path.is_relative_to(DEVICES)
