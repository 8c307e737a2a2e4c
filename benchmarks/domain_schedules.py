# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs random systems under schedules of domains on the host kernel, and compares the ends of their jobs with
those of a simulator (tests/experiments/domain_simulator.py).

    python benchmarks/domain_schedules.py --systems 1000 --jobs 2

Every second system is for an MCS kernel. Exit status 1: a run differs, and the seeds are printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.experiments.domain_simulator import SERVER, WORKER, RandomSystem, Simulator  # noqa: E402

_MS = 1_000_000
_LISTS = """cmake_minimum_required(VERSION 3.16)
project(domains C)
DeclareCAmkESComponent(Worker SOURCES worker.c)
DeclareCAmkESComponent(Server SOURCES server.c)
DeclareCAmkESRootserver(system.camkes)
"""


def differs(seed: int, length: int, folder: Path) -> str:
    """What the host kernel does differently in a run of so many milliseconds; "" if nothing."""
    system = RandomSystem.make(seed)
    place = folder / str(seed)
    place.mkdir()
    texts = {"CMakeLists.txt": _LISTS, "worker.c": WORKER, "server.c": SERVER, "system.camkes": system.text()}
    for name, text in texts.items():
        (place / name).write_text(text)
    command = [sys.executable, "-m", "camkes", "run", str(place), "--for", f"{length}ms", "--json", "--fast"]
    command += ["-q", "-o", str(place / "out"), "-D", f"KernelIsMCS={'ON' if seed % 2 else 'OFF'}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if not done.stdout.startswith("{"):
        return done.stderr.strip() or f"status {done.returncode}"
    found = {
        task["name"]: [(job["release"], job["end"]) for job in task["job_list"] if job["end"] is not None]
        for task in json.loads(done.stdout)["tasks"]
    }
    expected = Simulator(system, length).run()
    for name, ends in expected.items():
        own = [(release * _MS, end * _MS) for release, end in ends]
        if own != found.get(name, [])[: len(own)] or len(found.get(name, [])) > len(own) + 1:
            return f"{name}: {found.get(name, [])} on the host kernel, {own} in the simulator"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--systems", type=int, default=100, help="number of systems (default: 100)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--length", type=int, default=300, help="of a run, in ms (default: 300)")
    parser.add_argument("--jobs", type=int, default=2, help="systems at a time (default: 2)")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.systems)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda seed: (seed, differs(seed, arguments.length, Path(folder))), seeds)
        for number, (seed, problem) in enumerate(results, 1):
            if problem:
                wrong += 1
                print(f"seed {seed}: {problem}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{number} of {len(seeds)}, {wrong} differ", end="", file=sys.stderr, flush=True)
    print(f"{len(seeds)} systems, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
