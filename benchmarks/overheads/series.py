# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A measurement in several sizes: the arguments, the workspace, and the table or JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from overheads import COUNTING, places

Result = TypeVar("Result")


def run(
    description: str | None,
    what: str,
    sizes: Sequence[int],
    measure: Callable[..., Result],
    figures: Callable[[Result], Sequence[int]],
) -> None:
    """The command: measures the sizes that are named, or these, and prints a row of figures for each, or the
    first ones as JSON. `measure` builds one size in a folder, and boots it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(what, type=int, nargs="*", default=sizes, metavar="N")
    parser.add_argument("--platform", default="x86_64", choices=COUNTING, help="as seL4 names it")
    parser.add_argument("--debug", action="store_true", help="a debug image instead of a release image")
    parser.add_argument("--mcs", action="store_true", help="an MCS kernel")
    parser.add_argument("--json", action="store_true", help="write figures as JSON instead of a table")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the last build in this folder")
    given = parser.parse_args()
    found = {}
    with places(given.output) as (workspace, folder):
        for count in getattr(given, what):
            row = figures(measure(count, workspace, folder, given.platform, debug=given.debug, mcs=given.mcs))
            found[count] = row[0]
            if not given.json:
                print(f"| {' | '.join(map(str, (count, *row)))} |", flush=True)
    if given.json:
        print(json.dumps(found, indent=2))
