# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The results of tests: as text, JSON, TAP and JUnit's XML. Times in them are virtual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from msgspec import UNSET, Struct, UnsetType

from camkes.diagnostics import Severity
from camkes.diagnostics.words import plural
from camkes.running.times import format_time
from camkes.showing.summary import CoverageReport, to_json
from camkes.testing.run import Case, TestResult
from camkes.visible import visible, visible_line

SCHEMA = "camkes-test 1"


class CaseReport(Struct, frozen=True):
    """A test case, and how its checks failed."""

    name: str
    passed: bool
    failures: tuple[str, ...]


class FailureReport(Struct, frozen=True):
    """A diagnostic of a test; `file` and `line` are null if it is of no file."""

    code: str
    severity: Severity
    message: str
    file: str | None
    line: int | None
    notes: tuple[str, ...]


class TestReport(Struct, frozen=True):
    """A test. `choices` is how open choices of the scheduler were decided, `end` the end of its run, null if
    it was not run."""

    name: str
    choices: str
    file: str
    passed: bool
    end: int | None
    cases: tuple[CaseReport, ...]
    diagnostics: tuple[FailureReport, ...]
    output: str


class CountReport(Struct, frozen=True):
    """How many tests there were."""

    tests: int
    passed: int
    failed: int


class TestsReport(Struct, frozen=True, kw_only=True):
    """Tests of a project; `coverage` is there if it was asked for."""

    schema: str
    summary: CountReport
    coverage: tuple[CoverageReport, ...] | UnsetType = UNSET
    tests: tuple[TestReport, ...]


def line(result: TestResult, *, color: bool) -> str:
    """What is printed of a test when it ends."""
    word, paint = ("ok  ", "\x1b[32m") if result.passed else ("FAIL", "\x1b[1;31m")
    word = f"{paint}{word}\x1b[0m" if color else word
    named = [case for case in result.cases if case.name]
    cases = f", {len(named)} {plural(len(named), 'case')}" if named else ""
    ran = "was not run" if result.end is None else format_time(result.end, 6)
    return f"{word} {result.test.title} ({ran}{cases})\n"


def summary(results: Sequence[TestResult]) -> str:
    """The last line."""
    failed = sum(not result.passed for result in results)
    tests = f"{len(results)} {plural(len(results), 'test')}"
    return f"{tests}: {len(results) - failed} passed, {failed} failed\n"


def to_json_report(results: Sequence[TestResult], base: Path, covered: Sequence[CoverageReport]) -> str:
    """The JSON form. Paths below `base` are relative to it."""
    failed = sum(not result.passed for result in results)
    return to_json(
        TestsReport(
            schema=SCHEMA,
            summary=CountReport(len(results), len(results) - failed, failed),
            coverage=tuple(covered) or UNSET,
            tests=tuple(_test_report(result, base) for result in results),
        )
    )


def _test_report(result: TestResult, base: Path) -> TestReport:
    return TestReport(
        name=result.test.name,
        choices=result.test.choices,
        file=_relative(result.test.file, base),
        passed=result.passed,
        end=result.end,
        cases=tuple(CaseReport(case.name, not case.failures, case.failures) for case in result.cases),
        diagnostics=tuple(
            FailureReport(
                code=each.code.number,
                severity=each.severity,
                message=each.message,
                file=None if each.span is None else _relative(each.span.file.path, base),
                line=None if each.span is None else each.span.line,
                notes=tuple(each.notes),
            )
            for each in result.diagnostics
        ),
        output=result.output,
    )


def _relative(path: Path, base: Path) -> str:
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)


def _points(results: Sequence[TestResult]) -> Iterator[tuple[TestResult, Case, str, bool]]:
    """(result, case, name, whether it passed) of each case, or of each test without any."""
    for result in results:
        for case in result.cases or (Case("", ()),):
            name = result.test.title + (f": {case.name}" if case.name else "")
            yield result, case, name, not case.failures and (bool(case.name) or result.passed)


def to_tap(results: Sequence[TestResult]) -> str:
    """The Test Anything Protocol, version 13: a point for each case."""
    points = list(_points(results))
    lines = ["TAP version 13", f"1..{len(points)}"]
    for number, (_, case, name, passed) in enumerate(points, 1):
        escaped = visible_line(name).replace("#", r"\#")
        lines.append(f"{'ok' if passed else 'not ok'} {number} - {escaped}")
        lines += [f"# {visible(text)}" for failure in case.failures for text in failure.split("\n")]
    return "\n".join([*lines, ""])


def to_junit(results: Sequence[TestResult], base: Path) -> bytes:
    """XML as servers for continuous integration read it: a suite for each test, a test case for each case.
    Paths below `base` are relative to it."""
    root = ElementTree.Element("testsuites")
    for result in results:
        title = visible(result.test.title)
        points = list(_points([result]))
        failures = sum(not passed for *_, passed in points)
        seconds = f"{(result.end or 0) / 1e9:.9f}"
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=title,
            tests=str(len(points)),
            failures=str(failures),
            errors="0",
            time=seconds,
        )
        for _, case, _, passed in points:
            name = visible(case.name) or title
            element = ElementTree.SubElement(suite, "testcase", classname=title, name=name)
            if not passed:
                first = case.failures[0] if case.failures else "the test was not run"
                failure = ElementTree.SubElement(element, "failure", message=visible(first))
                failure.text = visible("\n".join(_located(result, case, base)))
        ElementTree.SubElement(suite, "system-out").text = visible(result.output)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _located(result: TestResult, case: Case, base: Path) -> Iterator[str]:
    """The failures of a case with their places."""
    for each in result.diagnostics:
        if each.message in case.failures:
            place = "" if each.span is None else f"{_relative(each.span.file.path, base)}:{each.span.line}: "
            yield "\n".join([f"{place}{each.code.number}: {each.message}", *each.notes])
