# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems with overruns on both kernels: `python -m tests.backends.sel4.random_overruns --count 10`.

They are those of tests.report.random_overruns, with times that are so long that those of kernel calls are
short beside them, and fixed, and with sporadic servers only: one of constant bandwidth is divided by each
preemption, also by those of the timer driver. Every job has the same response on both kernels, but for
kernel calls. A system in which random times of such calls change a response on the host kernel is left out:
there two events almost coincide, and their order decides.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from math import prod
from pathlib import Path

from camkes.running.kinds import Kind
from tests.backends.sel4.recorded import MS, WORKSPACE, records
from tests.report import random_overruns, test_random_systems, test_random_waits
from tests.report.random_overruns import written
from tests.runtime.host import Run, build

#: how much longer all times are
SCALE = 400
#: what kernel calls may add up to, in a response, and in each time of work
TOLERANCE = 3 * MS // 2
COST = 60_000
#: with random costs, on the host kernel
RUNS = 6
#: of each task
JOBS = 2

Responses = dict[str, list[int]]


def duration(seed: int) -> int:
    """Of a run, in nanoseconds."""
    waits = random_overruns.waits(seed)
    return (JOBS + 2) * SCALE * (test_random_waits.PERIOD if waits else test_random_systems.PERIOD)


def system(seed: int, folder: Path) -> tuple[str, dict[str, str]]:
    """Text and code, in which each time of work may be longer by COST."""
    rng = random.Random(seed)
    made = written(seed, folder)

    def longer(found: re.Match[str]) -> str:
        return f"{SCALE * int(found[1])} {found[2]}"

    def fixed(found: re.Match[str]) -> str:
        least = int(found[1])
        most = prod(int(factor) for factor in (found[2] or found[1]).split(" * "))
        time = SCALE * rng.randint(least, most)
        return f"camkes_work_between({time}, {time} + COST)"

    text = re.sub(r"(\d+) (ns|us)\b", longer, made.text).replace("constant_bandwidth", "sporadic")
    work = r"camkes_work(?:_between)?\((\d+)(?:, ([\d *]+))?\)"
    sources = {name: re.sub(work, fixed, source) for name, source in made.sources.items()}
    until = {
        name: re.sub(r"(camkes_now\(\) \+ )(\d+)", rf"\g<1>{SCALE} * \2", source)
        for name, source in sources.items()
    }
    jobs = f"job < {random_overruns.JOBS}"
    return text, {name: source.replace(jobs, f"job < {JOBS}") for name, source in until.items()}


def with_cost(sources: dict[str, str], cost: int) -> dict[str, str]:
    return {name: f"#define COST {cost}\n{source}" for name, source in sources.items()}


def on_host(text: str, sources: dict[str, str], folder: Path, until: int) -> list[Responses]:
    """Without costs, and in RUNS with random ones."""
    exact = build(folder / "exact", text, with_cost(sources, 0), mcs=True)
    longer = build(folder / "longer", text, with_cost(sources, COST), mcs=True)
    runs = [longer.run("--choices", f"random:{run}", duration=until) for run in range(1, RUNS + 1)]
    return [ends(run) for run in (exact.run(duration=until), *runs)]


def ends(run: Run) -> Responses:
    found: Responses = {}
    for event in run.of(Kind.JOB_END):
        name = run.names.threads[event.thread].name if event.thread is not None else ""
        found.setdefault(name, []).append(event.time - event.args[1])
    return found


def on_sel4(text: str, sources: dict[str, str], folder: Path, until: int) -> Responses:
    found: Responses = {}
    for thread, record in records(text, sources, folder):
        if record.time > until:
            break
        if record.kind == Kind.JOB_END:
            found.setdefault(thread, []).append(record.time - record.arguments[1])
    return found


def differences(one: Responses, other: Responses) -> list[str]:
    return [
        f"{task}: {[time / MS for time in one.get(task, [])]}, {[time / MS for time in other.get(task, [])]}"
        for task in sorted(one.keys() | other.keys())
        if len(one.get(task, [])) != len(other.get(task, []))
        or any(abs(x - y) > TOLERANCE for x, y in zip(one.get(task, []), other.get(task, []), strict=False))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10, help="systems")
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    options = parser.parse_args()
    if not WORKSPACE:
        parser.error("SEL4_WORKSPACE names no workspace")
    compared = wrong = 0
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text, sources = system(seed, folder)
            exact, *others = on_host(text, sources, folder, duration(seed))
            if any(differences(exact, other) for other in others):
                print(f"{seed}: left out", flush=True)
                continue
            found = differences(exact, on_sel4(text, with_cost(sources, 0), folder / "sel4", duration(seed)))
        compared += 1
        wrong += bool(found)
        print(f"{seed}: {'; '.join(found) or 'the same'}", flush=True)
    print(f"{compared} of {options.count} systems compared, {wrong} with other responses")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
