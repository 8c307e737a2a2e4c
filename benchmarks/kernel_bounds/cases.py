# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Worst cases: a random system is analysed, and a case in which one of its tasks responds as late as the
analysis found possible is built as an application, whose work is loops of so many instructions."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from msgspec import convert, to_builtins
from msgspec.structs import replace

from benchmarks.kernel_bounds.image import (
    OF_EVENT,
    OF_JOB,
    OF_REQUEST,
    TASK_ITEMS,
    TASKS_MOST,
    MeasuredTask,
    Seen,
    Setting,
    Tried,
    TriedJob,
    built_and_run,
    judged,
    write_measured,
)
from camkes.analysis.assignment import changed
from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE, Platform
from camkes.analysis.replay import releases, write_model
from camkes.analysis.simulation import Step
from camkes.analysis.supply import supply_of
from camkes.analysis.verdict import Analysis, analyse
from camkes.analysis.witness import Witness, witnesses
from camkes.analysis.workload import Workload, with_emissions
from camkes.diagnostics import Sink
from camkes.pipeline import Input, RunSettings, run
from tests.analysis.attacks import UNIT, attacked_workload
from tests.analysis.pools import with_managers, with_pools
from tests.analysis.random_methods import with_methods

#: parts of the times of a profile that operations take on the host kernel; the last is the whole
PARTS = (Fraction(1, 2), Fraction(3, 4), Fraction(1))
#: the part with which a case is searched for on an MCS kernel: most operations take less than the profile
#: says, there by more, and then a job has ended when another one is released shortly before its end
PART_WITH_MCS = Fraction(1, 2)
#: the tables of a profile for what threads do
OPERATIONS = ("plain", "fixed", "propagated", "inherited", "timer", "event")
#: of the kernel, in nanoseconds: the length of slots is a multiple
TICK = 2_000_000

#: nanoseconds of virtual time within which an image has booted and begun its tasks
BOOTED = 3_000_000
#: the longest case, in nanoseconds, times what an instruction takes
LONGEST = 400_000_000
#: instructions by which releases that are to come after others are later
LATE = 2000
#: priorities of the model begin above the reporter's
LOWEST = 10
#: effort of the search for a case of one task, as of `witnesses`
SEARCHED = 200_000


def random_workload(rng: random.Random, unit: int, domains: bool) -> Workload:
    """A system with times in units of so many nanoseconds; with `domains`, some have slots of a schedule."""
    made = attacked_workload(rng)
    if rng.random() < 0.3 and not any(cpi.lock for cpi in made.cpis):
        made = with_methods(rng, made, joined=rng.random() < 0.3)
    made = with_emissions(scaled(made, unit))
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


def buildable(workload: Workload, shift: int) -> bool:
    """Whether an image can have its tasks and times, where an instruction takes 2 to the power of `shift`
    nanoseconds."""
    needed = demands(workload, FREE).of_task
    return (
        len(workload.tasks) <= TASKS_MOST
        and min((c.work for c in (*workload.cpis, *workload.tasks)), default=0) >= 0
        and max(t.period for t in workload.tasks) < LONGEST << shift
        and sum(Fraction(needed[t.name].total) / t.period for t in workload.tasks) < 1
    )


def _other_domains(text: str) -> str:
    """The text of a model with domain 0 for 1, and 1 for 0."""
    slots = re.compile(r"\(([01]), (\d+ ns)\)")
    text = slots.sub(lambda found: f"({1 - int(found[1])}, {found[2]})", text)
    return text.replace("_domain = 1;", "_domain = 0;")


def write_application(workload: Workload, witness: Witness, setting: Setting, late: int) -> int:
    """The application of a case, whose bound is so `late` after it; returns when all is over, in nanoseconds
    since boot."""
    what = witness.program
    first = releases(workload, what)
    rounds = 0 if what.phase is None else 20 * what.phase.length
    margin = late + (100_000 << setting.shift)
    until = max(first.values()) + witness.duration + rounds + margin
    root = write_model(workload, what, setting.application, task_items=TASK_ITEMS)
    if what.phase is not None:  # the timer driver is in domain 0, as the tasks have to be
        root.write_text(_other_domains(root.read_text()))
    instance = {task.name: task.name.replace(".", "_") for task in workload.tasks}
    tasks = [
        MeasuredTask(instance[task.name], instance[task.name].title(), instance.get(task.after, ""))
        for task in workload.tasks
    ]
    write_measured(root, tasks, until, shift=setting.shift)
    return until


def _jobs(
    workload: Workload, witness: Witness, analysis: Analysis, until: int, seen: Seen
) -> Iterable[TriedJob]:
    """All jobs whose bounds were over before the end."""
    first = releases(workload, witness.program)
    bound_of = {each.task.name: each.response for each in analysis.tasks}
    for number, task in enumerate(workload.tasks):
        bound = bound_of[task.name]
        if bound is not None:
            release = None if task.after else (first[task.name], task.period)
            yield from judged(task.name, int(bound.time), release, until, number, seen)


def try_case(seed: int, setting: Setting) -> Tried | None:
    """One system, some with as few threads as suffice; None where an image cannot have it."""
    rng = random.Random(seed)
    shift = setting.shift
    workload = random_workload(rng, setting.unit << shift, not setting.mcs)
    if setting.host:
        workload = without_equals(workload)
    if not buildable(workload, shift):
        return None
    if rng.random() < 0.3:
        workload = with_pools(workload, setting.application)
    if setting.mcs:
        workload = with_managers(workload, setting.application)
    coded, analysis = analysed(workload, shift, setting.rate, setting.profile)
    if analysis.utilisation >= 1 or all(each.response is None for each in analysis.tasks):
        return None
    one = rng.choice([each for each in analysis.tasks if each.response is not None])
    if setting.mcs:
        shorter = _shorter_operations(setting.profile, PART_WITH_MCS)
        coded, analysis = analysed(workload, shift, setting.rate, shorter)
    tried = tuple(each for each in analysis.tasks if each.task.name == one.task.name)
    (witness,) = witnesses(coded, replace(analysis, tasks=tried), SEARCHED).values()
    if witness.duration >= LONGEST << shift:
        return None
    witness = as_code(witness, workload, shift)
    # the kernel executes who was woken last first, of those that the timer driver wakes one after the other
    in_order = sorted(workload.tasks, key=lambda task: task.name != witness.task)
    workload = replace(workload, tasks=tuple(in_order))
    late = ceil(one.response.time) - witness.response
    until = write_application(workload, witness, setting, late)
    seen = built_and_run(setting)
    _, exact = analysed(workload, shift, seen.rate, setting.profile)
    (bound,) = (each.response for each in exact.tasks if each.task.name == witness.task)
    if bound is None:  # overload, at the rate that was measured
        return None
    exchanged, sure = None, False
    if setting.host and not workload.supplies:
        exchanged, sure = _exchanged(workload, witness, until, seen, setting)
    found = list(_jobs(workload, witness, exact, until, seen))
    mine = [job.response for job in found if job.task == witness.task and job.response is not None]
    return Tried(
        seed,
        witness.task,
        max(mine, default=0),
        witness.response,
        ceil(bound.time),
        len(found),
        tuple(job for job in found if job.above),
        bool(workload.supplies),
        exchanged,
        sure,
    )


def without_equals(workload: Workload) -> Workload:
    """With another priority for each task: the kernels have different orders of equal ones."""
    order = sorted(workload.tasks, key=lambda task: (task.priority, task.name))
    tasks = [replace(task, priority=LOWEST + order.index(task)) for task in workload.tasks]
    return changed(replace(workload, tasks=tuple(tasks)))


def _exchanged(
    workload: Workload, witness: Witness, until: int, seen: Seen, setting: Setting
) -> tuple[int, bool]:
    """Of jobs that end in the other order on the host kernel, with the times of the profile, how far apart
    two of them end there, at most; and whether they end in the same order there if operations take less."""
    ends = [_host_ends(workload, witness, until, seen, setting, part) for part in PARTS]
    orders = [[job for _, job in each] for each in ends]
    on_kernel = [(end, seen.ends[task][job]) for end, (task, job) in ends[-1]]
    found = 0
    for first, (end, kernel) in enumerate(on_kernel):
        for later, earlier in on_kernel[first + 1 :]:
            if earlier < kernel:
                found = max(found, later - end)
    return found, all(order == orders[-1] for order in orders)


def _host_ends(
    workload: Workload, witness: Witness, until: int, seen: Seen, setting: Setting, part: Fraction
) -> list[tuple[int, tuple[int, int]]]:
    """When jobs end on the host kernel that ended on seL4, too, by the numbers of tasks and jobs, in order,
    where operations take a `part` of the times of the profile."""
    folder = setting.folder / "host"
    shutil.rmtree(folder, ignore_errors=True)
    root = write_model(workload, witness.program, folder)
    if witness.program.phase is not None:
        root.write_text(_other_domains(root.read_text()))
    (folder / "part.toml").write_text(_text_of(_shorter_operations(setting.profile, part)))
    settings = RunSettings(
        output=folder / "build", duration=until, fast=True, cost_profile=str(folder / "part.toml")
    )
    outcome = run(Input(root, preprocess=False), settings, sink := Sink(), lambda _: None)
    assert outcome is not None, sink.diagnostics[0].message
    number = {task.name.replace(".", "_"): index for index, task in enumerate(workload.tasks)}
    return sorted(
        (job.end, (task, index))
        for lane in outcome.run.tasks
        for task in (number[lane.task.name],)
        for index, job in enumerate(lane.jobs)
        if job.end is not None and index in seen.ends.get(task, {})
    )


def _shorter_operations(profile: Platform, part: Fraction) -> Platform:
    """The profile with a part of the times of operations."""

    def shorter(costs: Mapping[str, Any]) -> dict[str, Any]:
        return {name: int(n * part) if isinstance(n, int) else shorter(n) for name, n in costs.items()}

    costs = to_builtins(profile)
    changed = {table: shorter(costs[table]) for table in OPERATIONS}
    return convert({**costs, **changed}, Platform)


def _text_of(profile: Platform) -> str:
    """The file of a profile with what a run has costs for."""
    costs = to_builtins(profile)
    lines = [f"clock = {profile.clock}"]
    for table in OPERATIONS:
        cycles = {name: n for name, n in costs[table].items() if isinstance(n, int)}
        lines += [f"[{table}]", *(f"{name} = {n}" for name, n in cycles.items())]
    return "\n".join([*lines, ""])


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
