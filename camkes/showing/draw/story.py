# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The steps of a story as text, with a chart that has a column for each step, and for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from camkes.running.model import Run, State, StateSegment
from camkes.running.story import StepKind, Story, StoryStep
from camkes.running.times import format_time
from camkes.showing.draw.terminal import ASCII, UNICODE
from camkes.showing.draw.timeline import service_letters
from camkes.showing.words import LOOKS, Look
from camkes.visible import visible

_COLUMN = 3  # characters of a step


class StoryStepReport(Struct, frozen=True):
    """A step of a story. `thread` did `what`, for `task` (null: for none, or it is its own), because of
    `cause` (null: of itself), at the virtual `time` in nanoseconds. `file`, `line` and `text` are where the
    thread was in the user's C code, null: not there."""

    number: int
    kind: StepKind
    thread: str | None
    task: str | None
    what: str
    cause: str | None
    time: int
    file: str | None
    line: int | None
    text: str | None


def step_reports(story: Story, base: Path) -> tuple[StoryStepReport, ...]:
    """The steps; files below `base` are relative to it."""
    return tuple(_report(step, base) for step in story.steps)


def _report(step: StoryStep, base: Path) -> StoryStepReport:
    place = step.place
    file = None if place is None else place.file
    if file is not None and file.is_relative_to(base):
        file = file.relative_to(base)
    return StoryStepReport(
        number=step.number,
        kind=step.kind,
        thread=step.thread or None,
        task=step.task or None,
        what=step.what,
        cause=step.cause or None,
        time=step.time,
        file=None if file is None else str(file),
        line=None if place is None else place.line,
        text=None if place is None else place.text,
    )


def step_words(step: StoryStepReport) -> str:
    """ "b is preempted by a: released by its timer, priority 20 is above 10" """
    if step.kind is StepKind.VIOLATION:
        return f"violated: {visible(step.what)}"
    sign = "," if step.kind is StepKind.JOB else ":"
    return visible(f"{step.thread} {step.what}" + (f"{sign} {step.cause}" if step.cause else ""))


def time_words(steps: Sequence[StoryStepReport]) -> list[str]:
    """The virtual time of each step where it changes; empty if it stands still."""
    times = [step.time for step in steps]
    if len(set(times)) < 2:
        return ["" for _ in times]
    before: list[int | None] = [None, *times[:-1]]
    return [format_time(time) if time != last else "" for time, last in zip(times, before, strict=True)]


def steps_text(steps: Sequence[StoryStepReport]) -> str:
    """Numbered steps, each with its line of C below it; ends with a newline."""
    width = len(str(len(steps)))
    times = time_words(steps)
    column = max(map(len, times), default=0)
    indent = " " * (width + 2 + (column + 2 if column else 0))
    lines = []
    for step, time in zip(steps, times, strict=True):
        clock = f"{time:>{column}}  " if column else ""
        lines.append(f"{step.number:>{width}}  {clock}{step_words(step)}")
        if step.file is not None:
            lines.append(f"{indent}  {visible(f'{step.file}:{step.line}: {step.text}')}")
    return "".join(f"{line}\n" for line in lines)


def chart_text(run: Run, *, unicode: bool = True) -> str:
    """A row for each lane, a column for each step; ends with a newline."""
    style = UNICODE if unicode else ASCII
    own, marks = style.own, style.looks
    letters = service_letters(run)
    left = max((len(lane.task.name) for lane in run.lanes), default=0) + 2
    lines = []
    for lane in run.lanes:
        known = {segment.start: segment for segment in lane.segments}
        cells = (_cell(known.get(number), letters, own, marks) for number in range(run.end))
        lines.append(f"{lane.task.name:<{left}}{''.join(cell * (_COLUMN - 1) + ' ' for cell in cells)}")
    lines.append(" " * left + "".join(f"{number:<{_COLUMN}}" for number in range(1, run.end + 1)))
    looks = {LOOKS[s.state] for lane in run.lanes for s in lane.segments if s.state in LOOKS}
    keys = [f"{own} own code", *(f"{letter} {service}" for service, letter in letters.items())]
    keys += [f"{marks[look]} {look.value}" for look in Look if look in looks]
    return "".join(f"{line.rstrip()}\n" for line in (*lines, "", "   ".join(keys)))


def _cell(segment: StateSegment | None, letters: dict[str, str], own: str, marks: Mapping[Look, str]) -> str:
    if segment is None:
        return " "
    if segment.state is State.RUNNING:
        return letters.get(segment.what, own)
    return marks[LOOKS[segment.state]]
