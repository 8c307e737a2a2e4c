# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A few random systems with faults; `python -m tests.report.random_faults` runs many."""

from __future__ import annotations

from pathlib import Path

import pytest

from .random_faults import mistakes

pytestmark = pytest.mark.requirement("AN-28")


@pytest.mark.long
@pytest.mark.parametrize(
    "seed",
    # a system is built for each; faults of each kind have tests of their own
    [2, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, *range(3, 9)))],
)
def test_a_fault_affects_only_its_component_and_is_reported(seed: int, tmp_path: Path) -> None:
    about, found = mistakes(seed, tmp_path)
    assert not found, about
