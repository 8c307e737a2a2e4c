# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""End-to-end latencies of chains of tasks that release each other by events."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from camkes.report.trace.model import Job, Lane, Run


class ChainLatencies(Struct, frozen=True):
    """Times in nanoseconds from a release of the first of `tasks` to the end of the job of the last one that
    follows from it, of all such jobs that ended; each of `tasks` releases the next one."""

    tasks: tuple[str, ...]
    latencies: tuple[int, ...]


def chain_latencies(run: Run) -> tuple[ChainLatencies, ...]:
    """All chains that no other goes on."""
    lanes = {lane.task.name: lane for lane in run.tasks}
    after = {name: lane.task.after for name, lane in lanes.items() if lane.task.after in lanes}
    found = []
    for last in sorted(after.keys() - after.values()):
        chain = [last]
        while chain[-1] in after and after[chain[-1]] not in chain:
            chain.append(after[chain[-1]])
        found.append(
            ChainLatencies(tuple(reversed(chain)), tuple(_latencies([lanes[name] for name in chain])))
        )
    return tuple(found)


def _latencies(lanes: list[Lane]) -> Iterator[int]:
    """`lanes` from the last one to the first."""
    for job in lanes[0].jobs:
        first: Job | None = job
        for lane in lanes[1:]:
            first = None if first is None else _under_way(lane, first.release)
        if job.end is not None and first is not None:
            yield job.end - first.release


def _under_way(lane: Lane, time: int) -> Job | None:
    """The job that was under way when the event came."""
    begun = [job for job in lane.jobs if job.begin is not None]
    index = bisect_right(begun, time, key=lambda job: job.begin or 0)
    return begun[index - 1] if index else None
