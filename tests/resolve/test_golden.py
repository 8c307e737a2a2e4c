# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Each file in bad/ gives the diagnostics that stand beside it.

Write the expected ones anew with `CAMKES_UPDATE_GOLDEN=1 pytest tests/resolve/test_golden.py` and read
the difference.
"""

import os
from pathlib import Path

import pytest

from camkes.diagnostics import Sink, Span
from camkes.resolve import LoadOptions, load

BAD = Path(__file__).parent / "bad"
FILES = sorted(BAD.glob("*.camkes"))


def place(span: Span | None) -> str:
    if span is None:
        return "-"
    end = f"{span.end_column}" if span.end_line == span.line else f"{span.end_line}:{span.end_column}"
    return f"{span.file.path.name}:{span.line}:{span.column}-{end}"


def rendered(path: Path) -> str:
    sink = Sink()
    load(path, LoadOptions(), sink)
    lines = []
    for d in sink.diagnostics:
        lines.append(f"{place(d.span)} {d.code.number} {d.message}")
        lines += [f"    {place(label.span)} {label.text}" for label in d.related]
        if d.help:
            lines.append(f"    help: {d.help}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    expected = path.with_suffix(".expected")
    text = rendered(path)
    if os.environ.get("CAMKES_UPDATE_GOLDEN"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
