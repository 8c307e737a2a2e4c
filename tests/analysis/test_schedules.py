# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Schedules of domains that are proposed: they meet all deadlines, and no longer round with a slot for each
does."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.analysis.platform import FREE
from camkes.analysis.schedules import ScheduleFound, find_schedule, with_slots
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import workload_of
from camkes.diagnostics import Sink
from tests.command import camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("AN-7")

MS = 1_000_000


def system_of(folder: Path, tasks: list[tuple[int, int, int]]) -> Path:
    """Tasks of (domain, period, execution time), in milliseconds, the first ones with the highest
    priorities."""
    path = folder / "system.camkes"
    settings = "".join(
        f"t{i}._domain = {domain}; t{i}._period = {period} ms; t{i}._wcet = {work} ms;"
        f"t{i}._priority = {90 - i};"
        for i, (domain, period, work) in enumerate(tasks)
    )
    path.write_text(
        "component Task { control; requestor; } assembly { composition {"
        + "".join(f"component Task t{i};" for i in range(len(tasks)))
        + "} configuration {"
        + settings
        + "} }\n"
    )
    return path


def found(path: Path, domains: list[int]) -> tuple[pipeline.Checked, ScheduleFound | None]:
    checked = pipeline.check(pipeline.Input(path, preprocess=False), Sink())
    assert checked is not None
    return checked, find_schedule(checked.system, checked.plan, domains, FREE, MS)


def test_the_longest_round(tmp_path: Path) -> None:
    """p (2 of 7 ms) and q (3 of 7 ms): the gap of p is at most 5 ms, that of q 4 ms, and these are the slots
    of the other: a round of 9 ms, and no longer one."""
    _, schedule = found(system_of(tmp_path, [(1, 7, 2), (2, 7, 3)]), [1, 2])
    assert schedule is not None
    assert (schedule.round, schedule.slots) == (9 * MS, ((1, 4 * MS), (2, 5 * MS)))


@pytest.mark.parametrize("seed", range(8))
def test_no_longer_round_meets_all_deadlines(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    tasks = [(1 + i % 2, rng.randint(5, 12), rng.randint(1, 3)) for i in range(rng.randint(2, 4))]
    checked, schedule = found(system_of(tmp_path, tasks), [1, 2])
    assert schedule is not None

    def good(slots: list[tuple[int, int]]) -> bool:
        return analyse(workload_of(with_slots(checked.system, slots), checked.plan), FREE).good

    if schedule.slots:
        assert sum(length for _, length in schedule.slots) == schedule.round
        assert good(list(schedule.slots))
    shortest = schedule.round // MS + 1 if schedule.slots else 2
    for one, two in product(range(1, 16), repeat=2):
        if one + two >= shortest:
            assert not good([(1, one * MS), (2, two * MS)]), (one, two)


def test_the_command(tmp_path: Path) -> None:
    path = system_of(tmp_path, [(1, 7, 2), (2, 7, 3)])
    told = camkes("schedule", path, "--text", "--tick", "1ms")
    assert told.output.startswith("schedule { [(1, 4 ms), (2, 5 ms)] }\n") and "met if" in told.output
    told = camkes("schedule", path, "--text", "--json")
    report = conforming("slots", told.output)
    assert (report["found"], report["round"]) == (True, 8 * MS)
    assert [(slot["domain"], slot["length"]) for slot in report["slots"]] == [(1, 4 * MS), (2, 4 * MS)]
    written = path.read_text().rstrip()[:-1] + " schedule { [(1, 4 ms), (2, 4 ms)] } }\n"
    path.write_text(written)
    assert camkes("analyze", path, "--text", "--platform", "none").status == 0


def test_where_there_is_none(tmp_path: Path) -> None:
    path = system_of(tmp_path, [(1, 7, 4), (2, 7, 4)])
    told = camkes("schedule", path, "--text", "--tick", "1ms")
    assert told.status == 1
    assert (
        "No schedule with one slot for each domain was found with which all deadlines are met." in told.output
    )
    assert "% of it" in told.output
    assert not json.loads(camkes("schedule", path, "--text", "--json").output)["found"]
    told = camkes("schedule", path, "--text", "--tick", "100ms")
    assert "one domain cannot have enough. Rounds were tried in steps of 100 ms" in told.output
    assert "a tick has to be longer than 0" in camkes("schedule", path, "--tick", "0").errors
    alone = camkes("schedule", system_of(tmp_path, [(1, 7, 4)]), "--text")
    assert "there is nothing to propose: all threads are in one domain" in alone.errors


def test_what_has_no_bound_in_any_schedule(tmp_path: Path) -> None:
    """A request to a CPI of another domain."""
    path = tmp_path / "system.camkes"
    path.write_text(
        """
        import <std_connector.camkes>;
        procedure P { void m(); }
        component Task { control; requestor; uses P p; }
        component Store { provides P p with priority_protocol inherited; }
        assembly {
            composition {
                component Task a; component Task b; component Store s;
                connection seL4RPCCall c(from a.p, from b.p, to s.p);
            }
            configuration {
                a._period = 9 ms; a._priority = 3; a._domain = 1; a._wcet = 1 ms;
                b._period = 9 ms; b._priority = 2; b._domain = 2; b._wcet = 1 ms;
                s.p_domain = 1; s.p_across_domains = 1;
            }
        }"""
    )
    told = camkes("schedule", path, "--text", "--tick", "1ms")
    assert told.status == 1 and "error[E0911]" in told.errors and "no length" in told.output
