# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Evaluates many task sets: a row of counts for each configuration and utilisation."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from benchmarks.papers.evaluate import AcceptedBy, RunError, evaluate
from benchmarks.papers.generate import draw
from benchmarks.papers.topologies import TOPOLOGIES
from camkes.analysis.platform import Platform
from camkes.analysis.profiles import read_platform
from camkes.files import temporary_folder
from camkes.sweep.workers import Lost, Workers

#: Sets that a worker evaluates at once.
CHUNK = 50


class Sweep(Struct, frozen=True):
    """The parameters. `harmonic` are periods in milliseconds, none for log-uniform ones; `count` sets for
    each configuration and utilisation; `hyperperiods` of each are simulated, none for 0."""

    topology: str
    configurations: tuple[str, ...]
    utilisations: tuple[float, ...]
    count: int
    seed: int
    platform: str
    harmonic: tuple[int, ...]
    hyperperiods: int = 0
    kernel: str = "model"


class Chunk(Struct, frozen=True):
    """Sets of one configuration and utilisation."""

    sweep: Sweep
    configuration: str
    utilisation: float
    first: int
    last: int


class Row(Struct, frozen=True):
    """How many sets of a configuration and utilisation there are, which tests accept how many, how many the
    hyperbolic bound loses because of blocking, and, where there were simulations, sets that missed a deadline
    in one, among them those that response times accept: of these there are none in a right analysis.
    `infeasible` are the sets for which it is known that no scheduler meets all deadlines: each missed one."""

    configuration: str
    utilisation: float
    sets: int = 0
    plain: int = 0
    hyperbolic: int = 0
    liu_layland: int = 0
    response: int = 0
    lost: int = 0
    simulated: int = 0
    missed: int = 0
    wrong: int = 0
    infeasible: int = 0

    def plus(self, other: Row) -> Row:
        numbers = {
            name: getattr(self, name) + getattr(other, name)
            for name in self.__struct_fields__
            if name not in ("configuration", "utilisation")
        }
        return Row(self.configuration, self.utilisation, **numbers)


def row_of(configuration: str, utilisation: float, result: AcceptedBy) -> Row:
    missed = bool(result.simulated)
    return Row(
        configuration,
        utilisation,
        1,
        result.plain,
        result.hyperbolic,
        result.liu_layland,
        result.response,
        result.plain and not result.hyperbolic,
        result.simulated is not None,
        missed,
        missed and result.response,
        result.infeasible,
    )


def rng_of(sweep: Sweep, utilisation: float, index: int) -> random.Random:
    """Each set has a generator of its own, so that it does not depend on who evaluates it or on what else is
    asked for."""
    return random.Random(f"{sweep.seed} {sweep.topology} {utilisation:.6f} {index}")


def chunks(sweep: Sweep) -> list[Chunk]:
    return [
        Chunk(sweep, configuration, utilisation, first, min(first + CHUNK, sweep.count))
        for configuration in sweep.configurations
        for utilisation in sweep.utilisations
        for first in range(0, sweep.count, CHUNK)
    ]


def evaluate_chunk(chunk: Chunk) -> Row:
    """The sum over the sets of a chunk."""
    sweep = chunk.sweep
    platform: Platform = read_platform(sweep.platform)
    total = Row(chunk.configuration, chunk.utilisation)
    with ExitStack() as stack:
        folder = None
        if sweep.kernel == "host":
            folder = stack.enter_context(temporary_folder("camkes-papers-"))
        for index in range(chunk.first, chunk.last):
            result = _evaluate(chunk, index, platform, folder)
            total = total.plus(row_of(chunk.configuration, chunk.utilisation, result))
    return total


def _evaluate(chunk: Chunk, index: int, platform: Platform, folder: Path | None) -> AcceptedBy:
    sweep = chunk.sweep
    rng = rng_of(sweep, chunk.utilisation, index)
    topology = TOPOLOGIES[sweep.topology]
    workload = draw(topology, chunk.configuration, chunk.utilisation, platform, rng, sweep.harmonic)
    return evaluate(workload, platform, sweep.hyperperiods, folder)


def run(
    sweep: Sweep,
    workers: Workers[Chunk, Row],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Row]:
    """A row for each configuration and utilisation, in the order of the sweep. Raises RunError."""
    work = chunks(sweep)
    rows = {(c, u): Row(c, u) for c in sweep.configurations for u in sweep.utilisations}
    for done, (_, row) in enumerate(workers(work), 1):
        if isinstance(row, Lost):
            raise RunError(row.reason)
        key = row.configuration, row.utilisation
        rows[key] = rows[key].plus(row)
        progress(done, len(work))
    return list(rows.values())


def to_csv(rows: Iterable[Row]) -> str:
    """The rows as text; the columns are the fields of `Row`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = Row.__struct_fields__
    writer.writerow(names)
    for row in rows:
        values = (getattr(row, name) for name in names)
        writer.writerow([f"{value:g}" if isinstance(value, float) else value for value in values])
    return text.getvalue()
