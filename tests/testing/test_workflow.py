# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The workflow of a new project passes on its first push: its steps, in a clone of it, without an index."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import PackagePath
from pathlib import Path

import pytest
import yaml

from camkes import process
from camkes.process import Finished
from camkes.resources import ROOT
from camkes.scaffold import installation
from camkes.scaffold.installation import ToolSource, source_of_tool
from tests.command import camkes

pytestmark = pytest.mark.requirement("TOOL-17")

WORKFLOW = Path(".github/workflows/ci.yml")
#: what pipx does, without an index: the packages that the tool needs are those of the tests
PIPX = """\
#!/bin/sh -e
[ "$#" = 2 ] && [ "$1" = install ]
{python} -m venv {folder}
{folder}/bin/python -m pip install --quiet --no-index --no-deps "$2"
echo {packages} >"$(echo {folder}/lib/python*/site-packages)/needed.pth"
ln -s {folder}/bin/camkes {programs}/camkes
"""


def installed(folder: Path, wheel: Path | str) -> Path:
    """The tool in an environment of its own; the folder that is to be on PATH."""
    programs = folder / "programs"
    programs.mkdir(parents=True)
    text = PIPX.format(
        python=sys.executable,
        folder=folder / "environment",
        packages=sysconfig.get_path("purelib"),
        programs=programs,
    )
    (programs / "pipx").write_text(text)
    (programs / "pipx").chmod(0o755)
    if wheel:
        subprocess.run([programs / "pipx", "install", wheel], check=True)
    return programs


def sh(command: str, programs: Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As a server runs a step."""
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", **variables}
    environment.pop("PYTHONPATH", None)
    words = ["bash", "-e", "-o", "pipefail", "-c", command]
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--wheel-dir",
        folder,
        ROOT,
    ]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    return next(folder.glob("*.whl"))


@pytest.mark.long
def test_the_first_push_passes(wheel: Path, tmp_path: Path) -> None:
    """The project is made with an installed tool and pushed; a server that has pipx runs the steps."""
    made = sh("camkes new pump", installed(tmp_path / "user", wheel), tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    git = "git -c user.name=A -c user.email=a@example.org"
    pushed = f"cd pump && git init -q && git add -A && {git} commit -qm first && git clone -q . ../server"
    assert sh(pushed, Path("/"), tmp_path).returncode == 0
    workflow = yaml.safe_load((tmp_path / "server" / WORKFLOW).read_text())
    programs = installed(tmp_path / "pipx", "")
    steps = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    assert steps[0] == 'pipx install "$CAMKES_RT"' and len(steps) > 4
    for step in steps:
        done = sh(step, programs, tmp_path / "server", **workflow["env"])
        assert done.returncode == 0, (step, done.stdout, done.stderr)
    assert (programs / "camkes").resolve().is_relative_to(tmp_path / "pipx")
    assert {"camkes.sarif", "results.xml"} <= {path.name for path in (tmp_path / "server").iterdir()}


@pytest.mark.long
def test_the_wheel_in_a_project_is_the_one_that_was_installed(wheel: Path, tmp_path: Path) -> None:
    programs = installed(tmp_path / "user", wheel)
    for name in ("one", "two"):
        assert sh(f"camkes new {name}", programs, tmp_path).returncode == 0
    (one,), (two,) = ((tmp_path / name / ".github").glob("*.whl") for name in ("one", "two"))
    assert one.name == wheel.name and one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(wheel) as before, zipfile.ZipFile(one) as after:
        names = {name for name in before.namelist() if not name.endswith("/RECORD")}
        assert {name for name in after.namelist() if not name.endswith("/RECORD")} == names
        assert all(before.read(name) == after.read(name) for name in names)
        assert after.testzip() is None


def stated(folder: Path) -> str:
    found = yaml.safe_load((folder / WORKFLOW).read_text())["env"]["CAMKES_RT"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("source", ["git+https://example.org/rt@main", "./a b/x.whl", 'it\'s "quoted": #1'])
def test_what_is_stated_is_installed(source: str, tmp_path: Path) -> None:
    assert camkes("new", tmp_path / "pump", "--install", source).status == 0
    assert stated(tmp_path / "pump") == source
    assert not list((tmp_path / "pump" / ".github").glob("*.whl"))


class Installed:
    """An installation that says where it is from."""

    version = "1.2.3"

    def __init__(self, folder: Path, said: object) -> None:
        self.folder, self.said = folder, said
        self.files = [PackagePath(name) for name in ("camkes/a.py", "camkes_rt-1.2.3.dist-info/METADATA")]
        for file in self.files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("text\n")

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.said is None else json.dumps(self.said)

    def locate_file(self, path: PackagePath) -> Path:
        return self.folder / path


COMMIT = {"vcs": "git", "commit_id": "0123abcd"}
CASES = [
    ({"url": "https://example.org/rt", "vcs_info": COMMIT}, "", "git+https://example.org/rt@0123abcd"),
    ({"url": "file:///home/me/rt", "vcs_info": COMMIT}, "", "./.github/camkes_rt-1.2.3-py3-none-any.whl"),
    ({"url": "file:///a.whl", "archive_info": {}}, "", "./.github/camkes_rt-1.2.3-py3-none-any.whl"),
    (None, "", "./.github/camkes_rt-1.2.3-py3-none-any.whl"),
    ({"url": "file:///rt", "dir_info": {"editable": True}}, "https://x.org/rt\n", "git+https://x.org/rt"),
    ({"url": "file:///rt", "dir_info": {"editable": True}}, "/home/me/rt\n", "camkes-rt"),
    ({"url": "file:///rt", "dir_info": {"editable": True}}, "https://me:token@x.org/rt\n", "camkes-rt"),
    (
        {"url": "https://token@x.org/rt", "vcs_info": COMMIT},
        "",
        "./.github/camkes_rt-1.2.3-py3-none-any.whl",
    ),
]


@pytest.mark.parametrize(("said", "origin", "reference"), CASES)
def test_the_source_is_one_that_a_server_can_use(
    said: object, origin: str, reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    monkeypatch.setattr(installation, "distribution", lambda name: Installed(tmp_path, said))
    monkeypatch.setattr(process, "run", lambda words: Finished(0, origin, ""))
    found = source_of_tool()
    assert found.reference == reference and (found.wheel is not None) == reference.endswith(".whl")
    if found.wheel is not None:
        assert f"./{found.wheel[0]}" == reference


def test_an_installation_that_lacks_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Installed(tmp_path, None)
    (tmp_path / "camkes" / "a.py").unlink()
    monkeypatch.setattr(installation, "distribution", lambda name: made)
    assert source_of_tool() == ToolSource("camkes-rt")
