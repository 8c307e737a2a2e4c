# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""From pieces of CMake to the sources that are found: they mean what they mean to CMake."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.project.application import Application, find_application
from tests.project.support import app, find

pytestmark = pytest.mark.requirement("LANG-26")

#: What is written, and the words of `s` after it.
SNIPPETS = {
    "include_guard": ("include(guarded.cmake)\ninclude(guarded.cmake)", "once"),
    "version": ("if(CMAKE_VERSION VERSION_GREATER 3.10)\nset(s new)\nendif()", "new"),
    "match": (
        'if("ab12" MATCHES "([a-z]+)([0-9]+)")\nset(s ${CMAKE_MATCH_1} ${CMAKE_MATCH_2})\nendif()',
        "ab 12",
    ),
    "match_count": ('if("ab" MATCHES "(a)(b)")\nset(s n${CMAKE_MATCH_COUNT})\nendif()', "n2"),
    # AND and OR bind alike, from left to right, in every CMake that does not say otherwise
    "and_or": ("if(TRUE OR TRUE AND FALSE)\nset(s yes)\nelse()\nset(s no)\nendif()", "no"),
    "range_down": ("foreach(i RANGE 3 1)\nlist(APPEND s r${i})\nendforeach()", "r3 r2 r1"),
    "range_step": ("foreach(i RANGE 0 6 3)\nlist(APPEND s r${i})\nendforeach()", "r0 r3 r6"),
    "version_padding": ("if(1.2 VERSION_EQUAL 1.2.0)\nset(s same)\nendif()", "same"),
    "cache_over_plain": ("set(q plain)\nset(q cached CACHE STRING x)\nset(s ${q})", "cached"),
    "environment": ('set(ENV{CAMKES_SNIPPET} "value")\nset(s $ENV{CAMKES_SNIPPET})', "value"),
    "braces_are_text": ('string(REGEX REPLACE "a{2}" "x" s "aab-a{2}")', "aab-x"),
    "static_library": ("add_library(l STATIC a.c)\nset(s made)", "made"),
    "object_library": ("add_library(o OBJECT a.c)\nset(s $<TARGET_NAME:o>)\nset(s o)", "o"),
    "while": ("set(i 0)\nwhile(i LESS 3)\nlist(APPEND s w${i})\nmath(EXPR i ${i}+1)\nendwhile()", "w0 w1 w2"),
    "break": ("foreach(i 1 2 3)\nif(i EQUAL 2)\nbreak()\nendif()\nlist(APPEND s b${i})\nendforeach()", "b1"),
    "continue": (
        "foreach(i 1 2)\nif(i EQUAL 1)\ncontinue()\nendif()\nlist(APPEND s c${i})\nendforeach()",
        "c2",
    ),
    "zip": (
        "set(a 1 2)\nset(b x y)\nforeach(p IN ZIP_LISTS a b)\nlist(APPEND s ${p_0}${p_1})\nendforeach()",
        "1x 2y",
    ),
    "nested_reference": ("set(x y)\nset(a_y deep)\nset(s ${a_${x}})", "deep"),
    "escaped_semicolon": (
        'set(l "a\\;b;c")\nforeach(e IN LISTS l)\nstring(LENGTH "${e}" n)\nlist(APPEND s ${n})\nendforeach()',
        "3 1",
    ),
    "quoted_list": ('set(l a b)\nset(s "${l}")\nlist(LENGTH s n)\nset(s n${n})', "n2"),
    "bracket": ("set(x no)\nset(s [[${x}]])\nstring(LENGTH ${s} n)\nset(s n${n})", "n4"),
    "bracket_comment": ("#[[ set(s wrong)\n]]\nset(s right)", "right"),
    "macro_arguments": ("macro(m a)\nif(NOT DEFINED a)\nset(s ${a})\nendif()\nendmacro()\nm(text)", "text"),
    "macro_return": (
        "function(f)\nset(r early PARENT_SCOPE)\nreturn()\nset(r late PARENT_SCOPE)\n"
        "endfunction()\nf()\nset(s ${r})",
        "early",
    ),
    "parse_argv": (
        'function(f)\ncmake_parse_arguments(PARSE_ARGV 0 A "" "" "X")\n'
        "set(s ${A_X} PARENT_SCOPE)\nendfunction()\nf(X 1 2)",
        "1 2",
    ),
    "keywords_missing": (
        'function(f)\ncmake_parse_arguments(A "" "X" "" ${ARGN})\n'
        "set(s ${A_KEYWORDS_MISSING_VALUES} PARENT_SCOPE)\nendfunction()\nf(X)",
        "X",
    ),
    "argn": ("function(f a)\nset(s ${ARGN} ${ARGC} PARENT_SCOPE)\nendfunction()\nf(1 2 3)", "2 3 3"),
    "function_scope": ("set(s out)\nfunction(f)\nset(s in)\nendfunction()\nf()", "out"),
    "list_sort": ("set(s b10 b9 a)\nlist(SORT s COMPARE NATURAL)", "a b9 b10"),
    "list_filter": ('set(s a.c b.h c.c)\nlist(FILTER s INCLUDE REGEX "[.]c$")', "a.c c.c"),
    "list_transform": ("set(s a b)\nlist(TRANSFORM s APPEND .c)", "a.c b.c"),
    "list_sublist": ("set(s a b c d)\nlist(SUBLIST s 1 2 s)", "b c"),
    "list_pop": ("set(l a b)\nlist(POP_BACK l s)", "b"),
    "list_find": ("set(l a b)\nlist(FIND l b i)\nset(s at${i})", "at1"),
    "list_negative": ("set(l a b c)\nlist(GET l -1 s)", "c"),
    "string_replace": ('string(REPLACE "." "_" s "a.b.c")', "a_b_c"),
    "regex_matchall": ('string(REGEX MATCHALL "[0-9]+" s "1a22b")', "1 22"),
    "regex_groups": ('string(REGEX REPLACE "(.)(.)" "\\\\2\\\\1" s "abcd")', "badc"),
    "substring": ('string(SUBSTRING "abcdef" 2 3 s)', "cde"),
    "toupper": ('string(TOUPPER "ab" s)', "AB"),
    "make_c_identifier": ('string(MAKE_C_IDENTIFIER "a-b" s)', "a_b"),
    "configure": ('set(n 7)\nstring(CONFIGURE "v@n@" s @ONLY)', "v7"),
    "math_hex": ('math(EXPR n "0x10 + 1")\nset(s n${n})', "n17"),
    "math_bits": ('math(EXPR n "1 << 4 | 3")\nset(s n${n})', "n19"),
    "string_compare": ("if(a STRLESS b AND NOT b STRLESS a)\nset(s less)\nendif()", "less"),
    "variable_or_text": ('set(v x)\nif(v STREQUAL "x")\nset(s deref)\nendif()', "deref"),
    "quoted_is_text": ('set(v x)\nif("v" STREQUAL "x")\nset(s wrong)\nelse()\nset(s text)\nendif()', "text"),
    "notfound": ("set(v foo-NOTFOUND)\nif(v)\nset(s wrong)\nelse()\nset(s false)\nendif()", "false"),
    "parentheses": ("if(NOT (TRUE AND FALSE))\nset(s yes)\nendif()", "yes"),
    "in_list": ("set(l a b)\nif(b IN_LIST l)\nset(s in)\nendif()", "in"),
    "defined_cache": ("set(c 1 CACHE STRING x)\nif(DEFINED CACHE{c})\nset(s there)\nendif()", "there"),
    "policy": ("cmake_policy(PUSH)\ncmake_policy(SET CMP0054 NEW)\ncmake_policy(POP)\nset(s good)", "good"),
    "target": ("add_library(t INTERFACE)\nif(TARGET t)\nset(s target)\nendif()", "target"),
    "command": ("if(COMMAND DeclareCAmkESComponent AND NOT COMMAND nonesuch)\nset(s both)\nendif()", "both"),
    "eval": ('cmake_language(EVAL CODE "set(s evaluated)")', "evaluated"),
    "call": ("cmake_language(CALL set s called)", "called"),
    "generator": ("set(s $<$<BOOL:ON>:-DA> $<$<BOOL:OFF>:-DB> $<IF:$<CONFIG:Debug>,-Dd,-Dr>)", "-DA -Dr"),
    "generator_of_a_language": ("set(s $<$<COMPILE_LANGUAGE:C>:-DC> $<$<COMPILE_LANGUAGE:CXX>:-DX>)", "-DC"),
    "generator_of_a_target": (
        "add_library(g INTERFACE)\ntarget_compile_definitions(g INTERFACE A B)\n"
        "set(s $<TARGET_PROPERTY:g,INTERFACE_COMPILE_DEFINITIONS>)",
        "A B",
    ),
    "generator_with_a_list": ('set(s "$<1:a;b>" c)', "a b c"),
    "cache_type": ("set(camkes_typed yes CACHE BOOL x)\nset(s ${camkes_typed})", "yes"),
    "foreach_lists_items": (
        "set(l a b)\nforeach(i IN LISTS l ITEMS c)\nlist(APPEND s ${i})\nendforeach()",
        "a b c",
    ),
    "list_join": ('set(l a b)\nlist(JOIN l "-" s)', "a-b"),
    "genex_strip": ('string(GENEX_STRIP "a$<1:b>c" s)', "ac"),
    "string_repeat": ("string(REPEAT ab 2 s)", "abab"),
    "json": ('string(JSON s GET [[{"a": 5}]] a)', "5"),
    "configure_file": (
        "set(n 7)\nfile(WRITE ${CMAKE_CURRENT_BINARY_DIR}/t.in v@n@)\n"
        "configure_file(${CMAKE_CURRENT_BINARY_DIR}/t.in t @ONLY)\n"
        "file(STRINGS ${CMAKE_CURRENT_BINARY_DIR}/t s)",
        "v7",
    ),
    "glob_recurse": (
        "file(GLOB_RECURSE s CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} n*.txt)",
        "names.txt",
    ),
    "return_of_a_file": (
        "file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/r.cmake [[set(s in)\nreturn()\nset(s late)]])\n"
        "include(${CMAKE_CURRENT_BINARY_DIR}/r.cmake)",
        "in",
    ),
    "option": ("option(camkes_snippet x ON)\nif(camkes_snippet)\nset(s on)\nendif()", "on"),
    "property": ("set_property(GLOBAL PROPERTY P value)\nget_property(s GLOBAL PROPERTY P)", "value"),
    "file_strings": ("file(STRINGS names.txt s)", "one two"),
    "file_read": ('file(READ names.txt t)\nstring(LENGTH "${t}" n)\nset(s n${n})', "n8"),
    "glob": ("file(GLOB f RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} n*.txt)\nset(s ${f})", "names.txt"),
    "component": ("get_filename_component(s /a/b.tar.gz NAME_WE)", "b"),
    "path": ("cmake_path(GET CMAKE_CURRENT_LIST_FILE STEM s)", "CMakeLists"),
    "include_module": ("include(CMakePrintHelpers)\nset(s included)", "included"),
    "execute": (
        "execute_process(COMMAND echo said OUTPUT_VARIABLE s OUTPUT_STRIP_TRAILING_WHITESPACE)",
        "said",
    ),
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    """All snippets, each in a folder of its own."""
    folder = tmp_path_factory.mktemp("snippets")
    (folder / "app.camkes").write_text("")
    lines = ["cmake_minimum_required(VERSION 3.16)", "project(snippets C)"]
    for name, (text, _) in SNIPPETS.items():
        inner = folder / name
        inner.mkdir()
        for file, content in (
            ("a.c", ""),
            ("names.txt", "one\ntwo\n"),
            ("guarded.cmake", "include_guard()\nlist(APPEND s once)\n"),
        ):
            (inner / file).write_text(content)
        (inner / "CMakeLists.txt").write_text(f"{text}\nDeclareCAmkESComponent({name} C_FLAGS ${{s}})\n")
        lines.append(f"add_subdirectory({name})")
    (folder / "CMakeLists.txt").write_text("\n".join([*lines, "DeclareCAmkESRootserver(app.camkes)\n"]))
    found = find_application(folder, Sink(), in_workspace=True)
    assert found is not None
    return found


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_has_the_meaning_of_cmake(name: str, application: Application) -> None:
    assert " ".join(application.components[name].c_flags) == SNIPPETS[name][1]


@pytest.mark.parametrize(
    ("top", "below"), [("C", ""), ("NONE", "C"), ("C", "CXX"), ("CXX", "C ASM"), ("", "NONE")]
)
def test_folders_may_name_other_languages_than_the_top(top: str, below: str, tmp_path: Path) -> None:
    """A workspace enables all of them; a library that is linked across folders needs those of both."""
    folder = app(tmp_path, "", **{"app.camkes": "", "a.c": "", "lib/b.c": "", "lib/c.cc": ""})
    (folder / "lib/CMakeLists.txt").write_text(f"project(lib {below})\nadd_library(lib STATIC b.c c.cc)\n")
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(top {top})\nadd_subdirectory(lib)\n"
        "DeclareCAmkESComponent(A SOURCES a.c LIBS lib)\nDeclareCAmkESRootserver(app.camkes)\n"
    )
    found, codes = find(folder)
    assert codes == [] and found is not None
    sources = {s.name for group in found.libraries["lib"].groups for s in group.sources}
    assert sources == {"b.c", "c.cc"}
