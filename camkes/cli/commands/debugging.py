# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command that runs a system in gdb: debug."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from camkes import pipeline
from camkes.cli.arguments import (
    Command,
    CommandLineParser,
    add_input,
    choices,
    duration,
    input_of,
)
from camkes.cli.commands.runs import add_kernel, wrong_for_host, wrong_for_sel4
from camkes.cli.output import USAGE, USER_ERROR, Progress, write_diagnostics
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import render

if TYPE_CHECKING:
    from camkes.debugging import StopAt


def stop_at(text: str) -> StopAt:
    """A time or an event."""
    from camkes.debugging import parse_stop

    try:
        return parse_stop(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid place to stop; expected a time such as 12ms, or missed, fault, "
            "release, request or lock with :NAME and :NUMBER, such as missed:pump or request:store.s:3"
        ) from None


def debug(arguments: argparse.Namespace) -> int:
    from camkes.debugging import DebugSettings, debug, debug_for_editor, debug_sel4

    on_sel4 = arguments.kernel == "sel4"
    if wrong_for_sel4(arguments, ("at", "duration")) if on_sel4 else wrong_for_host(arguments):
        return USAGE
    path = arguments.path
    if not path.exists() and path.parent == Path() and path.suffix != ".camkes":
        words = " ".join((str(path), *arguments.component))
        message = f"there is no {path} here; for an instance of this application: camkes debug . {words}"
        print(f"camkes debug: {message}", file=sys.stderr)
        return USAGE
    sink = Sink()
    progress = Progress(arguments)
    run = pipeline.RunSettings(
        output=arguments.output,
        duration=arguments.duration,
        choices=arguments.choices,
        scheduling=arguments.scheduling,
    )
    settings = DebugSettings(
        run=run,
        stop=arguments.at,
        breaks=tuple(arguments.component),
        commands=tuple(arguments.execute),
        batch=arguments.batch,
    )
    if arguments.dap:
        if on_sel4:
            print("camkes debug: --dap is for the host kernel", file=sys.stderr)
            return USAGE
        debug_for_editor(input_of(arguments), settings, as_lines)
        return 0
    if on_sel4:
        status = debug_sel4(input_of(arguments), settings, arguments.workspace, sink, progress)
    else:
        status = debug(input_of(arguments), settings, sink, progress)
    progress.clear()
    wrong = write_diagnostics(arguments, sink)
    return max(wrong, USER_ERROR if status is None or status != 0 else 0)


def as_lines(sink: Sink) -> str:
    """What there is to report, as text."""
    return render(sink.diagnostics)


def debug_arguments(parser: argparse.ArgumentParser) -> None:
    if isinstance(parser, CommandLineParser):
        parser.mixed = True
    add_input(parser)
    option = parser.add_argument
    option(
        "component",
        metavar="COMPONENT",
        nargs="*",
        help="an instance, or an interface of one (INSTANCE.INTERFACE): stop where its code begins",
    )
    add_kernel(parser)
    group = parser.add_argument_group("debugging")
    option = group.add_argument
    option(
        "--at",
        metavar="WHERE",
        type=stop_at,
        help="stop at a virtual time (12ms), or at an event: missed[:TASK], fault[:INSTANCE], "
        "release[:TASK], request[:CPI], lock[:CPI], each with :N for the event number N, from 0",
    )
    option(
        "-x",
        "--execute",
        metavar="COMMAND",
        action="append",
        default=[],
        help="a command of gdb, when it stopped",
    )
    option("--batch", action="store_true", help="end after these commands")
    option(
        "--dap",
        action="store_true",
        help="serve an editor: the Debug Adapter Protocol on standard input and output",
    )
    text = "virtual time to run (default: until all is idle, at most 1s)"
    option("--for", dest="duration", metavar="TIME", type=duration, help=text)
    text = "order among threads of equal priority (default: fifo)"
    option("--scheduling", choices=("fifo", "rr"), default="fifo", help=text)
    text = "first, random:SEED or script:FILE (default: first)"
    option("--choices", metavar="HOW", type=choices, default="first", help=text)


COMMANDS = (
    Command(
        "debug",
        debug,
        "run a system in gdb",
        debug_arguments,
        """
  camkes debug examples/nested                       gdb before the first instruction
  camkes debug examples/nested t4                    stop in run() of t4
  camkes debug examples/inversion --at 12ms
  camkes debug examples/inversion --kernel sel4 shared.store     in QEMU
  camkes debug examples/inversion --kernel sel4 shared.store -x 'camkes threads' --batch
  camkes debug examples/inversion --at request:shared.store:1 -x bt -x 'camkes threads' --batch

In gdb: camkes threads, camkes break INSTANCE[.INTERFACE]; for the host kernel camkes waits, camkes at TIME,
camkes back TIME, too.
Exit status: 1 after errors in the system, if the event does not happen, or if gdb fails.""",
        has_results=True,
    ),
)
