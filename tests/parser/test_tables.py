# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The stored tables are those of the grammar, and quick to load."""

from __future__ import annotations

import logging
import marshal
import subprocess
import sys
from pathlib import Path

import pytest

from camkes.parser import tables
from camkes.parser.build import Builder

pytestmark = pytest.mark.requirement("LANG-7")


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tables.marshal"
    monkeypatch.setattr(tables, "STORED", path)
    return path


def test_missing_tables_are_made_and_kept(stored: Path) -> None:
    made = tables.load()
    written = stored.read_bytes()
    assert tables.load() == made
    assert stored.read_bytes() == written
    assert list(stored.parent.iterdir()) == [stored]


@pytest.mark.long
def test_the_same_grammar_gives_the_same_bytes(stored: Path) -> None:
    """So that a package that is built again is the same."""
    found = set()
    for _ in range(3):
        tables.load()
        found.add(stored.read_bytes())
        stored.unlink()
    assert len(found) == 1


@pytest.mark.long
@pytest.mark.parametrize("data", [b"", b"[", marshal.dumps([]), marshal.dumps({"key": "old"})])
def test_stale_tables_are_replaced(stored: Path, data: bytes) -> None:
    stored.write_bytes(data)
    assert tables.load().rules[0]
    assert marshal.loads(stored.read_bytes())["rules"]


@pytest.mark.long
def test_tables_that_cannot_be_cached_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "STORED", Path("/nonexistent/tables.marshal"))
    assert tables.load().rules[0]


@pytest.mark.long
def test_stored_tables_are_those_of_the_grammar() -> None:
    grammar = tables.GRAMMAR.read_text()
    kept, made = tables.load(), tables._analyse(grammar)
    rows = [kept.rows[number] for number in range(len(made["rows"]))]
    assert (rows, kept.start, kept.end) == (made["rows"], made["start"], made["end"])


def test_the_grammar_has_no_conflict(caplog: pytest.LogCaptureFixture) -> None:
    from lark import Lark, logger

    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(caplog.handler)
    try:
        Lark(tables.GRAMMAR.read_text(), parser="lalr", lexer="basic", debug=True)
    finally:
        logger.setLevel(level)
        logger.removeHandler(caplog.handler)
    assert "conflict" not in caplog.text.lower()


@pytest.mark.long
def test_every_production_has_a_method() -> None:
    rules = tables._analyse(tables.GRAMMAR.read_text())["rules"]
    actions = {action for _, _, action, *_ in rules} - {"", "[]"}
    methods = {name for name in vars(Builder) if not name.startswith("_")}
    assert actions == methods


def test_a_start_needs_no_lark() -> None:
    tables.load()
    program = (
        "import sys; from pathlib import Path; from camkes.diagnostics import Sink, SourceFile;"
        "from camkes.parser.parse import parse;"
        "assert parse(SourceFile(Path('x'), 'component A { control; }'), Sink());"
        "print(*sorted({'lark', 'subprocess', 'tempfile', 'difflib', 'hashlib'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
