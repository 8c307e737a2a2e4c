# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The rows of a sweep as a table, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from camkes.documents import json_text
from camkes.running.times import format_number, format_time
from camkes.showing.draw.table import paragraph, table
from camkes.sweep.evaluate import Doing, Prepared
from camkes.sweep.plot import Measure, PlotAxis, count_words, sweep_svg, time_words
from camkes.sweep.rows import SweepRow, Wish


class SweptSetting(Struct, frozen=True):
    """A setting that is varied, `seed` for that of searches, and its values."""

    name: str
    values: tuple[str, ...]


class SweepReport(Struct, frozen=True, kw_only=True):
    """A sweep: all `rows`, of how many `combinations` there are of the values of `settings`. `best` are those
    that meet all deadlines and are the best by the wish in `by`."""

    schema: int = 1
    application: str
    doing: Doing
    settings: tuple[SweptSetting, ...]
    combinations: int
    rows: tuple[SweepRow, ...]
    by: Wish
    best: tuple[SweepRow, ...]


def swept_settings(prepared: Prepared) -> tuple[SweptSetting, ...]:
    found = [SweptSetting(axis.name, tuple(value.text for value in axis.values)) for axis in prepared.axes]
    if prepared.seeds:
        found.append(SweptSetting("seed", tuple(map(str, prepared.seeds))))
    return tuple(found)


def to_json(
    prepared: Prepared, total: int, rows: Sequence[SweepRow], by: Wish, chosen: Sequence[SweepRow]
) -> str:
    return json_text(
        SweepReport(
            application=prepared.application.name,
            doing=prepared.todo.doing,
            settings=swept_settings(prepared),
            combinations=total,
            rows=tuple(rows),
            by=by,
            best=tuple(chosen),
        )
    )


def to_text(prepared: Prepared, rows: Sequence[SweepRow], *, color: bool, width: int | None) -> str:
    """A table with a line for each row."""
    doing = prepared.todo.doing
    headings = [setting.name for setting in swept_settings(prepared)]
    columns = {"analyze": ("slack", "of", "blocking", "of"), "explore": ("states",)}.get(
        doing, ("missed", "slack", "of", "blocking", "of")
    )
    reasons = any(row.reason for row in rows)
    first = (*headings, "verdict", *columns, *(("reason",) if reasons else ()))
    cells: list[tuple[str, ...]] = [first]
    alarms = set()
    for number, row in enumerate(rows, 1):
        times = (_time(row.slack), row.slack_task, _time(row.blocking), row.blocking_task)
        shown = (_number(row.states),) if doing == "explore" else times
        missed = (_number(row.missed),) if doing == "run" else ()
        cells.append((*row.values, row.verdict, *missed, *shown, *((row.reason,) if reasons else ())))
        if not row.good:
            alarms.add((number, len(headings)))
    right = {index for index, axis in enumerate(prepared.axes) if axis.is_number}
    right |= {index for index, name in enumerate(first) if name in ("slack", "blocking", "missed", "states")}
    return table(cells, right=right, color=color, alarms=alarms, width=width)


def _time(value: int | None) -> str:
    return "-" if value is None else format_time(value, 3)


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def summary(rows: Sequence[SweepRow]) -> str:
    """How many rows have which verdict."""
    verdicts = [row.verdict for row in rows]
    counts = ", ".join(f"{verdicts.count(name):,} {name}" for name in dict.fromkeys(verdicts))
    return f"{len(rows):,} combination{'' if len(rows) == 1 else 's'}: {counts}"


def conditions_text(rows: Sequence[SweepRow], width: int | None) -> list[str]:
    """What is assumed in rows, and what was not searched, each once, and in how many if not in all."""
    parts = []
    for heading, of_rows in (
        ("met if:", [row.assumed for row in rows]),
        ("not searched:", [row.not_searched for row in rows]),
    ):
        counts = Counter(text for texts in of_rows for text in texts)
        with_any = sum(map(bool, of_rows))
        lines = [
            f"  {text}{'' if times == with_any else f' (in {times:,} combinations)'}"
            for text, times in counts.items()
        ]
        if lines:
            parts.append("\n".join(["\n".join(paragraph(line, width)) for line in (heading, *lines)]))
    return parts


def best_text(prepared: Prepared, by: Wish, chosen: Sequence[SweepRow]) -> str:
    """The best rows in words, a line each."""
    names = [setting.name for setting in swept_settings(prepared)]
    what = {"slack": "the greatest slack", "budget": "the least budgets", "blocking": "the least blocking"}[
        by
    ]
    lines = [f"with {what}:"]
    for row in chosen:
        values = ", ".join(f"{name} = {value}" for name, value in zip(names, row.values, strict=True))
        result = {
            "slack": f"slack {_time(row.slack)}",
            "budget": f"{format_number(100 * (row.budget or 0), 2)} % of the processor",
            "blocking": f"blocking {_time(row.blocking)}",
        }[by]
        lines.append(f"  {values}: {result}")
    return "\n".join(lines)


def to_csv(prepared: Prepared, rows: Sequence[SweepRow]) -> str:
    """A line for each row; times are nanoseconds. After the settings, the columns are fields of `SweepRow`,
    and then the response of each task."""
    names = [setting.name for setting in swept_settings(prepared)]
    tasks = list(dict.fromkeys(task for row in rows for task in row.responses))
    fields = ("verdict", "slack", "slack_task", "blocking", "blocking_task", "budget", "missed", "states")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["number", *names, *fields, "reason", *(f"response {task}" for task in tasks)])
    for row in rows:
        values = [getattr(row, field) for field in fields]
        cells = [f"{value:.6g}" if isinstance(value, float) else value for value in values]
        responses = (row.responses.get(task) for task in tasks)
        writer.writerow([row.number, *row.values, *cells, row.reason, *responses])
    return text.getvalue()


def to_svg(prepared: Prepared, rows: Sequence[SweepRow]) -> str:
    """A picture of the slack, or of the states of searches."""
    axes = [
        PlotAxis(
            axis.name,
            tuple(value.text for value in axis.values),
            tuple(value.number or 0.0 for value in axis.values) if axis.is_number else None,
        )
        for axis in prepared.axes
    ]
    if prepared.seeds:
        axes.append(PlotAxis("seed", tuple(map(str, prepared.seeds)), tuple(map(float, prepared.seeds))))
    name = prepared.application.name
    if prepared.todo.doing == "explore":
        return sweep_svg(name, axes, rows, Measure("states", _states, count_words))
    return sweep_svg(name, axes, rows, Measure("least slack of all tasks", _slack, time_words))


def _states(row: SweepRow) -> float | None:
    return row.states


def _slack(row: SweepRow) -> float | None:
    return row.slack
