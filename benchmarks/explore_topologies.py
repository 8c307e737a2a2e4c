# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every schedule of every small system: up to three tasks and three CPIs in every mix of protocols.

A topology says which CPIs request which (every CPI is used, and all belong together), and which CPI each task
requests; tasks have different priorities. Each is searched in every mix of protocols that the checks allow,
under FIFO and round robin, with jobs that arrive in any order. What differs only in the numbers of its CPIs
is searched once. docs/protocols.md has the table.

    python benchmarks/explore_topologies.py [--cpis N] [--tasks N] [--limit SECONDS] [--states N]
        [--named [NAME ...]] [--chains N] [--beside] [--jobs N] [--scheduling fifo|rr] [--json FILE]

FILE has a line for each row; rows that it has are not searched again. With --chains N the systems are chains
of 2 to N CPIs with as many tasks, one at each CPI, a row for each protocol; with --beside each is searched
without the reduction, too, and the last column has the ratios of states that differ and of time.

Exit status 1 if a schedule violates a property.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from msgspec.structs import replace  # noqa: E402

from camkes import pipeline  # noqa: E402
from camkes.analysis.limits import blocking_limits  # noqa: E402
from camkes.backends.host.explore import SearchOptions, search_host  # noqa: E402
from camkes.diagnostics import Sink  # noqa: E402
from camkes.running.names import trace_names  # noqa: E402
from tests.runtime.host import HEAD  # noqa: E402
from tests.runtime.systems import ALL, PROCEDURE, TASK, Contended  # noqa: E402

PROTOCOLS = ("propagated", "inherited", "fixed")
PRIORITIES = (10, 20, 30, 40, 50, 60)

#: which CPI requests which, by number of CPIs, but for other numberings of the same
SHAPES: dict[int, tuple[tuple[tuple[int, int], ...], ...]] = {
    1: ((),),
    2: (((0, 1),),),
    3: (
        ((0, 1), (1, 2)),
        ((0, 1), (0, 2)),
        ((0, 2), (1, 2)),
        ((0, 1), (0, 2), (1, 2)),
    ),
}


@dataclass(frozen=True)
class Topology:
    """`requests` are pairs of CPIs; `targets` has the CPI that each task requests, the lowest task first."""

    cpis: int
    requests: tuple[tuple[int, int], ...]
    targets: tuple[int, ...]

    @property
    def name(self) -> str:
        tasks = ", ".join(f"{'abcdef'[i]}→{'XYZUVW'[t]}" for i, t in enumerate(self.targets))
        return ", ".join([tasks, *(f"{'XYZUVW'[i]}→{'XYZUVW'[j]}" for i, j in self.requests)])

    def text(self, protocols: tuple[str, ...]) -> str:
        components, instances, connections = [], [], []
        for cpi, protocol in enumerate(protocols):
            below = [j for i, j in self.requests if i == cpi]
            uses = " ".join(f"uses P n{j};" for j in below)
            names = ", ".join(f"n{j}" for j in below)
            components.append(
                f"component C{cpi} {{ provides P p with priority_protocol {protocol}, requests ({names});"
                f" {uses} }}"
            )
            instances.append(f"component C{cpi} c{cpi};")
            callers = [f"from t{t}.p" for t, target in enumerate(self.targets) if target == cpi]
            callers += [f"from c{i}.n{j}" for i, j in self.requests if j == cpi]
            connections.append(f"connection seL4RPCCall x{cpi}({', '.join(callers)}, to c{cpi}.p);")
        settings = []
        for task in range(len(self.targets)):
            instances.append(f"component Task t{task};")
            priority = PRIORITIES[task]
            settings.append(f"t{task}._priority = {priority}; t{task}._period = 1 ms; t{task}._offset = 0;")
        return f"""{HEAD}{PROCEDURE}
component Task {{ control; requestor; uses P p; }}
{chr(10).join(components)}
assembly {{
    composition {{ {" ".join([*instances, *connections])} }}
    configuration {{ {" ".join(settings)} }}
}}
"""

    def code(self, cpi: int) -> str:
        calls = [f"n{j}_go(); camkes_work(CAMKES_US(10));" for i, j in self.requests if i == cpi]
        return f"void p_go(void) {{ camkes_work(CAMKES_US(10)); {' '.join(calls)} }}\n"

    def mixes(self) -> Iterator[tuple[str, ...]]:
        """The protocols of its CPIs; one of those that other numbers of the CPIs make the same."""
        same = [p for p in self._symmetries() if _renamed(self.targets, p) == self.targets]
        for protocols in itertools.product(PROTOCOLS, repeat=self.cpis):
            if all(protocols <= tuple(protocols[i] for i in p) for p in same):
                yield protocols

    def is_first(self) -> bool:
        """Of those that other numbers of the CPIs make the same."""
        return all(self.targets <= _renamed(self.targets, p) for p in self._symmetries())

    def _symmetries(self) -> list[tuple[int, ...]]:
        """Other numbers of the CPIs with which the same ones request each other."""
        every = itertools.permutations(range(self.cpis))
        return [p for p in every if {(p[i], p[j]) for i, j in self.requests} == set(self.requests)]


def _renamed(targets: tuple[int, ...], numbers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(numbers[t] for t in targets)


def topologies(cpis: int, tasks: int) -> Iterator[Topology]:
    for requests in SHAPES[cpis]:
        tops = set(range(cpis)) - {j for _, j in requests}
        for targets in itertools.product(range(cpis), repeat=tasks):
            topology = Topology(cpis, requests, targets)
            if tops <= set(targets) and topology.is_first():  # else a CPI is not used
                yield topology


@dataclass
class Row:
    """What came of a topology, in all mixes of protocols and with both schedulings."""

    name: str
    mixes: int = 0
    rejected: int = 0
    states: int = 0
    distinct: int = 0
    largest: int = 0
    seconds: float = 0.0
    unfinished: int = 0
    bounded: int = 0
    violations: list[str] = field(default_factory=list)
    beside: str = ""

    @property
    def verdict(self) -> str:
        if self.violations:
            return f"{len(self.violations)} violations"
        if self.unfinished:
            return f"no violation, {self.unfinished} searches not finished"
        return "no violation up to the bound" if self.bounded else "exhausted"


@dataclass(frozen=True)
class Settings:
    options: SearchOptions
    schedulings: tuple[str, ...]
    beside: bool = False


def search(folder: Path, text: str, code: dict[str, str], row: Row, settings: Settings) -> None:
    """Build a system in a folder, which may have another one with the same components, and search it."""
    folder.mkdir(exist_ok=True)
    root = folder / "system.camkes"
    root.write_text(text)
    for name, source in code.items():
        (folder / f"{name}.c").write_text("#include <camkes.h>\n#include <stdio.h>\n" + source)
    sink = Sink()
    checked = pipeline.check(pipeline.Input(root, preprocess=False), sink)
    if checked is None or sink.has_errors:
        row.rejected += 1
        return
    image = pipeline.build_checked(checked, folder / "out", sink, lambda _: None)
    if image is None:
        raise SystemExit(f"{row.name}: {[d.message for d in sink.diagnostics]}")
    row.mixes += 1
    names = trace_names(image.capabilities, checked.plan, checked.system)
    for scheduling in settings.schedulings:
        how = replace(settings.options, scheduling=scheduling)
        limits = blocking_limits(checked.system, checked.plan, how.arrivals)
        result = search_host(image, checked.plan, names, limits, how, sink, lambda _: None)
        if result is None:
            raise SystemExit(f"{row.name}: {[(d.message, d.notes) for d in sink.diagnostics]}")
        row.states += result.state.states
        row.distinct += result.state.distinct
        row.largest = max(row.largest, result.state.distinct)
        row.seconds += result.state.processor
        row.unfinished += result.state.stopped
        row.bounded += result.state.cut
        if result.violation is not None:
            found = result.violation
            row.violations.append(f"{scheduling}: {found.property}: {found.explanation}")


def run_topology(topology: Topology, settings: Settings) -> Row:
    row = Row(topology.name)
    with tempfile.TemporaryDirectory() as scratch:
        for protocols in topology.mixes():
            code = {"Task": TASK, **{f"C{cpi}": topology.code(cpi) for cpi in range(topology.cpis)}}
            before = len(row.violations)
            search(Path(scratch) / "system", topology.text(protocols), code, row, settings)
            row.violations[before:] = [f"{'-'.join(protocols)}: {v}" for v in row.violations[before:]]
    return row


@dataclass(frozen=True)
class Chain:
    """`length` CPIs of one protocol, each requesting the next, and a task at each of them."""

    length: int
    protocol: str

    @property
    def name(self) -> str:
        return f"{self.length} tasks, chain of {self.length} {self.protocol}"


def run_chain(chain: Chain, settings: Settings) -> Row:
    row = Row(chain.name)
    cpis = range(chain.length)
    topology = Topology(chain.length, tuple((i, i + 1) for i in cpis[:-1]), tuple(cpis))
    code = {"Task": TASK, **{f"C{cpi}": topology.code(cpi) for cpi in cpis}}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "system"
        search(folder, topology.text((chain.protocol,) * chain.length), code, row, settings)
        if settings.beside:
            every = replace(settings.options, every_point=True)
            plain = Row(chain.name)
            text = topology.text((chain.protocol,) * chain.length)
            search(folder, text, code, plain, Settings(every, settings.schedulings))
            ratios = (plain.distinct / max(row.distinct, 1), plain.seconds / max(row.seconds, 0.001))
            row.beside = f"{ratios[0]:.1f} states, {ratios[1]:.1f} time" + (
                " at least" if plain.unfinished else ""
            )
    return row


def run_named(system: Contended, settings: Settings) -> Row:
    row = Row(system.name)
    with tempfile.TemporaryDirectory() as scratch:
        search(Path(scratch) / "system", HEAD + system.text, system.code, row, settings)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpis", type=int, default=3, help="the largest number of CPIs (3)")
    parser.add_argument("--tasks", type=int, default=3, help="the largest number of tasks (3)")
    parser.add_argument("--limit", type=int, default=600, help="seconds for a search, 0: any time (600)")
    parser.add_argument("--states", type=int, default=0, help="states of a search, 0: any number (0)")
    parser.add_argument("--bound", type=int, help="the most preemptions (any number)")
    parser.add_argument(
        "--named",
        nargs="*",
        metavar="NAME",
        help="the systems of tests/runtime/systems.py instead, or those of these names",
    )
    parser.add_argument("--scheduling", choices=("fifo", "rr"), help="only this (both)")
    parser.add_argument("--chains", type=int, help="chains of up to so many CPIs with a task at each instead")
    parser.add_argument("--beside", action="store_true", help="each chain without the reduction, too")
    parser.add_argument("--processes", type=int, default=1, help="of a search (1)")
    parser.add_argument("--jobs", type=int, default=1, help="systems searched at once (1)")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print("| topology | mixes | rejected | states | differ | largest | time | states/s | verdict | without |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    bad = False
    for row in rows(arguments):
        print(
            f"| {row.name} | {row.mixes} | {row.rejected} | {row.states:,} | {row.distinct:,} "
            f"| {row.largest:,} | {row.seconds:.1f} s | {row.states / max(row.seconds, 0.001):,.0f} "
            f"| {row.verdict} | {row.beside} |",
            flush=True,
        )
        for violation in row.violations:
            bad = True
            print(f"  {row.name}: {violation}", file=sys.stderr)
    return int(bad)


def rows(arguments: argparse.Namespace) -> Iterator[Row]:
    """Those of earlier runs, and the others as they come."""
    file: Path | None = arguments.json
    known: dict[str, Row] = {}
    if file is not None and file.exists():
        known = {row.name: row for row in (Row(**json.loads(line)) for line in file.read_text().splitlines())}
    settings = Settings(
        SearchOptions(
            seconds=arguments.limit,
            states=arguments.states,
            bound=arguments.bound,
            processes=arguments.processes,
        ),
        ("fifo", "rr") if arguments.scheduling is None else (arguments.scheduling,),
        arguments.beside,
    )
    with ProcessPoolExecutor(arguments.jobs) as pool:
        yield from known.values()
        new = (pool.submit(run, s, settings) for run, s in asked(arguments) if s.name not in known)
        for future in list(new):
            row = future.result()
            if file is not None:
                with file.open("a") as lines:
                    lines.write(json.dumps(asdict(row)) + "\n")
            yield row


def asked(
    arguments: argparse.Namespace,
) -> Iterator[tuple[Callable[..., Row], Topology | Contended | Chain]]:
    if arguments.chains is not None:
        for length in range(2, arguments.chains + 1):
            for protocol in PROTOCOLS:
                yield run_chain, Chain(length, protocol)
        return
    if arguments.named is not None:
        for system in ALL:
            if not arguments.named or system.name in arguments.named:
                yield run_named, system
        return
    for cpis in range(1, arguments.cpis + 1):
        for tasks in range(2, arguments.tasks + 1):
            for topology in topologies(cpis, tasks):
                yield run_topology, topology


if __name__ == "__main__":
    sys.exit(main())
