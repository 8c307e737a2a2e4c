# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a release by a timer costs on the seL4 kernel, in instructions, counted by QEMU.

N tasks, whose jobs do nothing, are released one after the other. A row is for how long a thread of the lowest
priority does not execute because of one release: the interrupt, the timer driver, which looks at all timers,
the job, and its wait for the next release.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/releases.py [--json] [N ...]
"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path

import series
from overheads import APPLICATION, SHIFT, Sample, boot, build

SOURCES = APPLICATION.parent / "releases"

#: milliseconds between two releases
APART = 5

#: in an instruction-counting run an instruction takes a nanosecond, times the step of the platform's counter
_NANOSECONDS = 1_000_000

_SYSTEM = """component Empty {{ control; requestor; }}
component Watcher {{ control; }}
assembly {{
    composition {{
        component Watcher watcher;
        {components}
    }}
    configuration {{
        watcher._priority = 1;
        {settings}
    }}
}}
"""


def system(count: int) -> str:
    """So many tasks, all released in turn."""
    period = max(count, 2) * APART
    return _SYSTEM.format(
        components=" ".join(f"component Empty t{i};" for i in range(count)),
        settings="\n        ".join(
            f"t{i}._priority = 10; t{i}._period = {period} ms; t{i}._offset = {i * APART} ms;"
            for i in range(count)
        ),
    )


def of_releases(gaps: list[Sample], apart: int) -> int:
    """The length of those gaps that are of releases, `apart` of each other: the longest of them."""
    count = (gaps[-1].end - gaps[0].begin) // apart
    longest = sorted((gap.end - gap.begin for gap in gaps), reverse=True)[: max(1, count)]
    return round(statistics.median(longest))


def measure(count: int, workspace: Path, folder: Path, platform: str, *, debug: bool) -> int:
    """What a release costs where so many tasks have one."""
    application = folder / f"releases-{count}"
    shutil.copytree(SOURCES, application, dirs_exist_ok=True)
    shutil.copytree(APPLICATION / "include", application / "include", dirs_exist_ok=True)
    (application / "releases.camkes").write_text(system(count))
    output = folder / "build"
    output.mkdir(exist_ok=True)
    build(workspace, output, platform, debug=debug, application=application)
    apart = (2 * APART if count == 1 else APART) * _NANOSECONDS >> SHIFT[platform]
    return of_releases(boot(output, platform)["gap"], apart)


if __name__ == "__main__":
    series.run(__doc__, "tasks", (1, 10, 50), measure, lambda each: (each,))
