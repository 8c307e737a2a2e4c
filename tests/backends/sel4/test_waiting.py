# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waiting with helpers and monitors on seL4: responses are those of the definition, but for what kernel and
runtime take, 0.1 ms. Until a job that is released at 0 begins, 0.07 ms pass, in which the system starts.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_BUILDS=DIR keeps the builds for the next time.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.analysis.test_chains import chain
from tests.backends.sel4.platforms import MCS_PLATFORMS, PLATFORMS
from tests.command import Result, camkes
from tests.end_to_end.support import EXAMPLES
from tests.end_to_end.test_examples import report
from tests.end_to_end.test_helpers import locked, one_event
from tests.end_to_end.test_timed_waits import event

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.requirement("SEL4-6"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
]


def clients(folder: Path) -> Path:
    """examples/helpers with releases in the order in which the host kernel has them at one instant: client1
    100 us after client2, and the annoyer 50 us later."""
    shutil.copytree(EXAMPLES / "helpers", folder)
    system = folder / "helpers.camkes"
    lines = system.read_text().splitlines(keepends=True)
    late = {"client1": "100 us", "annoyer": "150 us"}
    for name, offset in late.items():
        at = next(i for i, line in enumerate(lines) if f"{name}._period" in line)
        lines[at] = lines[at].rstrip() + f" {name}._offset = {offset};\n"
    system.write_text("".join(lines))
    return folder


def buffer(folder: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / "buffer", folder))


def built_by_cmake(path: Path) -> Path:
    """A system of tests/end_to_end/test_helpers.py with a build."""
    sources = sorted(path.parent.glob("*.c"))
    components = "".join(f"DeclareCAmkESComponent({each.stem} SOURCES {each.name})\n" for each in sources)
    (path.parent / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(system C)\n{components}"
        "DeclareCAmkESRootserver(system.camkes)\nGenerateCAmkESRootserver()\n"
    )
    return path.parent


@dataclass(frozen=True)
class Case:
    """A system, its options, for how long it runs, and the worst response of each task in milliseconds."""

    system: Callable[[Path], Path]
    worst: dict[str, float]
    options: tuple[str, ...] = ()
    duration: str = "95ms"


CASES = {
    "buffer": Case(buffer, {"consumer": 2, "bystander": 9}),
    "one-event": Case(lambda folder: built_by_cmake(one_event(folder, "with helpers")), {"a": 6, "b": 13}),
    "locks-and-events": Case(lambda folder: built_by_cmake(locked(folder, 10)), {"c": 12, "a": 20}),
    "timed": Case(lambda folder: built_by_cmake(event(folder, 2)), {"a": 7, "b": 14}),
    "clients": Case(clients, {"client1": 18.9, "client2": 29.0}, duration="600ms"),
    "clients-plain": Case(
        clients, {"client1": 34.5, "client2": 39.0}, options=("-DPLAIN=ON",), duration="600ms"
    ),
}


def run(platform: str, name: str, folder: Path, path: Path, *options: str) -> Result:
    qemu, settings = PLATFORMS[platform]
    if shutil.which(qemu) is None:
        pytest.skip(f"{qemu} is not installed")
    builds = Path(os.environ.get("SEL4_BUILDS") or folder)
    words = ("--kernel", "sel4", "--workspace", WORKSPACE, "-o", builds / f"waiting-{platform}-{name}")
    given = (*options, *(f"-D{key}={value}" for key, value in settings.items()))
    result = camkes("run", path, *words, *given, "--json")
    assert result.status == 0, result.errors[-2000:]
    return result


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("platform", MCS_PLATFORMS)
def test_responses(platform: str, name: str, tmp_path: Path) -> None:
    case = CASES[name]
    path = case.system(tmp_path / "system")
    result = run(platform, name, tmp_path, path, *case.options, "--for", case.duration)
    found = {task: report(result)[task]["response"]["max"] / 1e6 for task in case.worst}
    print(platform, name, found)
    assert found == pytest.approx(case.worst, abs=0.15)  # a recorded run takes time for its records, too


@pytest.mark.parametrize("platform", MCS_PLATFORMS)
def test_jobs_that_events_release(platform: str, tmp_path: Path) -> None:
    """a (2 ms) releases b (3 ms), which releases c (1 ms), each 20 ms; `other` (4 ms) is released with a each
    50 ms, is above b and c, and executes in the first chain; the one at 50 ms meets none."""
    path = built_by_cmake(chain(tmp_path / "system"))
    result = run(platform, "chain", tmp_path, path, "--for", "95ms")
    (found,) = json.loads(result.output)["chains"]
    print(platform, found)
    assert found["tasks"] == ["a", "b", "c"] and found["completed"] == 5
    latency = found["latency"]
    assert (latency["min"] / 1e6, latency["max"] / 1e6) == pytest.approx((6, 10), abs=0.1)
