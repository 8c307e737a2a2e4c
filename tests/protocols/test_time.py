# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Raised priorities, and what `camkes plan` shows of budgets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.overrun import LEVELS
from camkes.model.system import Task
from camkes.protocols import analyse, sketch
from camkes.protocols.time import bands, raised_priority
from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions
from camkes.showing import plan_json, plan_tables
from tests.examples import examples
from tests.golden import compare

pytestmark = pytest.mark.requirement("PLAN-4")

GOLDEN = Path(__file__).parent / "golden"
SPAN = Span(SourceFile(Path("a.camkes"), ""), 1, 1, 1, 1)
PLAIN = Task("t", None, 0, None, None, None, None, 0, SPAN, {})

TASKS = st.lists(st.tuples(st.integers(0, 254), st.integers(0, LEVELS - 1)), min_size=1, max_size=8)


def tasks_of(pairs: list[tuple[int, int]]) -> list[Task]:
    return [replace(PLAIN, priority=priority, criticality=level) for priority, level in pairs]


def test_priority_0_is_below_a_critical_one_of_the_same_number() -> None:
    assert bands(tasks_of([(0, 0), (0, 1)])) == (0, 1, *(1 for _ in range(2, LEVELS)))


@given(pairs=TASKS)
@examples(200)
def test_tasks_of_a_criticality_are_above_all_others(pairs: list[tuple[int, int]]) -> None:
    tasks = tasks_of(pairs)
    added = bands(tasks)
    for level in range(LEVELS):
        priorities = [raised_priority(task, added, level) for task in tasks]
        high = [(task, p) for task, p in zip(tasks, priorities, strict=True) if task.criticality >= level]
        low = [p for task, p in zip(tasks, priorities, strict=True) if task.criticality < level]
        assert not high or not low or min(p for _, p in high) > max(low)
        # and in the order that they have without
        for one, raised in high:
            for two, other in high:
                assert (raised < other) == ((one.priority or 0) < (two.priority or 0))
    assert added[0] == 0 and list(added) == sorted(added)


def test_no_more_is_added_than_is_needed() -> None:
    assert bands(tasks_of([(10, 1), (20, 0)])) == (0, 11, 11, 11)
    assert bands(tasks_of([(30, 1), (20, 0)])) == (0, 0, 0, 0)
    assert bands(tasks_of([(10, 2), (20, 1), (25, 0)])) == (0, 16, 27, 27)


def test_table_and_json() -> None:
    for mcs in (True, False):
        system = load(GOLDEN / "payers.camkes", LoadOptions(cpp=False, mcs=mcs), Sink())
        assert system is not None
        plan, _ = sketch(system)
        text, data = plan_tables.to_text(plan), json.loads(plan_json.to_json(plan))
        assert mcs == ("overrun" in text) == ("time" in data["tasks"][0]) == ("payers" in data["cpis"][0])
        if mcs:
            compare(f"{text}\n", GOLDEN / "payers.table")
            assert data["tasks"][0]["time"] == {
                "budgets": [2_000_000, 2_000_000],
                "period": 20_000_000,
                "server": "sporadic",
                "refills": 11,
                "overrun": "wait",
                "criticality": 1,
                "priorities": [10, 31],
                "degraded": {"kind": "background", "factor": 1},
                "extension": None,
            }
            assert data["cpis"][3]["extension"] == {"budget": 100_000, "period": 10_000_000}
            assert [cpi["payers"] for cpi in data["cpis"]] == [[], ["a"], ["a", "b"], ["c", "d"], ["b"]]


def test_the_first_word_that_needs_mcs_is_that_of_the_first_line(tmp_path: Path) -> None:
    root = tmp_path / "a.camkes"
    root.write_text(
        """component T { control; requestor; }
        assembly { composition { component T a; component T b; } configuration {
            a._priority = 1; a._criticality = 1;
            b._priority = 2; b._criticality = 2; } }"""
    )
    sink = Sink()
    system = load(root, LoadOptions(cpp=False), sink)
    assert system is not None
    analyse(system, sink)
    (found,) = [d for d in sink.diagnostics if d.code.name == "needs-mcs"]
    assert found.span is not None and found.span.line == 3
    assert [label.span.line for label in found.related] == [4]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [('_budget = "2 ms"', "E0601"), ("_budget = -1", "E0602"), ("_budget = 20 ms; a._period = 0", "E0602")],
)
def test_a_policy_is_not_without_effect_where_a_wrong_budget_is_reported(
    tmp_path: Path, wrong: str, code: str
) -> None:
    path = tmp_path / "system.camkes"
    text = (GOLDEN / "overrun_without_budget.camkes").read_text()
    path.write_text(text[: text.index("a._overrun")] + f"a.{wrong}; }} }}\n")
    sink = Sink()
    system = load(path, LoadOptions(cpp=False, mcs=True), sink)
    assert system is not None
    analyse(system, sink)
    assert [each.code.number for each in sink.diagnostics] == [code]
