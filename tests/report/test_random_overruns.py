# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems in which budgets end at random places: no property is broken, whatever the policies do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from camkes.running.demands import Property
from camkes.running.kinds import Binding, Kind
from tests.runtime.host import Built

from .random_overruns import DURATION, make, problems

pytestmark = pytest.mark.requirement("AN-28")

#: with help below abort
SEED = 33


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The system of a seed, which tests that follow each other share."""
    return make(request.param, tmp_path_factory.mktemp("overruns"))[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "built", [*(pytest.param(n, marks=pytest.mark.long) for n in (5, 9)), SEED], indirect=True
)
def test_random_overruns(built: Built) -> None:
    found, happened = problems(built, 3)
    assert found == []
    assert happened["TIMEOUT"] > 0


@pytest.mark.long
@pytest.mark.parametrize("built", [SEED], indirect=True)
def test_a_wrong_account_is_found(built: Built) -> None:
    """A charge that is not for the work done, and time that another task has."""
    run = built.run("--fast", "--choices", "random:1", duration=DURATION)
    charge = next(i for i, e in enumerate(run.events) if e.kind is Kind.CHARGE and e.args[1] > 0)
    event = run.events[charge]
    context, used, left = event.args
    changed = [
        event._replace(args=(context, used + 1, left)) if i == charge else e for i, e in enumerate(run.events)
    ]
    assert Property.ACCOUNTING in {v.property for v in replace(run, events=tuple(changed)).violations()}
    workers = {e.thread for e in run.of(Kind.WORK) if e.args[0] > 0}
    given = next(
        i
        for i, e in enumerate(run.events)
        if e.kind is Kind.BIND and e.args[1] == Binding.CALL and e.time > 0 and e.thread in workers
    )
    without = (*run.events[:given], *run.events[given + 1 :])
    assert Property.ACCOUNTING in {v.property for v in replace(run, events=without).violations()}
