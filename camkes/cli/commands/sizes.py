# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about what components take of a machine: size."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from camkes import pipeline
from camkes.cli.arguments import Command, add_input, add_sdk, duration, input_of
from camkes.cli.output import USAGE, Progress, wants_color, write_diagnostics
from camkes.diagnostics import Sink


def size(arguments: argparse.Namespace) -> int:
    from camkes.showing.draw.pictures import FORMS, write_picture
    from camkes.showing.draw.treemap import treemap_svg
    from camkes.showing.sizes import to_json, to_text

    picture: Path | None = arguments.svg
    if picture is not None and picture.suffix not in FORMS:
        message = f"{picture}: the name of a picture must end in one of {', '.join(FORMS)}"
        print(f"camkes size: {message}", file=sys.stderr)
        return USAGE
    built = arguments.kernel == "sel4"
    builds = built or arguments.stacks
    if (not built and arguments.sdk is not None) or (not builds and arguments.output is not None):
        what = "--sdk is for a build" if arguments.sdk is not None else "--output is for a build"
        either = "" if arguments.sdk is not None else ", or --stacks"
        print(f"camkes size: {what}: --kernel sel4{either}", file=sys.stderr)
        return USAGE
    run = arguments.duration if arguments.stacks and not built else None
    if built and arguments.stacks and arguments.sdk is None:
        print("camkes size: --stacks of a build for seL4 needs --sdk", file=sys.stderr)
        return USAGE
    sink = Sink()
    request = input_of(arguments)
    if run is not None:
        progress = Progress(arguments)
        found = pipeline.used_stacks(request, run, arguments.output, sink, progress)
        progress.clear()
    elif built:
        progress = Progress(arguments)
        found = pipeline.built_size(
            request, arguments.workspace, arguments.output, sink, progress, stacks=arguments.stacks
        )
        progress.clear()
    else:
        found = pipeline.planned_size(request, sink)
    status = write_diagnostics(arguments, sink)
    if found is None:
        return status
    if picture is not None:
        write_picture(picture, treemap_svg(found.size, found.name))
    if arguments.json:
        print(to_json(found.size, built=built, run=run))
    else:
        print(to_text(found.size, color=wants_color(arguments, sys.stdout)))
    return status


def size_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    group = parser.add_argument_group("what is counted")
    group.add_argument(
        "--kernel",
        choices=("sel4",),
        help="build for seL4, and count all objects of the build (default: what is planned, without a build)",
    )
    group.add_argument(
        "--stacks",
        action="store_true",
        help="build and run the system on the host kernel, too: what each thread used of its stack, and the "
        "most that its code can use; the latter also of a build for seL4 with an SDK",
    )
    text = "virtual time to run with --stacks (default: 1s)"
    group.add_argument("--for", dest="duration", metavar="TIME", type=duration, default=10**9, help=text)
    add_sdk(group)
    text = "the folder of the build (default: build/NAME, or build/NAME-sel4)"
    group.add_argument("-o", "--output", metavar="DIR", type=Path, help=text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    text = "draw the memory as a picture, too: .svg, .png or .pdf"
    parser.add_argument("--svg", metavar="FILE", type=Path, help=text)


COMMANDS = (
    Command(
        "size",
        size,
        "count threads, kernel objects and memory of components",
        size_arguments,
        """
  camkes size pump                          what is planned: stacks, heaps, objects
  camkes size pump --stacks --for 10s       what threads use of their stacks
  camkes size pump --kernel sel4 --sdk sel4.sdk --svg pump.svg
  camkes size pump --kernel sel4 --json     of a build in the workspace SEL4_WORKSPACE

An object belongs to the only component that has a capability to it, or else to the only one that
receives from it; all others are `(shared)`. The end of the table lists what is not counted.""",
        has_results=True,
    ),
)
