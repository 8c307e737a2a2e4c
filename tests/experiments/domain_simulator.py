# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems under schedules of domains, and a simulator that shares nothing with the host kernel.

A job works, requests a CPI or not, and works again. The CPI has one of the protocols, and may be in another
domain than its tasks. Times are milliseconds.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Self

#: (task, start, end): who is executed when, on whatever thread
Executed = list[tuple[str, int, int]]


def extend(executed: Executed, name: str, start: int, end: int) -> None:
    """A task is executed from `start` to `end`; what follows what it was executed before is one with it."""
    if executed and executed[-1][::2] == (name, start):
        start = executed.pop()[1]
    executed.append((name, start, end))


#: in ms: when all components have initialised themselves, whatever the schedule
BEGIN = 100


def random_schedule(choose: random.Random, domains: list[int]) -> tuple[tuple[int, int], ...]:
    """At least two slots, (domain, length in ms). The first domain has the first one: a time manager is in
    it."""
    rest = [*domains[1:], *choose.choices(domains, k=choose.randint(len(domains) == 1, 4))]
    choose.shuffle(rest)
    return tuple((domain, choose.randint(1, 6)) for domain in [domains[0], *rest])


def other_schedule(
    number: int, tasks: object, schedule: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    """Another one of the same domains; that of each number, for these tasks."""
    domains = list(dict.fromkeys(domain for domain, _ in schedule))
    return random_schedule(random.Random(f"{number} {tasks}"), domains)


@dataclass(frozen=True, slots=True)
class Task:
    """`work` is before the request, `request` in it (0: there is none), `rest` after it. Priorities
    differ."""

    name: str
    domain: int
    priority: int
    period: int
    offset: int
    work: int
    request: int
    rest: int


@dataclass(frozen=True, slots=True)
class RandomSystem:
    """`schedule` has (domain, length); `server` is the domain of the CPI."""

    tasks: tuple[Task, ...]
    schedule: tuple[tuple[int, int], ...]
    server: int
    protocol: str
    mcs: bool = False

    @classmethod
    def make(cls, seed: int) -> Self:
        """Odd seeds are of systems for an MCS kernel. These have no CPI that is `fixed`: it has more
        threads there, whose order depends on where each is called and on budgets; neither is simulated."""
        mcs = seed % 2 == 1
        choose = random.Random(seed)
        domains = choose.sample(range(4), choose.randint(1, 4))
        schedule = random_schedule(choose, domains)
        count = choose.randint(2, 6)
        tasks = tuple(
            Task(
                f"t{number}",
                choose.choice(domains),
                priority,
                period := choose.choice((10, 12, 20, 28, 30, 60)),
                BEGIN + (choose.randrange(0, period) if choose.random() < 0.5 else 0),
                choose.randint(0, 3),
                choose.choice((0, 0, 1, 2, 3)),
                choose.randint(0, 2),
            )
            for number, priority in enumerate(choose.sample(range(2, 250), count))
        )
        server = choose.choice(domains)
        protocols = ("inherited", "propagated", "fixed")[: 2 if mcs else 3]
        return cls(tasks, schedule, server, choose.choice(protocols), mcs)

    @property
    def ceiling(self) -> int:
        return max(task.priority for task in self.tasks)

    def written(self) -> tuple[str, dict[str, str]]:
        """The system in CAmkES, and the code of its components."""
        set_ = []
        for task in self.tasks:
            set_ += [
                f"{task.name}._priority = {task.priority}; {task.name}._period = {task.period} ms;",
                f"{task.name}._offset = {task.offset} ms; {task.name}._domain = {task.domain};",
                f"{task.name}.before = {task.work}; {task.name}.inside = {task.request};"
                f" {task.name}.after = {task.rest};",
            ]
        slots = ", ".join(f"({domain}, {length} ms)" for domain, length in self.schedule)
        workers = " ".join(f"component Worker {task.name};" for task in self.tasks)
        ends = ", ".join(f"from {task.name}.p" for task in self.tasks)
        text = (
            "procedure P { void f(in int ms); }\n"
            "component Worker { control; requestor; uses P p; attribute int before = 0;"
            " attribute int inside = 0; attribute int after = 0; }\n"
            f"component Server {{ provides P p with priority_protocol {self.protocol}; }}\n"
            f"assembly {{\n    composition {{ {workers} component Server s;\n"
            f"        connection seL4RPCCall c({ends}, to s.p); }}\n    configuration {{\n        "
            + "\n        ".join(set_)
            + f"\n        s._domain = {self.server}; s.p_domain = {self.server}; s.p_across_domains = 1;\n"
            f"    }}\n    schedule {{ [{slots}] }}\n}}\n"
        )
        return text, {"Worker": WORKER, "Server": SERVER}


WORKER = """int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_MS(before));
        if (inside > 0) {
            p_f(inside);
        }
        camkes_work(CAMKES_MS(after));
    }
    return 0;
}
"""
SERVER = """void p_f(int ms) { camkes_work(CAMKES_MS(ms)); }
"""


@dataclass(slots=True)
class _Job:
    """The job of a task under way. `parts` are what is left of it: (own, request or reply, time). Where
    others wait for the lock of a request, its thread lets the next one have it before it replies. Of equal
    priorities the one that is ready since the earlier `turn` is first."""

    task: Task
    release: int
    parts: list[tuple[str, int]]
    holds: bool = False
    waits: bool = False
    turn: int = 0
    arrival: int = 0


@dataclass(slots=True)
class Simulator:
    """Ends of jobs, by task: (release, end)."""

    system: RandomSystem
    until: int
    now: int = 0
    turns: int = 0
    ends: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    executed: Executed = field(default_factory=list)

    def run(self) -> dict[str, list[tuple[int, int]]]:
        self.ends = {task.name: [] for task in self.system.tasks}
        jobs: dict[str, _Job] = {}
        released: dict[str, list[int]] = {task.name: [] for task in self.system.tasks}
        nexts = {task.name: task.offset for task in self.system.tasks}
        fixed = self.system.protocol == "fixed"
        turns: dict[str, int] = {}
        changed = False
        slot, slot_end = 0, self.system.schedule[0][1]

        def due() -> bool:
            """The switch first, then releases."""
            nonlocal slot, slot_end, changed
            happened = False
            before = slot_domain()
            while self.now >= slot_end:
                slot = (slot + 1) % len(self.system.schedule)
                slot_end += self.system.schedule[slot][1]
                happened = True
            changed = slot_domain() != before
            for task in self.system.tasks:
                while nexts[task.name] <= self.now:
                    released[task.name].append(nexts[task.name])
                    nexts[task.name] += task.period
                    happened = True
            return happened

        def slot_domain() -> int:
            return self.system.schedule[slot][0]

        def turn(domain: int) -> int:
            """The last of its priority; the first one if none of its domain is executed at this instant."""
            return -first() if domain == slot_domain() and not changed else first()

        def first() -> int:
            """Before others of its priority, as a thread that is called, or gets a reply."""
            self.turns += 1
            return -self.turns

        def begin() -> None:
            for task in self.system.tasks:
                if task.name not in jobs and released[task.name]:
                    parts = [("own", task.work), ("request", task.request), ("own", task.rest)]
                    parts = [part for part in parts if part[1] or part[0] == "own"]
                    since = turns.pop(task.name, 0) or turn(task.domain)
                    jobs[task.name] = _Job(task, released[task.name].pop(0), parts, turn=since)

        def take(job: _Job) -> bool:
            """The lock, or the only thread of the server. Whether it has to wait."""
            job.waits = any(each.holds for each in jobs.values())
            job.holds = not job.waits
            job.arrival = -first()
            return job.waits

        def priority(job: _Job) -> int:
            if fixed and job.parts[0][0] != "own":
                return self.system.ceiling
            waiting = [each.task.priority for each in jobs.values() if each.waits] if job.holds else []
            return max([job.task.priority, *waiting])

        def domain(job: _Job) -> int:
            return job.task.domain if job.parts[0][0] == "own" else self.system.server

        due()
        while self.now < self.until:
            begin()
            ready = [job for job in jobs.values() if not job.waits and domain(job) == slot_domain()]
            if not ready:
                if not due():
                    self.now = min(slot_end, *nexts.values())
                continue
            job = max(ready, key=lambda each: (priority(each), -each.turn))
            kind, left = job.parts[0]
            if kind == "request" and not job.holds and self.system.protocol != "propagated":
                if take(job):
                    due()
            elif left == 0:
                before = domain(job)
                job.parts.pop(0)
                waiting = [each for each in jobs.values() if each.waits]
                if kind == "request":
                    job.holds = False
                if kind == "request" and waiting:
                    heir = (
                        min(waiting, key=lambda each: each.arrival)
                        if fixed
                        else max(waiting, key=lambda each: each.task.priority)
                    )
                    heir.waits, heir.holds = False, True
                    if fixed:
                        heir.turn = job.turn
                        job.turn = turn(domain(job))
                        continue
                    job.parts.insert(0, ("reply", 0))
                elif not job.parts:
                    self.ends[job.task.name].append((job.release, self.now))
                    del jobs[job.task.name]
                    if released[job.task.name]:
                        turns[job.task.name] = job.turn
                    else:
                        due()
                elif job.parts[0][0] != kind:
                    job.turn = first()
                    calls = fixed and job.parts[0][0] == "request"
                    if (calls and take(job)) or domain(job) != before:
                        due()
            elif due():
                if changed:  # the end of a slot leaves it the first one, before a release at this instant
                    begin()
                    job.turn = first()
            else:
                step = min(left, *(each - self.now for each in (self.until, slot_end, *nexts.values())))
                extend(self.executed, job.task.name, self.now, self.now + step)
                self.now += step
                job.parts[0] = (kind, left - step)
        return self.ends
