# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How long a large system takes to resolve, plan and check, and how much memory.

Servers stand in layers; each calls three servers of the next layer, and tasks call six of the first. Nested
inheritance everywhere, so that every ceiling and every pool follows from all tasks that reach it. Prints the
times for half the size too: twice the size should take twice the time.

    .venv/bin/python benchmarks/scale.py [INSTANCES]      (2,000: about 6,000 connections)
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CALLS_OF_A_TASK = 6
CALLS_OF_A_SERVER = 3
LAYERS = 10


def uses(count: int) -> str:
    return "".join(f" uses P to{i};" for i in range(count))


def write_system(instances: int, *, plain: bool = False) -> str:
    """The text of a system; a tenth of the instances are tasks. A plain one is without real-time words."""
    generator = random.Random(instances)
    tasks = [f"task{i}" for i in range(instances // 10)]
    servers = [f"server{i}" for i in range(instances - len(tasks))]
    size = len(servers) // LAYERS
    layers = [servers[i * size : (i + 1) * size if i < LAYERS - 1 else None] for i in range(LAYERS)]
    inherited = "" if plain else "with priority_protocol inherited"
    requestor = "" if plain else "requestor;"
    lines = [
        "import <std_connector.camkes>;",
        "procedure P { int work(in int amount); }",
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


def measure(path: Path) -> None:
    """Load, plan and check a system in this process, and say what each took."""
    from camkes.diagnostics import Sink
    from camkes.protocols import analyse
    from camkes.resolve import LoadOptions, load

    sink = Sink()
    begin = time.process_time()
    system = load(path, LoadOptions(), sink)
    loaded = time.process_time()
    assert system is not None, sink.diagnostics
    plan = analyse(system, sink)
    end = time.process_time()
    assert plan is not None, sink.diagnostics[:3]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts = sum(len(connection.names) for connection in system.connections)
    print(
        f"{len(system.instances):6} instances {parts:6} connections: "
        f"parse and resolve {loaded - begin:6.2f} s, plan and check {end - loaded:6.2f} s, "
        f"together {end - begin:6.2f} s of CPU, {memory:5.0f} MiB at most"
    )


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]))
        return
    instances = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        for size in (instances // 2, instances):
            path = Path(folder) / f"scale{size}.camkes"
            path.write_text(write_system(size), encoding="utf-8")
            subprocess.run([sys.executable, __file__, "--measure", str(path)], check=True)


if __name__ == "__main__":
    main()
