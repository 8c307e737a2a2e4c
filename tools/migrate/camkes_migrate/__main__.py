# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command `camkes-migrate`: arguments, output, exit status as those of `camkes`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from camkes import __version__
from camkes.cli.arguments import CommandLineParser, add_messages, add_path
from camkes.cli.main import run_command
from camkes.cli.output import count, wants_color, write_diagnostics, write_exactly
from camkes.diagnostics import Sink
from camkes.files import OutputError
from camkes.process import leave, prepare_streams
from camkes_migrate import application

_EXAMPLES = """examples:
  camkes-migrate projects/camkes/apps/pump            shows what would change
  camkes-migrate projects/camkes/apps/pump --write"""


def migrate(arguments: argparse.Namespace) -> int:
    """Show or write the changes of an application; returns the exit status."""
    sink = Sink()
    changes = application.migrate(arguments.path, sink)
    if sink.has_errors:
        return write_diagnostics(arguments, sink)
    base = arguments.path if arguments.path.is_dir() else arguments.path.parent
    color = wants_color(arguments, sys.stdout)
    for change in changes:
        for line in change.diff(base):
            if color:
                sys.stdout.write(application.painted(line))
            else:
                write_exactly(line)
    sys.stdout.flush()
    status = write_diagnostics(arguments, sink)
    if arguments.write:
        try:
            application.write(changes)
        except OSError as error:
            raise OutputError(f"cannot write {error.filename}: {error.strerror}") from error
    if changes and not arguments.quiet:
        files = count(changes, "file")
        done = f"changed {files}" if arguments.write else f"{files} would change; --write changes them"
        print(done, file=sys.stderr)
    return status


def make_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = CommandLineParser(
        prog="camkes-migrate",
        description="Convert an application of the priority-aware-camkes library to the native syntax.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("-V", "--version", action="version", version=f"camkes-rt {__version__}")
    add_path(parser, "an application's folder, or a file in it")
    parser.add_argument(
        "--write", action="store_true", help="change the files instead of only showing the changes"
    )
    add_messages(parser)
    parser.set_defaults(run_command=migrate, has_results=True, parser=parser)
    return parser


def command_line(argv: Sequence[str] | None = None) -> int:
    """Run the command in this process; returns the exit status."""
    return run_command(make_parser(), sys.argv[1:] if argv is None else argv)


def main() -> None:
    """Run the command line in this process, and end it."""
    prepare_streams()
    leave(command_line())


if __name__ == "__main__":
    main()
