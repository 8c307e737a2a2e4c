# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Commands that set up the tool in an environment: lsp, trust."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from camkes.cli.arguments import Command
from camkes.cli.output import GOOD, USER_ERROR
from camkes.resources import install_packages


def lsp(arguments: argparse.Namespace) -> int:
    try:
        from camkes.editor.server import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        print(
            "camkes lsp: the editor server needs pygls; install it with\n"
            f"  {install_packages('pygls>=2,<3', 'lsprotocol')}",
            file=sys.stderr,
        )
        return USER_ERROR
    gc.enable()
    return GOOD if serve() else USER_ERROR  # as the protocol defines


def trust(arguments: argparse.Namespace) -> int:
    from camkes.project import trust as trusted

    for folder in arguments.folders:
        if not folder.is_dir():
            print(f"camkes trust: there is no folder {folder}", file=sys.stderr)
            return USER_ERROR
    try:
        for folder in arguments.folders:
            print(f"{folder}: trusted, recorded in {trusted.add(folder)}")
    except OSError as error:
        print(
            f"camkes trust: cannot write {error.filename or 'the output'}: {error.strerror}", file=sys.stderr
        )
        return USER_ERROR
    return GOOD


def lsp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="use standard input and output (default)")


def trust_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders", metavar="DIR", nargs="+", type=Path, help="a folder; trusts its subfolders as well"
    )


COMMANDS = (
    Command(
        "lsp",
        lsp,
        "serve an editor over standard input and output",
        lsp_arguments,
        """
  camkes lsp                           started by an editor, see docs/editor.md""",
    ),
    Command(
        "trust",
        trust,
        "allow CMake to run in a folder without a sandbox",
        trust_arguments,
        """
  camkes trust ~/work                  allows CMake to run for all applications there""",
    ),
)
