# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What is reported of the tests of a project, without running any."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from camkes.cli.commands.tests import merged
from camkes.diagnostics import Diagnostic, SourceFile, Span
from camkes.model.system import System
from camkes.outcome import Outcome
from camkes.running.model import Run, ServedRequest
from camkes.showing.listing import event_lines
from camkes.testing.checks import Report
from camkes.testing.codes import CHECK_FAILED
from camkes.testing.judge import Judge
from camkes.testing.reports import to_junit
from camkes.testing.run import Case
from camkes.testing.run import TestResult as Result
from camkes.testing.suite import CaseSettings
from camkes.testing.suite import Test as OfProject

pytestmark = pytest.mark.requirement("TOOL-16")

DRIVER = SourceFile(Path("/pump/tests/driver.c"), "")
FAILED = Diagnostic(CHECK_FAILED, "it is 1, not 2", Span(DRIVER, 7, 1, 7, 2))


def result(name: str) -> Result:
    test = OfProject(name, Path(f"/pump/tests/{name}.camkes"), Path("/pump"), CaseSettings(), "first")
    return Result(test, (Case("a level", (FAILED.message,)),), (FAILED,), end=0)


def test_one_error_of_several_tests_is_reported_once_and_names_them() -> None:
    (one,) = merged([result("high"), result("low")]).diagnostics
    assert one.notes == ("in tests high, low",)
    (one,) = merged([result("high")]).diagnostics
    assert one.notes == ()


def test_places_of_failures_are_relative_to_the_project() -> None:
    (failure,) = ElementTree.fromstring(to_junit([result("high")], Path("/pump"))).iter("failure")
    assert (failure.text or "").startswith("tests/driver.c:7: ")


def test_an_expectation_belongs_to_the_case_that_was_under_way() -> None:
    reports = [
        Report("case", "", 1, text, instance, 0)
        if line == 0
        else Report("fault", "", line, text, instance, 0)
        for text, instance, line in (("other", "b", 0), ("a late answer", "a", 0), ("pump", "a", 3))
    ]
    system, outcome = SimpleNamespace(instances=()), SimpleNamespace(run=None)
    judge = Judge(cast(System, system), cast(Outcome, outcome), reports, Path(), {})
    (found,) = judge._expectations()
    assert (found.case, found.diagnostic.notes[-1]) == ("a late answer", "in case a late answer")


def test_a_request_that_is_never_answered_has_no_end() -> None:
    names: Any = SimpleNamespace(tasks=(), cpis=(), thread_name=str)
    requests = [ServedRequest(n, 1, 5, 0, 0, 3, None, 0, open=n == 2) for n in (1, 2)]
    run: Any = SimpleNamespace(tasks=(), requests=requests, locks=(), inheritances=(), faults=(), names=names)
    ends = [line for line in event_lines(cast(Run, run)) if line.endswith(" ends")]
    assert ends == ["0.000005 ms  1: the request to ? ends"]
