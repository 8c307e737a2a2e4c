# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems on the seL4 kernel in QEMU, with instruction counting: each response beside its bound.

A system is analysed with the profile of the machine. Then a case in which one of its tasks responds as late
as the analysis found possible is built as an application, whose work is loops of so many instructions, and
booted. No response of any task may be above its bound; the distance is that of the task of the case. A seed
is a system: others are tried with other seeds.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/on_sel4.py [--count N] [--seed FIRST] [--platform NAME]
        [--mcs] [--profile FILE] [--unit N] [--json FILE]

Exit status 1: a response was longer than its bound, or a job did not end within it; the seeds are printed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil
from pathlib import Path

from msgspec import Struct, to_builtins
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from camkes.analysis.assignment import changed
from camkes.analysis.platform import Platform
from camkes.analysis.profiles import find_platform
from camkes.analysis.replay import releases, write_model
from camkes.analysis.simulation import Step
from camkes.analysis.supply import supply_of
from camkes.analysis.verdict import Analysis, analyse
from camkes.analysis.witness import Witness, witnesses
from camkes.analysis.workload import Workload
from camkes.backends.sel4.workspace import console, find_workspace, make
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from camkes.resources import SEL4_KERNEL
from tests.analysis.attacks import UNIT, attacked_workload
from tests.analysis.random_methods import with_methods

#: of the kernel, in nanoseconds: the length of slots is a multiple
TICK = 2_000_000

SOURCES = Path(__file__).resolve().parent / "kernel_bounds"
CYCLES = SEL4_KERNEL / "measure" / "include"


class Machine(Struct, frozen=True):
    """A platform of seL4: an instruction takes 2 to the power of `shift` nanoseconds, `profile` has what
    operations cost."""

    profile: str
    shift: int = 0

    @property
    def rate(self) -> Fraction:
        """Instructions in a nanosecond."""
        return Fraction(1, 1 << self.shift)


MACHINES = {
    "x86_64": Machine("qemu-x86_64"),
    "qemu-arm-virt": Machine("qemu-aarch64", shift=4),
    "qemu-riscv-virt": Machine("qemu-riscv64"),
}

#: nanoseconds of virtual time within which an image has booted and begun its tasks
BOOTED = 3_000_000
#: the longest case, in nanoseconds, times what an instruction takes
LONGEST = 400_000_000
#: seconds after which a run has failed
LIMIT = 300
#: instructions that a job, and a request, executes beside the work of the model: loops, and what notes times
OF_JOB, OF_EVENT, OF_REQUEST = 100, 100, 10
#: instructions by which releases that are to come after others are later
LATE = 2000
#: priorities of the model begin above the reporter's
LOWEST = 10
TASKS_MOST, TIMES_MOST = 16, 200


class Job(Struct, frozen=True):
    """A response beside its bound, in nanoseconds; None: the job had not ended when it should have."""

    task: str
    release: int
    response: int | None
    bound: int

    @property
    def above(self) -> bool:
        return self.response is None or self.response > self.bound


class Tried(Struct, frozen=True):
    """What a system did: the task whose case it was, how late that responded at most, what the analysis
    `found` possible, its bound, and the jobs of all tasks."""

    seed: int
    task: str
    response: int
    found: int
    bound: int
    jobs: int
    above: tuple[Job, ...]
    #: in slots, which begin at other times than in the case
    slots: bool = False

    @property
    def distance(self) -> float:
        """How far the bound is above what was seen, as a part of that."""
        return self.bound / self.response - 1 if self.response else 0.0


def random_workload(rng: random.Random, unit: int, domains: bool) -> Workload:
    """A system with times in units of so many nanoseconds; with `domains`, some have slots of a schedule."""
    made = attacked_workload(rng)
    if rng.random() < 0.3 and not any(cpi.lock for cpi in made.cpis):
        made = with_methods(rng, made, joined=rng.random() < 0.3)
    made = scaled(made, unit)
    return _in_slots(rng, made) if domains and rng.random() < 0.2 else made


def _in_slots(rng: random.Random, workload: Workload) -> Workload:
    """The same in the slots of a domain, which has most of the processor, with periods that are longer."""
    slots = [(1, TICK * rng.randint(2, 5)), (0, TICK * rng.randint(1, 2))] * rng.randint(1, 2)
    supply = supply_of(slots, 1)
    tasks = (
        replace(task, domain=1, period=4 * task.period, deadline=4 * task.deadline) for task in workload.tasks
    )
    cpis = (replace(cpi, domain=1) for cpi in workload.cpis)
    return replace(workload, tasks=tuple(tasks), cpis=tuple(cpis), supplies={1: supply})


def scaled(workload: Workload, unit: int) -> Workload:
    """The same with other units, and priorities above the reporter's."""

    def time(each: int) -> int:
        return each * unit // UNIT

    tasks = (
        replace(
            t,
            priority=LOWEST + t.priority,
            period=time(t.period),
            deadline=time(t.deadline),
            work=time(t.work),
        )
        for t in workload.tasks
    )
    cpis = (replace(cpi, work=time(cpi.work)) for cpi in workload.cpis)
    return changed(replace(workload, tasks=tuple(tasks), cpis=tuple(cpis)))


def with_code(workload: Workload, shift: int, rate: Fraction) -> Workload:
    """With the times of the code that is around the work, where a nanosecond is so many instructions."""

    def time(work: int, around: int) -> int:
        return ceil(((work >> shift) + around) / rate)

    def around(task: str) -> int:
        return OF_JOB + OF_EVENT * sum(other.after == task for other in workload.tasks)

    tasks = (replace(task, work=time(task.work, around(task.name))) for task in workload.tasks)
    cpis = (replace(cpi, work=time(cpi.work, OF_REQUEST)) for cpi in workload.cpis)
    return replace(workload, tasks=tuple(tasks), cpis=tuple(cpis))


def analysed(workload: Workload, shift: int, rate: Fraction, profile: Platform) -> tuple[Workload, Analysis]:
    """The analysis where a nanosecond is so many instructions."""
    coded = with_code(workload, shift, rate)
    return coded, analyse(coded, replace(profile, clock=int(rate * 1_000_000_000)))


def possible(workload: Workload, analysis: Analysis, machine: Machine) -> bool:
    """Whether an image can have it: its tasks, and its times."""
    return (
        len(workload.tasks) <= TASKS_MOST
        and any(each.response is not None for each in analysis.tasks)
        and min((c.work for c in (*workload.cpis, *workload.tasks)), default=0) >= 0
        and max(t.period for t in workload.tasks) < LONGEST << machine.shift
        and analysis.utilisation < 1
    )


def _other_domains(text: str) -> str:
    """The text of a model with domain 0 for 1, and 1 for 0."""
    slots = re.compile(r"\(([01]), (\d+ ns)\)")
    text = slots.sub(lambda found: f"({1 - int(found[1])}, {found[2]})", text)
    return text.replace("_domain = 1;", "_domain = 0;")


def write_application(workload: Workload, witness: Witness, folder: Path, machine: Machine) -> int:
    """The application of a case; returns when it is over, in nanoseconds since boot."""
    what = witness.program
    first = releases(workload, what)
    rounds = 0 if what.phase is None else 20 * what.phase.length
    until = max(first.values()) + witness.duration + rounds + (100_000 << machine.shift)
    root = write_model(workload, what, folder, task_items="dataport Buf(32768) results;")
    if what.phase is not None:  # the timer driver is in domain 0, as the tasks have to be
        root.write_text(_other_domains(root.read_text()))
    names = [task.name.replace(".", "_") for task in workload.tasks]
    declared = []
    for number, task in enumerate(workload.tasks):
        source = folder / f"{names[number].title()}.c"
        for i, other in enumerate(workload.tasks):
            if other.after == task.name:
                emit = f"{names[i]}_emit();"
                source.write_text(source.read_text().replace(emit, f"note_release({i}); {emit}"))
        declared.append(
            f"DeclareCAmkESComponent({names[number].title()} SOURCES {names[number].title()}.c "
            f"INCLUDES {SOURCES} C_FLAGS -include measured.h -DJOBS_OF={number} "
            f"-DINSTRUCTION_SHIFT={machine.shift})"
        )
    mine = {name.title() for name in names}
    for component in re.findall(r"^component (\w+)", root.read_text(), re.MULTILINE):
        if component not in mine:
            declared.append(
                f"DeclareCAmkESComponent({component} SOURCES {component}.c INCLUDES {SOURCES} "
                f"C_FLAGS -include measured.h -DINSTRUCTION_SHIFT={machine.shift})"
            )
    ends = ", ".join(f"from {name}.results" for name in names)
    (folder / "case.camkes").write_text(
        f"""import "{root.name}";
component Reporter {{ control; dataport Buf(32768) results; attribute uint64_t until_ns; }}
assembly {{
    composition {{
        component Reporter reporter;
        connection seL4SharedData of_results({ends}, to reporter.results);
    }}
    configuration {{ reporter._priority = 1; reporter.until_ns = {until}; }}
}}
"""
    )
    declared.append(
        f"DeclareCAmkESComponent(Reporter SOURCES {SOURCES}/reporter.c INCLUDES {SOURCES} {CYCLES} "
        f"C_FLAGS -include measured.h -DINSTRUCTION_SHIFT={machine.shift})"
    )
    (folder / "CMakeLists.txt").write_text(
        "\n".join(
            [
                "project(case C)",
                *declared,
                "DeclareCAmkESRootserver(case.camkes)",
                "GenerateCAmkESRootserver()",
            ]
        )
        + "\n"
    )
    return until


class Seen(Struct, frozen=True):
    """What an image printed: for each task the ends of its jobs, and of those that an event releases the
    releases, in nanoseconds; instructions in a nanosecond of its clock."""

    ends: Mapping[int, Sequence[int]]
    events: Mapping[int, Sequence[int]]
    rate: Fraction


def run(folder: Path, machine: Machine) -> Seen | None:
    """Boot an image; None where it did not come to its end."""
    times: dict[str, dict[int, list[int]]] = {"end": {}, "release": {}, "clock": {}}
    lines = console(folder, instruction_counting=True, shift=machine.shift, seconds=LIMIT)
    try:
        for line in lines:
            words = line.strip().partition("bounds: ")[2].split()
            if words == ["complete"]:
                (counter, time), (later, end) = times["clock"].items()
                rate = Fraction(later - counter, end[0] - time[0])
                return Seen(times["end"], times["release"], rate)
            if words:
                times[words[0]].setdefault(int(words[1]), []).append(int(words[2]))
    finally:
        lines.close()
    return None


def jobs(
    workload: Workload,
    witness: Witness,
    analysis: Analysis,
    until: int,
    seen: Seen,
) -> Iterable[Job]:
    """All jobs whose bounds were over before the end."""
    first = releases(workload, witness.program)
    bound_of = {each.task.name: each.response for each in analysis.tasks}
    for number, task in enumerate(workload.tasks):
        bound = bound_of[task.name]
        if bound is None:
            continue
        limit = int(bound.time)
        ended, events = seen.ends.get(number, []), seen.events.get(number, [])
        for job in range(TIMES_MOST):
            if task.after:
                if job >= len(events):
                    break
                release = events[job]
            else:
                release = first[task.name] + job * task.period
            if release + limit >= until:
                break
            response = ended[job] - release if job < len(ended) else None
            yield Job(task.name, release, response, limit)


class Setting(Struct, frozen=True):
    """Where and how systems are tried."""

    workspace: Path
    folder: Path
    platform: str
    machine: Machine
    profile: Platform
    mcs: bool
    unit: int


def attempt(seed: int, setting: Setting) -> Tried | None:
    """One system; None where an image cannot have it."""
    rng = random.Random(seed)
    machine = setting.machine
    workload = random_workload(rng, setting.unit << machine.shift, not setting.mcs)
    coded, analysis = analysed(workload, machine.shift, machine.rate, setting.profile)
    if not possible(workload, analysis, machine):
        return None
    cases = {
        name: case
        for name, case in witnesses(coded, analysis).items()
        if case.bound is not None and case.duration < LONGEST << machine.shift
    }
    if not cases:
        return None
    witness = cases[rng.choice(sorted(cases))]
    application = setting.folder / "application"
    witness = as_code(witness, workload, machine.shift)
    # the kernel executes who was woken last first, of those that the timer driver wakes one after the other
    in_order = sorted(workload.tasks, key=lambda task: task.name != witness.task)
    workload = replace(workload, tasks=tuple(in_order))
    until = write_application(workload, witness, application, machine)
    build = setting.folder / "build"
    build.mkdir(exist_ok=True)
    sink = Sink()
    options = {
        "PLATFORM": setting.platform,
        "RELEASE": "ON",
        "KernelPrinting": "ON",
        "KernelNumDomains": "1" if setting.mcs else "2",
        KERNEL_IS_MCS: "ON" if setting.mcs else "OFF",
    }
    if not make(setting.workspace, application, build, options, sink, lambda _: None):
        sys.exit("\n".join(line for d in sink.diagnostics for line in (d.message, *d.notes)))
    seen = run(build, machine)
    if seen is None:
        sys.exit(f"seed {seed}: the image did not come to its end, see {setting.folder}")
    _, exact = analysed(workload, machine.shift, seen.rate, setting.profile)
    found = list(jobs(workload, witness, exact, until, seen))
    mine = [job.response for job in found if job.task == witness.task and job.response is not None]
    (bound,) = (each.response for each in exact.tasks if each.task.name == witness.task)
    assert bound is not None
    return Tried(
        seed,
        witness.task,
        max(mine, default=0),
        witness.response,
        ceil(bound.time),
        len(found),
        tuple(job for job in found if job.above),
        bool(workload.supplies),
    )


def as_code(witness: Witness, workload: Workload, shift: int) -> Witness:
    """The case with the work alone: what operations cost, and the code around it, the image has by itself."""
    what = witness.program
    work = {each.name: each.work for each in (*workload.tasks, *workload.cpis)}

    def shorter(bodies: Mapping[str, tuple[Step, ...]]) -> dict[str, tuple[Step, ...]]:
        return {name: _shorter(body, work[name]) for name, body in bodies.items()}

    offsets = _later(what.offsets, LATE << shift)
    program = replace(what, tasks=shorter(what.tasks), cpis=shorter(what.cpis), offsets=offsets)
    return replace(witness, program=program)


def _later(offsets: Mapping[str, int], step: int) -> dict[str, int]:
    """The first releases after the system has booted. A timer is a little late, and a job takes some time to
    its first instruction: what is to find others in a section comes a `step` later for each release before
    it."""
    times = sorted(set(offsets.values()))
    found = {}
    for name, time in offsets.items():
        found[name] = BOOTED + time + step * times.index(time)
    return found


def _shorter(body: tuple[Step, ...], work: int) -> tuple[Step, ...]:
    """The body with so much work; what is too much is taken from its last pieces."""
    steps = list(body)
    much = sum(step for step in steps if isinstance(step, int)) - work
    for place, step in reversed(list(enumerate(steps))):
        if isinstance(step, int):
            less = min(step, much)
            steps[place] = step - less
            much -= less
    return tuple(step for step in steps if step != 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=20, metavar="N", help="systems (20)")
    parser.add_argument("--seed", type=int, default=0, metavar="FIRST")
    parser.add_argument("--platform", default="x86_64", choices=MACHINES, help="as seL4 names it")
    parser.add_argument("--mcs", action="store_true", help="an MCS kernel")
    parser.add_argument(
        "--profile", metavar="NAME", help="what operations cost, as of `camkes analyze --platform`"
    )
    parser.add_argument(
        "--unit", type=int, default=50_000, metavar="N", help="instructions of the shortest work"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the last build in this folder")
    given = parser.parse_args()
    sink = Sink()
    machine = MACHINES[given.platform]
    workspace = find_workspace(None, sink)
    profile = find_platform(given.profile or machine.profile, sink)
    if workspace is None or profile is None:
        sys.exit(sink.diagnostics[0].message)
    results: list[Tried] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.output or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        setting = Setting(workspace, folder, given.platform, machine, profile, given.mcs, given.unit)
        seed = given.seed
        while len(results) < given.count:
            tried = attempt(seed, setting)
            if tried is not None:
                results.append(tried)
                print(
                    f"seed {seed}: {tried.task} {tried.response}, found {tried.found}, bound {tried.bound} "
                    f"(+{tried.distance:.1%}), {tried.jobs} jobs, {len(tried.above)} above",
                    flush=True,
                )
                for job in tried.above[:3]:
                    print(f"    {job.task} released at {job.release}: {job.response}, bound {job.bound}")
            seed += 1
    above = [each.seed for each in results if each.above]
    distances = [each.distance for each in results if each.response and not each.slots]
    print(
        f"{len(results)} systems (seeds {given.seed} to {seed - 1}), {sum(r.jobs for r in results)} jobs: "
        f"{len(above)} systems above; distance: median {statistics.median(distances):.1%}, "
        f"at most {max(distances):.1%}"
    )
    if given.json is not None:
        given.json.write_text(json.dumps(to_builtins(results), indent=1) + "\n")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
