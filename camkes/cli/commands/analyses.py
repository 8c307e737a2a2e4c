# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about deadlines: analyze."""

from __future__ import annotations

import argparse
import sys

from camkes.cli.arguments import Command, add_dependencies, add_input, did_you_mean
from camkes.cli.commands.systems import checked
from camkes.cli.output import GOOD, USAGE, USER_ERROR, wants_color, write_diagnostics
from camkes.diagnostics import Sink


def analyze(arguments: argparse.Namespace) -> int:
    from camkes.analysis.platform import find_platform
    from camkes.analysis.verdict import analyse_system
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
    if arguments.json:
        print(report.to_json(analysis))
    elif arguments.explain is None:
        print(report.to_text(analysis, color=wants_color(arguments, sys.stdout)))
    else:
        text = report.explain(analysis, arguments.explain)
        if text is None:
            hint = did_you_mean(arguments.explain, [each.task.name for each in analysis.tasks])
            print(f"camkes analyze: there is no task {arguments.explain!r}{hint}", file=sys.stderr)
            return USAGE
        print(text)
    return status if analysis.good or status != GOOD else USER_ERROR


def analyze_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument(
        "--platform",
        metavar="NAME",
        default="none",
        help="what operations cost: a profile that comes with camkes, or a .toml file (default: nothing)",
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

Exit status: 1 where a deadline can be missed or the system has no analysis.""",
        has_results=True,
    ),
)
