# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems with unusual mixtures, in which a case attains every bound: what is longer is not sound, what is
shorter not exact."""

from __future__ import annotations

import pytest

from camkes.analysis.assignment import changed
from camkes.analysis.platform import FREE
from camkes.analysis.verdict import analyse
from camkes.analysis.witness import witnesses
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.model.protocols import Protocol

pytestmark = pytest.mark.requirement("AN-2")

I, F, P = Protocol.INHERITED, Protocol.FIXED, Protocol.PROPAGATED  # noqa: E741


def task(name: str, priority: int, period: int, work: int, **requests: int) -> WorkloadTask:
    return WorkloadTask(name, priority, period, 10 * period, work, requests)


def cpi(
    name: str, protocol: Protocol, work: int, lock: str = "", any_order: bool = False, **requests: int
) -> WorkloadCpi:
    return WorkloadCpi(name, protocol, work, requests, 0, lock, any_order)


SYSTEMS = {
    "mixed chain": (
        (task("a", 5, 40_000, 3000, A=1), task("b", 4, 60_000, 4000, B=1), task("c", 3, 80_000, 5000, C=1),
         task("d", 2, 100_000, 6000, D=1), task("e", 1, 200_000, 9000, A=1, D=2)),
        (cpi("A", I, 2000, B=1), cpi("B", P, 1000, C=1), cpi("C", F, 2000, D=1), cpi("D", I, 3000)),
    ),
    "two ways without locks": (
        (task("a", 4, 50_000, 2000, X=1), task("b", 3, 60_000, 2000, P1=1), task("c", 2, 70_000, 2000, P2=1),
         task("d", 1, 90_000, 2000, P1=1, P2=1)),
        (cpi("P1", P, 1000, X=1, Y=1), cpi("P2", P, 1000, Y=1, X=1), cpi("X", I, 4000), cpi("Y", I, 3000)),
    ),
    "the whole processor": (
        (task("a", 3, 10_000, 2000, L=1), task("b", 2, 20_000, 7000, L=1), task("c", 1, 40_000, 11_000, L=1)),
        (cpi("L", I, 1000),),
    ),
    "periods from 1 us to 10 ms": (
        (task("a", 3, 1000, 100, L=1), task("b", 2, 50_000, 5000), task("c", 1, 10**7, 2 * 10**6, L=1)),
        (cpi("L", I, 200),),
    ),
    "nanoseconds": (
        (task("a", 3, 10, 1, L=1), task("b", 2, 11, 1, L=1), task("c", 1, 13, 1, L=2)),
        (cpi("L", I, 1),),
    ),
    "sections without work": (
        (task("a", 3, 10_000, 2000, L=1), task("b", 2, 20_000, 3000, L=1, M=1),
         task("c", 1, 30_000, 3000, L=1, M=1)),
        (cpi("L", I, 0, M=1), cpi("M", F, 0)),
    ),
    "one lock three times": (
        (task("a", 4, 80_000, 3000, L=3), task("b", 3, 90_000, 2000, L=2),
         task("c", 2, 100_000, 2000, L=1, M=1), task("d", 1, 110_000, 2000, M=2, L=1)),
        (cpi("L", I, 3000), cpi("M", I, 2000, L=1)),
    ),
    "two interfaces of a monitor": (
        (task("a", 4, 40_000, 2000, put=1), task("b", 3, 50_000, 3000, get=1),
         task("c", 2, 60_000, 3000, put=1, get=1), task("d", 1, 70_000, 3000, get=2)),
        (cpi("put", I, 3000, "q"), cpi("get", I, 4000, "q", X=1), cpi("X", F, 1000)),
    ),
    "a server in the order of arrival": (
        (task("a", 4, 60_000, 2000, w1=1), task("b", 3, 70_000, 3000, w2=1), task("c", 2, 80_000, 3000, w3=1),
         task("d", 1, 90_000, 3000, w4=1)),
        tuple(cpi(f"w{i}", I, 4000, "s", any_order=True) for i in (1, 2, 3, 4)),
    ),
    "ceilings in ceilings": (
        (task("a", 6, 50_000, 2000), task("b", 5, 60_000, 2000, G=1), task("c", 4, 70_000, 2000, H=1),
         task("d", 3, 80_000, 2000, G=1), task("e", 2, 90_000, 2000, H=1),
         task("f", 1, 100_000, 2000, G=1, H=1)),
        (cpi("G", F, 5000, H=1), cpi("H", F, 3000)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_bound_is_attained(name: str) -> None:
    workload = changed(Workload(*SYSTEMS[name]))
    analysis = analyse(workload, FREE)
    found = witnesses(workload, analysis)
    bounds = {each.task.name: each.response and each.response.time for each in analysis.tasks}
    assert {task: witness.response for task, witness in found.items()} == bounds
