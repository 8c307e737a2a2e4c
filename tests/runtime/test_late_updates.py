# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An update of a priority never comes after the request that it is for.

The schedules that decide this have three parts, more than the general search tries together: a task
arrives late; it does so between the end of a nested request and `nested = 0`, so that the manager raises a
worker that is about to leave; and the manager's time slice ends between its two looks at `nested`, where
the worker, raised to the manager's own priority, overtakes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from camkes.running.kinds import Kind
from tests.runtime import systems
from tests.runtime.explore import DURATION
from tests.runtime.host import Built, Run, build

pytestmark = pytest.mark.requirement("RT-8")

#: numbers of <camkes/trace.h>
JITTER, POINT = 3, 4

#: how far behind the arrival the end of the time slice is tried, in places where a preemption is possible
NEAR = 8


def run(built: Built, script: tuple[int, ...]) -> Run:
    path = built.image.folder / "choices.txt"
    path.write_text(" ".join(map(str, script)) + "\n")
    return built.run("--fast", "--choices", f"script:{path}", duration=DURATION)


def variants(before: Run, kind: int, start: int, stop: int) -> Iterator[tuple[int, ...]]:
    """Scripts that decide one choice of a kind otherwise: one of those numbered `start` to `stop`."""
    made = [event.args for event in before.of(Kind.CHOICE)]
    for place in range(start, min(stop, len(made))):
        if made[place][0] == kind:
            for other in range(1, made[place][1]):
                yield (*(chosen for _, _, chosen in made[:place]), other)


def choices_before(found: Run, kind: Kind, thread: str) -> int:
    """How many choices were made before the first event of a kind and thread."""
    events = list(found.events)
    first = found.of(kind, thread)[0]
    return sum(event.kind is Kind.CHOICE for event in events[: events.index(first)])


def late_arrivals(folder: Path) -> Iterator[tuple[tuple[int, ...], Run]]:
    """Runs in which `b` arrives while `a` leaves its nested request, with every near end of a time slice."""
    built = build(folder, systems.CHAIN.text, systems.CHAIN.code)
    table = built.image.folder / built.image.table.name
    text, count = re.subn(r"^(timer b\S* .*)$", rf"\1 {DURATION // 4}", table.read_text(), flags=re.MULTILINE)
    assert count == 1
    table.write_text(text)
    late = run(built, next(variants(run(built, ()), JITTER, 0, 1000)))
    leaves = choices_before(late, Kind.CALL_END, "one.p@a")
    for arrival in variants(late, POINT, leaves, leaves + 4):
        arrived = run(built, arrival)
        yield arrival, arrived
        for script in variants(arrived, POINT, len(arrival), len(arrival) + NEAR):
            yield script, run(built, script)


def violations(found: Run) -> list[str]:
    """But for the lateness itself: a release has another time than the plan's."""
    return [str(v) for v in found.violations() if " is released at " not in str(v)]


def test_no_update_comes_late(tmp_path: Path) -> None:
    runs = 0
    for script, found in late_arrivals(tmp_path):
        assert found.status == 0, f"{script}: {found.errors}"
        assert violations(found) == [], script
        runs += 1
    assert runs > NEAR
