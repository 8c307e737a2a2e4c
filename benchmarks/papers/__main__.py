# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The papers' experiments: `python -m benchmarks.papers chain|nested`, in a clone."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from benchmarks.papers import sweep, topologies
from benchmarks.papers.evaluate import RunError
from benchmarks.papers.sweep import Chunk, Row, Sweep
from camkes.analysis.profiles import find_platform
from camkes.cli.arguments import CommandLineParser, add_messages, positive
from camkes.cli.main import run_command
from camkes.cli.output import GOOD, USAGE, USER_ERROR, Progress, write_diagnostics
from camkes.diagnostics import Sink
from camkes.files import write_output
from camkes.resources import install_packages
from camkes.sweep.workers import Workers, WorkersError, distributed, local

_MORE = """examples:
  python -m benchmarks.papers chain --periods log-uniform --count 1000 --csv fig.csv --plot fig.svg
  python -m benchmarks.papers nested --count 10 --simulate 10 --kernel host
  python -m benchmarks.papers chain --count 100000 --dask tcp://scheduler:8786 --csv many.csv

The columns: sets generated; accepted by the hyperbolic bound without blocking (plain) and with it, by the
bound of Liu and Layland, by response times; lost: accepted only without blocking; infeasible: it is known
that no scheduler meets all deadlines; simulated, and of these those that missed a deadline; wrong: missed one
although response times accept the set.
Exit status: 1 if a set is wrong."""
TOPOLOGIES = ("chain", "nested")
FIGURES = (".svg", ".png", ".pdf")


def utilisations(text: str) -> tuple[float, ...]:
    """`FROM:TO:STEP`, or one value."""
    try:
        words = [float(word) for word in text.split(":")]
    except ValueError:
        words = []
    if len(words) == 1:
        words = [words[0], words[0], 1.0]
    if len(words) != 3 or not 0 < words[0] <= words[1] <= 1 or words[2] <= 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid range; expected FROM:TO:STEP within 0 to 1, as 0.1:1:0.1"
        )
    low, high, step = words
    return tuple(round(low + index * step, 6) for index in range(int((high - low) / step + 1e-9) + 1))


def experiment(arguments: argparse.Namespace) -> int:
    topology = topologies.TOPOLOGIES[arguments.topology]
    configurations = tuple(arguments.configuration or topology.configurations)
    wrong = [name for name in configurations if name not in topology.configurations]
    if wrong:
        there = ", ".join(topology.configurations)
        message = f"{arguments.topology} has no configuration {wrong[0]!r}; expected {there}"
        print(f"papers: {message}", file=sys.stderr)
        return USAGE
    if arguments.plot is not None and arguments.plot.suffix not in FIGURES:
        print(f"papers: {arguments.plot}: a plot ends in {' or '.join(FIGURES)}", file=sys.stderr)
        return USAGE
    sink = Sink()
    platform = find_platform(arguments.platform or topology.platform, sink)
    if platform is None:
        return write_diagnostics(arguments, sink)
    asked = sweep.Sweep(
        arguments.topology,
        configurations,
        arguments.utilisation,
        arguments.count,
        arguments.seed,
        arguments.platform or topology.platform,
        topology.harmonic if arguments.periods == "harmonic" else (),
        arguments.simulate,
        arguments.kernel,
    )
    try:
        rows = evaluated(arguments, asked)
        if arguments.csv is not None:
            write_output(arguments.csv, sweep.to_csv(rows).encode())
        if arguments.plot is not None:
            from benchmarks.papers.figure import draw

            draw(rows, f"{topology.source}: {asked.count} sets a utilisation", arguments.plot)
    except ImportError as error:
        install = install_packages("matplotlib", "dask[distributed]")
        print(f"papers: {error.name or error} is not installed: {install}", file=sys.stderr)
        return USER_ERROR
    except (ValueError, WorkersError) as error:
        print(f"papers: {error}", file=sys.stderr)
        return USER_ERROR
    except RunError as error:
        print(f"papers: a set was not run: {error}", file=sys.stderr)
        return USER_ERROR
    print(sweep.to_csv(rows) if arguments.csv is None else summary(rows), end="")
    return USER_ERROR if any(row.wrong for row in rows) else GOOD


def evaluated(arguments: argparse.Namespace, asked: Sweep) -> list[Row]:
    function = sweep.evaluate_chunk
    workers: AbstractContextManager[Workers[Chunk, Row]] = (
        distributed(function, arguments.dask)
        if arguments.dask is not None
        else local(function, arguments.jobs)
    )
    progress = Progress(arguments)
    with workers as each:
        rows = sweep.run(asked, each, lambda done, total: progress(f"{100 * done // total} %"))
    progress.clear()
    return rows


def summary(rows: list[Row]) -> str:
    """A line for each configuration."""
    lines = []
    for name in dict.fromkeys(row.configuration for row in rows):
        those = [row for row in rows if row.configuration == name]
        lost = next((f"{row.utilisation:g}" for row in those if row.lost), "none")
        sets, simulated = sum(row.sets for row in those), sum(row.simulated for row in those)
        line = f"{name}: {sets} sets; lowest utilisation at which blocking makes a set unschedulable: {lost}"
        if simulated:
            missed = sum(row.missed for row in those)
            line += f"; {missed} of {simulated} simulated missed a deadline"
            if missed:
                line += f" ({sum(row.infeasible for row in those)} of all sets are infeasible)"
        lines.append(line + "\n")
    return "".join(lines)


def make_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = CommandLineParser(
        prog="python -m benchmarks.papers",
        description="Generate random task sets as the papers do, and count which tests accept them.",
        epilog=_MORE,
    )
    option = parser.add_argument
    option("topology", choices=TOPOLOGIES, help="that of Sudvarg 2022 (chain) or Sudvarg 2024 (nested)")
    option(
        "--configuration",
        action="append",
        metavar="NAME",
        help="protocols of the CPIs; chain: propagated, ipcp, npcs, propagated-pip; nested: 1 to 4 "
        "(default: all)",
    )
    option(
        "--utilisation",
        type=utilisations,
        default=utilisations("0.1:1:0.1"),
        metavar="FROM:TO:STEP",
        help="total utilisations of the task sets (default: 0.1:1:0.1)",
    )
    option(
        "--count",
        type=positive,
        default=100,
        metavar="N",
        help="sets for each configuration and utilisation (default: 100)",
    )
    option("--seed", type=int, default=1, metavar="N", help="seed of the random numbers (default: 1)")
    option(
        "--periods",
        choices=("harmonic", "log-uniform"),
        default="harmonic",
        help="distribution of periods, from 5 or 10 ms to 1 s (default: harmonic)",
    )
    option(
        "--platform", metavar="NAME", help="costs of kernel operations (default: the paper's Intel machine)"
    )
    option(
        "--simulate",
        type=positive,
        default=0,
        metavar="N",
        help="simulate N hyperperiods of each set; periods should be harmonic",
    )
    option(
        "--kernel",
        choices=("model", "host"),
        default="model",
        help="simulate in the model of the analysis, or on the host kernel with the real protocols "
        "(default: model)",
    )
    option("--csv", type=Path, metavar="FILE", help="file for the table (default: standard output)")
    option("--plot", type=Path, metavar="FILE", help="accepted sets over utilisation: .svg, .png or .pdf")
    option(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of processes (default: one for each processor)",
    )
    option("--dask", metavar="ADDRESS", help="a Dask scheduler whose workers evaluate the sets")
    add_messages(parser)
    parser.set_defaults(run_command=experiment, has_results=True, parser=parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status: 1 if a set is wrong."""
    return run_command(make_parser(), sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    sys.exit(main())
