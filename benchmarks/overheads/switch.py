# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a change of the criticality costs on the seL4 kernel, in instructions, counted by QEMU.

Of 60 tasks, 32, 16, 8 and 4 have the criticalities 0 to 3. A row is for the call that raises the criticality
of the system: it sets the priorities of 28, 12 or 4 threads, or of none. The first also wakes the thread
that waits for the processor to be idle, so the last line, for each thread, is of the others.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/switch.py [--platform NAME] [--output DIR]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from pathlib import Path

from overheads import APPLICATION, COUNTING, boot, build, places

#: tasks of each criticality
COUNTS = (32, 16, 8, 4)

_SYSTEM = """component Empty {{ control; requestor; }}
component Controller {{ control; requestor; criticality_control; }}
assembly {{
    composition {{
        component Controller controller;
        {components}
    }}
    configuration {{
        controller._priority = 5; controller._period = 50 ms; controller._offset = 25 ms;
        {settings}
    }}
}}
"""


def system() -> str:
    """Without a change, the tasks of each criticality have the same priorities as those of the others."""
    tasks = [(level, number) for level, count in enumerate(COUNTS) for number in range(count)]
    return _SYSTEM.format(
        components=" ".join(f"component Empty t{level}_{number};" for level, number in tasks),
        settings="\n        ".join(
            f"t{level}_{number}._priority = {10 + number}; t{level}_{number}._period = 1 s;"
            f" t{level}_{number}._criticality = {level};"
            for level, number in tasks
        ),
    )


def measure(workspace: Path, folder: Path, platform: str) -> dict[int, list[int]]:
    """The instructions of each change, by the number of threads that it concerns."""
    shutil.copytree(APPLICATION.parent / "switch", folder / "switch", dirs_exist_ok=True)
    (folder / "switch" / "switch.camkes").write_text(system())
    output = folder / "build"
    output.mkdir(exist_ok=True)
    build(workspace, output, platform, debug=False, mcs=True, application=folder / "switch")
    samples = boot(output, platform)
    return {
        sum(COUNTS[level:]): [sample.end for sample in samples[str(level)]]
        for level in range(1, len(COUNTS) + 1)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--platform", default="x86_64", choices=COUNTING, help="as seL4 names it")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the build in this folder")
    given = parser.parse_args()
    with places(given.output) as (workspace, folder):
        found = measure(workspace, folder, given.platform)
    middle = {threads: round(statistics.median(runs)) for threads, runs in found.items()}
    for threads, runs in found.items():
        print(f"| {threads} | {middle[threads]} | {min(runs)} to {max(runs)} |")
    few, more = sorted(middle)[1:3]
    print(f"{(middle[more] - middle[few]) / (more - few):.1f} for each thread")


if __name__ == "__main__":
    main()
