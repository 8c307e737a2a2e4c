# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Two runs of a system: whether the same happened in the same order, and how long jobs took.

Runs of different kernels differ in times, and in where threads were switched; what protocols and tasks do
should not differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from msgspec import Struct

from camkes.diagnostics import Sink
from camkes.running.decode import decode_trace
from camkes.running.events import Event, load_trace, parse_trace
from camkes.running.kinds import Kind
from camkes.running.model import Run
from camkes.running.names import TraceNames, load_names


class Recorded(Struct, frozen=True):
    """A run with its events; `label` tells it from the other."""

    label: str
    run: Run
    events: tuple[Event, ...]


class ComparedStep(Struct, frozen=True):
    """What happened, at a time in nanoseconds."""

    time: int
    what: str


class ComparedJob(Struct, frozen=True):
    """The response times of a job in both runs, in nanoseconds; null: it did not end, or was not released."""

    task: str
    index: int
    first: int | None
    second: int | None

    @property
    def difference(self) -> int | None:
        """How much longer it took in the second run; None: it did not end in both."""
        return None if self.first is None or self.second is None else self.second - self.first


class Comparison(Struct, frozen=True):
    """`labels` are those of the runs. The first `steps` steps are the same; then one of the runs differs, if
    `different` are not both null: what each did instead, null: nothing more."""

    labels: tuple[str, str]
    steps: int
    different: tuple[ComparedStep | None, ComparedStep | None]
    jobs: tuple[ComparedJob, ...]

    @property
    def same(self) -> bool:
        return self.different == (None, None)


def load_recorded(path: Path, label: str, sink: Sink) -> Recorded | None:
    """A run from its trace file; None after a diagnostic."""
    names = load_names(path, sink)
    data = None if names is None else load_trace(path, sink)
    run = None if names is None or data is None else decode_trace(path, names, sink)
    events = None if run is None or data is None else parse_trace(data, str(path), Sink())
    return None if run is None or events is None else Recorded(label, run, events)


def compare(first: Recorded, second: Recorded) -> Comparison:
    """Two runs of one system. Steps near the end of the shorter run are left out where only one has them."""
    steps = [list(_steps(each.events, each.run.names)) for each in (first, second)]
    same, apart = 0, 0
    while same < min(map(len, steps)) and steps[0][same].what == steps[1][same].what:
        apart = max(apart, abs(steps[0][same].time - steps[1][same].time))
        same += 1
    end = min(first.run.end, second.run.end) - apart
    rest = [of[same] if same < len(of) else None for of in steps]
    if any(each is None for each in rest) and not any(each and each.time < end for each in rest):
        rest = [None, None]
    return Comparison(
        labels=(first.label, second.label),
        steps=same,
        different=(rest[0], rest[1]),
        jobs=tuple(_jobs(first.run, second.run)),
    )


def _jobs(first: Run, second: Run) -> Iterator[ComparedJob]:
    others = {lane.task.name: lane.jobs for lane in second.tasks}
    for lane in first.tasks:
        for one, other in zip_longest(lane.jobs, others.get(lane.task.name, ())):
            known = one if one is not None else other
            times = [None if each is None else each.response for each in (one, other)]
            yield ComparedJob(lane.task.name, known.number, times[0], times[1])


def _steps(events: Sequence[Event], names: TraceNames) -> Iterator[ComparedStep]:
    for event in events:
        what = _what(event, names)
        if what:
            yield ComparedStep(event.time, what)


def _what(event: Event, names: TraceNames) -> str:
    """A step of a task or of a protocol in words; "": it is none of these."""
    numbers = event.args
    match event.kind:
        case Kind.JOB_BEGIN:
            return f"{names.thread_name(event.thread)} begins job {numbers[0]}"
        case Kind.JOB_END:
            return f"{names.thread_name(event.thread)} ends job {numbers[0]}"
        case Kind.JOB_STOP:
            return f"job {numbers[0]} of {names.thread_name(event.other)} is stopped"
        case Kind.REQUEST_BEGIN | Kind.REQUEST_END:
            verb = "begins" if event.kind is Kind.REQUEST_BEGIN else "ends"
            return f"{names.cpi_name(numbers[0])} {verb} a request of {names.context_name(numbers[1])}"
        case Kind.LOCK_TAKE | Kind.LOCK_WAIT | Kind.LOCK_GRANT | Kind.LOCK_FREE:
            verb = {
                Kind.LOCK_TAKE: "takes",
                Kind.LOCK_WAIT: "waits for",
                Kind.LOCK_GRANT: "gets",
                Kind.LOCK_FREE: "frees",
            }[event.kind]
            return f"{names.context_name(numbers[1])} {verb} the lock of {names.lock_name(numbers[0])}"
        case _:
            return ""
