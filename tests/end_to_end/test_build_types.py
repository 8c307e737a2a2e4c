# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What CMAKE_BUILD_TYPE means, and the compilation database of a build."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.support import system

pytestmark = pytest.mark.requirement("TOOL-21")

CODE = """
int run(void)
{
#ifdef __OPTIMIZE__
    const int optimised = 1;
#else
    const int optimised = 0;
#endif
#ifdef NDEBUG
    const int released = 1;
#else
    const int released = 0;
#endif
    printf("%d %d\\n", optimised, released);
    return 0;
}
"""
ASSEMBLY = "component A { control; } assembly { composition { component A a; } }"
CMAKE = """
project(types C)
DeclareCAmkESComponent(A SOURCES A.c)
DeclareCAmkESRootserver(system.camkes)
GenerateCAmkESRootserver()
"""


@pytest.mark.long
@pytest.mark.parametrize("cmake", [False, True], ids=["a file", "a project"])
def test_build_types(cmake: bool, tmp_path: Path) -> None:
    path = system(tmp_path, ASSEMBLY, {"A.c": CODE})
    if cmake:
        (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    kinds = (
        ((), "1 0"),
        (("--debug",), "0 0"),
        (("--release",), "1 1"),
        (("-DCMAKE_BUILD_TYPE=debug",), "0 0"),
    )
    for words, expected in kinds:
        result = camkes("run", path, "-o", tmp_path / "out", *words)
        assert (result.status, result.errors) == (0, ""), words
        assert result.output.splitlines()[0] == expected, words
    assert camkes("run", path, "--debug", "--release").status == 2


def test_the_commands_of_the_database_compile(tmp_path: Path) -> None:
    path = system(tmp_path, ASSEMBLY, {"A.c": CODE + "wrong"})
    assert camkes("build", path, "-o", tmp_path / "out").status == 1  # it is written before
    commands = json.loads((tmp_path / "out" / "compile_commands.json").read_text())
    (own,) = [each for each in commands if each["file"] == str(tmp_path / "A.c")]
    (tmp_path / "A.c").write_text("#include <camkes.h>\n#include <stdio.h>\n" + CODE)
    assert not Path(own["output"]).exists()
    subprocess.run(own["arguments"], cwd=own["directory"], check=True)
    assert Path(own["output"]).exists()
