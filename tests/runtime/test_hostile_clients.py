# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Hostile clients (hostile.py): each kind of server once on each kernel; `benchmarks/hostile.py` has more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.hostile import SERVERS, Case

pytestmark = pytest.mark.requirement("RT-3")

#: in short runs: one of each way in which a request is served, and managers that several servers share
SHORT = (
    "plain",
    "fixed",
    "propagated",
    "inherited",
    "nested-fixed",
    "inherited-help",
    "monitor-pool-abort",
    "waits",
    "band",
)
CASES = [Case(server, mcs, number) for number, server in enumerate(SERVERS) for mcs in server.mcs]


@pytest.mark.mostly_long("propagated")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case.server.name + "-mcs" * case.mcs,
            marks=[] if case.server.name in SHORT else [pytest.mark.long],
        )
        for case in CASES
    ],
)
def test_others_notice_nothing(case: Case, tmp_path: Path) -> None:
    assert case.differences(tmp_path) == []
