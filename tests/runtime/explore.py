# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs a system under many schedules: depth first over what was left open, then at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.runtime.host import Built, Run

DURATION = 2_000_000
ROUND_ROBIN = ("--scheduling", "rr", "--timeslice", "20000")


@dataclass(frozen=True)
class Schedule:
    """The options of a run, to repeat it by hand, and its result."""

    options: tuple[str, ...]
    script: tuple[int, ...]
    run: Run


def schedules(built: Built, deviations: int, limit: int, seeds: int) -> Iterator[Schedule]:
    """At most `limit` schedules that depart from the default in at most `deviations` choices, spread evenly
    where there are more, and `seeds` random ones under round robin and without."""
    yield from _depth_first(built, deviations, limit)
    for seed in range(1, seeds + 1):
        for scheduling in ((), ROUND_ROBIN):
            options = ("--fast", *scheduling, "--choices", f"random:{seed}")
            yield Schedule(options, (), built.run(*options, duration=DURATION))


def _depth_first(built: Built, deviations: int, limit: int) -> Iterator[Schedule]:
    script = built.image.folder / "choices.txt"
    options = ("--fast", "--choices", f"script:{script}")
    pending: list[tuple[tuple[int, ...], int]] = [((), deviations)]
    done = 0
    while pending and done < limit:
        prefix, left = pending.pop()
        script.write_text(" ".join(map(str, prefix)) + "\n")
        run = built.run(*options, duration=DURATION)
        done += 1
        yield Schedule(options, prefix, run)
        if left == 0:
            continue
        made = run.choices()
        children = [
            ((*(c for _, c in made[:place]), other), left - 1)
            for place in range(len(prefix), len(made))
            for other in range(1, made[place][0])
        ]
        room = max(1, (limit - done - len(pending)) // max(1, left))
        step = max(1, -(-len(children) // room))
        pending += reversed(children[::step])
