# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A build for seL4 with stand-ins for CMake and ninja."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host import folder
from camkes.backends.sel4 import workspace
from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink

pytestmark = pytest.mark.requirement("SEL4-13")

CMAKE = """#!/bin/sh
echo "$@" >> cmake.calls
: > build.ninja
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An application, an output folder; CMake notes how it was called, ninja has nothing to do."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in {"cmake": CMAKE, "ninja": "#!/bin/sh\n"}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setattr(workspace, "find_cmake", lambda: str(programs / "cmake"))
    monkeypatch.setattr(workspace, "find_ninja", lambda: str(programs / "ninja"))
    return tmp_path / "application", tmp_path / "out"


def build(places: tuple[Path, Path], sink: Sink, **definitions: str) -> bool:
    application, out = places
    return make(out.parent, application, out, definitions, sink, lambda _: None)


def test_other_definitions_begin_anew(places: tuple[Path, Path]) -> None:
    """What an earlier command defined must not stay in CMake's cache."""
    sink = Sink()
    assert build(places, sink, KernelIsMCS="ON") and build(places, sink, KernelIsMCS="ON")
    assert build(places, sink)
    calls = (places[1] / "cmake.calls").read_text().splitlines()
    assert ["-DKernelIsMCS=ON" in call for call in calls] == [True, False]
    assert all("--fresh" in call.split() for call in calls)


def test_programs_are_those_of_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what a search path happens to have, which need not have them."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(workspace, "APPLICATION", tmp_path)
    (tmp_path / "settings.cmake").touch()
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\n"
        "add_custom_target(made ALL COMMAND ${CMAKE_COMMAND} -E touch made)\n"
    )
    sink = Sink()
    assert build((tmp_path, tmp_path / "out"), sink), sink.diagnostics
    assert (tmp_path / "out" / "made").exists()


def test_a_missing_program_is_named(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "find_cmake", lambda: None)
    sink = Sink()
    assert not build(places, sink)
    assert [found.message for found in sink.diagnostics] == ["cmake was not found"]


def test_another_version_of_the_tool_begins_anew(places: tuple[Path, Path]) -> None:
    """Commands of the version before may be gone."""
    tool = places[1].parent / "projects" / "camkes-tool"
    (tool / "kernel" / "sel4" / "application").mkdir(parents=True)
    (tool / "cmake").mkdir()
    for text in ("first", "first", "second"):
        (tool / "cmake" / "generate.cmake").write_text(text)
        assert build(places, Sink())
    assert len((places[1] / "cmake.calls").read_text().splitlines()) == 2


def test_one_build_at_a_time_in_a_folder(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_WAIT", 0)
    sink = Sink()
    with folder.locked(places[1], lambda _: None):
        assert not build(places, sink)
    assert "another camkes command is building in" in sink.diagnostics[0].message
    assert not (places[1] / "cmake.calls").exists()
    assert build(places, Sink())


def test_a_message_of_the_kernel_does_not_divide_a_line(tmp_path: Path) -> None:
    message = "\x1b[0m\x1b[1m<<seL4: no capability>>\x1b[0m\n"
    printed = f"one\n~ 1 {message}{message}2\n{message}end"
    (tmp_path / "simulate").write_text(f"print({printed!r}, end='')\n")
    assert list(console(tmp_path)) == ["one\n", message, message, "~ 1 2\n", message, "end"]
