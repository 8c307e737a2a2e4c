# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Sessions of a real client with the server, on copies of the examples."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from camkes.cli.main import main
from tests.command import camkes
from tests.editor.client import Editor, editor

pytestmark = pytest.mark.requirement("TOOL-7")

EXAMPLES = Path(__file__).parents[2] / "examples"


def session(
    folder: Path,
    script: Callable[[Editor], Awaitable[None]],
    *,
    trusted: bool = True,
    definitions: Mapping[str, str] | None = None,
    snippets: bool = False,
    dynamic: bool = False,
) -> None:
    async def run() -> None:
        options = {"trusted": trusted, "snippets": snippets, "dynamic": dynamic}
        async with editor(folder, definitions=definitions, **options) as opened:
            await asyncio.wait_for(script(opened), 60)

    asyncio.run(run())


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "nested", tmp_path / "nested")
    return tmp_path / "nested"


@pytest.mark.long
def test_diagnostics_follow_the_text_that_is_not_saved(nested: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        assert await editor.settled("system.camkes") == []
        editor.replace("system.camkes", "from t1.r, from t2.r", "from t1.q, from t2.r")
        (found,) = [d for d in await editor.settled("system.camkes") if d.severity == 1]
        assert found.code == "E0302"
        assert found.source == "camkes"
        assert "q" in found.message
        assert found.related_information
        assert editor.text_of(found.related_information[0].location) == "system.camkes:7:Task"
        editor.replace("system.camkes", "t1.q", "t1.r")
        assert await editor.settled("system.camkes") == []

    session(nested, script)


@pytest.mark.long
def test_a_mistake_shows_in_the_file_where_it_is(nested: Path) -> None:
    """The root is open, and the mistake is made in a file that it imports."""

    async def script(editor: Editor) -> None:
        editor.open("nested.camkes")
        editor.open("system.camkes")
        await editor.settled("nested.camkes")
        editor.replace("system.camkes", "component Leaf e;", "component Leaf f;")
        await editor.settled("system.camkes")
        assert any("e" in d.message for d in editor.diagnostics["system.camkes"])
        editor.replace("system.camkes", "component Leaf f;", "component Leaf e")
        await editor.settled("system.camkes")
        (found,) = editor.diagnostics["system.camkes"]  # one mistake, one error
        assert str(found.code).startswith("E01")
        assert editor.diagnostics["nested.camkes"] == []
        editor.replace("system.camkes", "component Leaf e", "component Leaf (e;")  # nothing is left of it
        await editor.settled("system.camkes")
        (found,) = editor.diagnostics["system.camkes"]
        assert str(found.code).startswith("E01")

    session(nested, script)


def test_a_file_without_an_assembly_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "part.camkes").write_text("procedure P { void f(); }\ncomponent A { uses P p; uses Q q; }\n")

    async def script(editor: Editor) -> None:
        editor.open("part.camkes")
        (found,) = await editor.settled("part.camkes")
        assert "Q" in found.message

    session(tmp_path, script)


@pytest.mark.long
def test_hover(nested: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        text = await editor.hover("system.camkes", "to d.|r);")
        assert "**d.r**: propagated, ceiling 40, 4 threads" in text
        assert "tasks: `t1`, `t2`, `t3`, `t4`" in text
        assert "b.r" not in text
        text = await editor.hover("system.camkes", "provides Compute |r with requests (next)")
        assert "**b.r**: inherited, ceiling 40" in text
        assert "**c.r**" in text and "**d.r**" in text
        text = await editor.hover("system.camkes", "component Task t|1;")
        assert "\n- C 10 ms, B " in text and ": deadline met" in text
        assert "task **t1**: id 0, priority 10, period 160 ms, wcet 2 ms" in text
        text = await editor.hover("system.camkes", "component |Fork a;")
        assert "provides Compute r with priority_protocol inherited, requests (left, right);" in text
        text = await editor.hover("system.camkes", "component |Task t1;")
        assert "instances: `t1`, `t2`, `t3`, `t4`" in text
        text = await editor.hover("system.camkes", "uses |Compute left")
        assert "procedure Compute { int compute(in int value); }" in text
        assert "shortest time" in await editor.hover("system.camkes", "t1.|_period")
        assert await editor.hover("system.camkes", "|// requests two") == ""

    session(nested, script)


@pytest.mark.long
def test_definitions_and_references(nested: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("nested.camkes")
        assert await editor.definition("nested.camkes", "c.r|_priority") == "system.camkes:24:r"
        assert await editor.definition("nested.camkes", "        |c.r_") == "system.camkes:42:c"
        assert await editor.definition("nested.camkes", 'import "sys|tem') == "system.camkes:1:"
        editor.open("system.camkes")
        assert await editor.definition("system.camkes", "from a.le|ft") == "system.camkes:18:left"
        assert await editor.definition("system.camkes", "(|left, right)") == "system.camkes:18:left"
        assert await editor.definition("system.camkes", "component |Pass c") == "system.camkes:23:Pass"
        assert await editor.definition("system.camkes", "a.wor|k_us") == "system.camkes:20:work_us"
        found = await editor.references("system.camkes", "component Fork |a;")
        assert found == [f"system.camkes:{line}:a" for line in (40, 45, 47, 48, 62, 62)]
        found = await editor.references("system.camkes", "component |Leaf {")
        assert len(found) == 2

    session(nested, script)


@pytest.mark.long
def test_rename(nested: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        texts = await editor.rename("system.camkes", "to |c.r", "middle")
        assert 'middle.r_priority_protocol = "inherited";' in texts["nested.camkes"]
        assert "component Pass middle;" in texts["system.camkes"]
        assert "from middle.next" in texts["system.camkes"]
        assert "middle.work_us = 1000;  middle.r_wcet = 1 ms;" in texts["system.camkes"]
        texts = await editor.rename("system.camkes", "uses Compute |next", "below")
        assert "requests (below)" in texts["system.camkes"]
        assert "from c.below, from d.below" in texts["system.camkes"]
        texts = await editor.rename("system.camkes", "component |Pass {", "Through")
        assert texts["system.camkes"].count("Through") == 4
        texts = await editor.rename("system.camkes", "|Compute { int", "Work")
        assert "Compute " not in texts["system.camkes"].partition("component")[2]
        for place, name in (
            ("to |c.r", "2c"),
            ("to |c.r", "component"),
            ("to |c.r", "while"),
            ("to |c.r", "a"),
            ("to |c.r", "to_a"),
            ("connection |seL4RPCCall to_a", "mine"),
        ):
            with pytest.raises(JsonRpcException):
                await editor.rename("system.camkes", place, name)

    session(nested, script)


COMPLETIONS = [
    ("component |", ["Task", "Fork", "Leaf"], ["t1", "provides"]),
    ("connection |", ["seL4RPCCall", "seL4SharedData"], ["Task"]),
    ("connection seL4RPCCall x(|", ["from", "to"], ["component", "t1"]),
    ("connection seL4RPCCall x(from |", ["t1", "a"], ["Task"]),
    ("connection seL4RPCCall x(from a.|", ["left", "right"], ["r", "from"]),
    ("connection seL4RPCCall x(from a.left, to |", ["d"], ["Pass"]),
    ("connection seL4RPCCall x(from a.left, to d.|", ["r"], ["next"]),
    ("connection seL4RPCCall x(from a.left, to d.r) |", ["with"], ["from"]),
    ("|", ["component", "connection", "group", "export"], ["provides", "uses"]),
    ("} configuration { |", ["t1", "a", "to_a"], ["component", "r"]),
    ("} configuration { t1.|", ["value", "_priority", "_period", "r_affinity"], ["t2", "component"]),
    ('} configuration { c.r_priority_protocol = "|', ["inherited", "fixed"], ["t1"]),
    ("} } component N { |", ["provides", "uses", "control", "requestor"], ["connection", "procedure"]),
    ("} } component N { provides |", ["Compute"], ["Fork"]),
    ("} } component N { provides Compute q |", ["with"], ["uses"]),
    ("} } component N { provides Compute q with |", ["priority_protocol", "requests"], ["helpers"]),
    ("} } component N { provides Compute q with priority_protocol |", ["inherited"], ["Compute"]),
    ("} } component N { consumes E e with |", ["helpers"], ["priority_protocol", "requests"]),
    ("} } component N { has semaphore s with |", ["helpers"], ["priority_protocol", "requests"]),
    ("} } component N { uses Compute u; provides Compute q with requests (|", ["u"], ["q"]),
    ("} } |", ["component", "assembly", "import"], ["control"]),
    ("} } import <|", ["std_connector.camkes"], ["nested.camkes"]),
    ('} } import "|', ["nested.camkes"], ["std_connector.camkes"]),
    ("// |", [], ["component", "Task"]),
    ("component Task t5; broken ? ; component |", ["Task"], ["provides"]),
]


@pytest.mark.long
def test_completion(nested: Path) -> None:
    """In a text that breaks off at the cursor, and in one that goes on."""
    text = (nested / "system.camkes").read_text()
    before, cut, rest = text.partition("        connection seL4RPCCall to_e")

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        for after, wanted, unwanted in COMPLETIONS:
            for behind in ("\n", "\n" + cut + rest):
                editor.change("system.camkes", before + after.replace("|", "") + behind)
                found = await editor.complete("system.camkes", before[-20:] + after)
                assert set(wanted) <= set(found), (after, found)
                assert not set(unwanted) & set(found), (after, found)

    session(nested, script)


@pytest.mark.long
def test_hints(nested: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        found = await editor.hints("system.camkes")
        assert found["provides Compute r with priority_protocol inherited, requests (left, right);"] == (
            "ceiling 30, 2 threads"
        )
        assert found["component Task t3;"] == "task 2"
        assert found["requestor;"] == "t1: id 0; t2: id 1; t3: id 2; t4: id 3"
        editor.replace("system.camkes", "t2._priority = 30", "t2._priority = 35")
        found = await editor.hints("system.camkes")
        assert found["provides Compute r with priority_protocol inherited, requests (left, right);"] == (
            "ceiling 35, 2 threads"
        )

    session(nested, script)


@pytest.mark.long
def test_quick_fix(nested: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        await editor.settled("system.camkes")
        for wrong, right, line in (
            ("from a.lfet", "from a.left", "47:lfet"),
            ("component Leef e", "component Leaf e", "44:Leef"),
            ("t1.before_uss =", "t1.before_us =", "58:before_uss"),
            ("import <std_conector.camkes>;", "import <std_connector.camkes>;", "3:"),
        ):
            editor.replace("system.camkes", right, wrong)
            found = await editor.settled("system.camkes")
            (fix,) = [fix for each in found for fix in await editor.actions("system.camkes", each)][:1]
            assert fix[1].startswith(f"system.camkes:{line}"), fix
            assert fix[2] in right
            editor.replace("system.camkes", wrong, right)
            await editor.settled("system.camkes")

    session(nested, script)


@pytest.mark.long
def test_formatting_and_outline(nested: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("system.camkes", "component A{control;\nuses P p;}\n")
        assert await editor.format("system.camkes") == "component A {\n    control;\n    uses P p;\n}\n"
        editor.change("system.camkes", "component A {")
        assert await editor.format("system.camkes") is None
        editor.change("system.camkes", (EXAMPLES / "hierarchy" / "hierarchy.camkes").read_text())
        symbols = await editor.symbols("system.camkes")
        assert [s.name for s in symbols] == ["Greet", "Speaker", "Polite", "Greeter", "Guest", "assembly"]
        greeter = symbols[3]
        assert [s.name for s in greeter.children or []] == [
            "greeting",
            "word",
            "composition",
            "configuration",
        ]

    session(nested, script)


@pytest.mark.long
def test_parts_of_components(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "hierarchy", tmp_path / "h")

    async def script(editor: Editor) -> None:
        editor.open("hierarchy.camkes")
        text = editor.texts["hierarchy.camkes"].replace(
            "provides Greet voice;", "provides Greet voice with priority_protocol inherited;"
        )
        text = text.replace(
            "component Guest {\n    control;", "component Guest {\n    control;\n    requestor;"
        )
        text = text.replace(
            "configuration {\n        second",
            "configuration {\n        guest._priority = 50;\n        visitor._priority = 40;\n        second",
        )
        editor.change("hierarchy.camkes", text)
        hover = await editor.hover("hierarchy.camkes", "to first.gree|ting")
        assert "**first.polite.voice**: inherited, ceiling 50" in hover
        hover = await editor.hover("hierarchy.camkes", "component Polite |polite")
        assert "**first.polite.voice**" in hover and "**second.polite.voice**" in hover
        assert await editor.definition("hierarchy.camkes", "<- wo|rd") == "hierarchy.camkes:21:word"

    session(tmp_path / "h", script)


def test_other_texts_are_left_alone(tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("notes.txt", "component A {")
        editor.open("a.camkes", "component A {")
        assert await editor.settled("a.camkes")
        assert "notes.txt" not in editor.diagnostics
        assert await editor.hover("notes.txt", "component |A") == ""
        assert await editor.complete("notes.txt", "component |A") == []
        assert await editor.symbols("notes.txt") == []

    session(tmp_path, script)


@pytest.mark.long
def test_the_application_around_a_file(tmp_path: Path) -> None:
    """Import paths and macros come from the CMakeLists.txt above; a part shows what the whole computes."""
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    (tmp_path / "CMakeLists.txt").write_text(
        "project(app C)\nCAmkESAddImportPath(parts/deep)\n"
        "DeclareCAmkESComponent(A SOURCES a.c)\nDeclareCAmkESComponent(B SOURCES b.c)\n"
        "DeclareCAmkESRootserver(app.camkes CPP_FLAGS -DPROTOCOL=inherited)\n"
    )
    part = "procedure P { void f(); }\ncomponent B { provides P p with priority_protocol PROTOCOL; }\n"
    (tmp_path / "parts" / "deep" / "part.camkes").write_text(part)
    (tmp_path / "app.camkes").write_text(
        "import <std_connector.camkes>; import <part.camkes>;\n"
        "component A { control; requestor; uses P p; }\n"
        "assembly { composition { component A a; component B b;\n"
        "connection seL4RPCCall c(from a.p, to b.p); }\n"
        "configuration { a._priority = 7; } }\n"
    )

    async def script(editor: Editor) -> None:
        editor.open("parts/deep/part.camkes")
        assert await editor.settled("part.camkes") == []
        assert "**b.p**: inherited, ceiling 7, 1 thread" in await editor.hover(
            "parts/deep/part.camkes", "provides P |p"
        )
        editor.open("app.camkes", (tmp_path / "app.camkes").read_text().replace("= 7", "= 9"))
        assert "ceiling 9" in await editor.hover("parts/deep/part.camkes", "provides P |p")

    session(tmp_path, script)


@pytest.mark.mostly_long("no")
@pytest.mark.parametrize("how", ["no", "option", "command"])
def test_cmake_is_run_only_in_trusted_folders(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        "project(p)\nfile(WRITE ${CMAKE_BINARY_DIR}/ran yes)\n"
        "DeclareCAmkESComponent(A SOURCES a.c)\nDeclareCAmkESRootserver(app.camkes)\n"
    )
    system = "component A { control; }\nassembly { composition { component A a; } }\n"
    (folder / "app.camkes").write_text(system)
    if how == "command":
        assert main(["trust", str(folder)]) == 0

    async def script(editor: Editor) -> None:
        editor.open("app.camkes")
        assert await editor.settled("app.camkes") == []
        editor.change("app.camkes", f"{system}\n")
        await editor.settled("app.camkes")
        assert len(editor.shown) == (how == "no")  # once
        assert how != "no" or "camkes trust" in editor.shown[0]

    before = set((tmp_path / "cache").rglob("ran"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    session(folder, script, trusted=how == "option")
    assert bool(set((tmp_path / "cache").rglob("ran")) - before) == (how != "no")


def test_a_system_without_cmake(tmp_path: Path) -> None:
    """A part belongs to the system of its folder, or of a folder above."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "p.camkes").write_text("procedure P { void f(); }\n")
    (tmp_path / "other.camkes").write_text("assembly { composition { } }\n")
    (tmp_path / "system.camkes").write_text(
        'import "parts/p.camkes";\ncomponent A { uses P p; }\nassembly { composition { component A a; } }\n'
    )

    async def script(editor: Editor) -> None:
        editor.open("parts/p.camkes")
        assert await editor.settled("p.camkes") == []
        found = await editor.rename("parts/p.camkes", "procedure |P", "Q")
        assert found["system.camkes"].count("uses Q p") == 1

    session(tmp_path, script)


@pytest.mark.long
def test_a_part_from_elsewhere_belongs_to_an_open_system(tmp_path: Path) -> None:
    for name in ("app", "common"):
        (tmp_path / name).mkdir()
    (tmp_path / "common" / "p.camkes").write_text("procedure P { void f(); }\n")
    (tmp_path / "app" / "CMakeLists.txt").write_text("DeclareCAmkESRootserver(a.camkes)\n")
    (tmp_path / "app" / "a.camkes").write_text(
        'import "../common/p.camkes";\ncomponent A { uses P p; }\n'
        "assembly { composition { component A a; } }\n"
    )

    async def script(editor: Editor) -> None:
        editor.open("common/p.camkes")
        assert list(await editor.rename("common/p.camkes", "procedure |P", "Q")) == ["common/p.camkes"]
        editor.open("app/a.camkes")
        found = await editor.rename("common/p.camkes", "procedure |P", "Q")
        assert found["app/a.camkes"].count("uses Q p") == 1

    session(tmp_path, script)


def test_a_file_with_errors_prevents_a_rename(tmp_path: Path) -> None:
    text = (
        "procedure P { void f(); }\ncomponent A { uses P p; }\ncomponent B { provides P q; }\n"
        "assembly { composition { component A a; component B b;\n"
        "connection seL4RPCCall c(from a.p, to b.q);\n}\nconfiguration { a.x = 1; } }\n"
    )
    (tmp_path / "a.camkes").write_text(text)

    async def script(editor: Editor) -> None:
        editor.open("a.camkes", text.replace("(from a.p, to", "(from a.p ((( to"))
        with pytest.raises(JsonRpcException, match=r"a\.camkes:5 has an error and may contain a `a`"):
            await editor.rename("a.camkes", "component A |a", "z")
        assert "component Z a" in (await editor.rename("a.camkes", "component |A a", "Z"))["a.camkes"]
        editor.change("a.camkes", text.replace("(from a.p, to", "(from a.p to"))
        assert "from z.p to b.q" in (await editor.rename("a.camkes", "component A |a", "z"))["a.camkes"]

    session(tmp_path, script)


def test_characters_beyond_ascii_and_other_line_ends(tmp_path: Path) -> None:
    text = "procedure P { void f(); }\r\n/* 😀é */ component A { uses P p; /* 😀 */ provides P q; }\r\n"
    (tmp_path / "a.camkes").write_bytes(text.encode())

    async def script(editor: Editor) -> None:
        editor.open("a.camkes", text)
        assert await editor.definition("a.camkes", "provides |P q") == "a.camkes:1:P"
        identifier, position = editor.place("a.camkes", "provides P |q")
        found = await editor.client.text_document_hover_async(lsp.HoverParams(identifier, position))
        assert found is not None and found.range is not None
        assert found.range.start == position

    session(tmp_path, script)


def test_missing_handlers_are_added_in_the_source_of_the_component(tmp_path: Path) -> None:
    """At the component, its `control` and what it provides; the same text as `camkes stubs`, behind what the
    editor has of the file."""
    text = (
        "procedure Reading { int value(); int limit(); }\n"
        "component Meter {\n    control;\n    provides Reading reading;\n    emits Tick tick;\n}\n"
        "component Other { control; }\n"
        "assembly { composition { component Meter meter; component Other other; } }\n"
    )

    async def script(editor: Editor) -> None:
        editor.open("system.camkes", text)
        await editor.settled("system.camkes")
        title = "Define the 2 missing handlers of `Meter` in meter.c"
        for line, column in ((2, 1), (3, 5), (4, 5)):
            at = lsp.Position(line - 1, column - 1)
            told = lsp.Diagnostic(lsp.Range(at, at), "component `Meter` ...", code="E0723")
            assert await editor.actions("system.camkes", told) == [(title, "meter.c:2:", f"\n{printed}")], (
                line
            )
        for line in (1, 5, 8):
            at = lsp.Position(line - 1, 0)
            told = lsp.Diagnostic(lsp.Range(at, at), "x")
            assert await editor.actions("system.camkes", told) == []
        editor.open("meter.c", "int run(void) { }\nint reading_value(void) { return 1; }")
        at = lsp.Position(1, 0)
        ((title, place, new),) = await editor.actions(
            "system.camkes", lsp.Diagnostic(lsp.Range(at, at), "x", code="E0723")
        )
        assert title == "Define `reading_limit()` in meter.c" and place == "meter.c:2:"
        assert new.startswith("\n\n#include <camkes.h>\n\n/*") and "int reading_limit(void)" in new

    (tmp_path / "system.camkes").write_text(text)
    (tmp_path / "meter.c").write_text("int run(void) { return 0; }\n")
    printed = camkes("stubs", tmp_path, "Meter", "--print").output.partition("\n")[2]
    session(tmp_path, script)
