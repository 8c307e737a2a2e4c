# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The assignment of resources to tasks beside SciPy's: the same greatest sum, and none is given too often."""

from __future__ import annotations

import random
from collections import Counter

import numpy
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from camkes.analysis.choice import matched

pytestmark = pytest.mark.requirement("AN-16")


@given(st.integers(0, 10**6))
@example(1)
def test_the_sum_is_the_greatest(seed: int) -> None:
    """A resource with a limit of n stands in n columns; those of nothing are worth nothing."""
    rng = random.Random(seed)
    tasks = [f"t{number}" for number in range(rng.randint(1, 9))]
    names = [f"c{number}" for number in range(rng.randint(1, 7))]
    limits = {name: rng.randint(0, 3) for name in names if rng.random() < 0.8}
    values = {task: {name: rng.randint(1, 20) for name in names if rng.random() < 0.6} for task in tasks}
    columns = [name for name in names for _ in range(limits.get(name, 1))]
    table = numpy.array(
        [[values[task].get(name, 0) for name in columns] + [0] * len(tasks) for task in tasks]
    )
    rows, chosen = linear_sum_assignment(table, maximize=True)
    found = matched(values, limits)
    assert sum(values[task][name] for task, name in found.items()) == table[rows, chosen].sum()
    assert all(count <= limits.get(name, 1) for name, count in Counter(found.values()).items())
