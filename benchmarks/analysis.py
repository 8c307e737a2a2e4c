# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How long the analysis takes: random systems of 20 to 500 tasks, and large systems from their text.

    .venv/bin/python benchmarks/analysis.py [--certificates]
    .venv/bin/python benchmarks/analysis.py --gap SYSTEMS [--jobs N] [--output FILE] [--kept FILE]

With --gap: how far the assignment is above the exact blocking, and how many bounds are attained by a case, in
so many random systems of 3 to 10 tasks and 2 to 8 CPIs, with requests nested up to 4 deep. With --kept the
counts are kept in a file, and a run of the same commit continues with them.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import multiprocessing
import os
import random
import resource
import subprocess
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace
from scale import timed, write_system

from camkes import pipeline
from camkes.analysis.assignment import changed
from camkes.analysis.certificate import certificate, certificate_text
from camkes.analysis.demand import demands
from camkes.analysis.platform import FREE
from camkes.analysis.verdict import analyse
from camkes.analysis.witness import witnesses
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask, workload_of
from camkes.check_certificate import Checker
from camkes.diagnostics import Sink
from camkes.documents import json_text
from camkes.model.protocols import Protocol
from camkes.showing.workload_json import report_of

HEAD = (
    # REUSE-IgnoreStart
    "<!-- SPDX-License-Identifier: BSD-2-Clause -->",
    "<!-- SPDX-FileCopyrightText: 2026 The camkes-rt developers -->",
    # REUSE-IgnoreEnd
    "# What the assignment and the cases leave open",
    "Written by `benchmarks/analysis.py --gap`: random systems of 3 to 10 tasks and 2 to 8 CPIs,",
    "with requests nested up to 4 deep.",
    "",
)

#: steps of simulations for the cases of a system
EFFORT = 60_000


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


def sizes() -> None:
    """Random systems of all protocols, nested in up to three levels, of 70 % utilisation."""
    print("tasks x CPIs   CPU s  memory MiB  tasks with exact blocking  most above what is possible")
    for tasks, cpis in ((20, 10), (50, 20), (100, 50), (200, 50), (500, 100)):
        workload = nested(random.Random(5), tasks, cpis)
        begin = time.process_time()
        found = analyse(workload, FREE).tasks
        used = time.process_time() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        exact = sum(each.blocking.exact is not None for each in found)
        gap = max(float(each.blocking.gap / (each.blocking.possible or 1)) for each in found)
        print(f"{tasks:5} x {cpis:<5} {used:7.1f} {memory:11.0f} {exact:26} {100 * gap:26.1f} %", flush=True)


def certificates() -> None:
    """How long certificates take, beside the analysis, and how much more blocking they show than that."""
    print("tasks x CPIs  analysis  written  checked (s)   kB  tasks  with more blocking")
    for tasks, cpis, count in ((20, 10, 10), (50, 20, 3), (100, 50, 1)):
        for seed in range(count):
            workload = nested(random.Random(seed), tasks, cpis)
            times = [time.process_time()]
            analysis = analyse(workload, FREE)
            times.append(time.process_time())
            text = certificate_text(certificate(workload, FREE, analysis))
            times.append(time.process_time())
            plan = json.loads(json_text({"tasks": [], "workload": report_of(workload)}))
            checker = Checker(plan, [json.loads(line) for line in text.splitlines()])
            checker.check()
            times.append(time.process_time())
            shown = {name: claim["blocking"] for name, claim in checker.claims.items()}
            found = {each.task.name: each.blocking.least for each in analysis.tasks}
            more = sum(blocking > found[name] for name, blocking in shown.items())
            took = "".join(f"{end - begin:9.2f}" for begin, end in pairwise(times))
            print(f"{tasks:5} x {cpis:<5}{took}{len(text) // 1000:12}{len(shown):6}{more:7}", flush=True)


def nested(rng: random.Random, tasks: int, cpis: int) -> Workload:
    """Tasks and CPIs request about three CPIs, those of the next levels."""
    level = {f"c{i}": rng.randrange(3) for i in range(cpis)}

    def requests(above: int) -> dict[str, int]:
        return {n: rng.choice((1, 1, 2)) for n in level if level[n] > above and rng.random() < 3 / cpis}

    made = [
        WorkloadCpi(name, rng.choice([*Protocol]), rng.randint(1, 100_000), requests(level[name]))
        for name in sorted(level, key=lambda each: level[each])
    ]
    found = [
        WorkloadTask(f"t{i}", rng.randint(1, 250), rng.choice((1, 2, 5, 10, 20, 50)), 0, 10**6, requests(-1))
        for i in range(tasks)
    ]
    needed = demands(Workload(tuple(found), tuple(made)), FREE).of_task
    used = sum(needed[each.name].total / each.period for each in found)
    periods = [int(each.period * used / 0.7) + 1 for each in found]
    timed = [replace(t, period=period, deadline=period) for t, period in zip(found, periods, strict=True)]
    return changed(Workload(tuple(timed), tuple(made)))


def large(instances: int) -> None:
    """A system of so many instances, from its text, without the search for cases."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.camkes"
        sink = Sink()
        path.write_text(timed(write_system(instances)))
        begin = time.perf_counter()
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
        gap = max(float(each.blocking.gap / (each.blocking.possible or 1)) for each in analysis.tasks)
        print(f"good: {analysis.good}, utilisation {analysis.utilisation:.2f}")
        print(f"{not_exact} tasks without exact blocking: at most {100 * gap:.0f} % above what is possible")


class Counted(Struct):
    """What was counted in random systems. `gaps` are percent of the exact blocking, in tenths; `reached` are
    the parts of bounds that a case attains, in percent, rounded down."""

    commit: str = ""
    systems: int = 0
    given_up: int = 0
    gaps: Counter[int] = field(default_factory=Counter)
    reached: Counter[int] = field(default_factory=Counter)
    not_searched: int = 0

    def add(self, other: Counted) -> None:
        self.systems += other.systems
        self.given_up += other.given_up
        self.gaps += other.gaps
        self.reached += other.reached
        self.not_searched += other.not_searched


def count(seed: int) -> Counted:
    """One system."""
    rng = random.Random(seed)
    depth = rng.randint(1, 4)
    workload = random_workload(rng, rng.randint(3, 10), rng.randint(2, 8), depth, 0.4)
    analysis = analyse(workload, FREE)
    found = witnesses(workload, analysis, EFFORT)
    result = Counted(systems=1)
    for each in analysis.tasks:
        blocking = each.blocking
        if blocking.exact is None:
            result.given_up += 1
        elif blocking.exact:
            result.gaps[int(10 * (blocking.assignment - blocking.exact) / blocking.exact)] += 1
        witness = found.get(each.task.name)
        if witness is None:
            result.not_searched += 1
        elif witness.bound:
            result.reached[100 * witness.response // witness.bound] += 1
    return result


def commit() -> str:
    """The commit that is measured, and whether something in its files was changed."""
    words = ("git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty")
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def report(counted: Counted) -> str:
    """Histograms, as Markdown."""
    gaps, reached = sum(counted.gaps.values()), sum(counted.reached.values())
    lines = [
        *HEAD,
        f"{counted.systems:,} systems, {reached:,} bounds, {gaps:,} tasks with blocking;",
        f"{counted.given_up} exact searches given up, {counted.not_searched} tasks without a search;",
        f"at commit {counted.commit}.",
        "",
        "| assignment above exact blocking | tasks | share |",
        "|---|---|---|",
    ]
    for tenth, number in sorted(counted.gaps.items()):
        lines.append(f"| {10 * tenth} to {10 * tenth + 10} % | {number:,} | {100 * number / gaps:.3f} % |")
    lines += ["", "| a case attains of R | tasks | share |", "|---|---|---|"]
    bands = [(101, math.inf, "more: R is wrong"), (100, 100, "all of it")] + [
        (n, n + 9, f"{n} to {n + 10} %") for n in range(90, -1, -10)
    ]
    for low, high, words in bands:
        number = sum(reached_by for percent, reached_by in counted.reached.items() if low <= percent <= high)
        if number:
            lines.append(f"| {words} | {number:,} | {100 * number / reached:.3f} % |")
    return "\n".join(lines)


def _counter(_: type, found: dict[str, int]) -> Counter[int]:
    return Counter({int(key): number for key, number in found.items()})


def gap(systems: int, jobs: int, output: Path | None, kept: Path | None) -> None:
    """Count all systems; the files have what was counted until now, so a run can be ended at any time."""
    counted = Counted(commit=commit())
    if kept is not None and kept.exists():
        before = msgspec.json.decode(kept.read_bytes(), type=Counted, dec_hook=_counter)
        counted = before if before.commit == counted.commit else counted
    with multiprocessing.Pool(jobs) as pool:
        for each in pool.imap(count, range(counted.systems, systems), chunksize=20):
            counted.add(each)
            if counted.systems % 500 and counted.systems < systems:
                continue
            if kept is not None:
                kept.write_bytes(msgspec.json.encode(counted))
            if output is not None:
                output.write_text(report(counted) + "\n")
    if output is None:
        print(report(counted))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--certificates", action="store_true", help="measure only these")
    parser.add_argument("--gap", type=int, default=0, metavar="SYSTEMS")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where the histograms go")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="where the counts are kept to continue")
    given = parser.parse_args()
    gc.disable()  # as the command does
    if given.certificates:
        certificates()
        return
    if given.gap:
        gap(given.gap, given.jobs, given.output, given.kept)
        return
    sizes()
    for instances in (500, 1000, 2000):
        large(instances)


if __name__ == "__main__":
    main()
