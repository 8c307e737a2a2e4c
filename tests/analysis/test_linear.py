# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Linear programs beside HiGHS: the same greatest sum, and prices that show it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from camkes.analysis.linear import LinearProgram

pytestmark = pytest.mark.requirement("AN-16")

#: the limits of rows are shifted by so little that sums differ by less
NEAR = 0.01


@given(st.integers(0, 10**6))
def test_the_sum_is_the_greatest_and_prices_show_it(seed: int) -> None:
    """Columns come in two lots, and some of them give to rows. Whatever the prices are, what the rows and the
    rest of each column cost is a bound; these are the best ones."""
    rng = random.Random(seed)
    limits = [float(rng.randint(0, 3)) for _ in range(rng.randint(1, 8))]
    # each column is taken once at most
    count = rng.randint(1, 12)
    every = [*limits, *(1.0 for _ in range(count))]
    columns = []
    for number in range(count):
        rows = rng.sample(range(len(limits)), rng.randint(1, len(limits)))
        column = {row: float(rng.choice((1, 1, 2, -1))) for row in rows}
        columns.append((float(rng.randint(1, 100)), {**column, len(limits) + number: 1.0}))
    program = LinearProgram(every)
    for lot in (columns[: count // 2], columns[count // 2 :]):
        program.add(lot)
        assert program.solve(10**7) < 10**7
    values, prices = program.values(), program.prices()
    taken = [sum(column.get(row, 0.0) * v for (_, column), v in zip(columns, values, strict=True))
             for row in range(len(every))]  # fmt: skip
    best = -linprog(
        [-worth for worth, _ in columns],
        A_ub=[[column.get(row, 0.0) for _, column in columns] for row in range(len(every))],
        b_ub=every,
    ).fun
    assert all(value >= -NEAR for value in values)
    assert all(each <= limit + NEAR for each, limit in zip(taken, every, strict=True))
    assert sum(worth * v for (worth, _), v in zip(columns, values, strict=True)) == pytest.approx(
        best, abs=NEAR
    )
    assert sum(price * limit for price, limit in zip(prices, every, strict=True)) == pytest.approx(
        best, abs=NEAR
    )
    for worth, column in columns:
        assert worth <= sum(each * prices[row] for row, each in column.items()) + NEAR


def test_it_ends_at_its_limit() -> None:
    program = LinearProgram([1.0, 1.0])
    program.add([(3.0, {0: 1.0, 1: 1.0})])
    assert program.solve(0) == 0
    assert program.values() == [0.0]
