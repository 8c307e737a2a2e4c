# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Commands that work on files of text: fmt, explain."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.cli.arguments import Command, add_messages
from camkes.cli.output import GOOD, USAGE, USER_ERROR, write_diagnostics, write_exactly
from camkes.diagnostics import Sink
from camkes.files import OutputError

if TYPE_CHECKING:
    from camkes.cli.reformat import FormattedFile


def fmt(arguments: argparse.Namespace) -> int:
    from camkes.cli import reformat

    from_input = arguments.stdin or Path("-") in arguments.paths
    if from_input and arguments.paths not in ([], [Path("-")]):
        print("camkes fmt: standard input cannot be combined with files", file=sys.stderr)
        return USAGE
    keep = arguments.check or arguments.diff
    if not from_input and not arguments.paths and not keep:
        print("camkes fmt: name files or folders, or `-` for standard input", file=sys.stderr)
        return USAGE
    sink = Sink()
    if from_input:
        layouts = [reformat.lay_out_text(sys.stdin.buffer.read(), sink)]
    else:
        layouts = [reformat.lay_out(path, sink) for path in reformat.find_files(arguments.paths or [Path()])]
    status = GOOD
    for layout in layouts:
        if layout is None:
            continue
        if from_input and not keep:
            write_exactly(layout.after)
        elif layout.changed:
            status = max(status, apply_layout(arguments, layout))
    return max(status, write_diagnostics(arguments, sink))


def apply_layout(arguments: argparse.Namespace, layout: FormattedFile) -> int:
    """Write a file that is not in the common layout, or with --check and --diff show it."""
    if not arguments.check and not arguments.diff:
        try:
            layout.write()
        except OutputError as error:
            print(f"camkes fmt: {error}", file=sys.stderr)
            return USER_ERROR
    if arguments.diff:
        write_exactly(layout.diff())
    else:
        write_exactly(f"{'' if arguments.check else 'formatted '}{layout.source.path}\n")
    return USER_ERROR if arguments.check else GOOD


def explain(arguments: argparse.Namespace) -> int:
    from camkes.diagnostics import explain as pages
    from camkes.running import demands

    if arguments.code is None:
        found_all = pages.all_codes()
        print(pages.to_json(found_all) if arguments.json else pages.listing(found_all))
        return GOOD
    found = pages.find(arguments.code)
    described = demands.page(arguments.code) if found is None and not arguments.json else None
    if described is not None:
        print(described)
        return GOOD
    if found is None:
        nearest = pages.nearest(arguments.code)
        hint = f"; did you mean {nearest}?" if nearest else ""
        print(f"camkes explain: there is no code {arguments.code!r}{hint}", file=sys.stderr)
        return USER_ERROR
    print(pages.to_json([found]) if arguments.json else pages.page(found))
    return GOOD


def fmt_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, help="a file, a folder, or `-`")
    parser.add_argument("--stdin", action="store_true", help="read standard input and write standard output")
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing; list the files that would change, with exit status 1 if there are any",
    )
    parser.add_argument("--diff", action="store_true", help="change nothing; show the changes as a diff")
    add_messages(parser)


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "code",
        metavar="CODE",
        nargs="?",
        help="a code such as E0501 or its name, or a property of --verify such as M",
    )
    parser.add_argument("--json", action="store_true", help="print JSON: number, name, severity and page")


COMMANDS = (
    Command(
        "explain",
        explain,
        "explain the code of a diagnostic or a property of a run",
        explain_arguments,
        """
  camkes explain E0501
  camkes explain M                     a property that `camkes run --verify` checks
  camkes explain                       lists all codes""",
    ),
    Command(
        "fmt",
        fmt,
        "format .camkes files",
        fmt_arguments,
        """
  camkes fmt examples
  camkes fmt --check --diff system.camkes
  camkes fmt - < untidy.camkes""",
        has_results=True,
    ),
)
