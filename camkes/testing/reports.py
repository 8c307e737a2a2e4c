# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The results of tests: as text, JSON, TAP and JUnit's XML. Times in them are virtual."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from msgspec.structs import asdict

from camkes.backends.host.coverage import Coverage
from camkes.report.summary import to_json
from camkes.report.times import format_time
from camkes.testing.run import Case, TestResult

SCHEMA = "camkes-test 1"
#: what XML cannot have, not even as a reference
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def line(result: TestResult, *, color: bool) -> str:
    """What is printed of a test when it ends."""
    word, paint = ("ok  ", "\x1b[32m") if result.passed else ("FAIL", "\x1b[1;31m")
    word = f"{paint}{word}\x1b[0m" if color else word
    named = [case for case in result.cases if case.name]
    cases = f", {len(named)} case{'' if len(named) == 1 else 's'}" if named else ""
    ran = "was not run" if result.end is None else format_time(result.end, 6)
    return f"{word} {result.test.title} ({ran}{cases})\n"


def summary(results: Sequence[TestResult]) -> str:
    """The last line."""
    failed = sum(not result.passed for result in results)
    tests = f"{len(results)} test{'' if len(results) == 1 else 's'}"
    return f"{tests}: {len(results) - failed} passed, {failed} failed\n"


def to_json_report(results: Sequence[TestResult], base: Path, covered: Sequence[Coverage]) -> str:
    """The JSON form. Paths below `base` are relative to it, times are nanoseconds.

    summary: tests, passed, failed. coverage, if `covered` is not empty: file ("": all), lines, lines_of,
    branches, branches_of. tests: name, choices (how open choices were decided), file, passed, end (of the
    run, null: it was not run), cases (name, passed, failures), diagnostics (code, severity, message, file,
    line, notes), output.
    """
    tests = [
        {
            "name": result.test.name,
            "choices": result.test.choices,
            "file": _relative(result.test.file, base),
            "passed": result.passed,
            "end": result.end,
            "cases": [
                {"name": case.name, "passed": not case.failures, "failures": list(case.failures)}
                for case in result.cases
            ],
            "diagnostics": [
                {
                    "code": each.code.number,
                    "severity": each.severity.value,
                    "message": each.message,
                    "file": None if each.span is None else _relative(each.span.file.path, base),
                    "line": None if each.span is None else each.span.line,
                    "notes": list(each.notes),
                }
                for each in result.diagnostics
            ],
            "output": result.output,
        }
        for result in results
    ]
    failed = sum(not result.passed for result in results)
    counts = {"tests": len(results), "passed": len(results) - failed, "failed": failed}
    coverage = {"coverage": list(map(asdict, covered))} if covered else {}
    return to_json({"schema": SCHEMA, "summary": counts, **coverage, "tests": tests})


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
        escaped = name.replace("#", r"\#")
        lines.append(f"{'ok' if passed else 'not ok'} {number} - {escaped}")
        lines += [f"# {text}" for failure in case.failures for text in failure.splitlines()]
    return "\n".join([*lines, ""])


def to_junit(results: Sequence[TestResult]) -> bytes:
    """XML as servers for continuous integration read it: a suite for each test, a test case for each case."""
    root = ElementTree.Element("testsuites")
    for result in results:
        points = list(_points([result]))
        failures = sum(not passed for *_, passed in points)
        seconds = f"{(result.end or 0) / 1e9:.9f}"
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=result.test.title,
            tests=str(len(points)),
            failures=str(failures),
            errors="0",
            time=seconds,
        )
        for _, case, _, passed in points:
            name = case.name or result.test.title
            element = ElementTree.SubElement(suite, "testcase", classname=result.test.title, name=_xml(name))
            if not passed:
                first = case.failures[0] if case.failures else "the test was not run"
                failure = ElementTree.SubElement(element, "failure", message=_xml(first))
                failure.text = _xml("\n".join(_located(result, case)))
        ElementTree.SubElement(suite, "system-out").text = _xml(result.output)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _located(result: TestResult, case: Case) -> Iterator[str]:
    """The failures of a case with their places."""
    for each in result.diagnostics:
        if each.message in case.failures:
            place = "" if each.span is None else f"{each.span.file.path.name}:{each.span.line}: "
            yield "\n".join([f"{place}{each.code.number}: {each.message}", *each.notes])


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
