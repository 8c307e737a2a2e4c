# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems with random overruns and policies: `python -m tests.report.random_overruns --count 60`.

A system has tasks with budgets that may be too short, and CPIs, with random policies, that work for random
times; and two tasks above them all that share a CPI of their own. In every third one tasks also wait for each
other, with helpers, at semaphores and in monitors. Each is run several times, with other times of work. No
property of the protocols is broken, whatever the policies do, and the two tasks that share
nothing with the others have the same responses in every run.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from camkes.running.kinds import Kind
from tests.runtime.host import Built, Run, build, plan_of

from . import test_random_waits
from .simulator import CpiSpec, Step, TaskSpec
from .test_random_systems import PERIOD, US, fewest, random_system, text, word
from .waiting import Cpi, Task

JOBS = 6
DURATION = (JOBS + 2) * max(PERIOD, test_random_waits.PERIOD)
HIGHEST = ("x0", "x1")
SHARED = CpiSpec("shared.p", Protocol.INHERITED, (9 * US,))
POLICIES = {
    Protocol.INHERITED: ("wait", "help", "help", "extend", "abort", "suspend"),
    Protocol.PROPAGATED: ("wait", "extend", "abort", "suspend"),
    Protocol.FIXED: ("wait", "extend", "abort", "suspend"),
}


def demand(body: tuple[Step, ...], cpis: dict[str, CpiSpec]) -> int:
    """How long a body works with all that it requests, if nothing takes longer."""
    return sum(step if isinstance(step, int) else demand(cpis[step].body, cpis) for step in body)


def code(body: tuple[Step, ...], most: int) -> str:
    """Each step of work takes up to `most` times as long."""
    works = (f"camkes_work_between({s}, {most * s});" if isinstance(s, int) else "" for s in body)
    steps = (f"{word(s)}_go();" if isinstance(s, str) else "" for s in body)
    return "\n".join(work or step for work, step in zip(works, steps, strict=True))


def random_time(
    rng: random.Random, demands: dict[str, int], cpis: dict[str, Protocol], period: int, kind: str = ""
) -> tuple[str, list[str]]:
    """Settings of budgets and policies of tasks that work for so long, and of CPIs; the policies that are in
    the system, with the `kind` of it."""
    lines, policies = [], []
    for name, length in demands.items():
        budget = max(20 * US, length * rng.choice([40, 70, 100, 130]) // 100)
        policy = rng.choice(["wait", "wait", "stop", "extend"])
        extension = f"{name}._extension = {budget} ns; {name}._extension_period = {period} ns;"
        server = rng.choice(["sporadic", "constant_bandwidth"])
        lines.append(f'{name}._budget = {budget} ns; {name}._overrun = "{policy}";')
        lines.append(f'{name}._server = "{server}"; {extension if policy == "extend" else ""}')
        policies.append(f"{kind}task {policy}")
    for name, protocol in cpis.items():
        policy = rng.choice(POLICIES[protocol])
        lines.append(f'{name}_overrun = "{policy}";')
        if policy == "extend" or (policy in ("abort", "suspend") and rng.random() < 0.5):
            lines.append(
                f"{name}_extension = {rng.randint(20, 60)} us; {name}_extension_period = {period} ns;"
            )
        policies.append(f"{kind}{protocol.value} {policy}")
    return "\n".join(lines), policies


def configured(text: str, settings: str) -> str:
    return text.replace("} configuration {", "} configuration {" + settings)


def rollback(rng: random.Random, interface: str) -> str:
    return f"void {interface}__rollback(void)\n{{\ncamkes_work({rng.randint(0, 9) * US});\n}}\n"


class Made(NamedTuple):
    """`policies` are those that are in the system."""

    text: str
    sources: dict[str, str]
    policies: list[str]


def make_waiting(seed: int) -> Made:
    """A system of tasks that wait for each other."""
    rng = random.Random(seed)
    tasks, cpis, stores = test_random_waits.random_system(seed)
    protocols = {cpi.name: Protocol.INHERITED if cpi.lock else Protocol.PROPAGATED for cpi in cpis}
    demands = {task.name: test_random_waits.demand(task.body, cpis) for task in tasks}
    settings, policies = random_time(rng, demands, protocols, test_random_waits.PERIOD, "waits: ")
    body = (("work", "", 4 * US), ("call", SHARED.name, 0), ("work", "", 2 * US))
    above = [Task(name, 200 + i, ((37 + 5 * (1 - i)) * US,), body) for i, name in enumerate(HIGHEST)]
    shared = Cpi(SHARED.name, SHARED.name, (("work", "", 9 * US),))

    def work(name: str) -> str:
        fixed = name in HIGHEST or name == SHARED.name.partition(".")[0]
        return "camkes_work({n});" if fixed else "camkes_work_between({n}, 3 * {n});"

    system = ([*tasks, *above], [*cpis, shared], stores)
    text, sources = test_random_waits.written(system, JOBS, work)
    for cpi in cpis:
        name, interface = cpi.name.split(".")
        sources[name.title()] += rollback(rng, interface)
    return Made(configured(text, settings), sources, policies)


def waits(seed: int) -> bool:
    """Whether tasks of a system wait for each other."""
    return seed % 3 == 2


def written(seed: int, folder: Path) -> Made:
    """A system; the folder is used to plan it."""
    if waits(seed):
        return make_waiting(seed)
    rng = random.Random(seed)
    tasks, chosen = random_system(seed)
    cpis = {cpi.name: cpi for cpi in chosen}
    demands = {task.name: demand(task.body, cpis) for task in tasks}
    protocols = {name: cpi.protocol for name, cpi in cpis.items()}
    settings, policies = random_time(rng, demands, protocols, PERIOD)
    above = [
        TaskSpec(name, 200 + i, ((37 + 5 * (1 - i)) * US,), (4 * US, SHARED.name, 2 * US), PERIOD)
        for i, name in enumerate(HIGHEST)
    ]
    everything, all_cpis = [*tasks, *above], [*chosen, SHARED]

    threads = {}
    if seed % 2:
        threads = fewest(plan_of(folder / "plan", text(everything, all_cpis, {}), Sink())[1])
    loop = f"for (int job = 0; job < {JOBS} && camkes_next_job(); job++) {{"
    sources = {
        task.name.title(): f"int run(void)\n{{\n{loop}\n{code(task.body, 1 if task in above else 3)}\n}}\n"
        "return 0;\n}\n"
        for task in everything
    }
    for cpi in all_cpis:
        body = code(cpi.body, 1 if cpi is SHARED else 4)
        sources[cpi.name.split(".")[0].title()] = f"void p_go(void)\n{{\n{body}\n}}\n{rollback(rng, 'p')}"
    return Made(configured(text(everything, all_cpis, threads), settings), sources, policies)


def make(seed: int, folder: Path) -> tuple[Built, list[str]]:
    made = written(seed, folder)
    return build(folder, made.text, made.sources, mcs=True), made.policies


def responses(run: Run) -> list[list[int]]:
    """Of the two tasks that share nothing with the others."""
    return [[end.time - end.args[1] for end in run.of(Kind.JOB_END, name)] for name in HIGHEST]


def problems(built: Built, runs: int) -> tuple[list[str], Counter[str]]:
    """What is wrong in some runs; how often what happened."""
    found: list[str] = []
    happened: Counter[str] = Counter()
    expected: list[list[int]] = []
    for number in range(1, runs + 1):
        run = built.run("--fast", "--choices", f"random:{number}", duration=DURATION)
        found += [f"run {number}: {violation}" for violation in run.violations()]
        if run.status or run.of(Kind.FAULT):
            found.append(f"run {number} ends with {run.status}: {run.errors[-300:]}")
        expected = expected or responses(run)
        if responses(run) != expected or not all(expected):
            found.append(f"run {number}: responses are {responses(run)} and not {expected}")
        happened.update(
            event.kind.name for event in run.events if event.kind in (Kind.TIMEOUT, Kind.JOB_STOP)
        )
    return found, happened


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=60, help="systems")
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--runs", type=int, default=6, help="of each system")
    options = parser.parse_args()
    wrong, total, policies = 0, Counter[str](), Counter[str]()
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory() as folder:
            built, used = make(seed, Path(folder))
            found, happened = problems(built, options.runs)
        total += happened
        policies.update(used)
        wrong += bool(found)
        for line in found[:3]:
            print(f"{seed}: {line}", flush=True)
    print(
        f"{options.count} systems, {options.count * options.runs} runs, {wrong} with problems; {dict(total)}"
    )
    print(dict(sorted(policies.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
