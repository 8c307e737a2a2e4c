# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs random systems under schedules of domains on the host kernel, and compares when each task is executed,
and when its jobs end, with simulators that share nothing with the kernel or the runtime.

    python benchmarks/domain_schedules.py --systems 250 --schedules 4 --jobs 2
    python benchmarks/domain_schedules.py --kind budgets --systems 20 --first 40

Kinds of systems:
  protocols   one CPI of any protocol (`fixed` on a kernel without MCS only); half of them for an MCS kernel
  conditions  a monitor with a condition, with helpers or without, or a semaphore with helpers: waits for ever
              and until a time, signals and broadcasts; half of them for an MCS kernel
  budgets     tasks with budgets, sporadic servers and those of constant bandwidth, that request a CPI,
              `inherited` or `propagated`, with the policy `wait`: a budget ends anywhere, also with the lock
  all         conditions and budgets

CPIs can be in another domain than their tasks. Not in them: helpers in another domain than the server's,
several helpers of a condition, events, and other policies. Each system is built once, and runs under several
schedules of its domains. The simulators are tests/experiments/domain_simulator.py (protocols) and
domain_waits.py. Exit status 1: a run differs, and the seeds are printed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from camkes.running.decode import decode  # noqa: E402
from camkes.running.kinds import Kind  # noqa: E402
from camkes.running.model import State  # noqa: E402
from tests.experiments.domain_simulator import (  # noqa: E402
    Executed,
    RandomSystem,
    Simulator,
    extend,
    other_schedule,
)
from tests.experiments.domain_waits import WaitingSystem, WaitsSimulator  # noqa: E402
from tests.runtime.host import Run, build  # noqa: E402

_MS = 1_000_000
KINDS = ("protocols", "conditions", "budgets", "all")
#: what is counted, to see that it happens
_COUNTED = {
    Kind.SLOT: "slots",
    Kind.LOCK_WAIT: "waits for locks",
    Kind.COND_WAIT: "for conditions",
    Kind.COND_EXPIRE: "in vain",
    Kind.POSTPONE: "for budgets",
}

System = RandomSystem | WaitingSystem
Ends = dict[str, list[tuple[int, int]]]


def random_system(kind: str, seed: int) -> System:
    if kind == "protocols":
        return RandomSystem.make(seed)
    return WaitingSystem.make(seed, conditions=kind != "budgets", budgets=kind != "conditions")


def simulated(system: System, length: int) -> tuple[Ends, Executed]:
    """The (release, end) of the jobs that end in so many milliseconds, and who is executed when."""
    simulator = (Simulator if isinstance(system, RandomSystem) else WaitsSimulator)(system, length)
    return simulator.run(), simulator.executed


def recorded(run: Run) -> tuple[Ends, Executed]:
    """The same of a run. All times are whole milliseconds."""
    found = decode(run.events, run.names)
    ends = {
        lane.task.name: [(job.release // _MS, job.end // _MS) for job in lane.jobs if job.end is not None]
        for lane in found.lanes
    }
    running = sorted(
        (segment.start, segment.end, lane.task.name)
        for lane in found.lanes
        for segment in lane.segments
        if segment.state is State.RUNNING and segment.start < segment.end
    )
    assert all(start % _MS == end % _MS == 0 for start, end, _ in running)
    executed: Executed = []
    for start, end, name in running:
        extend(executed, name, start // _MS, end // _MS)
    return ends, executed


def scheduled(table: str, system: System) -> str:
    """A boot table (kernel/host/README.md) with the schedule of this system."""
    lines = table.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("slot "))
    kept = [line for line in lines if not line.startswith("slot ")]
    kept[first:first] = [f"slot {domain} {length * _MS}" for domain, length in system.schedule]
    return "\n".join(kept) + "\n"


def difference(run: Run, system: System, length: int) -> str:
    """What the host kernel does differently in a run of so many milliseconds; "" if nothing."""
    ends, executed = simulated(system, length)
    own_ends, own_executed = recorded(run)
    for own, other in zip_longest(own_executed, executed):
        if own != other:
            return f"executed: {own} on the host kernel, {other} in the simulator"
    for name, expected in ends.items():
        found = [job for job in own_ends[name] if job[1] < length]
        if found != (known := [job for job in expected if job[1] < length]):
            return f"{name}: {found} on the host kernel, {known} in the simulator"
    return ""


def compared(
    kind: str, seed: int, length: int, schedules: int, folder: Path
) -> tuple[list[str], Counter[str]]:
    """A system under so many schedules: what is different under each, and how often what happened."""
    system = random_system(kind, seed)
    place = folder / f"{kind}{seed}"
    happened = Counter[str]()
    differences = []
    try:
        built = build(place, *system.written(), mcs=system.mcs)
        table = built.image.table.read_text()
        for number in range(schedules):
            other = system
            if number:
                other = replace(system, schedule=other_schedule(number, system.tasks, system.schedule))
            built.image.table.write_text(scheduled(table, other))
            run = built.run("--fast", duration=length * _MS)
            happened.update(_COUNTED[event.kind] for event in run.events if event.kind in _COUNTED)
            differences.append(difference(run, other, length))
    except AssertionError as error:
        differences.append(f"no run: {error}")
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return differences, happened


def compare_kind(kind: str, seeds: range, length: int, schedules: int, jobs: int) -> int:
    """The number of runs of systems of a kind that differ."""
    runs, wrong, total = 0, 0, Counter[str]()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(jobs) as pool:
        compare = partial(compared, kind, length=length, schedules=schedules, folder=Path(folder))
        for seed, (differences, happened) in zip(seeds, pool.map(compare, seeds), strict=True):
            total += happened
            runs += len(differences)
            for number, problem in enumerate(differences):
                if problem:
                    wrong += 1
                    print(f"{kind}, seed {seed}, schedule {number}: {problem}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{kind}: {runs} runs, {wrong} differ ", end="", file=sys.stderr, flush=True)
    counts = ", ".join(f"{total[each]} {each}" for each in _COUNTED.values() if total[each])
    print(f"{kind}: {len(seeds)} systems, {runs} schedules, {wrong} differ ({counts})", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, action="append", help="of systems (default: each kind)")
    parser.add_argument("--systems", type=int, default=50, help="number of systems of a kind (default: 50)")
    parser.add_argument("--schedules", type=int, default=4, help="of each system (default: 4)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--length", type=int, default=400, help="of a run, in ms (default: 400)")
    parser.add_argument("--jobs", type=int, default=2, help="systems at a time (default: 2)")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.systems)
    kinds = arguments.kind or KINDS
    wrong = [
        compare_kind(kind, seeds, arguments.length, arguments.schedules, arguments.jobs) for kind in kinds
    ]
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
