# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The exact diagnostics of small texts, and what is resolved."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from camkes.diagnostics.rendering import Style, render
from camkes.model.dump import dump
from camkes.model.system import System
from camkes.resolve import LoadOptions
from tests.golden import compare_part, names_of_parts
from tests.resolve import neighbours
from tests.resolve.systems import resolve

pytestmark = pytest.mark.requirement("LANG-11")

ROWS = [(table, name) for table, texts in neighbours.TABLES.items() for name in texts]
ANSWERS = Path(__file__).parent / "neighbours"


def lines(system: System, table: str) -> Iterator[str]:
    """Everything but what is the same in most texts of a table."""
    data = dump(system, places=True)
    for name in ("instances", "connections", "schedule", "tasks", "cpis"):
        if name == "connections" and table in ("times", "references"):
            data[name] = [each for each in data[name] if each["settings"] or each["threads"]]
        yield from (f"{name}: {json.dumps(item)}" for item in data[name])
    yield f"other settings: {json.dumps(data['other_settings'])}"
    for name in ("A", "Box"):
        if name in data["components"] and table in ("components", "names", "values"):
            yield f"component {name}: {json.dumps(data['components'][name])}"


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize(("table", "name"), ROWS)
def test_text(tmp_path: Path, table: str, name: str) -> None:
    text = neighbours.TABLES[table][name]
    system, diagnostics = resolve(tmp_path, text, LoadOptions(cpp=False))
    said = render(diagnostics, Style(base=tmp_path)).replace(str(tmp_path), "FOLDER")
    read = "no system" if system is None else "\n".join(lines(system, table))
    compare_part("\n".join(filter(None, (said, read, ""))), name, ANSWERS / f"{table}.txt")


@pytest.mark.parametrize("table", neighbours.TABLES)
def test_each_answer_has_a_text(table: str) -> None:
    assert names_of_parts(ANSWERS / f"{table}.txt") == neighbours.TABLES[table].keys()
