# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about deadlines: analyze."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.cli.arguments import Command, add_dependencies, add_input, did_you_mean
from camkes.cli.commands.systems import checked
from camkes.cli.output import GOOD, USAGE, USER_ERROR, wants_color, write_diagnostics
from camkes.diagnostics import Sink
from camkes.files import OutputError, write_output

if TYPE_CHECKING:
    from camkes.analysis.witness import Witness


def analyze(arguments: argparse.Namespace) -> int:
    from camkes.analysis.platform import find_platform
    from camkes.analysis.verdict import analyse_system
    from camkes.analysis.witness import witnesses
    from camkes.analysis.workload import workload_of
    from camkes.report import analysis as report

    sink = Sink()
    platform = find_platform(arguments.platform, sink)
    result = checked(arguments, sink)
    analysis = None
    if platform is not None and result is not None:
        analysis = analyse_system(result.system, result.plan, platform, sink)
    status = write_diagnostics(arguments, sink)
    if analysis is None:
        return status
    assert result is not None
    found: dict[str, Witness] = {}
    if arguments.search:
        found = witnesses(workload_of(result.system, result.plan), analysis)
    if arguments.witnesses is not None:
        write_witnesses(arguments.witnesses, found)
    if arguments.json:
        print(report.to_json(analysis, found))
    elif arguments.explain is None:
        print(report.to_text(analysis, found, color=wants_color(arguments, sys.stdout)))
    else:
        text = report.explain(analysis, arguments.explain, found)
        if text is None:
            hint = did_you_mean(arguments.explain, [each.task.name for each in analysis.tasks])
            print(f"camkes analyze: there is no task {arguments.explain!r}{hint}", file=sys.stderr)
            return USAGE
        print(text)
    return status if analysis.good or status != GOOD else USER_ERROR


def write_witnesses(folder: Path, found: Mapping[str, Witness]) -> None:
    """Write a replay file for each task. Raises OutputError."""
    from camkes.analysis.replay import to_json

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error
    for name, witness in found.items():
        write_output(folder / f"{name}.json", to_json(witness).encode())


def analyze_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument(
        "--platform",
        metavar="NAME",
        default="none",
        help="what operations cost: a profile that comes with camkes, or a .toml file (default: nothing)",
    )
    parser.add_argument(
        "--witnesses",
        metavar="DIR",
        type=Path,
        help="write the worst case that was found for each task, for `camkes run --replay`",
    )
    parser.add_argument(
        "--no-search",
        dest="search",
        action="store_false",
        help="do not search for the cases in which tasks respond late",
    )
    parser.add_argument("--explain", metavar="TASK", help="where each number of a task comes from")
    parser.add_argument("--json", action="store_true", help="as JSON")


COMMANDS = (
    Command(
        "analyze",
        analyze,
        "say whether every task meets its deadline, and why",
        analyze_arguments,
        """
  camkes analyze examples/nested
  camkes analyze examples/nested --platform sudvarg2024-intel --explain t4
  camkes analyze system.camkes --witnesses cases
  camkes run system.camkes --replay cases/radar.json --timeline radar.svg

Exit status: 1 where a deadline can be missed or the system has no analysis.""",
        has_results=True,
    ),
)
