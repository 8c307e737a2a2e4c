# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A system in a folder of any name: its texts are read, and what other programs cannot name is said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.command import camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-6")

NAMES = {
    "newline": b"new\nline",
    "quote": b"quo'te",
    "quotes": b'two"s',
    "percent": b"100%d",
    "not UTF-8": b"inv\xff\xfe",
    "escape": b"esc\x1b7",
    "reversed": "bidi\u202e".encode(),
    "blank": b" ",
    "dollar": b"${HOME}$x",
    "brackets": b"[a]{b}(c)",
    "pattern": b"*?",
    "tab": b"tab\t",
    "hash": b"#a&b=c,d@e",
    "option": b"-o",
}
#: in the names of files, other programs have no way to write these
CMAKE, COMPILER = b"\\;|", b"\n\t\x1b\xff"
#: what the preprocessor has to read twice, with an included file
_SYSTEM = """#include "number.h"
#define SETTING(x) x._priority = NUMBER;
component One { control; requestor; }
assembly { composition { component One one; } configuration { SETTING(one) } }
"""
_FILES = {
    "a.camkes": _SYSTEM,
    "number.h": "#define NUMBER 7\n",
    "One.c": "#include <camkes.h>\nint run(void) { return 0; }\n",
}
_LISTS = """project(named C)
DeclareCAmkESComponent(One SOURCES One.c)
DeclareCAmkESRootserver(a.camkes)
GenerateCAmkESRootserver()
"""


def folder(tmp_path: Path, name: bytes) -> Path:
    return write_files(tmp_path / os.fsdecode(name), _FILES)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_texts_are_read(tmp_path: Path, name: bytes) -> None:
    found = camkes("plan", folder(tmp_path, name) / "a.camkes")
    assert (found.status, found.errors) == (0, "")
    assert "one    0         7" in found.output


@pytest.mark.mostly_long("open[")
@pytest.mark.parametrize("name", [*NAMES.values(), b"semi;colon", b"back\\slash", b"open[", b"bar|"])
def test_what_cmake_cannot_name_is_said(tmp_path: Path, name: bytes) -> None:
    write_files(folder(tmp_path, name), {"CMakeLists.txt": _LISTS})
    found = camkes("check", tmp_path / os.fsdecode(name))
    unusable = any(each in CMAKE for each in name) or name.count(b"[") != name.count(b"]")
    assert found.status == int(unusable), found.errors
    assert ("error[E0703]" in found.errors and "rename the folder" in found.errors) == unusable


@pytest.mark.parametrize("name", [NAMES["newline"], NAMES["not UTF-8"], NAMES["quotes"]])
def test_what_compilers_cannot_name_is_said(tmp_path: Path, name: bytes) -> None:
    found = camkes("build", folder(tmp_path, name) / "a.camkes", "-o", tmp_path / "out")
    unusable = any(each in COMPILER for each in name)
    assert found.status == int(unusable), found.errors
    assert ("error[E0735]" in found.errors and "rename the file or folder" in found.errors) == unusable
