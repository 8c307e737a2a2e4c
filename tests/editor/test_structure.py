# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Signatures, call hierarchies, folding, links, snippets, and the order of completions."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from camkes.diagnostics import Sink, SourceFile
from camkes.editor.complete import SNIPPETS
from camkes.parser.parse import parse
from tests.editor.client import Editor
from tests.editor.test_session import EXAMPLES, session

pytestmark = pytest.mark.requirement("TOOL-7")


@pytest.fixture
def protocols(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "protocols", tmp_path / "protocols")
    return tmp_path / "protocols"


async def signature(editor: Editor, name: str, text: str) -> tuple[str, str] | None:
    """The form, and the parameter at the cursor."""
    found = await editor.client.text_document_signature_help_async(
        lsp.SignatureHelpParams(*editor.place(name, text))
    )
    if found is None:
        return None
    (one,) = found.signatures
    parameters = [str(each.label) for each in one.parameters or []]
    assert all(each in one.label for each in parameters)
    active = found.active_parameter
    return one.label, parameters[active] if parameters and isinstance(active, int) else ""


def test_signatures(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        name = "protocols.camkes"
        editor.open(name)
        found = await signature(editor, name, "to_shared(from t1.p, from t2.p, |to shared.p)")
        assert found is not None and found[1] == "from INSTANCE.INTERFACE, ..."
        found = await signature(editor, name, "to_shared(from t1.p, from t2.p, to |shared.p)")
        assert found is not None and found[0].startswith(
            "connection seL4RPCCall NAME(from INSTANCE.INTERFACE"
        )
        assert found[1] == "to INSTANCE.INTERFACE"
        found = await signature(editor, name, "priority_protocol |inherited")
        assert found is not None and found[1] == "priority_protocol PROTOCOL"
        found = await signature(editor, name, "inherited, requests (|next)")
        assert found is not None and found[1] == "requests (INTERFACE, ...)"
        found = await signature(editor, name, "t1._priority = |10")
        assert found == ("_priority = 0 to 255", "0 to 255")
        found = await signature(editor, name, "t1.base = |2")
        assert found is not None and found[0].startswith("attribute int base")
        found = await signature(editor, name, "int pow(|in")
        assert found is not None and found[1] == "in TYPE NAME"
        assert await signature(editor, name, "component Task |t1") is None
        editor.texts["shared.c"] = (protocols / "shared.c").read_text()
        call = re.search(r"next_pow\([^;]*;", editor.texts["shared.c"])
        assert call is not None
        found = await signature(editor, "shared.c", call[0].replace("(", "(|", 1))
        assert found is not None and found[0].startswith("int next_pow(int ")
        assert await signature(editor, "shared.c", "|int p_pow(") is None

    session(protocols, script)


async def calls(editor: Editor, text: str) -> tuple[list[str], list[str], list[str]]:
    """The items at a place; who requests them, and what they request, each with where that is connected."""
    items = await editor.client.text_document_prepare_call_hierarchy_async(
        lsp.CallHierarchyPrepareParams(*editor.place("protocols.camkes", text))
    )
    lines = editor.texts["protocols.camkes"].split("\n")

    def places(ranges: object) -> list[str]:
        assert isinstance(ranges, list | tuple)
        return [lines[r.start.line][r.start.character : r.end.character] for r in ranges]

    before: list[str] = []
    after: list[str] = []
    for item in items or []:
        for caller in (
            await editor.client.call_hierarchy_incoming_calls_async(
                lsp.CallHierarchyIncomingCallsParams(item)
            )
            or []
        ):
            before += [f"{caller.from_.name}: {place}" for place in places(caller.from_ranges)]
        for called in (
            await editor.client.call_hierarchy_outgoing_calls_async(
                lsp.CallHierarchyOutgoingCallsParams(item)
            )
            or []
        ):
            after += [f"{called.to.name}: {place}" for place in places(called.from_ranges)]
    return [each.name for each in items or []], before, after


def test_calls(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("protocols.camkes")
        assert await calls(editor, "component Task |t1;") == (["t1"], [], ["shared.p: shared.p"])
        found = await calls(editor, "component Shared |shared;")
        assert found[0] == ["shared.p"] and found[2] == ["leaf.p: leaf.p"]
        assert found[1] == ["t1: t1.p", "t2: t2.p"]
        assert (await calls(editor, "from shared.|next"))[0] == ["shared.p"]
        assert (await calls(editor, "to leaf.|p"))[1] == [
            "shared.p: shared.next",
            "exclusive.p: exclusive.next",
        ]
        assert await calls(editor, "procedure |Pow") == ([], [], [])
        text = editor.texts["protocols.camkes"]
        assert "requests (next)" in text
        editor.change("protocols.camkes", text.replace("requests (next)", "requests ()", 1))
        after = await calls(editor, "to leaf.|p")
        assert len(after[1]) == 1  # one of them requests nothing now

    session(protocols, script)


def test_folding(tmp_path: Path) -> None:
    text = (
        "import <a.camkes>;\nimport <b.camkes>;\n/* a\nb */\n// c\n// d\ncomponent A {\n    control;\n}\n"
        'assembly {\n    composition {\n        component A a; // "{"\n    }\n}\nbroken {\n}\n'
    )

    async def script(editor: Editor) -> None:
        editor.open("a.camkes", text)
        found = await editor.client.text_document_folding_range_async(
            lsp.FoldingRangeParams(lsp.TextDocumentIdentifier(editor.uri("a.camkes")))
        )
        assert sorted((f.start_line, f.end_line, str(f.kind or "")) for f in found or []) == [
            (0, 1, "imports"),
            (2, 3, "comment"),
            (4, 5, "comment"),
            (6, 7, ""),
            (9, 12, ""),
            (10, 11, ""),
        ]

    session(tmp_path, script)


def test_links(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("protocols.camkes")
        found = await editor.client.text_document_document_link_async(
            lsp.DocumentLinkParams(lsp.TextDocumentIdentifier(editor.uri("protocols.camkes")))
        )
        lines = editor.texts["protocols.camkes"].split("\n")
        shown = {}
        for each in found or []:
            start, end = each.range.start, each.range.end
            assert each.target is not None and Path(each.target.removeprefix("file://")).is_file()
            shown[Path(each.target).name] = lines[start.line][start.character : end.character]
        assert shown == {
            "std_connector.camkes": "import <std_connector.camkes>",
            "task.c": "component",
            "shared.c": "component",
            "exclusive.c": "component",
            "leaf.c": "component",
        }

    session(protocols, script)


#: What is around a snippet in each block.
AROUND = {
    "": "{}",
    "component": "component X {{ {} }}",
    "composition": "assembly {{ composition {{ {} }} }}",
    "configuration": "assembly {{ composition {{ component A a; }} configuration {{ {} }} }}",
    "procedure": "procedure X {{ {} }}",
}


@pytest.mark.parametrize("block,name", [(block, name) for block, each in SNIPPETS.items() for name in each])
def test_snippets_are_statements(block: str, name: str) -> None:
    body = SNIPPETS[block][name]
    text = re.sub(r"\$\{\d\|(\w+)[^}]*\}|\$\{\d:([^}]*)\}|\$\d", lambda m: m[1] or m[2] or "", body)
    assert "$" not in text
    sink = Sink()
    source = SourceFile(Path("a.camkes"), AROUND[block].format(text.replace("\\n", "\n")))
    assert parse(source, sink) is not None, sink.diagnostics


async def items(editor: Editor, text: str) -> list[lsp.CompletionItem]:
    found = await editor.client.text_document_completion_async(
        lsp.CompletionParams(*editor.place("protocols.camkes", text))
    )
    every = found.items if isinstance(found, lsp.CompletionList) else found or []
    return sorted(every, key=lambda item: item.sort_text or item.label)


def test_what_is_used_most_is_offered_first(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        name = "protocols.camkes"
        editor.open(name)
        await editor.settled(name)
        labels = [each.label for each in await items(editor, "leaf.p_wcet = 1 ms;\n    |")]
        assert labels.index("t2") < labels.index("leaf")  # t2 is written five times, leaf twice
        editor.replace(name, "leaf.p_wcet = 1 ms;", "leaf.p_wcet = 1 ms;\n        t1.")
        labels = [each.label for each in await items(editor, "ms;\n        t1.|")]
        settings = [label for label in labels if label.startswith("_")]
        assert set(settings[:4]) == {"_priority", "_period", "_wcet", "_offset"}
        assert settings.index("_offset") > settings.index("_wcet")  # three times, four times
        assert labels.index("_priority") < 5

    session(protocols, script)


def test_snippets_are_for_editors_that_take_them(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("protocols.camkes")
        found = await items(editor, "composition {\n        |")
        snippet = next(each for each in found if each.label == "connection" and each.insert_text)
        assert snippet.insert_text_format == lsp.InsertTextFormat.Snippet
        assert snippet.insert_text is not None and "${1:seL4RPCCall}" in snippet.insert_text

    session(protocols, script, snippets=True)

    async def without(editor: Editor) -> None:
        editor.open("protocols.camkes")
        assert all(each.insert_text is None for each in await items(editor, "composition {\n        |"))

    session(protocols, without)
