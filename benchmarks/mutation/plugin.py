# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""pytest plugin of `benchmarks/mutate.py`: what each test takes, or only given tests in a given order."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

DURATIONS = os.environ.get("MUTATION_DURATIONS")
TESTS = os.environ.get("MUTATION_TESTS")
FAILED = os.environ.get("MUTATION_FAILED")

_seconds: dict[str, float] = {}
_limits: dict[str, float] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if DURATIONS and report.outcome != "failed":
        _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if FAILED and report.outcome == "failed":
        Path(FAILED).write_text(report.nodeid, "utf-8")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if DURATIONS and not hasattr(session.config, "workerinput"):
        Path(DURATIONS).write_text(json.dumps(_seconds), "utf-8")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if TESTS:
        _limits.update(json.loads(Path(TESTS).read_text("utf-8")))
        order = {test: number for number, test in enumerate(_limits)}
        items[:] = sorted((i for i in items if i.nodeid in order), key=lambda i: order[i.nodeid])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test that takes much longer than usual ends the run, with SIGALRM."""
    if item.nodeid in _limits:
        signal.setitimer(signal.ITIMER_REAL, _limits[item.nodeid])
    result = yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    return result
