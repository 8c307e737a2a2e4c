# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems with waits, budgets that end, overrun policies, pools, groups, monitors, or bands, as their
tests for the host kernel make them, in images whose work is loops of so many instructions."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Mapping
from math import ceil
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from benchmarks.kernel_bounds.image import (
    OF_EVENT,
    OF_JOB,
    OF_REQUEST,
    TASK_ITEMS,
    MeasuredTask,
    Setting,
    Tried,
    TriedJob,
    built_and_run,
    judged,
    write_measured,
)
from camkes.analysis.platform import Platform
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import workload_of
from camkes.diagnostics import Sink
from camkes.pipeline import Checked
from tests.analysis.budget_attacks import bounds_of, pools, written
from tests.analysis.random_budgets import Attack, attack, banded
from tests.analysis.test_random_conditions import random_system
from tests.runtime.host import checked

#: nanoseconds since boot, times what an instruction takes, after which tasks are released
BOOTED = 3_000_000
#: how long a system executes at most, in nanoseconds, times what an instruction takes
LONGEST = 300_000_000
#: instructions that budgets and periods have in addition, for the code around the work, or also operations
AROUND = (1000, 10_000, 30_000)


class AttackedSystem(Struct, frozen=True):
    """A system as text, the code of its components, and its tasks."""

    text: str
    sources: Mapping[str, str]
    tasks: tuple[MeasuredTask, ...]
    #: what has bounds of budgets
    budgets: Attack | None = None


def scaled_text(text: str, shift: int, around: int) -> str:
    """With times as long as the instructions take; releases come after boot, execution times have the code
    around the work, and budgets and periods so many instructions more."""

    def longer(found: re.Match[str]) -> str:
        name, number, unit = found[1], int(found[2]), 1_000_000 if found[3] == "ms" else 1
        time = number * unit << shift
        if name.endswith("_offset"):
            time += BOOTED << shift
        elif name.startswith("_wcet"):
            time += (OF_JOB + OF_EVENT) << shift
        elif re.search(r"_wcet|_within", name):
            time += 5 * OF_REQUEST << shift
        elif re.search(r"_budget|_extension$|_period", name):
            time += around << shift
        return f"{name} = {time} ns;"

    return re.sub(r"(\w+) = (\d+) (ns|ms);", longer, text)


def conditions(seed: int, setting: Setting) -> AttackedSystem:
    """Clients of a server, which wait for it with helpers."""
    root = random_system(random.Random(seed), setting.application)
    text = root.read_text().partition("\n")[2]
    sources = {path.stem: path.read_text() for path in setting.application.glob("*.c")}
    clients = re.findall(r"component Client (c\d+);", text)
    tasks = [*(MeasuredTask(name, "Client") for name in clients), MeasuredTask("other", "Other")]
    return AttackedSystem(text, sources, tuple(tasks))


def budgets(seed: int, setting: Setting) -> AttackedSystem | None:
    """Budgets of both kinds, some too short, with policies, criticalities that nothing sets, monitors,
    events, waits; in every second one, CPIs have as few threads as suffice."""
    system = attack(seed, wide=True)
    return None if system.critical else _of_attack(system)


def bands(seed: int, setting: Setting) -> AttackedSystem | None:
    """A component orders some of the tasks by their deadlines."""
    return _of_attack(banded(seed))


def _of_attack(system: Attack, threads: Mapping[str, int] = MappingProxyType({})) -> AttackedSystem:
    text, sources = written(system, threads)
    tasks = [
        MeasuredTask(f"{task.group}.{task.name}" if task.group else task.name, task.name.title(), task.after)
        for task in system.tasks
    ]
    headed = {name: f"#include <camkes.h>\n{code}" for name, code in sources.items()}
    return AttackedSystem(text, headed, tuple(tasks), system)


KINDS = {"conditions": conditions, "budgets": budgets, "bands": bands}


def _bounds(made: AttackedSystem, found: Checked, profile: Platform) -> Mapping[str, int]:
    """For tasks that have one, in nanoseconds."""
    if made.budgets is not None and not made.budgets.band:
        bounds = bounds_of(made.budgets, found, profile)
        return {name: ceil(bound) for (name, _), (_, bound) in bounds.items()}
    results = analyse(workload_of(found.system, found.plan), profile).tasks
    return {each.task.name: ceil(each.response.time) for each in results if each.response is not None}


def try_attack(kind: str, seed: int, setting: Setting) -> Tried | None:
    """One system; None where an image cannot have it, or no task has a bound."""
    shift = setting.shift
    shutil.rmtree(setting.application, ignore_errors=True)
    made = KINDS[kind](seed, setting)
    if made is None:
        return None
    around = random.Random(seed).choice(AROUND)

    def planned(system: AttackedSystem) -> Checked:
        text = scaled_text(system.text, shift, around)
        return checked(setting.application, text, Sink(), mcs=setting.mcs)

    try:
        found = planned(made)
        if made.budgets is not None and not made.budgets.band and made.budgets.kind % 2:
            made = _of_attack(made.budgets, pools(made.budgets, found))
            found = planned(made)
    except AssertionError:  # the budget of a CPI is shorter than a request, or the like
        return None
    profile = replace(setting.profile, clock=int(setting.rate * 1_000_000_000))
    if not _bounds(made, found, profile):
        return None
    root = setting.application / "system.camkes"
    text = root.read_text()
    for component in {task.component for task in made.tasks}:
        text = re.sub(rf"component {component} *\{{", rf"\g<0> {TASK_ITEMS}", text)
    root.write_text(text)
    for name, code in made.sources.items():
        (setting.application / f"{name}.c").write_text(code)
    released = {task.instance: task for task in found.system.tasks}
    longest = max(task.period or 0 for task in released.values())
    until = (BOOTED << shift) + min(20 * longest, LONGEST << shift)
    # times in the text are as long as the instructions in the code take
    write_measured(root, made.tasks, until, shift=0, flags="-DSHORTER=9")
    seen = built_and_run(setting)
    bounds = _bounds(made, found, replace(profile, clock=int(seen.rate * 1_000_000_000)))
    jobs: list[TriedJob] = []
    for number, measured in enumerate(made.tasks):
        if measured.instance in bounds:
            task = released[measured.instance]
            release = None if measured.after else (task.offset, task.period or 0)
            jobs += judged(measured.instance, bounds[measured.instance], release, until, number, seen)
    if not jobs:
        return None  # the bounds are longer than the run
    ended = [(job.response / job.bound, job.task, job.response) for job in jobs if job.response is not None]
    _, name, response = max(ended, default=(0, next(iter(bounds)), 0))
    above = tuple(job for job in jobs if job.above)
    return Tried(seed, name, response, 0, bounds[name], len(jobs), above)
