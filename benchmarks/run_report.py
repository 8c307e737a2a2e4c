# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a run with its JSON report costs: ten tasks that share a locked component, for 10 s of virtual time,
with nothing to build. Prints the processor time of the whole command, and of one that runs for 1 ms.

    .venv/bin/python benchmarks/run_report.py [ROUNDS]
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CAMKES = Path(sys.executable).parent / "camkes"
TASKS = 10
HEAD = "#include <camkes.h>\n"
TASK = """int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_US(300));
        store_go();
        camkes_work(CAMKES_US(200));
    }
    return 0;
}
"""
STORE = "void p_go(void)\n{\n    camkes_work(CAMKES_US(200));\n}\n"


def write_system(folder: Path) -> Path:
    """Periods of 10, 15, ... 55 ms, a release every 2.5 ms on average, and a request in each job."""
    names = [f"t{n}" for n in range(TASKS)]
    instances = " ".join(f"component Task {name};" for name in names)
    ends = ", ".join(f"from {name}.store" for name in names)
    settings = "\n".join(
        f"{name}._priority = {100 - n}; {name}._period = {10 + 5 * n} ms; {name}._offset = {n} ms;"
        for n, name in enumerate(names)
    )
    path = folder / "ten.camkes"
    path.write_text(
        "import <std_connector.camkes>;\nprocedure P { void go(); }\n"
        "component Task { control; requestor; uses P store; }\n"
        "component Store { provides P p with priority_protocol inherited; }\n"
        f"assembly {{ composition {{ {instances} component Store s;\n"
        f"connection seL4RPCCall calls({ends}, to s.p); }}\nconfiguration {{\n{settings}\n}} }}\n"
    )
    (folder / "task.c").write_text(HEAD + TASK)
    (folder / "store.c").write_text(HEAD + STORE)
    return path


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    result = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert len(json.loads(result.stdout)["tasks"]) == TASKS
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory() as folder:
        path = write_system(Path(folder))
        command = [str(CAMKES), "run", str(path), "-o", f"{folder}/out", "--json", "--for"]
        for _ in range(2):  # builds, writes bytecode
            cpu_seconds([*command, "1ms"])
        samples = {
            duration: [cpu_seconds([*command, duration]) for _ in range(rounds)]
            for duration in ("1ms", "10s")
        }
    for duration, values in samples.items():
        print(f"camkes run --json --for {duration:4} {statistics.median(values) * 1000:7.0f} ms of CPU")


if __name__ == "__main__":
    main()
