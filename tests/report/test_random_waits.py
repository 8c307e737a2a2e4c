# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems of tasks, nested locks, semaphores, monitors and waits until a time: on the host kernel each
job ends when it does in the reference, and whenever time passes every thread has its effective priority."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

import pytest

from camkes.running.decode import decode
from camkes.running.kinds import Kind
from camkes.running.model import Run as Decoded
from camkes.running.model import State
from tests.report.waiting import Cpi, Reference, Step, Store, Task
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("AN-28")

US = 1000
PERIOD = 3000 * US
JOBS = 2
END = JOBS * PERIOD + 7

System = tuple[list[Task], list[Cpi], list[Store]]


def random_system(seed: int) -> System:
    """Tasks, each of which brings to some stores and takes from others, and locks on their way. No release
    coincides with an end of work."""
    rng = random.Random(seed)

    def work(most: int) -> Step:
        return "work", "", rng.randint(2, most) * US + rng.randint(1, 900)

    names = [f"c{i}.p" for i in range(rng.randint(1, 3))]
    locks = []
    for i, name in enumerate(names):
        body = [work(20)]
        for callee in rng.sample(names[i + 1 :], min(len(names) - i - 1, rng.randint(0, 1))):
            body += [("call", callee, 0), work(4)]
        locks.append(Cpi(name, rng.choice([name, name, ""]), tuple(body)))
    priorities = sorted(rng.sample(range(10, 100), rng.randint(3, 6)))
    tasks = [f"t{i}" for i in range(len(priorities))]
    stores, cpis, brings, takes = [], [], {}, {}
    for i in range(rng.randint(1, 3)):
        name, monitor = f"s{i}", rng.random() < 0.6
        shuffled = rng.sample(tasks, len(tasks))
        some = rng.randint(1, max(1, len(tasks) // 2))
        brings[name], takes[name] = sorted(shuffled[:some]), sorted(shuffled[some : some + 3])
        stores.append(Store(name, monitor, tuple(brings[name])))
        inside = [("call", rng.choice(names), 0), work(4)] if rng.random() < 0.5 else []
        signal = rng.choice(["put", "put", "all"]) if monitor else "post"
        limit = rng.randint(20, 300) * US + rng.randint(1, 900) if rng.random() < 0.5 else 0
        lock = name if monitor else ""
        put = (work(8), *inside, (signal, name, 0), work(8))
        get = (work(8), ("get" if monitor else "wait", name, limit), work(8))
        cpis += [Cpi(f"{name}.put", lock, put), Cpi(f"{name}.get", lock, get)]
    found = []
    for i, (task, priority) in enumerate(zip(tasks, priorities, strict=True)):
        requests = [f"{s}.put" for s in brings if task in brings[s]]
        requests += [f"{s}.get" for s in takes if task in takes[s]] + rng.sample(names, rng.randint(0, 1))
        body = [work(30)]
        for callee in rng.sample(requests, len(requests)):
            body += [("call", callee, 0), work(20)]
        first = rng.randint(2, 150) * US + 13 * i
        releases = tuple(first + job * PERIOD for job in range(JOBS))
        found.append(Task(task, priority, releases, tuple(body)))
    bodies = [*(task.body for task in found), *(cpi.body for cpi in (*cpis, *locks))]
    used = {name for body in bodies for what, name, _ in body if what == "call"}
    served = [cpi for cpi in (*cpis, *locks) if cpi.name in used]
    return found, served, stores


def demand(body: tuple[Step, ...], cpis: list[Cpi]) -> int:
    """How long a body works with all that it requests."""
    total = sum(number for what, _, number in body if what == "work")
    called = [cpi for what, name, _ in body if what == "call" for cpi in cpis if cpi.name == name]
    return total + sum(demand(cpi.body, cpis) for cpi in called)


def word(name: str) -> str:
    return "to_" + name.replace(".", "_")


def code(body: tuple[Step, ...], work: str = "camkes_work({n});") -> str:
    """As C, for a handler or a job."""
    texts = {
        "work": work,
        "call": "{use}_go();",
        "post": "(void)!{s}_post();",
        "put": "items++; {s}_signal();",
        "all": "items += 2; {s}_broadcast();",
    }
    lines = []
    for what, name, number in body:
        until = f"{name}_wait_until(camkes_now() + {number})"
        if what == "wait":
            lines.append(f"(void)!{until if number else f'{name}_wait()'};")
        elif what == "get" and number:
            lines.append(f"int over = 0; while (items == 0 && !over) {{ over = {until}; }}")
            lines.append("if (!over) { items--; }")
        elif what == "get":
            lines.append(f"while (items == 0) {{ {name}_wait(); }} items--;")
        else:
            lines.append(texts[what].format(n=number, use=word(name), s=name))
    return "\n".join(lines)


def written(
    system: System, jobs: int = JOBS, work: Callable[[str], str] = lambda _: "camkes_work({n});"
) -> tuple[str, dict[str, str]]:
    """The system as a user would write it, with the helpers stated, and the code of its components. `work` is
    how an instance works for {n} ns."""
    tasks, cpis, stores = system
    composition, configuration, components, sources = [], [], [], {}
    ends: dict[str, list[str]] = {}
    instances: dict[str, list[str]] = {task.name: ["control; requestor;"] for task in tasks}
    bodies = {task.name: [("run", task.body)] for task in tasks}
    for cpi in cpis:
        name, interface = cpi.name.split(".")
        called = [word(callee) for what, callee, _ in cpi.body if what == "call"]
        clauses = "inherited" if cpi.lock else "propagated"
        clauses += f", monitor {name}_lock" if cpi.lock == name else ""
        clauses += f", requests ({', '.join(called)})"
        instances.setdefault(name, []).append(f"provides P {interface} with priority_protocol {clauses};")
        bodies.setdefault(name, []).append((f"{interface}_go", cpi.body))
    for store in stores:
        if store.name in instances:
            kind = "condition" if store.monitor else "semaphore"
            instances[store.name].append(f"has {kind} {store.name} with helpers;")
            helpers = ", ".join(f'"{name}"' for name in store.helpers)
            configuration.append(f"{store.name}.{store.name}_helpers = [{helpers}];")
            if not store.monitor:
                configuration.append(f"{store.name}.{store.name}_value = 0;")
    for name, items in instances.items():
        callees = {callee for _, body in bodies[name] for what, callee, _ in body if what == "call"}
        for callee in sorted(callees):
            items.append(f"uses P {word(callee)};")
            ends.setdefault(callee, []).append(f"from {name}.{word(callee)}")
        components.append(f"component {name.title()} {{ {' '.join(items)} }}")
        composition.append(f"component {name.title()} {name};")
        functions = []
        for function, body in bodies[name]:
            text = code(body, work(name))
            if function == "run":
                loop = f"for (int job = 0; job < {jobs} && camkes_next_job(); job++) {{ {text} }}"
                functions.append(f"int run(void) {{ {loop} return 0; }}")
            else:
                functions.append(f"void {function}(void) {{ {text} }}")
        items_of = "static int items __attribute__((unused));\n"
        sources[name.title()] = items_of + "\n".join(functions) + "\n"
    for task in tasks:
        settings = {"priority": task.priority, "period": f"{PERIOD} ns", "offset": f"{task.releases[0]} ns"}
        configuration += [f"{task.name}._{key} = {value};" for key, value in settings.items()]
    for callee, callers in ends.items():
        composition.append(f"connection seL4RPCCall of_{word(callee)}({', '.join(callers)}, to {callee});")
    text = "procedure P { void go(); }\n" + "\n".join(components)
    text += "\nassembly { composition {\n" + "\n".join(composition)
    return text + "\n} configuration {\n" + "\n".join(configuration) + "\n} }", sources


def chooser(ran: Run, found: Decoded) -> Callable[[int, dict[str, bool], int], str]:
    """Which of several tasks with one priority the run went on with."""
    threads = {thread.number: thread.name for thread in ran.names.threads}
    steps = (Kind.WORK, Kind.CALL_BEGIN, Kind.JOB_END)
    done = ((e.time, e.thread) for e in ran.events if e.kind in steps and e.thread is not None)
    order = [(time, threads[thread].rpartition("@")[2]) for time, thread in done]

    def among(time: int, begun: dict[str, bool], done: int) -> str:
        executing = [
            lane.task.name
            for lane in found.lanes
            for segment in lane.segments
            if segment.state is State.RUNNING and segment.start <= time < segment.end
        ]
        following = [name for at, name in order[done : done + 1] if at == time]
        following += [name for name in executing if begun.get(name)]
        following += [name for _, name in order[done : done + 1]]
        return next((name for name in following if name in begun), next(iter(begun)))

    return among


def compare(seed: int, folder: Path) -> tuple[int, int]:
    """Run a system and its reference. How often threads waited for conditions, and how often in vain."""
    system = random_system(seed)
    ran = build(folder, *written(system)).run("--fast", duration=END)
    assert ran.status == 0, ran.errors
    assert ran.violations() == []
    found = decode(ran.events, ran.names)
    reference = Reference(*system, chooser(ran, found))
    reference.run(END)
    ends = {lane.task.name: [job.end for job in lane.jobs if job.end is not None] for lane in found.lanes}
    assert ends == reference.ends
    threads = {thread.named.name: thread.priorities for thread in found.threads}
    for moment in reference.moments:
        for thread, priority in moment.priorities.items():
            changes = threads[thread]
            actual = changes[bisect_right(changes, (moment.start, 255)) - 1][1]
            assert actual == priority, f"{thread} at {moment.start} ns"
    return len(ran.of(Kind.COND_WAIT)), len(ran.of(Kind.COND_EXPIRE))


@pytest.mark.long
@pytest.mark.parametrize(
    "first", [10, *(pytest.param(n, marks=pytest.mark.long) for n in range(0, 200, 2) if n != 10)]
)
def test_jobs_and_effective_priorities_are_those_of_the_reference(first: int, tmp_path: Path) -> None:
    counts = [compare(seed, tmp_path / str(seed)) for seed in range(first, first + 2)]
    assert first != 10 or all(waits and expired for waits, expired in counts)
