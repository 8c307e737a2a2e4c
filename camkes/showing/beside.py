# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Two runs beside each other, as text and as a page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from camkes.running.comparison import ComparedJob, ComparedStep, Comparison, Recorded
from camkes.running.times import format_number, format_time, unit_for
from camkes.showing.draw.table import table
from camkes.showing.draw.timeline_page import timelines_page
from camkes.visible import visible


def comparison_text(found: Comparison, *, color: bool, width: int | None = None) -> str:
    """What differs, and a table of the longest response times of each task."""
    lines = list(comparison_words(found))
    unit, size = _unit(found.jobs)
    rows = [["task", "jobs", *found.labels, "difference"], *_rows(found, size)]
    lines += ["", f"longest response times ({unit})"]
    lines.append(table(rows, right=range(1, 5), color=color, width=width))
    return "\n".join(lines) + "\n"


def comparison_words(found: Comparison) -> Iterator[str]:
    """Whether the steps of tasks and protocols came in the same order, and where they did not."""
    if found.same:
        yield f"the same {found.steps} steps in the same order"
        return
    yield f"after {found.steps} steps in the same order the runs differ"
    for label, step in zip(found.labels, found.different, strict=True):
        yield f"  {label}: {_step(step)}"


def _step(step: ComparedStep | None) -> str:
    return "nothing more" if step is None else f"{step.what} at {format_time(step.time, 6)}"


def _unit(jobs: Sequence[ComparedJob]) -> tuple[str, int]:
    return unit_for(max((t for job in jobs for t in (job.first, job.second) if t is not None), default=1))


def _rows(found: Comparison, size: int) -> Iterator[list[str]]:
    """For each task the longest response times, and the largest difference of a job."""
    for task in dict.fromkeys(job.task for job in found.jobs):
        jobs = [job for job in found.jobs if job.task == task]
        longest = (
            max((t for t in times if t is not None), default=None)
            for times in ([job.first for job in jobs], [job.second for job in jobs])
        )
        apart = max((d for job in jobs if (d := job.difference) is not None), key=abs, default=None)
        yield [task, str(len(jobs)), *(_in(each, size) for each in longest), _signed(apart, size)]


def _in(time: int | None, size: int) -> str:
    return "-" if time is None else format_number(time / size)


def _signed(time: int | None, size: int) -> str:
    return "-" if time is None else f"{'+' if time >= 0 else ''}{format_number(time / size)}"


#: rows of the table of jobs in a page
_MOST = 500


def comparison_page(first: Recorded, second: Recorded, found: Comparison, heading: str) -> str:
    """Both timelines with one axis of time, what differs, and the response times of jobs."""
    unit, size = _unit(found.jobs)
    words = "".join(f"<p class=words>{html.escape(visible(line))}</p>" for line in comparison_words(found))
    heads = ("task", "job", *found.labels, "difference")
    head = "".join(f"<th scope=col>{html.escape(visible(each))}</th>" for each in heads)
    rows = "".join(
        f"<tr><th scope=row>{html.escape(visible(job.task))}</th><td>{job.index}</td>"
        f"<td>{_in(job.first, size)}</td><td>{_in(job.second, size)}</td>"
        f"<td>{_signed(job.difference, size)}</td></tr>"
        for job in found.jobs[:_MOST]
    )
    more = f"<p>the first {_MOST} of {len(found.jobs)} jobs</p>" if len(found.jobs) > _MOST else ""
    table = f"<table><caption>response times ({unit})</caption><tr>{head}</tr>{rows}</table>{more}"
    return timelines_page(((first.label, first.run), (second.label, second.run)), heading, words, table)
