# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A reference for tasks, locks, semaphores and monitors with helpers, written from the definition.

It has no managers, messages or lent priorities: after every step all effective priorities are computed anew,

    eff(o) = max(base(o), eff(w) of each w that waits for a lock that o holds, or for what o helps to end)

and the task with the highest one executes. Where several have it, the definition leaves open which one does:
`among` decides, by the time, these tasks, and how many works, requests and ends of jobs there were before.
But a task goes on with what takes no time and is none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

#: ("work", ns), ("call", CPI), and in a store ("post" | "wait" | "put" | "all" | "get", store) or
#: ("post" | ... | "until", store, ns): "put" and "get" count items in a monitor, which "all" broadcasts
Step = tuple[str, str, int]


@dataclass(frozen=True)
class Cpi:
    """`lock`: what its handlers hold, "": nothing."""

    name: str
    lock: str
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Store:
    """A semaphore, or a monitor with a condition and a number of items. Tasks that `help` can end a wait."""

    name: str
    monitor: bool
    helpers: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    name: str
    priority: int
    releases: tuple[int, ...]
    body: tuple[Step, ...]


@dataclass
class Frame:
    """A request that is served, or without `cpi` the task's own code. `at`: the next step."""

    cpi: Cpi | None
    body: tuple[Step, ...]
    at: int = 0


@dataclass
class Flow:
    """A task. It waits for a `lock`, or at a `store` until a time, or for neither. `since` orders those that
    wait; `over`: its time was over, and it does not wait again."""

    task: Task
    frames: list[Frame] = field(default_factory=list)
    left: int = 0
    job: int = -1
    lock: str = ""
    store: str = ""
    until: int | None = None
    since: int = 0
    over: bool = False

    @property
    def thread(self) -> str:
        cpi = self.frames[-1].cpi
        return self.task.name if cpi is None else f"{cpi.name}@{self.task.name}"

    @property
    def is_silent(self) -> bool:
        """Whether the next step neither takes time nor is a request or the end of a job."""
        frame = self.frames[-1]
        if frame.at == len(frame.body):
            return frame.cpi is not None and self.left == 0
        return frame.body[frame.at][0] not in ("work", "call") and self.left == 0

    @property
    def can_run(self) -> bool:
        return bool(self.frames) and not self.lock and not self.store


@dataclass(frozen=True)
class Moment:
    """From `start` on time passes. The thread of each task that is in a job, and its effective priority."""

    start: int
    running: str
    priorities: dict[str, int]


class Reference:
    """`run` executes all jobs. `ends` are the times at which they end, by task."""

    def __init__(
        self,
        tasks: Iterable[Task],
        cpis: Iterable[Cpi],
        stores: Iterable[Store],
        among: Callable[[int, dict[str, bool], int], str],
    ) -> None:
        self.flows = [Flow(task) for task in tasks]
        self.cpis = {cpi.name: cpi for cpi in cpis}
        self.stores = {store.name: store for store in stores}
        self.count = dict.fromkeys(self.stores, 0)
        self.holder: dict[str, Flow] = {}
        self.among = among
        self.now = 0
        self.order = 0
        self.done = 0
        self.last: Flow | None = None
        self.ends: dict[str, list[int]] = {flow.task.name: [] for flow in self.flows}
        self.moments: list[Moment] = []

    def effective(self) -> dict[str, int]:
        """By task, as the least that satisfies the definition."""
        value = {flow.task.name: flow.task.priority for flow in self.flows}
        changed = True
        while changed:
            changed = False
            for flow in self.flows:
                helped = [self.holder[flow.lock].task.name] if flow.lock else []
                helped += self.stores[flow.store].helpers if flow.store else ()
                for name in helped:
                    if name != flow.task.name and value[name] < value[flow.task.name]:
                        value[name] = value[flow.task.name]
                        changed = True
        return value

    def first(self, waiting: list[Flow]) -> Flow:
        value = self.effective()
        return min(waiting, key=lambda flow: (-value[flow.task.name], flow.since))

    # -- locks and waits

    def enqueue(self, flow: Flow, *, lock: str = "", store: str = "") -> None:
        self.order += 1
        flow.lock, flow.store, flow.since = lock, store, self.order

    def take(self, flow: Flow, lock: str) -> None:
        flow.store, flow.until = "", None
        if lock in self.holder:
            self.enqueue(flow, lock=lock)
        else:
            self.holder[lock] = flow

    def free(self, lock: str) -> None:
        del self.holder[lock]
        waiting = [flow for flow in self.flows if flow.lock == lock]
        if waiting:
            following = min(waiting, key=lambda flow: (-self._of(flow, waiting), flow.since))
            following.lock = ""
            self.holder[lock] = following

    def _of(self, flow: Flow, waiting: list[Flow]) -> int:
        """The priority of one that waits for a lock which no task holds."""
        locks = [other.lock for other in waiting]
        for other in waiting:
            other.lock = ""
        value = self.effective()[flow.task.name]
        for other, lock in zip(waiting, locks, strict=True):
            other.lock = lock
        return value

    def leave(self, flow: Flow) -> None:
        """A wait ends: in a monitor it goes on with the lock."""
        store = self.stores[flow.store]
        if store.monitor:
            self.take(flow, store.name)
        else:
            flow.store, flow.until = "", None

    def signal(self, store: str) -> bool:
        waiting = [flow for flow in self.flows if flow.store == store]
        if waiting:
            self.leave(self.first(waiting))
        return bool(waiting)

    # -- steps

    def wait(self, flow: Flow, name: str, limit: int) -> None:
        """The step is repeated after a wait in a monitor, which need not have what it waited for."""
        frame = flow.frames[-1]
        if flow.over or self.count[name] > 0:
            self.count[name] -= not flow.over
            flow.over = False
            return
        if self.stores[name].monitor:
            frame.at -= 1
            self.free(name)
        self.enqueue(flow, store=name)
        flow.until = self.now + limit if limit else None

    def step(self, flow: Flow) -> None:
        frame = flow.frames[-1]
        if frame.at == len(frame.body):
            flow.frames.pop()
            if frame.cpi is None:
                self.done += 1
                self.ends[flow.task.name].append(self.now)
                self.begin(flow)
            elif frame.cpi.lock:
                self.free(frame.cpi.lock)
            return
        what, name, number = frame.body[frame.at]
        frame.at += 1
        self.done += what in ("work", "call")
        match what:
            case "work":
                flow.left = number
            case "call":
                cpi = self.cpis[name]
                flow.frames.append(Frame(cpi, cpi.body))
                if cpi.lock:
                    self.take(flow, cpi.lock)
            case "wait" | "get":
                self.wait(flow, name, number)
            case "post":
                if not self.signal(name):
                    self.count[name] += 1
            case "put":
                self.count[name] += 1
                self.signal(name)
            case "all":
                self.count[name] += 2
                while self.signal(name):
                    pass

    def begin(self, flow: Flow) -> None:
        """The next job, if it is released."""
        releases = flow.task.releases
        if not flow.frames and flow.job + 1 < len(releases) and releases[flow.job + 1] <= self.now:
            flow.job += 1
            flow.frames.append(Frame(None, flow.task.body))

    # -- time

    def arrive(self) -> None:
        """Releases, and ends of waits, the most urgent first."""
        for flow in self.flows:
            self.begin(flow)
        while over := [f for f in self.flows if f.store and f.until is not None and f.until <= self.now]:
            flow = self.first(over)
            monitor = self.stores[flow.store].monitor
            flow.over = monitor
            self.leave(flow)

    def next(self) -> int | None:
        times = [flow.until for flow in self.flows if flow.store and flow.until is not None]
        times += [r for flow in self.flows for r in flow.task.releases if r > self.now]
        return min((time for time in times if time > self.now), default=None)

    def run(self, until: int) -> None:
        while self.now < until:
            self.arrive()
            value = self.effective()
            ready = [flow for flow in self.flows if flow.can_run]
            highest = max((value[flow.task.name] for flow in ready), default=0)
            first = [flow for flow in ready if value[flow.task.name] == highest]
            names = {flow.task.name: flow.left > 0 for flow in first}
            following = self.next()
            if not names:
                if following is None:
                    break
                self.now = following
                continue
            goes_on = self.last is not None and self.last in first and self.last.is_silent
            if self.last is None or not goes_on:
                name = next(iter(names)) if len(names) == 1 else self.among(self.now, names, self.done)
                self.last = next(flow for flow in first if flow.task.name == name)
            flow, name = self.last, self.last.task.name
            if flow.left == 0:
                self.step(flow)
                continue
            busy = [each for each in self.flows if each.frames]
            priorities = {each.thread: value[each.task.name] for each in busy}
            self.moments.append(Moment(self.now, name, priorities))
            stop = min(self.now + flow.left, following or until, until)
            flow.left -= stop - self.now
            self.now = stop
