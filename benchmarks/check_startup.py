# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How long `camkes check` of a small system takes, beside Python's own start and lark's import.

The cases alternate in one run, so that a busy machine slows all of them. Prints medians and ratios.
Needs bytecode files to be allowed (unset PYTHONDONTWRITEBYTECODE).

    .venv/bin/python benchmarks/check_startup.py [ROUNDS]
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CASES = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import lark'": [sys.executable, "-c", "import lark"],
    "camkes check examples/adder": [
        str(Path(sys.executable).parent / "camkes"),
        "check",
        str(ROOT / "examples/adder"),
    ],
}


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for command in CASES.values():  # writes bytecode, warms the disk cache
        cpu_seconds(command, environment)
    samples: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(rounds):
        for name, command in CASES.items():
            samples[name].append(cpu_seconds(command, environment))
    medians = {name: statistics.median(values) for name, values in samples.items()}
    for name, median in medians.items():
        print(f"{name:32} {median * 1000:7.1f} ms of CPU")
    python, lark, check = medians.values()
    print(f"check / (python with lark)       {check / lark:7.2f}")
    print(f"check / python                   {check / python:7.2f}")


if __name__ == "__main__":
    main()
