# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How the sources of components and libraries are compiled: compared with what CMake itself writes into
compile_commands.json for the same text, where components are executables."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from camkes.backends.host.sources import with_libraries
from camkes.diagnostics import Sink
from camkes.project import cmake
from camkes.project.application import Application, find_application
from camkes.project.cmake import find_cmake, find_ninja
from camkes.project.codes import CMAKE_FAILED, MISSING_FILE, MISSING_SOURCE
from tests.project.support import app, find
from tests.written import write_files

pytestmark = pytest.mark.requirement("LANG-26")

#: Each declares component @ and what belongs to it; its name takes the place of @.
CONSTRUCTS = {
    "plain": "DeclareCAmkESComponent(@ SOURCES @.c INCLUDES inc C_FLAGS -DOWN)",
    "static": (
        "add_library(l@ STATIC l@.c)\ntarget_compile_definitions(l@ PRIVATE P PUBLIC Q INTERFACE R)\n"
        "target_include_directories(l@ PRIVATE priv PUBLIC pub INTERFACE inc)\n"
        "target_compile_options(l@ PRIVATE -Wshadow PUBLIC -Wextra)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "object": (
        "add_library(l@ OBJECT l@.c)\ntarget_compile_definitions(l@ PRIVATE P PUBLIC Q)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "objects": (
        "add_library(l@ OBJECT l@.c)\ntarget_compile_definitions(l@ PRIVATE P PUBLIC Q)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c $<TARGET_OBJECTS:l@>)"
    ),
    "interface": (
        "add_library(l@ INTERFACE)\ntarget_sources(l@ INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/l@.c)\n"
        "target_compile_options(l@ INTERFACE -Wshadow)\nDeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "private_link": (
        "add_library(m@ STATIC m@.c)\ntarget_compile_definitions(m@ PUBLIC M)\nadd_library(l@ STATIC l@.c)\n"
        "target_link_libraries(l@ PRIVATE m@)\ntarget_compile_definitions(l@ INTERFACE L)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "public_link": (
        "add_library(m@ STATIC m@.c)\ntarget_compile_definitions(m@ PUBLIC M)\nadd_library(l@ STATIC l@.c)\n"
        "target_link_libraries(l@ PUBLIC m@)\nDeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "alias": (
        "add_library(l@ STATIC l@.c)\nadd_library(a::@ ALIAS l@)\ntarget_compile_definitions(l@ PUBLIC L)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS a::@)"
    ),
    "system_folder": (
        "add_library(l@ STATIC l@.c)\ntarget_include_directories(l@ SYSTEM PUBLIC priv)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c INCLUDES inc LIBS l@)"
    ),
    "source_properties": (
        'set_source_files_properties(@.c PROPERTIES COMPILE_FLAGS "-DF -Wshadow" COMPILE_OPTIONS -Wextra\n'
        'COMPILE_DEFINITIONS "D;E=\\"q u\\"" INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/priv)\n'
        "DeclareCAmkESComponent(@ SOURCES @.c l@.c C_FLAGS -DOWN)"
    ),
    "source_property_later": (
        "DeclareCAmkESComponent(@ SOURCES @.c l@.c)\n"
        "set_property(SOURCE l@.c APPEND PROPERTY COMPILE_DEFINITIONS X)"
    ),
    "source_property_of_a_library": (
        "add_library(l@ STATIC l@.c m@.c)\nset_source_files_properties(l@.c PROPERTIES COMPILE_OPTIONS -DX)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "expressions": (
        "add_library(l@ STATIC l@.c)\n"
        "target_compile_options(l@ PUBLIC $<$<COMPILE_LANGUAGE:C>:-DC> $<$<COMPILE_LANGUAGE:CXX>:-DX>\n"
        "$<$<CONFIG:Debug>:-DDEBUG>)\ntarget_compile_definitions(l@ PUBLIC $<IF:$<BOOL:ON>,YES,NO>\n"
        "NAME=$<TARGET_PROPERTY:l@,TYPE>)\nDeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "standard": (
        "add_library(l@ STATIC l@.c)\nset_target_properties(l@ PROPERTIES C_STANDARD 99 COMPILE_FLAGS -DF)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "features": (
        "add_library(l@ STATIC l@.c)\ntarget_compile_features(l@ PUBLIC c_std_99)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "cxx": "DeclareCAmkESComponent(@ SOURCES @.c @.cc C_FLAGS -DC CXX_FLAGS -DX)",
    "language": (
        "DeclareCAmkESComponent(@ SOURCES @.c l@.c @.cc C_FLAGS -DC CXX_FLAGS -DX)\n"
        "set_source_files_properties(l@.c PROPERTIES LANGUAGE CXX)\n"
        "set_source_files_properties(@.cc PROPERTIES LANGUAGE C)"
    ),
    "flags_of_languages": ("DeclareCAmkESComponent(@ SOURCES @.c @.cc @.S C_FLAGS -DC CXX_FLAGS -DX)\n"),
    "library_by_an_expression": (
        "add_library(l@ STATIC l@.c)\ntarget_compile_definitions(l@ PUBLIC L PRIVATE P)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS $<$<BOOL:ON>:l@> $<$<BOOL:OFF>:none>)"
    ),
    "library_linked_as_a_whole": (
        "add_library(l@ STATIC l@.c)\ntarget_compile_definitions(l@ PUBLIC L)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS $<LINK_LIBRARY:WHOLE_ARCHIVE,l@>)"
    ),
    "strict_standard": (
        "add_library(l@ STATIC l@.c)\n"
        "set_target_properties(l@ PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c LIBS l@)"
    ),
    "function_and_list": (
        "function(make_@ name)\nDeclareCAmkESComponent(${name} ${ARGN})\nendfunction()\n"
        'set(sources_@ @.c;l@.c)\nmake_@(@ SOURCES ${sources_@} C_FLAGS "-DS=\\"a b\\"" [[-DT=\'x\']])'
    ),
    "repeated_flags": (
        "DeclareCAmkESComponent(@ SOURCES @.c C_FLAGS -DX -fno-builtin -include a.h -fno-common\n"
        "-fno-builtin -DX"
        ' "SHELL:-include b.h" "SHELL:-include c.h" "SHELL:-include c.h" -isystem inc)'
    ),
    "assembler": (
        "DeclareCAmkESComponent(@ SOURCES @.c @.S)\n"
        "set_source_files_properties(@.S PROPERTIES COMPILE_DEFINITIONS S)"
    ),
    "outside": (
        "add_subdirectory(../outside outside)\nDeclareCAmkESComponent(@ SOURCES @.c LIBS outside_library)"
    ),
    "subfolder": "add_subdirectory(sub)\nDeclareCAmkESComponent(@ SOURCES @.c INCLUDES sub LIBS sub_library)",
    "configured": (
        "configure_file(@.h.in ${CMAKE_CURRENT_BINARY_DIR}/inc_@/@.h)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c INCLUDES ${CMAKE_CURRENT_BINARY_DIR}/inc_@)"
    ),
    "probed": (
        "include(CheckIncludeFile)\ncheck_include_file(stdio.h @_STDIO)\ncheck_include_file(none.h @_NONE)\n"
        "include(CheckCSourceCompiles)\ncheck_c_source_compiles([[int main(void) { return x; }]] @_BAD)\n"
        "try_compile(@_TRIED ${CMAKE_CURRENT_BINARY_DIR}/tried SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/main.c)\n"
        "include(CheckCSourceRuns)\ncheck_c_source_runs([[int main(void) { return 0; }]] @_RUN)\n"
        "DeclareCAmkESComponent(@ SOURCES @.c C_FLAGS"
        " -DSTDIO=0${@_STDIO} -DNONE=0${@_NONE} -DBAD=0${@_BAD} -DTRIED=${@_TRIED} -DRUN=${@_RUN})"
    ),
    "toolchain_of_the_workstation": (
        "DeclareCAmkESComponent(@ SOURCES @.c C_FLAGS -DID=${CMAKE_C_COMPILER_ID}\n"
        "-DVERSION=${CMAKE_C_COMPILER_VERSION} -DPOINTER=${CMAKE_SIZEOF_VOID_P})"
    ),
}
_FOLDER = "include_directories(of_all)\nadd_compile_definitions(OF_ALL)\n"
_OUTSIDE = (
    "add_library({0}_library STATIC l.c)\ntarget_compile_definitions({0}_library PRIVATE IN PUBLIC BOTH)\n"
    "set_source_files_properties(l.c PROPERTIES COMPILE_DEFINITIONS HERE)\n"
)
#: What an seL4 build makes of the declarations, as far as compiling goes.
_PLAIN = """
cmake_minimum_required(VERSION 3.16)
project(app C CXX ASM)
function(DeclareCAmkESComponent name)
    cmake_parse_arguments(A "" "" "SOURCES;INCLUDES;LIBS;C_FLAGS;CXX_FLAGS" ${ARGN})
    add_executable(${name} ${A_SOURCES})
    target_include_directories(${name} PRIVATE ${A_INCLUDES})
    target_link_libraries(${name} PRIVATE ${A_LIBS})
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:C>:${A_C_FLAGS}>")
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${A_CXX_FLAGS}>")
endfunction()
"""


class Compiled(NamedTuple):
    """What a source is compiled as (assembler counts as C, whose compiler it needs) and with: its include
    folders and definitions, and its options in order."""

    is_cxx: bool
    folders: tuple[str, ...]
    definitions: frozenset[str]
    options: tuple[str, ...]


def compiled(words: Iterable[str], is_cxx: bool) -> Compiled:
    words, found = list(words), []
    found += [word[2:] for word in words if word.startswith("-I")]
    definitions = frozenset(word for word in words if word.startswith("-D"))
    options = [word for word in words if not word.startswith(("-I", "-D"))]
    return Compiled(is_cxx, tuple(found), definitions, tuple(options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("constructs")
    parts = [text.replace("@", name) for name, text in _named()]
    sources = [f"{name}.{suffix}" for name, _ in _named() for suffix in ("c", "cc", "S", "h.in")]
    sources += [f"{letter}{name}.c" for name, _ in _named() for letter in "lm"]
    files = dict.fromkeys((*sources, "inc/a.h", "priv/a.h", "pub/a.h", "of_all/a.h", "sub/l.c"), "")
    write_files(top / "outside", {"CMakeLists.txt": _OUTSIDE.format("outside"), "l.c": ""})
    files["sub/CMakeLists.txt"] = _OUTSIDE.format("sub")
    files["main.c"] = "int main(void) { return 0; }\n"
    text = "\n".join([_FOLDER, *parts])
    app(top / "app", f"enable_language(CXX)\nenable_language(ASM)\n{text}", **files)
    write_files(top / "plain", {**files, "CMakeLists.txt": f"{_PLAIN}{text}\n"})
    return top


def _named() -> list[tuple[str, str]]:
    return [(f"part_{number}", text) for number, text in enumerate(CONSTRUCTS.values())]


@pytest.fixture(scope="module")
def ours(folder: Path) -> Application:
    sink = Sink()
    found = find_application(folder / "app", sink)
    assert [d.message for d in sink.diagnostics] == []
    assert found is not None
    return found


@pytest.fixture(scope="module")
def theirs(folder: Path) -> dict[str, Compiled]:
    """CMake's result for each source, by its path from the folder of all."""
    cmake, ninja = find_cmake(), find_ninja()
    assert cmake is not None and ninja is not None
    plain, build = folder / "plain", folder / "plain-build"
    command = [cmake, "-S", plain, "-B", build, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    subprocess.run([*command, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], check=True, capture_output=True)
    result: dict[str, Compiled] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        program, *words = shlex.split(entry["command"])[:-4]  # without -o OUTPUT -c SOURCE
        explicit = words.index("-x") if "-x" in words else len(words)
        words = _relative([*words[:explicit], *words[explicit + 2 :]], plain, build)
        result[os.path.relpath(entry["file"], plain)] = compiled(words, program.endswith("++"))
    return result


def _relative(words: Iterable[str], source: Path, build: Path) -> list[str]:
    return [word.replace(str(build), "BUILD").replace(str(source), "SOURCE") for word in words]


def _sources(application: Application, component: str) -> dict[str, Compiled]:
    build = application.build_of(component, component, application.root)
    assert build is not None
    whole = with_libraries(application, build)
    result: dict[str, Compiled] = {}
    for source in whole.sources:
        includes, flags = whole.flags_of(source)
        made = [str(path).partition("/made-")[2].partition("/")[2] for path in includes]
        folders = [f"BUILD/{m}" if m else str(path) for m, path in zip(made, includes, strict=True)]
        plain = _relative((*flags, *(f"-I{each}" for each in folders)), application.folder, Path("/none"))
        is_cxx = whole.language_of(source) == "CXX"
        result[os.path.relpath(source, application.folder)] = compiled(plain, is_cxx)
    return result


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize("number", range(len(CONSTRUCTS)), ids=list(CONSTRUCTS))
def test_sources_are_compiled_as_by_cmake(
    number: int, ours: Application, theirs: dict[str, Compiled]
) -> None:
    found = _sources(ours, f"part_{number}")
    mine = {name for name in theirs if f"part_{number}." in name}
    assert mine <= set(found)
    for name, how in found.items():
        assert how == theirs[name], name


@pytest.mark.long
def test_a_mistake_that_shows_when_all_is_declared(tmp_path: Path) -> None:
    text = "set_source_files_properties(a.c PROPERTIES INCLUDE_DIRECTORIES relative)"
    assert find(app(tmp_path, f"DeclareCAmkESComponent(A SOURCES a.c)\n{text}", **{"a.c": ""})) == (
        None,
        ["E0703"],
    )


@pytest.mark.long
def test_a_library_without_its_source_is_one_mistake(tmp_path: Path) -> None:
    assert find(app(tmp_path, "add_library(l STATIC none.c)")) == (None, ["E0703"])


@pytest.mark.mostly_long("COMPILE_OPTIONS")
@pytest.mark.parametrize("property", ["COMPILE_FLAGS", "COMPILE_OPTIONS"])
def test_flags_of_a_source_are_refused_as_others(property: str, tmp_path: Path) -> None:
    text = f"set_source_files_properties(a.c PROPERTIES {property} -fplugin=x)"
    text = f"DeclareCAmkESComponent(A SOURCES a.c)\n{text}"
    assert find(app(tmp_path, text, **{"a.c": ""}))[1] == ["E0717"]


@pytest.mark.mostly_long("-x")
@pytest.mark.parametrize("flags", ["-x;-fplugin=x", "-x;c++", "-x"])
def test_a_language_that_is_a_flag_is_refused(flags: str, tmp_path: Path) -> None:
    """Unlike that which CMake adds for the property LANGUAGE."""
    text = f'set_source_files_properties(a.c PROPERTIES COMPILE_OPTIONS "{flags}")'
    text = f"DeclareCAmkESComponent(A SOURCES a.c)\n{text}"
    assert "E0717" in find(app(tmp_path, text, **{"a.c": ""}))[1]


@pytest.mark.long
def test_presets_are_not_read(tmp_path: Path) -> None:
    """As with `cmake -S`: only `--preset` reads them."""
    presets = {"version": 3, "configurePresets": [{"name": "p", "cacheVariables": {"x": "-DPRESET"}}]}
    text = "DeclareCAmkESComponent(A SOURCES a.c C_FLAGS ${x})"
    found, codes = find(app(tmp_path, text, **{"a.c": "", "CMakePresets.json": json.dumps(presets)}))
    assert found is not None and codes == [] and found.components["A"].c_flags == ()


def test_a_launcher_of_compilers_changes_nothing(tmp_path: Path) -> None:
    text = "set(CMAKE_C_COMPILER_LAUNCHER ccache)\nDeclareCAmkESComponent(A SOURCES a.c)"
    found, codes = find(app(tmp_path, text, **{"a.c": ""}))
    assert found is not None and codes == []
    build = found.build_of("A", "a", found.root)
    assert build is not None and build.flags_of(tmp_path / "a.c") == ((), ())


@pytest.mark.long
def test_the_compiler_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "own-cc"
    script.write_text('#!/bin/sh\nexec cc -DOF_SCRIPT "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", f"{script} -DOF_VARIABLE")
    text = (
        "include(CheckCSourceCompiles)\n"
        "check_c_source_compiles([[int main(void) { return OF_SCRIPT + OF_VARIABLE; }]] GOOD)\n"
        "DeclareCAmkESComponent(A C_FLAGS -DGOOD=${GOOD} -DCC=${CMAKE_C_COMPILER})"
    )
    found, _ = find(app(tmp_path / "app", text))
    assert found is not None and found.components["A"].c_flags == ("-DGOOD=1", f"-DCC={script}")


@pytest.mark.long
def test_a_compiler_that_is_replaced_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same path, other content: the result of CMake for the other one is not used."""
    script = tmp_path / "own-cc"
    monkeypatch.setenv("CC", str(script))
    text = (
        "include(CheckSymbolExists)\nif(CMAKE_C_COMPILER_VERSION VERSION_GREATER 90)\nset(x -DNEW)\nendif()\n"
        "DeclareCAmkESComponent(A C_FLAGS ${x})"
    )
    folder = app(tmp_path / "app", text)
    for major, flags in (("80", ()), ("99", ("-DNEW",)), ("80", ())):
        new = tmp_path / "new"
        macros = f"#define __GNUC__ {major}\\n#define __GNUC_MINOR__ 1\\n#define __GNUC_PATCHLEVEL__ 0\\n"
        new.write_text(f"#!/bin/sh\nprintf '{macros}'\n")
        new.chmod(0o755)
        new.replace(script)
        found, _ = find(folder)
        assert found is not None and found.components["A"].c_flags == flags


#: What makes `made.c` or `made.h`.
GENERATED = {
    "source": (
        "add_custom_command(OUTPUT made.c COMMAND ${CMAKE_COMMAND} -E echo [[int made;]] > made.c VERBATIM)\n"
        "DeclareCAmkESComponent(A SOURCES a.c made.c)"
    ),
    "source_of_a_library": (
        "add_custom_command(OUTPUT made.c COMMAND ${CMAKE_COMMAND} -E touch made.c)\n"
        "add_library(l STATIC made.c)\nDeclareCAmkESComponent(A SOURCES a.c LIBS l)"
    ),
    "by_a_program_of_the_application": (
        "add_executable(tool main.c)\nadd_custom_command(OUTPUT made.c COMMAND tool COMMAND "
        "${CMAKE_COMMAND} -E touch made.c)\nDeclareCAmkESComponent(A SOURCES a.c made.c)"
    ),
    "header_of_a_target": (
        "add_custom_command(OUTPUT made.h COMMAND ${CMAKE_COMMAND} -E touch made.h)\n"
        "add_custom_target(headers DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/made.h)\n"
        "DeclareCAmkESComponent(A SOURCES a.c INCLUDES ${CMAKE_CURRENT_BINARY_DIR})\n"
        "add_dependencies(CAmkESComponent_A headers)"
    ),
    "for_an_instance": (
        "add_custom_command(OUTPUT made.c COMMAND ${CMAKE_COMMAND} -E touch made.c)\n"
        "DeclareCAmkESComponent(A SOURCES a.c)\nExtendCAmkESComponentInstance(A a SOURCES made.c)"
    ),
}
_SOURCES = {"a.c": "", "main.c": "int main(void) { return 0; }\n"}


@pytest.mark.mostly_long("header_of_a_target")
@pytest.mark.parametrize("name", GENERATED)
def test_files_generated_by_build_commands_are_used(name: str, tmp_path: Path) -> None:
    sink = Sink()
    found = find_application(app(tmp_path, GENERATED[name], **_SOURCES), sink)
    assert found is not None
    found.report_missing(MISSING_FILE, sink)
    assert [d.message for d in sink.diagnostics] == []
    build = found.build_of("A", "a", found.root)
    assert build is not None
    whole = with_libraries(found, build)
    made = [*whole.sources, *(folder / "made.h" for folder in whole.includes)]
    assert [path.is_file() for path in made if path.stem == "made"][:1] == [True]


@pytest.mark.long
def test_a_command_of_the_build_that_fails(tmp_path: Path) -> None:
    text = (
        "add_custom_command(OUTPUT made.c COMMAND sh -c [[echo no such model >&2; exit 3]] VERBATIM)\n"
        "DeclareCAmkESComponent(A SOURCES a.c made.c)"
    )
    sink = Sink()
    found = find_application(app(tmp_path, text, **_SOURCES), sink)
    assert found is not None
    found.report_missing(MISSING_SOURCE, sink)
    assert sink.diagnostics == ()  # nothing is built
    found.report_missing(MISSING_FILE, sink)
    (said,) = sink.diagnostics
    assert said.code == CMAKE_FAILED and said.span is not None
    assert said.span.line == 4 and said.notes == ("no such model",)


@pytest.mark.long
def test_a_command_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cmake, "CPU_SECONDS", 1)
    text = (
        "add_custom_command(OUTPUT made.c COMMAND sh -c [[while :; do :; done]] VERBATIM)\n"
        "DeclareCAmkESComponent(A SOURCES a.c made.c)"
    )
    sink = Sink()
    found = find_application(app(tmp_path, text, **_SOURCES), sink)
    assert found is not None and sink.diagnostics == ()
    found.report_missing(MISSING_FILE, sink)
    assert [d.code for d in sink.diagnostics] == [CMAKE_FAILED]
