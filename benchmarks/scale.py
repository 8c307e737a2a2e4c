# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How long large systems take to read, resolve, plan and check, and how much memory, in sizes that double.

The time divided by the size should stay the same. For each kind of system the largest is as large as anything
that a user may write; what nests more deeply than the tool allows must end in an error, as quickly.

    .venv/bin/python benchmarks/scale.py [KIND ...]
"""

from __future__ import annotations

import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CALLS_OF_A_TASK = 6
CALLS_OF_A_SERVER = 3
LAYERS = 10

PROCEDURE = """import <std_connector.camkes>;
procedure P { int work(in int amount); }
"""


def uses(count: int) -> str:
    return "".join(f" uses P to{i};" for i in range(count))


def write_system(instances: int, *, plain: bool = False) -> str:
    """Servers stand in layers; each calls three servers of the next layer, and tasks call six of the first.
    Nested inheritance everywhere, so that every ceiling and every pool follows from all tasks that reach it.
    A tenth of the instances are tasks. A plain one is without real-time words."""
    generator = random.Random(instances)
    tasks = [f"task{i}" for i in range(instances // 10)]
    servers = [f"server{i}" for i in range(instances - len(tasks))]
    size = len(servers) // LAYERS
    layers = [servers[i * size : (i + 1) * size if i < LAYERS - 1 else None] for i in range(LAYERS)]
    inherited = "" if plain else "with priority_protocol inherited"
    requestor = "" if plain else "requestor;"
    lines = [
        PROCEDURE,
        f"component Task {{ control; {requestor}{uses(CALLS_OF_A_TASK)} }}",
        f"component Server {{ provides P p {inherited};{uses(CALLS_OF_A_SERVER)} }}",
        f"component Leaf {{ provides P p {inherited}; }}",
        "assembly { composition {",
        *(f"component Task {task};" for task in tasks),
        *(f"component Server {server};" for layer in layers[:-1] for server in layer),
        *(f"component Leaf {server};" for server in layers[-1]),
    ]
    callers = [tasks, *layers[:-1]]
    for caller_layer, layer in zip(callers, layers, strict=True):
        calls = CALLS_OF_A_TASK if caller_layer is tasks else CALLS_OF_A_SERVER
        for caller in caller_layer:
            for i, server in enumerate(generator.sample(layer, calls)):
                end = f"from {caller}.to{i}, to {server}.p"
                lines.append(f"connection seL4RPCCall {caller}_{i}({end});")
    lines.append("} configuration {")
    for i, task in enumerate(tasks):
        lines.append(
            f"{task}._priority = {1 + i * 250 // len(tasks)}; {task}._period = {1000 * (1 + i % 97)};"
        )
    return "\n".join([*lines, "} }\n"])


def timed(text: str) -> str:
    """A system of `write_system` with execution times of all tasks and servers, and periods a thousand times
    as long."""
    text = re.sub(r"(task\d+)\._priority", r"\1._wcet = 1 us; \1._priority", text)
    text = re.sub(r"_period = (\d+);", r"_period = \1 ms;", text)
    names = re.findall(r"component \w+ (server\d+);", text)
    servers = "".join(f"{each}.p_wcet = {100 + index % 100} ns;" for index, each in enumerate(names))
    return f"{text.rstrip()[:-3]}{servers}}} }}\n"


CLUSTER = 100


def write_clusters(instances: int) -> str:
    """Clusters of about a hundred instances: tasks, servers of every protocol that call each other, events
    and shared memory. What a task reaches stays in its cluster, so that the plan grows as the system does."""
    generator = random.Random(instances)
    lines = [
        PROCEDURE,
        f"component Task {{ control; requestor;{uses(4)} dataport Buf shared; emits E done; }}",
        "component Watcher { control; dataport Buf shared; consumes E done; attribute int limits[]; }",
        f"component Lock {{ provides P p with priority_protocol inherited, requests (to0, to1);{uses(4)} }}",
        f"component Pass {{ provides P p with priority_protocol propagated;{uses(4)} }}",
        f"component Ceiling {{ provides P p with priority_protocol fixed;{uses(4)} }}",
        "component Leaf { provides P p with priority_protocol inherited, requests (); has mutex m; }",
        "assembly { composition {",
    ]
    settings = []
    for cluster in range(instances // CLUSTER):
        names: dict[str, list[str]] = {}
        # the later a server stands here, the deeper it lies
        kinds = [("Task", 10), ("Watcher", 10), ("Ceiling", 10), ("Lock", 25), ("Pass", 20), ("Leaf", 25)]
        for kind, count in kinds:
            names[kind] = [f"{kind.lower()}{cluster}_{i}" for i in range(count)]
            lines += [f"component {kind} {name};" for name in names[kind]]
        servers = [name for kind in ("Ceiling", "Lock", "Pass") for name in names[kind]]
        for caller in [*names["Task"], *servers]:
            first = servers.index(caller) + 1 if caller in servers else 0
            below = [*servers[first:], *names["Leaf"]]
            for i, server in enumerate(generator.sample(below, 4)):
                lines.append(f"connection seL4RPCCall {caller}_{i}(from {caller}.to{i}, to {server}.p);")
        for i, (task, watcher) in enumerate(zip(names["Task"], names["Watcher"], strict=True)):
            lines.append(
                f"connection seL4SharedData s{cluster}_{i}(from {task}.shared, to {watcher}.shared);"
            )
            lines.append(f"connection seL4Notification e{cluster}_{i}(from {task}.done, to {watcher}.done);")
            settings.append(f"{task}._priority = {1 + generator.randrange(250)};")
            settings.append(f"{task}._period = {generator.choice([1, 2, 5, 10, 20])} ms;")
            settings.append(f"{watcher}.limits = [{', '.join(map(str, range(i)))}];")
    return "\n".join([*lines, "} configuration {", *settings, "} }\n"])


def write_hierarchy(depth: int) -> str:
    """Compositions in components in components."""
    inner = [
        f"component C{i} {{ provides P p; composition {{ component C{i + 1} c; export c.p -> p; }} }}"
        for i in range(depth)
    ]
    last = f"component C{depth} {{ provides P p; }}"
    ends = "component C0 top; component Client client; connection seL4RPCCall r(from client.p, to top.p);"
    return "\n".join(
        [
            PROCEDURE,
            last,
            *reversed(inner),
            "component Client { control; uses P p; }",
            f"assembly {{ composition {{ {ends} }} }}",
        ]
    )


def write_clients(count: int) -> str:
    """One connection from many clients to one server."""
    clients = [f"component Client c{i};" for i in range(count)]
    ends = ", ".join(f"from c{i}.p" for i in range(count))
    priorities = [f"c{i}._priority = {1 + i % 200};" for i in range(count)]
    return "\n".join(
        [
            PROCEDURE,
            "component Client { control; requestor; uses P p; }",
            "component Server { provides P p with priority_protocol inherited; }",
            "assembly { composition { component Server server;",
            *clients,
            f"connection seL4RPCCall all({ends}, to server.p); }} configuration {{",
            *priorities,
            "} }",
        ]
    )


def write_chain(length: int) -> str:
    """Locks that call locks, each the next."""
    locks = [f"component Lock l{i};" for i in range(length)]
    calls = [f"connection seL4RPCCall n{i}(from l{i}.next, to l{i + 1}.p);" for i in range(length - 1)]
    return "\n".join(
        [
            PROCEDURE,
            "component Task { control; requestor; uses P p; }",
            "component Lock { provides P p with priority_protocol inherited; maybe uses P next; }",
            "assembly { composition { component Task a; component Task b;",
            *locks,
            *calls,
            "connection seL4RPCCall first(from a.p, from b.p, to l0.p);",
            "} configuration { a._priority = 10; b._priority = 20; } }",
        ]
    )


def write_text(kilobytes: int) -> str:
    """Definitions up to a size: procedures, components, comments."""
    lines = [PROCEDURE, "component Used { control; } assembly { composition { component Used used; } }"]
    size = number = 0
    while size < kilobytes * 1000:
        text = (
            f"/* The procedure of part {number}, and who provides it. */\n"
            f"procedure Q{number} {{ int first(in int a, out string b); void second(refin uint64_t c[]); }}\n"
            f"component Part{number} {{ provides Q{number} q; uses P p; attribute int size = {number}; }}\n"
        )
        lines.append(text)
        size += len(text)
        number += 1
    return "\n".join(lines)


def write_list(numbers: int) -> str:
    text = ", ".join(map(str, range(numbers)))
    return (
        "component A { control; attribute int numbers[]; }\n"
        f"assembly {{ composition {{ component A a; }} configuration {{ a.numbers = [{text}]; }} }}\n"
    )


def write_sum(terms: int) -> str:
    return (
        "component A { control; attribute int number; }\n"
        f"assembly {{ composition {{ component A a; }} configuration {{ a.number = {'1 + ' * terms}1; }} }}\n"
    )


def write_parentheses(depth: int) -> str:
    return (
        "component A { control; attribute int number; }\nassembly { composition { component A a; } "
        f"configuration {{ a.number = {'(' * depth}1{')' * depth}; }} }}\n"
    )


def write_lists_in_lists(depth: int) -> str:
    return (
        "component A { control; attribute int numbers[]; }\nassembly { composition { component A a; } "
        f"configuration {{ a.numbers = {'[' * depth}1{']' * depth}; }} }}\n"
    )


#: what is written, what its size counts, and the sizes
KINDS: dict[str, tuple[Callable[[int], str], str, tuple[int, ...]]] = {
    "clusters": (write_clusters, "instances", (500, 1000, 2000, 4000)),
    "layers": (write_system, "instances", (500, 1000, 2000, 4000)),
    "hierarchy": (write_hierarchy, "levels", (25, 50, 98, 10000)),
    "clients": (write_clients, "clients", (500, 1000, 2000, 4000)),
    "chain": (write_chain, "locks", (250, 500, 1000, 2000)),
    "text": (write_text, "kB", (1250, 2500, 5000, 10000)),
    "list": (write_list, "integers", (1000, 4000, 25000, 100000)),
    "sum": (write_sum, "terms", (50, 100, 1000, 100000)),
    "parentheses": (write_parentheses, "levels", (50, 100, 1000, 100000)),
    "lists in lists": (write_lists_in_lists, "levels", (50, 100, 1000, 100000)),
}


def measure(path: Path, size: int, unit: str) -> None:
    """Load, plan and check a system in this process, and say what each took."""
    from camkes.diagnostics import Sink
    from camkes.protocols import analyse
    from camkes.resolve import LoadOptions, load

    sink = Sink()
    begin = time.process_time()
    system = load(path, LoadOptions(), sink)
    loaded = time.process_time()
    plan = None if system is None or sink.has_errors else analyse(system, sink)
    end = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if plan is None or system is None:
        what = f"{sink.diagnostics[0].code.number}: {sink.diagnostics[0].message[:60]}"
    else:
        parts = sum(len(connection.names) for connection in system.connections)
        contexts = sum(len(cpi.contexts) for cpi in plan.cpis)
        what = f"{len(system.instances)} instances, {parts} connections, {contexts} contexts of CPIs"
    print(
        f"  {size:6} {unit:9} resolve {loaded - begin:6.2f} s, plan and check {end - loaded:5.2f} s, "
        f"{(end - begin) / size * 1e6:7.1f} us for each, {memory:4.0f} MiB; {what}",
        flush=True,
    )


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
        return
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        for kind in sys.argv[1:] or KINDS:
            write, unit, sizes = KINDS[kind]
            print(kind)
            for size in sizes:
                path = Path(folder) / f"scale{size}.camkes"
                path.write_text(write(size), encoding="utf-8")
                command = [sys.executable, __file__, "--measure", str(path), str(size), unit]
                subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    main()
