# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random task sets as the papers draw them, and how they are evaluated."""

from __future__ import annotations

import csv
import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers import sweep as sweeps
from benchmarks.papers.__main__ import main
from benchmarks.papers.evaluate import around, evaluate, infeasible, misses
from benchmarks.papers.generate import LOG_UNIFORM, draw, empty, periods, reach, uunisort
from benchmarks.papers.sweep import Chunk, Row, Sweep
from benchmarks.papers.topologies import TOPOLOGIES
from camkes.analysis.demand import demands, overheads_of
from camkes.analysis.platform import FREE
from camkes.analysis.profiles import read_platform
from camkes.analysis.simulation import costed
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol
from camkes.sweep import workers

pytestmark = pytest.mark.requirement("AN-19")

INTEL = read_platform("sudvarg2024-intel")
CHAIN, NESTED = TOPOLOGIES["chain"], TOPOLOGIES["nested"]


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(0.01, 1))
def test_uunisort_gives_shares_of_a_sum(seed: int, count: int, total: float) -> None:
    shares = uunisort(random.Random(seed), count, total)
    assert len(shares) == count and min(shares) >= 0
    assert sum(shares) == pytest.approx(total)


def test_uunisort_is_uniform() -> None:
    """Each of three shares has the mean 1/3 and the variance 1/18."""
    rng = random.Random(0)
    drawn = [uunisort(rng, 3, 1.0) for _ in range(4000)]
    for place in range(3):
        values = [shares[place] for shares in drawn]
        mean = sum(values) / len(values)
        assert mean == pytest.approx(1 / 3, abs=0.02)
        assert sum((value - mean) ** 2 for value in values) / len(values) == pytest.approx(1 / 18, abs=0.006)


def test_periods() -> None:
    rng = random.Random(0)
    assert set(periods(rng, 200, (10, 50))) == {10_000_000, 50_000_000}
    drawn = sorted(periods(rng, 3001, ()))
    assert LOG_UNIFORM[0] <= drawn[0] and drawn[-1] <= LOG_UNIFORM[1]
    assert drawn[1500] == pytest.approx((LOG_UNIFORM[0] * LOG_UNIFORM[1]) ** 0.5, rel=0.1)  # of 5 ms and 1 s


def test_topologies() -> None:
    """In that of 2024 every job requests E twice: through C and through D."""
    assert {name: dict(counts) for name, counts in reach(CHAIN).items()} == {
        "t1": {"a": 1, "b": 1}, "t2": {"a": 1, "b": 1}, "t3": {"b": 1},
    }  # fmt: skip
    assert all(counts["e"] == 2 and counts["c"] == counts["d"] == 1 for counts in reach(NESTED).values())
    assert {name: cpi.protocol for name, cpi in empty(NESTED, "3").cpi.items()} == {
        "a": Protocol.INHERITED, "b": Protocol.INHERITED,
        "c": Protocol.FIXED, "d": Protocol.INHERITED, "e": Protocol.PROPAGATED,
    }  # fmt: skip


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1))
def test_sets_have_the_given_utilisation(topology: object, seed: int, utilisation: float) -> None:
    """With all overheads, and not more. Priorities are rate-monotonic; ceilings are those of the requesting
    tasks."""
    assert topology is CHAIN or topology is NESTED
    for configuration in topology.configurations:
        rng = random.Random(seed)
        found = draw(topology, configuration, utilisation, INTEL, rng, topology.harmonic)
        needed = demands(found, INTEL).of_task
        used = float(sum(needed[task.name].total / task.period for task in found.tasks))
        assert used <= utilisation
        assert used == pytest.approx(utilisation, abs=1e-4)
        assert min(*(task.work for task in found.tasks), *(cpi.work for cpi in found.cpis)) >= 0
        for one in found.tasks:
            for two in found.tasks:
                assert (one.period < two.period) == (one.priority > two.priority)
        highest = max(task.priority for task in found.tasks)
        ceilings = {c.name: c.ceiling for c in found.cpis if c.protocol is Protocol.FIXED}
        assert all(255 if configuration == "npcs" else c <= highest for c in ceilings.values())
        if configuration == "npcs":
            assert set(ceilings.values()) == {255}


def test_a_cpi_keeps_the_load_of_the_task_with_the_least_work() -> None:
    """So no job has less than what it requests. Over many sets every task is the one with the least work."""
    least = set()
    for seed in range(40):
        found = draw(CHAIN, "ipcp", 0.5, FREE, random.Random(seed), CHAIN.harmonic)
        needed = demands(found, FREE).of_task
        least.add(min(needed, key=lambda name: needed[name].total))
    assert least == {"t1", "t2", "t3"}


def test_no_set_is_found_for_less_than_requests_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.papers.generate.DRAWS", 10)
    with pytest.raises(ValueError, match="no task set of utilisation 1e-06 was found in 10 draws"):
        draw(CHAIN, "ipcp", 1e-6, INTEL, random.Random(0), CHAIN.harmonic)


def sweep(topology: str, count: int, utilisations: Sequence[float] = (0.5,), **others: object) -> Sweep:
    known = TOPOLOGIES[topology]
    settings: dict[str, object] = {"harmonic": known.harmonic, "configurations": tuple(known.configurations)}
    settings |= others
    return Sweep(
        topology=topology, utilisations=tuple(utilisations), count=count, seed=1, platform=known.platform,
        **settings,  # type: ignore[arg-type]
    )  # fmt: skip


def rows_of(asked: Sweep) -> list[Row]:
    with workers.local(sweeps.evaluate_chunk, 1) as evaluator:
        return sweeps.run(asked, evaluator)


@pytest.mark.long
def test_tests_are_in_order() -> None:
    """What a sufficient test accepts, response times accept; what they accept misses nothing."""
    for topology in TOPOLOGIES:
        for row in rows_of(sweep(topology, 8, (0.6, 0.9, 1.0), hyperperiods=1)):
            assert row.sets == row.simulated == 8
            assert row.liu_layland <= row.hyperbolic <= row.plain
            assert row.hyperbolic <= row.response <= 8 - row.missed
            assert (row.lost, row.wrong) == (row.plain - row.hyperbolic, 0)


@pytest.mark.long
def test_results_of_the_paper_of_2022() -> None:
    """A small part of its Figs. 6 to 8: see `test_figures_of_the_paper_of_2022` for all of it."""
    rows = rows_of(sweep("chain", 60, (0.1, 0.45, 0.79), harmonic=()))
    for row in rows:
        if row.configuration == "propagated":
            assert row.lost == 0
            assert row.utilisation < 0.78 or row.liu_layland == 0
        elif row.configuration != "npcs":
            assert row.utilisation > 0.48 or row.lost == 0
    assert sum(row.lost for row in rows if row.configuration == "npcs") > 0


@pytest.mark.long
def test_figures_of_the_paper_of_2022() -> None:
    """Figs. 6 to 8 with 1,000 sets for each utilisation."""
    steps = [round(0.01 * index, 2) for index in range(1, 101)]
    by_name: dict[str, list[Row]] = {}
    for row in rows_of(sweep("chain", 1000, steps, harmonic=())):
        by_name.setdefault(row.configuration, []).append(row)
    check_bands(by_name)


def check_bands(by_name: dict[str, list[Row]]) -> None:
    first = {name: next((r.utilisation for r in rows if r.lost), 2.0) for name, rows in by_name.items()}
    assert 0.48 <= first["ipcp"] <= 0.62
    assert first["npcs"] <= 0.08
    assert next(row.lost for row in by_name["npcs"] if row.utilisation == 0.5) >= 20
    assert first["propagated"] == 2.0
    assert first["propagated-pip"] >= 0.55
    assert all(row.liu_layland == 0 for row in by_name["propagated"] if row.utilisation > 0.78)


@pytest.mark.long
def test_a_set_does_not_depend_on_the_worker() -> None:
    asked = sweep("nested", 7, (0.4, 0.8))
    with workers.local(sweeps.evaluate_chunk, 2) as evaluator:
        rows = sweeps.run(asked, evaluator)
    assert rows == rows_of(asked)
    assert rows[:2] == rows_of(sweep("nested", 7, (0.4, 0.8), configurations=("1",)))


def slow(chunk: Chunk) -> Row:
    """The first worker ends in the middle of its work, once."""
    marker = Path(os.environ["CAMKES_TEST_MARKER"])
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return sweeps.evaluate_chunk(chunk)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@pytest.mark.long
def test_sets_of_a_worker_that_ends_are_evaluated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a scheduler and worker processes of Dask, one of which is killed while it evaluates."""
    distributed = pytest.importorskip("dask.distributed")
    marker = tmp_path / "killed"
    monkeypatch.setenv("CAMKES_TEST_MARKER", str(marker))
    monkeypatch.setattr(sweeps, "CHUNK", 2)
    asked = sweep("chain", 8)
    expected = rows_of(asked)
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=tmp_path,
        ) as cluster,
        workers.distributed(slow, cluster.scheduler_address) as evaluator,
    ):
        rows = sweeps.run(asked, evaluator)
    assert marker.exists()
    assert rows == expected


@pytest.mark.long
def test_simulations_on_the_host_kernel() -> None:
    """The same set in the model and with the real protocols."""
    for configuration, utilisation in (("1", 0.9), ("3", 1.0)):
        asked = sweep(
            "nested", 1, (utilisation,), configurations=(configuration,), harmonic=(10, 50), hyperperiods=1
        )
        model = rows_of(asked)
        host = rows_of(sweep(
            "nested", 1, (utilisation,), configurations=(configuration,), harmonic=(10, 50), hyperperiods=1,
            kernel="host",
        ))  # fmt: skip
        assert model == host and host[0].simulated == 1


def test_a_miss_is_counted() -> None:
    """A set that needs too much, in the order t, A, C, E, C, D, E, D, A, t."""
    found = draw(NESTED, "1", 0.9, INTEL, random.Random(3), (10,))
    body = around(costed(found, INTEL))
    assert [step for step in body.tasks["t1"] if isinstance(step, str)] == ["a"]
    assert [step for step in body.cpis["a"] if isinstance(step, str)] == ["c", "d"]
    assert evaluate(found, INTEL, 2).simulated == 0
    from msgspec.structs import replace

    tasks = tuple(replace(t, work=t.work + (8_000_000 if t.name == "t1" else 0)) for t in found.tasks)
    late = replace(found, tasks=tasks)
    assert not analyse(late, INTEL).good
    assert (evaluate(late, INTEL, 2).simulated or 0) > 0
    assert overheads_of(late, INTEL).keys() == {"a", "b", "c", "d", "e"}


def two_tasks(section: int, protocol: Protocol = Protocol.INHERITED, period: int = 45) -> Workload:
    """`fast` (T 10) executes for 7, `other` (T 5) for 1, and `slow` for 1 and in the lock, for `section`,
    which is also a part of the 7."""
    tasks = (
        WorkloadTask("slow", 1, period, period, 1, {"lock": 1}),
        WorkloadTask("fast", 2, 10, 10, 7 - section, {"lock": 1}),
        WorkloadTask("other", 3, 5, 5, 1),
    )
    return Workload(tasks, (WorkloadCpi("lock", protocol, section, {}, 2),))


def test_no_scheduler_serves_what_does_not_fit_between_two_jobs() -> None:
    """Two jobs of `fast` in 20 leave 20 - 2 * 7 - 4 * 1 = 2. So a request of 2 to the lock fits, one of 3
    does not; it does where requests exclude no other; and jobs of a period of 10 have been counted."""
    assert not infeasible(two_tasks(2))
    assert infeasible(two_tasks(3)) and infeasible(two_tasks(3, Protocol.FIXED))
    assert not infeasible(two_tasks(3, Protocol.PROPAGATED))
    assert not infeasible(two_tasks(3, period=10))


def test_infeasible_sets_miss_deadlines() -> None:
    """Whatever the protocols are. The tenth set of the experiment with 400 is one in all configurations."""
    count = 0
    for configuration in NESTED.configurations:
        asked = sweep("nested", 1, configurations=(configuration,))
        for index in range(25):
            rng = sweeps.rng_of(asked, 1.0, index)
            found = draw(NESTED, configuration, 1.0, INTEL, rng, NESTED.harmonic)
            if infeasible(costed(found, INTEL)):
                count += 1
                assert misses(found, INTEL, 1) > 0
            else:
                assert index != 9
    assert count > 4


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["chain", "--utilisation", "0.3:0.5:0.1", "--count", "3", "--jobs", "1"]
    assert main([*words, "--configuration", "npcs"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [(row["configuration"], row["utilisation"], row["sets"]) for row in rows] == [
        ("npcs", "0.3", "3"), ("npcs", "0.4", "3"), ("npcs", "0.5", "3"),
    ]  # fmt: skip
    table = tmp_path / "a.csv"
    assert main([*words, "--csv", str(table)]) == 0
    assert len(table.read_text().splitlines()) == 13
    assert capsys.readouterr().out.count(": 9 sets; lowest utilisation at which blocking") == 4


def test_a_set_that_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For example where the cache is locked for a minute."""
    monkeypatch.setattr("camkes.pipeline.check", lambda *_: None)
    words = ["chain", "--utilisation", "0.3", "--count", "1", "--jobs", "1", "--simulate", "1"]
    assert main([*words, "--kernel", "host"]) == 1
    assert capsys.readouterr().err == "papers: a set was not run: the run failed\n"


@pytest.mark.long
def test_the_command_draws(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ["chain", "--utilisation", "0.5:0.7:0.1", "--count", "2", "--jobs", "1"]
    for name in ("a.svg", "b.svg", "a.png"):
        assert main([*words, "--csv", str(tmp_path / "a.csv"), "--plot", str(tmp_path / name)]) == 0
    text = (tmp_path / "a.svg").read_text()
    assert text.startswith("<?xml") and text == (tmp_path / "b.svg").read_text()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "words",
    [
        ("chain", "--configuration", "5"),
        ("nested", "--utilisation", "0:1:0.1"),
        ("nested", "--utilisation", "0.1:1"),
        ("nested", "--utilisation", "0.5:x:1"),
        ("nested", "--count", "0"),
        ("nested", "--plot", "a.txt"),
        ("ring",),
    ],
)
def test_wrong_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(("papers: ", "python -m benchmarks.papers: "))
