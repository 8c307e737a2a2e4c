# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command that runs the tests of a project: test."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.cli.arguments import Command, add_input, input_of, positive
from camkes.cli.output import GOOD, USER_ERROR, Progress, wants_color, write_diagnostics
from camkes.diagnostics import Sink
from camkes.files import write_output

if TYPE_CHECKING:
    from camkes.testing.run import TestResult


def test(arguments: argparse.Namespace) -> int:
    from camkes.testing import reports
    from camkes.testing.codes import NO_TESTS
    from camkes.testing.run import SuiteOptions, run_tests
    from camkes.testing.suite import find_tests

    sink = Sink()
    found = find_tests(arguments.path, sink)
    tests = [each for each in found if arguments.filter in each.title]
    if found and not tests:
        names = ", ".join(each.title for each in found)
        sink.report(NO_TESTS, f"there is no test whose name contains {arguments.filter!r}", notes=[names])
    if arguments.list and not sink.has_errors:
        print("".join(f"{each.title}\n" for each in tests), end="")
    if arguments.list or sink.has_errors:
        return write_diagnostics(arguments, sink)
    options = SuiteOptions(
        output=arguments.output or Path("build") / "tests" / tests[0].project.name,
        asked=input_of(arguments),
        sanitize=arguments.sanitize,
        update=arguments.update,
    )
    plain = not (arguments.json or arguments.tap)
    progress = Progress(arguments)
    color = wants_color(arguments, sys.stdout)

    def done(result: TestResult) -> None:
        progress.clear()
        if plain:
            sys.stdout.write(reports.line(result, color=color))
            sys.stdout.flush()
        progress("testing")

    progress("testing")
    results = run_tests(tests, options, arguments.jobs, done)
    progress.clear()
    if arguments.junit is not None:
        write_output(arguments.junit, reports.to_junit(results))
    status = write_diagnostics(arguments, merged(results))
    if arguments.json:
        print(reports.to_json_report(results, tests[0].project))
    elif arguments.tap:
        print(reports.to_tap(results), end="")
    else:
        show_output(results, every=arguments.verbose)
        print(reports.summary(results), end="")
    return max(status, GOOD if all(result.passed for result in results) else USER_ERROR)


def merged(results: list[TestResult]) -> Sink:
    """The diagnostics of all tests; those of tests that pass are warnings about code."""
    sink = Sink()
    for result in results:
        for diagnostic in result.diagnostics:
            sink.add(diagnostic)
    return sink


def show_output(results: list[TestResult], *, every: bool) -> None:
    for result in results:
        if result.output and (every or not result.passed):
            print(f"output of {result.test.title}:")
            print("".join(f"  {line}\n" for line in result.output.splitlines()), end="")


def test_arguments(parser: argparse.ArgumentParser) -> None:
    text = "a project, its folder `tests`, or one test in it (default: the current folder)"
    add_input(parser, text, default=Path())
    group = parser.add_argument_group("testing")
    option = group.add_argument
    option("--filter", metavar="TEXT", default="", help="only tests whose names contain TEXT")
    option("--list", action="store_true", help="list the tests, do not run them")
    jobs = os.cpu_count() or 1
    option(
        "-j",
        "--jobs",
        type=positive,
        default=jobs,
        metavar="N",
        help="tests at a time (default: all processors)",
    )
    option("-o", "--output", metavar="DIR", type=Path, help="build folder (default: build/tests/PROJECT)")
    option("--sanitize", action="store_true", help="with the address and undefined-behaviour sanitizers")
    option("--update", action="store_true", help="write the .output and .events files that exist anew")
    results = parser.add_argument_group("results")
    form = results.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the results as JSON")
    form.add_argument("--tap", action="store_true", help="print the results in the Test Anything Protocol")
    results.add_argument("--junit", metavar="FILE", type=Path, help="write the results as JUnit's XML")
    results.add_argument(
        "-v", "--verbose", action="store_true", help="show the output of tests that pass, too"
    )


COMMANDS = (
    Command(
        "test",
        test,
        "run the tests of a project",
        test_arguments,
        """
  camkes test                                 all tests of the project in this folder
  camkes test pump --filter overload --verbose
  camkes test pump --junit results.xml

Exit status: 0 all tests passed, 1 a test failed or its files have errors, 2 wrong usage.""",
        has_results=True,
    ),
)
