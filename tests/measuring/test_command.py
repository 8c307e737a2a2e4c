# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes measure --platform` where images were booted before: what it prints and writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.analysis.profiles import read_platform
from tests.command import camkes
from tests.documents import conforming
from tests.measuring.logs import GOLDEN, LINES, cut

pytestmark = pytest.mark.requirement("AN-30")

LOG = ("measure", "--platform", "--log", GOLDEN / "qemu-x86_64.log")


def test_a_profile_is_printed_or_written(tmp_path: Path) -> None:
    printed = camkes(*LOG)
    file = tmp_path / "folder" / "x86_64.toml"
    written = camkes(*LOG, "-o", file)
    assert (printed.status, written.status) == (0, 0)
    assert printed.output == file.read_text() and printed.output.startswith("# Written by")
    assert written.output == f"made {file}: camkes analyze PATH --platform {file}\n"
    assert camkes(*LOG, "-o", file, "-q").output == ""
    assert read_platform(str(file)).plain == read_platform("qemu-x86_64").plain


def test_several_logs_are_one_measurement(tmp_path: Path) -> None:
    starts = [number for number, line in enumerate(LINES) if "begin " in line]
    words = []
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(LINES)], strict=True)):
        (tmp_path / f"{number}.log").write_text("\n".join(LINES[start:end]))
        words += ["--log", tmp_path / f"{number}.log"]
    assert camkes("measure", "--platform", *words).output == camkes(*LOG).output


def test_json(tmp_path: Path) -> None:
    report = conforming("measure-platform", camkes(*LOG, "--json").output)
    assert report["file"] is None and report["profile"]["plain"] == {"call": 250, "reply": 282}
    assert report["profile"]["measured"]["figures"] == "median"
    file = tmp_path / "board.toml"
    board = ("measure", "--platform", "--log", GOLDEN / "board.log", "-o", file, "--json")
    report = conforming("measure-platform", camkes(*board).output)
    assert (report["file"], report["profile"]["name"]) == (str(file), "board")
    assert report["profile"]["measured"]["figures"] == "maximum"


def test_nothing_is_written_after_an_error(tmp_path: Path) -> None:
    file, log = tmp_path / "board.toml", tmp_path / "serial.log"
    log.write_text(cut())
    file.write_text("clock = 5\n")
    result = camkes("measure", "--platform", "--log", log, "-o", file)
    assert (result.status, file.read_text()) == (1, "clock = 5\n")
    (tmp_path / "taken").write_text("")
    result = camkes(*LOG, "-o", tmp_path / "taken" / "a.toml")
    assert result.status == 1 and "cannot write" in result.errors and "Traceback" not in result.errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board.toml", "serial.log", "taken"]


def test_a_folder_for_builds_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    (tmp_path / "workspace" / "kernel").mkdir(parents=True)
    result = camkes(
        *("measure", "--platform", "--workspace", tmp_path / "workspace"),
        *("--build-folder", tmp_path / "taken" / "build"),
    )
    assert result.status == 1 and "Traceback" not in result.errors
