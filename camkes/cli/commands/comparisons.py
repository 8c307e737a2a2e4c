# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about two runs: compare."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from msgspec import Struct

from camkes.backends.host.errors import unwritten
from camkes.cli.arguments import Command, add_messages
from camkes.cli.output import GOOD, USAGE, USER_ERROR, wants_color, write_diagnostics
from camkes.diagnostics import Sink
from camkes.documents import json_text
from camkes.files import OutputError, write_output
from camkes.running.comparison import ComparedJob, ComparedStep, compare, load_recorded
from camkes.showing.beside import comparison_page, comparison_text
from camkes.showing.draw.table import terminal_width
from camkes.visible import visible


class ComparisonReport(Struct, frozen=True, kw_only=True):
    """Two runs of a system. `steps` steps of tasks and protocols are the same, in the same order; if the runs
    are not the `same`, then `first` or `second` does something else, null: nothing more. Times are
    nanoseconds."""

    schema: int = 1
    labels: tuple[str, str]
    same: bool
    steps: int
    first: ComparedStep | None
    second: ComparedStep | None
    jobs: tuple[ComparedJob, ...]


def compare_command(arguments: argparse.Namespace) -> int:
    first, second = arguments.first, arguments.second
    labels = (first.stem, second.stem) if first.stem != second.stem else (str(first), str(second))
    sink = Sink()
    runs = [load_recorded(path, label, sink) for path, label in zip((first, second), labels, strict=True)]
    one, other = runs
    if one is None or other is None:
        return write_diagnostics(arguments, sink)
    if not {task.name for task in one.run.names.tasks} & {task.name for task in other.run.names.tasks}:
        message = f"{first} and {second} have no task in common: they are of different systems"
        print(f"camkes compare: {visible(message)}", file=sys.stderr)
        return USAGE
    found = compare(one, other)
    if arguments.output is not None:
        try:
            page = comparison_page(one, other, found, f"{labels[0]} and {labels[1]}")
            write_output(arguments.output, page.encode())
        except OutputError as error:
            sink.add(unwritten(error))
    status = write_diagnostics(arguments, sink)
    if arguments.json:
        report = ComparisonReport(
            labels=found.labels,
            same=found.same,
            steps=found.steps,
            first=found.different[0],
            second=found.different[1],
            jobs=found.jobs,
        )
        print(json_text(report))
    else:
        color = wants_color(arguments, sys.stdout)
        print(comparison_text(found, color=color, width=terminal_width()), end="")
    return max(status, GOOD if found.same else USER_ERROR)


def compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A.trace", type=Path, help="a recording of `camkes run --trace`")
    parser.add_argument("second", metavar="B.trace", type=Path, help="another one, of the same system")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write a page with both timelines, one below the other, and the response times of jobs: .html",
    )
    parser.add_argument("--json", action="store_true", help="print what differs as JSON")
    add_messages(parser)


COMMANDS = (
    Command(
        "compare",
        compare_command,
        "compare two runs of a system",
        compare_arguments,
        """
  camkes run examples/inversion --trace host.trace
  camkes run examples/inversion --kernel sel4 --trace sel4.trace
  camkes compare host.trace sel4.trace -o both.html

Compared are the steps of tasks and protocols: jobs, requests and locks. Exit status: 1 if they differ.""",
        has_results=True,
    ),
)
