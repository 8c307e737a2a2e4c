# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A new project of each kind checks, is formatted, runs and passes its test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camkes.resources import ROOT
from camkes.scaffold import create
from camkes.scaffold.create import TEMPLATES
from camkes.scaffold.installation import ToolSource
from tests.command import camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("TOOL-17")


@pytest.mark.long
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_project_builds_and_passes_its_tests(template: str, tmp_path: Path) -> None:
    made = camkes("new", "water-pump", "--template", template, cwd=tmp_path)
    assert (made.status, made.errors) == (0, "")
    for words in (
        ("check", "water-pump"),
        ("fmt", "--check", "water-pump"),
        ("test", "water-pump"),
        ("run", "water-pump", "--for", "100ms", "--deny", "missed,exit-status"),
    ):
        result = camkes(*words, cwd=tmp_path)
        assert (result.status, result.errors) == (0, ""), (words, result.output)


def test_a_new_project_has_files_for_ci_and_editors(tmp_path: Path) -> None:
    made = conforming("new", camkes("new", tmp_path / "a", "--json").output)
    assert made["template"] == "task"
    assert {".gitignore", ".github/workflows/ci.yml", ".vscode/tasks.json", "a.camkes"} <= set(made["files"])
    assert all((tmp_path / "a" / name).is_file() for name in made["files"])
    for path in (tmp_path / "a" / ".vscode").iterdir():
        json.loads(path.read_text())
    assert not any("@NAME@" in path.read_text() for path in tmp_path.rglob("*") if path.is_file())


def test_a_new_system_is_the_example(tmp_path: Path) -> None:
    """Its files, under the name of the project and without the lines of this tool's licence."""
    (example := tmp_path / "flight").symlink_to(ROOT / "examples" / "flight")
    assert camkes("new", tmp_path / "drone", "--template", "system").status == 0
    written = {path.relative_to(tmp_path / "drone"): path for path in (tmp_path / "drone").rglob("*.c")}
    assert set(written) == {path.relative_to(example) for path in example.rglob("*.c")}
    for place, path in written.items():
        assert path.read_text() == "".join((example / place).read_text().splitlines(keepends=True)[2:])
    top = {path.name for path in (tmp_path / "drone").iterdir() if not path.name.startswith(".")}
    assert top == {"CMakeLists.txt", "README.md", "components", "drone.camkes", "include", "tests"}
    assert "flight" not in (tmp_path / "drone" / "CMakeLists.txt").read_text()
    assert "# drone\n" in (tmp_path / "drone" / "README.md").read_text()


def test_a_build_of_the_example_is_not_part_of_a_new_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(create, "EXAMPLES", tmp_path)
    for place in ("flight.camkes", "build/flight/log.bin", "expected.txt"):
        (tmp_path / "flight" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "flight" / place).write_bytes(b"" if place == "flight.camkes" else b"\xff")
    files = {str(path) for path in create.files_of("system", "drone", ToolSource("camkes-rt"))}
    assert "drone.camkes" in files and not any("log" in name or "expected" in name for name in files)


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.camkes").write_text("mine")
    result = camkes("new", tmp_path / "a")
    assert result.status == 1 and "E0775" in result.errors
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["a.camkes"]
    assert (tmp_path / "a" / "a.camkes").read_text() == "mine"


def test_the_readme_of_a_new_repository_is_kept(tmp_path: Path) -> None:
    (tmp_path / "pump").mkdir()
    (tmp_path / "pump" / "README.md").write_text("mine\n")
    assert camkes("new", "pump", cwd=tmp_path).status == 0
    assert (tmp_path / "pump" / "README.md").read_text() == "mine\n"
    assert (tmp_path / "pump" / ".gitignore").is_file()
