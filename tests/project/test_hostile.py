# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Folders that attack the tool by what their CMake code leaves behind or starts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from camkes import sandbox
from camkes.project import cmake
from camkes.project.flags import COMPILING, PREPROCESSING, sifted
from camkes.project.usage import Usage
from tests.project.support import app, find

pytestmark = pytest.mark.requirement("TOOL-23")

confined = pytest.mark.skipif(not sandbox.available(), reason="this machine has no sandbox")


@pytest.mark.parametrize("before", ["-D", "-I", "-include", "-isystem"])
def test_a_file_of_flags_is_refused_as_a_value_too(before: str) -> None:
    """Compilers expand it before they look at what stands before it."""
    for allowed in (PREPROCESSING, COMPILING):
        assert sifted(["-DX", before, "@file", "-Iy"], allowed) == (("-DX", "-Iy"), (), (before, "@file"))


@pytest.mark.parametrize("character", [";", "|", "\\"])
def test_folders_that_cmake_cannot_name(character: str, tmp_path: Path) -> None:
    found, codes = find(app(tmp_path / f"a{character}b", "DeclareCAmkESComponent(A SOURCES a.c)"))
    assert (found, codes) == (None, ["E0703"])


@pytest.mark.parametrize("flag", ["-fdeps-file=x", "-fproc-stat-report=x", "-fcrash-diagnostics-dir=x"])
def test_flags_of_newer_compilers_that_write(flag: str) -> None:
    assert sifted([flag], COMPILING) == ((), (), (flag,))


@pytest.mark.long
@confined
@pytest.mark.parametrize("call", ["os.setsid()", "os.setpgid(0, 0)"])
def test_no_program_leaves_the_group_that_is_killed(call: str, tmp_path: Path) -> None:
    child = f"    before = os.getpgrp()\n    try: {call}\n    except OSError: pass\n"
    child += "    raise SystemExit(1 if os.getpgrp() == before else 0)\n"
    parent = "    raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))"
    text = (
        f"execute_process(COMMAND python3 -c [[import os\nif os.fork() == 0:\n{child}else:\n{parent}]]"
        " RESULT_VARIABLE s ERROR_QUIET)\nDeclareCAmkESComponent(A C_FLAGS -DS=${s})"
    )
    found, _ = find(app(tmp_path, text))
    assert found is not None and found.components["A"].c_flags == ("-DS=1",)


@pytest.mark.mostly_long("ln -s /dev/zero-trace.json")
@confined
@pytest.mark.parametrize("name", ["records", "trace.json", "messages"])
@pytest.mark.parametrize("command", ["mkfifo", "ln -s /dev/zero", "mkdir"])
def test_a_result_replaced_by_another_kind_of_file_is_not_waited_for(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (name, command) == ("records", "mkfifo"):
        monkeypatch.setattr(cmake, "TIMEOUT", 3)  # CMake itself waits for a reader
    put = f"cd ${{CMAKE_BINARY_DIR}}; rm -f {name}; {command} {name}"
    text = f'execute_process(COMMAND sh -c "{put}")'
    find(app(tmp_path, text))  # it ends


@pytest.mark.long
@confined
@pytest.mark.parametrize("name", ["started", "messages"])
def test_nothing_is_written_through_a_link_that_an_application_left(name: str, tmp_path: Path) -> None:
    """Neither while its commands run nor when it is read again: both find the folder as it left it."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    text = f"""execute_process(COMMAND sh -c "rm -f {name}; ln -s {victim} {name}"
    WORKING_DIRECTORY ${{CMAKE_BINARY_DIR}})
add_custom_command(OUTPUT x.h COMMAND echo made)
DeclareCAmkESComponent(A SOURCES a.c ${{CMAKE_CURRENT_BINARY_DIR}}/x.h)"""
    folder = app(tmp_path / "app", text, **{"a.c": ""})
    for _ in range(2):
        find(folder)
        assert victim.read_text() == "precious"


@pytest.mark.long
@confined
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("records", "${r}end${r}"),
        ("records", "end${r}"),
        ("records", "begin${f}/${f}x${r}call${f}DeclareCAmkESComponent${r}library${r}end${r}"),
        ("trace.json", '[1]\\n{\\"cmd\\": 1, \\"file\\": 2, \\"args\\": 3, \\"line\\": []}\\n'),
        ("trace.json", '{\\"cmd\\": 1, \\"file\\": 2, \\"args\\": [3], \\"line\\": 1}\\n'),
    ],
)
def test_forged_results(name: str, content: str, tmp_path: Path) -> None:
    text = f'string(ASCII 31 f)\nstring(ASCII 30 r)\nfile(WRITE ${{CMAKE_BINARY_DIR}}/{name} "{content}")'
    find(app(tmp_path, text))  # no exception


@pytest.mark.long
def test_a_tree_of_any_depth_is_stopped_and_removed(tmp_path: Path) -> None:
    program = "import os\nfor _ in range(1500):\n  os.mkdir('ddd')\n  os.chdir('ddd')"
    text = f'execute_process(COMMAND python3 -c "{program}" WORKING_DIRECTORY ${{CMAKE_BINARY_DIR}})'
    build = tmp_path / "build"
    build.mkdir()
    here = os.getcwd()  # noqa: PTH109
    try:
        os.chdir(build)
        exec(program, {})
    finally:
        os.chdir(here)
    assert not Usage(build, 1, 1, 10_000, 10_000).files_within()
    cmake.remove(build)
    assert not build.exists()
    if sandbox.available():
        assert find(app(tmp_path / "app", text)) == (None, ["E0711"])


@pytest.mark.long
@confined
@pytest.mark.parametrize(
    ("limit", "value", "program"),
    [
        ("PROCESSES", 20, "for _ in range(30):\n  if os.fork() == 0: break\ntime.sleep(60)"),
        ("GROUP_MEMORY", 2**28, "os.fork()\nb = bytearray(2**28)\ntime.sleep(60)"),
        ("FILES", 200, "[open(f'f{i}', 'w') for i in range(300)]\ntime.sleep(60)"),
        ("FILES_SIZE", 2**22, "[open(f'f{i}', 'wb').write(bytes(2**20)) for i in range(9)]\ntime.sleep(60)"),
    ],
)
def test_the_limits_count_all_processes_together(
    limit: str, value: int, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cmake, limit, value)
    monkeypatch.setattr(cmake, "TIMEOUT", 600)  # it is not that which stops them
    command = f"import os, time\n{program}"
    text = f"execute_process(COMMAND python3 -c [==[{command}]==] WORKING_DIRECTORY ${{CMAKE_BINARY_DIR}})"
    assert find(app(tmp_path, text)) == (None, ["E0711"])


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_cmakelists_that_is_not_a_regular_file_is_an_error(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    """It is not taken for a folder without one, whose system it may be meant to declare."""
    (tmp_path / "app.camkes").write_text("assembly {}")
    make(tmp_path / "CMakeLists.txt")
    assert find(tmp_path) == (None, ["E0701"])
