# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Targets of CMake that components are built from, or have."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.project.application import Application
from tests.project.support import app, find

pytestmark = pytest.mark.requirement("LANG-26")


def found(folder: Path, text: str) -> Application:
    files = {"c.c": "", "lib/l.c": "", "inc/h.h": "", "late.c": ""}
    application, codes = find(app(folder / "app", text, **files))
    assert application is not None and codes == []
    assert application.missing == application.missing_folders == ()
    return application


def test_the_library_behind_an_alias(tmp_path: Path) -> None:
    text = (
        "add_library(real STATIC lib/l.c)\nadd_library(other::name ALIAS real)\n"
        "add_library(user INTERFACE)\ntarget_link_libraries(user INTERFACE other::name)\n"
        "DeclareCAmkESComponent(A SOURCES c.c LIBS other::name)"
    )
    application = found(tmp_path, text)
    assert application.components["A"].libs == ("real",)
    assert application.libraries["user"].libs == ("real",)


@pytest.mark.long
def test_objects_of_a_library(tmp_path: Path) -> None:
    text = "add_library(o OBJECT lib/l.c)\nDeclareCAmkESComponent(A SOURCES c.c $<TARGET_OBJECTS:o>)"
    component = found(tmp_path, text).components["A"]
    assert [path.name for path in component.sources] == ["c.c"]
    assert component.libs == ("o",)


@pytest.mark.long
@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("$<$<BOOL:ON>:X=1>", ("-DX=1",)),
        ("$<$<CONFIG:Debug>:X>", ()),
        ("$<$<COMPILE_LANGUAGE:C>:X>", ("-DX",)),
        ("X;$<$<NOT:$<BOOL:0>>:Y>", ("-DX", "-DY")),
    ],
)
def test_generator_expressions_of_a_library(tmp_path: Path, written: str, values: tuple[str, ...]) -> None:
    text = f"add_library(l INTERFACE)\ntarget_compile_definitions(l INTERFACE {written})"
    assert found(tmp_path, text).libraries["l"].c_flags == values


@pytest.mark.long
def test_folders_by_generator_expressions(tmp_path: Path) -> None:
    text = "DeclareCAmkESComponent(A SOURCES $<IF:1,c.c,no.c> INCLUDES $<1:inc> $<0:none>)"
    component = found(tmp_path, text).components["A"]
    assert [path.name for path in (*component.sources, *component.includes)] == ["c.c", "inc"]


@pytest.mark.long
def test_properties_of_a_component(tmp_path: Path) -> None:
    text = (
        "DeclareCAmkESComponent(A SOURCES c.c C_FLAGS -DX)\n"
        "set_property(TARGET CAmkESComponent_A APPEND PROPERTY COMPONENT_C_FLAGS -DY)\n"
        "set_property(TARGET CAmkESComponent_A APPEND PROPERTY COMPONENT_SOURCES late.c)"
    )
    component = found(tmp_path, text).components["A"]
    assert component.c_flags == ("-DX", "-DY")
    assert [path.name for path in component.sources] == ["c.c", "late.c"]
