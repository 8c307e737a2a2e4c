# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run in numbers, for programs. All times are nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from camkes.report.trace.jobs import response_times
from camkes.report.trace.model import Lane, Run

SCHEMA = 1


def run_dict(run: Run) -> dict[str, Any]:
    """`end` and, for each task, its jobs: counts, response times, and every job.

    released = completed + unfinished. `missed` deadlines (also under its older name `misses`) are those of
    jobs that ended later and of jobs that did not end at all; `open` are unfinished jobs whose deadline the
    run did not reach. `jobs` is an older name of `completed`.
    """
    return {"schema": SCHEMA, "end": run.end, "tasks": [_task(lane) for lane in run.tasks]}


def _task(lane: Lane) -> dict[str, Any]:
    numbers = response_times(lane)
    return {
        "name": numbers.task,
        "priority": numbers.priority,
        "released": numbers.released,
        "completed": numbers.completed,
        "unfinished": numbers.unfinished,
        "missed": numbers.missed,
        "open": numbers.open,
        "jobs": numbers.completed,
        "response": {"min": numbers.minimum, "mean": numbers.mean, "max": numbers.maximum},
        "deadline": numbers.deadline,
        "misses": numbers.missed,
        "blocked_max": numbers.blocked,
        "states": _times(lane),
        "job_list": [
            {
                "index": job.number,
                "release": job.release,
                "begin": job.begin,
                "end": job.end,
                "response": job.response,
                "deadline": job.deadline,
                "missed": job.missed,
                "outcome": job.outcome.value,
                "blocked": job.blocked,
            }
            for job in lane.jobs
        ],
    }


def _times(lane: Lane) -> dict[str, int]:
    """How long the task was in each state, without the time in which it had nothing to do."""
    times: dict[str, int] = {}
    for segment in lane.segments:
        times[segment.state.value] = times.get(segment.state.value, 0) + segment.duration
    return dict(sorted(times.items()))


def to_json(report: Mapping[str, Any]) -> str:
    """The text of a report: a line for each of its parts, and for each item of a part that is a list."""
    parts = []
    for name, value in report.items():
        text = _line(value)
        if isinstance(value, list) and value:
            text = "[\n" + ",\n".join(map(_line, value)) + "\n]"
        parts.append(f"{_line(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}"


def _line(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
