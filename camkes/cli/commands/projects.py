# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command that makes a project: new."""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec import Struct

from camkes.cli.arguments import Command, add_messages
from camkes.cli.output import GOOD, write_diagnostics
from camkes.diagnostics import Sink
from camkes.documents import json_text
from camkes.scaffold.create import TEMPLATES


class NewReport(Struct, frozen=True):
    """A new project. `files` are those that were written, none after an error."""

    folder: str
    template: str
    files: tuple[str, ...]


def new(arguments: argparse.Namespace) -> int:
    from camkes.scaffold.create import create

    sink = Sink()
    folder = arguments.name
    written = create(folder, arguments.template, sink)
    status = write_diagnostics(arguments, sink)
    if arguments.json:
        report = NewReport(str(folder), arguments.template, tuple(map(str, written)))
        print(json_text(report))
    elif status == GOOD and not arguments.quiet:
        print(f"created {folder}: {TEMPLATES[arguments.template]}")
        print(f"  camkes run {folder}      build and run it")
        print(f"  camkes test {folder}     run its tests")
    return status


def new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", type=Path, help="the folder, whose name is that of the project"
    )
    described = "; ".join(f"{name}: {text}" for name, text in TEMPLATES.items())
    parser.add_argument(
        "--template",
        choices=tuple(TEMPLATES),
        default="task",
        help=f"template of the project (default: task). {described}",
    )
    parser.add_argument("--json", action="store_true", help="print the folder and the files as JSON")
    add_messages(parser)


COMMANDS = (
    Command(
        "new",
        new,
        "create a project",
        new_arguments,
        """
  camkes new pump                       a periodic task, its test, settings for CI and editors
  camkes new drivers/uart --template driver
  camkes new drone --template system    a whole system: the flight controller of examples/flight

Exit status: 0 the project was created, 1 the name is not valid or there are files already.""",
        has_results=True,
    ),
)
