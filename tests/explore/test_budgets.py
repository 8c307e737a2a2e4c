# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Searches of systems with budgets: scheduling contexts belong to what is saved and compared, and time that
goes to the wrong task, or not back, is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.backends.host.explore import SearchOptions
from camkes.running.kinds import Kind
from tests.explore.search import LIMIT, exhausted, search
from tests.runtime.host import Built, build
from tests.runtime.test_budgets import JOBS, tasks
from tests.runtime.test_criticality import CRITICAL
from tests.runtime.test_exploration import break_runtime

pytestmark = pytest.mark.requirement("AN-21")


def system(folder: Path, policy: str, *, reserve: str = "") -> Built:
    """`low` uses 60 us in the lock on 30 us of budget; `high` comes to the lock, `middle` is between."""
    return build(
        folder,
        f"""
        procedure Section {{ void enter(in int us); }}
        component User {{ control; requestor; uses Section s; attribute int us; }}
        component Worker {{ control; requestor; }}
        component Store {{ provides Section s with priority_protocol inherited, overrun {policy}; }}
        assembly {{
            composition {{
                component User low; component Worker middle; component User high; component Store store;
                connection seL4RPCCall c(from low.s, from high.s, to store.s);
            }}
            configuration {{
                low._priority = 10; low._period = 200 us; low._budget = 30 us; low.us = 60;
                middle._priority = 20; middle._period = 500 us; middle._budget = 200 us;
                middle._offset = 40 us;
                high._priority = 30; high._period = 500 us; high._budget = 100 us; high._offset = 20 us;
                high.us = 10; {reserve}
                low._deadline = 10 ms; middle._deadline = 10 ms; high._deadline = 10 ms;
            }}
        }}""",
        {
            "User": "int run(void) { while (camkes_next_job()) { s_enter(us); } return 0; }",
            "Worker": "int run(void) { while (camkes_next_job()) { camkes_work(80000); } return 0; }",
            "Store": "void s_enter(int us) { camkes_work((uint64_t)us * 1000); } void s__rollback(void) {}",
        },
        mcs=True,
    )


OPTIONS = SearchOptions(arrivals=0, duration=900_000, seconds=LIMIT)
RESERVE = "store.s_extension = 60 us; store.s_extension_period = 500 us;"


@pytest.mark.mostly_long("help-")
@pytest.mark.parametrize(
    ("policy", "reserve"), [("wait", ""), ("help", ""), ("extend", RESERVE), ("abort", RESERVE)]
)
def test_every_schedule_with_budgets_keeps_the_properties(policy: str, reserve: str, tmp_path: Path) -> None:
    result = search(system(tmp_path, policy, reserve=reserve), OPTIONS)
    assert result.violation is None
    assert exhausted(result)


@pytest.mark.long  # random systems in which it changes are in tests/runtime
def test_priorities_that_criticality_raises_are_expected(tmp_path: Path) -> None:
    """T4 overruns: the bases of critical tasks rise, and fall when the processor is idle."""
    built = build(tmp_path, tasks(7, CRITICAL), JOBS, mcs=True)
    assert built.run(duration=12_000_000).of(Kind.CRITICALITY)
    result = search(built, replace(OPTIONS, duration=12_000_000), limits={})
    assert result.violation is None
    assert exhausted(result)


#: in overrun.c: what is there, and what replaces it
MISTAKES = {
    "time-not-given-home": (
        "    camkes_worker_must(cpi, worker, CAMKES_ON_RELEASE);\n    return",
        "    return",
    ),
    "payer-forgotten": (
        "camkes_worker_event(cpi, worker, CAMKES_ON_HELP, time)) {",
        "camkes_bind(time, worker)) {",
    ),
}


@pytest.mark.long  # test_planted.py has one that is not
@pytest.mark.parametrize("mistake", MISTAKES)
def test_time_that_does_not_go_home_is_found(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_runtime({"overrun.c": MISTAKES[mistake]}, tmp_path, monkeypatch, mcs=True)
    violation = search(system(tmp_path / "system", "help"), OPTIONS).violation
    assert violation is not None and violation.property == "F", violation  # the manager sees it itself
