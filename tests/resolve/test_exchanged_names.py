# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""One name in the place of another: it is there twice, and the other one is missing. That is one mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.diagnostics import Diagnostic, Sink
from camkes.resolve import LoadOptions, load

pytestmark = pytest.mark.requirement("LANG-21")

GOOD = """\
import <std_connector.camkes>;
procedure P { int f(in int x); }
procedure Q { int g(in int x); }
struct pair { int x; int y; }
component S { provides P p; provides Q q; attribute int a; attribute int b; attribute pair w; }
component T { provides P p; }
component C { control; uses P p; uses Q q; emits E e1; emits E e2; dataport Buf d1; dataport Buf d2; }
component D { consumes E e1; consumes E e2; dataport Buf d1; dataport Buf d2; }
component K { provides P p; composition { component T t; export t.p -> p; } }
assembly { composition {
 component C c; component S s; component D d; component T t; component C c2;
 connection seL4RPCCall k1(from c.p, to s.p);
 connection seL4RPCCall k2(from c.q, to s.q);
 connection seL4RPCCall k4(from c2.p, to t.p);
 connection seL4RPCCall k5(from c2.q, to s.q);
 connection seL4Notification n1(from c.e1, to d.e1);
 connection seL4Notification n2(from c.e2, to d.e2);
 connection seL4Notification n3(from c2.e1, to d2.e1);
 connection seL4Notification n4(from c2.e2, to d2.e2);
 connection seL4SharedData x1(from c.d1, to d.d1);
 connection seL4SharedData x2(from c.d2, to d.d2);
 connection seL4SharedData x3(from c2.d1, to d2.d1);
 connection seL4SharedData x4(from c2.d2, to d2.d2);
 component D d2;
 }
 configuration { s.a = 1; s.b = 2; s.w = {"x": 1, "y": 2}; c._priority = 10; c2._priority = 11; }
}
"""
EXCHANGES = [
    ("component S s;", "component S c;"),
    ("component T t; component C c2", "component C c; component T t"),
    ("component C c2", "component C c"),
    ("component D d;", "component D s;"),
    ("component T {", "component S {"),
    ("procedure Q", "procedure P"),
    ("component D {", "component C {"),
    ("provides Q q; attr", "provides Q p; attr"),
    ("uses P p; uses Q q", "uses P p; uses Q p"),
    ("uses P p; uses Q q", "uses P q; uses Q q"),
    ("emits E e2", "emits E e1"),
    ("dataport Buf d2; }\ncomponent D", "dataport Buf d1; }\ncomponent D"),
    ("consumes E e2", "consumes E e1"),
    ("attribute int b", "attribute int a"),
    ("attribute pair w", "attribute pair a"),
    ("int y; }", "int x; }"),
    ("k2(from c.q", "k2(from c.p"),
    ("to s.q);\n connection seL4RPCCall k4", "to s.p);\n connection seL4RPCCall k4"),
    ("from c2.p", "from c.p"),
    ("to d.e2", "to d.e1"),
    ("x2(from c.d2", "x2(from c.d1"),
    ("to d.d2)", "to d.d1)"),
    ("component T t; export", "component T p; export"),
    ("k2(", "k1("),
    ("component T t; component C c2", "component T c; component C c2"),
    ("struct pair {", "struct pair { int x; } struct pair {"),
]


def errors(text: str, folder: Path) -> list[Diagnostic]:
    path, sink = folder / "a.camkes", Sink()
    path.write_text(text)
    load(path, LoadOptions(), sink)
    return [d for d in sink.diagnostics if d.code.number.startswith("E")]


def test_the_text_has_no_errors(tmp_path: Path) -> None:
    assert errors(GOOD, tmp_path) == []


@pytest.mark.parametrize(("before", "after"), EXCHANGES)
def test_an_exchanged_name_is_one_mistake(before: str, after: str, tmp_path: Path) -> None:
    assert before in GOOD
    found = errors(GOOD.replace(before, after, 1), tmp_path)
    assert len(found) == 1, [d.message for d in found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k2(from c.q", "k2(from c22.q"),
        ("to d.e1", "to missing.e1"),
        ("to d.d1", "to e.d1"),
        ("k2(from c.q", "k2(from c.none"),
        ("export t.p", "export tt.p"),
    ],
)
def test_an_unknown_end_is_one_mistake(before: str, after: str, tmp_path: Path) -> None:
    found = errors(GOOD.replace(before, after, 1), tmp_path)
    assert [d.code.number for d in found] == ["E0302"], [d.message for d in found]


def test_the_missing_name_is_shown(tmp_path: Path) -> None:
    (found,) = errors(GOOD.replace("component S s;", "component S c;"), tmp_path)
    assert found.code.number == "E0205"
    assert [(label.span.line, label.text) for label in found.related] == [
        (11, "first defined here"),
        (12, "nothing has this name"),
    ]


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        # of another kind
        (
            [("component S s;", "component S s; component S c;"), ("k1(from c.p", "k1(from c.pp")],
            "E0205 E0302",
        ),
        (
            [("int y; }", "int y; int y; }"), ("component D {", "component D { uses N n;")],
            "E0203 E0205 E0310",
        ),
        # one name that is there twice replaces one that is missing, and not two
        (
            [(" component T t; component C c2", " component T s; component C c2"), ("to d.e1", "to none.e1")],
            "E0205 E0302",
        ),
        # an instance that is there twice, and types that differ at an interface of its name
        (
            [
                ("component T t; component C", "component T p; component T p; component T t; component C"),
                ("to s.p);", "to s.q);"),
                ("to s.q);\n connection seL4RPCCall k4", "to s.p);\n connection seL4RPCCall k4"),
            ],
            "E0205 E0308",
        ),
        # one end is for one interface, and not for two
        ([("to d.e1", "to none.e1"), ("to d.e2", "to d2.e2")], "E0302 E0304"),
    ],
)
def test_two_errors_are_reported_as_two(changes: list[tuple[str, str]], codes: str, tmp_path: Path) -> None:
    text = GOOD
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    assert sorted({d.code.number for d in errors(text, tmp_path)}) == codes.split()


def test_a_slip_of_its_own_is_not_what_an_exchanged_name_was_meant_to_be(tmp_path: Path) -> None:
    """Although it comes first; the name that is missing is used several times."""
    text = GOOD.replace("component S s;", "component S c;").replace("k1(from c.p", "k1(from c22.p")
    assert sorted(d.message for d in errors(text, tmp_path)) == [
        "instance `c` has a name that is already in use",
        "there is no instance `c22` here",
    ]
