# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What building for the host kernel costs: systems of many instances of two components.

    .venv/bin/python benchmarks/builds.py [--instances N ...] [--beside CHECKOUT] [--runs N]

Tasks and the servers that they call in groups of three, with an attribute that has another value in each
instance. The first build has an empty folder and a new cache, which has only the host kernel. Then there is
nothing to do; then one value is another one; then one source, of all tasks. The processor time of the command
and of all that it starts; with `--beside`, also of that checkout, each in turn, and how many times as long it
takes.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TASK = """#include <camkes.h>
int run(void)
{
    int sum = 0;
    while (camkes_next_job()) {
        sum += p_work(number);
        camkes_work(1000);
    }
    return sum < 0;
}
"""
SERVER = """#include <camkes.h>
static int calls;
int p_work(int amount)
{
    calls++;
    camkes_work(100);
    return amount + number + calls;
}
"""


def system(instances: int) -> str:
    servers = instances // 3
    tasks = instances - servers
    lines = [
        "import <std_connector.camkes>;",
        "procedure P { int work(in int amount); }",
        "component Task { control; requestor; uses P p; attribute int number; }",
        "component Server { provides P p with priority_protocol inherited; attribute int number; }",
        "assembly { composition {",
        *(f"component Task task{i};" for i in range(tasks)),
        *(f"component Server server{i};" for i in range(servers)),
    ]
    for i in range(servers):
        callers = ", ".join(f"from task{task}.p" for task in range(i, tasks, servers))
        lines.append(f"connection seL4RPCCall call{i}({callers}, to server{i}.p);")
    lines.append("} configuration {")
    for i in range(tasks):
        lines.append(f"task{i}._priority = {250 - i * 240 // tasks}; task{i}._period = {10 + i} ms;")
        lines.append(f"task{i}.number = {i};")
    lines += [f"server{i}.number = {i};" for i in range(servers)]
    return "\n".join([*lines, "} }\n"])


class Builder:
    """Builds with the tool of a checkout."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.environment |= {"PYTHONPATH": str(checkout), "XDG_CACHE_HOME": str(folder / "cache")}
        self.folder = folder

    def write(self, instances: int) -> None:
        self.root = self.folder / f"system{instances}"
        self.root.mkdir()
        (self.root / "big.camkes").write_text(system(instances))
        (self.root / "task.c").write_text(TASK)
        (self.root / "server.c").write_text(SERVER)

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.root / name
        file.write_text(file.read_text().replace(old, new))

    def seconds(self) -> float:
        words = [sys.executable, "-m", "camkes", "build", "-q", str(self.root), "-o", f"{self.root}-built"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, env=self.environment, stdout=subprocess.DEVNULL, cwd=self.folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


STEPS: dict[str, Callable[[Builder], None]] = {
    "first build": lambda _: None,
    "nothing to do": lambda _: None,
    "one value": lambda builder: builder.edit("big.camkes", "task1.number = 1;", "task1.number = 5;"),
    "one source": lambda builder: builder.edit("task.c", "1000", "2000"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--instances", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--beside", type=Path, help="a checkout of another version")
    parser.add_argument("--runs", type=int, default=3, help="of which the median is shown (default: 3)")
    arguments = parser.parse_args()
    checkouts = [ROOT] if arguments.beside is None else [ROOT, arguments.beside.resolve()]
    for instances in arguments.instances:
        found: dict[tuple[str, Path], list[float]] = {}
        for _ in range(arguments.runs):
            with tempfile.TemporaryDirectory() as folder:
                builders = {}
                for number, checkout in enumerate(checkouts):
                    place = Path(folder) / str(number)
                    place.mkdir()
                    builders[checkout] = Builder(checkout, place)
                    builders[checkout].write(3)
                    builders[checkout].seconds()  # compiles the host kernel
                    builders[checkout].write(instances)
                for step, prepare in STEPS.items():
                    for checkout, builder in builders.items():
                        prepare(builder)
                        found.setdefault((step, checkout), []).append(builder.seconds())
        print(f"{instances} instances")
        for step in STEPS:
            mine, *others = (statistics.median(found[step, checkout]) for checkout in checkouts)
            ratios = "".join(f"   beside {other:6.2f} s: {other / mine:5.1f} times" for other in others)
            print(f"  {step:14} {mine:6.2f} s{ratios}", flush=True)


if __name__ == "__main__":
    main()
