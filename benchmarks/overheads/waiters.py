# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a contended request costs with several waiters on the seL4 kernel, in instructions, counted by QEMU.

While a task of low priority holds the lock of an `inherited` CPI, N tasks of rising priorities request it,
each as soon as the one before waits. A row is the request of the last one, which is served first.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/waiters.py [--json] [N ...]
"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path

import series
from overheads import APPLICATION, Cost, boot, build, cost

SOURCES = APPLICATION.parent / "waiters"

#: priority of the task that holds the lock; those of the others follow
LOWEST = 10

_SYSTEM = """import <std_connector.camkes>;
procedure Clock {{ uint64_t now(in uint64_t release); }}
component Client {{
    control; requestor; uses Clock lock; consumes Released held; attribute int measures = 0;
}}
component Holder {{ control; requestor; uses Clock lock; }}
component Inherited {{
    provides Clock p with priority_protocol inherited, requests (); emits Released client;
}}
assembly {{
    composition {{
        component Holder holder;
        component Inherited server;
        group clients {{ {components} }}
        connection seL4RPCCall lock(from holder.lock, {uses}, to server.p);
        connection seL4Notification held(from server.client, {consumes});
    }}
    configuration {{
        holder._priority = {lowest};
        {priorities}
        c{count}.measures = 1;
    }}
}}
"""


def system(count: int) -> str:
    clients = range(1, count + 1)
    return _SYSTEM.format(
        components=" ".join(f"component Client c{i};" for i in clients),
        uses=", ".join(f"from clients.c{i}.lock" for i in clients),
        consumes=", ".join(f"to clients.c{i}.held" for i in clients),
        priorities="\n        ".join(f"c{i}._priority = {LOWEST + i};" for i in clients),
        lowest=LOWEST,
        count=count,
    )


def write(count: int, folder: Path) -> None:
    """The application with that many waiters."""
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    shutil.copytree(APPLICATION / "include", folder / "include", dirs_exist_ok=True)
    shutil.copy(APPLICATION / "server.c", folder)
    (folder / "waiters.camkes").write_text(system(count))


def measure(
    count: int, workspace: Path, folder: Path, platform: str, *, debug: bool, mcs: bool = False
) -> Cost:
    application = folder / f"application-{count}"
    write(count, application)
    output = folder / "build"
    output.mkdir(exist_ok=True)
    build(workspace, output, platform, debug=debug, mcs=mcs, application=application)
    samples = boot(output, platform)
    counter = round(statistics.median(s.middle - s.begin for s in samples["counter"]))
    return cost(samples["waiters"], counter)


if __name__ == "__main__":
    series.run(
        __doc__, "waiters", (1, 2, 3, 10, 100), measure, lambda cost: (cost.both, cost.call, cost.reply)
    )
