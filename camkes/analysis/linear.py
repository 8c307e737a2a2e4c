# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Linear programs of packing: values of columns of the greatest sum, and prices of rows of the least one.

The simplex method (Dantzig 1951), with sparse rows and columns that are added where they are worth it. Its
numbers are inexact, so what follows from the prices has to be computed from them: any prices lead to a bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: What is less in a row, or this part of the greatest worth, is taken for 0.
_LEAST, _LEAST_WORTH = 1e-9, 1e-12

#: The limits of rows are made different by multiples of this, so that each pivot gains something.
_SHIFT = 1e-7


class LinearProgram:
    """How much to take of each column, where all together are worth most and no row takes more than its
    limit, none of which is below 0."""

    def __init__(self, limits: Sequence[float]) -> None:
        # variables: -1, -2, ... are what is left of the rows, 0, 1, ... the columns; those of the basis
        # follow from the others, with what these take of each
        self._left = [limit + _SHIFT * (row + 1) for row, limit in enumerate(limits)]
        self._basis = [-1 - row for row in range(len(limits))]
        self._taken: list[dict[int, float]] = [{} for _ in limits]
        self._place = {index: row for row, index in enumerate(self._basis)}
        self._gains: dict[int, float] = {}
        self._columns = 0
        self._least = 0.0

    def add(self, columns: Sequence[tuple[float, Mapping[int, float]]]) -> None:
        """Columns, each with its worth and what it takes of which rows."""
        entered = {-1 - row for _, column in columns for row in column} - self._place.keys()
        left: dict[int, list[tuple[int, float]]] = {each: [] for each in entered}
        for row, taken in enumerate(self._taken) if entered else ():
            for each in entered & taken.keys():
                left[each].append((row, taken[each]))
        for worth, column in columns:
            index = self._columns
            self._columns += 1
            self._least = max(self._least, worth * _LEAST_WORTH)
            found: dict[int, float] = {}
            for row, count in column.items():
                each = -1 - row
                if each in entered:
                    worth += self._gains.get(each, 0.0) * count
                    for other, value in left[each]:
                        found[other] = found.get(other, 0.0) + value * count
                else:
                    place = self._place[each]
                    found[place] = found.get(place, 0.0) + count
            for row, value in found.items():
                if abs(value) > _LEAST:
                    self._taken[row][index] = value
            self._gains[index] = worth

    def solve(self, most: int) -> int:
        """Go to the greatest sum, or towards it until so many numbers were computed; how many were."""
        work = 0
        while work < most:
            entering = max(self._gains, key=self._gains.__getitem__, default=0)
            if self._gains.get(entering, 0.0) <= self._least:
                break
            holding = [(row, taken[entering]) for row, taken in enumerate(self._taken) if entering in taken]
            ratios = [(self._left[row] / each, row) for row, each in holding if each > _LEAST]
            if not ratios:
                break
            leaving = min(ratios)[1]
            work += len(self._taken) + len(self._gains) + len(holding) * len(self._taken[leaving])
            self._exchange(entering, leaving, holding)
        return work

    def _exchange(self, entering: int, leaving: int, holding: Sequence[tuple[int, float]]) -> None:
        """A variable enters the basis, in place of that of a row."""
        divisor = self._taken[leaving].pop(entering)
        pivot = {index: each / divisor for index, each in self._taken[leaving].items()}
        pivot[self._basis[leaving]] = 1 / divisor
        self._taken[leaving] = pivot
        self._left[leaving] /= divisor
        del self._place[self._basis[leaving]]
        self._basis[leaving], self._place[entering] = entering, leaving
        for row, each in holding:
            if row != leaving:
                self._left[row] -= each * self._left[leaving]
                del self._taken[row][entering]
                _subtract(self._taken[row], each, pivot, _LEAST)
        _subtract(self._gains, self._gains.pop(entering), pivot, self._least)

    def values(self) -> list[float]:
        """How much is taken of each column, the first added first."""
        found = [0.0] * self._columns
        for row, index in enumerate(self._basis):
            if index >= 0:
                found[index] = self._left[row]
        return found

    def prices(self) -> list[float]:
        """What more of each row would be worth."""
        return [max(0.0, -self._gains.get(-1 - row, 0.0)) for row in range(len(self._basis))]


def _subtract(row: dict[int, float], times: float, pivot: Mapping[int, float], least: float) -> None:
    """Subtract a row so many times from another one."""
    for index, each in pivot.items():
        value = row.get(index, 0.0) - times * each
        if -least < value < least:
            row.pop(index, None)
        else:
            row[index] = value
