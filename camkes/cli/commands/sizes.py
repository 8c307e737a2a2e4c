# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about what components take of a machine: size."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from camkes import pipeline
from camkes.cli.arguments import Command, add_input, add_sdk, input_of
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
    if not built and (arguments.sdk is not None or arguments.output is not None):
        option = "--sdk" if arguments.sdk is not None else "--output"
        print(f"camkes size: {option} is for a build: --kernel sel4", file=sys.stderr)
        return USAGE
    sink = Sink()
    request = input_of(arguments)
    if built:
        progress = Progress(arguments)
        found = pipeline.built_size(request, arguments.workspace, arguments.output, sink, progress)
        progress.clear()
    else:
        found = pipeline.planned_size(request, sink)
    status = write_diagnostics(arguments, sink)
    if found is None:
        return status
    if picture is not None:
        write_picture(picture, treemap_svg(found.size, found.name))
    if arguments.json:
        print(to_json(found.size, built=built))
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
    add_sdk(group)
    text = "the folder of the build (default: build/NAME-sel4)"
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
  camkes size pump --kernel sel4 --sdk sel4.sdk --svg pump.svg
  camkes size pump --kernel sel4 --json     of a build in the workspace SEL4_WORKSPACE

An object belongs to the only component that has a capability to it, or else to the only one that
receives from it; all others are `(shared)`. The end of the table lists what is not counted.""",
        has_results=True,
    ),
)
