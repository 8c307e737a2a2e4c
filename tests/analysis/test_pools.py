# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Workloads with what their models have: the analysis of one is that of the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from tests.analysis.pools import with_managers

pytestmark = pytest.mark.requirement("AN-14")


def test_fixed_cpis_have_managers_on_mcs(tmp_path: Path) -> None:
    """But for one that a single task requests, and one whose requests all come from one at a time."""
    cpis = (
        WorkloadCpi("first", Protocol.FIXED, 10, {"inner": 1}, 2),
        WorkloadCpi("inner", Protocol.FIXED, 10, {}, 2),
        WorkloadCpi("own", Protocol.FIXED, 10, {}, 2),
    )
    tasks = (
        WorkloadTask("a", 2, 1_000_000, 1_000_000, 10, {"first": 1, "own": 1}),
        WorkloadTask("b", 1, 1_000_000, 1_000_000, 10, {"first": 1}),
    )
    found = with_managers(Workload(tasks, cpis), tmp_path)
    assert {cpi.name for cpi in found.cpis if cpi.managed} == {"first"}
