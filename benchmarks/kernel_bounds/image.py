# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Images of seL4 that note when jobs end, and what they printed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from msgspec import Struct

from camkes.analysis.platform import Platform
from camkes.backends.sel4.workspace import console
from camkes.diagnostics import Sink
from camkes.pipeline import Input, built_for_sel4
from camkes.resources import SEL4_KERNEL

SOURCES = Path(__file__).resolve().parent
CYCLES = SEL4_KERNEL / "measure" / "include"

#: as in measured.h
TASKS_MOST, TIMES_MOST = 16, 200
#: seconds after which a run has failed
LIMIT = 300
#: instructions that a job, an event, and a request execute beside the work: loops, and what notes times
OF_JOB, OF_EVENT, OF_REQUEST = 130, 100, 10

#: what the component of each task has in addition
TASK_ITEMS = "dataport Buf(81920) results; attribute int measured_task; attribute uint64_t until_ns;"


class Setting(Struct, frozen=True):
    """Where and how systems are tried: on a platform of seL4, where an instruction takes 2 to the power of
    `shift` nanoseconds, and operations the times of `profile`; `options` are those of CMake. `unit` is the
    shortest work, in instructions. `host`: cases on the host kernel, too."""

    sdk: Path | None
    folder: Path
    options: Mapping[str, str]
    shift: int
    profile: Platform
    mcs: bool
    unit: int
    host: bool = False

    @property
    def rate(self) -> Fraction:
        """Instructions in a nanosecond."""
        return Fraction(1, 1 << self.shift)

    @property
    def application(self) -> Path:
        return self.folder / "application"


class TriedJob(Struct, frozen=True):
    """A response beside its bound, in nanoseconds; None: the job had not ended when it should have."""

    task: str
    release: int
    response: int | None
    bound: int

    @property
    def above(self) -> bool:
        return self.response is None or self.response > self.bound


class Tried(Struct, frozen=True):
    """What a system did: a task, how late that responded at most, what the analysis `found` possible (0: it
    did not look; with MCS, with shorter operations), its bound, and the jobs of all tasks."""

    seed: int
    task: str
    response: int
    found: int
    bound: int
    jobs: int
    above: tuple[TriedJob, ...]
    #: in slots, which begin at other times than in the case
    slots: bool = False
    #: of two jobs that end in the other order on the host kernel, how far apart their ends are there, at
    #: most, in nanoseconds; 0: there are none, None: not tried
    exchanged: int | None = None
    #: whether jobs end in the same order on the host kernel if operations take less than in the profile
    sure: bool = False

    @property
    def distance(self) -> float:
        """How far the bound is above what was seen, as a part of that."""
        return self.bound / self.response - 1 if self.response else 0.0


class MeasuredTask(Struct, frozen=True):
    """A task whose jobs are noted. `after`: whose jobs release its own by an event."""

    instance: str
    component: str
    after: str = ""


class Seen(Struct, frozen=True):
    """What an image printed: for each task the ends of its jobs by their numbers, and of those that an event
    releases the releases, in nanoseconds; instructions in a nanosecond of its clock."""

    ends: Mapping[int, Mapping[int, int]]
    releases: Mapping[int, Sequence[int]]
    rate: Fraction


def write_measured(
    root: Path, tasks: Sequence[MeasuredTask], until: int, *, shift: int, flags: str = ""
) -> None:
    """Write beside a system, whose components are in files of their names, what makes an image of it whose
    jobs are noted. It prints them `until` so many nanoseconds since boot, when no more jobs begin. Work of 2
    to the power of `shift` in the code is an instruction."""
    folder = root.parent
    names = [task.instance.rpartition(".")[2] for task in tasks]
    for number, task in enumerate(tasks):
        emit = re.compile(rf"\b\w*{names[number]}_emit\(\);")
        noted = rf"note_release({number}); \g<0>"
        for source in (folder / f"{t.component}.c" for t in tasks if t.instance == task.after):
            source.write_text(emit.sub(noted, source.read_text()))
    with_jobs = {task.component for task in tasks}
    flags = f"-include measured.h -DINSTRUCTION_SHIFT={shift} {flags}"
    lines = ["project(case C)"]
    for name in dict.fromkeys(re.findall(r"\bcomponent (\w+) *\{", root.read_text())):
        if (folder / f"{name}.c").is_file():
            own = f"{flags} -DMEASURED_TASK" if name in with_jobs else flags
            lines.append(f"DeclareCAmkESComponent({name} SOURCES {name}.c INCLUDES {SOURCES} C_FLAGS {own})")
    ends = ", ".join(f"from {task.instance}.results" for task in tasks)
    numbers = " ".join(
        f"{name}.measured_task = {number}; {name}.until_ns = {until};" for number, name in enumerate(names)
    )
    (folder / "case.camkes").write_text(
        f"""import "{root.name}";
component Reporter {{ control; dataport Buf(81920) results; attribute uint64_t until_ns; }}
assembly {{
    composition {{
        component Reporter reporter;
        connection seL4SharedData of_results({ends}, to reporter.results);
    }}
    configuration {{ reporter._priority = 0; reporter.until_ns = {until}; {numbers} }}
}}
"""
    )
    lines += [
        f"DeclareCAmkESComponent(Reporter SOURCES {SOURCES}/reporter.c INCLUDES {SOURCES} {CYCLES} "
        f"C_FLAGS {flags})",
        "DeclareCAmkESRootserver(case.camkes)",
        "GenerateCAmkESRootserver()",
    ]
    (folder / "CMakeLists.txt").write_text("\n".join(lines) + "\n")


def built_and_run(setting: Setting) -> Seen:
    """Build an image, and boot it."""
    sink = Sink()
    asked = Input(path=setting.application, definitions=tuple(setting.options.items()), sdk=setting.sdk)
    with built_for_sel4(asked, None, setting.folder / "build", sink, lambda _: None) as out:
        if out is None:
            sys.exit("\n".join(line for d in sink.diagnostics for line in (d.message, *d.notes)))
        seen = _read(console(out, instruction_counting=True, shift=setting.shift, seconds=LIMIT))
    if seen is None:
        sys.exit(f"the image did not come to its end, see {setting.folder}")
    return seen


def judged(
    task: str, bound: int, release: tuple[int, int] | None, until: int, number: int, seen: Seen
) -> Iterable[TriedJob]:
    """The jobs of a task whose bounds were over at `until`, with the first release and the period; None: an
    event releases them. Jobs that were stopped before their end have no response."""
    ends = seen.ends.get(number, {})
    events = kept(seen.releases.get(number, ()), ends)
    last = max(ends, default=-1)
    for job in range(TIMES_MOST):
        if release is None and job >= len(events):
            return
        released = events[job] if release is None else release[0] + job * release[1]
        if released + bound >= until:
            return
        if job in ends or job > last:
            yield TriedJob(task, released, ends[job] - released if job in ends else None, bound)


def kept(events: Sequence[int], ends: Mapping[int, int]) -> Sequence[int]:
    """The events that release jobs, with the ends of these: while a job is under way, one is kept, and others
    are lost. All, where it is not known when a job ended."""
    if len(ends) <= max(ends, default=-1):
        return events
    found: list[int] = []
    waiting: int | None = None
    for event in events:
        while waiting is not None and ends.get(len(found) - 1, event) < event:
            found.append(waiting)  # when the job before it ends
            waiting = None
        if not found or ends.get(len(found) - 1, event) < event:
            found.append(event)
        elif waiting is None:
            waiting = event
    return found if waiting is None else [*found, waiting]


def _read(lines: Iterable[str]) -> Seen | None:
    ends: dict[int, dict[int, int]] = {}
    released: dict[int, list[int]] = {}
    clock: list[tuple[int, int]] = []
    for line in lines:
        words = line.strip().partition("bounds: ")[2].split()
        if words == ["complete"]:
            (counter, time), (later, end) = clock
            return Seen(ends, released, Fraction(later - counter, end - time))
        if not words:
            continue
        kind, *numbers = words[0], *map(int, words[1:])
        if kind == "end":
            task, job, time = numbers
            ends.setdefault(task, {})[job] = time
        elif kind == "release":
            task, time = numbers
            released.setdefault(task, []).append(time)
        else:
            counter, time = numbers
            clock.append((counter, time))
    return None
