# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a release by a timer costs on the seL4 kernel, in instructions, counted by QEMU.

N tasks, whose jobs do nothing, are released one after the other. A row is for how long a thread of the lowest
priority does not execute because of one release: the interrupt, the timer driver, which looks at all timers,
the job, and its wait for the next release. The second figure is how much later than it should the interrupt
comes, at most: the timer's step, and the time it takes to set it. The last two are the longest interrupt of
the kernel's clock, which a kernel with MCS does not have, and how often it comes, in nanoseconds.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/releases.py [--json] [N ...]
"""

from __future__ import annotations

import shutil
import statistics
from fractions import Fraction
from itertools import pairwise
from math import ceil
from pathlib import Path

import series
from overheads import APPLICATION, Release, Sample, boot, build

SOURCES = APPLICATION.parent / "releases"

#: nanoseconds between two releases, so that they come in all parts of a step of a timer
APART = 4_999_037

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
            f"t{i}._priority = 10; t{i}._period = {period} ns; t{i}._offset = {i * APART} ns;"
            for i in range(count)
        ),
    )


def of_releases(gaps: list[Sample], first: Sample, last: Sample, apart: int) -> Release:
    """From the long gaps, which are of releases, `apart` nanoseconds of each other, and the short ones, which
    are of ticks. `first` and `last`: the counter and the time when the gaps began and ended."""
    rate = Fraction(last.begin - first.begin, last.end - first.end)
    between = apart * rate
    begun = first.begin - first.end * rate
    enough = max(gap.end - gap.begin for gap in gaps) / 2
    longest = [gap for gap in gaps if gap.end - gap.begin > enough]
    others = [gap for gap in gaps if gap.end - gap.begin <= enough]
    cost = round(statistics.median(gap.end - gap.begin for gap in longest))
    half = between / 2  # the last reading before an interrupt can be before its time
    late = max(0, ceil(max((gap.begin - begun + half) % between - half for gap in longest)))
    tick = max((gap.end - gap.begin for gap in others), default=0)
    # one can be hidden by a release
    every = min((after.begin - before.begin for before, after in pairwise(others)), default=0)
    return Release(cost, late, tick, int(every / rate))


def measure(
    count: int, workspace: Path, folder: Path, platform: str, *, debug: bool, mcs: bool = False
) -> Release:
    """What a release costs where so many tasks have one."""
    application = folder / f"releases-{count}"
    shutil.copytree(SOURCES, application, dirs_exist_ok=True)
    shutil.copytree(APPLICATION / "include", application / "include", dirs_exist_ok=True)
    (application / "releases.camkes").write_text(system(count))
    output = folder / "build"
    output.mkdir(exist_ok=True)
    build(workspace, output, platform, debug=debug, mcs=mcs, application=application)
    samples = boot(output, platform)
    apart = 2 * APART if count == 1 else APART
    return of_releases(samples["gap"], *samples["clock"], apart)


if __name__ == "__main__":
    series.run(
        __doc__, "tasks", (1, 10, 50), measure, lambda each: (each.cost, each.late, each.tick, each.every)
    )
