# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems with overruns on both kernels: `python -m tests.backends.sel4.random_overruns --count 10`.

They are those of tests.report.random_overruns, with times that are so long that those of kernel calls are
short beside them, and fixed, and with sporadic servers only: one of constant bandwidth is divided by each
preemption, also by those of the timer driver. Every job has the same response on both kernels, but for
kernel calls. A system in which other times of such calls change a response on the host kernel is left out:
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

from camkes.report.trace.kinds import Kind
from tests.backends.sel4.recorded import MS, WORKSPACE, records
from tests.report.random_overruns import DURATION, written
from tests.runtime.host import build

#: how much longer all times are
SCALE = 500
#: what kernel calls may add up to, in a response, and in each time of work
TOLERANCE = 2 * MS
COSTS = (0, 20, 60)

Responses = dict[str, list[int]]


def system(seed: int, folder: Path) -> tuple[str, dict[str, str]]:
    """Text and code, with {cost} where a time of work may be longer."""
    rng = random.Random(seed)
    made = written(seed, folder)

    def longer(found: re.Match[str]) -> str:
        return f"{SCALE * int(found[1])} {found[2]}"

    def fixed(found: re.Match[str]) -> str:
        least = int(found[1])
        most = prod(int(factor) for factor in (found[2] or found[1]).split(" * "))
        return f"camkes_work({SCALE * rng.randint(least, most)} + COST)"

    text = re.sub(r"(\d+) (ns|us)\b", longer, made.text).replace("constant_bandwidth", "sporadic")
    work = r"camkes_work(?:_between)?\((\d+)(?:, ([\d *]+))?\)"
    sources = {name: re.sub(work, fixed, source) for name, source in made.sources.items()}
    until = {
        name: re.sub(r"(camkes_now\(\) \+ )(\d+)", rf"\g<1>{SCALE} * \2", source)
        for name, source in sources.items()
    }
    return text, until


def with_cost(sources: dict[str, str], cost: int) -> dict[str, str]:
    return {name: f"#define COST ({1000 * cost})\n{source}" for name, source in sources.items()}


def on_host(text: str, sources: dict[str, str], folder: Path) -> Responses:
    run = build(folder, text, sources, mcs=True).run(duration=SCALE * DURATION)
    found: Responses = {}
    for event in run.of(Kind.JOB_END):
        name = run.names.threads[event.thread].name if event.thread is not None else ""
        found.setdefault(name, []).append(event.time - event.args[1])
    return found


def on_sel4(text: str, sources: dict[str, str], folder: Path) -> Responses:
    found: Responses = {}
    for thread, record in records(text, sources, folder):
        if record.time > SCALE * DURATION:
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
            host = [on_host(text, with_cost(sources, cost), folder / f"host{cost}") for cost in COSTS]
            if any(differences(host[0], other) for other in host[1:]):
                print(f"{seed}: left out", flush=True)
                continue
            found = differences(host[0], on_sel4(text, with_cost(sources, 0), folder / "sel4"))
        compared += 1
        wrong += bool(found)
        print(f"{seed}: {'; '.join(found) or 'the same'}", flush=True)
    print(f"{compared} of {options.count} systems compared, {wrong} with other responses")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
