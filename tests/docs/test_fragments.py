# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Blocks of the documentation that need something around them, which these tests add."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from camkes.debugging import parse_stop
from camkes.scaffold.create import files_of
from camkes.scaffold.installation import ToolSource
from tests.command import camkes
from tests.docs.test_examples import ROOT
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-26")


def block(page: str, begins: str) -> str:
    """The text of the block of a page that begins so."""
    text = (ROOT / page).read_text()
    found = re.search(rf"^```\w+\n({re.escape(begins)}.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert found is not None, begins
    return found[1]


def test_the_files_of_a_new_project() -> None:
    folder, *rows = block("docs/testing.md", "pump/\n").splitlines()
    shown = []
    for row in rows:
        names = row.split()
        inside = names.pop(0) if names[0].endswith("/") else ""
        shown += [Path(inside, name) for name in names]
    assert (
        folder == "pump/"
        and set(shown) <= set(files_of("task", "pump", ToolSource("camkes-rt")))
        and len(shown) == 9
    )


def test_settings_of_the_debugger() -> None:
    """They are those that the extension declares, and `camkes debug` takes what is in them."""
    settings = json.loads(block("docs/editor.md", '{\n    "type"'))
    package = json.loads((ROOT / "editors/vscode/package.json").read_text())
    (debugger,) = package["contributes"]["debuggers"]
    declared = debugger["configurationAttributes"]["launch"]["properties"]
    assert settings.pop("type") == debugger["type"] and settings.pop("request") == "launch"
    assert settings.keys() - {"name"} <= declared.keys()
    assert parse_stop(settings["at"]).kind == "missed"


def test_settings_of_helix() -> None:
    """The grammar is that of editors/tree-sitter, and its name that of the language."""
    settings = tomllib.loads(block("docs/editor.md", "[language-server"))
    (language,) = settings["language"]
    server = settings["language-server"][language["language-servers"][0]]
    assert [server["command"], *server["args"]] == ["camkes", "lsp"]
    (grammar,) = tomllib.loads(block("docs/editor.md", "[[grammar]]"))["grammar"]
    made = json.loads((ROOT / "editors/tree-sitter/tree-sitter.json").read_text())["grammars"][0]
    assert grammar["name"] == language["name"] == made["name"]
    assert language["scope"] == made["scope"]
    assert language["file-types"] == made["file-types"]


def test_a_wait_that_ends_at_a_time(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    code = block("docs/language.md", "if (more_wait_until(")
    source.write_text(
        "#include <camkes/realtime.h>\nint more_wait_until(uint64_t);\nvoid f(void);\nvoid f(void) {\n"
        + code
        + "}\n"
    )
    folders = [f"-I{ROOT / name}" for name in ("runtime/include", "kernel/host/include")]
    words = ["cc", "-std=gnu11", "-Wall", "-Werror", "-fsyntax-only", *folders, str(source)]
    subprocess.run(words, check=True)


@pytest.mark.long
def test_answers_of_a_mock(tmp_path: Path) -> None:
    code = block("docs/testing.md", "mock_reading_read_answer(")
    system = """\
import <std_connector.camkes>;
procedure Reading { int read(in int channel); }
component Test { control; provides Reading reading; }
component User { control; uses Reading reading; }
assembly {
    composition {
        component Test test;
        component User user;
        connection seL4RPCCall c(from user.reading, to test.reading);
    }
    configuration { test._priority = 1; }
}
"""
    test = f"#include <mocks.h>\nvoid pre_init(void)\n{{\n{code}}}\nint run(void) {{ return 0; }}\n"
    user = """\
#include <camkes.h>
#include <stdio.h>
int run(void)
{
    for (int i = 0; i < 7; i++)
        printf("%d ", reading_read(1));
    return 0;
}
"""
    write_files(tmp_path, {"tests/a.camkes": system, "tests/test.c": test, "tests/user.c": user})
    result = camkes("test", "--verbose", cwd=tmp_path)
    assert (result.status, result.errors) == (0, "")
    assert "10 10 10 10 60 20 20" in result.output


@pytest.mark.long
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_what_is_typed_into_gdb(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = re.findall(
        r"^\(camkes [^)]*\) (.*?)(?: {2,}.*)?$", block("docs/debugging.md", "(camkes"), re.MULTILINE
    )
    assert len(commands) == 6
    words = [word for command in commands for word in ("-x", command)]
    result = camkes("debug", "examples/inversion", "--at", "2.5ms", *words, "--batch", cwd=tmp_path)
    assert (result.status, result.errors) == (0, "") and result.output.count("\nat ") == 3, result
    assert "Exception" not in result.output, result


@pytest.mark.long
@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_commands_that_start_gdb(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    lines = block("docs/debugging.md", "camkes debug examples/nested").splitlines()
    assert len(lines) == 4
    for line in lines:
        words = re.split(r" {2,}", line)[0].split()[1:]
        result = camkes(*words, "-x", "echo gdb is here\\n", "--batch", cwd=tmp_path)
        assert result.status == 0 and "gdb is here" in result.output, (line, result)
