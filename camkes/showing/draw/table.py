# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tables for the terminal, as wide as their content, or as the terminal is."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Container, Sequence

_GAP = "  "
#: the least width in which words are put on several lines
_LEAST = 16
_UNIT = re.compile(r"(?<=\d) (?=[num]?s\b)")


def terminal_width() -> int | None:
    """The columns of the terminal, None if output goes elsewhere."""
    return shutil.get_terminal_size((0, 0)).columns or None


def table(
    rows: Sequence[Sequence[str]],
    *,
    right: Container[int],
    color: bool,
    alarms: Container[tuple[int, int]] = (),
    width: int | None = None,
    spare: Sequence[str] = (),
) -> str:
    """Rows in columns, the first as a heading; columns in `right` are set right. The cells (row, column) in
    `alarms` are red. In a `width` that is too small, columns with the headings in `spare` are left out, in
    this order, and words in a last column that is set left are put on several lines."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shown = list(range(len(widths)))
    left_out = []
    for heading in spare:
        if width is None or _sum(widths, shown) <= width:
            break
        column = list(rows[0]).index(heading)
        shown.remove(column)
        left_out.append(heading)
    last = shown[-1]
    broken_at = None
    if width is not None and last not in right and (over := _sum(widths, shown) - width) > 0:
        broken_at = widths[last] = max(widths[last] - over, _LEAST)
    lines = []
    for number, row in enumerate(rows):
        cells = []
        broken = paragraph(row[last], broken_at) or [""]
        for column in shown:
            cell = broken[0] if column == last else row[column]
            padded = cell.rjust(widths[column]) if column in right else cell.ljust(widths[column])
            cells.append(f"\x1b[31;1m{padded}\x1b[0m" if color and (number, column) in alarms else padded)
        line = _GAP.join(cells).rstrip()
        lines.append(f"\x1b[1m{line}\x1b[0m" if color and number == 0 else line)
        before = _sum(widths, shown) - widths[last]
        lines += [" " * before + more for more in broken[1:]]
    if left_out:
        lines += paragraph(f"left out in this width: {', '.join(left_out)}", width)
    return "\n".join(lines)


def paragraph(text: str, width: int | None) -> list[str]:
    """The lines of a text in a width. A number and its unit are in one line."""
    if width is None:
        return [text]
    joined = _UNIT.sub("\xa0", text)
    lines = textwrap.wrap(joined, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def _sum(widths: Sequence[int], shown: Sequence[int]) -> int:
    return sum(widths[column] for column in shown) + len(_GAP) * (len(shown) - 1)
