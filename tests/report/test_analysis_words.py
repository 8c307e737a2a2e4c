# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The words of reports of margins and of other protocols. Tables of plans: tests/protocols/golden."""

from __future__ import annotations

import pytest

from camkes.analysis.sensitivity import Margin, ResponseTimeChange
from camkes.model.protocols import Protocol
from camkes.showing.sensitivity import changes_text, margins_text, to_report

pytestmark = pytest.mark.requirement("TOOL-14")

MS = 1_000_000


def words(text: str) -> list[str]:
    """Each line but the head, with one blank between its words."""
    return [" ".join(line.split()) for line in text.splitlines()[1:]]


def test_margins() -> None:
    margins = [
        Margin("low", is_task=True, now=2 * MS, longest=5 * MS),
        Margin("db.store", is_task=False, now=0, longest=MS),
    ]
    assert words(margins_text(margins)) == ["low 2 ms 5 ms 3 ms 2.5", "db.store 0 ns 1 ms 1 ms -"]
    late = Margin("high", is_task=True, now=MS, longest=None)
    assert words(margins_text([*margins[:1], late]))[1:] == [
        "high 1 ms - - -",
        "A deadline can be missed already.",
    ]
    kinds = [(each.name, each.kind, each.longest) for each in to_report([*margins, late], []).margins]
    assert kinds == [("low", "task", 5 * MS), ("db.store", "cpi", MS), ("high", "task", None)]


def change(*, good: bool, shares: bool) -> ResponseTimeChange:
    after = Protocol.PROPAGATED if shares else Protocol.FIXED
    responses = (("low", 4 * MS, 3 * MS), ("high", None, MS))
    return ResponseTimeChange("db.store", Protocol.INHERITED, after, responses, good)


def test_changes() -> None:
    assert changes_text([], assumed=False) == "No other protocol of a CPI makes a response shorter."
    assert words(changes_text([change(good=True, shares=False)], assumed=False)) == [
        "db.store inherited fixed met low 4 ms -> 3 ms, high - -> 1 ms"
    ]
    assert words(changes_text([change(good=False, shares=True)], assumed=False)) == [
        "db.store inherited propagated* can be missed low 4 ms -> 3 ms, high - -> 1 ms",
        "* requests are then served at the same time: the code has to be reentrant",
    ]
    (report,) = to_report([], [change(good=False, shares=True)]).changes
    assert (report.reentrant, report.deadlines_met) == (True, False)
    assert [(each.task, each.now, each.then) for each in report.responses] == [
        ("low", 4 * MS, 3 * MS),
        ("high", None, MS),
    ]
