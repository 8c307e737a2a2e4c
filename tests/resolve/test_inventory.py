# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every kind of mistake gives the codes it should, and no mistake is passed over."""

from pathlib import Path

import pytest

from camkes.diagnostics import Severity
from camkes.diagnostics.rendering import Style, render
from camkes.resolve import LoadOptions
from tests.golden import compare
from tests.resolve.inventory import ROWS, SAME, Row, Same
from tests.resolve.systems import resolve

pytestmark = pytest.mark.requirement("LANG-20")

ROOT = Path(__file__).resolve().parents[2]
TEXTS = Path(__file__).parent / "inventory"


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_row(tmp_path: Path, row: Row) -> None:
    system, diagnostics = resolve(tmp_path, row.text)
    assert tuple(d.code.number for d in diagnostics) == row.codes
    assert all(d.span for d in diagnostics)
    if row.upstream == "accepts":
        # what upstream builds, we build, and say what is suspicious
        assert system is not None
        assert all(d.severity is Severity.WARNING for d in diagnostics)
    else:
        assert any(d.severity is Severity.ERROR for d in diagnostics)
    text = render(diagnostics, Style(base=tmp_path))
    compare(
        text.replace(str(tmp_path), "FOLDER").replace(f"{ROOT}/", ""),
        TEXTS / f"{row.name.replace(' ', '-')}.txt",
    )


@pytest.mark.parametrize("same", SAME, ids=[same.name for same in SAME])
def test_systems_accepted_by_camkes_tool_are_accepted(tmp_path: Path, same: Same) -> None:
    options = LoadOptions(cpp=False, allow_forward_references=same.forward)
    system, diagnostics = resolve(tmp_path, same.text, options)
    assert system is not None
    assert [d.message for d in diagnostics if d.severity is Severity.ERROR] == []


def test_no_row_is_there_twice() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert len({row.text for row in ROWS}) == len(ROWS)
