# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which tests of a requirement passed, by the files that pytest wrote: as a table and as a page."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree

from msgspec import Struct

from camkes.evidence.requirements import Requirement
from camkes.showing.html import environment
from camkes.visible import visible

TEMPLATE = Path(__file__).with_name("matrix.html")


class CaseOutcome(StrEnum):
    """What became of a test; of one that is in several files the first of these."""

    FAILED = "failed"
    PASSED = "passed"
    SKIPPED = "skipped"
    NOT_RUN = "not run"


class JUnitError(Exception):
    """A file is not one that pytest wrote of tests of this clone. The message has file and reason."""


class CollectedCase(Struct, frozen=True):
    """A test that pytest collected. `sources` are the files of the test, `requirements` its ids."""

    name: str
    outcome: CaseOutcome
    requirements: frozenset[str]
    sources: frozenset[str]
    revision: str


class RequirementRow(Struct, frozen=True):
    """A requirement, with the results of its tests by their names."""

    requirement: Requirement
    tests: Mapping[str, CaseOutcome]

    @property
    def counts(self) -> Mapping[CaseOutcome, int]:
        """How many tests came to each result."""
        found = Counter(self.tests.values())
        return {outcome: found[outcome] for outcome in CaseOutcome}

    @property
    def holds(self) -> bool:
        """Whether a test passed, and none failed."""
        return self.counts[CaseOutcome.PASSED] > 0 and not self.counts[CaseOutcome.FAILED]


class Matrix(Struct, frozen=True):
    """The results of one version of the tool."""

    rows: tuple[RequirementRow, ...]
    version: str
    revision: str


def read_junit(path: Path, revision: str) -> list[CollectedCase]:
    """The tests in a file that `pytest --junitxml` wrote in a clone of this revision. Raises JUnitError."""
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except OSError as error:
        raise JUnitError(f"cannot read {path}: {error.strerror}") from error
    except ElementTree.ParseError as error:
        raise JUnitError(f"{path} is not XML: {error}") from error
    cases = [_case(element) for element in root.iter("testcase")]
    others = {case.revision for case in cases if case.requirements} - {revision}
    if not any(case.requirements for case in cases):
        raise JUnitError(
            f"{path} has no test with a requirement; expected what pytest --junitxml writes in a clone"
        )
    if others:
        raise JUnitError(
            f"{path} has results of {', '.join(sorted(others))}, and the clone is at {revision}; "
            "execute the tests again"
        )
    return cases


def _case(element: ElementTree.Element) -> CollectedCase:
    file = element.get("classname", "").replace(".", "/") + ".py"
    properties = [(each.get("name"), each.get("value", "")) for each in element.iter("property")]

    def values(name: str) -> list[str]:
        return [value for key, value in properties if key == name]

    kinds = {child.tag for child in element}
    if kinds & {"failure", "error"}:
        outcome = CaseOutcome.FAILED
    else:
        outcome = CaseOutcome.SKIPPED if "skipped" in kinds else CaseOutcome.PASSED
    return CollectedCase(
        name=f"{file}::{element.get('name', '')}",
        outcome=outcome,
        requirements=frozenset(values("requirement")),
        sources=frozenset([file, *values("source")]),
        revision="".join(values("revision")[:1]),
    )


def rows(
    requirements: Iterable[Requirement],
    files: Sequence[tuple[str, Sequence[str]]],
    cases: Sequence[CollectedCase],
) -> Iterator[RequirementRow]:
    """The results of each requirement. A file that names it, and of which no such test was collected, is
    a test that was not run."""
    for requirement in requirements:
        tests: dict[str, CaseOutcome] = {}
        seen: set[str] = set()
        for case in cases:
            if requirement.id in case.requirements:
                seen |= case.sources
                former = tests.get(case.name, CaseOutcome.NOT_RUN)
                tests[case.name] = min(former, case.outcome, key=list(CaseOutcome).index)
        for file, names in files:
            if requirement.id in names and file not in seen:
                tests[file] = CaseOutcome.NOT_RUN
        yield RequirementRow(requirement, dict(sorted(tests.items())))


def to_csv(matrix: Matrix) -> bytes:
    """A line for each test of each requirement, and one with an empty test for a requirement without any."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["requirement", "text", "test", "result", "version", "commit"])
    for row in matrix.rows:
        for test, outcome in row.tests.items() or [("", CaseOutcome.NOT_RUN)]:
            words = row.requirement.id, row.requirement.text, test, outcome.value
            writer.writerow([*map(visible, words), matrix.version, matrix.revision])
    return text.getvalue().encode()


def to_page(matrix: Matrix) -> bytes:
    """The matrix as an HTML page that needs nothing else."""
    areas: dict[str, list[RequirementRow]] = {}
    for row in matrix.rows:
        areas.setdefault(row.requirement.area, []).append(row)
    template = environment().from_string(TEMPLATE.read_text("utf-8"))
    page = template.render(matrix=matrix, areas=areas, outcomes=list(CaseOutcome))
    return page.encode()
