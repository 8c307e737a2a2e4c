# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Searches of systems with a band: deadlines are inherited under every schedule, and mistakes are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions
from camkes.running.kinds import Kind
from tests.explore.search import LIMIT, exhausted, search
from tests.runtime.host import Built
from tests.runtime.test_bands import make, system
from tests.runtime.test_exploration import break_runtime

pytestmark = pytest.mark.requirement("AN-21")

CONFIGURATION = """
    late._period = 100 ms; late.inside = 2; late.after = 1;
    middle._period = 50 ms; middle._offset = 1 ms; middle.before = 1;
    early._period = 20 ms; early._offset = 2 ms; early.inside = 1;
"""

#: the first job is in a section when the others arrive, and gets a higher priority each time
RISING = """
    early._period = 20 ms; early.inside = 3;
    middle._period = 50 ms; middle._offset = 1 ms; middle.before = 1;
    late._period = 100 ms; late._offset = 2 ms; late.inside = 1;
"""


def band(folder: Path, configuration: str = CONFIGURATION) -> Built:
    return make(folder, system("inherited", configuration, "late middle early"))


@pytest.mark.long
@pytest.mark.parametrize("arrivals", [pytest.param(1, marks=pytest.mark.long), 0])
def test_every_schedule_of_a_band_keeps_the_properties(arrivals: int, tmp_path: Path) -> None:
    result = search(band(tmp_path), SearchOptions(arrivals=arrivals, duration=15_000_000, seconds=LIMIT))
    assert result.violation is None
    assert exhausted(result)


#: `first` waits in its request for time. When the others began, its job had the highest rank of three; when
#: `second` begins again, it has that of two, and the request keeps the higher one.
FALLING = """
    first._period = 20 ms; first._budget = 2 ms; first.inside = 5;
    second._period = 10 ms; second._deadline = 40 ms; second._offset = 1 ms;
    second.before = 1; second.jobs = 3;
    third._period = 100 ms; third._offset = 1 ms; third.before = 1;
"""


def test_a_request_keeps_the_rank_that_its_job_has_lost(tmp_path: Path) -> None:
    built = make(tmp_path, system("propagated", FALLING, "first second third"), mcs=True)
    run = built.run(duration=30_000_000)
    ranks = [e.args[1] for e in run.of(Kind.TURN) if e.args[0] == built.plan.tasks[0].context.id]
    assert ranks == [97, 98, 99, 98]
    assert [e.time // 1_000_000 for e in run.of(Kind.JOB_BEGIN, "second")] == [2, 11, 22]
    assert run.violations() == []
    # it has too little time, and that is all
    found = search(built, SearchOptions(arrivals=0, duration=25_000_000, seconds=LIMIT)).violation
    assert found is not None and found.property == "D"


#: the file, what is there, and what replaces it
MISTAKES = {
    "not-told-to-the-cpi": (
        "helper.c",
        "        camkes_nested_push(context);\n",
        "        (void)camkes_nested_push;\n",
    ),
    "latest-first": (
        "scheduler.c",
        "x->due < y->due",
        "x->due > y->due",
    ),
    "never-set": (
        "helper.c",
        "    camkes_set_priority(control, helper->authority, priority);\n",
        "    (void)control;\n",
    ),
}


@pytest.mark.long  # test_planted.py has one that is not
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, *change = MISTAKES[mistake]
    break_runtime({file: (change[0], change[1])}, tmp_path, monkeypatch)
    options = SearchOptions(arrivals=0, duration=15_000_000, seconds=LIMIT)
    violation = search(band(tmp_path / "system", RISING), options).violation
    assert violation is not None and violation.property == "P", violation
