# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems under random schedules of domains end their jobs when the simulator does; benchmarks/ has many."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "domain_schedules.py"


@pytest.mark.parametrize("seed", range(6))
def test_a_random_schedule(seed: int, tmp_path: Path) -> None:
    assert runpy.run_path(str(BENCHMARK))["differs"](seed, 200, tmp_path) == ""
