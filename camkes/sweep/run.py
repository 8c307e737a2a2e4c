# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Evaluates the combinations of a sweep that are not known yet, with workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from camkes.sweep.evaluate import Prepared, lost
from camkes.sweep.results import ResultsFile
from camkes.sweep.rows import SweepRow
from camkes.sweep.workers import Lost, Workers


def sweep(
    prepared: Prepared,
    numbers: Sequence[int],
    workers: Workers[int, SweepRow],
    results: ResultsFile,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[SweepRow]:
    """The rows of these combinations in their order. Raises OutputError, and what workers raise."""
    left = [number for number in numbers if number not in results.rows]
    known = len(numbers) - len(left)
    for done, (index, found) in enumerate(workers(left), known + 1):
        row = lost(prepared, left[index], found.reason) if isinstance(found, Lost) else found
        results.add(row)
        progress(done, len(numbers))
    return [results.rows[number] for number in numbers]
