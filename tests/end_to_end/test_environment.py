# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes doctor` and `camkes watch`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from camkes.doctor import needs
from camkes.resources import install_packages
from camkes.watching import Written, changed, state_of, written
from tests.command import camkes
from tests.documents import conforming
from tests.end_to_end.support import system
from tests.processes import PATIENCE

pytestmark = pytest.mark.requirement("TOOL-25")


def test_this_machine_has_the_programs_that_tests_need() -> None:
    result = camkes("doctor")
    assert result.status == 0, result.output
    assert result.output.splitlines()[-1] == "good for check, build, run, test"


def test_a_missing_program_is_listed_with_its_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SEL4_WORKSPACE", str(tmp_path))
    result = camkes("doctor", "check")
    assert result.status == 1
    assert "--  cpp    missing: reading systems (check, build, run, test" in result.output
    assert "sudo apt install cpp\n" in result.output
    assert result.output.endswith("missing for check: cpp\n")
    report = conforming("doctor", camkes("doctor", "build --kernel sel4", "--json").output)
    assert (report["good"], [each["name"] for each in report["needs"]]) == (False, ["SDK or workspace"])
    assert report["needs"][0]["found"] is None and "repo-init.sh" in report["needs"][0]["install"]


def test_packages_are_installed_where_the_tool_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/opt/a venv/bin/python")
    assert install_packages("pygls>=2,<3") == "'/opt/a venv/bin/python' -m pip install 'pygls>=2,<3'"
    (tmp_path / "pipx_metadata.json").touch()
    assert install_packages("gcovr") == "pipx inject camkes-rt gcovr"


def test_the_compiler_that_is_set_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m32")
    assert camkes("doctor", "build").status == 1


def test_wrong_usage_of_doctor() -> None:
    result = camkes("doctor", "fly")
    assert (result.status, "there are no requirements of 'fly'" in result.errors) == (2, True)


def test_every_requirement_has_an_installation_hint() -> None:
    assert all(need.install and need.what_for for need in needs())
    assert len({need.name for need in needs()}) == len(needs())


def test_changes_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    kept, gone = tmp_path / "a.c", tmp_path / "b.c"
    for path in (kept, gone):
        path.write_text("1")
    before = state_of(tmp_path, Written())
    assert changed(before, state_of(tmp_path, Written())) == []
    (tmp_path / "build" / "c.o").write_text("")
    (tmp_path / ".a.c.swp").write_text("")
    (tmp_path / "a.c~").write_text("")
    assert changed(before, state_of(tmp_path / "a.c", Written())) == []
    kept.write_text("22")
    gone.unlink()
    (tmp_path / "new.camkes").write_text("")
    assert changed(before, state_of(tmp_path, Written())) == [
        str(kept),
        str(gone),
        str(tmp_path / "new.camkes"),
    ]


def test_what_a_command_writes_does_not_count(tmp_path: Path) -> None:
    """A timeline or a log in the folder that is watched."""
    (tmp_path / "coverage").mkdir()
    (tmp_path / "coverage" / "index.html").touch()
    for name in ("run.svg", "a.c"):
        (tmp_path / name).touch()
    with (tmp_path / "log").open("w") as log:
        own = written([tmp_path / "coverage" / ".." / "run.svg", None, tmp_path / "coverage"], [log.fileno()])
        assert list(state_of(tmp_path, own)) == [str(tmp_path / "a.c")]
    assert len(state_of(tmp_path, Written())) == 4


@pytest.mark.long
def test_watch_runs_again(tmp_path: Path) -> None:
    """First an error, then the corrected file."""
    path = system(
        tmp_path,
        "component A { control; } assembly { composition { component B a; } }",
        {"A.c": 'int run(void) { printf("it runs\\n"); return 0; }'},
    )
    command = [
        sys.executable,
        "-m",
        "camkes",
        "watch",
        str(path),
        "--rounds",
        "2",
        "-o",
        str(tmp_path / "build"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None and running.stdout is not None
        said = ""
        while "waiting for a change" not in said:
            line = running.stderr.readline()
            assert line, said
            said += line
        assert "E02" in said or "E03" in said
        corrected = path.with_suffix(".new")
        corrected.write_text(path.read_text().replace("component B", "component A"))
        corrected.replace(path)
        output, errors = running.communicate(timeout=PATIENCE)
    assert (running.returncode, output.splitlines()[0]) == (0, "it runs"), errors
    assert "changed: system.camkes" in errors


def test_watch_of_a_missing_file() -> None:
    assert camkes("watch", "nowhere").status == 1
