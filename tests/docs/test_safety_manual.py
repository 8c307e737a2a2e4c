# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The safety manual has every assumption, command and known defect, and levels that follow from its columns.

CAMKES_UPDATE_GOLDEN=1 writes the tables whose source is elsewhere.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping

import pytest

from camkes.analysis.assumptions import AssumptionKind
from camkes.cli.table import MODULES, make_parser
from camkes.evidence.assess import _ABOUT
from camkes.evidence.requirements import stated
from tests.docs import manual

pytestmark = pytest.mark.requirement("TOOL-36")

PAGE = manual.ROOT / "docs" / "safety-manual.md"
OUTPUTS = "| command | its output is used for |"
#: programs beside `camkes`
PROGRAMS = ("camkes-check-certificate", "camkes-migrate")
#: of ISO 26262-8:2018, table 3
LEVELS = {("TI1", "-"): "TCL1", ("TI2", "TD1"): "TCL1", ("TI2", "TD2"): "TCL2", ("TI2", "TD3"): "TCL3"}


def rows(head: str) -> Iterator[list[str]]:
    """The cells of the rows of a table, by how its first line begins."""
    text = PAGE.read_text("utf-8")
    (table,) = re.findall(rf"^{re.escape(head)}[^\n]*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    for line in table.splitlines():
        yield [cell.strip() for cell in line[1:-1].split(" |")]


def outputs() -> Mapping[str, list[str]]:
    """The rows of the table of outputs, by commands."""
    return {cells[0].strip("`"): cells[1:] for cells in rows(OUTPUTS)}


@pytest.mark.parametrize("head", manual.tables())
def test_tables_are_those_of_their_sources(head: str) -> None:
    text = PAGE.read_text("utf-8")
    if os.environ.get("CAMKES_UPDATE_GOLDEN"):
        before, _, after = text.partition(head)
        rest = re.sub(r"^(?:\|.*\n)*", "", after)
        PAGE.write_text(before + head + manual.tables()[head] + rest, "utf-8")
        text = PAGE.read_text("utf-8")
    assert f"{head}{manual.tables()[head]}\n" in text


def test_every_assumption_of_the_analysis_is_there() -> None:
    kinds = [cells[0] for cells in rows("| kind | what is assumed |")]
    assert sorted(kinds) == sorted(kind.value for kind in AssumptionKind)


def test_every_command_is_in_the_table_of_outputs() -> None:
    assert sorted(outputs()) == sorted([*MODULES, *PROGRAMS])


def test_levels_follow_from_impact_and_detection() -> None:
    for name, (_, impact, detection, condition, level, criterion) in outputs().items():
        assert LEVELS[impact, detection] == level, name
        assert (impact == "TI1") == (criterion == "-"), name
        assert condition or impact == "TI1", name


def test_what_gives_verdicts_has_an_impact() -> None:
    """Commands of the kit, and those whose exit status judges."""
    verdicts = {"check", "plan", "analyze", "explore", "run", "test", "build", "compare", "size"}
    verdicts |= {"camkes-check-certificate", "evidence"}
    assert {outputs()[name][1] for name in verdicts} == {"TI2"}
    for name in ("build", "sdk", "fmt", "export"):  # what they write is in the product
        assert outputs()[name][5] == "1"


def test_qualification_levels() -> None:
    """Of DO-178C, table 12-1."""
    assert [cells[1:] for cells in rows("| criterion | level A |")] == [
        ["TQL-1", "TQL-2", "TQL-3", "TQL-4"],
        ["TQL-4", "TQL-4", "TQL-5", "TQL-5"],
        ["TQL-5", "TQL-5", "TQL-5", "TQL-5"],
    ]


def test_commands_of_the_checks_can_be_given() -> None:
    commands = [
        command for cells in rows("| id | what | command |") for command in re.findall(r"`([^`]+)`", cells[2])
    ]
    assert len(commands) >= len(_ABOUT)
    for command in commands:
        program, *words = shlex.split(command)
        if program == "camkes":
            arguments, unknown = make_parser().parse_known_args(words)
            assert not unknown and arguments.run_command, command
        else:
            assert program in PROGRAMS


def test_ids_count_and_references_lead_to_something() -> None:
    """Of assumptions of use, of malfunctions, and of the requirements that hold them."""
    used = [cells[0] for cells in rows("| id | what | command |")]
    assert used == [f"AOU-{number}" for number in range(1, len(used) + 1)]
    malfunctions = list(rows("| id | malfunction |"))
    assert [cells[0] for cells in malfunctions] == [f"MF-{n}" for n in range(1, len(malfunctions) + 1)]
    known = {each.id for each in stated(manual.ROOT)}
    for *_, detected, held in malfunctions:
        assert detected and set(held.split(", ")) <= known, held
    text = PAGE.read_text("utf-8")
    assert set(re.findall(r"AOU-\d+", text)) == set(used)


def test_known_defects_of_several_versions() -> None:
    """Each has a row; what is corrected, changed or added is not in it."""
    text = (
        "# Changelog\n\n## [0.3.0] - 2027-01-01\n### Known defects\n- One [page](docs/x.md)\n  goes on.\n"
        "- Two.\n### Fixed\n- Three.\n\n## [0.2.0] - 2026-12-31\n### Added\n- Four.\n"
    )
    assert manual.defects(text) == (
        "| 0.3.0 | One [page](x.md) goes on.<br>Two. |\n| 0.2.0 | none is known |\n"
    )
