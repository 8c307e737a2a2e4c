# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems for an MCS kernel: what tasks, CPIs and servers do, and their settings."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from camkes.model.protocols import Protocol
from tests.report.random_overruns import POLICIES

UNIT = 50_000
#: how many systems are nearly alike, and if they are wide
VARIANTS, WIDE_VARIANTS = 4, 8
#: work of so many units, or a request
Step = int | str


class Part(Struct, frozen=True):
    """A task, CPI or server: what it does, and settings. A CPI can be `inside` the component of another one,
    in a monitor with it. A task can be released `after` each job of another one. A server ends waits of a
    task, which has it in its body as if it were a CPI."""

    name: str
    body: tuple[Step, ...]
    settings: Mapping[str, str]
    clauses: str = ""
    greedy: bool = False
    group: str = ""
    #: how often a critical task does its own work in some of its jobs
    more: int = 1
    inside: str = ""
    after: str = ""
    #: the criticality that it sets in some of its jobs
    sets: int = 0


class Attack(Struct, frozen=True):
    """A system of tasks that have criticalities or not; those of a `kind` are nearly alike. Jobs can need
    what they need at the criticality `reached` also before a budget is used up, as budgets are longer."""

    tasks: tuple[Part, ...]
    cpis: tuple[Part, ...]
    critical: bool
    reached: int
    kind: int
    servers: tuple[Part, ...] = ()
    #: the tasks that a component orders by their deadlines
    band: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        return not any(task.greedy for task in self.tasks)


def attack(seed: int, *, wide: bool = False) -> Attack:
    """Some systems that follow each other have the same components, protocols, priorities and policies:
    then little is compiled anew. Periods, budgets, servers and first releases are others. `wide`: with
    monitors, releases by events, and waits."""
    kind = seed // (WIDE_VARIANTS if wide else VARIANTS)
    rng = random.Random(kind)
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
        settings = {"wcet": f"{own_work(body) * UNIT} ns", "overrun": f'"{policy}"'}
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
    system = Attack(tuple(part for part, _ in tasks), tuple(reversed(cpis)), critical, reached, kind)
    if wide:
        system = _widened(random.Random(f"wide {kind}"), system, demand)
    rng.seed(seed)
    timed = [
        _timed(rng, part, demand, count, critical, bool(limited), exactly)
        for part, (_, limited) in zip(system.tasks, tasks, strict=True)
    ]
    return replace(system, tasks=tuple(_released(part, timed) for part in timed))


def banded(seed: int) -> Attack:
    """The same without budgets, and with a band: below the tasks whose priorities are 30 or more."""
    system = attack(seed)
    rng = random.Random(f"band {system.kind}")
    band = sorted(task.name for task in rng.sample(system.tasks, min(len(system.tasks), rng.randint(2, 4))))
    rng.seed(f"band {seed}")
    tasks = []
    for task in system.tasks:
        settings = {key: task.settings[key] for key in ("period", "offset", "wcet") if key in task.settings}
        if task.name in band:
            period = int(settings["period"].removesuffix(" ns"))
            settings["deadline"] = f"{round(period * rng.choice((0.6, 0.8, 1, 1, 1.4)))} ns"
        else:
            priority = int(task.settings["priority"])
            settings["priority"] = str(priority if priority < 30 else 100 + priority)
        tasks.append(Part(task.name, task.body, settings | _counts(task.body)))
    cpis = tuple(replace(cpi, group="") for cpi in system.cpis)
    return Attack(tuple(tasks), cpis, False, 0, system.kind, band=tuple(band))


def _widened(rng: random.Random, system: Attack, demand: dict[str, int]) -> Attack:
    """The same system with some of what few have. `demand` gets what is new."""
    tasks, cpis, servers = list(system.tasks), list(system.cpis), []
    monitors = [i for i, cpi in enumerate(cpis) if "inherited" in cpi.clauses]
    if monitors and rng.random() < 0.3:
        index = rng.choice(monitors)
        name, old = f"{cpis[index].name}b", cpis[index].name
        body: tuple[Step, ...] = (rng.randint(0, max(demand[old], 1)),)
        demand[name] = own_work(body)
        clauses = f"{cpis[index].clauses}, monitor m"
        settings = cpis[index].settings | {"wcet": f"{own_work(body) * UNIT} ns"}
        settings = {key: value for key, value in settings.items() if not key.endswith("requests")}
        cpis[index] = replace(cpis[index], clauses=clauses)
        cpis.append(Part(name, body, settings, clauses, group=cpis[index].group, inside=old))
        calls = {old: name}
        tasks = [
            replace(t, body=tuple(calls.get(str(s), s) if isinstance(s, str) else s for s in t.body))
            if rng.random() < 0.5
            else t
            for t in tasks
        ]
    if rng.random() < 0.2:
        uses = [rng.choice(cpis).name] if rng.random() < 0.5 else []
        body = (rng.randint(1, 3), *uses, 0)
        demand["s0"] = _demand(body, demand)
        servers.append(Part("s0", body, _counts(body)))
        index = rng.randrange(len(tasks))
        tasks[index] = replace(tasks[index], body=(*tasks[index].body, "s0", rng.randint(0, 2)))
    if not system.critical and len(tasks) > 2 and rng.random() < 0.2:
        tasks[1] = replace(tasks[1], after=tasks[0].name)
    if system.critical and rng.random() < 0.5:
        degraded = rng.choice(("suspend", "stretch 2"))
        tasks = [replace(t, settings=t.settings | {"degraded": f'"{degraded}"'}) for t in tasks]
    index = random.Random(f"sets {system.kind}").randrange(3 * len(tasks))
    if system.critical and index < len(tasks):
        tasks[index] = replace(tasks[index], sets=index % 2 + 1)
    return replace(system, tasks=tuple(tasks), cpis=tuple(cpis), servers=tuple(servers))


def _released(part: Part, tasks: Sequence[Part]) -> Part:
    """With the period of the task that releases it."""
    if not part.after:
        return part
    period = next(t.settings["period"] for t in tasks if t.name == part.after)
    settings = {key: value for key, value in part.settings.items() if key != "offset"}
    settings |= {"period": period, "release": f'"from_{part.after}"'}
    for key in settings.keys() & {"budget", "extension"}:
        least = min(int(settings[key].removesuffix(" ns")), int(period.removesuffix(" ns")))
        settings[key] = f"{least} ns"
    return replace(part, settings=settings)


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
    own, needed = own_work(task.body), max(_demand(task.body, demand), 1)
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


def own_work(body: Sequence[Step]) -> int:
    return sum(step for step in body if isinstance(step, int))


def _demand(body: Sequence[Step], of: Mapping[str, int]) -> int:
    return sum(step if isinstance(step, int) else of[step] for step in body)


def _counts(body: Sequence[Step]) -> dict[str, str]:
    count = Counter(step for step in body if isinstance(step, str) and step != "s0")
    return {f"to_{name}_requests": str(number) for name, number in count.items()}
