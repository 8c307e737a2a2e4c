# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Sources in languages that their names do not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.host.systems import camkes_run, write_system

pytestmark = pytest.mark.requirement("LANG-26")

LISTS = """cmake_minimum_required(VERSION {minimum})
project(p C CXX)
DeclareCAmkESComponent(Bad SOURCES {name})
DeclareCAmkESComponent(Good SOURCES good.c)
DeclareCAmkESRootserver(system.camkes)
set_source_files_properties({name} PROPERTIES LANGUAGE {language})
"""
CXX = """#include <camkes.h>
#include <cstdio>
template <typename T> static T same(T value) { return value; }
extern "C" int run(void) { return std::printf("%d\\n", same(__cplusplus > 0)) < 0; }
"""
C = """#include <camkes.h>
#include <stdio.h>
int run(void) { int class = 1; return printf("%d\\n", class) < 0; }
"""


@pytest.mark.long
@pytest.mark.parametrize("minimum", ["3.16", "3.25"])
@pytest.mark.parametrize(("name", "text", "language"), [("bad.c", CXX, "CXX"), ("bad.cc", C, "C")])
def test_cmake_determines_the_language_of_a_source(
    name: str, text: str, language: str, minimum: str, tmp_path: Path
) -> None:
    """From 3.20 on CMake tells the compiler, too."""
    write_system(tmp_path, "")
    (tmp_path / "bad.c").unlink()
    (tmp_path / name).write_text(text)
    lists = LISTS.format(name=name, language=language, minimum=minimum)
    (tmp_path / "CMakeLists.txt").write_text(lists)
    done = camkes_run(tmp_path)
    assert done.status == 0, done.errors
    assert "1\n" in done.output and "good ran\n" in done.output
