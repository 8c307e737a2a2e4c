# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Colours, lenses, words, fixes that insert, symbols of a workspace, and ways between methods and C code."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from camkes.cli.table import MODULES
from camkes.editor import fixes
from camkes.editor.hover import hover_setting
from camkes.editor.navigation import _SYMBOLS
from camkes.editor.presentation import _TOKENS, _TYPES, LENSES
from camkes.editor.words import VALUES, WORDS, hover_word
from camkes.editor.workspace import Workspace
from camkes.model.overrun import OF_CPIS
from camkes.model.protocols import Protocol
from camkes.model.settings import TABLE
from camkes.parser.tables import load
from tests.command import ROOT
from tests.editor.client import Editor
from tests.editor.test_session import EXAMPLES, session

pytestmark = pytest.mark.requirement("TOOL-7")


@pytest.fixture
def protocols(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "protocols", tmp_path / "protocols")
    return tmp_path / "protocols"


def test_every_word_of_the_language_is_explained() -> None:
    tables = load()
    assert {*tables.words, *tables.contextual} == {*WORDS}


def test_the_grammar_of_vs_code_has_every_word() -> None:
    grammar = (ROOT / "editors" / "vscode" / "syntaxes" / "camkes.tmLanguage.json").read_text()
    grammar = re.sub(r"\(?(\w)\)?\?", r"\1", grammar)  # `threads?` as `threads`
    assert {word for word in WORDS if not re.search(rf"(?<!\w)b?{word}s?(?!\w)", grammar)} == set()


def test_words_are_not_in_comments_strings_and_names() -> None:
    text = 'component A { control; } // control\n/* uses\nuses */ "uses" my_control'
    assert hover_word(text, 1, 16) == (f"`control`: {WORDS['control']}", 15, 22)
    assert hover_word(text, 1, 30) is None
    assert [hover_word(text, line, column) for line, column in ((2, 5), (3, 2), (3, 12), (3, 20))] == [
        None
    ] * 4


@pytest.mark.parametrize("word", WORDS)
def test_every_word_has_a_hover(word: str) -> None:
    assert WORDS[word]
    assert hover_word(f"{word} other", 1, 1) == (f"`{word}`: {WORDS[word]}", 1, len(word) + 1)


#: Where a setting of each owner is set, of all that have one: its name in a configuration.
_NAMES = {
    "thread": ("a._{}", "a.p_{}", "a.{}"),
    "interface": ("a.p_{}",),
    "semaphore": ("a.s_{}",),
    "condition": ("a.s_{}",),
    "instance": ("a.{}",),
    "connection": ("c.{}",),
}


def test_every_setting_of_the_table_has_a_hover(tmp_path: Path) -> None:
    """Under all of its names, with its text in the table."""
    names = {
        pattern.format(known.name): known
        for known in TABLE.values()
        for pattern in _NAMES[known.owner]
        if known.shared or known.owner != "thread" or pattern != "a.{}"
    }
    names = {name.replace("untyped_pool", "untyped12_pool"): known for name, known in names.items()}
    assert {known.name for known in names.values()} == set(TABLE)
    lines = [f"{name} = 1;" for name in names]
    text = (
        "procedure P { void f(); } component A { provides P p; uses P q; has semaphore s; }\n"
        "assembly { composition { component A a; connection seL4RPCCall c(from a.q, to a.p); }\n"
        "configuration {\n"
        f"{chr(10).join(lines)}\na.size = 1; c._priority = 1; a.requestor = 1; a.irq_type = 1;\n}} }}"
    )
    path = tmp_path / "a.camkes"
    workspace = Workspace()
    workspace.open(str(path), text)
    index = workspace.analysis(str(path)).index

    def shown(line: int, column: int) -> str | None:
        use = index.setting_at(str(path), line, column)
        assert use is not None
        return hover_setting(use)

    for number, (name, known) in enumerate(names.items()):
        found = shown(number + 4, 3)
        assert known.about and found is not None, name
        assert found.startswith(f"`{name[2:]}`: {known.about} ("), name
    last = text.split("\n")[len(names) + 3]
    of_others = [shown(len(names) + 4, last.index(name) + 3) for name in ("a.size", "c._", "a.irq")]
    assert of_others == [None, None, None]
    assert "id of the task" in (shown(len(names) + 4, last.index("a.req") + 3) or "")


@pytest.mark.long
def test_hover_of_a_word(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("protocols.camkes")
        assert "its requests have its priority" in await editor.hover("protocols.camkes", "reques|tor;")
        assert "a unit of time" in await editor.hover("protocols.camkes", "80 m|s")
        assert await editor.hover("protocols.camkes", "served concu|rrently") == ""

    session(protocols, script)


async def tokens(editor: Editor, name: str) -> list[tuple[str, str, bool]]:
    """Names with their colours, and whether it is where they are declared."""
    found = await editor.client.text_document_semantic_tokens_full_async(
        lsp.SemanticTokensParams(lsp.TextDocumentIdentifier(editor.uri(name)))
    )
    assert found is not None
    lines = editor.texts[name].split("\n")
    line = character = 0
    result = []
    for down, right, length, kind, modifiers in zip(*(found.data[n::5] for n in range(5)), strict=True):
        line, character = line + down, right if down else character + right
        result.append((lines[line][character : character + length], _TYPES[kind], bool(modifiers)))
    return result


def test_colours_of_names(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("protocols.camkes")
        found = await tokens(editor, "protocols.camkes")
        assert found[:3] == [("Pow", "interface", True), ("pow", "method", True), ("Task", "class", True)]
        assert ("Pow", "interface", False) in found and ("next", "property", False) in found
        assert ("t1", "variable", True) in found and ("to_leaf", "function", True) in found
        assert ("seL4RPCCall", "macro", False) in found

    session(protocols, script)


#: A name of each kind, and how the outline shows it.
OF_EACH_KIND = {
    "procedure": ("Ask", lsp.SymbolKind.Interface),
    "method": ("ask", lsp.SymbolKind.Method),
    "struct": ("Pair", lsp.SymbolKind.Struct),
    "connector": ("Own", lsp.SymbolKind.Operator),
    "component": ("Client", lsp.SymbolKind.Class),
    "interface": ("asked", lsp.SymbolKind.Property),
    "mutex": ("lock", lsp.SymbolKind.Key),
    "attribute": ("count", lsp.SymbolKind.Field),
    "instance": ("client", lsp.SymbolKind.Object),
    "group": ("together", lsp.SymbolKind.Namespace),
    "connection": ("wire", lsp.SymbolKind.Event),
}
KINDS = """
procedure Ask { int ask(in int x); }
struct Pair { int a; int b; }
connector Own { from Procedure; to Procedure; }
component Client { control; has mutex lock; attribute int count; uses Ask asked; }
component Server { provides Ask asked; }
assembly {
    composition {
        group together { component Client client; component Server server; }
        connection Own wire(from together.client.asked, to together.server.asked);
    }
}
"""


def test_every_kind_of_symbol_has_a_colour_a_hover_and_a_place_in_the_outline(tmp_path: Path) -> None:
    assert {*OF_EACH_KIND} == {*_TOKENS} and {*_SYMBOLS} == {*_TOKENS} - {"group"}

    async def script(editor: Editor) -> None:
        editor.open("a.camkes", KINDS)
        colours = await tokens(editor, "a.camkes")
        outline = {item.name: item.kind for item in _every(await editor.symbols("a.camkes"))}
        for kind, (name, symbol) in OF_EACH_KIND.items():
            assert (name, _TOKENS[kind], True) in colours
            assert outline[name] is symbol
            assert name in await editor.hover("a.camkes", f" |{name}")

    (tmp_path / "a.camkes").write_text(KINDS)
    session(tmp_path, script)


def _every(items: Sequence[lsp.DocumentSymbol]) -> Iterator[lsp.DocumentSymbol]:
    for item in items:
        yield item
        yield from _every(item.children or [])


def test_lenses(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("protocols.camkes")
        found = await editor.client.text_document_code_lens_async(
            lsp.CodeLensParams(lsp.TextDocumentIdentifier(editor.uri("protocols.camkes")))
        )
        commands = [lens.command for lens in found or [] if lens.command]
        assert {each.command: each.title for each in commands} == LENSES
        assert [*(commands[0].arguments or ())] == [str(protocols)]
        line = (found or [])[0].range.start.line
        assert editor.texts["protocols.camkes"].split("\n")[line].startswith("assembly")

    session(protocols, script)
    assert {*LENSES.values()} <= {*MODULES}
    package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text())
    assert {*LENSES} <= {each["command"] for each in package["contributes"]["commands"]}


def test_symbols_of_the_workspace(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("protocols.camkes")
        found = await editor.client.workspace_symbol_async(lsp.WorkspaceSymbolParams("exc"))
        assert sorted(each.name for each in found or []) == ["Exclusive", "exclusive", "to_exclusive"]

    session(protocols, script)


@pytest.mark.long
def test_from_a_method_to_its_handlers_and_back(protocols: Path) -> None:
    async def script(editor: Editor) -> None:
        async def implementation(text: str) -> list[str]:
            found = await editor.client.text_document_implementation_async(
                lsp.ImplementationParams(*editor.place("protocols.camkes", text))
            )
            return [editor.text_of(each) for each in found or [] if isinstance(each, lsp.Location)]

        editor.open("protocols.camkes")
        assert await implementation("int |pow(") == [
            "shared.c:5:p_pow",
            "exclusive.c:5:p_pow",
            "leaf.c:5:p_pow",
        ]
        assert await implementation("component |Task {") == ["task.c:6:run"]
        assert await implementation("component Leaf |{") == []
        editor.texts["shared.c"] = (protocols / "shared.c").read_text()
        assert await editor.definition("shared.c", "int p_p|ow") == "protocols.camkes:5:pow"
        assert await editor.definition("shared.c", "next_|pow(") == "protocols.camkes:5:pow"
        assert await editor.definition("shared.c", "camkes_|work") == ""

    session(protocols, script)


#: Rules of quick fixes, each with a text, and what is changed where into what.
FIXES = [
    (fixes._semicolon, "component A { control }", "Add `;`", "1:", ";"),
    (
        fixes._import,
        "procedure P { void f(); }\ncomponent A { control; uses P p; }\ncomponent B { provides P p; }\n"
        "assembly { composition { component A a; component B b;\n"
        "connection seL4RPCCall c(from a.p, to b.p); } }",
        "Add `import <std_connector.camkes>;`",
        "1:",
        "import <std_connector.camkes>;\n",
    ),
    (
        fixes._item,
        "import <std_connector.camkes>;\nprocedure P { void f(); }\n"
        "component A {\n    control;\n    uses P p;\n}\n"
        "component B { provides P p with priority_protocol inherited; }\n"
        "assembly { composition { component A a; component B b;\n"
        "connection seL4RPCCall c(from a.p, to b.p); } configuration { a._priority = 3; } }",
        "Add `requestor;`",
        "4:",
        "\n    requestor;",
    ),
    (
        fixes._item,
        "import <std_connector.camkes>;\n"
        "component A {\n    control;\n    dataport packet_t d;\n}\n"
        "assembly { composition { component A a; component A b;\n"
        "connection seL4SharedData c(from a.d, to b.d); } }",
        'Add `include "packet.h";`',
        "3:",
        '\n    include "packet.h";',
    ),
    (
        fixes._item,
        "import <std_connector.camkes>;\n"
        "procedure P { void f(in packet_t x); }\ncomponent A { control; uses P p; }\n"
        "component B { provides P p; }\n"
        "assembly { composition { component A a; component B b;\n"
        "connection seL4RPCCall c(from a.p, to b.p); } }",
        'Add `include "packet.h";`',
        "2:",
        'include "packet.h"; ',
    ),
    (
        fixes._word,
        "procedure Pow { void f(); }\ncomponent A { control; uses Pwo p; }",
        "Change to `Pow`",
        "2:Pwo",
        "Pow",
    ),
]


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(("text", "title", "place", "new"), [case[1:] for case in FIXES])
def test_fixes(text: str, title: str, place: str, new: str, tmp_path: Path) -> None:
    async def script(editor: Editor) -> None:
        editor.open("a.camkes", text)
        diagnostic = next(d for d in await editor.settled("a.camkes") if d.severity == 1)
        assert await editor.actions("a.camkes", diagnostic) == [(title, f"a.camkes:{place}", new)]

    (tmp_path / "a.camkes").write_text(text)
    (tmp_path / "packet.h").write_text("typedef struct {\n    int size;\n} packet_t;\n")
    session(tmp_path, script)


def test_every_rule_of_fixes_has_a_case() -> None:
    assert {rule for rule, *_ in FIXES} == {*fixes._RULES}


def test_protocols_and_policies_have_meanings() -> None:
    """Elsewhere these words are names."""
    assert set(VALUES["priority_protocol"]) == {each.value for each in Protocol}
    assert set(VALUES["overrun"]) == {each.value for each in OF_CPIS}
    text = "provides P fixed with priority_protocol fixed, overrun help;"
    found = hover_word(text, 1, text.index("fixed,") + 2)
    assert found is not None and "at the ceiling" in found[0] and found[1:] == (41, 46)
    assert hover_word(text, 1, text.index("fixed") + 2) is None
