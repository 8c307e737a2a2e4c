# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Each file in bad/ gives the diagnostics that stand beside it.

Write the expected ones anew with `CAMKES_UPDATE_GOLDEN=1 pytest tests/resolve/test_golden.py` and read
the difference.
"""

import os
from pathlib import Path

import pytest

from camkes.diagnostics import Severity, Sink, Span
from camkes.resolve import LoadOptions, codes, load

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


def all_codes() -> set[str]:
    return {value.number for name, value in vars(codes).items() if name.isupper()}


def test_every_code_has_a_golden_file() -> None:
    seen = " ".join(path.read_text(encoding="utf-8") for path in BAD.glob("*.expected"))
    missing = {number for number in all_codes() if number not in seen}
    # these need files or machinery that a golden file does not have; other tests see them
    assert missing <= {
        codes.TOO_DEEP.number,
        codes.SETTING_PATH.number,
        codes.CONNECTOR_ENDS.number,
        codes.SCHEDULE_IGNORED.number,
        codes.PROTOCOL_IGNORED.number,
        codes.CONNECTOR_THREADS_DIFFER.number,
    }


def test_codes_are_distinct_and_explained() -> None:
    found = [value for name, value in vars(codes).items() if name.isupper()]
    assert len({code.number for code in found}) == len(found)
    assert len({code.name for code in found}) == len(found)
    for code in found:
        assert "```camkes" in code.explanation
        assert code.severity in (Severity.ERROR, Severity.WARNING)
