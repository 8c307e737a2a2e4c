# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that a component orders by their deadlines, on seL4: as on the host kernel.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.running.kinds import Kind
from tests.backends.sel4.recorded import MS, PRINTED_MS, needs_workspace, printed, records, with_costs
from tests.runtime.test_bands import FAIR, LOCK, PAIR, SOURCES, system

pytestmark = [pytest.mark.requirement("SEL4-6"), needs_workspace]

#: kernel calls of a debug build, with those of the scheduler and of managers in between
TOLERANCE = MS // 2


@pytest.mark.parametrize("mcs", [False, True])
@pytest.mark.parametrize(
    ("configuration", "tasks", "expected"),
    [
        (PAIR, "a b", {"a": [2, 3, 4, 2, 2, 3, 4], "b": [6, 5, 6, 5, 4]}),
        (LOCK, "late middle early", {"late": [10], "middle": [8], "early": [5]}),
    ],
    ids=["pair", "lock"],
)
def test_responses(
    configuration: str, tasks: str, expected: dict[str, list[int]], mcs: bool, tmp_path: Path
) -> None:
    text = system("inherited", configuration, tasks)
    found: dict[str, list[int]] = {task: [] for task in expected}
    sources = with_costs(SOURCES | {"Other": SOURCES["Task"]})
    for thread, record in records(text, sources, tmp_path, mcs=mcs):
        if record.kind == Kind.JOB_END and thread in found:
            found[thread].append(record.time - record.arguments[1])
        if all(len(found[task]) >= len(times) for task, times in expected.items()):
            break
    for task, times in expected.items():
        assert len(found[task]) >= len(times), found
        for response, time in zip(found[task], times, strict=False):
            assert abs(response - time * MS) < TOLERANCE, (task, found)


COUNTING = """
#include <camkes/realtime.h>
#include <stdio.h>

int run(void)
{
    int count = 0;
    while (camkes_now() < CAMKES_S(1)) {
        camkes_work(CAMKES_MS(1));
        count++;
    }
    printf("%s: %d\\n", get_instance_name(), count);
    return 0;
}
"""


def test_weights(tmp_path: Path) -> None:
    """Of a second 1/6, 2/6 and 3/6, less what the scheduler and the timer driver need."""
    text = system("inherited", FAIR, "one two three", scheduler="FairScheduler")
    sources = {"Task": COUNTING, "Other": COUNTING, "Shared": SOURCES["Shared"]}
    found: dict[str, int] = {}
    for line in printed(text, sources, tmp_path):
        found |= {name: int(count) for name, count in re.findall(r"(one|two|three): (\d+)", line)}
        if len(found) == 3:
            break
    assert len(found) == 3, f"after {PRINTED_MS} ms: {found}"
    for name, share in (("one", 167), ("two", 333), ("three", 500)):
        assert share * 0.9 - 2 < found[name] < share * 1.02 + 2, found
