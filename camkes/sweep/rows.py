# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The result of a combination, and which combinations are best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct

RowVerdict = Literal[
    "met",
    "met if",
    "missed",
    "unbounded",
    "none missed",  # in a run
    "no violation",
    "violation",
    "stopped",
    "rejected",
    "failed",
]
Wish = Literal["slack", "budget", "blocking"]
#: Verdicts of combinations that do what is asked of them.
GOOD_VERDICTS = ("met", "met if", "none missed", "no violation")


class SweepRow(Struct, frozen=True, kw_only=True):
    """A combination: its `number`, and the `values` of all settings that are varied. `reason` is why it was
    `rejected` (a diagnostic), or `failed`, why a task is `unbounded`, what was found in a `violation`, and
    how far a search went.
    All times are nanoseconds. `slack` is the least difference of a deadline and a response, of the task
    `slack_task`; null where a task has no bound, or none has a deadline. `blocking` is the longest, that of
    `blocking_task`. `responses` are bounds, or the longest of a run, null where there is none. `missed` are
    the deadlines that a run missed, `states` those that a search came to. `budget` is the share of the
    processor that budgets reserve, or, where tasks have none, that jobs need; null where it is not known.
    `assumed` is what the bounds rest on that is not known, `not_searched` what a search left out."""

    number: int
    values: tuple[str, ...]
    verdict: RowVerdict
    reason: str = ""
    slack: int | None = None
    slack_task: str = ""
    blocking: int | None = None
    blocking_task: str = ""
    budget: float | None = None
    responses: Mapping[str, int | None] = {}
    missed: int | None = None
    states: int | None = None
    assumed: tuple[str, ...] = ()
    not_searched: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether all deadlines are met, or no violation was found."""
        return self.verdict in GOOD_VERDICTS


def best(rows: Iterable[SweepRow], wish: Wish, count: int) -> tuple[SweepRow, ...]:
    """So many of the combinations that are good: those with the greatest slack, the least budgets, or the
    least longest blocking; of equal ones those with the greater slack, then in their order."""
    key = _KEYS[wish]
    found = [row for row in rows if row.good and key(row) is not None]
    found.sort(key=lambda row: (key(row) or 0, -(row.slack or 0), row.number))
    return tuple(found[:count])


def _slack(row: SweepRow) -> float | None:
    return None if row.slack is None else -row.slack


def _budget(row: SweepRow) -> float | None:
    return row.budget


def _blocking(row: SweepRow) -> float | None:
    return row.blocking


_KEYS: Mapping[Wish, Callable[[SweepRow], float | None]] = {
    "slack": _slack,
    "budget": _budget,
    "blocking": _blocking,
}
