# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Execution times of jobs and requests, measured in runs on the host kernel.

What is measured is the time for which the thread of a job or request executes, without the requests that it
makes. On the host kernel time passes in `camkes_work` alone. The longest time that was seen is not a bound.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from camkes import pipeline
from camkes.backends.interface import Progress
from camkes.diagnostics import Sink
from camkes.model.settings import WCET
from camkes.report.trace.model import Run, State, TracedThread

#: A proposal is a whole number of these, in nanoseconds.
STEP = 1_000


class Measurement(Struct, frozen=True):
    """The jobs of a task, or the requests to a CPI: how many ended, and the longest execution time of one.
    `setting` is the (instance, name) of the execution time, `stated` what the system has there. All times are
    nanoseconds."""

    name: str
    is_task: bool
    setting: tuple[str, str]
    stated: int | None
    count: int = 0
    longest: int = 0

    def proposed(self, margin: float) -> int | None:
        """The longest time and a margin, rounded up to microseconds; None where nothing was seen."""
        if self.longest == 0:
            return None
        return ceil(round(self.longest * margin, 3) / STEP) * STEP


class Measured(Struct, frozen=True):
    """What `runs` runs of `checked` showed; `failed` says that one of them had a fault."""

    checked: pipeline.Checked
    runs: int
    failed: bool
    measurements: tuple[Measurement, ...]


def measure(
    asked: pipeline.Input, settings: pipeline.RunSettings, runs: int, sink: Sink, progress: Progress
) -> Measured | None:
    """Build a system and run it so often: the first time as always, then with random choices of what
    scheduling and durations leave open. Raises OutputError."""
    checked = pipeline.check_code(asked, settings.output, sink, progress)
    if checked is None:
        return None
    found = expected(checked)
    failed = False
    with ExitStack() as stack:
        image = pipeline.build_to_run(checked, settings, stack, sink, progress)
        if image is None or sink.has_errors:
            return None
        for number in range(runs):
            progress(f"run {number + 1} of {runs}")
            choices = f"random:{number}" if number else "first"
            outcome = pipeline.run_image(image, checked, replace(settings, choices=choices), sink)
            if outcome is None:
                return None
            failed = failed or outcome.failed
            found = merged(found, times(outcome.run))
    return Measured(checked, runs, failed, tuple(found))


def expected(checked: pipeline.Checked) -> list[Measurement]:
    """All tasks and the CPIs that they can reach, with what is stated."""
    tasks = [
        Measurement(task.instance, True, (task.instance, WCET.of("_")), task.wcet)
        for task in checked.system.tasks
    ]
    reached = {cpi.name for cpi in checked.plan.cpis if cpi.tasks}
    cpis = [
        Measurement(cpi.name, False, (cpi.instance, WCET.of(f"{cpi.interface}_")), cpi.wcet)
        for cpi in checked.system.cpis
        if cpi.name in reached
    ]
    return tasks + cpis


def merged(before: Iterable[Measurement], seen: Mapping[str, list[int]]) -> list[Measurement]:
    """The measurements with the times of one more run."""
    return [
        replace(
            each,
            count=each.count + len(seen.get(each.name, ())),
            longest=max(each.longest, *seen.get(each.name, ()), 0),
        )
        for each in before
    ]


def times(run: Run) -> dict[str, list[int]]:
    """Execution times of all jobs and requests that ended in a run, by task and CPI."""
    threads = {thread.named.number: _Executed(thread) for thread in run.threads}
    found: dict[str, list[int]] = {}
    for lane in run.lanes:
        for job in lane.jobs:
            if job.begin is not None and job.end is not None:
                executed = threads[lane.thread].between(job.begin, job.end)
                found.setdefault(lane.task.name, []).append(executed)
    names = {cpi.id: cpi.name for cpi in run.names.cpis}
    for request in run.requests:
        if request.end < run.end:
            executed = threads[request.thread].between(request.start, request.end)
            found.setdefault(names[request.cpi], []).append(executed)
    return found


class _Executed:
    """When a thread executed."""

    def __init__(self, thread: TracedThread) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._sums = [0]
        for start, end in self._pieces(thread):
            self._starts.append(start)
            self._ends.append(end)
            self._sums.append(self._sums[-1] + end - start)

    @staticmethod
    def _pieces(thread: TracedThread) -> Iterator[tuple[int, int]]:
        return ((s.start, s.end) for s in thread.segments if s.state is State.RUNNING)

    def _until(self, time: int) -> int:
        index = bisect_right(self._starts, time)
        total = self._sums[index]
        return total - max(0, self._ends[index - 1] - time) if index else total

    def between(self, start: int, end: int) -> int:
        """For how many nanoseconds it executed in that time."""
        return self._until(end) - self._until(start)
