# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command for an assessor of a system, or of the tool: evidence."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from camkes import __version__
from camkes.cli.arguments import Command, add_input, add_sdk, duration, input_of, input_words, named_path
from camkes.cli.output import GOOD, USAGE, USER_ERROR, Progress
from camkes.diagnostics.words import plural
from camkes.files import OutputError, write_output
from camkes.resources import ROOT

if TYPE_CHECKING:
    from types import FrameType

    from camkes.evidence.requirements import Commit


def evidence(arguments: argparse.Namespace) -> int:
    if arguments.output is None:
        print("camkes evidence: name the folder to write to with -o DIR", file=sys.stderr)
        return USAGE
    try:
        return of_tool(arguments) if arguments.tool else of_system(arguments)
    except OutputError as error:
        print(f"camkes evidence: {error}", file=sys.stderr)
        return USER_ERROR


def of_system(arguments: argparse.Namespace) -> int:
    """Make the kit of a system. Raises OutputError."""
    from camkes.cli.captured import captured
    from camkes.evidence import kit, requirements
    from camkes.evidence.assess import Assessed, Assessment

    progress = Progress(arguments)
    path = arguments.path.absolute()
    revision = _revision(requirements.commit(path if path.is_dir() else path.parent))
    assessed = Assessed(
        asked=input_of(arguments),
        words=input_words(arguments),
        shown=arguments.output,
        platform=arguments.platform,
        span=arguments.duration,
        limit=arguments.limit,
        strict=arguments.strict,
    )
    with kit.new_kit(arguments.output) as folder:
        made = Assessment(assessed, folder, captured, progress, revision or "")
        parts = []
        todo = made.parts()
        while True:
            with until_interrupted():
                part = next(todo, None)
            progress.clear()
            if part is None:
                break
            parts.append(part)
            if not arguments.quiet or not part.state.good:
                print(f"{part.state.value:14}  {part.name}: {part.verdict}", flush=True)
        report = kit.EvidenceReport(
            application=made.name,
            revision=revision,
            version=__version__,
            tool_revision=_revision(_commit_of_tool()),
            good=all(part.state.good for part in parts),
            parts=tuple(parts),
        )
        kit.finish(folder, report)
    if not arguments.quiet:
        print(f"made {arguments.output}; begin with {arguments.output / kit.PAGE}")
    return GOOD if report.good else USER_ERROR


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Ends with KeyboardInterrupt after Ctrl-C, also where a command took that for the end of its search."""
    former = signal.getsignal(signal.SIGINT)
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        if callable(former):
            former(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
    if came:
        raise KeyboardInterrupt


def _commit_of_tool() -> Commit | None:
    """The commit of the clone that the tool is in; None for an installed one."""
    from camkes.evidence import requirements

    return requirements.commit(ROOT) if (ROOT / requirements.PAGES).is_dir() else None


def _revision(commit: Commit | None) -> str | None:
    return None if commit is None else commit.revision


def of_tool(arguments: argparse.Namespace) -> int:
    """Write the matrix of the tool's requirements. Raises OutputError."""
    from camkes.evidence import matrix, reqif, requirements

    commit = _commit_of_tool()
    if commit is None:
        print(
            f"camkes evidence: {ROOT} is not a clone of the tool's repository; expected one, for its "
            "requirements, tests and commit",
            file=sys.stderr,
        )
        return USER_ERROR
    try:
        cases = [case for path in arguments.tool for case in matrix.read_junit(path, commit.revision)]
    except matrix.JUnitError as error:
        print(f"camkes evidence: {error}", file=sys.stderr)
        return USER_ERROR
    files = list(requirements.files_of_tests(ROOT))
    rows = tuple(matrix.rows(requirements.stated(ROOT), files, cases))
    found = matrix.Matrix(rows, __version__, commit.revision)
    write_output(arguments.output / "matrix.csv", matrix.to_csv(found))
    write_output(arguments.output / "matrix.html", matrix.to_page(found))
    write_output(arguments.output / "requirements.reqif", reqif.to_reqif(found, commit.time))
    lacking = [row for row in rows if not row.holds]
    for row in lacking:
        counts = ", ".join(f"{number} {outcome.value}" for outcome, number in row.counts.items() if number)
        print(f"{row.requirement.id}: {counts or 'without a test'}")
    number = f"{len(rows)} {plural(len(rows), 'requirement')}"
    print(f"{number}: {len(rows) - len(lacking)} with a test that passed and none that failed")
    return USER_ERROR if lacking else GOOD


def time_words(text: str) -> str:
    """A time as it is handed on to other commands, after a check."""
    duration(text)
    return text


def evidence_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, help="the folder that gets the kit, or the matrix"
    )
    system = parser.add_argument_group("evidence of a system")
    system.add_argument(
        "--platform",
        metavar="NAME",
        help="the costs of kernel operations, as for `camkes analyze`; runs take them, too",
    )
    system.add_argument(
        "--for",
        dest="duration",
        metavar="TIME",
        type=time_words,
        default="1s",
        help="virtual time of runs (default: 1s)",
    )
    system.add_argument(
        "--limit",
        metavar="TIME",
        type=time_words,
        default="60s",
        help="elapsed time after which the search of schedules stops (default: 60s)",
    )
    add_sdk(system)
    text = "what rests on an assumption, was not searched, or has a warning is not known to hold"
    system.add_argument("--strict", action="store_true", help=text)
    tool = parser.add_argument_group("evidence of the tool")
    tool.add_argument(
        "--tool",
        metavar="FILE",
        type=named_path,
        action="append",
        help="write which requirements of the tool have tests that passed: matrix.csv, matrix.html and "
        "requirements.reqif. FILE has results that `pytest --junitxml=FILE` wrote in this clone, at this "
        "commit; can be repeated",
    )


COMMANDS = (
    Command(
        "evidence",
        evidence,
        "make a kit for an assessor: verdicts, plan, timing, tests and parts of a system",
        evidence_arguments,
        """
  camkes evidence examples/flight -o build/evidence
  camkes evidence examples/flight -o build/evidence --platform none --sdk x86_64.sdk
  camkes evidence --tool tests.xml -o build/matrix        of the tool, in a clone of its repository

The kit begins with index.html. Exit status: 1 if a part of the kit does not hold, or is not known; with
--tool, if a requirement has a test that failed, or none that passed.""",
        has_results=True,
    ),
)
