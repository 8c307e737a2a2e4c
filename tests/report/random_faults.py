# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems with one random fault each: `python -m tests.report.random_faults --count 1000 --seed 1`.

A system has two groups of tasks and CPIs that share nothing with each other. It is run without the fault and
with it. Then all outputs of a run agree, every release is accounted for, the fault is placed at its line, no
property of the protocols is broken, and a task of a higher priority than all that share something with the
faulty component has the same responses as without the fault.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from camkes import pipeline
from camkes.capdl.uses import CpiRequest
from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from camkes.outcome import Outcome
from tests.runtime.host import HEAD, plan_of

from .compare import compare_outputs
from .simulator import CpiSpec, Step, TaskSpec, requested
from .test_random_systems import PERIOD, US, text, uses, word

DURATION = 4 * PERIOD + 1
MARK = "// FAULT"
KINDS = {
    "null": "*(volatile int *)8 = 1;",
    "abort": "abort();",
    "division": "zero = 7 / zero;",
    "exit": "exit(3);",
    "circle": "for (;;) { }",
    "count": "for (volatile long i = 0;; i++) { }",
    "malformed": "(void)seL4_Call(SLOT, seL4_MessageInfo_new(LABEL, 0, 0, WORDS));",
    "return": "return 0;",
}
#: which stop the thread that gets there
STOPPING = ("null", "abort", "division", "exit", "count")


@dataclass(frozen=True)
class Group:
    tasks: tuple[TaskSpec, ...]
    cpis: tuple[CpiSpec, ...]

    def members(self) -> list[str]:
        return [*(t.name for t in self.tasks), *(c.name.partition(".")[0] for c in self.cpis)]


@dataclass(frozen=True)
class Fault:
    """`code` is put before step `place` of the component's code, when it gets there for the `time`th time."""

    component: str
    kind: str
    place: int
    time: int
    code: str


def random_group(rng: random.Random, letter: str, priorities: list[int], cpis: int) -> Group:
    """A task for each priority, which request `cpis` CPIs of any protocol, nested in any way but a cycle."""
    names = [f"{letter}{i}.p" for i in range(cpis)]
    made: dict[str, CpiSpec] = {}
    for i, name in enumerate(names):
        # a fixed CPI requests no lock that others have, so that the checks allow it
        kinds = [Protocol.INHERITED, Protocol.INHERITED, Protocol.PROPAGATED]
        later = names[i + 1 :]
        body: list[Step] = [rng.randint(4, 30) * US]
        for callee in rng.sample(later, rng.randint(0, min(2, len(later)))):
            body += [callee, rng.randint(1, 5) * US]
        made[name] = CpiSpec(name, rng.choice(kinds if later else [*kinds, Protocol.FIXED]), tuple(body))
    tasks = []
    for i, priority in enumerate(priorities):
        steps: list[Step] = [rng.randint(1, 9) * US]
        for name in rng.sample(names, rng.randint(min(1, len(names)), min(2, len(names)))):
            steps += [name, rng.randint(1, 9) * US]
        release = rng.randint(1, 60) * US + 13 * i
        tasks.append(TaskSpec(f"{letter}t{i}", priority, (release,), tuple(steps), PERIOD))
    used = requested(tasks, made)
    return Group(tuple(tasks), tuple(cpi for name, cpi in made.items() if name in used))


def random_groups(rng: random.Random) -> tuple[Group, Group]:
    priorities = sorted(rng.sample(range(10, 200), 5))
    above = rng.randint(1, 2)
    low = random_group(rng, "l", priorities[: rng.randint(1, 5 - above)], rng.randint(1, 3))
    return random_group(rng, "h", priorities[-above:], rng.randint(0, 2)), low


def random_fault(rng: random.Random, groups: tuple[Group, Group], folder: Path) -> Fault:
    bodies = {
        t.name: t.body for g in groups for t in g.tasks
    } | {c.name.partition(".")[0]: c.body for g in groups for c in g.cpis}  # fmt: skip
    component = rng.choice(sorted(bodies))
    is_task = any(t.name == component for g in groups for t in g.tasks)
    callees = uses(bodies[component])
    kinds = [k for k in KINDS if k not in ("malformed", "return") or is_task]
    kind = rng.choice([k for k in kinds if k != "malformed" or callees])
    code = KINDS[kind]
    if kind == "malformed":
        _, _, model = plan_of(folder / "plan", whole(groups), Sink())
        slot = model.slots[CpiRequest(component, word(rng.choice(callees)), component)]
        label = rng.choice([0, 255, 0xFFFFF, 1 << 40])
        code = code.replace("SLOT", str(slot)).replace("LABEL", f"{label}ul")
        code = code.replace("WORDS", str(rng.choice([0, 1, 100])))
    return Fault(component, kind, rng.randint(0, len(bodies[component]) - 1), rng.randint(1, 3), code)


def whole(groups: tuple[Group, Group]) -> str:
    tasks = [t for g in groups for t in g.tasks]
    return text(tasks, [c for g in groups for c in g.cpis], {})


def write(folder: Path, groups: tuple[Group, Group], fault: Fault | None) -> None:
    """The files of the system as a user would write them."""

    def steps(component: str, body: tuple[Step, ...]) -> str:
        lines = []
        for place, step in enumerate(body):
            if fault is not None and (fault.component, fault.place) == (component, place):
                lines.append(f"static int times; if (++times == {fault.time}) {{")
                lines += [f"    {fault.code} {MARK}", "}"]
            lines.append(f"camkes_work({step});" if isinstance(step, int) else f"{word(step)}_go();")
        return "\n".join(lines)

    def put(component: str, code: str) -> None:
        head = "#include <camkes.h>\n#include <stdlib.h>\nstatic volatile int zero;\nint touch(void);\n"
        path = folder / f"{component.title()}.c"
        path.write_text(f"{head}int touch(void) {{ return zero; }}\n{code}\n")

    (folder / "system.camkes").write_text(HEAD + whole(groups))
    for group in groups:
        for task in group.tasks:
            loop = f"while (camkes_next_job()) {{\n{steps(task.name, task.body)}\n}}"
            put(task.name, f"int run(void)\n{{\n{loop}\nreturn 0;\n}}")
        for cpi in group.cpis:
            name = cpi.name.partition(".")[0]
            put(name, f"void p_go(void)\n{{\n{steps(name, cpi.body)}\n}}")


def run(folder: Path) -> tuple[Outcome, Sink]:
    sink = Sink()
    options = pipeline.RunSettings(
        output=folder / "out", duration=DURATION, fast=True, verify=True, loop_limit_ms=100
    )
    outcome = pipeline.run(pipeline.Input(folder / "system.camkes"), options, sink, lambda _: None)
    assert outcome is not None, [d.message for d in sink.diagnostics]
    return outcome, sink


def mistakes(seed: int, folder: Path) -> tuple[str, list[str]]:
    """What the system of a seed is, and everything that is wrong with the outputs of its runs."""
    rng = random.Random(seed)
    groups = random_groups(rng)
    fault = random_fault(rng, groups, folder)
    write(folder, groups, None)
    good, _ = run(folder)
    write(folder, groups, fault)
    bad, sink = run(folder)
    about = f"seed {seed}: {fault.kind} in {fault.component}, step {fault.place}, time {fault.time}"
    about += f"; {len(bad.faults)} faults, {len(bad.run.situation.waits)} wait"
    found = [*_wrong_anywhere("without the fault", groups, good), *_wrong_anywhere("with it", groups, bad)]
    if good.faults or good.violations or good.run.situation.waits:
        found.append(f"without a fault: {good.faults} {good.violations} {good.run.situation.waits}")
    found += [f"with the fault: {violation}" for violation in bad.violations]
    found += _wrong_place(folder, fault, bad, sink)
    found += _wrong_others(groups, fault, good, bad)
    return about, found


def _wrong_anywhere(when: str, groups: tuple[Group, Group], outcome: Outcome) -> Iterator[str]:
    try:
        compare_outputs(outcome)
    except AssertionError as error:
        yield f"{when}: {error}"
    report = json.loads(outcome.report_json())
    tasks = {task["name"]: task for task in report["tasks"]}
    for task in (t for g in groups for t in g.tasks):
        released = 1 + (outcome.run.end - task.releases[0]) // PERIOD
        reported, jobs = tasks[task.name], tasks[task.name]["job_list"]
        # a task that has returned is released no more
        ended = any(
            t.named.name == task.name and t.segments[-1].state == "ended" for t in outcome.run.threads
        )
        if len(jobs) > released or (len(jobs) < released and not ended):
            yield f"{when}: {task.name} was released {released} times, {len(jobs)} jobs are reported"
        complete = sum(job["end"] is not None for job in jobs)
        if reported["released"] != len(jobs) or reported["completed"] != complete:
            yield f"{when}: {task.name}: {reported['released']} released, {reported['completed']} completed"
        unfinished = [job for job in jobs if job["end"] is None]
        overdue = sum(job["missed"] for job in unfinished)
        if reported["completed"] + reported["open"] + overdue != reported["released"]:
            yield f"{when}: {task.name}: jobs are lost: {reported}"


def _wrong_place(folder: Path, fault: Fault, bad: Outcome, sink: Sink) -> Iterator[str]:
    """A fault that happened is reported at its line."""
    path = folder / f"{fault.component.title()}.c"
    lines = path.read_text().splitlines()
    marked = next(n for n, line in enumerate(lines, 1) if MARK in line)
    reported = [d for d in sink.diagnostics if d.code.number == "E0729"]
    for located in bad.faults:
        if located.fault.component != fault.component:
            yield f"{located.fault.component} has a fault: {located.fault.what}"
    for diagnostic in reported:
        if fault.kind not in STOPPING and fault.kind != "circle":
            yield f"{diagnostic.message}: no fault was expected"
        elif diagnostic.span is None or diagnostic.span.line != marked:
            line = diagnostic.span and diagnostic.span.line
            yield f"{diagnostic.message}: reported at {line}, not {marked}"
        elif not any(re.match(r"at [\d.]+ [mun]?s of the run", note) for note in diagnostic.notes):
            yield f"{diagnostic.message}: does not say when"


def _wrong_others(groups: tuple[Group, Group], fault: Fault, good: Outcome, bad: Outcome) -> Iterator[str]:
    """Tasks above all that share something with the faulty component go on as if nothing was."""
    (faulty,) = [g for g in groups if fault.component in g.members()]
    (other,) = [g for g in groups if g is not faulty]
    highest = max(task.priority for task in faulty.tasks)

    def responses(outcome: Outcome, name: str) -> list[int | None]:
        (lane,) = [lane for lane in outcome.run.tasks if lane.task.name == name]
        return [job.response for job in lane.jobs]

    for task in other.tasks:
        if task.priority > highest and responses(good, task.name) != responses(bad, task.name):
            yield f"{task.name}: {responses(bad, task.name)} instead of {responses(good, task.name)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="name every system")
    arguments = parser.parse_args()
    wrong = 0
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        with tempfile.TemporaryDirectory() as folder:
            about, found = mistakes(seed, Path(folder))
        if arguments.verbose and not found:
            print(about, flush=True)
        if found:
            wrong += 1
            print("\n  ".join([about, *found]), flush=True)
    print(f"{arguments.count} systems, {wrong} with mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
