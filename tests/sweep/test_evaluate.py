# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Rows of combinations: each is that of the system whose text has these values."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest

from camkes.analysis.platform import FREE
from camkes.backends.host.explore import SearchOptions
from camkes.files import OutputError
from camkes.process.limits import LimitError
from camkes.sweep import evaluate
from camkes.sweep.evaluate import Doable
from camkes.sweep.rows import RowVerdict, SweepRow, best
from tests.command import camkes
from tests.sweep.systems import SYSTEM, evaluation, write_system

pytestmark = pytest.mark.requirement("AN-29")


def rows_of(root: Path, *vary: str, todo: Doable | None = None, count: int) -> list[SweepRow]:
    with evaluation(root, *vary, todo=todo) as each:
        return [each(number) for number in range(count)]


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ("fast._wcet", ["1 ms", "3500 us", "20 ms"]),
        ("slow._period", ["20 ms", "400 ms"]),
        ("slow._priority", ["10", "30", "40"]),
        ("table.store_priority_protocol", ['"fixed"', '"propagated"', '"inherited"']),
        ("table.store_wcet", ["1", "5000", "9 ms"]),
        ("table.store_put_wcet", ["1", "9 ms"]),
        ("fast._deadline", ["3 ms", "4 ms"]),
        ("fast.store_requests", ["1", "2"]),
    ],
)
def test_a_value_is_as_if_it_stood_in_the_text(setting: str, values: list[str], tmp_path: Path) -> None:
    """Compared with `camkes analyze` of a file that has it."""
    root = write_system(tmp_path)
    text = SYSTEM
    if f"{setting} =" not in text:
        text = text.replace("table.store_wcet = 1 ms;", f"table.store_wcet = 1 ms; {setting} = 0;")
    changed = tmp_path / "changed.camkes"
    vary = f"{setting}={','.join(value.replace(' ', '') for value in values)}"
    for row, value in zip(rows_of(root, vary, count=len(values)), values, strict=True):
        changed.write_text(re.sub(rf"{re.escape(setting)} = [^;]*;", f"{setting} = {value};", text))
        found = json.loads(camkes("analyze", changed, "--text", "--json", "--no-search").output)
        responses = {task["name"]: task["response"] for task in found["tasks"]}
        slacks = [task["deadline"] - task["response"] for task in found["tasks"] if task["response"]]
        blocking = [task["blocking"] for task in found["tasks"] if task["response"]]
        assert row.responses == responses
        assert row.verdict == found["verdict"]
        assert row.slack == (min(slacks) if len(slacks) == len(responses) else None)
        assert row.blocking == max(blocking, default=None)
        assert row.assumed == tuple(each["text"] for each in found["assumptions"])


def test_budgets(tmp_path: Path) -> None:
    """On an MCS kernel, responses are those with budgets, and the share of the processor that of budgets."""
    root, mcs = write_system(tmp_path), "-DKernelIsMCS=ON"
    root.write_text(SYSTEM.replace("fast._wcet", "slow._budget = 40 ms; fast._budget = 10 ms; fast._wcet"))
    found = camkes("sweep", root, mcs, "--text", "--vary", "fast._budget=2ms,10ms", "--json")
    rows = json.loads(found.output)["rows"]
    assert [row["verdict"] for row in rows] == ["missed", "met if"]
    assert [row["budget"] for row in rows] == pytest.approx([1.2, 2.0])
    alone = json.loads(camkes("analyze", root, mcs, "--text", "--json", "--no-search").output)
    bounds = {each["name"]: each["response"] for each in alone["budgets"]}
    assert rows[1]["responses"] == bounds


def test_what_cannot_be_built_is_a_row(tmp_path: Path) -> None:
    """An unknown protocol, a ceiling that is too low, and an execution time that is not a time."""
    rows = rows_of(write_system(tmp_path), "table.store_priority_protocol=inherited,fxed", count=2)
    assert [row.verdict for row in rows] == ["met if", "rejected"]
    assert rows[1].reason.startswith("E0") and "fxed" in rows[1].reason
    vary = ("table.store_priority_protocol=fixed", "table.store_priority=10,30")
    rows = rows_of(write_system(tmp_path), *vary, count=2)
    assert [row.verdict for row in rows] == ["rejected", "met if"]
    (row,) = rows_of(write_system(tmp_path), "fast._wcet=soon", count=1)
    assert row.verdict == "rejected" and row.slack is None


def test_a_defect_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("it was 0")

    with evaluation(write_system(tmp_path), "fast._wcet=1ms,2ms") as each:
        good = each(0)
        monkeypatch.setattr(evaluate, "analyse_system", fails)
        row = each(1)
    assert good.verdict == "met if"
    assert (row.number, row.values, row.verdict) == (1, ("2 ms",), "failed")
    assert row.reason == "ZeroDivisionError: it was 0"


@pytest.mark.parametrize(
    "error",
    [OutputError("disk full"), LimitError("disk full", ["-n"]), OSError(errno.ENOSPC, "disk full")],
)
def test_an_error_of_the_machine_ends_the_sweep(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on when there is space: the combination has not failed."""

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(evaluate, "analyse_system", fails)
    with (
        evaluation(write_system(tmp_path), "fast._wcet=1ms") as each,
        pytest.raises(OutputError, match="full"),
    ):
        each(0)


def test_a_first_value_that_makes_no_system_is_a_row(tmp_path: Path) -> None:
    """The text of the files is good, so the others are evaluated."""
    rows = rows_of(write_system(tmp_path), "slow._release=a,more", "fast._wcet=1ms,2ms", count=4)
    assert {row.verdict for row in rows} == {"rejected"} and all("E0" in row.reason for row in rows)


def test_references_follow_a_value(tmp_path: Path) -> None:
    root = write_system(tmp_path)
    root.write_text(SYSTEM.replace("slow._wcet = 5 ms", "slow._wcet <- fast._wcet"))
    one, two = rows_of(root, "fast._wcet=1ms,2ms", count=2)
    assert (two.responses["slow"] or 0) - (one.responses["slow"] or 0) == 2_000_000


def test_code_is_read_again_where_it_sees_what_is_varied(tmp_path: Path) -> None:
    """The number of requests is an attribute of the component; its code does not see an execution time."""
    root = write_system(tmp_path, code=True)
    todo = Doable(platform=FREE)
    two, five = rows_of(root, "slow.times=2,5", todo=todo, count=2)
    assert (two.assumed, five.assumed) == ((), ())
    assert five.responses["slow"] == (two.responses["slow"] or 0) + 3_000_000 + 3_000_000  # and one of fast
    with evaluation(root, "slow._wcet=5ms,6ms", todo=todo) as each:
        assert each.prepared.keeps_code and each.prepared.code is not None
        short, long = each(0), each(1)
        assert "folder" not in each.__dict__, "the code was read again"
    assert long.responses["slow"] == (short.responses["slow"] or 0) + 1_000_000


@pytest.mark.long
def test_runs(tmp_path: Path) -> None:
    """Longer execution does not change a run, as code works for other times; a period does."""
    root = write_system(tmp_path, code=True)
    todo = Doable(doing="run", duration=200_000_000)
    long, short = rows_of(root, "fast._period=10ms,1500us", todo=todo, count=2)
    assert (long.verdict, long.missed) == ("none missed", 0)
    assert long.responses["fast"] == 10_000_000 - (long.slack or 0)
    assert short.verdict in ("missed", "failed") and (short.missed or 0) > 0


def test_searches(tmp_path: Path) -> None:
    root = write_system(tmp_path, code=True)
    todo = Doable(doing="explore", any_order=False)
    good, bad = rows_of(root, "fast._deadline=10ms,1ms", todo=todo, count=2)
    assert good.verdict == "no violation" and good.reason == "exhausted" and good.not_searched
    assert bad.verdict == "violation" and bad.reason.startswith("D: ")
    assert good.states and bad.states


@pytest.mark.long
def test_random_searches_of_seeds_are_those_of_explore(tmp_path: Path) -> None:
    root = write_system(tmp_path, code=True)
    words = ("--arrivals", "any", "--random", "20", "-o", tmp_path / "build")
    swept = camkes("sweep", root, "--do", "explore", *words[:-2], "--seeds", "3:5", "--json")
    rows = json.loads(swept.output)["rows"]
    assert [row["values"] for row in rows] == [["3"], ["4"], ["5"]]
    for row in rows:
        alone = camkes("explore", root, *words, "--seed", row["values"][0], "--json")
        assert row["states"] == sum(each["states"] for each in json.loads(alone.output)["passes"])


def test_seeds_are_varied_last(tmp_path: Path) -> None:
    from msgspec.structs import replace

    from tests.sweep.systems import prepared

    found = replace(prepared(write_system(tmp_path), "fast._wcet=1ms,2ms"), seeds=(7, 8))
    chosen = [found.chosen(number) for number in range(4)]
    assert [(seed, values) for _, seed, values in chosen] == [
        (7, ("1 ms", "7")),
        (8, ("1 ms", "8")),
        (7, ("2 ms", "7")),
        (8, ("2 ms", "8")),
    ]


def test_the_best() -> None:
    def row(number: int, slack: int | None, blocking: int, verdict: RowVerdict = "met") -> SweepRow:
        budget = 0.5 - number / 10
        return SweepRow(
            number=number, values=(), verdict=verdict, slack=slack, blocking=blocking, budget=budget
        )

    rows = [row(0, 5, 3), row(1, 9, 3), row(2, 7, 1), row(3, 10, 0, "missed"), row(4, None, 0, "rejected")]
    assert [each.number for each in best(rows, "slack", 2)] == [1, 2]
    assert [each.number for each in best(rows, "blocking", 5)] == [2, 1, 0]
    assert [each.number for each in best(rows, "budget", 1)] == [2]


def test_what_is_searched_by_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processors are for other combinations."""
    seen = []

    def explore(asked: object, settings: object, sink: object, progress: object) -> None:
        seen.append(settings)

    monkeypatch.setattr(evaluate, "explore", explore)
    todo = Doable(doing="explore", search=SearchOptions(random=5, processes=8), duration=7)
    rows_of(write_system(tmp_path), "fast._wcet=1ms", todo=todo, count=1)
    (settings,) = seen
    assert (settings.search.processes, settings.search.random, settings.search.duration) == (1, 5, 7)
