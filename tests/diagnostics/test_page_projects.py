# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The examples of `camkes explain` that need files beside them, or a command: page_projects.txt has these.

As in test_pages.py, the example that fails has the code of its page, and the corrected one has no error.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from camkes.diagnostics import explain
from tests.diagnostics.pages import Block, blocks, statements
from tests.diagnostics.test_commands import run
from tests.diagnostics.test_pages import CONTEXTS
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-2")

CODE = re.compile(r"\b(?:error|warning|note)\[(\w+)\]")


class Project(NamedTuple):
    command: str
    options: frozenset[str]
    #: `NAME`, `NAME (fails)` or `NAME (passes)`
    files: dict[str, str]

    def variant(self, fails: bool) -> dict[str, str]:
        own, other = (" (fails)", " (passes)")[:: 1 if fails else -1]
        return {
            name.removesuffix(own): text
            for name, text in sorted(self.files.items(), key=lambda item: item[0].endswith(own))
            if not name.endswith(other)
        }


def read(name: str) -> dict[str, Project]:
    text = (Path(__file__).parent / name).read_text()
    found: dict[str, Project] = {}
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        title, *files = re.split(r"^--- ", part.rstrip() + "\n", flags=re.MULTILINE)
        code, command, options = map(str.strip, f"{title}||".split("|")[:3])
        own = {name.strip(): rest for name, _, rest in (each.partition("\n") for each in files)}
        like = re.search(r"like (\w+)", options)
        beside = found[like[1]].files if like else {}
        replaced = {name.partition(" (")[0] for name in own}
        others = {name: rest for name, rest in beside.items() if name.partition(" (")[0] not in replaced}
        found[code] = Project(command, frozenset(options.split()), {**others, **own})
    return found


PROJECTS = read("page_projects.txt")
#: Pages with commands and what they print: test_page_sessions.py
SESSIONS = read("page_sessions.txt")

_CONNECTOR = re.compile(r"DeclareCAmkESConnector\((\w+) FROM (\S+) TO (\S+)\)")


def declared(cmake: str) -> str:
    """What CMake passes on of the connectors that an example declares."""
    connectors = {
        name: {"templates": {"FROM": end, "TO": other}, "from_libs": [], "to_libs": []}
        for name, end, other in _CONNECTOR.findall(cmake)
    }
    paths = re.findall(r"CAmkESAddTemplatesPath\((\w+)\)", cmake)
    return f'"template_paths": {json.dumps(paths)}, "connectors": {json.dumps(connectors)}'


def filled(text: str, shown: Block, first: Block) -> str:
    """A file with the example in it. What the first example has and a corrected one has not is kept:
    statements in a component by their names, and C code where the corrected one is not C."""

    def example(match: re.Match[str]) -> str:
        match match[1]:
            case None:
                return shown.text
            case "c":
                return next((each.text for each in (shown, first) if each.language == "c"), "")
            case where:
                new, old = statements(shown.text)[where], statements(first.text)[where]
                named = {name_of(each) for each in new}
                kept = [each for each in old if name_of(each) not in named]
                if where == "set":
                    new = [re.sub(r"^configuration\s*\{|\}$", "", each) for each in new]
                return "\n".join([*(kept if where == "own" else ()), *new]) + "\n"

    text = text.replace("CONNECTORS", declared(shown.text if shown.language == "cmake" else ""))
    return re.sub(r"^EXAMPLE(?: (\w+))?\n", example, text, flags=re.MULTILINE)


def name_of(statement: str) -> str:
    return [*statement.split(), "", "", ""][2].rstrip(";,")


def written(project: Project, fails: bool, shown: Block, first: Block, folder: Path) -> None:
    files = project.variant(fails)
    instead = files.pop("instead of EXAMPLE", None)
    shown = shown if instead is None else Block("", instead)
    write_files(folder, {name: filled(text, shown, first) for name, text in files.items()})
    for path in folder.glob("*.dts"):
        words = ["dtc", "-q", "-O", "dtb", "-o", path.with_suffix(".dtb"), path]
        subprocess.run(words, check=True)


def commands(project: Project, fails: bool, shown: Block) -> list[str]:
    """The commands of a project, or of the example."""
    command = project.command.split(" / ")[0 if fails else -1]
    if command != "EXAMPLE":
        return [command]
    lines = re.findall(r"^camkes .*", shown.text, re.MULTILINE)
    return [re.sub(r"\s+#.*", "", line).replace("PATH", "system.camkes") for line in lines]


def reported(
    given: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, said: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.chdir(folder)
    for command in given:
        run(command, folder, monkeypatch)
    captured = said.readouterr()
    return captured.err + captured.out


def test_each_page_is_run() -> None:
    found = [*CONTEXTS, *PROJECTS, *SESSIONS]
    assert sorted(found) == sorted(code.number for code in explain.all_codes())


@pytest.mark.long
@pytest.mark.parametrize("code", PROJECTS)
def test_examples_of_a_page(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project, shown = PROJECTS[code], blocks(code)
    if any(name.endswith(".dts") for name in project.files) and not shutil.which("dtc"):
        pytest.skip("dtc is not installed")
    if "camkes debug" in project.command and not shutil.which("gdb"):
        pytest.skip("gdb is not installed")
    first, corrected = shown[0], shown[1:]
    if "same" in project.options:
        corrected = shown
    elif "right" in project.options:
        first, corrected = Block("", ""), shown
    assert corrected
    for number, (fails, each) in enumerate([(True, first), *((False, each) for each in corrected)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        written(project, fails, each, first, folder)
        text = reported(commands(project, fails, each), folder, monkeypatch, capfd)
        assert (code in CODE.findall(text)) == fails, text
        assert fails or "error[" not in text, text
