# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The pages of `camkes explain`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from camkes.cli import main as cli
from camkes.cli.arguments import with_flags_joined
from camkes.cli.table import make_parser
from camkes.diagnostics import explain
from camkes.protocols import codes
from camkes.running.demands import MEANINGS, Property
from tests.codes import codes_of

pytestmark = pytest.mark.requirement("TOOL-1")

ROOT = Path(__file__).parents[2]


def test_all_codes_are_there_in_order() -> None:
    found = explain.all_codes()
    assert set(codes_of(codes)) <= set(found)
    assert [code.number for code in found] == sorted(code.number for code in found)
    for code in found:
        assert code.number[0] in "EWN" and code.number[1:].isdigit() and len(code.number) == 5


def test_by_number_or_name() -> None:
    assert explain.find("e0501") == codes.DEADLOCK
    assert explain.find(" deadlock ") == codes.DEADLOCK
    assert explain.find("nonsense") is None


def test_nearest() -> None:
    assert explain.nearest("dedlock") == "deadlock"
    assert explain.nearest("E501") == "E0501"
    assert explain.nearest("qqqqqqqq") is None


def test_page() -> None:
    page = explain.page(codes.DEADLOCK)
    assert page.startswith("E0501 deadlock\n\nRequests form a cycle.")


@pytest.mark.parametrize("word", ["M", "p", "Hand-over", "liveness", "B", "Z", "S", "A"])
def test_properties(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", word]) == 0
    text = capsys.readouterr().out
    assert re.match(r"property [MPHBLZSA], [\w -]+: ", text)
    assert "above" not in text


def test_every_property_is_explained_in_the_documentation() -> None:
    text = (ROOT / "docs" / "protocols.md").read_text("utf-8")
    assert set(MEANINGS) == set(Property)
    for letter, meaning in MEANINGS.items():
        assert f"| {letter.value} | {meaning} |" in text


def test_codes_that_pages_name_exist() -> None:
    codes = {code.number for code in explain.all_codes()}
    texts = {code.number: explain.explanation(code) for code in explain.all_codes()}
    texts |= {path.name: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}
    for page, text in texts.items():
        assert set(re.findall(r"\b[EWN]0\d{3}\b", text)) <= codes, page


def test_commands_that_pages_show_are_commands() -> None:
    for code in explain.all_codes():
        for block in re.findall(r"```sh\n(.*?)```", explain.explanation(code), re.DOTALL):
            for line in re.findall(r"^camkes (.*)$", block, re.MULTILINE):
                words = shlex.split(line, comments=True)
                make_parser().parse_args(with_flags_joined(words))
