# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""One run reports all mistakes: a syntax error in one statement neither hides nor makes others."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camkes.diagnostics import Diagnostic, Sink, SourceFile
from camkes.parser.lexer import tokenise
from camkes.parser.parse import ParseOptions, parse
from camkes.parser.positions import ParsedText
from camkes.parser.tables import load as load_tables
from tests.resolve.systems import resolve

pytestmark = pytest.mark.requirement("LANG-22")

TABLES = load_tables()

#: A system of every kind of statement, one on a line.
GOOD = """\
struct Point {
    int x;
    int y = 2;
}
procedure Pow {
    include "pow.h";
    int pow(in int base, refin uint64_t exponent, out string name[]);
    void reset(void);
}
connector Call {
    from Procedures;
    to Procedure with 1 thread;
    attribute string text = "a";
}
connector Signal {
    from Event;
    to Events;
}
connector Memory {
    from Dataports;
    to Dataports;
}
connector Registers {
    from Dataports;
    to hardware Dataport;
}
component Device {
    hardware;
    dataport Buf(8192) registers;
}
component Lock {
    provides Pow p with priority_protocol inherited, requests (next);
    uses Pow next;
    has mutex m;
    attribute int limit = 3;
}
component Leaf {
    provides Pow p with priority_protocol fixed;
    emits Done done;
    dataport Buf shared;
}
component End {
    provides Pow p with priority_protocol fixed;
}
component Task {
    include <task.h>;
    control;
    requestor;
    uses Pow p;
    maybe uses Pow spare;
    consumes Done done;
    dataport Buf shared;
    dataport Buf(8192) registers;
    attribute Point place;
    attribute string names[] = ["a", "b"];
    has semaphore sem;
}
component Both {
    uses Pow p;
    provides Pow q;
    composition {
        component Lock inner;
        component End end;
        connection Call up(from inner.next, to end.p);
        export inner.p -> q;
    }
    configuration {
        inner.limit = 4;
    }
}
assembly {
    composition {
        component Task task;
        component Both both;
        component Leaf leaf;
        component Device device;
        group together {
            component Leaf one;
        }
        connection Call c1(from task.p, to both.q);
        connection Call c2(from both.p, to leaf.p);
        connection Signal s(from leaf.done, to task.done);
        connection Memory d(from leaf.shared, to task.shared, to together.one.shared);
        connection Registers r(from task.registers, to device.registers);
    }
    configuration {
        task._priority = 10;
        task._period = 100 ms;
        task.place = {"x": 1 + 2 * (3 - 1)};
        device.registers_paddr = 0x1000;
        device.registers_size = 0x2000;
        both.limit = 5;
        task.names = ["c", "d"];
        leaf.copy <- task._priority;
    }
}
"""

LINES = GOOD.splitlines()
STATEMENTS = [number for number, line in enumerate(LINES) if line.endswith(";")]
PIECES = [
    *(word for word in (*TABLES.words, *TABLES.contextual)),
    *(symbol for symbol in TABLES.symbols if symbol not in "{};"),
    *("name", "7", "0x1", '"text"', "%", "@", "task", "Pow"),
]


def tokens(line: str) -> list[str]:
    """The tokens of a line."""
    found = tokenise(ParsedText.of(SourceFile(Path("line"), line)), TABLES, Sink())
    return [found.word(number) for number in range(len(found.kinds) - 1)]


def said(folder: Path, text: str) -> list[Diagnostic]:
    return resolve(folder, text)[1]


@cache
def said_of_good() -> list[Diagnostic]:
    with TemporaryDirectory() as folder:
        return said(Path(folder), GOOD)


def has_syntax_errors(text: str) -> bool:
    return parse(SourceFile(Path("x"), text), Sink(), options=ParseOptions(preprocess=False)) is None


def test_the_system_has_no_errors(tmp_path: Path) -> None:
    system, diagnostics = resolve(tmp_path, GOOD)
    assert system is not None
    assert [d.message for d in diagnostics if d.code.number[0] == "E"] == []


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize("number", STATEMENTS, ids=lambda number: LINES[number].strip())
def test_a_statement_without_any_token_in_it(tmp_path: Path, number: int) -> None:
    """Each token of each statement is left out in turn."""
    words = tokens(LINES[number])
    for index in range(len(words)):
        broken(tmp_path, number, words[:index] + words[index + 1 :], said_of_good())


@pytest.mark.long
@settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_broken_statement_has_all_the_errors(tmp_path: Path, data: st.DataObject) -> None:
    number = data.draw(st.sampled_from(STATEMENTS))
    words = tokens(LINES[number])
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(words) - 1))
        end = index + data.draw(st.integers(0, 2))
        words[index:end] = data.draw(st.lists(st.sampled_from(PIECES), max_size=2))
        words = words or ["%"]
    broken(tmp_path, number, words, said_of_good())


def test_a_word_is_taken_for_a_brace_only_where_one_is_missing(tmp_path: Path) -> None:
    number = LINES.index("            component Leaf one;")
    broken(tmp_path, number, tokens("component void maybe Leaf one;"), said_of_good())


def broken(folder: Path, number: int, words: list[str], before: list[Diagnostic]) -> None:
    """With these words as its statement, a line has all errors, and a place for one."""
    text = "\n".join([*LINES[:number], "    " + " ".join(words), *LINES[number + 1 :], ""])
    if not has_syntax_errors(text) or words[0] in ("composition", "configuration"):
        return  # another statement than was meant
    diagnostics = said(folder, text)
    assert any(d.code.number.startswith("E01") for d in diagnostics)
    known = {(d.code, d.message) for d in before}
    for diagnostic in diagnostics:
        if (diagnostic.code, diagnostic.message) in known:
            continue
        if words.count("{") != words.count("}"):  # then blocks end elsewhere, and only names are sure
            assert diagnostic.code.number.startswith("E01"), (diagnostic.message, " ".join(words))
            continue
        assert diagnostic.span is not None
        # without its `;` a statement goes on to the next word
        end = len(LINES[number + 1]) - len(LINES[number + 1].lstrip()) + 1
        place = (diagnostic.span.line, diagnostic.span.column)
        assert (number + 1, 1) <= place <= (number + 2, end), (diagnostic.message, " ".join(words))


@pytest.mark.parametrize(
    "broken_import", ['import "part.camkes"x;', "import ;", 'import "part.camkes', "import part;"]
)
def test_a_broken_import(tmp_path: Path, broken_import: str) -> None:
    """What it may have brought in is neither unknown nor defined too late."""
    (tmp_path / "part.camkes").write_text("procedure P { void f(); }\ncomponent C { provides P p; }\n")
    text = (
        f"{broken_import}\ncomponent A {{ uses P p; attribute Point q; }}\n"
        'import "part.camkes";\n'
        "assembly { composition { component A a; component C c; component D d;\n"
        "    connection Unknown x(from a.p, to d.z); } }\n"
    )
    assert {d.code.number[:3] for d in said(tmp_path, text)} == {"E01"}


def test_a_broken_definition_hides_only_itself(tmp_path: Path) -> None:
    text = (
        "procedure P { void f(int); }\ncomponent A { control; uses P p; uses Q q; }\n"
        "component { provides P p }\nassembly { composition { component A a; component Z z; } }\n"
    )
    found = [(d.code.number[:3], d.span.line) for d in said(tmp_path, text) if d.span]
    assert ("E01", 1) in found and ("E02", 2) in found


def test_a_broken_export_leaves_no_part_unconnected(tmp_path: Path) -> None:
    text = (
        "procedure P { void f(); }\nconnector C { from Procedures; to Procedure; }\n"
        "component Leaf { uses P p; }\ncomponent S { provides P p; }\n"
        "component Inner { uses P p; composition { component Leaf leaf; export leaf.p -> p; } }\n"
        "component Outer { uses P p; composition { component Inner inner; export inner.p p; } }\n"
        "assembly { composition { component Outer o; component S s; connection C c(from o.p, to s.p); } }\n"
    )
    assert [d.code.number[:3] for d in said(tmp_path, text)] == ["E01"]
