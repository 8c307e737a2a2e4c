# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems of threads that wait for each other; their reports beside the reference: `python -m
tests.report.random_wait_systems --count 1000`. For each system: the state of every task at each instant with
the holders of what it waits for, the time that each job was blocked, and the deadlocks."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.outcome import Outcome
from camkes.running.model import Lane, State, StateSegment
from camkes.running.waits import deadlocks

from .wait_reference import Doing, Reference, Server, Step, Task, Unit

US = 1000
PERIOD = 5000 * US
END = 5 * PERIOD

_KINDS = {
    State.RUNNING: "runs",
    State.READY: "ready",
    State.PREEMPTED: "ready",
    State.HELD_UP: "ready",
    State.NOT_STARTED: "ready",
    State.WAITS_LOCK: "lock",
    State.WAITS_MUTEX: "mutex",
    State.WAITS_SEMAPHORE: "semaphore",
    State.WAITS_EVENT: "event",
    State.WAITS_SERVER: "server",
    State.WAITS_REPLY: "reply",
}


@dataclass
class System:
    """`emitters` are those of events, by the instance that consumes it."""

    tasks: list[Task] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)

    def reference(self) -> Reference:
        return Reference(self.tasks, self.servers, self.units)


class _Maker:
    """Interfaces call those of later instances; so calls alone never are a cycle."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.system = System()
        self.units: dict[str, list[Unit]] = {}
        self.locks: set[str] = set()  # those that are given after they were taken

    def work(self) -> Step:
        return "work", self.rng.randint(5 * US, 60 * US)

    def body(
        self, instance: str, callees: list[str], depth: int = 0, taken: tuple[Unit, ...] = ()
    ) -> list[Step]:
        """Work, with sections under what is a lock, calls, and signals; a signal is waited for elsewhere."""
        steps: list[Step] = [self.work()]
        for _ in range(self.rng.randint(1, 2)):
            again = self.rng.random() < 0.02
            locks = [
                unit
                for unit in self.units[instance]
                if unit.name in self.locks and (again or unit not in taken)
            ]
            signals = [
                unit
                for unit in self.units[instance]
                if unit.name not in self.locks and unit.kind == "semaphore"
            ]
            choice = self.rng.random()
            if locks and choice < 0.7 and depth < 3:
                unit = self.rng.choice(locks)
                inner = self.body(instance, callees, depth + 1, (*taken, unit))
                steps += [("take", unit.name), *inner, ("give", unit.name)]
                if self.rng.random() < 0.004:
                    steps.pop()  # it is forgotten
            elif callees and choice < 0.85:
                steps.append(("call", self.rng.choice(callees)))
            elif signals and choice < 0.9:
                unit = self.rng.choice(signals)
                steps.append((self.rng.choice(("take", *["give"] * 4)), unit.name))
            steps.append(self.work())
        return steps

    def make(self) -> System:
        rng, system = self.rng, self.system
        names = [f"s{number}" for number in range(rng.choice((1, 1, 2, 3)))]
        callable_: list[str] = []
        for name in reversed(names):
            self.units[name] = [
                Unit(f"{name}.{m}", "mutex", 1, 1) for m in ("m", "n")[: rng.choice((0, 1, 1, 2))]
            ]
            if rng.random() < 0.4:
                self.units[name].append(Unit(f"{name}.v", "semaphore", rng.choice((1, 1, 2))))
            self.locks |= {unit.name for unit in self.units[name]}
            if rng.random() < 0.5:
                self.units[name].append(Unit(f"{name}.u", "semaphore", rng.choice((0, 0, 1))))
            later = list(callable_)
            for interface in ("p", "q", "r")[: rng.randint(2, 3)]:
                inherited = rng.random() < 0.3
                body = self.body(
                    name, [] if inherited else [each for each in later if not self.protocol(each)]
                )
                priority = rng.choice((0, 0, rng.randint(1, 20)))  # 0: that of its most urgent client
                system.servers.insert(0, Server(f"{name}.{interface}", priority, tuple(body), inherited))
                callable_.append(f"{name}.{interface}")
        count = rng.randint(2, 5)
        priorities = rng.sample(range(2, 24), count)
        for number, priority in enumerate(priorities):
            name = f"t{number}"
            self.units[name] = []
            body = self.body(name, callable_, 3)
            body += [("call", rng.choice(callable_)), self.work()]
            offset = rng.randint(1, 80) * US + 17 * number + 3
            system.tasks.append(Task(name, priority * 10, offset, PERIOD, tuple(body)))
        self.add_events()
        system.units = [unit for units in self.units.values() for unit in units]
        self.finish()
        return system

    def protocol(self, name: str) -> bool:
        return next(server.inherited for server in self.system.servers if server.name == name)

    def add_events(self) -> None:
        """A task emits, and another task, or an interface that it does not call, waits."""
        rng, system = self.rng, self.system
        for number in range(rng.choice((0, 0, 1, 2))):
            emitter, consumer = rng.sample(range(len(system.tasks)), 2)
            name = f"{system.tasks[consumer].name}.e{number}"
            self.units[system.tasks[consumer].name].append(Unit(name, "event", 0))
            for index, step in ((emitter, ("emit", name)), (consumer, ("await", name))):
                task = system.tasks[index]
                at = rng.randrange(len(task.body) + 1)
                body = (*task.body[:at], step, *task.body[at:])
                system.tasks[index] = Task(task.name, task.priority, task.offset, task.period, body)

    def finish(self) -> None:
        """What nothing calls is left out; priorities of servers are different from all others."""
        system = self.system
        called: set[str] = set()
        pending = [name for task in system.tasks for what, name in task.body if what == "call"]
        bodies = {server.name: server.body for server in system.servers}
        while pending:
            name = str(pending.pop())
            if name not in called:
                called.add(name)
                pending += [callee for what, callee in bodies[name] if what == "call"]
        system.servers = [server for server in system.servers if server.name in called]
        for number, server in enumerate(system.servers):
            priority = (server.priority or 24) * 10 + 1 + number
            system.servers[number] = Server(server.name, min(priority, 253), server.body, server.inherited)
        used = {str(name) for body in (*bodies.values(), *(t.body for t in system.tasks)) for _, name in body}
        kept = {server.name.partition(".")[0] for server in system.servers} | {t.name for t in system.tasks}
        system.units = [u for u in system.units if u.name in used and u.name.partition(".")[0] in kept]


def random_system(seed: int) -> System:
    return _Maker(seed).make()


def word(name: str) -> str:
    return "to_" + name.replace(".", "_")


def code(body: tuple[Step, ...], units: dict[str, Unit]) -> str:
    lines = []
    for what, name in body:
        if isinstance(name, int):
            lines.append(f"camkes_work({name});")
            continue
        member = name.partition(".")[2]
        kind = units[name].kind if name in units else ""
        function = {
            ("take", "mutex"): "lock", ("give", "mutex"): "unlock", ("take", "semaphore"): "wait",
            ("give", "semaphore"): "post", ("await", "event"): "wait",
        }.get((what, kind))  # fmt: skip
        if what == "call":
            lines.append(f"{word(name)}_go();")
        elif what == "emit":
            lines.append(f"{word(name)}_emit();")
        else:
            lines.append(f"(void)!{member}_{function}();" if kind != "event" else f"{member}_{function}();")
    return "\n".join(lines)


def write(system: System, folder: Path) -> Path:
    """The system as a user would write it."""
    units = {unit.name: unit for unit in system.units}
    servers = {server.name: server for server in system.servers}
    members: dict[str, list[str]] = {task.name: ["control; requestor;"] for task in system.tasks}
    members |= {name.partition(".")[0]: [] for name in servers}
    functions: dict[str, list[str]] = {name: [] for name in members}
    ends: dict[str, list[str]] = {}
    configuration, composition = [], []

    def add(instance: str, body: tuple[Step, ...]) -> None:
        for what, name in body:
            if what not in ("call", "emit"):
                continue
            member = f"uses P {word(str(name))};" if what == "call" else f"emits E {word(str(name))};"
            if member not in members[instance]:
                members[instance].append(member)
                ends.setdefault(str(name), []).append(f"from {instance}.{word(str(name))}")

    for task in system.tasks:
        add(task.name, task.body)
        loop = f"while (camkes_next_job()) {{\n{code(task.body, units)}\n}}"
        functions[task.name].append(f"int run(void)\n{{\n{loop}\nreturn 0;\n}}")
        settings = {"priority": task.priority, "period": f"{task.period} ns", "offset": f"{task.offset} ns"}
        configuration += [f"{task.name}._{key} = {value};" for key, value in settings.items()]
    for server in system.servers:
        instance, interface = server.name.split(".")
        members[instance].append(
            f"provides P {interface}{' with priority_protocol inherited, requests ()' * server.inherited};"
        )
        add(instance, server.body)
        functions[instance].append(f"void {interface}_go(void)\n{{\n{code(server.body, units)}\n}}")
        if not server.inherited:
            configuration.append(f"{server.name}_priority = {server.priority};")
    for unit in system.units:
        instance, member = unit.name.split(".")
        if instance in members:
            declared = f"consumes E {member};" if unit.kind == "event" else f"has {unit.kind} {member};"
            members[instance].append(declared)
        if unit.kind == "semaphore" and instance in members:
            configuration.append(f"{unit.name}_value = {unit.value};")
    for name, froms in ends.items():
        connector = "seL4RPCCall" if name in servers else "seL4Notification"
        composition.append(f"connection {connector} of_{word(name)}({', '.join(froms)}, to {name});")
    types = [f"component {name.title()} {{ {' '.join(items)} }}" for name, items in members.items()]
    instances = [f"component {name.title()} {name};" for name in members]
    text = "\n".join(
        [
            "import <std_connector.camkes>;",
            "procedure P { void go(); }",
            *types,
            "assembly { composition {",
            *instances,
            *composition,
            "} configuration {",
            *configuration,
            "} }",
            "",
        ]
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "system.camkes").write_text(text)
    for name, texts in functions.items():
        (folder / f"{name.title()}.c").write_text("#include <camkes.h>\n" + "\n".join(texts) + "\n")
    return folder / "system.camkes"


def ran(path: Path, duration: int = END) -> Outcome:
    sink = Sink()
    options = pipeline.RunSettings(output=path.parent / "out", duration=duration, fast=True, verify=True)
    outcome = pipeline.run(pipeline.Input(path), options, sink, lambda _: None)
    assert outcome is not None, [(d.message, d.notes) for d in sink.diagnostics]
    said = any(d.code.number == "E0737" for d in sink.diagnostics)
    assert said == bool(deadlocks(outcome.run.waits)) == outcome.failed
    return outcome


def _doing(segment: StateSegment) -> Doing:
    kind = _KINDS[segment.state]
    holders = tuple((each.thread, each.since) for each in segment.holders) if kind != "server" else ()
    return kind, "" if kind == "ready" else segment.what, holders


def lane_of(lane: Lane) -> list[tuple[int, int, Doing]]:
    """What a task did, as the reference has it."""
    found: list[tuple[int, int, Doing]] = []
    for segment in lane.segments:
        doing = _doing(segment)
        if found and found[-1][1:] == (segment.start, doing):
            found[-1] = (found[-1][0], segment.end, doing)
        else:
            found.append((segment.start, segment.end, doing))
    return found


def problems(system: System, outcome: Outcome) -> list[str]:
    """Where `run` and the reference differ."""
    run, reference = outcome.run, system.reference()
    reference.run(END)
    found = []
    for lane in run.tasks:
        name = lane.task.name
        jobs = [[job.release, job.end] for job in lane.jobs if job.release < END]
        if jobs != reference.jobs[name]:
            found.append(f"{name}: jobs {jobs}, not {reference.jobs[name]}")
        blocked = [job.blocked for job in lane.jobs if job.release < END]
        if blocked != reference.blocked[name]:
            found.append(f"{name}: blocked {blocked}, not {reference.blocked[name]}")
        said, true = lane_of(lane), reference.lanes[name]
        different = next((pair for pair in zip(said, true, strict=False) if pair[0] != pair[1]), None)
        if different is not None or len(said) != len(true):
            found.append(f"{name}: {different} ({len(said)} and {len(true)} states)")
    names = run.names
    said = {frozenset(names.thread_name(s.thread) for s in each.steps) for each in deadlocks(run.waits)}
    found += [f"{sorted(cycle)} is a deadlock" for cycle in set(reference.cycles()) - said]
    before = reference.standing()
    reference.run(6 * END)
    after = reference.standing()
    for name in sorted(set().union(*said)):
        if name not in before or before[name] != after.get(name):
            found.append(f"{name} is in no deadlock: {before.get(name)}, then {after.get(name)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    wrong, counts = 0, Counter[str]()
    for seed in range(arguments.first, arguments.first + arguments.count):
        with tempfile.TemporaryDirectory() as folder:
            system = random_system(seed)
            outcome = ran(write(system, Path(folder)))
            found = problems(system, outcome)
        counts["deadlocked"] += bool(deadlocks(outcome.run.waits))
        states = {segment.state.value for lane in outcome.run.tasks for segment in lane.segments}
        counts.update(state for state in states if "waits" in state)
        counts["blocked"] += any(job.blocked for lane in outcome.run.tasks for job in lane.jobs)
        wrong += bool(found)
        if found:
            print(f"{seed}:", *found, sep="\n    ", flush=True)
    print(f"{arguments.count} systems, {wrong} with mistakes; {dict(counts)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
