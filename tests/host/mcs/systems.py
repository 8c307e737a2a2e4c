# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems of a few threads on an MCS kernel: their boot table, and what the trace of a run says about time.

Times are nanoseconds; `MS` and `US` are units. Threads do what their role in `roles.c` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.host.kernel import END, IDLE, REPLY, SWITCH, Record, Workplace, read_trace

US, MS = 1_000, 1_000_000
#: the kinds of records of an MCS kernel
BUDGET, BIND, CHARGE, POSTPONE, RELEASE, TIMEOUT = range(18, 24)
#: roles
WORKER, BUSY, CLIENT, SERVER, REPORTER = range(5)
#: those of `facts.c`
(
    UNBIND,
    CONFIGURE,
    SET_HANDLER,
    EXTEND,
    BIND_BLOCKED,
    LOWER,
    ERRORS,
    CARELESS,
    CONSUMED,
    YIELD_TO,
    UNBIND_AND_LOWER,
    NAMING,
) = range(12)
#: slots
FIRST, REPLY_SLOT, SECOND = 1, 2, 3


@dataclass(slots=True)
class System:
    """A boot table in the making; names of objects are those of the threads with something behind a colon."""

    objects: list[str] = field(default_factory=list)
    spaces: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)

    def object(self, name: str, kind: str) -> str:
        self.objects.append(f"object {name} {kind}")
        return name

    def thread(
        self, name: str, priority: int, role: int, number: int = 0, image: str = "roles.so", **slots: str
    ) -> str:
        """`slots`: sNUMBER="OBJECT RIGHTS BADGE"."""
        self.object(name, "tcb")
        self.spaces.append(f"space {name} {image}")
        self.spaces += [f"cap {slot[1:]} {cap}" for slot, cap in slots.items()]
        index = role | number << 8
        self.spaces.append(f"thread {name} {index} control {priority} 255 16384 0 - {name}")
        self.threads.append(name)
        return name

    def time(
        self, thread: str, budget: int, period: int, server: str = "sporadic", refills: int = 10,
        badge: int = 0, name: str = "",
    ) -> None:  # fmt: skip
        """Gives a thread ("-": none) a scheduling context of its own."""
        context = self.object(name or f"{thread}:sc", "scheduling-context 10")
        self.last.append(f"time {context} {thread} {budget} {period} {refills} {badge} {server}")

    def timeout(self, thread: str, endpoint: str, badge: int = 1) -> None:
        self.last.append(f"timeout {thread} {endpoint} WP {badge}")

    def jobs(self, thread: str, *jobs: tuple[int, int, int]) -> None:
        """Offset, period (0: once) and duration of each kind of job."""
        never = 1 << 50  # a timer with neither offset nor period is off
        for number, (offset, period, duration) in enumerate(jobs):
            timer = self.object(f"{thread}:t{number}", "timer")
            self.last.append(f"timer {timer} {thread}:n {duration} {offset} {period or never}")

    def worker(self, name: str, priority: int, *jobs: tuple[int, int, int]) -> str:
        """A thread with jobs; it needs time besides."""
        self.object(f"{name}:n", "notification")
        self.thread(name, priority, WORKER, s1=f"{name}:n R 0")
        self.jobs(name, *jobs)
        return name

    def server(self, name: str, priority: int, endpoint: str) -> str:
        self.object(endpoint, "endpoint")
        self.object(f"{name}:reply", "reply")
        return self.thread(name, priority, SERVER, s1=f"{endpoint} R 0", s2=f"{name}:reply - 0")

    def actor(self, name: str, priority: int, role: int, at: int | None = None, **slots: str) -> str:
        """A thread of `facts.c` with all the time that it wants; `at`: when it is signalled at first."""
        self.thread(name, priority, role, image="facts.so", **slots)
        self.time(name, 1_000 * MS, 1_000 * MS)
        if at is not None:
            self.object(f"{name}:n", "notification")
            self.spaces.insert(-1, f"cap 1 {name}:n R 0")
            self.jobs(name, (at, 0, 1))
        return name

    def passive_server(self, name: str, priority: int, endpoint: str, *, below: bool = False) -> str:
        """A server that has no time of its own once it waits; `below`: its priority is 5 then."""
        self.server(name, priority, endpoint)
        self.time(name, 1_000 * MS, 1_000 * MS)
        if below:
            start = f"{name}:start"
            caps = {"s4": f"{name}:sc - 0", "s5": f"{name} - 0", "s8": f"{start} - 0"}
            return self.actor(start, priority, UNBIND_AND_LOWER, **caps)
        return self.actor(f"{name}:start", priority, UNBIND, s4=f"{name}:sc - 0", s5=f"{name} - 0")

    def text(self) -> str:
        lines = ["camkes-host-table 1", "mcs", *self.objects, *self.spaces, *self.last]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Run:
    system: System
    records: list[Record]
    output: str

    def intervals(self, thread: str) -> list[tuple[int, int]]:
        """When a thread ran, as long as that is."""
        number = self.system.threads.index(thread)
        found: list[tuple[int, int]] = []
        since = None
        for record in self.records:
            if record.kind not in {SWITCH, IDLE, END}:
                continue
            if since is not None and record.time > since:
                if found and found[-1][1] == since:
                    found[-1] = (found[-1][0], record.time)
                else:
                    found.append((since, record.time))
            since = record.time if record.kind == SWITCH and record.thread == number else None
        return found

    def running_at_end(self, thread: str) -> int:
        """How long a thread has run without a break when the run ends: that is not charged yet."""
        end = self.records[-1].time
        return sum(b - a for a, b in self.intervals(thread) if b == end and self._runs_last(thread))

    def _runs_last(self, thread: str) -> bool:
        last = [r for r in self.records if r.kind in {SWITCH, IDLE}][-1]
        return last.kind == SWITCH and last.thread == self.system.threads.index(thread)

    def times(self, kind: int, thread: str) -> list[int]:
        number = self.system.threads.index(thread)
        return [r.time for r in self.records if r.kind == kind and r.thread == number]

    def answers(self, client: str) -> int:
        number = self.system.threads.index(client)
        return sum(r.kind == REPLY and r.other == number for r in self.records)

    def charged(self, thread: str) -> int:
        """To the context of the thread."""
        names = [line.split()[1] for line in self.system.objects]
        context = names.index(f"{thread}:sc")
        return sum(r.args[1] for r in self.records if r.kind == CHARGE and r.args[0] == context)


@dataclass(frozen=True, slots=True)
class Runner:
    workplace: Workplace

    def run(self, system: System, until: int, *options: str, notes: str = "") -> Run:
        """`notes`: what the kernel has to remark, as the ends of lines."""
        table = self.workplace.folder / "mcs.table"
        table.write_text(system.text())
        trace = Path("mcs.trace")
        done = self.workplace.run(table, "--fast", "--for", str(until), "--trace", str(trace), *options)
        assert done.returncode == 0, done.stderr
        assert done.stderr.endswith(notes) and bool(done.stderr) == bool(notes), done.stderr
        return Run(system, read_trace(self.workplace.folder / trace), done.stdout)
