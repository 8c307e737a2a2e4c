# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tables for the terminal, as wide as their content."""

from __future__ import annotations

from collections.abc import Container, Sequence


def table(
    rows: Sequence[Sequence[str]],
    *,
    right: Container[int],
    color: bool,
    alarms: Container[tuple[int, int]] = (),
) -> str:
    """Rows in columns, the first as a heading; columns in `right` are set right. The cells (row, column) in
    `alarms` are red."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for number, row in enumerate(rows):
        cells = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padded = cell.rjust(width) if column in right else cell.ljust(width)
            cells.append(f"\x1b[31;1m{padded}\x1b[0m" if color and (number, column) in alarms else padded)
        line = "  ".join(cells).rstrip()
        lines.append(f"\x1b[1m{line}\x1b[0m" if color and number == 0 else line)
    return "\n".join(lines)
