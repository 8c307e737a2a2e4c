# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The time of threads on an MCS kernel that no task has given theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.capdl.allocate import allocate
from camkes.capdl.mcs import TimePlanner
from camkes.diagnostics import Sink
from tests.protocols.test_groups import planned

pytestmark = pytest.mark.requirement("PLAN-12")

TEXT = """import <std_connector.camkes>;
procedure P {{ void f(); }}
component Plain {{ control; uses P p; }}
component Server {{ provides P p; }}
component Cpi {{ provides P p with priority_protocol inherited, overrun extend, requests (); }}
assembly {{
    composition {{
        component Plain c; component Server s; component Cpi unused;
        connection seL4RPCCall x(from c.p, to s.p);
    }}
    configuration {{ c._period = {0}; {1} unused.p_extension = 1 ms; unused.p_extension_period = 9 ms; }}
}}
"""


@pytest.mark.parametrize(
    ("period", "budget", "time"),
    [
        ("4 ms", "", (4000, 4000)),
        ("40 ms", "", (10_000, 40_000)),
        ("4 ms", "c._budget = 1 ms;", (1000, 4000)),
        ("4 ms", "c._budget = 20 us;", (20, 4000)),
    ],
)
def test_a_thread_has_ten_milliseconds_of_its_period_at_most(
    period: str, budget: str, time: tuple[int, int], tmp_path: Path
) -> None:
    system, plan = planned(tmp_path, TEXT.format(period, budget), mcs=True)
    (thread,) = (t for s in allocate(system, plan).spaces for t in s.threads if t.name == "c")
    sink = Sink()
    found = TimePlanner(system, sink).scheduling(thread)
    assert (found.budget, found.period) == time and not sink.diagnostics


def test_a_cpi_that_no_task_reaches_has_no_manager(tmp_path: Path) -> None:
    _, plan = planned(tmp_path, TEXT.format("4 ms", ""), mcs=True)
    assert [cpi.manager for cpi in plan.cpis] == [False]
