# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests of many shapes, events and dataports beside what camkes-tool's templates make of them, in
instructions, counted by QEMU.

Builds `shapes/` in the workspace that SEL4_WORKSPACE names, boots it, and prints a row for each shape: the
instructions that it takes with connectors of this tool, with those of camkes-tool, and their ratio. Both are
in one image, and execute the same handlers. Requests are plain ones to an interface with several methods and,
where nothing else is said, two clients.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/shapes.py [--platform qemu-arm-virt] [--json]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from overheads import APPLICATION, COUNTING, boot, build, cost, counter_of, places

#: rows of the application's output, and what they are called
SHAPES = {
    "nothing": "nothing in, nothing out",
    "in4": "four words in",
    "in5": "five words in",
    "in8": "eight words in",
    "out4": "four words out",
    "out8": "eight words out",
    "point_in": "struct of 32 bytes in",
    "point_out": "struct of 32 bytes out",
    "point_inout": "struct of 32 bytes in and out",
    "string_in": "string of 16 characters in",
    "string_out": "string of 16 characters out",
    "array_in": "array of eight integers in",
    "array_out": "array of eight integers out",
    "array_inout": "array of eight integers in and out",
    "strings_in": "array of three strings in",
    "crowd": "nothing in, nothing out, ten clients",
    "numbers": "array of 256 integers in, in a dataport",
    "memory": "eight words written to a dataport, eight read",
    "emit": "emit, no thread waits",
    "waited": "emit to a more urgent thread in `wait()`",
    "called": "emit to a more urgent callback, which is registered again",
    "poll_none": "`poll()`, no event",
    "poll": "`poll()`, an event",
    "wait": "`wait()`, an event",
}


def measure(workspace: Path, folder: Path, platform: str) -> dict[str, tuple[int, int]]:
    """The instructions of each shape, of this tool and of camkes-tool."""
    build(workspace, folder, platform, debug=False, application=APPLICATION.parent / "shapes")
    samples = boot(folder, platform)
    counter = counter_of(samples)
    return {
        shape: (cost(samples[f"ours_{shape}"], counter).both, cost(samples[f"theirs_{shape}"], counter).both)
        for shape in SHAPES
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--platform", default="x86_64", choices=COUNTING, help="as seL4 names it")
    parser.add_argument("--json", action="store_true", help="write figures as JSON instead of a table")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the build in this folder")
    given = parser.parse_args()
    with places(given.output) as (workspace, folder):
        found = measure(workspace, folder, given.platform)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    print("| request | instructions | camkes-tool | ratio |\n|---|---|---|---|")
    for shape, (ours, theirs) in found.items():
        print(f"| {SHAPES[shape]} | {ours} | {theirs} | {ours / theirs:.3f} |")


if __name__ == "__main__":
    main()
