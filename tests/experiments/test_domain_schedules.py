# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems under random schedules of domains end their jobs when the simulator does; benchmarks/ has many."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("AN-7")

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "domain_schedules.py"


@pytest.mark.parametrize("kind", ["protocols", "conditions", "budgets", "all"])
@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(n, marks=pytest.mark.long) for n in range(3, 40))]
)
def test_a_random_schedule(kind: str, seed: int, tmp_path: Path) -> None:
    differences, _ = runpy.run_path(str(BENCHMARK))["compared"](kind, seed, 300, 4, tmp_path)
    assert differences == [""] * 4
