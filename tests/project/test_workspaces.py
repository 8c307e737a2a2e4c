# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Applications that need packages of an seL4 workspace are read with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.project.application import find_application, surrounding_applications
from camkes.project.workspaces import workspace_variables
from tests.command import camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("LANG-26")

PACKAGE = """set(PARTS_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE STRING "")
set(PARTS_HELPERS_PATH "${CMAKE_CURRENT_LIST_DIR}/helpers.cmake" CACHE STRING "")
macro(pump_parts_import_project)
    CAmkESAddImportPath(${PARTS_DIR}/components nowhere)
endmacro()
"""
HELPERS = """function(DeclarePump name)
    DeclareCAmkESComponent(${name} SOURCES ${ARGN} C_FLAGS -DBOARD=${KernelARMPlatform})
endfunction()
"""
PART = "component Pump { control; }\n"
LISTS = """cmake_minimum_required(VERSION 3.16)
project(app C)
include(${PARTS_HELPERS_PATH})
DeclarePump(Pump pump.c)
DeclareCAmkESRootserver(app.camkes)
"""
SYSTEM = "import <Pump.camkes>;\nassembly { composition { component Pump pump; } }\n"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A workspace, and an application outside of it."""
    workspace = write_files(
        tmp_path / "workspace",
        {
            "kernel/CMakeLists.txt": "",
            "kernel/src/plat/board/config.cmake": 'declare_platform(board Board P "KernelArchARM")\n',
            "tools/seL4/cmake-tool/x": "",
            "tools/camkes-tool/x": "",
            "projects/camkes-tool/x": "",
            "projects/camkes-tool/Findcamkes-tool.cmake": 'message(FATAL_ERROR "not to be read")',
            "projects/parts/Findpump-parts.cmake": PACKAGE,
            "projects/parts/helpers.cmake": HELPERS,
            "projects/parts/components/Pump.camkes": PART,
        },
    )
    files = {"CMakeLists.txt": LISTS, "app.camkes": SYSTEM, "pump.c": "int run(void) { return 0; }\n"}
    return workspace, write_files(tmp_path / "app", files)


def test_without_a_workspace_one_error_names_the_way(folders: tuple[Path, Path]) -> None:
    done = camkes("check", folders[1])
    assert done.status == 1 and done.errors.count("error[") == 1
    assert "CMakeLists.txt:3" in done.errors and "--workspace DIR or SEL4_WORKSPACE" in done.errors


def test_packages_of_the_workspace(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, folder = folders
    done = camkes("check", folder, "--workspace", workspace)
    assert (done.status, done.errors) == (0, "") and "good: 1 instance" in done.output
    monkeypatch.setenv("SEL4_WORKSPACE", str(workspace))
    for command in ("check", "plan", "graph"):
        assert camkes(command, folder).status == 0
    sink = Sink()
    found = find_application(folder, sink, {"PLATFORM": "board", "AARCH64": "ON"})
    assert found is not None and not sink.diagnostics
    assert found.components["Pump"].c_flags == ("-DBOARD=board",)
    (around,) = surrounding_applications(folder / "app.camkes", may_ask=True)  # as an editor looks for it
    assert workspace / "projects/parts/components" in around.import_paths


def test_platforms(folders: tuple[Path, Path]) -> None:
    workspace, _ = folders

    def words(**definitions: str) -> str:
        found = workspace_variables(workspace, definitions)
        return " ".join(found.get(name, "-") for name in ("KernelArch", "KernelSel4Arch", "KernelPlatform"))

    assert words(PLATFORM="board") == "arm aarch32 board"
    assert words(PLATFORM="board", AARCH64="TRUE") == "arm aarch64 board"
    assert words(PLATFORM="x86_64") == "x86 x86_64 pc99"
    assert words() == words(PLATFORM="other") == "- - -"


def test_a_component_that_a_connector_serves_needs_no_sources(tmp_path: Path) -> None:
    """From its library everything may come, from its template the methods of the interface."""
    lists = """cmake_minimum_required(VERSION 3.16)
project(app C)
add_library(code STATIC code.c)
DeclareCAmkESComponent(Client SOURCES client.c)
DeclareCAmkESConnector(Wire FROM a.c TO b.c %s)
DeclareCAmkESRootserver(app.camkes)
"""
    system = """procedure P { void f(); }
connector Wire { from Procedure; to Procedure; }
component Client { control; uses P p; }
component Server { %s provides P p; }
assembly { composition { component Client c; component Server s; connection Wire w(from c.p, to s.p); } }
"""
    files = {"client.c": "int run(void) { return 0; }\n", "code.c": "int x;\n"}
    cases = (
        ("TO_LIBS code", "", 0),
        ("TO_LIBS code", "control;", 0),
        ("", "", 0),
        ("", "control;", 1),
        ("", "provides P q;", 1),
    )
    for number, (libraries, more, status) in enumerate(cases):
        texts = {"CMakeLists.txt": lists % libraries, "app.camkes": system % more}
        folder = write_files(tmp_path / str(number), {**files, **texts})
        done = camkes("check", folder)
        assert (done.status, "E0714" in done.errors) == (status, status == 1), done.errors


def test_a_board_has_the_variables_of_its_family(tmp_path: Path) -> None:
    plat = "kernel/src/plat"
    files = {
        f"{plat}/solo/config.cmake": "declare_platform(solo Solo SOLO KernelSel4ArchAarch64)\n",
        f"{plat}/other/config.cmake": "declare_platform(other Other OTHER KernelArchRiscV) # unlike right\n",
        f"{plat}/twins/config.cmake": "# one declare_platform() for both boards\n"
        "declare_platform(twins Twins TWINS KernelSel4ArchAarch32)\n"
        "set(plat_lists left right)\n",
    }
    workspace = write_files(tmp_path, files)
    for platform, family, architecture in (("solo", "solo", "aarch64"), ("right", "twins", "aarch32")):
        found = workspace_variables(workspace, {"PLATFORM": platform})
        assert (found["KernelPlatform"], found["KernelARMPlatform"]) == (family, platform)
        assert (found["KernelArch"], found["KernelSel4Arch"]) == ("arm", architecture)
    assert "KernelPlatform" not in workspace_variables(workspace, {"PLATFORM": "brigh"})
