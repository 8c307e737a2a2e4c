# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What releases by timers cost: each one interrupts all tasks, also those above its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camkes.analysis.platform import Platform, TickCost, TimerCost
from camkes.analysis.simulation import SimulatedProgram, Simulation
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadTask
from camkes.cli.main import main
from tests.analysis.attacks import above
from tests.analysis.shared_store import shared_store

pytestmark = pytest.mark.requirement("AN-10")

#: With two timers a release takes 400 + 2 * 50 = 500 ns.
PLATFORM = Platform("timers", timer=TimerCost(400, 50))


def test_responses() -> None:
    """`high` executes for 3600 of 10,000 ns, `event` 1000 after it, released by an event, `low` 200 of 4000.

    R(high) = 3600 + 500 + 500 * ceil(5100 / 4000). `event` waits for a job and a release of `high` and for
    two releases of `low`: 1000 + 3600 + 500 + 1000. `low` waits for one of its jobs, and is interrupted by
    two releases of its own: 200 + 3600 + 500 + 1000 + 2 * 500.
    """
    tasks = (
        WorkloadTask("high", 3, 10_000, 10_000, 3600),
        WorkloadTask("event", 2, 10_000, 10_000, 1000, {}, "high", timed=False),
        WorkloadTask("low", 1, 4000, 9000, 200),
    )
    found = analyse(Workload(tasks, ()), PLATFORM)
    assert [each.response and each.response.time for each in found.tasks] == [5100, 6100, 6300]
    assert found.release == 500
    assert found.utilisation == pytest.approx(0.41 + 0.1 + 0.175)


def test_ticks() -> None:
    """An interrupt of 100 ns comes each 1000: 4 in 3600 + 400, 6 in 4600 + 600 and in 4800 + 600."""
    tasks = (
        WorkloadTask("high", 3, 10_000, 10_000, 3600),
        WorkloadTask("event", 2, 10_000, 10_000, 1000, {}, "high", timed=False),
        WorkloadTask("low", 1, 10_000, 10_000, 200),
    )
    found = analyse(Workload(tasks, ()), Platform("ticks", tick=TickCost(100, 1000)))
    assert [each.response and each.response.time for each in found.tasks] == [4000, 5200, 5400]


def test_an_interrupt_waits_for_what_the_kernel_does_for_a_thread_below() -> None:
    """Once in a busy window, for 50 ns: the second job of `low` ends at 50 + 2 * 1750 + 2 * 2000, and is
    released at 3000."""
    tasks = (WorkloadTask("high", 2, 5_000, 5_000, 2_000), WorkloadTask("low", 1, 3_000, 9_000, 1_750))
    kernel = Platform("kernel", timer=TimerCost(uninterrupted=50))
    found = [each.response for each in analyse(Workload(tasks, ()), kernel).tasks]
    assert [each and (each.time, each.job) for each in found] == [(2_050, 0), (4_550, 1)]
    for each in found:
        assert each is not None
        assert [(load.demand, n) for load, n in each.interference if load.unit == "operation"] == [(50, 1)]


def test_profiles_that_do_not_have_that_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that an older version measured does not; what a user states is taken as it is."""
    path = tmp_path / "s.camkes"
    path.write_text(
        shared_store(
            "a._priority = 20; a._period = 10 ms; a._wcet = 2 ms;",
            "b._priority = 10; b._period = 20 ms; b._wcet = 4 ms;",
            "s.store_wcet = 1 ms; a.store_requests = 1; b.store_requests = 1;",
        )
    )
    profile = tmp_path / "older.toml"
    for lines, expected in (
        ("", []),
        ("[measured]\n", ["no interrupt of a timer waits for what the kernel does for a thread below"]),
        ("uninterrupted = 7\n[measured]\n", []),
    ):
        profile.write_text(f"[timer]\nrelease = 700\n{lines}")
        main(["analyze", "--nocpp", "--text", str(path), "--platform", str(profile), "--json"])
        found = json.loads(capsys.readouterr().out)["assumptions"]
        assert [each["text"] for each in found if each["kind"] == "operations"] == expected


def test_bounds() -> None:
    """`high`: 1500 of 4000 ns and one release of `low`, 500; `low`: 2500 of 10,000 ns."""
    tasks = (WorkloadTask("high", 2, 4000, 4000, 1000), WorkloadTask("low", 1, 10_000, 10_000, 2000))
    unique, equal, layland = analyse(Workload(tasks, ()), PLATFORM).bounds
    assert unique.values == equal.values == (("high", 1.5), ("low", 1.25 * 1.375))
    assert layland.values == (("sum", 0.375 + 0.25 + 0.125),)


def test_simulated_releases_interrupt() -> None:
    """`low` is released at 0 and executes from 500 on; it is interrupted at 1000 and 5000 by `high`, whose
    job ends at 1000 + 500 + 1000, and at 4000 by its own next release."""
    tasks = (WorkloadTask("high", 2, 4000, 4000, 1000), WorkloadTask("low", 1, 4000, 4000, 1999))
    what = SimulatedProgram({"high": (1000,), "low": (1999,)}, {}, {"high": 1000, "low": 0})
    jobs = Simulation(Workload(tasks, ()), what, release=500).run(8000)
    assert [(job.task, job.release, job.end) for job in jobs] == [
        ("high", 1000, 2500),
        ("low", 0, 3999),
        ("high", 5000, 6500),
        ("low", 4000, 7999),
    ]


def test_two_releases_at_once_interrupt_twice() -> None:
    tasks = (WorkloadTask("a", 2, 9000, 9000, 100), WorkloadTask("b", 1, 9000, 9000, 100))
    what = SimulatedProgram({"a": (100,), "b": (100,)}, {}, {"a": 0, "b": 0})
    jobs = Simulation(Workload(tasks, ()), what, release=500).run(8000)
    assert [(job.task, job.end) for job in jobs] == [("a", 1100), ("b", 1200)]


@pytest.mark.mostly_long("70", "102", "143")
@pytest.mark.parametrize("seed", [70, 102, 143, 190])
def test_own_later_releases_count(seed: int) -> None:
    """Systems in which a job is interrupted by the release of the next one of its task."""
    assert above(seed) == []


def test_explanation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """R(a) = 3 ms + 1 ms blocking + a release of each task of 100 us. In the case b, which
    blocks a, was released before."""
    (tmp_path / "slow.toml").write_text("clock = 1_000_000\n[timer]\nrelease = 80\neach = 10\n")
    path = tmp_path / "s.camkes"
    path.write_text(
        shared_store(
            "a._priority = 20; a._period = 10 ms; a._wcet = 2 ms;",
            "b._priority = 10; b._period = 20 ms; b._wcet = 4 ms;",
            "s.store_wcet = 1 ms; a.store_requests = 1; b.store_requests = 1;",
        )
    )
    words = ["analyze", "--nocpp", str(path), "--platform", str(tmp_path / "slow.toml")]
    assert main([*words, "--explain", "a"]) == 0
    text = capsys.readouterr().out
    assert "R = 4.2 ms, the longest response: met\n" in text
    assert "100 us  a: 1 release of 100 us, period 10 ms\n" in text
    assert "100 us  b: 1 release of 100 us, period 20 ms\n" in text
    assert "Case: a response of 4.1 ms, the worst that was found, 100 us below R\n" in text
    assert main([*words, "--html", str(tmp_path / "page.html")]) == 0
    assert "1 releases of b 100 us" in (tmp_path / "page.html").read_text()
