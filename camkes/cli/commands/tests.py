# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command that runs the tests of a project: test."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from camkes.cli.arguments import Command, add_input, input_of, positive
from camkes.cli.commands.runs import add_kernel, wrong_for_host, wrong_for_sel4
from camkes.cli.output import (
    GOOD,
    USAGE,
    USER_ERROR,
    Progress,
    say_of_host_kernel,
    wants_color,
    write_diagnostics,
)
from camkes.diagnostics import Diagnostic, Severity, Sink
from camkes.diagnostics.words import plural
from camkes.files import write_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from camkes.showing.summary import CoverageReport
    from camkes.testing.run import SuiteOptions, TestResult
    from camkes.testing.suite import Test


def test(arguments: argparse.Namespace) -> int:
    from camkes.testing import reports
    from camkes.testing.run import run_tests

    if wrong_for_sel4(arguments) if arguments.kernel == "sel4" else wrong_for_host(arguments):
        return USAGE
    sink = Sink()
    tests = chosen(arguments, sink)
    if arguments.list and not sink.has_errors:
        print("".join(f"{each.title}\n" for each in tests), end="")
    options = None if arguments.list or sink.has_errors else options_of(arguments, tests[0].project, sink)
    if options is None:
        return write_diagnostics(arguments, sink)
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
        write_output(arguments.junit, reports.to_junit(results, tests[0].project))
    sink = merged(results)
    covered = coverage_of(results, options, sink)
    status = write_diagnostics(arguments, sink)
    if arguments.json:
        print(reports.to_json_report(results, tests[0].project, covered))
    elif arguments.tap:
        print(reports.to_tap(results), end="")
    else:
        show_output(results, every=arguments.verbose)
        print("".join(f"{each.text()}\n" for each in covered), end="")
        print(reports.summary(results), end="")
    return max(status, GOOD if all(result.passed for result in results) else USER_ERROR)


def chosen(arguments: argparse.Namespace, sink: Sink) -> list[Test]:
    """The tests that were asked for; none after a diagnostic."""
    from camkes.testing.codes import NO_TESTS
    from camkes.testing.suite import find_tests

    found = find_tests(arguments.path, sink)
    tests = [each for each in found if arguments.filter in each.title]
    if found and not tests:
        names = ", ".join(each.title for each in found)
        sink.report(NO_TESTS, f"there is no test whose name contains {arguments.filter!r}", notes=[names])
    return tests


def options_of(arguments: argparse.Namespace, project: Path, sink: Sink) -> SuiteOptions | None:
    """How the tests of a project are built and run; None after a diagnostic."""
    from camkes.backends.host.coverage import can_cover
    from camkes.backends.sel4.workspace import find_workspace
    from camkes.testing.run import SuiteOptions, ignore

    asked = input_of(arguments)
    in_workspace = arguments.kernel == "sel4" and asked.sdk is None
    workspace = find_workspace(arguments.workspace, sink) if in_workspace else None
    if arguments.coverage is not None and can_cover(sink):
        arguments.build_type = "Coverage"
        asked = input_of(arguments)
    if sink.has_errors:
        return None
    return SuiteOptions(
        output=arguments.output or Path("build") / "tests" / project.name,
        asked=asked,
        sanitize=arguments.sanitize,
        update=arguments.update,
        workspace=workspace,
        coverage=arguments.coverage,
        progress=ignore if arguments.quiet else say_of_host_kernel,
    )


def coverage_of(results: list[TestResult], options: SuiteOptions, sink: Sink) -> Sequence[CoverageReport]:
    """What all tests that ran executed of the project's own files; none if that was not asked for."""
    from camkes.backends.host.coverage import merge_coverage
    from camkes.testing.run import counts_of
    from camkes.testing.suite import FOLDER

    counts = [counts_of(each.test, options) for each in results if each.end is not None]
    if options.coverage is None or not counts:
        return ()
    project = results[0].test.project
    exclude = [project / FOLDER, options.output]
    return merge_coverage(counts, project, exclude, options.coverage, sink) or ()


def merged(results: list[TestResult]) -> Sink:
    """The diagnostics of all tests, each once; those of tests that pass are warnings about code. Errors name
    their tests if several were run."""
    tests: dict[Diagnostic, list[str]] = {}
    for result in results:
        for diagnostic in result.diagnostics:
            tests.setdefault(diagnostic, []).append(result.test.title)
    sink = Sink()
    for diagnostic, titles in tests.items():
        if len(results) > 1 and diagnostic.severity is Severity.ERROR:
            note = f"in {plural(len(titles), 'test')} {', '.join(titles)}"
            diagnostic = replace(diagnostic, notes=(*diagnostic.notes, note))
        sink.add(diagnostic)
    return sink


def show_output(results: list[TestResult], *, every: bool) -> None:
    for result in results:
        if result.output and (every or not result.passed):
            print(f"output of {result.test.title}:")
            print("".join(f"  {line}\n" for line in result.output.splitlines()), end="")


def test_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser, "a project, its folder `tests`, or one test in it")
    add_kernel(parser, "build/tests/PROJECT")
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
    option("--sanitize", action="store_true", help="with the address and undefined-behaviour sanitizers")
    text = "count what the tests execute of the project; write coverage.info (lcov) and HTML (needs gcovr)"
    option("--coverage", metavar="DIR", type=Path, help=text)
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
  camkes test pump --filter average --verbose
  camkes test pump --junit results.xml
  camkes test pump --kernel sel4              the same tests in QEMU

Exit status: 0 all tests passed, 1 a test failed or its files have errors, 2 wrong usage.""",
        has_results=True,
    ),
)
