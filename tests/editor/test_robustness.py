# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Whatever stands in the editor at a keystroke, every question has an answer."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from camkes.diagnostics import Span
from camkes.editor import convert
from camkes.editor.complete import complete
from camkes.editor.hover import hints, hover, hover_setting
from camkes.editor.outline import Item, outline
from camkes.editor.rename import RefusedError, check_name, check_symbol
from camkes.editor.workspace import Workspace
from tests.editor.client import editor

pytestmark = pytest.mark.requirement("TOOL-7")

ROOT = Path(__file__).parents[2]
GOOD = (ROOT / "tests" / "parser" / "good.camkes").read_text()
EXAMPLES = [
    (ROOT / "examples" / name).read_text()
    for name in ("nested/system.camkes", "hierarchy/hierarchy.camkes", "protocols/protocols.camkes")
]
#: Everything that names can do wrong: components that contain themselves, names twice, paths too long.
STRANGE = """
component A { composition { component B b; export b.p -> p; } provides P p; }
component B { composition { component A a; export a.p -> p; } provides P p; configuration { a.p_x = 1; } }
component B { has mutex m; provides P p; provides P p with requests (p, q); }
assembly {
    composition {
        component A a; component A a; component B b; component { control; uses P p; } c;
        group g { component A a; component C d; }
        connection K k(from a.p, to g.a.p, from a.b.c.d, to p); connection K k();
    }
    configuration { a.p_priority = 1; a.b.c = 2; k.x = 3; b.m_value = 4; a.p <- b.q; g.x = {"a": 1}; }
}
"""


def ask_everything(path: Path, text: str, name: str = "other") -> None:
    workspace = Workspace()
    workspace.open(str(path), text)
    analysis = workspace.analysis(str(path))
    source = analysis.files[os.path.realpath(path)]
    for diagnostic in analysis.diagnostics:
        for span in (diagnostic.span, *(label.span for label in diagnostic.related)):
            if span is not None:
                in_text(span)
    own = analysis.index.uses.get(str(source.path), [])
    for use in own:
        in_text(use.span)
        in_text(use.whole)
        assert analysis.index.at(str(source.path), use.whole.line, use.whole.column) is not None
        assert hover(analysis, use)
        assert use in analysis.index.uses_of(use.symbol)
        try:
            check_symbol(analysis, use.symbol)
            check_name(analysis, use.symbol, name)
        except RefusedError:
            pass
    for setting in analysis.index.settings.get(str(source.path), []):
        hover_setting(setting)
    for hint in hints(analysis, str(source.path)):
        in_text(hint.span)
    for item in outline(source, analysis.program.items):
        inside(item)
    for entry in complete(analysis, path, text, len(text)):
        assert entry.text


def in_text(span: Span) -> None:
    lines = span.file.lines
    assert 1 <= span.line <= span.end_line <= len(lines)
    assert span.column <= len(lines[span.line - 1]) + 1
    assert span.end_column <= len(lines[span.end_line - 1]) + 1


def inside(item: Item) -> None:
    """A name is within its item, as editors demand."""
    in_text(item.span)
    start, end = (item.span.line, item.span.column), (item.span.end_line, item.span.end_column)
    assert start <= (item.name_span.line, item.name_span.column)
    assert (item.name_span.end_line, item.name_span.end_column) <= end
    for child in item.children:
        inside(child)


RELAXED = settings(
    deadline=None,
    max_examples=max(15, settings.default.max_examples // 10),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.mark.long
@given(st.sampled_from([*EXAMPLES, STRANGE]), st.floats(0, 1), st.integers(0, 12))
@RELAXED
def test_a_text_that_is_being_typed(tmp_path: Path, text: str, where: float, missing: int) -> None:
    place = round(where * len(text))
    ask_everything(tmp_path / "a.camkes", text[:place])
    ask_everything(tmp_path / "a.camkes", text[:place] + text[place + missing :])


@pytest.mark.long
@given(st.floats(0, 1))
@settings(RELAXED, max_examples=10)
def test_a_text_with_all_constructs(tmp_path: Path, where: float) -> None:
    ask_everything(tmp_path / "a.camkes", GOOD[: round(where * len(GOOD))])


@given(st.lists(st.sampled_from(STRANGE.split()), max_size=30), st.text(max_size=8))
@example([], "")
@example(STRANGE.split(), "a")
@RELAXED
def test_any_text(tmp_path: Path, words: list[str], name: str) -> None:
    ask_everything(tmp_path / "a.camkes", " ".join(words), name)


@given(st.text(max_size=30), st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.integers(0, 40))
def test_places_there_and_back(text: str, encoding: str, character: int) -> None:
    line = text.replace("\n", "")
    _, column = convert.place_of(lsp.Position(0, character), [line], encoding)
    assert 1 <= column <= len(line) + 1
    units = len(
        line[: column - 1].encode(f"{encoding}-le" if encoding != "utf-8" else encoding, "surrogatepass")
    )
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    assert convert.place_of(lsp.Position(0, units // size), [line], encoding) == (1, column)
    assert convert.place_of(lsp.Position(9, 0), [line], encoding) == (1, len(line) + 1)


@pytest.mark.long
def test_a_session_survives_every_keystroke(tmp_path: Path) -> None:
    """A file typed from its beginning, with questions in between, and more changes than there is time for."""
    text = (ROOT / "examples" / "inversion" / "inversion.camkes").read_text()
    (tmp_path / "a.camkes").write_text("")

    async def run() -> None:
        async with editor(tmp_path) as session:
            session.open("a.camkes", "")
            for end in range(0, len(text), 1):
                session.change("a.camkes", text[:end])
                if end % 97 == 0:
                    await session.complete("a.camkes", text[:end] + "|")
                    await session.hover("a.camkes", text[: end // 2] + "|")
                    await session.symbols("a.camkes")
                    await session.hints("a.camkes")
            session.change("a.camkes", text)
            found = await session.settled("a.camkes")
            while any(each.severity == lsp.DiagnosticSeverity.Error for each in found):
                found = await session.settled("a.camkes")
            assert "task" in await session.hover("a.camkes", "component Task |high")

    asyncio.run(asyncio.wait_for(run(), 120))


def test_macros_are_not_renamed(tmp_path: Path) -> None:
    path = tmp_path / "a.camkes"
    text = "#define AS component A a1; component A a2;\ncomponent A { control; }\n"
    text += "assembly { composition { AS component A a3; } }\n"
    workspace = Workspace()
    workspace.open(str(path), text)
    index = workspace.analysis(str(path)).index
    analysis = workspace.analysis(str(path))
    with pytest.raises(RefusedError, match="macro"):
        check_symbol(analysis, index.tops["component"]["A"])
    check_symbol(analysis, index.assembly.instances["a3"])
    with pytest.raises(RefusedError):
        check_symbol(analysis, index.assembly.instances["a1"])
    with pytest.raises(RefusedError, match="`AS` is a macro"):
        check_name(analysis, index.assembly.instances["a3"], "AS")
