# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes fmt`: which files it changes, and when it leaves them alone."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from camkes.cli import main

UNTIDY = "component A{control;\n  uses P p;}\n"
TIDY = "component A {\n    control;\n    uses P p;\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name in ("a.camkes", "sub/b.idl4", ".hidden/c.camkes", "note.txt"):
        (tmp_path / name).write_text(UNTIDY)
    (tmp_path / "tidy.camkes").write_text(TIDY)
    return tmp_path


def test_a_folder_is_put_in_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.camkes").chmod(0o640)
    assert main(["fmt", str(folder)]) == 0
    assert capsys.readouterr().out == f"formatted {folder}/a.camkes\nformatted {folder}/sub/b.idl4\n"
    assert (folder / "a.camkes").read_text() == (folder / "sub" / "b.idl4").read_text() == TIDY
    assert (folder / "a.camkes").stat().st_mode & 0o777 == 0o640
    assert (folder / ".hidden" / "c.camkes").read_text() == (folder / "note.txt").read_text() == UNTIDY
    assert main(["fmt", "--check", str(folder)]) == 0
    assert capsys.readouterr().out == ""


def test_check_names_files_and_changes_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--check", str(folder)]) == 1
    assert capsys.readouterr().out == f"{folder}/a.camkes\n{folder}/sub/b.idl4\n"
    assert (folder / "a.camkes").read_text() == UNTIDY


def test_diff_is_a_patch(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--diff", str(folder / "a.camkes")]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"--- {folder}/a.camkes\n+++ {folder}/a.camkes\n@@ ")
    assert "-component A{control;\n" in out
    assert "+component A {\n" in out
    assert (folder / "a.camkes").read_text() == UNTIDY


def test_a_broken_file_is_left_alone_and_the_others_are_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.camkes").write_text("component  {")
    assert main(["fmt", str(folder)]) == 1
    assert "broken.camkes" in capsys.readouterr().err
    assert (folder / "broken.camkes").read_text() == "component  {"
    assert (folder / "a.camkes").read_text() == TIDY
    assert main(["fmt", str(folder / "missing.camkes")]) == 1


def test_line_ends_and_links_stay(folder: Path) -> None:
    (folder / "a.camkes").write_bytes(UNTIDY.replace("\n", "\r\n").encode())
    (folder / "link.camkes").symlink_to("a.camkes")
    assert main(["fmt", str(folder / "link.camkes")]) == 0
    assert (folder / "link.camkes").is_symlink()
    assert (folder / "a.camkes").read_bytes() == TIDY.replace("\n", "\r\n").encode()
    assert main(["fmt", "--check", str(folder / "a.camkes")]) == 0


def test_macros_of_the_application(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "CMakeLists.txt").write_text("DeclareCAmkESRootserver(m.camkes CPP_FLAGS -DTASK=control)\n")
    (folder / "m.camkes").write_text("component A{ TASK; }\n")
    assert main(["fmt", str(folder / "m.camkes")]) == 0
    assert (folder / "m.camkes").read_text() == "component A { TASK; }\n"


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["fmt", "-"], ["fmt", "--stdin"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UNTIDY.encode())))
        assert main(arguments) == 0
        assert capsys.readouterr().out == TIDY
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"component {")))
    assert main(["fmt", "-"]) == 1
    assert capsys.readouterr().out == ""
    assert main(["fmt"]) == 2
