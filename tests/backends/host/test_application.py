# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What an application is built from, read from its CMakeLists.txt or seen in its folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from camkes import pipeline
from camkes.backends.host.sources import build_of
from camkes.diagnostics import Sink
from camkes.project.application import Application, find_application, surrounding_applications
from camkes.project.builds import ComponentBuild
from camkes.project.codes import MISSING_FILE
from tests.written import write_files

pytestmark = pytest.mark.requirement("LANG-26")


def find(folder: Path, **how: Any) -> tuple[Application | None, list[str]]:
    sink = Sink()
    found = find_application(folder, sink, **how)
    return found, [d.code.number for d in sink.diagnostics]


def good(folder: Path, **how: Any) -> Application:
    found, codes = find(folder, **how)
    assert codes == []
    assert found is not None
    return found


BASIC = """
cmake_minimum_required(VERSION 3.16)
project(demo C)
declareCAMKEScomponent(Client SOURCES src/client.c
    INCLUDES include  # a comment
    C_FLAGS -DN=3 -O3 LIBS m)
DeclareCAmkESRootserver(demo.camkes CPP_FLAGS -DX=1 CPP_INCLUDES defs)
"""
BASIC_FILES = {"src/client.c": "", "demo.camkes": "", "include/a.h": "", "defs/b.h": ""}


def test_declarations(tmp_path: Path) -> None:
    write_files(tmp_path, {"CMakeLists.txt": BASIC, **BASIC_FILES})
    found = good(tmp_path)
    assert found.root == tmp_path / "demo.camkes"
    assert found.name == "demo"
    assert found.cpp_flags == ("-DX=1",)
    assert found.cpp_includes == (tmp_path / "defs",)
    build = found.components["Client"]
    assert build.sources == (tmp_path / "src/client.c",)
    assert build.c_flags == ("-DN=3", "-O3")
    assert build.libs == ("m",)


LANGUAGE = """
project(demo)
set(names a b)
list(APPEND names "c d")
set(flags "")
foreach(n IN LISTS names)
    string(APPEND flags "-D${n};")
endforeach()
if(NOT KernelArch STREQUAL "nonesuch" AND (DEFINED names OR FALSE))
    set(chosen yes.c)
elseif(TRUE)
    set(chosen no.c)
else()
    set(chosen never.c)
endif()
function(one name)
    DeclareCAmkESComponent(${name} SOURCES ${ARGN})
    set(result ${name} PARENT_SCOPE)
endfunction()
macro(two name)
    DeclareCAmkESComponent(${name} SOURCES ${ARGN} C_FLAGS ${flags})
endmacro()
one(One ${chosen})
two(Two "${CMAKE_CURRENT_LIST_DIR}/two.c" ${CMAKE_CURRENT_SOURCE_DIR}/three.c)
file(GLOB all globbed/*.c)
get_filename_component(stem "${CMAKE_CURRENT_LIST_FILE}" NAME_WE)
DeclareCAmkESComponent(${result}${stem} SOURCES ${all})
ExtendCAmkESComponentInstance(One one INCLUDES extra C_FLAGS -DLAST)
CAmkESAddImportPath(imports)
CAmkESMaybeAddImportPath(${CMAKE_CURRENT_LIST_DIR}/nowhere)
CAmkESAddTemplatesPath(templates)
DeclareCAmkESConnector(Mine FROM mine-from.c TO mine-to.c TO_LIBS m)
add_subdirectory(inner)
include(more.cmake)
include(absent.cmake OPTIONAL)
set(CAmkESDefaultPriority 100 CACHE STRING "")
DeclareCAmkESRootserver(demo.camkes)
GenerateCAmkESRootserver()
"""
LANGUAGE_FILES = {
    "CMakeLists.txt": LANGUAGE,
    "demo.camkes": "",
    "yes.c": "",
    "two.c": "",
    "three.c": "",
    "globbed/y.c": "",
    "globbed/x.c": "",
    "inner/CMakeLists.txt": "DeclareCAmkESComponent(Inner SOURCES in.c)\nset(chosen other)\n",
    "inner/in.c": "",
    "more.cmake": "add_library(extra INTERFACE)\ntarget_include_directories(extra INTERFACE inc)\n",
}


@pytest.mark.long
def test_the_language(tmp_path: Path) -> None:
    found = good(write_files(tmp_path, LANGUAGE_FILES))
    assert found.components["One"].sources == (tmp_path / "yes.c",)
    assert found.components["Two"].sources == (tmp_path / "two.c", tmp_path / "three.c")
    assert found.components["Two"].c_flags == ("-Da", "-Db", "-Dc d")
    assert found.components["OneCMakeLists"].sources == (tmp_path / "globbed/x.c", tmp_path / "globbed/y.c")
    assert found.components["Inner"].sources == (tmp_path / "inner/in.c",)
    build = found.build_of("One", "one", tmp_path / "demo.camkes")
    assert build is not None
    assert build.includes == (tmp_path / "extra",)
    assert build.c_flags == ("-DLAST",)
    assert found.import_paths == (tmp_path / "imports",)
    assert found.template_paths == (tmp_path / "templates",)
    assert found.connectors["Mine"].templates == {"FROM": "mine-from.c", "TO": "mine-to.c"}
    assert found.libraries["extra"].includes == (tmp_path / "inc",)
    assert found.options["CAmkESDefaultPriority"] == "100"


@pytest.mark.long
def test_regular_expressions_and_functions_are_those_of_cmake(tmp_path: Path) -> None:
    text = BASIC + 'string(REGEX MATCH "[a-z]+" word "12ab")\nDeclareCAmkESComponent(C${word})\n'
    write_files(tmp_path, {"CMakeLists.txt": text, **BASIC_FILES})
    assert set(good(tmp_path).components) == {"Client", "Cab"}


@pytest.mark.long
def test_an_unknown_cmake_command_is_an_error_at_its_line(tmp_path: Path) -> None:
    text = BASIC + "\nBakeRumprun(x)\n"
    write_files(tmp_path, {"CMakeLists.txt": text, **BASIC_FILES})
    sink = Sink()
    assert find_application(tmp_path, sink) is None
    (diagnostic,) = sink.diagnostics
    assert diagnostic.code.number == "E0703"
    assert "BakeRumprun" in diagnostic.message
    assert diagnostic.span is not None
    assert diagnostic.span.file.lines[diagnostic.span.line - 1] == "BakeRumprun(x)"


@pytest.mark.mostly_long("DeclareCAmkESComponent(A SOURCES a.c-E0702")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("DeclareCAmkESComponent(A SOURCES a.c", "E0702"),
        ("if(TRUE)\n", "E0702"),
        ('message("x)', "E0702"),
        ("message(FATAL_ERROR only on sabre)", "E0704"),
        ("DeclareCAmkESComponent(A a.c)", "E0706"),
        ("DeclareCAmkESComponent()", "E0706"),
        ("DeclareCAmkESRootserver(demo.camkes)", "E0707"),
        ("DeclareCAmkESComponent(A SOURCES nowhere.c)", "E0708"),
        ("message(WARNING careful)", "W0705"),
    ],
)
def test_mistakes_are_diagnostics_at_their_line(tmp_path: Path, text: str, code: str) -> None:
    write_files(tmp_path, {"CMakeLists.txt": BASIC + text, **BASIC_FILES})
    sink = Sink()
    found = find_application(tmp_path, sink)
    if found is not None:
        found.report_missing(MISSING_FILE, sink)
    (diagnostic,) = sink.diagnostics
    assert diagnostic.code.number == code
    assert diagnostic.span is not None
    assert diagnostic.span.line == BASIC.count("\n") + 1


@pytest.mark.long
@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "folder", "device"]
)
@pytest.mark.parametrize(
    "text",
    ["DeclareCAmkESComponent(A SOURCES never.c)", "add_library(l STATIC never.c)"],
    ids=["own", "library"],
)
def test_sources_that_a_compiler_could_read_for_ever(
    text: str, make: Callable[[Path], None], tmp_path: Path
) -> None:
    write_files(tmp_path, {"CMakeLists.txt": BASIC + text, **BASIC_FILES})
    make(tmp_path / "never.c")
    sink = Sink()
    found = find_application(tmp_path, sink)
    if found is not None:
        found.report_missing(MISSING_FILE, sink)
    assert [d.message for d in sink.diagnostics] == ["never.c is not a file"]


@pytest.mark.long
def test_no_application(tmp_path: Path) -> None:
    assert find(tmp_path) == (None, ["E0701"])
    assert find(tmp_path / "nowhere") == (None, ["E0701"])
    write_files(tmp_path, {"CMakeLists.txt": "project(x)"})
    assert find(tmp_path) == (None, ["E0701"])


def test_a_lone_file_is_an_application(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.camkes": "", "components/Client/src/one.c": "", "server.c": ""})
    found = good(tmp_path / "a.camkes")
    client = found.build_of("Client", "c", tmp_path / "a.camkes")
    server = found.build_of("Server", "s", tmp_path / "a.camkes")
    assert client is not None
    assert client.sources == (tmp_path / "components/Client/src/one.c",)
    assert server is not None
    assert server.sources == (tmp_path / "server.c",)
    assert found.build_of("Other", "o", tmp_path / "a.camkes") is None


@pytest.mark.long
def test_a_lone_file_that_cmake_declares_is_that_application(tmp_path: Path) -> None:
    write_files(tmp_path, {"CMakeLists.txt": BASIC, **BASIC_FILES, "x.camkes": ""})
    assert good(tmp_path / "demo.camkes").components
    assert not good(tmp_path / "x.camkes").components


def test_two_components_find_their_own_sources(tmp_path: Path) -> None:
    """A component that is declared in a folder of its name has its sources there."""
    write_files(tmp_path, {"a.camkes": "", "parts/Echo/Echo.camkes": "", "parts/Echo/src/e.c": ""})
    found = good(tmp_path / "a.camkes")
    build = found.build_of("Echo", "e", tmp_path / "parts/Echo/Echo.camkes")
    assert build is not None
    assert build.sources == (tmp_path / "parts/Echo/src/e.c",)


def test_files_are_named_by_the_words_of_a_component(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"a.camkes": "", "alarm_panel.c": "", "tests/can_bus/src/x.c": "", "include/a.h": ""}
    )
    found = good(tmp_path / "a.camkes")
    panel = found.build_of("AlarmPanel", "p", tmp_path / "a.camkes")
    bus = found.build_of("CANBus", "b", tmp_path / "tests/t.camkes")
    assert panel is not None and panel.sources == (tmp_path / "alarm_panel.c",)
    assert bus is not None and bus.sources == (tmp_path / "tests/can_bus/src/x.c",)


def test_headers_of_all_components(tmp_path: Path) -> None:
    """Those that are declared, and those near a folder, for components of tests."""
    declared = {"A": ComponentBuild(includes=(tmp_path / "a/api",)), "B": ComponentBuild()}
    write_files(tmp_path, {"include/x.h": "", "tests/x.c": ""})
    found = Application(tmp_path / "a.camkes", "a", tmp_path, components=declared)
    places = (tmp_path / "tests", tmp_path / "include", tmp_path, tmp_path / "a/api")
    assert found.headers_of_all(tmp_path / "tests") == places


COMPOSITE = """
component Inner { include "point.h"; maybe dataport Point_t place; }
component Box {
    include "point.h";
    maybe dataport Point_t outside;
    composition { component Inner inner; export inner.place -> outside; }
}
assembly { composition { component Box box; } }
"""


def test_a_component_without_code_finds_headers(tmp_path: Path) -> None:
    """Those of the types of dataports that it exports."""
    write_files(tmp_path, {"a.camkes": COMPOSITE, "point.h": "typedef int Point_t;"})
    sink = Sink()
    checked = pipeline.check(pipeline.Input(tmp_path / "a.camkes", preprocess=False), sink)
    assert checked is not None, sink.diagnostics
    for instance in checked.system.instances:
        assert build_of(checked.application, instance, sink).includes == (tmp_path,)
    assert not sink.has_errors


SYSTEM = "assembly { composition { component C c; } }"


def test_a_folder_with_one_system_is_that_system(tmp_path: Path) -> None:
    parts = "component C { control; } // assembly { }\n/* assembly { } */"
    folder = write_files(tmp_path, {"parts.camkes": parts, "main.camkes": f'import "parts.camkes"; {SYSTEM}'})
    assert good(folder).root == folder / "main.camkes"


def test_a_folder_with_two_systems_asks_which(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"a.camkes": SYSTEM, "b.camkes": SYSTEM.replace("assembly", "assembly B")})
    sink = Sink()
    assert find_application(folder, sink) is None
    (said,) = sink.diagnostics
    assert said.notes == ("a.camkes", "b.camkes")
    assert said.help == f"write for example {folder / 'a.camkes'}"


def test_a_folder_without_a_system(tmp_path: Path) -> None:
    assert find(write_files(tmp_path, {"a.camkes": "component C { control; }"})) == (None, ["E0701"])


def test_a_file_is_not_of_a_system_far_above(tmp_path: Path) -> None:
    """A folder with many people's files, such as /tmp, is not read because a file is somewhere below."""
    part = tmp_path / "a" / "b" / "c" / "part.camkes"
    part.parent.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "a"):
        (folder / f"{folder.name}.camkes").write_text("assembly { composition { } }\n")
    assert [found.root.name for found in surrounding_applications(part, may_ask=True)] == ["a.camkes"]
    (tmp_path / ".git").mkdir()
    names = [found.root.name for found in surrounding_applications(part, may_ask=True)]
    assert names == ["a.camkes", f"{tmp_path.name}.camkes"]
