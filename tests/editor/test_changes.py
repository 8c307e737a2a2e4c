# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the server answers at once after a change: errors in the changed statements, and hovers."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest

from camkes.diagnostics import Diagnostic, Severity
from camkes.editor import session as server_session
from camkes.editor.excerpts import Statements
from camkes.editor.workspace import Workspace
from tests.editor.client import Editor
from tests.editor.test_session import EXAMPLES, session

pytestmark = pytest.mark.requirement("TOOL-32")

FLIGHT = EXAMPLES / "flight" / "flight.camkes"
NESTED = EXAMPLES / "nested" / "system.camkes"
PROTOCOLS = EXAMPLES / "protocols" / "protocols.camkes"


def test_a_changed_text_has_the_statements_of_a_new_one() -> None:
    text = FLIGHT.read_text() + 'component A { } n; "a;" // b;\n/* { */ x.y = {"a": 1};\n'
    generator = random.Random(1)
    before = Statements(text)
    for _ in range(300):
        at = generator.randrange(len(text) + 1)
        added = generator.choice(["", "{", "}", ";", "x", "\n", "//", "/*", "*/", '"', "component X y;"])
        changed = text[:at] + added + text[at + generator.choice([0, 0, 1, 5, 200]) :]
        found, expected = Statements(changed, before), Statements(changed)
        assert "".join(each.text for each in found.all) == changed
        assert found.all == expected.all and found.starts == expected.starts
        before, text = found, changed if generator.randrange(3) else text


def test_places_move_with_their_statements() -> None:
    before = Statements("a.x = 1; a.y = 2;\na.y = 2;\n")
    after = Statements("\na.x = 3; a.y = 2; /* */\n\na.y = 2;\n")
    assert before.moved(1, 1, after) is None
    assert before.moved(1, 10, after) == (2, 10)
    assert before.moved(2, 1, after) is None  # a comment is before it


#: A file, what is written in place of what in it, and the code of the error.
MISTAKES = [
    (NESTED, "from a.left", "from a.lfet", "E0302"),
    (NESTED, "component Leaf e;", "component Leaf e", "E0131"),
    (NESTED, "t1._priority = ", "t1._priority = 900", "E0602"),
    (PROTOCOLS, "component Leaf leaf", "component Leef leaf", "E0203"),
    (PROTOCOLS, "t1._period", "t1._perod", "E0408"),
    (PROTOCOLS, "from t1.", "from t9.", "E0302"),
    (PROTOCOLS, "seL4RPCCall to_s", "seL4RPCall to_s", "E0203"),
    (PROTOCOLS, "requests (next)", "requests (nxt)", "E0324"),
    (PROTOCOLS, "t1.base = 2;", "t1.base = 2;  t1.base = 3;", "E0402"),
]


def errors(found: list[Diagnostic] | tuple[Diagnostic, ...] | None) -> set[tuple[str, str, int, int]]:
    assert found is not None
    return {
        (each.code.number, each.message, each.span.line, each.span.column)
        for each in found
        if each.severity is Severity.ERROR and each.span is not None
    }


@pytest.mark.parametrize("path,before,after,code", MISTAKES)
def test_errors_in_changed_statements_are_those_of_the_whole(
    path: Path, before: str, after: str, code: str
) -> None:
    workspace = Workspace()
    text = path.read_text()
    workspace.open(str(path), text)
    was = workspace.analysis(str(path)).diagnostics
    for changed in (text.replace(before, after, 1), f"\n\n{text}"):
        assert changed != text
        workspace.open(str(path), changed)
        changes = workspace.changed_statements(str(path))
        assert changes is not None
        quick = errors(changes.diagnostics())
        whole = errors(workspace.analysis(str(path)).diagnostics)
        assert quick <= whole
        if changed.startswith("\n\n"):
            assert quick == whole and len(quick) == len(errors(was))
        else:
            assert code in {number for number, *_ in quick}, whole


def test_what_may_only_be_missing_is_left_to_the_analysis() -> None:
    """An instance with another name seems not to be connected: that its connections still have the old one is
    the error."""
    workspace = Workspace()
    text = PROTOCOLS.read_text()
    workspace.open(str(PROTOCOLS), text)
    workspace.analysis(str(PROTOCOLS))
    workspace.open(str(PROTOCOLS), text.replace("component Task t2;", "component Task t2x;"))
    changes = workspace.changed_statements(str(PROTOCOLS))
    assert changes is not None and changes.diagnostics() == []
    whole = workspace.analysis(str(PROTOCOLS)).diagnostics
    assert [each.code.number for each in whole] == ["E0302"]


@pytest.mark.parametrize(
    "path", [PROTOCOLS, EXAMPLES / "publish" / "publish.camkes", EXAMPLES / "hierarchy" / "hierarchy.camkes"]
)
def test_an_excerpt_makes_no_error_of_its_own(path: Path) -> None:
    """A statement that is left out or written again has the errors of the whole, or fewer."""
    workspace = Workspace()
    text = path.read_text()
    workspace.open(str(path), text)
    assert workspace.analysis(str(path)).plan is not None
    statements = Statements(text)
    for number in range(1, len(statements.all), 3):
        start, end = statements.starts[number], statements.starts[number + 1]
        workspace.open(str(path), text[:start] + " " + text[start:])
        changes = workspace.changed_statements(str(path))
        assert changes is not None
        assert errors(changes.diagnostics()) == set(), text[start:end]


def test_a_change_in_one_of_several_files(tmp_path: Path) -> None:
    """What it refers to is read from the others, as the editor has them."""
    parts, system = tmp_path / "parts.camkes", tmp_path / "system.camkes"
    parts.write_text(
        "procedure P { void f(); }\ncomponent A { control; uses P p; }\ncomponent B { provides P q; }\n"
    )
    text = (
        'import <std_connector.camkes>;\nimport "parts.camkes";\nassembly { composition {\n'
        "component A a;\ncomponent B b;\nconnection seL4RPCCall c(from a.p, to b.q);\n} }\n"
    )
    system.write_text(text)
    workspace = Workspace()
    workspace.open(str(system), text)
    workspace.open(str(parts), parts.read_text())
    assert workspace.analysis(str(system)).diagnostics == workspace.analysis(str(parts)).diagnostics == ()
    workspace.open(str(parts), parts.read_text().replace("uses P p", "uses Q p"))
    changes = workspace.changed_statements(str(parts))
    assert changes is not None
    (found,) = changes.diagnostics() or []
    assert found.code.number == "E0203" and found.span is not None and found.span.file.path == parts
    assert found.span.file.text == workspace.buffers[str(parts)]
    workspace.open(str(parts), parts.read_text().replace("uses P p", "uses P r"))
    workspace.open(str(system), text.replace("from a.p", "from a.x"))
    changes = workspace.changed_statements(str(system))
    assert changes is not None
    (found,) = changes.diagnostics() or []
    assert found.code.number == "E0302" and "did you mean" not in found.help
    workspace.open(str(system), text.replace("from a.p", "from a.r"))
    changes = workspace.changed_statements(str(system))
    assert changes is not None and changes.diagnostics() == []


def test_what_is_too_large_waits_for_the_analysis(tmp_path: Path) -> None:
    """As a connection that all instances have."""
    many = range(1500)
    path = tmp_path / "a.camkes"
    text = (
        "procedure P { void f(); }\ncomponent A { control; uses P p; }\ncomponent B { provides P p; }\n"
        "connector C { from Procedures; to Procedure; }\nassembly { composition {\ncomponent B b;\n"
        + "".join(f"component A a{i};\n" for i in many)
        + f"connection C c({', '.join(f'from a{i}.p' for i in many)}, to b.p);\n}} }}\n"
    )
    workspace = Workspace()
    workspace.open(str(path), text)
    workspace.analysis(str(path))
    workspace.open(str(path), text.replace("to b.p", "to b.x"))
    changes = workspace.changed_statements(str(path))
    assert changes is not None and changes.diagnostics() is None
    workspace.open(str(path), f"#define X\n{text}")
    assert workspace.changed_statements(str(path)) is None  # the preprocessor has a part in it


def test_errors_come_before_the_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "system.camkes").write_text(PROTOCOLS.read_text())

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        assert await editor.settled("system.camkes") == []
        monkeypatch.setattr(server_session, "DELAY", 1000)  # no analysis follows
        editor.replace("system.camkes", "from t1.p", "from t1.q")
        async with asyncio.timeout(10):
            while not editor.diagnostics["system.camkes"]:
                await asyncio.sleep(0.01)
        assert [each.code for each in editor.diagnostics["system.camkes"]] == ["E0302"]
        editor.replace("system.camkes", "from t1.q", "from t1.p")
        async with asyncio.timeout(10):
            while editor.diagnostics["system.camkes"]:
                await asyncio.sleep(0.01)

    session(tmp_path, script)


def test_a_hover_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For an analysis that takes long: it tells what is known, and that more follows."""
    (tmp_path / "system.camkes").write_text(PROTOCOLS.read_text())
    analysed = Workspace.analysis

    async def script(editor: Editor) -> None:
        editor.open("system.camkes")
        assert "R " in await editor.hover("system.camkes", "component Task t|1")

        ready = False

        def later(self: Workspace, path: str) -> object:
            while not ready:
                time.sleep(0.01)
            return analysed(self, path)

        monkeypatch.setattr(Workspace, "analysis", later)
        editor.replace("system.camkes", "component Task t1;", "\n component Task t1;")
        found = await editor.first_hover("system.camkes", "component Task t|2")
        assert "task **t2**: id" in found and "before the last change" in found
        found = await editor.first_hover("system.camkes", "component Task t|1")
        assert "component Task t1" in found and "times follow" in found
        assert "t1" in await editor.complete("system.camkes", "to_leaf(from |")
        ready = True
        assert "R " in await editor.hover("system.camkes", "component Task t|1")

    session(tmp_path, script)
