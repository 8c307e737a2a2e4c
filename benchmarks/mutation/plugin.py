# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""pytest plugin of `benchmarks/mutate.py`: processor times of all tests, or given tests in a given order."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from camkes.process import end_supervisors, run

DURATIONS = os.environ.get("MUTATION_DURATIONS")
TESTS = os.environ.get("MUTATION_TESTS")
FAILED = os.environ.get("MUTATION_FAILED")
#: seconds on the clock that a test may take: on a busy machine all take long
LONGEST = 300

_seconds: dict[str, float] = {}
_limits: dict[str, float] = {}
_BEGUN = pytest.StashKey[float]()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if DURATIONS and report.when == "teardown":
        _seconds[report.nodeid] = dict(report.user_properties)["processor"]
    if FAILED and report.outcome == "failed":
        Path(FAILED).write_text(report.nodeid, "utf-8")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if DURATIONS and not hasattr(session.config, "workerinput"):
        Path(DURATIONS).write_text(json.dumps(_seconds), "utf-8")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if DURATIONS:  # a map is of all tests, also of those that `make test-long` does not trace
        for item in items:
            item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "no_cover"]
    if TESTS:
        _limits.update(json.loads(Path(TESTS).read_text("utf-8")))
        order = {test: number for number, test in enumerate(_limits)}
        items[:] = sorted((i for i in items if i.nodeid in order), key=lambda i: order[i.nodeid])


def processor_time() -> float:
    """Of this process and of those that it has waited for: the same on a busy machine, unlike the clock."""
    end_supervisors()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = time.process_time() + children.ru_utime + children.ru_stime
    run(["true"])  # a supervisor that a test does not start: some tests look for all that they have started
    return used


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "teardown":
        report.user_properties.append(("processor", processor_time() - item.stash[_BEGUN]))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test that takes much more processor time than usual ends the run, with SIGPROF; so does one that
    hangs, with SIGALRM."""
    if item.nodeid in _limits:
        signal.setitimer(signal.ITIMER_PROF, _limits[item.nodeid])
        signal.setitimer(signal.ITIMER_REAL, LONGEST)
    item.stash[_BEGUN] = processor_time()
    result = yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return result
