# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command for an assessor of the tool: evidence."""

from __future__ import annotations

import argparse
import sys

from camkes import __version__
from camkes.cli.arguments import Command, named_path
from camkes.cli.output import GOOD, USER_ERROR
from camkes.diagnostics.words import plural
from camkes.files import OutputError, write_output
from camkes.resources import ROOT


def evidence(arguments: argparse.Namespace) -> int:
    from camkes.evidence import matrix, reqif, requirements

    commit = requirements.commit(ROOT) if (ROOT / requirements.PAGES).is_dir() else None
    if commit is None:
        print(
            f"camkes evidence: {ROOT} is not a clone of the tool's repository; expected one, for its "
            "requirements, tests and commit",
            file=sys.stderr,
        )
        return USER_ERROR
    try:
        cases = [case for path in arguments.tests for case in matrix.read_junit(path, commit.revision)]
    except matrix.JUnitError as error:
        print(f"camkes evidence: {error}", file=sys.stderr)
        return USER_ERROR
    files = list(requirements.files_of_tests(ROOT))
    rows = tuple(matrix.rows(requirements.stated(ROOT), files, cases))
    found = matrix.Matrix(rows, __version__, commit.revision)
    try:
        write_output(arguments.folder / "matrix.csv", matrix.to_csv(found))
        write_output(arguments.folder / "matrix.html", matrix.to_page(found))
        write_output(arguments.folder / "requirements.reqif", reqif.to_reqif(found, commit.time))
    except OutputError as error:
        print(f"camkes evidence: {error}", file=sys.stderr)
        return USER_ERROR
    lacking = [row for row in rows if not row.holds]
    for row in lacking:
        counts = ", ".join(f"{number} {outcome.value}" for outcome, number in row.counts.items() if number)
        print(f"{row.requirement.id}: {counts or 'without a test'}")
    number = f"{len(rows)} {plural(len(rows), 'requirement')}"
    print(f"{number}: {len(rows) - len(lacking)} with a test that passed and none that failed")
    return USER_ERROR if lacking else GOOD


def evidence_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", type=named_path, help="gets matrix.csv, matrix.html and requirements.reqif"
    )
    parser.add_argument(
        "--tests",
        metavar="FILE",
        type=named_path,
        action="append",
        required=True,
        help="results that `pytest --junitxml=FILE` wrote in this clone, at this commit; can be repeated",
    )


COMMANDS = (
    Command(
        "evidence",
        evidence,
        "write which requirements of the tool have tests that passed, in a clone of its repository",
        evidence_arguments,
        """
  .venv/bin/python -m pytest --junitxml=tests.xml
  camkes evidence build/evidence --tests tests.xml""",
        has_results=True,
    ),
)
