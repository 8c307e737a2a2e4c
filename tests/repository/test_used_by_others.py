# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files of the repository that other repositories use: the action, the hooks of pre-commit, the container.
`.ci/first-steps` runs the action's script without a network."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped, unused-ignore]

from tests.command import ROOT, camkes

pytestmark = pytest.mark.requirement("TOOL-29")

HOOKS = {each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())

BADLY_FORMATTED = "component   A { }\nassembly { composition { component A a; } }\n"


def run_hook(name: str, folder: Path, *files: Path) -> int:
    """As pre-commit does, in the folder of a repository."""
    program, *words = HOOKS[name]["entry"].split()
    assert program == "camkes"
    named = files if HOOKS[name].get("pass_filenames", True) else ()
    return camkes(*words, *HOOKS[name].get("args", ()), *named, cwd=folder).status


def test_the_hooks_format_and_check(tmp_path: Path) -> None:
    file = tmp_path / "a.camkes"
    file.write_text(BADLY_FORMATTED)
    assert run_hook("camkes-check", tmp_path) == 0
    run_hook("camkes-fmt", tmp_path, file)
    assert file.read_text() != BADLY_FORMATTED and camkes("fmt", "--check", file).status == 0
    file.write_text(BADLY_FORMATTED.replace("component A a", "component B a"))
    assert run_hook("camkes-check", tmp_path) == 1


@pytest.mark.parametrize(
    ("file", "hooks"),
    [
        ("a.camkes", {"camkes-fmt", "camkes-check"}),
        ("interfaces/b.idl4", {"camkes-fmt", "camkes-check"}),
        ("components/c.c", {"camkes-check"}),
        ("CMakeLists.txt", {"camkes-check"}),
        ("README.md", set()),
    ],
)
def test_which_files_a_hook_is_for(file: str, hooks: set[str]) -> None:
    assert {name for name, hook in HOOKS.items() if re.search(hook["files"], file)} == hooks


def test_the_action_passes_its_inputs_to_its_script() -> None:
    (step,) = ACTION["runs"]["steps"]
    script = ROOT / step["run"].strip('"').removeprefix("$GITHUB_ACTION_PATH/")
    assert os.access(script, os.X_OK)
    given = {name: f"${{{{ inputs.{name.lower()} }}}}" for name in step["env"]}
    assert step["env"] == given and {name.lower() for name in given} == set(ACTION["inputs"])
    defaults = dict(re.findall(r"^(\w+)=\$\{\1:-(.*)\}$", script.read_text(), re.MULTILINE))
    stated = {name.upper(): each["default"] for name, each in ACTION["inputs"].items() if each["default"]}
    assert defaults == stated


def test_the_container_installs_extras_that_there_are() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (named,) = re.findall(r"camkes-rt\[([\w,]+)\]'", (ROOT / "Containerfile").read_text())
    assert {*named.split(",")} <= extras.keys()
