# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the host kernel and SimSo take of the processor for the same ten tasks, in one run.

The tasks have no requests, periods of 10 to 55 ms and jobs of 0.7 ms. SimSo simulates 10 s; the host kernel
executes 1,010 s and 10 s, and a hundredth of the difference is what 10 s take without the start. Its rows:
all components in one process or each in its own, with and without a trace.

    .venv/bin/python benchmarks/beside_simso.py [ROUNDS]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from simso.configuration import Configuration
from simso.core import Model

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from camkes.backends.host.host import HostImage  # noqa: E402
from tests.runtime.host import build  # noqa: E402

PERIODS = tuple(range(10, 60, 5))  # ms
WORK = 700  # us
SECONDS, MANY = 10, 100
JOBS = sum(-(-SECONDS * 1000 // period) for period in PERIODS)

CODE = f"int run(void) {{ while (camkes_next_job()) {{ camkes_work(CAMKES_US({WORK})); }} return 0; }}\n"


def theirs() -> float:
    """Seconds of the processor."""
    configuration = Configuration()
    configuration.duration = SECONDS * 1000 * configuration.cycles_per_ms
    for number, period in enumerate(PERIODS):
        configuration.add_task(
            name=f"t{number}", identifier=number, period=period, wcet=WORK / 1000, deadline=period
        )
    configuration.add_processor(name="CPU", identifier=1)
    configuration.scheduler_info.clas = "simso.schedulers.RM"
    configuration.check_all()
    model = Model(configuration)
    begin = time.process_time()
    model.run_model()
    return time.process_time() - begin


def system() -> str:
    instances = " ".join(f"component Task t{number};" for number in range(len(PERIODS)))
    settings = " ".join(
        f"t{number}._priority = {100 - number}; t{number}._period = {period} ms;"
        for number, period in enumerate(PERIODS)
    )
    return (
        "component Task { control; requestor; }\n"
        f"assembly {{ composition {{ {instances} }} configuration {{ {settings} }} }}\n"
    )


def execute(image: HostImage, seconds: int, options: tuple[str, ...]) -> float:
    """Seconds of the processor, of all processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = (str(image.kernel), image.table.name, "--for", str(seconds * 10**9), *options)
    subprocess.run(command, cwd=image.folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(image: HostImage, options: tuple[str, ...]) -> float:
    few, many = (execute(image, seconds, options) for seconds in (SECONDS, SECONDS * (MANY + 1)))
    return (many - few) / MANY


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    trace = ("--trace", os.devnull)
    with tempfile.TemporaryDirectory() as scratch:
        image = build(Path(scratch), system(), {"Task": CODE}).image
        cases = {
            "one process": ("--fast",),
            "one process, with a trace": ("--fast", *trace),
            "a process for each component": (),
            "a process for each component, with a trace": trace,
        }
        simso = min(theirs() for _ in range(rounds))
        print(f"{JOBS} jobs in {SECONDS} s of ten tasks; the least of {rounds} rounds")
        print(f"{'SimSo':44}{simso * 1e3:10.3f} ms {JOBS / simso:14,.0f} jobs a second")
        for name, options in cases.items():
            least = min(ours(image, options) for _ in range(rounds))
            print(
                f"{name:44}{least * 1e3:10.3f} ms {JOBS / least:14,.0f} jobs a second"
                f"  {simso / least:8,.0f} times as fast"
            )


if __name__ == "__main__":
    main()
