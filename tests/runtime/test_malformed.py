# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A malformed message affects only its sender."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from camkes.capdl.uses import CapUse, Update
from camkes.running.decode import decode
from camkes.running.kinds import Kind
from camkes.running.refusals import MessageError, refusals
from tests.runtime.malformed import OPERATIONS, PERIOD_US, REQUESTS, TASKS, WINDOWS, Chain, build_chain

pytestmark = pytest.mark.requirement("RT-2")

_KINDS = len(REQUESTS)
_PROTOCOL = "priority_protocol "

CHAINS = {
    "inherited-inherited": Chain(_PROTOCOL + "inherited", _PROTOCOL + "inherited"),
    "inherited-pool": Chain(_PROTOCOL + "inherited", _PROTOCOL + "inherited, 2 threads"),
    "inherited-free-pool": Chain(_PROTOCOL + "inherited", _PROTOCOL + "propagated, 2 threads"),
    "propagated-fixed": Chain(_PROTOCOL + "propagated", _PROTOCOL + "fixed"),
    "fixed-inherited": Chain(_PROTOCOL + "fixed", _PROTOCOL + "inherited"),
}


#: the same servers in other places
LONG = ("inherited-inherited", "inherited-free-pool")


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in CHAINS]
)
def test_every_kind_from_every_place_is_refused_and_changes_nothing(name: str, tmp_path: Path) -> None:
    """Malformed messages take no time, so that each job must take as long as the same job without them."""
    built = build_chain(tmp_path, CHAINS[name])
    run = built.run(duration=WINDOWS * _KINDS * PERIOD_US * 1000)
    assert (run.status, run.output, run.errors) == (0, "", "")
    assert run.violations() == []
    for task in TASKS:
        ends = run.of(Kind.JOB_END, task)
        assert len(ends) == WINDOWS * _KINDS
        times = Counter(e.time - e.args[1] for e in ends if e.args[0] // _KINDS < 10)
        assert len(times) == 1, task
    refused = refusals(decode(run.events, run.names), built.system, run.plan)
    found = Counter({(r.client, r.server, r.error): r.count for r in refused})
    assert found == _expected(built.model.slots, CHAINS[name])


def _expected(slots: dict[CapUse, int], chain: Chain) -> Counter[tuple[str, str, int]]:
    expected: Counter[tuple[str, str, int]] = Counter()
    for error in (*REQUESTS.values(), MessageError.SENT):
        expected["low.p", "pass.p", error] += 1
        expected["mid.p", "pass.p", error] += 1
        expected["high.p", "leaf.p", error] += 1
        expected["pass.n", "leaf.p", error] += 2 * (error != MessageError.SENT)
    managed = sum(isinstance(u, Update) and u.interface == "n" for u in slots)
    for _, _, error in OPERATIONS.values():
        expected["pass.n", "leaf.p", error] += managed
    return expected
