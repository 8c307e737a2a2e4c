# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Execution times of jobs and requests, measured in runs.

What is measured is the time for which the thread of a job or request executes, without the requests that it
makes. On the host kernel time passes in `camkes_work` alone; on seL4 an instruction in QEMU counts as 1 ns.
The longest time that was seen is not a bound.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from math import ceil
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from camkes import pipeline
from camkes.backends.interface import Progress
from camkes.diagnostics import Sink
from camkes.model.settings import WCET
from camkes.model.system import Cpi, Procedure, System
from camkes.protocols.requests import method_node
from camkes.resolve.words.methods import method_of
from camkes.running.model import LockStep, Run, ServedRequest, State, TracedThread

#: A proposal is a whole number of these, in nanoseconds.
STEP = 1_000


class Measurement(Struct, frozen=True):
    """The jobs of a task, or the requests to a CPI or to one of its methods: how many ended, and the longest
    execution time of one; how many were `interrupted`, so that their times are not known. `setting` is the
    (instance, name) of the execution time, `stated` what the system has there. All times are nanoseconds.
    `method` is the `method_node` of a method, by its index."""

    name: str
    is_task: bool
    setting: tuple[str, str]
    stated: int | None
    count: int = 0
    longest: int = 0
    interrupted: int = 0
    method: str = ""

    @property
    def key(self) -> str:
        """What it is called among those that were seen."""
        return self.method or self.name

    def proposed(self, margin: float) -> int | None:
        """The longest time and a margin, rounded up to microseconds; None where nothing was seen."""
        if self.longest == 0:
            return None
        return ceil(round(self.longest * margin, 3) / STEP) * STEP


class Measured(Struct, frozen=True):
    """What `runs` runs of `checked` showed; `failed`: one of them had a fault. On seL4 it is one
    run, in which only jobs and requests count that no other job interrupted."""

    checked: pipeline.Checked
    runs: int
    failed: bool
    measurements: tuple[Measurement, ...]
    kernel: str = "host"


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
    return Measured(checked, runs, failed, tuple(_shown(found)))


def measure_on_sel4(
    asked: pipeline.Input,
    settings: pipeline.RunSettings,
    workspace: Path | None,
    sink: Sink,
    progress: Progress,
) -> Measured | None:
    """Build a system for seL4 and record a run in QEMU, which counts instructions. Raises OutputError."""
    checked = pipeline.check(asked, sink)
    if checked is None:
        return None
    outcome = pipeline.record(asked, settings, workspace, lambda text: None, sink, progress)
    if outcome is None:
        return None
    seen, interrupted = undisturbed_times(outcome.run)
    found = [replace(m, interrupted=interrupted[m.key]) for m in merged(expected(checked), seen)]
    return Measured(checked, 1, outcome.failed, tuple(_shown(found)), "sel4")


def expected(checked: pipeline.Checked) -> list[Measurement]:
    """All tasks, and the CPIs that they can reach and the methods of these, with what is stated."""
    tasks = [
        Measurement(task.instance, True, (task.instance, WCET.of("_")), task.wcet)
        for task in checked.system.tasks
    ]
    reached = {cpi.name for cpi in checked.plan.cpis if cpi.tasks}
    cpis: list[Measurement] = []
    for cpi in checked.system.cpis:
        if cpi.name in reached:
            cpis.append(Measurement(cpi.name, False, (cpi.instance, WCET.of(f"{cpi.interface}_")), cpi.wcet))
            cpis += _methods(checked.system, cpi)
    return tasks + cpis


def _methods(system: System, cpi: Cpi) -> Iterator[Measurement]:
    """The methods of a CPI that has several, and whose times can be stated."""
    instance = system.instance(cpi.instance)
    assert instance is not None
    provided = {
        i.name: [method.name for method in i.type.methods]
        for i in instance.type.interfaces
        if i.kind == "provides" and isinstance(i.type, Procedure)
    }
    for index, method in enumerate(cpi.methods if len(cpi.methods) > 1 else ()):
        word = f"{cpi.interface}_{method}"
        if method_of(word, provided) == (cpi.interface, method):
            stated = cpi.method_times.get(method)
            yield Measurement(
                f"{cpi.name}.{method}",
                False,
                (cpi.instance, WCET.of(f"{word}_")),
                None if stated is None else stated.wcet,
                method=method_node(cpi.name, str(index)),
            )


def _shown(found: Iterable[Measurement]) -> Iterator[Measurement]:
    """Without methods that no request was to; and without all of a CPI where they are one."""
    seen = [each for each in found if not each.method or each.count or each.interrupted or each.stated]
    methods = Counter(each.method.partition(":")[0] for each in seen if each.method)
    return (each for each in seen if not each.method or methods[each.method.partition(":")[0]] > 1)


def merged(before: Iterable[Measurement], seen: Mapping[str, list[int]]) -> list[Measurement]:
    """The measurements with the times of one more run."""
    return [
        replace(
            each,
            count=each.count + len(seen.get(each.key, ())),
            longest=max(each.longest, *seen.get(each.key, ()), 0),
        )
        for each in before
    ]


def times(run: Run) -> dict[str, list[int]]:
    """Execution times of all jobs and requests that ended in a run, by task and CPI, and by method."""
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
            for name in _names_of(request, names):
                found.setdefault(name, []).append(executed)
    return found


def _names_of(request: ServedRequest, names: Mapping[int, str]) -> Iterator[str]:
    """Of the CPI, and of the method if there are several."""
    yield names[request.cpi]
    if request.method is not None:
        yield method_node(names[request.cpi], str(request.method))


class _Interval(NamedTuple):
    """A job, with the name of its task, or a request, with those of its CPI and method. `task` is the id of
    the task that it belongs to."""

    start: int
    end: int
    names: tuple[str, ...]
    task: int | None
    waited: bool = False


def undisturbed_times(run: Run) -> tuple[dict[str, list[int]], Counter[str]]:
    """The same of a run in which it is not recorded which thread executes, as on seL4: the times of those
    jobs and requests in which no job or request of another task begins or ends, and that did not wait for a
    lock. Only the driver of the timer may execute meanwhile. And how many others ended."""
    names = {cpi.id: cpi.name for cpi in run.names.cpis}
    known = [
        _Interval(job.begin, run.end if job.end is None else job.end, (lane.task.name,), lane.task.id)
        for lane in run.lanes
        for job in lane.jobs
        if job.begin is not None
    ]
    gets: dict[int, list[int]] = {}
    for event in run.locks:
        if event.step is LockStep.GETS:
            gets.setdefault(event.thread, []).append(event.time)
    for request in run.requests:
        times = gets.get(request.thread, ())
        waited = bisect_left(times, request.start) < bisect_right(times, request.end)
        own = tuple(_names_of(request, names))
        known.append(_Interval(request.start, request.end, own, request.task, waited))
    begins = sorted(known, key=_start)
    ends = sorted(known, key=_end)
    found: dict[str, list[int]] = {}
    interrupted: Counter[str] = Counter()
    for each in known:
        begun = begins[
            bisect_right(begins, each.start, key=_start) : bisect_left(begins, each.end, key=_start)
        ]
        ended = ends[bisect_right(ends, each.start, key=_end) : bisect_left(ends, each.end, key=_end)]
        others = any(other.task is None or other.task != each.task for other in (*begun, *ended))
        if each.end >= run.end:
            continue
        for name in each.names:
            if others or each.waited:
                interrupted[name] += 1
            else:
                found.setdefault(name, []).append(each.end - each.start - _length_of_outermost(begun))
    return found, interrupted


def _start(each: _Interval) -> int:
    return each.start


def _end(each: _Interval) -> int:
    return each.end


def _length_of_outermost(requests: Iterable[_Interval]) -> int:
    """The length of requests in the order of their beginnings, without those that are in others."""
    length = until = 0
    for each in requests:
        if each.end > until:
            length += each.end - each.start
            until = each.end
    return length


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
