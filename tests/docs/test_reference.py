# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The pages of the reference, which are made of the code, have all of it."""

from __future__ import annotations

import argparse
import importlib.util
import re
import tomllib
from enum import IntEnum

import pytest

from camkes.cli.commands.schemas import DOCUMENTS, json_schema
from camkes.cli.table import MODULES, command_named
from camkes.diagnostics.explain import all_codes
from camkes.model import settings
from camkes.running import kinds
from tests.command import ROOT

pytestmark = pytest.mark.requirement("TOOL-27")

_found = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "site" / "reference.py")
assert _found is not None and _found.loader is not None
reference = importlib.util.module_from_spec(_found)
_found.loader.exec_module(reference)


def test_every_page_has_a_place_in_the_site() -> None:
    places = re.findall(r"reference/[\w-]+\.md", (ROOT / "docs/site/navigation.toml").read_text())
    assert sorted(places) == sorted(reference.PAGES)


def test_every_page_of_the_repository_has_a_place_in_the_site() -> None:
    """Decisions and requirements are below pages that lead to them."""
    navigation = tomllib.loads((ROOT / "docs/site/navigation.toml").read_text())
    places = [page for pages in navigation.values() for page in pages]
    assert len(places) == len(set(places))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    led_to = ("decisions/", "requirements/")
    assert {page for page in written if not page.startswith(led_to)} <= set(places)


def test_grammar() -> None:
    page = reference.grammar()
    rules = re.findall(r"^\??\w+:.*$", (ROOT / "parser" / "camkes.lark").read_text(), re.MULTILINE)
    shown = [
        line
        for block in re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        for line in block.splitlines()
    ]
    assert len(rules) > 100 and set(rules) <= set(shown)
    assert not [line for line in shown if line.startswith("//")]


def test_trace() -> None:
    page = reference.trace()
    for kind, names in kinds.ARGUMENTS.items():
        arguments = ", ".join(f"`{name}`" for name in names)
        assert f"| {int(kind)} | `{kind.name}` | {arguments} | " in page
    enumerations = [
        each for each in vars(kinds).values() if isinstance(each, type) and issubclass(each, IntEnum)
    ]
    for enumeration in enumerations:
        for value in enumeration:
            assert re.search(rf"^\| {int(value)} \| `(?:\w+_)?{value.name}` \| ", page, re.MULTILINE), value


def test_settings() -> None:
    page = reference.settings_table()
    assert [name for name in settings.TABLE if f"| `{name}` | " not in page] == []


def test_c_interface() -> None:
    page = reference.c_api()
    for name in reference.HEADERS:
        text = (ROOT / "runtime" / "include" / "camkes" / name).read_text()
        declared = re.findall(r"^(?!static|#| )[\w *]*?\b(camkes_\w+)\(", text, re.MULTILINE)
        assert [each for each in declared if f"{each}(" not in page] == [], name


def test_diagnostics() -> None:
    page = reference.codes()
    assert [code for code in all_codes() if f"### {code.number} {code.name}\n" not in page] == []


@pytest.mark.parametrize("name", MODULES)
def test_commands_and_their_json(name: str) -> None:
    parser = argparse.ArgumentParser()
    command_named(name).add_arguments(parser)
    options = {option for action in parser._actions for option in action.option_strings}
    page = reference.commands()
    shown = page[page.index(f"## camkes {name}\n") :].removeprefix("## ").partition("\n## ")[0]
    assert [option for option in options if option not in shown] == []
    if "--json" in options:
        assert any(f"camkes {name} --json" in each.written_by for each in DOCUMENTS.values())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_json_documents(name: str) -> None:
    """Each has a page, a schema, and a test that what is written conforms to it."""
    page = reference.json_documents()
    section = page.partition(f"## {DOCUMENTS[name].written_by}\n")[2].partition("\n## ")[0]
    for struct, definition in json_schema(name)["$defs"].items():
        for field in definition.get("properties", ()):
            assert f"| `{field}` | " in section, f"{struct}.{field}"
    assert re.findall(r"\]\((schemas/.*?)\)", section) == [f"schemas/{name}.schema.json"]
    assert f"reference/schemas/{name}.schema.json" in reference.SCHEMAS
    tests = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert any(f'conforming("{name}", ' in text for text in tests)
