# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Response times of tasks: how long jobs took from release to end, and how much of that was blocking."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from camkes.records import dataclass
from camkes.report.lanes import Job, Lane, Lanes, build_lanes
from camkes.report.trace.events import Event
from camkes.report.trace.names import TraceNames

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Response:
    """The jobs of a task in numbers; times are nanoseconds.

    `jobs` ended, `unfinished` had been released and had not ended when the run did. `blocked` is the
    longest time in which a job was pending and work of lower base priority ran, or nothing did because
    the job waited for a lock or a busy server. None: no job ended.
    """

    task: str
    priority: int
    jobs: int
    unfinished: int
    minimum: int | None
    mean: float | None
    maximum: int | None
    deadline: int | None
    misses: int
    blocked: int | None


def responses(lanes: Lanes) -> tuple[Response, ...]:
    """A row a task, by falling priority."""
    return tuple(_response(lane, lanes) for lane in lanes.lanes if lane.task.id >= 0)


def _response(lane: Lane, lanes: Lanes) -> Response:
    times = [job.response for job in lane.jobs if job.response is not None]
    return Response(
        lane.task.name,
        lane.task.priority,
        len(times),
        len(lane.jobs) - len(times),
        min(times, default=None),
        sum(times) / len(times) if times else None,
        max(times, default=None),
        lane.task.deadline,
        sum(job.missed(lanes.end) for job in lane.jobs),
        max(_blocked(lane, lanes.end), default=0) if lanes.scheduling else None,
    )


def _blocked(lane: Lane, end: int) -> list[int]:
    """Blocked time of each job, in job order."""
    hindered = [segment for segment in lane.segments if segment.hindered]
    result = []
    first = 0
    for job in sorted(lane.jobs, key=lambda job: job.release):
        stop = _stop(job, end)
        while first < len(hindered) and hindered[first].end <= job.release:
            first += 1
        total = 0
        for segment in hindered[first:]:
            if segment.start >= stop:
                break
            total += min(segment.end, stop) - max(segment.start, job.release)
        result.append(total)
    return result


def _stop(job: Job, end: int) -> int:
    return end if job.end is None else job.end


def responses_dict(lanes: Lanes) -> dict[str, Any]:
    """For programs. All times are nanoseconds."""
    ends = {
        lane.task.name: [
            {"index": j.index, "release": j.release, "begin": j.begin, "end": j.end, "response": j.response,
             "deadline": j.deadline, "missed": j.missed(lanes.end),
             "blocked": blocked if lanes.scheduling else None}
            for j, blocked in zip(
                sorted(lane.jobs, key=lambda job: job.release), _blocked(lane, lanes.end), strict=True
            )
        ]
        for lane in lanes.lanes
    }  # fmt: skip
    return {
        "schema": SCHEMA,
        "end": lanes.end,
        "tasks": [
            {
                "name": r.task,
                "priority": r.priority,
                "jobs": r.jobs,
                "unfinished": r.unfinished,
                "response": {"min": r.minimum, "mean": r.mean, "max": r.maximum},
                "deadline": r.deadline,
                "misses": r.misses,
                "blocked_max": r.blocked,
                "job_list": ends[r.task],
            }
            for r in responses(lanes)
        ],
    }


def responses_json(events: Sequence[Event], names: TraceNames) -> str:
    """Response times of a run as JSON text."""
    return json.dumps(responses_dict(build_lanes(events, names)), indent=2) + "\n"
