# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How long the analysis takes: blocking of 100 tasks with 50 locks, and a large system from its text.

    .venv/bin/python benchmarks/analysis.py [--gap SYSTEMS]

With --gap: how far the assignment is above the exact blocking, and how many bounds are attained by a case, in
so many random systems of 3 to 10 tasks and 2 to 8 CPIs, with chains of up to 4.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

from scale import write_system

from camkes import pipeline
from camkes.analysis.blocking import assign, search, waits
from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE
from camkes.analysis.verdict import analyse
from camkes.analysis.witness import witnesses
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask, workload_of
from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol


def random_workload(rng: random.Random, tasks: int, cpis: int, depth: int, share: float) -> Workload:
    """CPIs stand in levels; tasks and CPIs request each CPI of lower levels with the probability `share`."""
    level = {f"c{i}": rng.randrange(depth) for i in range(cpis)}

    def requests(above: int) -> dict[str, int]:
        return {name: 1 for name in level if level[name] > above and rng.random() < share}

    found = tuple(
        WorkloadTask(f"t{i}", i + 1, 10**9, 10**9, rng.randint(1, 100), requests(-1)) for i in range(tasks)
    )
    protocols = [each for each in Protocol if each.lock or tasks < 50]
    if tasks >= 50:
        protocols = [each for each in Protocol if each.inherits]
    below = {name: requests(level[name]) for name in level}
    highest: dict[str, int] = {}
    for task in found:
        for name in task.requests:
            highest[name] = max(task.priority, highest.get(name, 0))
    made = []
    for name in sorted(level, key=lambda each: level[each]):
        made.append(
            WorkloadCpi(name, rng.choice(protocols), rng.randint(1, 100), below[name], highest.get(name, 0))
        )
        for callee in below[name]:
            highest[callee] = max(highest.get(name, 0), highest.get(callee, 0))
    return Workload(found, tuple(made))


def assignment() -> None:
    """The most urgent of 100 tasks, which all the others can block."""
    workload = random_workload(random.Random(1), 100, 50, 1, 0.3)
    needed = demands(workload, FREE)
    can_wait = waits(workload, needed, FREE, workload.tasks[-1])
    limits = can_wait.limits(1)
    assign(can_wait.sections, limits)  # SciPy is imported
    begin = time.perf_counter()
    for _ in range(10):
        assign(can_wait.sections, limits)
    assigned = (time.perf_counter() - begin) / 10
    begin = time.perf_counter()
    exact = search(can_wait.sections, limits)
    searched = time.perf_counter() - begin
    print(f"100 tasks, 50 locks, {len(can_wait.sections)} sections: assignment {assigned * 1e3:.1f} ms")
    print(
        f"the exact search {'ended' if exact is not None else 'was given up'} after {searched * 1e3:.0f} ms"
    )


def large(instances: int) -> None:
    """A system of so many instances, from its text, without the search for cases."""
    text = write_system(instances)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.camkes"
        sink = Sink()
        begin = time.perf_counter()
        text = re.sub(r"(task\d+)\._priority", r"\1._wcet = 1 us; \1._priority", text)
        text = re.sub(r"_period = (\d+);", r"_period = \1 ms;", text)
        names = re.findall(r"component \w+ (server\d+);", text)
        servers = "".join(f"{each}.p_wcet = 0;" for each in names)
        path.write_text(text.rstrip()[:-3] + servers + "} }")
        checked = pipeline.check(pipeline.Input(path, preprocess=False), sink)
        assert checked is not None, [each.message for each in sink.diagnostics][:3]
        read = time.perf_counter() - begin
        workload = workload_of(checked.system, checked.plan)
        begin, used = time.perf_counter(), time.process_time()
        analysis = analyse(workload, FREE)
        took, used = time.perf_counter() - begin, time.process_time() - used
        not_exact = sum(result.blocking.exact is None for result in analysis.tasks)
        count = f"{instances} instances, {len(workload.tasks)} tasks, {len(workload.cpis)} CPIs"
        print(f"{count}: read and checked {read:.1f} s, analysed {took:.1f} s ({used:.1f} s of CPU)")
        print(f"good: {analysis.good}, {not_exact} tasks without exact blocking")


def gap(systems: int) -> None:
    """In percent of the exact blocking, in tenths."""
    gaps: Counter[int] = Counter()
    attained = bounded = given_up = 0
    for seed in range(systems):
        rng = random.Random(seed)
        depth = rng.randint(1, 4)
        workload = random_workload(rng, rng.randint(3, 10), rng.randint(2, 8), depth, 0.4)
        analysis = analyse(workload, FREE)
        found = witnesses(workload, analysis, 40_000)
        for result in analysis.tasks:
            blocking = result.blocking
            if blocking.exact is None or blocking.assignment is None:
                given_up += 1
            elif blocking.exact:
                gaps[int(10 * (blocking.assignment - blocking.exact) / blocking.exact)] += 1
            witness = found.get(result.task.name)
            if witness is not None and witness.bound is not None:
                bounded += 1
                attained += witness.response == witness.bound
    total = sum(gaps.values())
    print(f"{systems} systems, {total} tasks with blocking, {given_up} searches given up")
    for tenth, count in sorted(gaps.items()):
        above = f"{10 * tenth:3} to {10 * tenth + 10:3} %"
        print(f"  assignment above exact by {above}: {100 * count / total:.2f} %")
    print(f"bounds that a case attains: {attained} of {bounded}, {100 * attained / max(bounded, 1):.2f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gap", type=int, default=0, metavar="SYSTEMS")
    count = parser.parse_args().gap
    if count:
        gap(count)
        return
    assignment()
    large(2000)


if __name__ == "__main__":
    main()
