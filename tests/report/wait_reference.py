# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A reference for threads that wait for each other: tasks, plain servers, `inherited` CPIs, mutexes,
semaphores and events, under fixed priorities. It looks at no records: it executes the steps of a system, and
says what each task did at each instant, how long less urgent work or none ran before a job ended, and which
threads wait in a cycle.

No two threads that could execute at once have the same priority, and no two things happen at one instant but
those that one thread does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

#: ("work", ns), ("call", interface), ("take" | "give", mutex or semaphore), ("emit" | "await", event)
Step = tuple[str, str | int]


@dataclass(frozen=True)
class Task:
    name: str
    priority: int
    offset: int
    period: int
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Server:
    """An interface. Without a protocol one thread of this priority serves it; with one, a thread for each
    task serves it, under a lock."""

    name: str
    priority: int
    body: tuple[Step, ...]
    inherited: bool = False


@dataclass(frozen=True)
class Unit:
    """A mutex, a semaphore or an event. `most`: what its value can be."""

    name: str
    kind: str
    value: int
    most: int = 1 << 30


@dataclass(eq=False)
class Thread:
    """`waits` is a kind and a name; `origin` the task on whose behalf it works. `served` are its requests."""

    name: str
    priority: int
    body: tuple[Step, ...]
    origin: Task | None
    at: int = 0
    left: int = 0
    client: Thread | None = None
    busy: bool = False  # in a job, or a request
    waits: tuple[str, str] | None = None
    since: int = 0
    served: int = 0
    takes: State | None = None  # it was woken, and has not taken it yet
    server: Thread | None = None  # that has its request

    @property
    def can_run(self) -> bool:
        return self.busy and self.waits is None


@dataclass(eq=False)
class State:
    """Of a mutex, semaphore or event. It is a count, with the number of signals on their way, and a signal
    that is stored if none waits."""

    unit: Unit
    value: int
    signals: int = 0
    stored: bool = False
    queue: list[Thread] = field(default_factory=list)
    held: list[tuple[Thread, int]] = field(default_factory=list)
    #: whether all that gave it had taken it before, and all code that gives it also takes it
    as_lock: bool = True


@dataclass(eq=False)
class Lock:
    """Of a CPI."""

    name: str
    holder: Thread | None = None
    since: int = 0
    queue: list[Thread] = field(default_factory=list)


#: what a task does: a kind, of what, and (thread, since when) of those that have it
Doing = tuple[str, str, tuple[tuple[str, int], ...]]


class Reference:
    """`run` executes until a time. `lanes` are (start, end, what the task did) of each task, `jobs` the
    releases and ends of its jobs (None: not yet), `blocked` the time of each."""

    def __init__(self, tasks: Iterable[Task], servers: Iterable[Server], units: Iterable[Unit]) -> None:
        self.tasks = list(tasks)
        self.servers = {server.name: server for server in servers}
        self.units = {unit.name: State(unit, unit.value) for unit in units}
        self.control = {task.name: Thread(task.name, task.priority, task.body, task) for task in self.tasks}
        self.plain = {
            s.name: Thread(s.name, s.priority, s.body, None) for s in self.servers.values() if not s.inherited
        }
        self.workers = {
            (s.name, task.name): Thread(f"{s.name}@{task.name}", task.priority, s.body, task)
            for s in self.servers.values()
            if s.inherited
            for task in self.tasks
        }
        self.locks = {s.name: Lock(s.name) for s in self.servers.values() if s.inherited}
        self.queues: dict[str, list[Thread]] = {name: [] for name in self.plain}
        self.threads = [*self.control.values(), *self.plain.values(), *self.workers.values()]
        for body in self.bodies():
            for what, name in body:
                if what in ("give", "emit") and not {("take", name), ("await", name)} & set(body):
                    self.units[str(name)].as_lock = False
        given = {name for body in self.bodies() for what, name in body if what == "give"}
        for state in self.units.values():
            if state.unit.kind == "semaphore" and state.unit.name not in given:
                state.as_lock = False  # it counts down
        self.now = 0
        self.jobs: dict[str, list[list[int | None]]] = {task.name: [] for task in self.tasks}
        self.blocked: dict[str, list[int]] = {task.name: [] for task in self.tasks}
        self.lanes: dict[str, list[tuple[int, int, Doing]]] = {task.name: [] for task in self.tasks}

    def bodies(self) -> list[tuple[Step, ...]]:
        return [*(task.body for task in self.tasks), *(server.body for server in self.servers.values())]

    # -- releases

    def next_release(self) -> int:
        return min(task.offset + len(self.jobs[task.name]) * task.period for task in self.tasks)

    def release(self) -> None:
        for task in self.tasks:
            if task.offset + len(self.jobs[task.name]) * task.period == self.now:
                self.jobs[task.name].append([self.now, None])
                self.blocked[task.name].append(0)
                self.begin(self.control[task.name])

    def begin(self, thread: Thread) -> None:
        """The next job, if it is released."""
        if not thread.busy and any(end is None for _, end in self.jobs[thread.name]):
            thread.busy, thread.at = True, 0

    # -- steps

    def wait(self, thread: Thread, kind: str, name: str) -> None:
        thread.waits, thread.since = (kind, name), self.now

    def signal(self, state: State) -> None:
        if state.queue:
            woken = state.queue.pop(0)
            woken.waits, woken.takes = None, state
        else:
            state.stored = True

    def sleep(self, thread: Thread, state: State) -> None:
        if state.stored:
            state.stored = False
            thread.takes = state
        else:
            state.queue.append(thread)
            self.wait(thread, state.unit.kind, state.unit.name)

    def take(self, thread: Thread, state: State) -> None:
        state.value -= 1
        if state.value >= 0:
            state.held.append((thread, self.now))
        else:
            self.sleep(thread, state)

    def take_signal(self, thread: Thread) -> None:
        """What a thread does that was woken."""
        state, thread.takes = thread.takes, None
        assert state is not None
        if state.signals == 0:
            self.sleep(thread, state)
            return
        state.signals -= 1
        if state.signals > 0:
            self.signal(state)
        state.held.append((thread, self.now))

    def give(self, thread: Thread, state: State) -> None:
        if state.value >= state.unit.most:
            return
        state.value += 1
        mine = [unit for unit in state.held if unit[0] is thread]
        state.as_lock = state.as_lock and bool(mine)
        if state.held:
            first = [unit for unit in state.held if unit[0] is state.held[0][0]]
            state.held.remove((mine or first)[-1])
        if state.value <= 0:
            state.signals += 1
            self.signal(state)

    def call(self, thread: Thread, name: str) -> None:
        if not self.servers[name].inherited:
            server = self.plain[name]
            if server.busy:
                self.queues[name].append(thread)
                self.wait(thread, "server", name)
            else:
                self.receive(server, thread)
            return
        assert thread.origin is not None
        worker, lock = self.workers[name, thread.origin.name], self.locks[name]
        self.receive(worker, thread)
        if lock.holder is None:
            lock.holder, lock.since = worker, self.now
        else:
            lock.queue.append(worker)
            self.wait(worker, "lock", name)
            lock.holder.priority = max(lock.holder.priority, worker.priority)

    def receive(self, server: Thread, client: Thread) -> None:
        server.client, server.busy, server.at = client, True, 0
        server.origin = client.origin
        server.served += 1
        client.server = server
        self.wait(client, "reply", server.name)

    def end(self, thread: Thread) -> None:
        """Of a job or a request."""
        thread.busy = False
        if thread.client is None:
            job = next(job for job in self.jobs[thread.name] if job[1] is None)
            job[1] = self.now
            self.begin(thread)
            return
        thread.client.waits = thread.client.server = None
        thread.client = None
        name = thread.name.partition("@")[0]
        if name in self.locks:
            self.free(self.locks[name], thread)
        elif self.queues[name]:
            self.receive(thread, self.queues[name].pop(0))
        else:
            thread.origin = None

    def free(self, lock: Lock, thread: Thread) -> None:
        assert thread.origin is not None
        thread.priority = thread.origin.priority
        lock.holder = None
        if lock.queue:
            lock.holder = max(lock.queue, key=lambda worker: worker.priority)
            lock.since = self.now
            lock.queue.remove(lock.holder)
            lock.holder.waits = None
            lock.holder.priority = max([lock.holder.priority, *(worker.priority for worker in lock.queue)])

    def step(self, thread: Thread) -> None:
        if thread.takes is not None:
            self.take_signal(thread)
            return
        if thread.at == len(thread.body):
            self.end(thread)
            return
        what, name = thread.body[thread.at]
        thread.at += 1
        if isinstance(name, int):
            thread.left = name
        elif what == "call":
            self.call(thread, name)
        elif what in ("take", "await"):
            self.take(thread, self.units[name])
        else:
            self.give(thread, self.units[name])

    # -- time

    def run(self, until: int) -> None:
        while self.now < until:
            ready = [thread for thread in self.threads if thread.can_run]
            running = max(ready, key=lambda thread: thread.priority, default=None)
            if running is not None and running.left == 0:
                self.step(running)
                continue
            stop = min(self.next_release(), until)
            if running is not None:
                stop = min(stop, self.now + running.left)
                running.left -= stop - self.now
            self.note(running, stop)
            self.now = stop
            self.release()

    def note(self, running: Thread | None, stop: int) -> None:
        """What tasks do until then, and which of their jobs are blocked."""
        work = (
            -1 if running is None else running.priority if running.origin is None else running.origin.priority
        )
        for task in self.tasks:
            lane, doing = self.lanes[task.name], self.doing(task, running)
            if doing is not None:
                if lane and lane[-1][1:] == (self.now, doing):
                    lane[-1] = (lane[-1][0], stop, doing)
                else:
                    lane.append((self.now, stop, doing))
            for number, (_, end) in enumerate(self.jobs[task.name]):
                if end is None and work < task.priority:
                    self.blocked[task.name][number] += stop - self.now

    def doing(self, task: Task, running: Thread | None) -> Doing | None:
        thread = self.control[task.name]
        if not thread.busy:
            return None
        while thread.server is not None:
            thread = thread.server
        if thread is running:
            return "runs", "" if thread.client is None else thread.name.partition("@")[0], ()
        if thread.waits is None:
            return "ready", "", ()
        return (*thread.waits, tuple((holder.name, since) for holder, since in self.holders(thread)))

    def holders(self, thread: Thread) -> list[tuple[Thread, int]]:
        """Those that have what a thread waits for, and since when."""
        assert thread.waits is not None
        kind, name = thread.waits
        if kind == "lock":
            lock = self.locks[name]
            return [] if lock.holder is None else [(lock.holder, lock.since)]
        if kind in ("mutex", "semaphore"):
            state = self.units[name]
            lock = state.unit.value > 0 and state.as_lock
            units = reversed(state.held if lock or kind == "mutex" else [])
            first = dict(units)  # of each thread the first
            return sorted(first.items(), key=lambda unit: state.held.index(unit))
        return []

    # -- deadlocks

    def waits_for(self, thread: Thread) -> Thread | None:
        """The only thread that can end its wait, None: there is none, or there are several."""
        if thread.waits is None:
            return None
        if thread.waits[0] == "reply":
            return thread.server
        if thread.waits[0] == "server":
            return self.plain[thread.waits[1]]
        holders = {holder.name: holder for holder, _ in self.holders(thread)}
        return next(iter(holders.values())) if len(holders) == 1 else None

    def cycles(self) -> Iterator[frozenset[str]]:
        """Threads each of which waits for the next, and for no other."""
        for thread in self.threads:
            seen: list[Thread] = []
            at: Thread | None = thread
            while at is not None and at not in seen:
                seen.append(at)
                at = self.waits_for(at)
            if at is thread:
                yield frozenset(each.name for each in seen)

    def standing(self) -> dict[str, tuple[tuple[str, str], int]]:
        """The threads that wait: for what, and since when; or for a request, after so many."""
        waiting = {t.name: (t.waits, t.since) for t in self.threads if t.waits is not None}
        return waiting | {t.name: (("request", ""), t.served) for t in self.threads if not t.busy}
