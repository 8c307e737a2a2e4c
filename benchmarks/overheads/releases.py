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

from pathlib import Path

import series
from overheads import boot, build, wanted

from camkes.measuring.figures import APART, ReleaseCost, of_releases
from camkes.measuring.images import write_application
from camkes.measuring.log import CLOCK, GAP, releases_part


def measure(
    count: int, workspace: Path, folder: Path, platform: str, *, debug: bool, mcs: bool = False
) -> ReleaseCost:
    """What a release costs where so many tasks have one."""
    application = folder / f"releases-{count}"
    write_application(releases_part(count), wanted(platform, debug=debug, mcs=mcs), application)
    output = folder / "build"
    output.mkdir(exist_ok=True)
    build(workspace, output, platform, debug=debug, mcs=mcs, application=application)
    samples = boot(output, platform)
    first, last = samples[CLOCK]
    return of_releases(samples[GAP], first, last, (2 if count == 1 else 1) * APART, mcs=mcs)


if __name__ == "__main__":
    series.run(
        __doc__, "tasks", (1, 10, 50), measure, lambda each: (each.most, each.late, each.tick, each.every)
    )
