# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Queries of the device tree are answered with that of the platform, which a workspace has."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from camkes.project.trees import platform_tree
from camkes.project.workspaces import is_workspace
from tests.command import camkes
from tests.editor.client import Editor
from tests.editor.test_session import session
from tests.written import write_files

pytestmark = pytest.mark.requirement("LANG-14")

#: the rules of a kernel, which know two boards
RULES = """
if(KernelPlatform STREQUAL "board")
    set(KernelDTSList tools/dts/board.dts src/plat/board/overlay.dts)
elseif(NOT KernelPlatform STREQUAL "pc")
    message(FATAL_ERROR "there is no platform ${KernelPlatform}")
endif()
"""
NODE = 'uart: uart@10 { compatible = "a,uart"; reg = <0x10>; };'
BOARD = f"/dts-v1/;\n/ {{ #address-cells = <1>; #size-cells = <0>; {NODE} }};\n"
SYSTEM = """component Uart { hardware; }
assembly {
    composition { component Uart uart; }
    configuration { uart.dtb = dtb({"path" : "uart"}); }
}
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "system.camkes").write_text(SYSTEM)
    files = {
        "kernel/CMakeLists.txt": "",
        "kernel/configs/seL4Config.cmake": RULES,
        "kernel/tools/dts/board.dts": BOARD,
        "kernel/src/plat/board/overlay.dts": '&uart { status = "okay"; };\n',
        "tools/seL4/cmake-tool/helpers/application_settings.cmake": (
            "macro(correct_platform_strings)\nset(KernelPlatform ${PLATFORM})\nendmacro()\n"
        ),
        "tools/camkes-tool/x": "",
        "projects/camkes-tool/x": "",
    }
    return write_files(tmp_path / "workspace", files)


def status_of(workspace: Path) -> list[str]:
    words = ("--workspace", workspace, "-DPLATFORM=board")
    done = camkes("dump", workspace.parent / "system.camkes", *words)
    assert done.status == 0, done.errors
    (node,) = json.loads(done.output)["instances"][0]["settings"]["dtb"]["value"]["query"]
    assert node["compatible"] == ["a,uart"] and node["reg"] == [0x10]
    return list(node["status"])


needs_dtc = pytest.mark.skipif(shutil.which("dtc") is None, reason="there is no dtc")


@needs_dtc
def test_the_tree_of_the_platform(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert status_of(workspace) == ["okay"]
    (workspace / "kernel/src/plat/board/overlay.dts").write_text('&uart { status = "off"; };\n')
    assert status_of(workspace) == ["off"]  # what is kept holds for the same files only
    monkeypatch.setattr("camkes.project.trees._texts", lambda *_: pytest.fail("asked again"))
    assert status_of(workspace) == ["off"]
    monkeypatch.setenv("SEL4_WORKSPACE", str(workspace))
    for command in ("check", "plan", "graph"):
        done = camkes(command, workspace.parent / "system.camkes", "-DPLATFORM=board")
        assert done.status == 0, done.errors


def test_why_there_is_none(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def error(*words: str) -> str:
        done = camkes("check", workspace.parent / "system.camkes", "--workspace", workspace, *words)
        assert done.status == 1 and done.errors.count("error[E0415]") == 1
        assert "Traceback" not in done.errors and "--dtb FILE" in done.errors
        return done.errors

    assert "-D PLATFORM" in error()
    assert "platform `pc` has none" in error("-DPLATFORM=pc")
    assert "there is no platform other" in error("-DPLATFORM=other")
    if shutil.which("dtc") is not None:
        (workspace / "kernel/tools/dts/board.dts").write_text("/dts-v1/; / {\n")
        assert "dtc cannot compile" in error("-DPLATFORM=board")
    (workspace / "kernel/tools/dts/board.dts").unlink()
    assert "board.dts: No such file" in error("-DPLATFORM=board")
    (tmp_path / "bin").mkdir()
    for program in ("cpp", "cmake"):
        (tmp_path / "bin" / program).symlink_to(shutil.which(program) or "none")
    (workspace / "kernel/tools/dts/board.dts").write_text(BOARD)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "dtc, which compiles that of platform `board`, was not found" in error("-DPLATFORM=board")


@needs_dtc
def test_the_platform_of_an_editor(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEL4_WORKSPACE", str(workspace))

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        found.extend(str(each.code) for each in await editor.settled("system.camkes"))

    found: list[str] = []
    session(workspace.parent, script, definitions={"PLATFORM": "board"})
    assert found == []
    session(workspace.parent, script)
    assert found == ["E0415"]


@needs_dtc
@pytest.mark.parametrize("board", ["exynos5422", "tx2", "sabre", "rpi4"])
def test_boards_of_a_workspace(board: str) -> None:
    named = Path(os.environ.get("SEL4_WORKSPACE", "none"))
    if not is_workspace(named):
        pytest.skip("SEL4_WORKSPACE names no workspace")
    assert platform_tree(named, {"PLATFORM": board}).startswith(b"\xd0\x0d\xfe\xed")
