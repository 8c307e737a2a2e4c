# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""End-to-end latencies of chains of tasks that release each other by events, and ages of data."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from msgspec import Struct

from camkes.running.model import Job, Lane, Run


class ChainLatencies(Struct, frozen=True):
    """Times in nanoseconds from a release of the first of `tasks` to the end of the job of the last one that
    follows from it, of all such jobs that ended; each of `tasks` releases the next one."""

    tasks: tuple[str, ...]
    latencies: tuple[int, ...]


class DataAges(Struct, frozen=True):
    """For each job of `reader` that ended, how long before its end the task was released that led to what
    `writer` had written when the job began; nanoseconds."""

    writer: str
    reader: str
    ages: tuple[int, ...]


def chain_latencies(run: Run) -> tuple[ChainLatencies, ...]:
    """All chains that no other goes on."""
    lanes = {lane.task.name: lane for lane in run.tasks}
    after = {lane.task.after for lane in run.tasks}
    found = []
    for last in sorted(
        name for name, lane in lanes.items() if lane.task.after in lanes and name not in after
    ):
        chain = _chain(lanes, last)
        names = tuple(lane.task.name for lane in reversed(chain))
        found.append(ChainLatencies(names, tuple(_latencies(chain))))
    return tuple(found)


def data_ages(run: Run) -> tuple[DataAges, ...]:
    """Of all tasks that read what others write."""
    lanes = {lane.task.name: lane for lane in run.tasks}
    return tuple(
        DataAges(writer, lane.task.name, tuple(_ages(_chain(lanes, writer), lane)))
        for lane in run.tasks
        for writer in lane.task.reads
    )


def _chain(lanes: Mapping[str, Lane], last: str) -> list[Lane]:
    """The tasks of a chain, from its last one to the first."""
    chain = [lanes[last]]
    while (before := lanes.get(chain[-1].task.after)) is not None and before not in chain:
        chain.append(before)
    return chain


def _latencies(chain: list[Lane]) -> Iterator[int]:
    for job in chain[0].jobs:
        first = _first(chain, job)
        if job.end is not None and first is not None:
            yield job.end - first.release


def _ages(chain: list[Lane], reader: Lane) -> Iterator[int]:
    ended = [job for job in chain[0].jobs if job.end is not None]
    for job in reader.jobs:
        if job.begin is None or job.end is None:
            continue
        index = bisect_right(ended, job.begin, key=lambda each: each.end or 0)
        first = _first(chain, ended[index - 1]) if index else None
        if first is not None:
            yield job.end - first.release


def _first(chain: list[Lane], job: Job) -> Job | None:
    """The job of the first task of the chain that led to a job of the last one."""
    first: Job | None = job
    for lane in chain[1:]:
        first = None if first is None else _under_way(lane, first.release)
    return first


def _under_way(lane: Lane, time: int) -> Job | None:
    """The job that was under way when the event came."""
    begun = [job for job in lane.jobs if job.begin is not None]
    index = bisect_right(begun, time, key=lambda job: job.begin or 0)
    return begun[index - 1] if index else None
