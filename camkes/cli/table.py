# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The table of all commands, and the parser that is made of it."""

from __future__ import annotations

import argparse
from importlib import import_module

from camkes import __version__
from camkes.cli.arguments import Command, CommandLineParser
from camkes.cli.output import GOOD


def completion(arguments: argparse.Namespace) -> int:
    """It completes the commands and options of the table."""
    from camkes.cli import completion as scripts
    from camkes.diagnostics import explain as pages
    from camkes.doctor import needs

    codes = [code.number for code in pages.all_codes()]
    examined = sorted({word for need in needs() for word in need.commands if " " not in word})
    print(scripts.script(arguments.shell, make_parser(), {"explain": codes, "doctor": examined}), end="")
    return GOOD


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


COMPLETION = Command(
    "completion",
    completion,
    "print a completion script for a shell",
    completion_arguments,
    """
  source <(camkes completion bash)""",
)

#: The module of `camkes.cli.commands` with each command, in the order of `camkes --help`. The module of a
#: command is imported when the command is used.
MODULES = {
    "new": "projects",
    "stubs": "projects",
    "export": "exports",
    "check": "systems",
    "dump": "systems",
    "plan": "systems",
    "graph": "systems",
    "size": "sizes",
    "analyze": "analyses",
    "schedule": "schedules",
    "measure": "measurements",
    "paths": "paths",
    "build": "runs",
    "run": "runs",
    "compare": "comparisons",
    "test": "tests",
    "debug": "debugging",
    "explore": "explorations",
    "sweep": "sweeps",
    "sdk": "sdks",
    "explain": "texts",
    "schema": "schemas",
    "fmt": "texts",
    "watch": "environment",
    "doctor": "environment",
    "evidence": "evidence",
    "lsp": "services",
    "trust": "services",
    "completion": "",
}


def command_named(name: str) -> Command:
    """The command of this name. KeyError where there is none."""
    if not MODULES[name]:
        return COMPLETION
    commands: tuple[Command, ...] = import_module(f"camkes.cli.commands.{MODULES[name]}").COMMANDS
    return next(command for command in commands if command.name == name)


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line; with `only` one of the commands in it, which is sooner made."""
    parser = CommandLineParser(
        prog="camkes",
        description="CAmkES with native real-time protocols.",
        epilog="Exit status: 0 success, 1 errors in the input or a fault in a run, 2 wrong usage, 3 a "
        "defect of camkes, 130 interrupted.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"camkes-rt {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=CommandLineParser, prog=parser.prog
    )
    for name in [only] if only in MODULES else MODULES:
        command = command_named(name)
        sub = commands.add_parser(
            name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            epilog="examples:" + command.examples,
        )
        sub.set_defaults(run_command=command.run, has_results=command.has_results, parser=sub)
        command.add_arguments(sub)
    return parser
