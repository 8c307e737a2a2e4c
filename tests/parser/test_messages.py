# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Diagnostics of files with syntax errors.

Each golden/NAME.camkes has beside it the text, NAME.expected.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.diagnostics import Code, Sink
from camkes.diagnostics.explain import explanation
from camkes.diagnostics.rendering import Style, render
from camkes.parser import codes
from camkes.parser.files import read_source
from camkes.parser.parse import parse
from tests.codes import codes_of
from tests.golden import compare
from tests.parser.support import errors, listing, read

pytestmark = pytest.mark.requirement("LANG-8")

GOLDEN = Path(__file__).parent / "golden"
CODES = codes_of(codes)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.camkes")), ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    sink = Sink()
    source = read_source(path, sink)
    assert source is not None
    assert parse(source, sink) is None
    compare(render(sink.diagnostics, Style(base=GOLDEN)), path.with_suffix(".expected"))


def test_messages_use_no_words_of_the_grammar() -> None:
    for path in GOLDEN.glob("*.expected"):
        said = re.sub(r"`[^`]*`", "", path.read_text())
        assert not re.search(r"\b[A-Z]+_[A-Z_]+\b|__|\$END|RBRACE|SEMICOLON|token|terminal", said), path


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.number)
def test_every_code_is_explained_with_an_example(code: Code) -> None:
    assert re.fullmatch(r"E01\d\d", code.number)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code.name)
    assert len(explanation(code)) > 150


def test_codes_are_unique() -> None:
    assert len({code.number for code in CODES}) == len({code.name for code in CODES}) == len(CODES)


@pytest.mark.parametrize(
    "example",
    [
        (code, line)
        for code in CODES
        for line in explanation(code).splitlines()
        if re.search(r"// (wrong|right)", line)
    ],
    ids=lambda example: f"{example[0].number}-{example[1][:30].strip()}",
)
def test_complete_examples_of_explanations_are_right_or_wrong_as_marked(example: tuple[Code, str]) -> None:
    code, line = example
    if (
        code.number in ("E0111", "E0121", "E0123", "E0132", "E0141", "E0144")
        or line.endswith("{")
        or "//" not in line
    ):
        pytest.skip("not a line of its own")
    text = line.split("//")[0]
    for frame in (
        "{}",
        "component C {{ {} }}",
        "configuration {{ {} }}",
        "composition {{ {} }}",
        "assembly {{ {} }}",
    ):
        tree, sink = read(frame.format(text))
        if "right" in line and tree is not None:
            return
        if "wrong" in line and [each.code.number for each in sink.diagnostics] == [code.number]:
            return
    raise AssertionError((code.number, line))


def test_there_is_an_end_to_errors() -> None:
    assert 50 < len(errors("component A { x; }\n" * 1000)) <= 100


def test_one_misspelling_is_one_error() -> None:
    """A valid file with a single token changed has few errors, and one at the place."""
    text = (GOLDEN.parent / "good.camkes").read_text()
    for word in ("control;", "uses Pow p", "composition {", "to lock.p);", "100 ms;", "procedure Pow"):
        assert word in text
        start = text.index(word)
        broken = text[:start] + "%" + text[start + 1 :]
        _, sink = read(broken)
        assert 1 <= len(sink.diagnostics) <= 2, listing(sink)
