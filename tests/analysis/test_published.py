# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The tables of docs/published.md: figures of books and papers, and what the analysis finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.analysis.platform import FREE
from camkes.analysis.verdict import Verdict, analyse
from camkes.analysis.workload import Workload, WorkloadTask

pytestmark = pytest.mark.requirement("AN-3")

PAGE = Path(__file__).parents[2] / "docs" / "published.md"
HEAD = ["T", "D", "C", "R printed", "R"]


def tables() -> dict[str, list[list[str]]]:
    """The rows of each table, by the first word in its head."""
    found: dict[str, list[list[str]]] = {}
    rows: list[list[str]] | None = None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            rows = None
        elif rows is None:
            assert cells[1:] == HEAD
            rows = found.setdefault(cells[0], [])
        elif not set(line) <= set("|-"):
            rows.append(cells)
    return found


@pytest.mark.parametrize("name", tables())
def test_responses_are_those_of_the_table(name: str) -> None:
    rows = tables()[name]
    by_deadline = name == "EDF"
    tasks = tuple(
        WorkloadTask(
            task, len(rows) - place, int(period), int(deadline), int(work), band="edf" if by_deadline else ""
        )
        for place, (task, period, deadline, work, _, _) in enumerate(rows)
    )
    found = {each.task.name: each for each in analyse(Workload(tasks, ()), FREE).tasks}
    for task, *_, printed, ours in rows:
        response = found[task].response
        assert response is not None
        assert response.time == int(ours), task
        if printed.startswith("> "):
            assert response.time > int(printed[2:])
            assert found[task].verdict is Verdict.MISSED
        elif printed == "met":
            assert found[task].verdict is Verdict.MET
        elif printed:
            assert response.time == int(printed), task


def test_a_table_is_there_for_each_source() -> None:
    assert sorted(tables()) == ["Ada", "DM", "EDF", "busy window", "set A", "set C", "set D"]
