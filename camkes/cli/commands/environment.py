# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Commands about where the tool is used: doctor, watch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from camkes.cli.arguments import Command, add_messages
from camkes.cli.commands import runs
from camkes.cli.output import GOOD, USAGE, USER_ERROR
from camkes.documents import json_text

if TYPE_CHECKING:
    from camkes.doctor import Health


class NeedReport(Struct, frozen=True):
    """Something that commands need, and what for. `found` is its version or place, null if it is missing;
    then `install` is a command line."""

    name: str
    found: str | None
    commands: tuple[str, ...]
    what_for: str = field(name="for")
    install: str | None


class DoctorReport(Struct, frozen=True):
    """What `commands`, those that were asked for, need; `good`: nothing of it is missing."""

    schema: str
    commands: tuple[str, ...]
    good: bool
    needs: tuple[NeedReport, ...]


def doctor(arguments: argparse.Namespace) -> int:
    from camkes.doctor import ESSENTIAL, examine, needs

    if arguments.compile and (status := compile_kits(arguments)) != GOOD:
        return status
    every = needs()
    known = sorted({command for need in every for command in need.commands})
    wanted = tuple(arguments.commands) or ESSENTIAL
    unknown = [command for command in wanted if command not in known]
    if unknown:
        message = f"camkes doctor: there are no requirements of {unknown[0]!r}"
        print(f"{message}; expected {', '.join(known)}", file=sys.stderr)
        return USAGE
    found = examine(every)
    if arguments.commands:
        found = [each for each in found if set(each.commands) & set(wanted)]
    lacking = [each for each in found if each.missing and set(each.commands) & set(wanted)]
    if arguments.json:
        print(json_text(report(found, wanted, good=not lacking)))
    else:
        print(table(found), end="")
        missing = ", ".join(each.name for each in lacking)
        print(f"missing for {', '.join(wanted)}: {missing}" if lacking else f"good for {', '.join(wanted)}")
    return USER_ERROR if lacking else GOOD


def compile_kits(arguments: argparse.Namespace) -> int:
    """Compile the host kernel for all users of the tool; the status of the command."""
    from camkes.backends.host.folder import FolderInUseError
    from camkes.backends.host.kernel import SHARED, share_kits
    from camkes.cli.output import say_of_host_kernel, write_diagnostics
    from camkes.diagnostics import Sink

    sink = Sink()
    try:
        share_kits(sink, say_of_host_kernel)
    except OSError as error:
        print(f"camkes doctor: cannot write {error.filename or SHARED}: {error.strerror}", file=sys.stderr)
        return USER_ERROR
    except FolderInUseError:
        print(f"camkes doctor: another command compiles in {SHARED}; try again later", file=sys.stderr)
        return USER_ERROR
    return write_diagnostics(arguments, sink)


def report(found: list[Health], wanted: tuple[str, ...], *, good: bool) -> DoctorReport:
    from camkes.doctor import SCHEMA

    rows = [
        NeedReport(
            name=each.name,
            found=each.found or None,
            commands=each.commands,
            what_for=each.what_for,
            install=each.install if each.missing else None,
        )
        for each in found
    ]
    return DoctorReport(SCHEMA, wanted, good, tuple(rows))


def table(found: list[Health]) -> str:
    """A line for each thing; two for what is missing, the second of which installs it."""
    width = max(len(each.name) for each in found)
    lines = []
    for each in found:
        commands = f" ({', '.join(each.commands)})" if each.commands else ""
        what = each.found or f"missing: {each.what_for}{commands}"
        lines.append(f"{'ok' if each.found else '--'}  {each.name:{width}}  {what}\n")
        if each.missing:
            lines.append(f"    {'':{width}}  {each.install}\n")
    return "".join(lines)


def watch(arguments: argparse.Namespace) -> int:
    from camkes.watching import state_of, wait_for_change, written

    if not arguments.path.exists():
        print(f"camkes watch: there is no file {arguments.path}", file=sys.stderr)
        return USER_ERROR
    arguments.command = "run"
    status = GOOD
    rounds = 0
    results = ("output", "timeline", "trace", "profile", "coverage", "console")
    own = written((getattr(arguments, name) for name in results), (1, 2))
    while True:
        state = state_of(arguments.path, own)
        status = runs.run(arguments)
        sys.stdout.flush()
        rounds += 1
        if rounds == arguments.rounds:
            return status
        if not arguments.quiet:
            print(f"camkes watch: status {status}; waiting for a change, Ctrl-C ends", file=sys.stderr)
        files = wait_for_change(arguments.path, state, own)
        if not arguments.quiet:
            names = ", ".join(Path(file).name for file in files[:4]) + (" ..." if len(files) > 4 else "")
            print(f"\ncamkes watch: changed: {names}", file=sys.stderr)


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "commands",
        metavar="COMMAND",
        nargs="*",
        help="only what these commands need, such as debug or 'run --kernel sel4' (default: all; it is an "
        "error if something is missing for check, build, run or test)",
    )
    parser.add_argument(
        "--compile",
        action="store_true",
        help="first compile the host kernel into the tool's own folder, so that no user of this installation "
        "has to: in a container image, or on a server",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_messages(parser)


def rounds(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid number")
    return int(text)


def watch_arguments(parser: argparse.ArgumentParser) -> None:
    runs.run_arguments(parser)
    text = "end after N runs, with the status of the last one (default: 0, never)"
    parser.add_argument("--rounds", metavar="N", type=rounds, default=0, help=text)


COMMANDS = (
    Command(
        "watch",
        watch,
        "check and run a system again whenever one of its files changes",
        watch_arguments,
        """
  camkes watch examples/nested
  camkes watch pump --for 100ms --deny missed

It has the options of `camkes run`. Ctrl-C ends it, with status 130.""",
        has_results=True,
    ),
    Command(
        "doctor",
        doctor,
        "list what is missing on this machine, and how to install it",
        doctor_arguments,
        """
  camkes doctor
  camkes doctor debug
  camkes doctor 'run --kernel sel4' --json
  camkes doctor --compile

Exit status: 0 everything is there, 1 something is missing, 2 wrong usage.""",
        has_results=True,
    ),
)
