# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a hostile client sends on seL4: the others respond as on the host kernel, where the client is silent.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.report.trace.kinds import Kind
from tests.backends.sel4.recorded import MS, needs_workspace, records
from tests.runtime.hostile import OTHERS, SERVERS, Case

pytestmark = needs_workspace

#: kernel calls of a job, of its request, and of what is more urgent
TOLERANCE = MS // 2
#: a job of each is compared that begins before, in ms
UNTIL = 70
START = 200

CHOSEN = ("plain", "fixed", "propagated", "inherited", "nested-fixed", "nested-pool", "monitor")
CASES = [
    Case(server, mcs, number, START)
    for number, server in enumerate(SERVERS)
    for mcs in server.mcs
    if server.name in CHOSEN
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.server.name + "-mcs" * case.mcs)
def test_others_notice_nothing(case: Case, tmp_path: Path) -> None:
    silent, _ = case.seen(tmp_path / "silent", hostile=False)
    expected = {
        name: [time - release for time, _, release, *_ in jobs if release < (START + UNTIL) * MS]
        for name, jobs in silent.jobs
    }
    sources, _ = case.sources(tmp_path / "hostile", hostile=True)
    found: dict[str, list[int]] = {name: [] for name, *_ in OTHERS}
    for thread, record in records(case.text, sources, tmp_path / "sel4", mcs=case.mcs):
        if record.kind == Kind.JOB_END and thread in found:
            found[thread].append(record.time - record.arguments[1])
        if all(len(found[name]) >= len(times) for name, times in expected.items()):
            break
    for name, times in expected.items():
        assert len(times) > 3
        for wanted, response in zip(times, found[name], strict=False):
            assert abs(response - wanted) < TOLERANCE, (name, times, found)
