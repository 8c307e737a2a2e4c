# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Trials of mutants: pytest collects the tests once, and each trial runs some of them in a fork."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import Phase, settings

#: seconds of processor time that a test may take beyond ten times what it takes without a mutant, and of
#: time on the clock
PATIENCE, LONGEST = 5, 300
#: of a test that was named by its file
SECONDS = 5.0


class Trial(NamedTuple):
    """`number` selects a mutant, 0 none. `tests`, or files of tests, are in the order in which they are
    tried, with the seconds that each takes without a mutant."""

    number: int
    tests: dict[str, float]


class Verdict(NamedTuple):
    """`test` is the one that failed."""

    number: int
    verdict: str
    test: str


Attempt = Callable[[Iterable[Trial]], Iterator[Verdict]]


class Runner:
    """A pytest plugin: `body` runs in the place of the tests, and tries what it wants to. `select` begins a
    trial."""

    def __init__(self, body: Callable[[Attempt], None], select: Callable[[int], None], jobs: int) -> None:
        self.body = body
        self.select = select
        self.jobs = jobs
        self.items: dict[str, pytest.Item] = {}
        self.failed = -1

    def run(self, arguments: list[str]) -> None:
        """Collect tests, and call `body`."""
        options = ["--assert=plain", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:xdist"]
        options += ["-p", "no:cov", "-o", "tmp_path_retention_policy=none", "-o", "addopts="]
        status = pytest.main([*options, *arguments], plugins=[self])
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            sys.exit(f"pytest cannot collect {' '.join(arguments)}: {status!r}")

    def pytest_configure(self) -> None:
        # what fails need not be made small
        settings.register_profile("mutants", settings(), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        capture = session.config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(in_=True)
        self.body(self.attempt)
        return True

    def attempt(self, trials: Iterable[Trial]) -> Iterator[Verdict]:
        running: dict[int, tuple[Trial, int]] = {}
        for trial in trials:
            if len(running) >= self.jobs:
                yield self._ended(running)
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                self.failed = writer
                try:
                    self._run(trial)
                finally:
                    os._exit(1)
            os.close(writer)
            running[child] = trial, reader
        while running:
            yield self._ended(running)

    def _ended(self, running: dict[int, tuple[Trial, int]]) -> Verdict:
        child, status = os.wait()
        while child not in running:  # a supervisor of programs
            child, status = os.wait()
        trial, reader = running.pop(child)
        test = os.read(reader, 4000).decode(errors="replace")
        os.close(reader)
        verdict = "timeout" if os.WIFSIGNALED(status) else "killed" if status else "survived"
        return Verdict(trial.number, verdict, test)

    def _run(self, trial: Trial) -> None:
        """In a fork, which ends here or in the report of a failure."""
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        self.select(trial.number)
        chosen = [item for name in trial.tests for item in self._named(name)]
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            signal.setitimer(signal.ITIMER_PROF, PATIENCE + 10 * trial.tests.get(item.nodeid, SECONDS))
            signal.setitimer(signal.ITIMER_REAL, LONGEST)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        os._exit(0)

    def _named(self, name: str) -> list[pytest.Item]:
        """A test, or all of a file."""
        if name in self.items:
            return [self.items[name]]
        return [item for key, item in self.items.items() if key.startswith(f"{name}::")]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "failed":
            os.write(self.failed, report.nodeid.encode())
            os._exit(1)
