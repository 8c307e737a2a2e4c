# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests whose budget is used up, on seL4: as on the host kernel.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console
from camkes.running.kinds import Kind
from tests.backends.sel4.recorded import (
    COST_US,
    COST_US_AARCH64,
    LIMIT,
    MS,
    image,
    needs_workspace,
    printed,
    records,
    with_costs,
)
from tests.runtime import (
    test_aborted_requests,
    test_overrun_chains,
    test_overruns,
    test_stopped_jobs,
    test_suspended_requests,
)
from tests.runtime.test_overrun_chains import Case, Two
from tests.runtime.test_overruns import CASES, SOURCES, STARTS

pytestmark = [pytest.mark.requirement("SEL4-6"), needs_workspace]

TOLERANCE = MS // 10
EXAMPLES = Path(__file__).parents[3] / "examples"

#: at a fixed CPI, `first` (priority 20, 3 of 20 ms) comes at 0 and `second` (30) at 1, each with a request of
#: 4 ms: the response of `second`
FIXED = {"wait": 24, "extend": 7}
FIXED_STARTS = range(STARTS[-1] + 100, STARTS[-1] + 300, 100)
INSTANCES = "".join(
    f"component User {name}_first; component User {name}_second; component F{name} {name}_fixed;"
    f"connection seL4RPCCall f_{name}(from {name}_first.s, from {name}_second.s, to {name}_fixed.s);\n"
    for name in FIXED
)
SETTINGS = "".join(
    f"{name}_first._priority = 20; {name}_first._period = 20 ms; {name}_first._budget = 3 ms;"
    f"{name}_first._offset = {start} ms; {name}_first.length = 4;"
    f"{name}_second._priority = 30; {name}_second._period = 50 ms;"
    f"{name}_second._offset = {start + 1} ms; {name}_second.length = 4;\n"
    for name, start in zip(FIXED, FIXED_STARTS, strict=True)
)
SYSTEM = "".join(
    f"component F{name} {{ provides Section s with priority_protocol fixed, overrun {name}; }}\n"
    for name in FIXED
) + test_overruns.SYSTEM.replace("} configuration {", INSTANCES + "} configuration {" + SETTINGS).replace(
    "procedure Section { void enter(in int ms); }\n", ""
).replace("} }\n", "extend_fixed.s_extension = 3 ms; extend_fixed.s_extension_period = 100 ms; } }\n")
PROCEDURE = "procedure Section { void enter(in int ms); }\n"


# the image is too large for QEMU's RISC-V machine, see docs/sel4.md
@pytest.mark.parametrize("platform", ["x86_64", "qemu-arm-virt"])
def test_responses(platform: str, tmp_path: Path) -> None:
    cost_us = COST_US if platform == "x86_64" else COST_US_AARCH64
    sources = with_costs(SOURCES | {f"F{name}": test_overruns.LOCK for name in FIXED}, cost_us)
    expected = {
        f"{case.name}_{task}": response
        for case in CASES
        for task, response in (("high", case.high), ("middle", case.middle))
    } | {f"{name}_second": response for name, response in FIXED.items()}
    found: dict[str, int] = {}
    for thread, record in records(PROCEDURE + SYSTEM, sources, tmp_path, platform=platform):
        if record.kind == Kind.JOB_END:
            found.setdefault(thread, record.time - record.arguments[1])
        if expected.keys() <= found.keys():
            break
    assert expected.keys() <= found.keys(), found
    for task, response in expected.items():
        assert abs(found[task] - response * MS) < TOLERANCE, (task, found)


def test_responses_where_requests_are_aborted(tmp_path: Path) -> None:
    """Of one lock, of a CPI without one, and of a chain of two, where both are aborted."""
    text = re.sub(
        r"_offset = (\d+)( ms)?",
        lambda found: f"_offset = {int(found[1]) + 100} ms",
        test_aborted_requests.SYSTEM,
    )
    sources = with_costs(test_aborted_requests.SOURCES)
    expected = {
        **{"high": [2], "middle": [8], "low": [20], "second": [6], "first": [20], "alone": [20, 20]},
        **{"extended": [3], "other": [2] * 5, "deep": [20] * 5},
    }
    found: dict[str, list[int]] = {task: [] for task in expected}
    for thread, record in records(text, sources, tmp_path):
        if record.kind == Kind.JOB_END and thread in found:
            found[thread].append(record.time - record.arguments[1])
        if all(len(found[task]) == len(times) for task, times in expected.items()):
            break
    for task, times in expected.items():
        for response, time in zip(found[task], times, strict=True):
            assert abs(response - time * MS) < TOLERANCE, (task, found)


#: a request in a chain, and what managers do for it, costs more
CHAIN_TOLERANCE = MS // 4


# all in one image are more kernel objects than the loader can create
@pytest.mark.parametrize(
    ("cases", "twos"),
    [(test_overrun_chains.CASES, ()), ((), test_overrun_chains.TWO)],
    ids=["one-waits", "two-wait"],
)
def test_responses_in_chains(cases: Sequence[Case], twos: Sequence[Two], tmp_path: Path) -> None:
    """Tasks that wait pay for workers that wait for replies to nested requests."""
    text, sources = test_overrun_chains.system(cases, twos)
    expected = {
        **{f"high{n}": case.high for n, case in enumerate(cases)},
        **{f"middle{n}": case.middle for n, case in enumerate(cases)},
        **{f"second_{n}": two.second for n, two in enumerate(twos)},
        **{"high_e": 5, "low_e": 50},
    }
    found: dict[str, int] = {}
    for thread, record in records(text, with_costs(sources), tmp_path):
        if record.kind == Kind.JOB_END:
            found.setdefault(thread, record.time - record.arguments[1])
        if expected.keys() <= found.keys():
            break
    times = {task: found.get(task, 0) / MS for task in expected}
    assert {task: abs(time - expected[task]) < CHAIN_TOLERANCE / MS for task, time in times.items()} == (
        dict.fromkeys(expected, True)
    ), times


#: what is printed last, and all, in this order, by some
ENDS = {
    "stopped": (test_stopped_jobs.SYSTEM, test_stopped_jobs.SOURCES, "run at", ["run at"] * 3),
    "suspended": (
        test_suspended_requests.SYSTEM,
        test_suspended_requests.SOURCES,
        "closed has none",
        [
            *("pool back", "high served", "low served"),
            *("closed back", "closed resumes", "watch looked", "hostile aborted") * 2,
            "closed has none",
        ],
    ),
}
SHOWN = ("run at", "pool", "high", "low", "closed", "watch", "hostile aborted")


@pytest.mark.parametrize("name", ENDS)
def test_jobs_are_stopped_and_tasks_suspended(name: str, tmp_path: Path) -> None:
    system, sources, last, expected = ENDS[name]
    lines: list[str] = []
    for line in printed(system, sources, tmp_path):
        words = line.strip().rpartition(" ")[0]
        lines += [words] if words.startswith(SHOWN) else []
        if words == last and lines.count(last) == expected.count(last):
            break
    assert lines == expected


def test_ciphertexts_are_right_whatever_is_aborted(tmp_path: Path) -> None:
    """examples/encryption: a thousand requests of one client, aborted anywhere, in the state of the other."""
    path = shutil.copytree(EXAMPLES / "encryption", tmp_path / "encryption")
    run = console(image(path, tmp_path / "build", trace=False), instruction_counting=True, seconds=LIMIT)
    printed: list[str] = []
    for line in run:
        printed += [line.strip()] if "FIPS" in line else []
        if len(printed) == 2:
            break
    run.close()
    assert sorted(printed) == [
        "hasty: 0 right, 0 wrong, 1000 aborted, as in FIPS 197",
        "steady: 1300 right, 0 wrong, 0 aborted, as in FIPS 197",
    ]
