# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What it takes to abort a request without budget on the seL4 kernel, in instructions, counted by QEMU.

From the last instruction of its handler to the first one of the handler of the request that waits for the
lock: the timeout fault, the manager, the roll-back of two buffers of 16 bytes, and the hand-over. Prints what
each run took.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/rollback.py [--output DIR]
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from overheads import APPLICATION, boot, build, places


def measure(workspace: Path, folder: Path) -> list[int]:
    """The instructions of each run."""
    build(workspace, folder, "x86_64", debug=False, mcs=True, application=APPLICATION.parent / "rollback")
    return [sample.end for sample in boot(folder, "x86_64")["rollback"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the build in this folder")
    given = parser.parse_args()
    with places(given.output) as (workspace, folder):
        found = measure(workspace, folder)
    print(*found)
    print(f"{len(found)} runs: {min(found)} to {max(found)}, mean {statistics.mean(found):.0f}")


if __name__ == "__main__":
    main()
