# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where virtual time passes in a run: by task, with the requests that it is spent in, and by component."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from camkes.files import write_output
from camkes.running.model import Run, ServedRequest, State, StateSegment
from camkes.showing.draw.flame import flame_svg
from camkes.showing.draw.pictures import write_picture

#: Nanoseconds by stack, from its root to what executes.
Stacks = Mapping[tuple[str, ...], int]


def by_task(run: Run) -> Stacks:
    """The time of each task in its own code and in the requests that it makes, nested as they are."""
    cpis = {cpi.id: cpi.name for cpi in run.names.cpis}
    found: dict[tuple[str, ...], int] = {}
    for lane in run.lanes:
        requests = sorted(
            (each for each in run.requests if each.task == lane.task.id), key=lambda each: each.start
        )
        for segment, around in _with_requests(lane.segments, requests):
            if segment.state is State.RUNNING:
                chain = tuple(cpis[each.cpi] for each in around)
                if segment.what and segment.what not in chain:
                    chain = (*chain, segment.what)  # served without a protocol
                stack = (lane.task.name, *chain)
                found[stack] = found.get(stack, 0) + segment.duration
    return dict(sorted(found.items()))


def _with_requests(
    segments: Iterable[StateSegment], requests: Iterable[ServedRequest]
) -> Iterator[tuple[StateSegment, Sequence[ServedRequest]]]:
    """Each segment with the requests that are in progress all its time, outermost first. Both are in the
    order of their starts."""
    coming = deque(requests)
    around: list[ServedRequest] = []
    for segment in segments:
        while coming and coming[0].start <= segment.start:
            around.append(coming.popleft())
        around = [each for each in around if segment.end <= each.end]
        yield segment, around


def by_component(run: Run) -> Stacks:
    """The time of each instance, by interface (its own code: run) and by the task that it is spent for."""
    tasks = {task.id: task.name for task in run.names.tasks}
    found: dict[tuple[str, ...], int] = {}
    for thread in run.threads:
        requests = [each for each in run.requests if each.thread == thread.named.number]
        what = thread.named.service.rpartition(".")[2] or "run"
        for segment, around in _with_requests(thread.segments, requests):
            if segment.state is State.RUNNING:
                served = next(iter(around), None)
                task = thread.named.task if served is None else served.task
                stack: tuple[str, ...] = (thread.named.instance, what)
                if task in tasks and tasks[task] != thread.named.instance:
                    stack = (*stack, f"for {tasks[task]}")
                found[stack] = found.get(stack, 0) + segment.duration
    return {stack: time for stack, time in sorted(found.items()) if time > 0}


def folded(stacks: Stacks) -> str:
    """A line for each stack with its nanoseconds, as tools for flame graphs read them."""
    return "".join(f"{';'.join(stack)} {time}\n" for stack, time in stacks.items() if time > 0)


def write_profile(folder: Path, run: Run, name: str) -> None:
    """Write folded stacks and flame graphs of a run in a folder. Raises OutputError."""
    for kind, stacks in (("tasks", by_task(run)), ("components", by_component(run))):
        write_output(folder / f"{kind}.folded", folded(stacks).encode())
        write_picture(folder / f"{kind}.svg", flame_svg(stacks, run.end, f"{name}: {kind}"))
