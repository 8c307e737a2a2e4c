# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The grammar for editors (editors/tree-sitter) follows that of the parser.

Its build script parses systems with it."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from camkes.resources import ROOT

pytestmark = pytest.mark.requirement("TOOL-8")

EDITORS = ROOT / "editors" / "tree-sitter"


def without_comments(text: str) -> str:
    return "".join(
        line for line in text.splitlines(keepends=True) if not line.lstrip().startswith(("//", ";"))
    )


def words(text: str) -> set[str]:
    """The words of the language that a grammar quotes."""
    return set(re.findall(r'"([A-Za-z_]\w*)"', without_comments(text)))


def test_both_grammars_have_the_same_words() -> None:
    grammar = (EDITORS / "grammar.js").read_text()
    rules = re.sub(r'field\("\w+"', "field(", grammar.partition("rules:")[2])
    assert words(rules) == words((ROOT / "parser" / "camkes.lark").read_text())


def test_colours_are_of_rules_and_words_that_there_are() -> None:
    grammar = (EDITORS / "grammar.js").read_text()
    rules = set(re.findall(r"^        (\w+): ", grammar, re.MULTILINE)) | {"named_type"}
    colours = without_comments((EDITORS / "queries" / "highlights.scm").read_text())
    assert set(re.findall(r"\(([a-z]\w+)", colours)) <= rules
    assert words(colours) <= words(grammar)


def test_the_extension_for_zed_is_for_this_grammar() -> None:
    """editors/tree-sitter/build fills in the rest."""
    zed = EDITORS.parent / "zed"
    made = json.loads((EDITORS / "tree-sitter.json").read_text())["grammars"][0]
    extension = tomllib.loads((zed / "extension.toml").read_text())
    language = tomllib.loads((zed / "languages" / "camkes" / "config.toml").read_text())
    assert extension["grammars"] == {made["name"]: {"repository": "REPOSITORY", "rev": "REVISION"}}
    assert (language["grammar"], language["path_suffixes"]) == (made["name"], made["file-types"])
