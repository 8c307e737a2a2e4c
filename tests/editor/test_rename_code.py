# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Renaming from a system into its C code and back."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.command import camkes
from tests.editor.client import Editor
from tests.editor.test_session import EXAMPLES, session

pytestmark = pytest.mark.requirement("TOOL-33")

SYSTEM = """import <std_connector.camkes>;
procedure Reading { int value(in int place); int limit(); }
component Meter {
    control;
    requestor;
    uses Reading far;
    attribute int scale;
}
component Sensor { provides Reading near; maybe dataport Buf shown; has mutex guard; }
assembly {
    composition {
        component Meter meter;
        component Sensor sensor;
        connection seL4RPCCall read(from meter.far, to sensor.near);
    }
    configuration {
        meter._priority = 3;
        meter.scale = 2;
        sensor.near_value_wcet = 1 ms;
    }
}
"""
METER = """#include <camkes.h>
#include <stdio.h>
/* far_value is called here */
int run(void)
{
    printf("far_value %d\\n", far_value(scale) + far_limit());
    return 0;
}
"""
SENSOR = """#include <camkes.h>
#include "more.h"
int near_value(int place)
{
    guard_lock();
    int near_count = NEAR + place;
    guard_unlock();
    return near_count + (shown != NULL);
}
int near_limit(void) { return near_value(1); }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "system.camkes").write_text(SYSTEM)
    (tmp_path / "meter.c").write_text(METER)
    (tmp_path / "sensor.c").write_text(SENSOR)
    (tmp_path / "more.h").write_text("#define NEAR (near_limit() + 1)\nint near_limit(void);\n")
    return tmp_path


def apply(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).write_text(text)


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize(
    "place,new,changed",
    [
        ("int |value(", "amount", {"far_amount(scale)", "int near_amount(", "sensor.near_amount_wcet"}),
        ("int |limit(", "most", {"+ far_most()", "(near_most() + 1)", "int near_most(void) {"}),
        ("uses Reading |far", "remote", {"remote_value(scale)", "remote_limit()", "meter.remote"}),
        (
            "provides Reading |near",
            "own",
            {"int own_value(", "int own_limit(void);", "near_count", "own_value_wcet"},
        ),
        ("dataport Buf |shown", "window", {"(window != NULL)"}),
        ("mutex |guard", "lock", {"lock_lock()", "lock_unlock()"}),
        ("int |scale", "factor", {"far_value(factor)", "meter.factor = 2"}),
    ],
)
def test_from_the_system_into_c(place: str, new: str, changed: set[str], project: Path) -> None:
    """Comments, strings and members of structs stay, and the system is still without errors."""

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        texts = await editor.rename("system.camkes", place, new)
        apply(project, texts)
        everything = "\n".join(
            (project / name).read_text() for name in ("system.camkes", "meter.c", "sensor.c", "more.h")
        )
        assert {each for each in changed if each not in everything} == set()
        assert "/* far_value is called here */" in everything and '"far_value %d' in everything
        assert editor.shown == []

    session(project, script)
    assert camkes("build", project, "-o", project / "out").status == 0


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize(
    "place,new,changed",
    [
        ("far_va|lue(scale)", "amount", {"system.camkes", "meter.c", "sensor.c"}),
        ("fa|r_value(scale)", "remote", {"system.camkes", "meter.c"}),
        ("sca|le)", "factor", {"system.camkes", "meter.c"}),
    ],
)
def test_from_c_into_the_system(place: str, new: str, changed: set[str], project: Path) -> None:
    """What is at the cursor is renamed: of the name of a function the interface, or the method."""

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        editor.open("meter.c", "\n" + METER)  # not saved
        identifier, position = editor.place("meter.c", place)
        at = await editor.client.text_document_prepare_rename_async(
            lsp.PrepareRenameParams(identifier, position)
        )
        assert isinstance(at, lsp.Range)
        texts = await editor.rename("meter.c", place, new)
        assert set(texts) == changed
        assert texts["meter.c"].startswith("\n#include")
        apply(project, texts)

    session(project, script)
    assert camkes("build", project, "-o", project / "out").status == 0


def test_members_of_structs_stay(tmp_path: Path) -> None:
    text = SYSTEM.replace("value(", "sec(").replace("Reading far", "Reading tm")
    text = text.replace("meter.far", "meter.tm").replace("near_value", "near_sec")
    (tmp_path / "system.camkes").write_text(text)
    source = "#include <camkes.h>\n#include <time.h>\n"
    source += "int run(void) { struct tm t = {.tm_sec = tm_sec(1)}; struct tm *p = &t; return p->tm_sec; }\n"
    (tmp_path / "meter.c").write_text(source)

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        texts = await editor.rename("system.camkes", "int |sec(", "second")
        assert "{.tm_sec = tm_second(1)}" in texts["meter.c"] and "return p->tm_sec;" in texts["meter.c"]

    session(tmp_path, script)


@pytest.mark.parametrize(
    "file,text,place,new,why",
    [
        ("meter.c", "int far_value2; ", "int |value(", "value2", "meter.c:1 has another `far_value2`"),
        (
            "meter.c",
            "int f(void) {\n int scale = 1; return scale; } ",
            "int |scale",
            "x",
            "meter.c:2 declares a `scale`",
        ),
        (
            "meter.c",
            "#define CALL(i, m) i##_##m\n#define X CALL(far, value)\n",
            "int |value(",
            "v",
            "meter.c:2 has a `value` that may",
        ),
        (
            "meter.c",
            "struct s { int x, far_value; };",
            "int |value(",
            "x",
            "meter.c:1 declares a `far_value`",
        ),
        ("meter.c", "int f(int y, char *scale);", "int |scale", "x", "meter.c:1 declares a `scale`"),
        ("sensor.c", "", "Reading |near", "shown", "`shown` is already in use"),
        ("sensor.c", "", "int |value(", "get_sender_id", "already in use in C"),
    ],
)
def test_what_is_not_certain_is_refused(
    file: str, text: str, place: str, new: str, why: str, project: Path
) -> None:
    path = project / file
    path.write_text(text + path.read_text())

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        with pytest.raises(JsonRpcException, match=why.replace("(", r"\(")):
            await editor.rename("system.camkes", place, new)

    session(project, script)


def test_a_source_of_two_components_with_different_methods_is_refused(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(
        "DeclareCAmkESComponent(Meter SOURCES meter.c)\nDeclareCAmkESComponent(Sensor SOURCES sensor.c)\n"
        "DeclareCAmkESComponent(Other SOURCES sensor.c)\nDeclareCAmkESRootserver(system.camkes)\n"
    )
    text = SYSTEM.replace(
        "assembly {", "procedure Q { int value(); }\ncomponent Other { provides Q near; }\nassembly {"
    )
    (project / "system.camkes").write_text(text)

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        with pytest.raises(JsonRpcException, match="another one in component `Other`"):
            await editor.rename("system.camkes", "{ int |value(", "amount")

    session(project, script)


def test_what_is_left_is_said(project: Path) -> None:
    (project / "sensor.c").unlink()
    (project / "tests").mkdir()
    (project / "tests" / "mock.c").write_text("int near_value(int place) { return place; }\n")

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        assert set(await editor.rename("system.camkes", "int |value(", "amount")) == {
            "system.camkes",
            "meter.c",
        }
        (said,) = editor.shown
        assert "the sources of component `Sensor` are not known" in said and "tests/mock.c" in said

    session(project, script)


@pytest.mark.long
def test_every_method_of_an_example(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "publish", tmp_path / "publish")
    before = (tmp_path / "publish" / "publish.camkes").read_text()

    async def script(editor: Editor) -> None:
        editor.open("publish.camkes")
        await editor.settled("publish.camkes")
        for symbol in await editor.symbols("publish.camkes"):
            for method in symbol.children or []:
                if method.kind == lsp.SymbolKind.Method:
                    texts = await editor.rename("publish.camkes", f" |{method.name}(", f"{method.name}_x")
                    apply(tmp_path / "publish", texts)
                    editor.change("publish.camkes", texts["publish.camkes"])

    session(tmp_path / "publish", script)
    assert (tmp_path / "publish" / "publish.camkes").read_text() != before
    assert camkes("build", tmp_path / "publish", "-o", tmp_path / "out").status == 0


def test_requests_about_c_code_are_registered(project: Path) -> None:
    """In editors that let servers do that later: only there is it known which languages are meant."""

    async def script(editor: Editor) -> None:
        async with asyncio.timeout(10):
            while not editor.registered:
                await asyncio.sleep(0.01)
        assert {*editor.registered} == {
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didClose",
            "textDocument/definition",
            "textDocument/rename",
            "textDocument/signatureHelp",
        }

    session(project, script, dynamic=True)
