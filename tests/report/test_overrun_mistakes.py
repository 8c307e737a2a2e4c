# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes in the code of overrun policies are found by the properties of random runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.test_exploration import break_runtime

from .random_overruns import make, problems

pytestmark = pytest.mark.requirement("AN-27")

OVERRUN, ABORTED = "overrun.c", "aborted.c"

#: the seed of a system; a file of the runtime; what is there, and what replaces it; what property
#: shows it, F: an assertion of the runtime, in a manager
MISTAKES = {
    # the holder goes on with the time that it was given when it releases the lock
    "time-not-given-home": (
        33,
        OVERRUN,
        "    camkes_worker_must(cpi, worker, CAMKES_ON_RELEASE);\n    return",
        "    return",
        "A",
    ),
    # when the time of a waiting task is used up, too, that is taken for the holder's own
    "wrong-payer": (
        33,
        OVERRUN,
        "    return !camkes_worker_event(cpi, worker, CAMKES_ON_WITHDRAW, time);",
        "    worker->withdrawn = time;\n"
        "    return !camkes_worker_event(cpi, worker, CAMKES_ON_WITHDRAW, time);",
        "F",
    ),
    # the caller of an aborted request is not answered before the roll-back, and so not at all
    "roll-back-without-answer": (1, ABORTED, "        answer(worker->reply);\n", "", "L"),
    # the end of a part of the budget is taken for that of all
    "part-of-a-budget": (13, OVERRUN, "if (time == 0 || camkes_bind(time, worker))", "if (time == 0)", "A"),
}


@pytest.mark.long  # as tests/explore/test_planted.py, of random systems
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, file, good, bad, shows = MISTAKES[mistake]
    break_runtime({file: (good, bad)}, tmp_path, monkeypatch, mcs=True)
    built, _ = make(seed, tmp_path / "broken")
    found, _ = problems(built, 6)
    seen = "!manager: illegal instruction" if shows == "F" else f" ns: {shows}"
    assert any(seen in line for line in found), found
