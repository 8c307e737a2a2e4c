# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Points at which an arrival makes no difference are left out: what schedules do is the same without that."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.explore_topologies import Topology, topologies
from camkes.backends.host.explore import SearchOptions, SearchResult
from camkes.diagnostics import Sink
from tests.explore.search import LIMIT, built, exhausted, search
from tests.explore.test_search import EMBRACE
from tests.runtime import systems
from tests.runtime.host import Built, build_found, checked
from tests.runtime.systems import TASK, Contended

pytestmark = pytest.mark.requirement("AN-23")


def compare(what: Built, scheduling: str, jobs: int = 1) -> None:
    """Both searches come to the same orders of lock operations, and to the same verdict; the reduced one has
    fewer states. (When a job ends is seen by no other thread.)"""
    every = SearchOptions(
        seconds=LIMIT, scheduling=scheduling, arrivals=jobs, outcomes=True, every_point=True
    )
    reduced = SearchOptions(seconds=LIMIT, scheduling=scheduling, arrivals=jobs, outcomes=True)
    plain, found = search(what, every), search(what, reduced)
    assert found.violation is None and plain.violation is None
    assert exhausted(plain) and exhausted(found)
    assert orders(found) == orders(plain)
    assert found.state.distinct < plain.state.distinct


def orders(result: SearchResult) -> set[tuple[str, ...]]:
    """Of lock operations."""
    return {tuple(step for step in steps if not step.startswith("end ")) for steps in result.outcomes}


@pytest.mark.mostly_long("one-lock-fifo")
@pytest.mark.parametrize(
    ("system", "scheduling"),
    [
        pytest.param(systems.ONE_LOCK, "fifo", id="one-lock-fifo"),
        pytest.param(systems.ONE_LOCK, "rr", id="one-lock-rr"),
        pytest.param(systems.CHAIN, "fifo", id="chain-fifo"),
        pytest.param(systems.RANKS, "fifo", id="ranks-fifo"),
        pytest.param(systems.RANKS, "rr", id="ranks-rr"),
    ],
)
def test_the_orders_of_locks_are_those_of_all_points(
    system: Contended, scheduling: str, tmp_path: Path
) -> None:
    compare(built(tmp_path, system), scheduling)


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("topology", [*topologies(1, 2), *topologies(2, 2)], ids=lambda t: t.name)
def test_mixes_of_protocols_have_the_same_orders(topology: Topology, jobs: int, tmp_path: Path) -> None:
    code = {"Task": TASK, **{f"C{cpi}": topology.code(cpi) for cpi in range(topology.cpis)}}
    for number, protocols in enumerate(topology.mixes()):
        sink = Sink()
        text = topology.text(protocols).partition("\n")[2]
        found = checked(tmp_path / str(number), text, sink)
        if not sink.has_errors:
            compare(build_found(tmp_path / str(number), found, code), "fifo", jobs)


def test_a_deadlock_is_found_with_and_without_the_reduction(tmp_path: Path) -> None:
    what = built(tmp_path, EMBRACE)
    for every_point in (False, True):
        found = search(what, SearchOptions(seconds=LIMIT, every_point=every_point)).violation
        assert found is not None and found.property == "L"
