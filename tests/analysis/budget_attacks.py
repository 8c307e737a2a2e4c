# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Looks for a response above its bound in random systems for an MCS kernel, run on the host kernel: CPIs of
all protocols nested in each other, with all overrun policies; tasks with budgets of both kinds, some too
short, with policies of their own; criticalities; some in one address space. In every second system, tasks do
not keep their execution times and make more requests than stated: the others must be isolated from them.

    python -m tests.analysis.budget_attacks [--count SYSTEMS] [--seed FIRST] [--runs RUNS]
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.budgets import Bounded, budget_results
from camkes.analysis.criticality import level_results
from camkes.analysis.platform import FREE
from camkes.model.protocols import Protocol
from camkes.report.trace.decode import decode
from tests.report.random_overruns import POLICIES
from tests.runtime.host import Built, Run, build

UNIT = 50_000
#: how many systems are nearly alike
VARIANTS = 4
#: how often tasks that are not trusted do what they do
GREED = 3
#: which jobs of critical tasks do more than others
LONGER = 5

#: work of so many units, or a request
Step = int | str


class Part(Struct, frozen=True):
    """A task or CPI: what it does, and settings."""

    name: str
    body: tuple[Step, ...]
    settings: Mapping[str, str]
    clauses: str = ""
    greedy: bool = False
    group: str = ""
    #: how often a critical task does its own work in some of its jobs
    more: int = 1


class Attack(Struct, frozen=True):
    """A system of tasks that have criticalities or not. Jobs can need what they need at the criticality
    `reached` also before a budget is used up, because budgets are longer."""

    tasks: tuple[Part, ...]
    cpis: tuple[Part, ...]
    critical: bool
    reached: int

    @property
    def trusted(self) -> bool:
        return not any(task.greedy for task in self.tasks)


def attack(seed: int) -> Attack:
    """VARIANTS systems that follow each other have the same components, protocols, priorities and policies:
    then little is compiled anew. Periods, budgets, servers and first releases are others."""
    rng = random.Random(seed // VARIANTS)
    names = [f"c{index}" for index in range(rng.randint(1, 4))]
    grouped = rng.random() < 0.3
    critical = rng.random() < 0.3
    groups = ("", "g0", "g1") if grouped else ("",)
    cpis: list[Part] = []
    demand: dict[str, int] = {}
    likely = rng.choice((tuple(Protocol), tuple(Protocol), (Protocol.INHERITED,)))
    for index in reversed(range(len(names))):
        body = _body(rng, names[index + 1 :], 0.4)
        demand[names[index]] = _demand(body, demand)
        protocol = rng.choice(likely)
        policy = rng.choice([p for p in POLICIES[protocol] if not critical or p not in ("wait", "suspend")])
        settings = {"wcet": f"{_own(body) * UNIT} ns", "overrun": f'"{policy}"'}
        if policy == "extend" or (policy in ("abort", "suspend") and rng.random() < 0.7):
            length = rng.choice((1, 2, 4, 12)) * demand[names[index]] or 1
            settings |= {"extension": f"{length * UNIT} ns"}
            settings |= {"extension_period": f"{rng.choice((1, 4, 20)) * length * UNIT} ns"}
        settings |= _counts(body)
        clauses = f"priority_protocol {protocol.value}"
        cpis.append(Part(names[index], body, settings, clauses, group=rng.choice(groups)))
    tasks = []
    count = rng.randint(2, 5)
    misbehaving = not critical and rng.random() < 0.5
    exactly = critical and rng.random() < 0.5
    unique = rng.sample(range(10, 60), count)
    for index in range(count):
        level = rng.randint(1, 2) if critical and rng.random() < 0.6 else 0
        part = Part(
            f"t{index}",
            _body(rng, names, 0.5),
            {
                "priority": str(unique[index] if rng.random() < 0.9 else unique[0]),
                "overrun": '"raise"' if level else f'"{rng.choice(("wait", "wait", "extend", "stop"))}"',
                "criticality": str(level),
            },
            greedy=misbehaving and rng.random() < 0.6,
            group=rng.choice(groups),
            more=rng.randint(1, 3) if level else 1,
        )
        limited = misbehaving or level or rng.random() < 0.6
        tasks.append((part, limited))
    reached = max((int(p.settings["criticality"]) for p, _ in tasks if p.more > 1 and not exactly), default=0)
    rng.seed(seed)
    timed = tuple(
        _timed(rng, part, demand, count, critical, bool(limited), exactly) for part, limited in tasks
    )
    return Attack(timed, tuple(reversed(cpis)), critical, reached)


def _timed(
    rng: random.Random,
    task: Part,
    demand: Mapping[str, int],
    count: int,
    critical: bool,
    limited: bool,
    exactly: bool,
) -> Part:
    """A task with a period and a budget. `exactly`: budgets are execution times."""
    own, needed = _own(task.body), max(_demand(task.body, demand), 1)
    period = round(needed * count * rng.choice((0.8, 1.5, 2.5, 4)) * rng.uniform(0.8, 1.3)) + 1
    if critical:
        period *= 2
    settings = {
        **{"period": f"{period * UNIT} ns", "deadline": f"{(1 if critical else 20) * period * UNIT} ns"},
        "offset": f"{rng.randint(0, period if rng.random() < 0.5 else 4) * UNIT} ns",
        "wcet": f"{own * UNIT} ns",
    }
    if limited:
        share = 100 if exactly else rng.choice((70, 100, 150, 200, 200, 220, 300, 400))
        budget = min(period, max(1, needed * share // 100))
        settings["budget"] = f"{budget * UNIT} ns"
        settings["server"] = rng.choice(('"sporadic"', '"sporadic"', '"constant_bandwidth"'))
        if level := int(task.settings["criticality"]):
            longer = (needed + (task.more - 1) * own) * rng.choice((100, 120, 150)) // 100
            settings[f"wcet_{level}"] = f"{task.more * own * UNIT} ns"
            settings[f"budget_{level}"] = f"{min(max(longer, budget), period) * UNIT} ns"
    if "extend" in task.settings["overrun"]:
        length = rng.randint(1, needed + 1)
        settings["extension"] = f"{length * UNIT} ns"
        settings["extension_period"] = f"{max(length, rng.choice((period, period // 2))) * UNIT} ns"
    return replace(task, settings=task.settings | settings | _counts(task.body))


def _body(rng: random.Random, names: Sequence[str], share: float) -> tuple[Step, ...]:
    steps: list[Step] = [rng.randint(0, 3)]
    for name in rng.sample(names, len(names)):
        for _ in range(rng.choice((1, 1, 1, 2)) if rng.random() < share else 0):
            steps += [name, rng.choice((0, 1, 1, 2))]
    return tuple(steps)


def _own(body: Sequence[Step]) -> int:
    return sum(step for step in body if isinstance(step, int))


def _demand(body: Sequence[Step], of: Mapping[str, int]) -> int:
    return sum(step if isinstance(step, int) else of[step] for step in body)


def _counts(body: Sequence[Step]) -> dict[str, str]:
    count = Counter(step for step in body if isinstance(step, str))
    return {f"to_{name}_requests": str(number) for name, number in count.items()}


def written(system: Attack, seed: int) -> tuple[str, dict[str, str]]:
    """The system as text, and its code. Each piece of work is a nanosecond shorter than stated: a job that
    would end when another one is released ends before it."""
    rng = random.Random(seed // VARIANTS)
    lines, configuration = ["procedure P { void go(); }"], []
    groups: dict[str, list[str]] = {}
    ends: dict[str, list[str]] = {}
    sources = {}
    of_part = {part.name: part for part in (*system.tasks, *system.cpis)}

    def where(name: str) -> str:
        group = of_part[name].group
        return f"{group}.{name}" if group else name

    for part in of_part.values():
        task = part in system.tasks
        callees = sorted({step for step in part.body if isinstance(step, str)})
        uses = " ".join(f"uses P to_{callee};" for callee in callees)
        requests = f", requests ({', '.join(f'to_{callee}' for callee in callees)})"
        items = "control; requestor;" if task else f"provides P p with {part.clauses}{requests};"
        lines.append(f"component {part.name.title()} {{ {items} {uses} }}")
        groups.setdefault(part.group, []).append(f"component {part.name.title()} {part.name};")
        for callee in callees:
            ends.setdefault(callee, []).append(f"from {where(part.name)}.to_{callee}")
        for key, value in part.settings.items():
            prefix = "" if key.endswith("requests") else "_" if task else "p_"
            configuration.append(f"{part.name}.{prefix}{key} = {value};")
        code = "\n".join(_line(rng, part, step) for step in part.body)
        if task:
            again = f"for (int again = 0; again < {GREED}; again++)" if part.greedy else ""
            sources[part.name.title()] = (
                "int run(void) { for (int job = 0; camkes_next_job(); job++) {"
                f" {again} {{ {code} }} }} return 0; }}\n"
            )
        else:
            length = part.settings.get("extension", "0 ns").removesuffix(" ns")
            undo = rng.choice((0, max(int(length) // rng.choice((1, 2)) - 1, 0)))
            sources[part.name.title()] = (
                f"void p_go(void) {{ {code} }}\nvoid p__rollback(void) {{ camkes_work({undo}u); }}\n"
            )
    composition = groups.pop("", [])
    composition += [f"group {name} {{ {' '.join(inside)} }}" for name, inside in groups.items()]
    composition += [
        f"connection seL4RPCCall of_{callee}({', '.join(callers)}, to {where(callee)}.p);"
        for callee, callers in ends.items()
    ]
    body = ["composition {", *composition, "} configuration {", *configuration, "}"]
    return "\n".join([*lines, "assembly {", *body, "}"]) + "\n", sources


def _line(rng: random.Random, part: Part, step: Step) -> str:
    if isinstance(step, str):
        return f"to_{step}_go();"
    most = max(step * UNIT - 1, 0)
    least = rng.choice((most, most, most // 2, 0))
    work = f"camkes_work_between({least}u, {most}u);"
    if part.more == 1:
        return work
    longer = f"camkes_work_between({most}u, {max(part.more * step * UNIT - 1, 0)}u);"
    return f"if (job % {LONGER} == 1) {{ {longer} }} else {{ {work} }}"


def _responses(run: Run, longer: Mapping[str, int]) -> list[tuple[str, int, bool, int]]:
    """The jobs: of which task, how long each takes (so far), if it has ended, and the highest criticality
    in between, or that whose time it needs, for those of tasks that do more in some."""
    found = decode(run.events, run.names)
    changes = [(0, 0), *found.criticality]
    ends = [*(time for time, _ in found.criticality), found.end]
    jobs = []
    for lane in found.tasks:
        for job in lane.jobs:
            end = found.end if job.end is None else job.end
            spans = zip(changes, ends, strict=True)
            level = max((c[1] for c, until in spans if c[0] < end and job.release < until), default=0)
            if job.number % LONGER == 1:
                level = max(level, longer.get(lane.task.name, 0))
            jobs.append((lane.task.name, end - job.release, job.end is not None, level))
    return jobs


def problems(system: Attack, built: Built, runs: int) -> tuple[list[str], Counter[str]]:
    """Responses above their bounds; how many were compared, and how many had no bound."""
    bounds: dict[tuple[str, int], tuple[str, Bounded]] = {}
    counted: Counter[str] = Counter()
    name_of = {part.name: part for part in system.tasks}
    if system.critical:
        for each in level_results(built.system, built.plan, FREE):
            bounds[each.task.name, each.level] = ("at a criticality", Bounded(each.ours))
    else:
        for result in budget_results(built.system, built.plan, FREE):
            name = result.task.name
            if name_of[name].greedy:
                continue
            kind = "trusted" if system.trusted else "isolated"
            bounds[name, 0] = (kind, result.trusted if system.trusted else result.isolated)
    longer = {part.name: int(part.settings["criticality"]) for part in system.tasks if part.more > 1}
    wrong: list[str] = []
    longest: Counter[tuple[str, int]] = Counter()
    period = max(int(part.settings["period"].removesuffix(" ns")) for part in system.tasks)
    for number in range(runs):
        choices = "first" if number == 0 else f"random:{number}"
        run = built.run("--fast", "--choices", choices, duration=min(20 * period, 400_000_000))
        if run.status:
            wrong.append(f"run {number} ends with {run.status}: {run.errors[-200:]}")
        wrong += [f"run {number}: {violation}" for violation in run.violations()][:2]
        for name, took, ended, level in _responses(run, longer):
            level = max(level, system.reached)
            kind, bound = bounds.get((name, level), ("", Bounded(None)))
            if bound.response is None:
                counted["without bound"] += ended
                continue
            counted[kind] += ended
            longest[name, level] = max(longest[name, level], took)
            if took > bound.response:
                wrong.append(f"run {number}: {name} takes {took}, its bound at {level} is {bound.response}")
    counted["exact"] = sum(took > bounds[key][1].response - 20 for key, took in longest.items() if took)
    counted["tasks"] = len(longest)
    return wrong, counted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, metavar="SYSTEMS")
    parser.add_argument("--seed", type=int, default=0, metavar="FIRST")
    parser.add_argument("--runs", type=int, default=4, help="of each system")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "budget-attacks"))
    given = parser.parse_args()
    counted: Counter[str] = Counter()
    for seed in range(given.seed, given.seed + given.count):
        alike = given.folder / str(seed // VARIANTS)
        if seed % VARIANTS == 0:
            shutil.rmtree(alike.parent / str(seed // VARIANTS - 1), ignore_errors=True)
        system = attack(seed)
        try:
            built = build(alike, *written(system, seed), mcs=True)
        except AssertionError as error:
            counted["rejected"] += 1
            print(f"{seed}: {error}", flush=True)
            continue
        wrong, more = problems(system, built, given.runs)
        counted += more
        counted["systems"] += 1
        counted["wrong"] += bool(wrong)
        for line in wrong[:3]:
            print(f"{seed}: {line}", flush=True)
    print(dict(counted))
    return 1 if counted["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
