# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes fmt`: which files it changes, and when it leaves them alone."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from camkes import files
from camkes.cli.main import main

pytestmark = pytest.mark.requirement("TOOL-9")

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


def test_the_current_folder_is_checked_but_not_changed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert main(["fmt", "--check"]) == 1
    assert capsys.readouterr().out == "a.camkes\nsub/b.idl4\n"
    assert main(["fmt"]) == 2
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


def test_line_ends_and_links_are_kept(folder: Path) -> None:
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


def test_standard_input_is_checked_and_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, status, begin in (
        (["fmt", "--check", "-"], 1, "<stdin>\n"),
        (["fmt", "--diff", "-"], 0, "--- <stdin>\n"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UNTIDY.encode())))
        assert main(arguments) == status
        assert capsys.readouterr().out.startswith(begin)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UNTIDY.replace("\n", "\r\n").encode())))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == TIDY.replace("\n", "\r\n")
    assert main(["fmt", "-", "a.camkes"]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffcomponent A{control;}\n",
        "component A{control;}\r\n// b\n",
        "component A{\fcontrol;\v uses P p; // \u2028 \x85\n}\n",
        "component A{control;}",
    ],
)
def test_a_diff_is_all_that_changes(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], text: str
) -> None:
    file = tmp_path / "a.camkes"
    file.write_bytes(text.encode())
    assert main(["fmt", "--diff", str(file)]) == 0
    (tmp_path / "patch").write_bytes(capfdbinary.readouterr().out)
    shutil.copy(file, tmp_path / "b.camkes")
    subprocess.run(["patch", "--binary", "-s", tmp_path / "b.camkes", tmp_path / "patch"], check=True)
    assert main(["fmt", str(file)]) == 0
    assert (tmp_path / "b.camkes").read_bytes() == file.read_bytes()
    assert file.read_text(encoding="utf-8").startswith("\ufeff") == text.startswith("\ufeff")


def test_a_file_that_cannot_be_written_keeps_no_other_from_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.camkes").write_text("component  {")
    write = files.write_output

    def full(path: Path, data: bytes) -> None:
        if path.name == "a.camkes":
            raise files.OutputError(f"cannot write {path}: no room")
        write(path, data)

    monkeypatch.setattr("camkes.cli.reformat.write_output", full)
    assert main(["fmt", str(folder)]) == 1
    assert (folder / "a.camkes").read_text() == UNTIDY
    assert (folder / "sub" / "b.idl4").read_text() == TIDY
    said = capsys.readouterr().err
    assert "no room" in said
    assert "broken.camkes" in said


def test_a_header_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "#include <board.h>\n" + UNTIDY.replace("uses", "BOARD_USES() uses")
    (folder / "a.camkes").write_text(text)
    assert main(["fmt", str(folder / "a.camkes")]) == 0
    assert (folder / "a.camkes").read_text().split() == text.replace("{", " { ").replace("}", " } ").split()
    assert capsys.readouterr().err == ""
    (folder / "a.camkes").write_text("#if\n#endif\n" + UNTIDY)
    assert main(["fmt", "--check", str(folder / "a.camkes")]) == 1
    assert "E0111" in capsys.readouterr().err


NAME = "component A { control; } // \u65e5\n"


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_pipe_is_utf_8(folder: Path, encoding: str) -> None:
    (folder / "\u65e5.camkes").write_text(NAME)
    for arguments in (["-"], ["--diff", "\u65e5.camkes"], ["--check", "\u65e5.camkes"]):
        done = run_with(folder, arguments, encoding)
        assert done.stderr == b""
        assert "\u65e5" in done.stdout.decode()


def test_a_closed_pipe_is_not_an_internal_error(folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = run_with(folder, ["--diff", "a.camkes"], "utf-8", full)
    assert done.stderr == b"camkes: cannot write the output: No space left on device\n"
    assert done.returncode == 1
    closed = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m camkes fmt - <&- >&-"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert (closed.returncode, closed.stderr) == (0, b"")


def run_with(
    folder: Path, arguments: list[str], encoding: str, out: IO[bytes] | int = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "camkes", "fmt", *arguments],
        cwd=folder,
        input=NAME.encode(),
        stdout=out,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
