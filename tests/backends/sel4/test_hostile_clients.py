# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a hostile client sends on seL4: the others respond as in a run in which it is silent.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.running.kinds import Kind
from tests.backends.sel4.recorded import MS, needs_workspace, records
from tests.runtime.hostile import SERVERS, Case

pytestmark = [pytest.mark.requirement("SEL4-7"), needs_workspace]

#: what the kernel calls of the attacker take
TOLERANCE = MS // 4
#: how many jobs of each are compared
JOBS = {"low": 5, "mid": 8, "high": 14}
#: when the first are released, in ms
START = 200

CHOSEN = ("plain", "fixed", "propagated", "inherited", "nested-fixed", "nested-pool", "monitor")
CASES = [
    Case(server, mcs, number, START)
    for number, server in enumerate(SERVERS)
    for mcs in server.mcs
    if server.name in CHOSEN
]


def responses(case: Case, folder: Path, *, hostile: bool) -> dict[str, list[int]]:
    """Of the first jobs of each of the others."""
    sources, _ = case.sources(folder / "plan", hostile=hostile)
    found: dict[str, list[int]] = {name: [] for name in JOBS}
    for thread, record in records(case.text, sources, folder, mcs=case.mcs):
        if record.kind == Kind.JOB_END and thread in found:
            found[thread].append(record.time - record.arguments[1])
        if all(len(found[name]) >= number for name, number in JOBS.items()):
            break
    return {name: found[name][:number] for name, number in JOBS.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.server.name + "-mcs" * case.mcs)
def test_others_notice_nothing(case: Case, tmp_path: Path) -> None:
    silent = responses(case, tmp_path / "silent", hostile=False)
    hostile = responses(case, tmp_path / "hostile", hostile=True)
    for name, times in silent.items():
        for expected, time in zip(times, hostile[name], strict=True):
            assert abs(time - expected) < TOLERANCE, (name, times, hostile[name])
