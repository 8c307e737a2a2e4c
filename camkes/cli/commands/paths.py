# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about the most instructions that paths execute: paths."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from camkes import pipeline
from camkes.cli.arguments import Command, add_input, add_sdk, input_of
from camkes.cli.output import USAGE, USER_ERROR, Progress, wants_color, write_diagnostics
from camkes.diagnostics import Sink

#: what the extra `paths` installs
_NEEDED = ("capstone", "elftools", "scipy")


def limit(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not name.isidentifier() or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid limit; expected FUNCTION=N")
    return name, int(number)


def paths(arguments: argparse.Namespace) -> int:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        needs = "camkes paths needs camkes-rt with its extra `paths`"
        print(f"{needs} (missing: {', '.join(missing)})", file=sys.stderr)
        return USAGE
    from camkes.showing.paths import to_json, to_report, to_text

    limits = dict(arguments.limits)
    sink = Sink()
    if arguments.program is not None:
        found = pipeline.bounded_functions(arguments.program, arguments.functions, limits, sink)
        name = arguments.program.name
    elif arguments.functions:
        print("camkes paths: --function is for --program", file=sys.stderr)
        return USAGE
    else:
        progress = Progress(arguments)
        workspace: Path | None = arguments.workspace
        found = pipeline.bounded_paths(
            input_of(arguments), workspace, arguments.output, limits, sink, progress
        )
        progress.clear()
        name = arguments.path.absolute().stem
    status = write_diagnostics(arguments, sink)
    if found is None:
        return status
    report = to_report(name, found)
    print(to_json(report) if arguments.json else to_text(report, color=wants_color(arguments, sys.stdout)))
    return status if report.complete else USER_ERROR


def paths_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    text = "the folder of the build (default: build/NAME-sel4)"
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help=text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--limit",
        dest="limits",
        metavar="FUNCTION=N",
        type=limit,
        action="append",
        default=[],
        help="each loop of a function, such as memcpy, goes back at most N times, where its source does not "
        "state it; may be repeated",
    )
    add_sdk(parser.add_argument_group("how it is built"))
    group = parser.add_argument_group("functions of any program")
    text = "a linked ELF file with symbols, in place of a system"
    group.add_argument("--program", metavar="FILE", type=Path, help=text)
    text = "bound this function of it, from its call to its return; may be repeated"
    group.add_argument("--function", dest="functions", metavar="NAME", action="append", default=[], help=text)


COMMANDS = (
    Command(
        "paths",
        paths,
        "bound the instructions of requests, replies and handlers in a build for seL4",
        paths_arguments,
        """
  camkes paths apps/radar --workspace ~/sel4
  camkes paths apps/radar --limit memcpy=120 --json > bounds.json
  camkes paths --program build/radar-sel4/filter.elf --function p_filter

A loop is bounded if it counts to a constant, or by a comment in the line of its `for` or `while`:
/* at most N times: WHY */. Builds for x86_64 and aarch64 are understood.
Exit status: 1 if a path has no bound.""",
        has_results=True,
    ),
)
