# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An answer of CMake is given again while all that it depends on is the same, and not after that."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from camkes.project import cmake
from camkes.project.application import Application
from tests.project.support import Asked, age, app, find

pytestmark = pytest.mark.requirement("TOOL-20")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    counter = Asked()
    monkeypatch.setattr(cmake, "ask", counter)
    return counter


def flags(folder: Path) -> tuple[str, ...]:
    found, codes = find(folder)
    assert found is not None and codes == []
    return found.components["A"].c_flags


def test_nothing_changed(tmp_path: Path, asked: Asked) -> None:
    folder = app(tmp_path / "app", "DeclareCAmkESComponent(A C_FLAGS -DX)")
    age(folder)
    first, _ = find(folder)
    again, _ = find(folder)
    assert isinstance(first, Application) and plain(first) == plain(again)
    assert asked.times == 1


def plain(application: Application | None) -> list[str]:
    """What an application has; spans are of files that were read anew."""
    assert application is not None
    names = [name for name in Application.__slots__ if name not in ("components", "common")]
    return [str(getattr(application, name)) for name in names] + list(application.components)


def mapped(path: Path) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        at = view.find(b"-DX")
        view[at : at + 3] = b"-DY"


def replaced(path: Path, before: str = "-DX", after: str = "-DY") -> None:
    """With the size and the time of change that the file had."""
    status = path.stat()
    path.write_text(path.read_text().replace(before, after))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("DeclareCAmkESComponent(A C_FLAGS -DX)", lambda f: replaced(f / "CMakeLists.txt")),
        ("DeclareCAmkESComponent(A C_FLAGS -DX)", lambda f: mapped(f / "CMakeLists.txt")),
        ("include(empty.cmake)\nDeclareCAmkESComponent(A C_FLAGS ${x})", lambda f: grown(f / "empty.cmake")),
        (
            "include(late.cmake OPTIONAL)\nDeclareCAmkESComponent(A C_FLAGS ${x})",
            lambda f: grown(f / "late.cmake"),
        ),
        (
            "if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/late.cmake)\nset(x -DY)\nendif()\n"
            "DeclareCAmkESComponent(A C_FLAGS ${x})",
            lambda f: grown(f / "late.cmake"),
        ),
        (
            "file(GLOB g late*)\nif(g)\nset(x -DY)\nendif()\nDeclareCAmkESComponent(A C_FLAGS ${x})",
            lambda f: grown(f / "late.cmake"),
        ),
        (
            "file(GLOB_RECURSE g late*)\nif(g)\nset(x -DY)\nendif()\nDeclareCAmkESComponent(A C_FLAGS ${x})",
            lambda f: grown(f / "deep" / "late.cmake"),
        ),
        ("file(READ flags x)\nDeclareCAmkESComponent(A C_FLAGS ${x})", lambda f: replaced(f / "flags")),
        ("file(STRINGS flags x)\nDeclareCAmkESComponent(A C_FLAGS ${x})", lambda f: replaced(f / "flags")),
        (
            "add_subdirectory(deep)\nDeclareCAmkESComponent(A C_FLAGS ${x})",
            lambda f: grown(f / "deep/CMakeLists.txt"),
        ),
        (
            "DeclareCAmkESComponent(A C_FLAGS $ENV{CAMKES_TEST})",
            lambda f: os.environ.update(CAMKES_TEST="-DY"),
        ),
        (
            "set(n CAMKES_TEST)\nDeclareCAmkESComponent(A C_FLAGS $ENV{${n}})",
            lambda f: os.environ.update(CAMKES_TEST="-DY"),
        ),
        (
            "execute_process(\n"
            "COMMAND cat flags\nWORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE x)\n"
            "DeclareCAmkESComponent(A C_FLAGS ${x})",
            lambda f: replaced(f / "flags"),
        ),
        (
            "find_file(x late.cmake PATHS ${CMAKE_CURRENT_SOURCE_DIR})\n"
            "if(x)\nset(y -DY)\nendif()\n"
            "DeclareCAmkESComponent(A C_FLAGS ${y})",
            lambda f: grown(f / "late.cmake"),
        ),
        (
            "list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/deep)\n"
            "include(CMakePrintHelpers)\n"
            "DeclareCAmkESComponent(A C_FLAGS ${x})",
            lambda f: grown(f / "deep" / "CMakePrintHelpers.cmake"),
        ),
        (
            "configure_file(flags made)\nfile(STRINGS ${CMAKE_CURRENT_BINARY_DIR}/made x)\n"
            "DeclareCAmkESComponent(A C_FLAGS ${x})",
            lambda f: replaced(f / "flags"),
        ),
        (
            'cmake_language(EVAL CODE "file(READ flags x)")\nDeclareCAmkESComponent(A C_FLAGS ${x})',
            lambda f: replaced(f / "flags"),
        ),
        (
            "function(find_it)\nfind_file(x late.cmake PATHS ${CMAKE_CURRENT_SOURCE_DIR})\n"
            "if(x)\nset(y -DY PARENT_SCOPE)\nendif()\nendfunction()\nfind_it()\n"
            "DeclareCAmkESComponent(A C_FLAGS ${y})",
            lambda f: grown(f / "late.cmake"),
        ),
    ],
)
def test_a_changed_input_runs_cmake_again(
    text: str,
    change: Callable[[Path], None],
    tmp_path: Path,
    asked: Asked,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CAMKES_TEST", "-DX")
    files = {"flags": "-DX", "empty.cmake": "", "deep/CMakeLists.txt": ""}
    folder = app(tmp_path / "app", text, **files)
    age(folder)
    before = flags(folder)
    assert before == flags(folder)
    change(folder)
    assert flags(folder) == ("-DY",) != before


def grown(path: Path) -> None:
    line = "set(x -DY PARENT_SCOPE)\n" if path.name == "CMakeLists.txt" else "set(x -DY)\n"
    path.write_text(line)


@pytest.mark.long
def test_definitions_are_part_of_the_question(tmp_path: Path, asked: Asked) -> None:
    folder = app(tmp_path / "app", "DeclareCAmkESComponent(A C_FLAGS -DX=${LARGE})")
    age(folder)
    for value in ("1", "2", "1"):
        found, _ = find(folder, LARGE=value)
        assert found is not None and found.components["A"].c_flags == (f"-DX={value}",)
    assert asked.times == 2


@pytest.mark.long
def test_after_a_change_during_its_run_cmake_runs_again(tmp_path: Path, asked: Asked) -> None:
    """What CMake read and what is there afterwards need not be the same."""
    folder = app(tmp_path / "app", "DeclareCAmkESComponent(A C_FLAGS -DX)")
    age(folder)
    configure = cmake._configure

    def changing(*arguments: object) -> object:
        finished = configure(*arguments)  # type: ignore[arg-type]
        replaced(folder / "CMakeLists.txt")
        return finished

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cmake, "_configure", changing)
        assert flags(folder) == ("-DX",)
    assert flags(folder) == ("-DY",)


@pytest.mark.long
def test_files_generated_by_cmake_are_kept(tmp_path: Path, asked: Asked) -> None:
    text = "configure_file(in.h m/out.h)\nDeclareCAmkESComponent(A INCLUDES ${CMAKE_CURRENT_BINARY_DIR}/m)"
    folder = app(tmp_path / "app", text, **{"in.h": "#define X 1\n"})
    age(folder)
    for _ in range(2):
        found, codes = find(folder)
        assert found is not None and codes == []
        (made,) = found.components["A"].includes
        assert (made / "out.h").read_text() == "#define X 1\n"
    assert asked.times == 1


@pytest.mark.long
def test_after_damage_of_the_cached_answer_cmake_runs_again(tmp_path: Path, asked: Asked) -> None:
    folder = app(tmp_path / "app", "DeclareCAmkESComponent(A C_FLAGS -DX)")
    age(folder)
    flags(folder)
    (kept,) = (tmp_path / "cache").rglob("answer.json")
    whole = kept.read_bytes()
    for damaged in (b"", whole[:100], b"[]", b'{"replies": {}, "variables": {}, "answer": {"x": 1}}'):
        kept.write_bytes(damaged)
        assert flags(folder) == ("-DX",)
    assert asked.times == 5


@pytest.mark.long
def test_what_commands_of_the_build_read_is_not_known(tmp_path: Path, asked: Asked) -> None:
    text = """add_custom_command(OUTPUT made.h COMMAND cp ${CMAKE_CURRENT_SOURCE_DIR}/given made.h)
DeclareCAmkESComponent(A SOURCES a.c ${CMAKE_CURRENT_BINARY_DIR}/made.h)"""
    folder = app(tmp_path / "app", text, **{"a.c": "", "given": "-DX"})
    age(folder)
    for content in ("-DX", "-DY"):
        found, codes = find(folder)
        assert found is not None and codes == []
        (made,) = (path for path in found.components["A"].sources if path.name == "made.h")
        assert made.read_text() == content
        replaced(folder / "given")
    assert asked.times == 2


@pytest.mark.long
def test_a_variable_that_may_be_any_and_is_set_later(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the name is computed, it is not known which variables an answer depends on."""
    text = "set(n CAMKES_TEST)\nDeclareCAmkESComponent(A C_FLAGS -DX=$ENV{${n}})"
    folder = app(tmp_path / "app", text)
    age(folder)
    monkeypatch.delenv("CAMKES_TEST", raising=False)
    assert flags(folder) == ("-DX=",)
    monkeypatch.setenv("CAMKES_TEST", "1")
    assert flags(folder) == ("-DX=1",)
