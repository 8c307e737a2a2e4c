# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The output of commands, to the letter.

Each folder in golden/commands has the files that a user has, and in `transcript.txt` the commands that are
given among them, each with all that it writes to standard error and, if it fails, its exit status in
brackets. A command is a line that begins with `$`: variables of the environment, then words, as in a shell.

`camkes` is the tool, `camkes-migrate` that of tools/migrate, and `python -m camkes.cli.sel4` the program that
CMake calls; for that, a file of JSON has the answer of CMake about the application where it is not the usual
one. Other words are programs. HERE is the folder. Programs whose words are not the same everywhere are
scripts, in golden/shared (SHARED) or in the folder of a case.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from camkes_migrate.__main__ import command_line as migrate_command

from camkes import process
from camkes.backends.sel4 import workspace
from camkes.cli import main as cli
from camkes.cli.sel4 import main as called_by_cmake
from camkes.resources import ROOT
from tests.backends.sel4.project import project
from tests.golden import compare

pytestmark = pytest.mark.requirement("TOOL-3")

GOLDEN = Path(__file__).parent / "golden"
CASES = GOLDEN / "commands"
TRANSCRIPT = "transcript.txt"

#: what is another for each compiler: addresses, and the folder of a kernel that it made
VARYING = re.compile(r"(program counter |stack overflow at |/camkes-rt/host-)(0x)?[0-9a-f]+")


@contextmanager
def limited_files(size: int) -> Iterator[None]:
    """As with `ulimit -f`: files have at most so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    process.end_supervisors()  # they have the limits that they began with
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        process.end_supervisors()


def run(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in a folder; its exit status."""
    if (limit := re.fullmatch(r"\(ulimit -f (\d+); (.*)\)", command)) is not None:
        with limited_files(int(limit[1]) * 1024):
            return run(limit[2], folder, monkeypatch)
    words = shlex.split(os.path.expandvars(command))
    with monkeypatch.context() as patch:
        if words[0].startswith("PATH="):  # the programs of the case, not those that the tool came with
            patch.setattr(workspace, "find_cmake", lambda: shutil.which("cmake"))
            patch.setattr(workspace, "find_ninja", lambda: shutil.which("ninja"))
        while words and re.match(r"\w+=", words[0]):
            patch.setenv(*words.pop(0).split("=", 1))
        match words:
            case ["camkes", *arguments]:
                return exit_status(cli.main, arguments)
            case ["camkes-migrate", *arguments]:
                return exit_status(migrate_command, arguments)
            case ["python", "-m", "camkes.cli.sel4", "generate", name]:
                given = json.loads((folder / name).read_text())
                whole = project(folder / given.pop("adl"), folder / given.pop("output"), **given)
                (folder / name).write_text(json.dumps(whole))
                return exit_status(called_by_cmake, ["generate", name])
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        sys.stderr.write(done.stderr)
        return done.returncode


def exit_status(main: Callable[[list[str]], int], arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as end:
        assert isinstance(end.code, int)
        return end.code


#: these reach a limit of the tool, which takes seconds, while tests of resolve and parser reach lowered ones,
#: or build and run a system, and other tests show that the mistake is found
LONG = (
    "preprocessor_limit",
    "too_many_instances",
    "application_refused",
    "cmake_failed",
    "cmake_syntax",
    "component_not_declared",
    "denied",
    "fault",
    "link_error",
    "link_error_of_the_linker",
    "missing_file",
    "no_job_ended",
    "refused_flag",
    "run_failed",
    "sanitizer",
    "sel4_build",
    "tests_that_fail",
    "trace_names",
    "trace_truncated",
    "unknown_definition",
    "waits",
)
NAMES = sorted(path.name for path in CASES.iterdir())


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in NAMES]
)
def test_commands(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path.resolve() / name
    shutil.copytree(CASES / name, folder, ignore=shutil.ignore_patterns(TRANSCRIPT))
    for variable in ("CC", "CXX", "SEL4_WORKSPACE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HERE", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SHARED", str(GOLDEN / "shared"))
    transcript = CASES / name / TRANSCRIPT
    expected = transcript.read_text(encoding="utf-8")
    text = ""
    for command in re.findall(r"^\$ (.*)$", expected, re.MULTILINE):
        status = run(command, folder, monkeypatch)
        said = capfd.readouterr().err
        for path, word in ((f"{folder}/", ""), (str(folder), "FOLDER"), (str(ROOT), "CAMKES")):
            said = said.replace(path, word)
        said = VARYING.sub(r"\1...", said)
        text += f"$ {command}\n{said}" + (f"[{status}]\n" if status else "")
    assert text
    compare(text, transcript)
