# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Pages of `camkes explain` that show commands and what these print, followed as the documentation is.

Until the first block of commands, files and environment are those with which the page's diagnostic is
reported; from then on it is not, and commands succeed. Where no commands follow, the first ones are given
again. page_sessions.txt has files and environment. CAMKES_UPDATE_GOLDEN=1 writes what commands print.
"""

from __future__ import annotations

import fcntl
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest

from camkes.backends.host import coverage
from camkes.backends.host import folder as folder_module
from camkes.backends.sel4 import recording
from camkes.diagnostics.explain import PAGES
from camkes.parser.preprocess import command
from camkes.project import cmake
from camkes.resources import ROOT
from tests.backends.sel4.small_sdk import write_small_sdk
from tests.diagnostics.pages import blocks
from tests.diagnostics.test_commands import GOLDEN, limited_files, run
from tests.diagnostics.test_page_projects import CODE, SESSIONS, Project
from tests.docs.reader import COMMAND, Reader
from tests.measuring import logs
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-2")

Given = Callable[[Path, pytest.MonkeyPatch], AbstractContextManager[None]]


@contextmanager
def a_large_file(folder: Path, _: pytest.MonkeyPatch) -> Iterator[None]:
    with (folder / "system.camkes").open("wb") as file:
        file.truncate(65 << 20)
    yield


@contextmanager
def a_busy_machine(_: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """The preprocessor has its processor time, however long that takes."""
    patch.setattr(command, "TIMEOUT", 600)
    yield


@contextmanager
def a_file_in_latin1(folder: Path, _: pytest.MonkeyPatch) -> Iterator[None]:
    file = folder / "system.camkes"
    file.write_bytes(file.read_text("utf-8").encode("latin1"))
    yield


@contextmanager
def a_full_disk(folder: Path, _: pytest.MonkeyPatch) -> Iterator[None]:
    disk = folder / "usb"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(disk)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@contextmanager
def a_low_limit(_: Path, __: pytest.MonkeyPatch) -> Iterator[None]:
    with limited_files(2**10):
        yield


@contextmanager
def another_build(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(folder_module, "WAIT", 0.0)
    (folder / "build").mkdir()
    with (folder / "build" / folder_module.LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def no_gcovr(_: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(
        coverage, "find_spec", lambda name: None if name == "gcovr" else importlib.util.find_spec(name)
    )
    yield


@contextmanager
def no_cmake(_: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(cmake, "find_cmake", lambda: None)
    yield


@contextmanager
def a_fast_clock(_: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Minutes pass between two lines of an image."""
    minutes = itertools.count(step=100.0)
    clock, *others = recording.record.__defaults__ or ()
    assert clock is recording.time.monotonic
    patch.setattr(recording.record, "__defaults__", (lambda: next(minutes), *others))
    yield


@contextmanager
def a_small_sdk(folder: Path, _: pytest.MonkeyPatch) -> Iterator[None]:
    write_small_sdk(folder / "x86_64.sdk")
    yield


def a_log(*lines: str) -> Given:
    """In serial.log; board.log is a good one."""

    @contextmanager
    def given(folder: Path, _: pytest.MonkeyPatch) -> Iterator[None]:
        (folder / "serial.log").write_text("\n".join(lines))
        (folder / "board.log").write_text("\n".join([*logs.LINES, ""]))
        yield

    return given


#: How pages show paths of this machine.
SHOWN = {sys.executable: "/home/me/.venv/bin/python", str(ROOT): "/home/me/camkes-rt"}
#: What else is so while a page's diagnostic is reported.
GIVEN: dict[str, Given] = {
    "E0102": a_file_in_latin1,
    "E0103": a_large_file,
    "E0112": a_busy_machine,
    "E0710": no_cmake,
    "E0725": a_full_disk,
    "E0726": another_build,
    "E0732": a_low_limit,
    "E0740": no_gcovr,
    "E0790": a_log(logs.cut()),
    "E0791": a_log(*logs.damaged()),
    "E0792": a_log(*logs.with_about("93f73a49ad2b", "fedcba987654", "releases-1")),
    "E0793": a_log(),
    "E0967": a_small_sdk,
    "E0968": a_small_sdk,
    "W0969": a_small_sdk,
    "W0964": a_fast_clock,
}


def write_programs(folder: Path, files: dict[str, str]) -> None:
    """Write files; scripts can be run."""
    write_files(folder, files)
    for name, text in files.items():
        if text.startswith("#!"):
            (folder / name).chmod(0o755)


class Session(Reader):
    """Follows the page of a code."""

    def __init__(
        self,
        code: str,
        folder: Path,
        patch: pytest.MonkeyPatch,
        said: pytest.CaptureFixture[str],
    ) -> None:
        super().__init__(folder)
        self.code, self.patch, self.said = code, patch, said
        self.project: Project = SESSIONS[code]
        self.commands: list[str] = []
        self.codes: list[str] = []
        self.fails, self.corrected = True, False
        write_programs(folder, self.project.variant(True))

    def follow(self, page: Path) -> None:
        super().follow(page)
        assert not self.fails, "the page shows no commands"
        if not self.corrected:
            for line in self.commands:
                self._run(line)

    def _block(self, page: Path, match: re.Match[str]) -> str:
        if match["kind"] != "console":
            return super()._block(page, match)
        if not self.fails:
            self.corrected = True
            return super()._block(page, match)
        self.commands = [line for line, _ in COMMAND.findall(match["text"])]
        with self.patch.context() as patch, GIVEN.get(self.code, _nothing)(self.folder, patch):
            shown = super()._block(page, match)
        assert self.code in self.codes, shown
        self.fails = False
        self._correct()
        return shown

    def _correct(self) -> None:
        """Files as they are where nothing is reported; those that the page shows come after these."""
        before = self.project.variant(True)
        after = self.project.variant(False)
        for name in before.keys() - after.keys():
            (self.folder / name).unlink()
        write_programs(self.folder, {name: text for name, text in after.items() if before.get(name) != text})

    def _run(self, line: str) -> str:
        if not re.match(r"(?:\w+=\S* )*camkes ", line):
            return super()._run(line)
        environment = self.project.command if self.fails or "always" in self.project.options else ""
        status = run(f"{environment} {line}", self.folder, self.patch)
        captured = self.said.readouterr()
        text = captured.err + captured.out
        for path, shown in SHOWN.items():
            text = text.replace(path, shown)
        text = text.replace(str(self.folder), "/home/me/pump")
        found = CODE.findall(text)
        if self.fails:
            self.codes += found
        else:
            assert status == 0 and self.code not in found, text
        return "".join(f"{each.rstrip()}\n" for each in text.splitlines())


def _nothing(_: Path, __: pytest.MonkeyPatch) -> AbstractContextManager[None]:
    return nullcontext()


@pytest.mark.long
@pytest.mark.parametrize("code", SESSIONS)
def test_session_of_a_page(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, program in (("E0738", "gdb"), ("E0740", "gcov")):
        if code == name and shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    folder = tmp_path.resolve() / "pump"
    folder.mkdir()
    for variable in ("CC", "CXX", "SEL4_WORKSPACE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HERE", str(folder))
    monkeypatch.setenv("SHARED", str(GOLDEN / "shared"))
    Session(code, folder, monkeypatch, capfd).follow(PAGES / f"{code}.md")


@pytest.mark.long
def test_each_page_with_commands_and_what_they_print_is_followed() -> None:
    shown = {
        path.stem
        for path in PAGES.glob("*.md")
        if any(each.language == "console" for each in blocks(path.stem))
    }
    assert shown == set(SESSIONS)
