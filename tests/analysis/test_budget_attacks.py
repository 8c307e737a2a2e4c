# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No response is above its bound in random systems with budgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.budget_attacks import bounds_of, prepared, problems
from tests.runtime.host import build_found

pytestmark = pytest.mark.requirement("AN-5")


@pytest.mark.long
@pytest.mark.parametrize(
    "seed", [1053, 4059, 4538, 5123, 6003, 9112, 11019, 81379, 81744, 90009, 90192, 100078]
)
def test_no_response_is_above_its_bound(seed: int, tmp_path: Path) -> None:
    """Systems in which bounds were exceeded by roll-backs that wait for one before, by overruns in requests
    that are suspended, by jobs that end after the next release, by a `fixed` CPI that lost its ceiling as the
    criticality rose, by holders for which no one pays, or lower tasks do, by jobs that use up later
    budgets before the criticality rises, and by jobs that are still late after it fell; and others."""
    system, found, sources = prepared(tmp_path, seed, wide=seed > 80_000)
    built = build_found(tmp_path, found, sources)
    assert problems(system, built, bounds_of(system, found), 3, verify=True)[0] == []


@pytest.mark.long
def test_no_deadline_of_a_band_is_missed(tmp_path: Path) -> None:
    """One would be in a system that is accepted if blocking, or the tasks above the band, do not count."""
    system, found, sources = prepared(tmp_path, 32, bands=True)
    built = build_found(tmp_path, found, sources)
    assert problems(system, built, bounds_of(system, found), 3)[0] == []
