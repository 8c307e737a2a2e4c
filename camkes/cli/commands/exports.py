# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command that leads back to camkes-tool: export."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from msgspec import Struct

from camkes import pipeline
from camkes.cli.arguments import Command, add_input, input_of
from camkes.cli.output import USAGE, count, write_diagnostics
from camkes.diagnostics import Sink
from camkes.documents import json_text


class LostReport(Struct, frozen=True):
    """What plain CAmkES cannot say: where it was written (`file` below the application's folder), what ends,
    and what can be done instead, or ""."""

    file: str
    line: int
    what: str
    instead: str


class ExportReport(Struct, frozen=True):
    """A system as plain CAmkES: the files that were written, none after an error, and what is lost."""

    folder: str
    files: tuple[str, ...]
    lost: tuple[LostReport, ...]


def export(arguments: argparse.Namespace) -> int:
    request = input_of(arguments)
    target: Path = arguments.output or Path(f"{request.path.resolve().stem}-plain")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        print(f"camkes export: {target} is not an empty folder", file=sys.stderr)
        return USAGE
    sink = Sink()
    found = pipeline.export(request, target, sink)
    status = write_diagnostics(arguments, sink)
    if found is None:
        if arguments.json:
            print(json_text(ExportReport(str(target), (), ())))
        return status
    lost = tuple(
        LostReport(str(pipeline.below(each.file, found.folder)), each.line, each.what, each.instead)
        for each in found.lost
    )
    if arguments.json:
        print(json_text(ExportReport(str(target), tuple(map(str, found.files)), lost)))
        return status
    print(f"wrote {count(found.files, 'file')} to {target}")
    print("camkes-tool checks for no deadlocks and bounds no response times. Besides, this is lost:")
    for each in lost:
        print(f"{each.file}:{each.line}: {each.what}{f'; {each.instead}' if each.instead else ''}")
    return status


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    text = "the folder to write, which is made, or is empty (default: NAME-plain)"
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help=text)
    parser.add_argument("--json", action="store_true", help="print JSON")


COMMANDS = (
    Command(
        "export",
        export,
        "write a system as plain CAmkES, for camkes-tool",
        _arguments,
        """
  camkes export pump -o pump-plain          the words of this tool are gone; what that loses is listed

Each CPI with a protocol is served by one thread at its ceiling. C code is copied as it is.""",
        has_results=True,
    ),
)
