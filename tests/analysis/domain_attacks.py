# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems under schedules of domains: bounds beside runs of a simulator, and beside witnesses.

    python -m tests.analysis.domain_attacks --systems 1000

Exit status 1: a response was longer than its bound; the seeds are printed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from camkes.analysis.platform import FREE
from camkes.analysis.verdict import Analysis, analyse
from camkes.analysis.witness import Quality, Witness, witnesses
from camkes.analysis.workload import Workload, workload_of
from camkes.diagnostics import Sink
from camkes.protocols import analyse as plan_of
from tests.experiments.domain_simulator import RandomSystem, Simulator
from tests.resolve.systems import good

MS = 1_000_000

SYSTEM = """
import <std_connector.camkes>;
procedure Store { void put(); }
component Task { control; requestor; }
component Client { control; requestor; uses Store store; }
component Shared { provides Store store with priority_protocol inherited; }
component Plain { control; }
assembly {
    composition { %s }
    configuration { %s }
    schedule { [%s] }
}
"""


class BoundedSystem(RandomSystem):
    """Tasks without a request are not connected."""

    @property
    def ceiling(self) -> int:
        return max((task.priority for task in self.tasks if task.request), default=0)


def random_system(seed: int) -> RandomSystem:
    """Without requests to other domains, and with equal requests: then bounds can be exact."""
    choose = random.Random(seed)
    made = RandomSystem.make(2 * seed)
    length = choose.randint(1, 3)
    tasks = (
        replace(
            task, request=length if task.request and task.domain == made.server else 0, period=3 * task.period
        )
        for task in made.tasks
    )
    return BoundedSystem(tuple(tasks), made.schedule, made.server, made.protocol)


def text_of(system: RandomSystem) -> str:
    clients = {task.name for task in system.tasks if task.request}
    lines = [f"component {'Client' if t.name in clients else 'Task'} {t.name};" for t in system.tasks]
    ends = ", ".join(f"from {name}.store" for name in sorted(clients))
    if clients:
        lines.append(f"component Shared s; connection seL4RPCCall c({ends}, to s.store);")
    settings = [
        f"{t.name}._priority = {t.priority}; {t.name}._period = {t.period} ms; {t.name}._domain = {t.domain};"
        f"{t.name}._wcet = {t.work + t.rest} ms;"
        for t in system.tasks
    ]
    if clients:
        length = max(task.request for task in system.tasks)
        settings.append(f"s._domain = {system.server}; s.store_domain = {system.server};")
        settings.append(f"s.store_wcet = {length} ms;")
    schedule = ", ".join(f"({domain}, {length} ms)" for domain, length in system.schedule)
    text = SYSTEM % ("\n".join(lines), "\n".join(settings), schedule)
    return text.replace("priority_protocol inherited", f"priority_protocol {system.protocol}")


def bounds_of(system: RandomSystem, folder: Path) -> tuple[Workload, Analysis]:
    read = good(folder, text_of(system))
    planned = plan_of(read, Sink())
    assert planned is not None
    workload = workload_of(read, planned)
    return workload, analyse(workload, FREE)


def worst_in_runs(system: RandomSystem, runs: int, seed: int) -> Mapping[str, int]:
    """The longest responses in runs with other releases, some of them at once, in nanoseconds."""
    choose = random.Random(seed)
    round_ = sum(length for _, length in system.schedule)
    worst: dict[str, int] = {}
    for _ in range(runs):
        start = 2 * round_ + choose.randrange(round_)
        tasks = (
            replace(task, offset=start + choose.choice((0, 0, choose.randrange(task.period))))
            for task in system.tasks
        )
        ended = Simulator(replace(system, tasks=tuple(tasks)), start + 500).run()
        for name, jobs in ended.items():
            worst[name] = max([worst.get(name, 0), *((end - release) * MS for release, end in jobs)])
    return worst


class Comparison(NamedTuple):
    """A bound of a random system, the longest response in runs, and the witness; in nanoseconds."""

    seed: int
    bound: int
    longest: int
    witness: Witness | None

    @property
    def exceeded(self) -> bool:
        return max(self.longest, 0 if self.witness is None else self.witness.response) > self.bound

    @property
    def attained(self) -> bool:
        return self.witness is not None and self.witness.quality is not Quality.GAP


def compared(seed: int, folder: Path) -> Iterator[Comparison]:
    """All bounds of a random system."""
    system = random_system(seed)
    workload, analysis = bounds_of(system, folder)
    found = witnesses(workload, analysis, 40_000)
    worst = worst_in_runs(system, 12, seed)
    for result in analysis.tasks:
        if result.response is not None:
            name = result.task.name
            yield Comparison(seed, int(result.response.time), worst[name], found.get(name))


def _listed(folder: Path, seed: int) -> list[tuple[bool, bool]]:
    place = folder / str(seed)
    place.mkdir()
    return [(each.exceeded, each.attained) for each in compared(seed, place)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--systems", type=int, default=200, help="number of systems (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.systems)
    bounds = attained = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor() as pool:
        for seed, found in zip(seeds, pool.map(partial(_listed, Path(folder)), seeds), strict=True):
            bounds += len(found)
            attained += sum(each for _, each in found)
            if any(exceeded for exceeded, _ in found):
                wrong.append(seed)
                print(f"seed {seed}: a response is longer than its bound", flush=True)
    share = attained / max(bounds, 1)
    print(f"{len(seeds)} systems, {bounds} bounds, {len(wrong)} exceeded; {share:.2%} attained by a witness")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
