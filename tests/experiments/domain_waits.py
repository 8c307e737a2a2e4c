# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems under schedules of domains whose jobs wait for conditions or have budgets, and a simulator
of them, written from the documentation (docs/domains.md, protocols.md and mcs.md): it shares nothing with the
host kernel or the runtime.

A job works, makes one request and works again. The server of the requests is a monitor with a condition, has
a semaphore, or has neither. It may be in another domain than its tasks. Times are milliseconds. What budgets
are is in tests/host/mcs/refill_reference.py.

Not in it: helpers of another domain than the server's, several helpers (whose priorities could be the same),
events, and policies of overruns other than `wait`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Self

from tests.experiments.domain_simulator import BEGIN, Executed, extend, random_schedule
from tests.host.mcs.refill_reference import Budget

#: where a job has to wait for an item: until one comes, or for so many milliseconds
FOR_EVER = 0


@dataclass(frozen=True, slots=True)
class Server:
    """A budget in each period of its task: sporadic, or of constant bandwidth. `refills` are kept apart."""

    budget: int
    refills: int
    sporadic: bool


@dataclass(frozen=True, slots=True)
class Task:
    """`uses`: "" (no request), "section", "put" or "get". A job executes for `work` before the request and
    for `after` after it; the request for `request` and `rest`: before and after a signal, or both with an
    item, for which it waits for `limit`."""

    name: str
    domain: int
    priority: int
    period: int
    offset: int
    work: int
    uses: str
    request: int
    rest: int
    after: int
    limit: int
    time: Server | None

    def settings(self) -> list[str]:
        """In CAmkES."""
        numbers = {"before": self.work, "inside": self.request, "rest": self.rest, "after": self.after}
        found = [
            f"{self.name}._priority = {self.priority}; {self.name}._period = {self.period} ms;",
            f"{self.name}._offset = {self.offset} ms; {self.name}._domain = {self.domain};",
            " ".join(f"{self.name}.{key} = {value};" for key, value in numbers.items()),
            f"{self.name}.limit = {self.limit};",
        ]
        if self.time:
            server = "sporadic" if self.time.sporadic else "constant_bandwidth"
            found.append(f'{self.name}._budget = {self.time.budget} ms; {self.name}._server = "{server}";')
            found.append(f"{self.name}._refills = {self.time.refills};")
        return found


@dataclass(frozen=True, slots=True)
class WaitingSystem:
    """`schedule` has (domain, length); `server` is the domain of the CPIs, which have one lock if they are
    `locked`. `condition`: "", "monitor" or "semaphore"; `helped` with helpers, `all` with broadcasts."""

    tasks: tuple[Task, ...]
    schedule: tuple[tuple[int, int], ...]
    server: int
    locked: bool
    condition: str
    helped: bool
    all: bool
    mcs: bool

    @classmethod
    def make(cls, seed: int, *, conditions: bool, budgets: bool) -> Self:
        """Systems with budgets, and others with an odd seed, are for an MCS kernel."""
        choose = random.Random(f"{seed} {conditions} {budgets}")
        domains = choose.sample(range(4), choose.randint(1, 4))
        schedule = random_schedule(choose, domains)
        condition = choose.choice(("monitor", "monitor", "semaphore")) if conditions else ""
        helped = condition == "semaphore" or (condition == "monitor" and choose.random() < 0.5)
        server = choose.choice(domains)
        count = choose.randint(3, 6)
        uses = [choose.choice(("", "section", "section")) for _ in range(count)]
        if condition:
            uses = [choose.choice(("", "section", "get", "get", "put")) for _ in range(count)]
            uses[:2] = ["put", "get"]
        if helped:
            uses[2:] = ["get" if each == "put" else each for each in uses[2:]]
        if condition == "semaphore":
            uses = [each if each != "section" else "" for each in uses]
        tasks = []
        for number, priority in enumerate(choose.sample(range(2, 250, 4), count)):
            domain = choose.choice(domains)
            if helped and uses[number] == "put":
                domain = server
            period = choose.choice((10, 12, 20, 28, 30, 60))
            time = None
            if budgets and choose.random() < 0.8:
                time = Server(choose.randint(1, 6), choose.randint(2, 9), choose.random() < 0.6)
            offset = BEGIN + (choose.randrange(0, period) if choose.random() < 0.5 else 0)
            limit = choose.choice((FOR_EVER, 1, 3, 5, 9, 20)) if uses[number] == "get" else FOR_EVER
            lengths = [choose.randint(0, 3), choose.choice((0, 1, 2, 3)), choose.randint(0, 2)]
            lengths.append(choose.randint(1 if budgets else 0, 2))
            work, request, rest, after = lengths
            tasks.append(
                Task(
                    f"t{number}", domain, priority, period, offset, work, uses[number], request, rest, after,
                    limit, time,
                )
            )  # fmt: skip
        locked = condition == "monitor" or (not condition and choose.random() < 0.7)
        return cls(
            tuple(tasks), schedule, server, locked, condition, helped, choose.random() < 0.3,
            budgets or seed % 2 == 1,
        )  # fmt: skip

    def users(self, *kinds: str) -> list[Task]:
        return [task for task in self.tasks if task.uses in kinds]

    def written(self) -> tuple[str, dict[str, str]]:
        """The system in CAmkES, and the code of its components: a type for each use, and `Server`."""
        protocol = "inherited" if self.locked else "propagated"
        if self.condition == "monitor":
            protocol += ", monitor m"
        kinds = [kind for kind in ("section", "put", "get") if self.users(kind)]
        clauses = [f"provides P {kind} with priority_protocol {protocol};" for kind in kinds]
        instances = [f"component {_type(task.uses)} {task.name};" for task in self.tasks]
        connections = []
        settings = [f"s._domain = {self.server};"] if kinds else []
        for kind in kinds:
            ends = ", ".join(f"from {task.name}.{kind}" for task in self.users(kind))
            connections.append(f"connection seL4RPCCall c_{kind}({ends}, to s.{kind});")
            settings.append(f"s.{kind}_domain = {self.server}; s.{kind}_across_domains = 1;")
        if self.condition:
            what = "condition" if self.condition == "monitor" else "semaphore"
            clauses.append(f"has {what} more{' with helpers' if self.helped else ''};")
            settings.append(f"s.more_domain = {self.server};")
            settings += ["s.more_value = 0;"] if what == "semaphore" else []
        if self.helped:
            helpers = ", ".join(f'"{task.name}"' for task in self.users("put"))
            settings.append(f"s.more_helpers = [{helpers}];")
        components = []
        for kind in dict.fromkeys(task.uses for task in self.tasks):
            uses = f"uses P {kind}; {_ATTRIBUTES}" if kind else _ATTRIBUTES
            components.append(f"component {_type(kind)} {{ control; requestor; {uses} }}")
        if kinds:
            components.append(f"component Server {{ {' '.join(clauses)} }}")
            instances.append("component Server s;")
        for task in self.tasks:
            settings += task.settings()
        slots = ", ".join(f"({domain}, {length} ms)" for domain, length in self.schedule)
        lines = [
            "procedure P { void f(in int ms, in int rest, in int limit); }",
            *components,
            "assembly { composition {",
            *instances,
            *connections,
            "} configuration {",
            *settings,
            "}",
            f"schedule {{ [{slots}] }} }}",
        ]
        sources = {_type(task.uses): _CALLER % (f"{task.uses}_f(inside, rest, limit);" if task.uses else "")
                   for task in self.tasks}  # fmt: skip
        return "\n".join(lines) + "\n", sources | ({"Server": self.served(kinds)} if kinds else {})

    def served(self, kinds: list[str]) -> str:
        """The code of the server."""
        signal = "more_broadcast" if self.all else "more_signal"
        bodies = {
            "": {"section": ""},
            "monitor": {
                "section": "",
                "put": f"items++; {signal}();",
                "get": "while (items == 0) { if (over(limit)) { return; } } items--;",
            },
            "semaphore": {"put": "more_post();", "get": "if (over(limit)) { return; }"},
        }[self.condition]
        handlers = []
        for kind in kinds:
            work, rest = "camkes_work(CAMKES_MS(ms));", "camkes_work(CAMKES_MS(rest));"
            parts = [bodies[kind], work, rest] if kind == "get" else [work, bodies[kind], rest]
            code = " ".join(("(void)limit;", *parts))
            handlers.append(f"void {kind}_f(int ms, int rest, int limit) {{ {code} }}\n")
        return (_OVER if self.condition else "") + "".join(handlers)


def _type(uses: str) -> str:
    return uses.title() or "Own"


_ATTRIBUTES = " ".join(
    f"attribute int {name} = 0;" for name in ("before", "inside", "rest", "after", "limit")
)
_OVER = """#include <stdbool.h>
static int items __attribute__((unused));
static bool over(int limit)
{
    if (limit > 0) {
        return more_wait_until(camkes_now() + CAMKES_MS(limit)) != 0;
    }
    more_wait();
    return false;
}
"""
_CALLER = """int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_MS(before));
        %s
        camkes_work(CAMKES_MS(after));
    }
    return 0;
}
"""


@dataclass(slots=True, eq=False)
class _Flow:
    """A task. `steps` are what is left of its job, with their times. It `waits` for the "lock", for an "item"
    until a time (`until`, None: for ever), or for neither. Of those that wait with one priority the first
    since `since` is first. It was `woken` and has not gone on yet, or its time is `over`. `spent`: when its
    budget was used up. A helper that `requests` has `reported` to the manager what it is lent, and takes that
    back at the end."""

    task: Task
    next: int
    budget: Budget | None
    released: list[int] = field(default_factory=list)
    job: int | None = None
    steps: list[tuple[str, int]] = field(default_factory=list)
    waits: str = ""
    until: int | None = None
    woken: bool = False
    over: bool = False
    since: int = 0
    postponed: bool = False
    spent: int = -1
    requests: bool = False
    reported: bool = False

    @property
    def sporadic(self) -> bool:
        return self.task.time is not None and self.task.time.sporadic


#: steps of the server's threads
_SERVED = {"take", "serve", "signal", "get", "free", "reply"}


@dataclass(slots=True)
class WaitsSimulator:
    """`run`: the (release, end) of jobs, by task. `owner` has the budget that is used, and has `used` so much
    since it was charged; `kept` are the signals that a semaphore's manager has."""

    system: WaitingSystem
    until: int
    now: int = 0
    slot: int = 0
    slot_end: int = 0
    flows: list[_Flow] = field(default_factory=list)
    holder: _Flow | None = None
    items: int = 0
    order: int = 0
    kept: int = 0
    fired: int | None = None
    owner: _Flow | None = None
    used: int = 0
    ends: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    executed: Executed = field(default_factory=list)

    # -- priorities, from their definition

    def effective(self) -> dict[str, int]:
        """By task, as the least that satisfies the definition."""
        value = {flow.task.name: flow.task.priority for flow in self.flows}
        helpers = [task.name for task in self.system.users("put")] if self.system.helped else []
        for _ in self.flows:
            for flow in self.flows:
                holder = [self.holder.task.name] if flow.waits == "lock" and self.holder else []
                for name in holder or (helpers if flow.waits == "item" else ()):
                    value[name] = max(value[name], value[flow.task.name])
        return value

    def first(self, waiting: list[_Flow]) -> _Flow:
        value = self.effective()
        return min(waiting, key=lambda flow: (-value[flow.task.name], flow.since))

    @property
    def domain(self) -> int:
        return self.system.schedule[self.slot][0]

    # -- budgets

    def charge(self, following: _Flow | None) -> None:
        """Another budget is used from now on."""
        flow = self.owner
        if flow is following:
            return
        self.spend()
        self.owner = following
        if following and following.budget and not following.sporadic:
            following.budget.begin(self.now)

    def spend(self) -> None:
        """The time that the owner has used."""
        if self.owner and self.owner.budget and self.used:
            self.owner.budget.use(self.used)
            self.owner.spent = -1 if self.owner.budget.available(self.now) else self.now
        self.used = 0

    def wake(self, flow: _Flow) -> None:
        """It can be executed from now on."""
        if flow.budget is None:
            return
        if flow.sporadic and flow is not self.owner:
            flow.budget.begin(self.now)
        flow.postponed = not flow.budget.available(self.now) and flow.spent != self.now

    def manager(self, flow: _Flow) -> None:
        """It calls a manager, which has time of its own."""
        self.charge(None)
        if not flow.waits:
            self.wake(flow)

    # -- locks and conditions

    def wait(self, flow: _Flow, what: str) -> None:
        self.order += 1
        flow.waits, flow.since = what, self.order
        for helper in self.flows:
            helper.reported = helper.reported or (helper.requests and self.is_lent(helper))
        self.manager(flow)

    def is_lent(self, flow: _Flow) -> bool:
        """Whether its task has more than its own priority from those that wait for an item."""
        priorities = [each.task.priority for each in self.flows if each.waits == "item"]
        return max(priorities, default=0) > flow.task.priority

    def take(self, flow: _Flow) -> None:
        """The lock, for one that comes to it or is woken in the monitor."""
        flow.until = None
        if self.holder:
            self.wait(flow, "lock")
        else:
            self.granted(flow)

    def granted(self, flow: _Flow) -> None:
        self.holder = flow
        if flow.waits:
            flow.waits = ""
            self.wake(flow)

    def free(self) -> bool:
        """Whether another one has the lock now."""
        self.holder = None
        waiting = [flow for flow in self.flows if flow.waits == "lock"]
        if waiting:
            self.granted(self.first(waiting))
        return bool(waiting)

    def woken(self, flow: _Flow) -> None:
        """Its wait for an item has ended."""
        flow.woken = True
        if self.system.condition == "monitor":
            self.take(flow)
        else:
            flow.waits, flow.until = "", None
            self.wake(flow)

    @property
    def armed(self) -> int | None:
        """The time for which the timer is set."""
        return min((flow.until for flow in self.flows if flow.until is not None), default=None)

    def end_waits(self) -> None:
        """The timer has fired, if it was not set anew since: the waits whose time is over end, the most
        urgent first."""
        anew = self.fired != self.armed
        self.fired = None
        self.charge(None)
        while not anew and self.armed is not None and self.armed <= self.now:
            over = [each for each in self.flows if each.until is not None and each.until <= self.now]
            flow = self.first(over)
            flow.until, flow.over = None, True
            self.woken(flow)

    def signal(self, flow: _Flow) -> None:
        """Of a semaphore `items` is the word `value` of docs/protocols.md, and `kept` are the signals that
        its manager has. That of a monitor counts those that wait, and those that have not gone on yet."""
        self.items += 1
        if self.system.condition == "monitor":
            if any(each.waits == "item" or each.woken for each in self.flows):
                self.charge(None)
                while waiting := [each for each in self.flows if each.waits == "item"]:
                    self.woken(self.first(waiting))
                    if not self.system.all:
                        break
                self.manager(flow)
        elif self.items <= 0:
            waiting = [each for each in self.flows if each.waits == "item"]
            if waiting:
                self.woken(self.first(waiting))
            else:
                self.kept += 1
            self.manager(flow)

    def get(self, flow: _Flow, limit: int) -> bool:
        """Whether there is no need to wait."""
        monitor = self.system.condition == "monitor"
        if self.items > 0 or (flow.woken and not monitor):
            self.items -= monitor or not flow.woken
            return True
        if not monitor:
            self.items -= 1
            if self.kept:
                self.kept -= 1
                self.manager(flow)
                return True
        flow.until = self.now + limit if limit else None
        self.wait(flow, "item")
        if monitor:
            self.free()  # to the first by what they have now
        return False

    def give_up(self, flow: _Flow) -> None:
        """It does not wait any more, as its time is over. There can be a signal for it already."""
        if self.system.condition == "semaphore":
            if self.items < 0:
                self.items += 1
            else:
                self.kept -= 1
                self.manager(flow)
                self.signal(flow)

    # -- steps

    def step(self, flow: _Flow) -> bool:
        """One that takes no time. Whether the task goes on."""
        what, limit = flow.steps[0]
        if what == "get":
            if flow.over:
                self.give_up(flow)
                flow.steps = [step for step in flow.steps if step[0] != "serve"]
            elif not self.get(flow, limit):
                flow.woken = False
                return False
            flow.over = flow.woken = False
        flow.steps.pop(0)
        if what in ("call", "return"):
            flow.requests = what == "call"
            flow.reported = flow.reported or (flow.requests and self.is_lent(flow))
            if flow.reported:
                self.manager(flow)
            flow.reported = flow.reported and flow.requests
        if what == "take":
            self.take(flow)
            return not flow.waits
        if what == "signal":
            self.signal(flow)
        elif what == "free":
            if self.free():
                self.manager(flow)
        elif what == "end":
            assert flow.job is not None
            self.ends[flow.task.name].append((flow.job, self.now))
            flow.job = None
            if flow.released:
                self.begin(flow)
                return True
            return False
        return True

    def begin(self, flow: _Flow) -> None:
        task = flow.task
        flow.job = flow.released.pop(0)
        served = {
            "": [],
            "section": [("serve", task.request), ("serve", task.rest)],
            "put": [("serve", task.request), ("signal", 0), ("serve", task.rest)],
            "get": [("get", task.limit), ("serve", task.request), ("serve", task.rest)],
        }[task.uses]
        if served and self.system.locked:
            served = [("take", 0), *served, ("free", 0)]
        if served:
            served = [*served, ("reply", 0)]
        if self.system.helped and task.uses == "put":
            served = [("call", 0), *served, ("return", 0)]
        flow.steps = [("own", task.work), *served, ("own", task.after), ("end", 0)]

    # -- time

    def due(self) -> bool:
        """What happens at this instant: the switch first, then releases."""
        happened = False
        while self.now >= self.slot_end:
            self.slot = (self.slot + 1) % len(self.system.schedule)
            self.slot_end += self.system.schedule[self.slot][1]
            happened = True
        for flow in self.flows:
            while flow.next <= self.now:
                flow.released.append(flow.next)
                flow.next += flow.task.period
                happened = True
                if flow.job is None:
                    self.begin(flow)
                    self.wake(flow)
            if flow.postponed and flow.budget and flow.budget.available(self.now):
                flow.postponed = False
                happened = True
        if self.fired is None and self.armed is not None and self.armed <= self.now:
            self.fired = self.armed
            happened = True
        return happened

    def next(self) -> int:
        times = [self.slot_end, *(flow.next for flow in self.flows)]
        times += [flow.until for flow in self.flows if flow.until is not None and flow.until > self.now]
        times += [f.budget.refills()[0][0] for f in self.flows if f.postponed and f.budget]
        return min(times)

    def chosen(self) -> _Flow | None:
        value = self.effective()
        ready = []
        for flow in self.flows:
            if flow.job is None or flow.waits or flow.postponed:
                continue
            served = flow.steps[0][0] in _SERVED
            if (self.system.server if served else flow.task.domain) == self.domain:
                ready.append(flow)
        flow = max(ready, key=lambda each: value[each.task.name], default=None)
        ceiling = max([t.priority for t in self.system.tasks if t.uses], default=0)
        mine = self.domain == self.system.server
        if self.fired is not None and mine and (not flow or value[flow.task.name] <= ceiling):
            self.end_waits()
            self.due()
            return self.chosen()
        return flow

    def run(self) -> dict[str, list[tuple[int, int]]]:
        self.slot_end = self.system.schedule[0][1]
        self.flows = [
            _Flow(t, t.offset, t.time and Budget(t.time.budget, t.period, t.time.refills))
            for t in self.system.tasks
        ]
        self.ends = {task.name: [] for task in self.system.tasks}
        self.due()
        while self.now < self.until:
            flow = self.chosen()
            self.charge(flow)
            if flow is None:
                if not self.due():
                    self.now = self.next()
                continue
            if flow.budget and not flow.budget.available(self.now) and flow.spent != self.now:
                flow.postponed = True
                self.due()
                continue
            what, length = flow.steps[0]
            served = what in _SERVED
            if what in ("own", "serve") and length:
                left = flow.budget.available(self.now) - self.used if flow.budget else length
                if left <= 0:
                    self.spend()
                    flow.spent = -1
                    flow.postponed = not (flow.budget and flow.budget.available(self.now))
                    self.due()
                    continue
                if self.due():
                    continue
                time = min(length, left, self.next() - self.now, self.until - self.now)
                extend(self.executed, flow.task.name, self.now, self.now + time)
                self.now += time
                self.used += time
                flow.steps[0] = (what, length - time)
                continue
            if what in ("own", "serve"):
                flow.steps.pop(0)
                goes_on = True
            else:
                goes_on = self.step(flow)
            after = flow.steps[0][0] in _SERVED if flow.steps else served
            if not goes_on or (after != served and self.system.server != flow.task.domain):
                self.due()
        return self.ends
