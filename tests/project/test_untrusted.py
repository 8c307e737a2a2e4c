# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a stranger's folder can and cannot do when it is read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from camkes import sandbox
from camkes.diagnostics import Sink
from camkes.project import cmake
from camkes.project.application import find_application
from camkes.project.flags import COMPILING, PREPROCESSING, sifted
from tests.project.support import HEAD, ROOT, Asked, app, find

pytestmark = pytest.mark.requirement("TOOL-23")

confined = pytest.mark.skipif(not sandbox.available(), reason="this machine has no sandbox")


@pytest.mark.mostly_long("execute_process(COMMAND truncate -s 0 {victim})")
@confined
@pytest.mark.parametrize(
    "command",
    [
        "file(WRITE {victim} changed)",
        "file(APPEND {victim} changed)",
        "file(REMOVE {victim})",
        "file(RENAME {victim} {victim}.old)",
        'execute_process(COMMAND sh -c "echo changed > {victim}")',
        "execute_process(COMMAND chmod 0 {victim})",
        "execute_process(COMMAND touch -d 2000-01-01 {victim})",
        "execute_process(COMMAND ln {victim} other)\nfile(WRITE ${{CMAKE_BINARY_DIR}}/other changed)",
        "execute_process(COMMAND truncate -s 0 {victim})",
        "configure_file({victim} {victim}.copy)",
        "file(MAKE_DIRECTORY {victim}.folder)",
    ],
)
def test_no_file_is_written_outside_the_scratch_folder(command: str, tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    victim = folder / "victim"
    victim.write_text("precious")
    before = victim.stat()
    find(app(tmp_path / "app", command.format(victim=victim)))
    assert [path.name for path in folder.iterdir()] == ["victim"]
    after = victim.stat()
    assert victim.read_text() == "precious"
    assert (after.st_mode, after.st_mtime_ns, after.st_nlink) == (before.st_mode, before.st_mtime_ns, 1)


@pytest.mark.long
@confined
def test_no_network_and_no_other_processes(tmp_path: Path) -> None:
    other = subprocess.Popen(["sleep", "100"])
    try:
        text = (
            'execute_process(COMMAND python3 -c "import socket; socket.socket()" RESULT_VARIABLE s'
            " ERROR_QUIET)\n"
            f"execute_process(COMMAND kill -9 {other.pid} ERROR_QUIET)\n"
            "DeclareCAmkESComponent(A C_FLAGS -DS=${s})"
        )
        found, _ = find(app(tmp_path, text))
        assert found is not None and found.components["A"].c_flags == ("-DS=1",)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_secrets_are_not_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMKES_SECRET", "x1")
    monkeypatch.setenv("CAMKES_NAMED", "x2")
    text = (
        'execute_process(COMMAND env OUTPUT_VARIABLE e)\nif(e MATCHES "x1")\nset(s seen)\nendif()\n'
        "DeclareCAmkESComponent(A C_FLAGS -D${s} -D$ENV{CAMKES_NAMED})"
    )
    found, _ = find(app(tmp_path, text))
    assert found is not None and found.components["A"].c_flags == ("-D", "-Dx2")


@pytest.mark.long
def test_flags_that_run_or_write_are_refused_and_not_handed_on(tmp_path: Path) -> None:
    refused = "-wrapper -fplugin=x -B. @file -o -x -fpass-plugin=x"
    for flag in refused.split():
        (tmp_path / "CMakeLists.txt").write_text(
            f"{HEAD}DeclareCAmkESRootserver(app.camkes CPP_FLAGS -DX {flag} y)\n"
        )
        (tmp_path / "app.camkes").write_text("")
        found, codes = find(tmp_path)
        assert codes[:1] == ["E0717"], flag
        assert found is not None and found.cpp_flags == ("-DX",), flag


@pytest.mark.parametrize(
    "flags",
    [
        "-DX=1",
        "-D X",
        "-UX",
        "-Iinclude",
        "-I include",
        "-include a.h",
        "-isystem a",
        "-iquote a",
        "-std=c11",
        "-nostdinc",
        "-undef",
        "-P",
        "-C",
        "-Wall",
        "-m32",
    ],
)
def test_usual_flags_pass(flags: str) -> None:
    assert sifted(flags.split(), PREPROCESSING) == (tuple(flags.split()), (), ())


@pytest.mark.parametrize(
    "flag",
    [
        "-dumpbase",
        "-fdump-tree-all=x",
        "-fprofile-use=x",
        "-x",
        "-T",
        "-MF",
        "-aux-info",
        "-fpass-plugin=x",
        "-include",
        "-D",
    ],
)
def test_flags_that_are_not_on_the_list_are_refused(flag: str) -> None:
    assert sifted([flag], COMPILING) == ((), (), (flag,))


@pytest.mark.parametrize(
    "flag",
    [
        "-fstack-usage",
        "-fcallgraph-info=su",
        "-save-temps=obj",
        "-gsplit-dwarf",
        "-MMD",
        "-MF a.d",
        "-MTa.o",
        "-Wp,-MD,a.d",
        "-flto=auto",
        "-fno-lto",
        "-ffile-prefix-map=/a=b",
        "-Wl,-o,x",
        "-Wa,-a=x",
        "-T linker.ld",
        "-Xlinker -x",
        "-Xclang -load",
        "-fuse-ld=x",
        "-static",
        "--sysroot=/x",
        "-specs=nosys.specs",
        "-target aarch64-none-elf",
        "--coverage",
    ],
)
def test_flags_that_change_nothing_here_are_left_out(flag: str) -> None:
    found = sifted(["-DX", *flag.split(), "-O2"], COMPILING)
    assert (found.used, found.refused) == (("-DX", "-O2"), ())
    assert [(name, bool(why)) for name, why in found.left_out] == [(flag, True)]


def test_a_flag_of_another_processor_is_left_out() -> None:
    flags = ["-mcpu=there", "-mhere", "-DX"]
    found = sifted(flags, COMPILING, lambda flag: flag == "-mhere")
    assert found.used == ("-mhere", "-DX") and found.left_out[0][0] == "-mcpu=there" and not found.refused


@pytest.mark.parametrize("flags", ["-MF @file", "-Xlinker @file", "-T @file"])
def test_a_file_of_flags_is_refused_after_what_is_left_out(flags: str) -> None:
    assert sifted(flags.split(), COMPILING).refused == tuple(flags.split())


@pytest.mark.long
def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    """In a comment they are ignored; in a command's name they are an error at its line."""
    (tmp_path / "app.camkes").write_text("")
    lists = tmp_path / "CMakeLists.txt"
    lists.write_bytes(HEAD.encode() + b"# caf\xe9\n" + ROOT.encode())
    assert find(tmp_path)[1] == []
    lists.write_bytes(HEAD.encode() + b"mess\xe9ge(x)\n" + ROOT.encode())
    sink = Sink()
    assert find_application(tmp_path, sink) is None
    assert [(d.code.number, d.span.line if d.span else 0) for d in sink.diagnostics][:1] == [("E0702", 3)]
    lists.write_bytes(HEAD.encode() + b"DeclareCAmkESComponent(A SOURCES caf\xe9.c)\n" + ROOT.encode())
    (tmp_path / os.fsdecode(b"caf\xe9.c")).write_text("")
    found, codes = find(tmp_path)
    assert found is not None and codes == []
    assert os.fsencode(found.components["A"].sources[0].name) == b"caf\xe9.c"


def test_trust_is_for_a_folder_and_all_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from camkes.project import trust

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CAMKES_SANDBOX", "0")
    folder = app(tmp_path / "work" / "app", "")
    beside = app(tmp_path / "worker", "")
    assert find(folder)[1] == ["E0712"]
    trust.add(tmp_path / "work")
    assert find(folder)[1] == []
    assert find(beside)[1] == ["E0712"]


def test_a_folder_that_is_not_trusted_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by CMake nor by a command of it, nor is an answer there the next time."""
    from camkes.project import trust

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CAMKES_SANDBOX", "0")
    asked = Asked()
    monkeypatch.setattr(cmake, "ask", asked)
    ran = tmp_path / "ran"
    folder = app(tmp_path / "app", f"file(TOUCH {ran})\nexecute_process(COMMAND touch {ran})")
    for _ in range(2):
        assert find(folder) == (None, ["E0712"])
        assert (asked.times, ran.exists()) == (0, False)
    trust.add(folder)
    found, codes = find(folder)
    assert (found is not None, codes, asked.times, ran.exists()) == (True, [], 1, True)
