# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Partial trees: what an editor gets of a file that is being typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.parser import ast
from camkes.parser.parse import ParseOptions
from tests.examples import examples
from tests.parser.support import read
from tests.parser.test_robustness import GOOD, PIECES

pytestmark = pytest.mark.requirement("LANG-4")

PARTIAL = ParseOptions(preprocess=False, partial=True)

SYSTEM = """procedure P { void f(); }
component A { control; uses P p; }
component B { provides P p; }
assembly {
    composition {
        component A a;
        component B b;
        connection C c(from a.p, to b.p);
    }
    configuration { a._priority = 10; }
}
"""


@given(st.integers(0, len(GOOD)))
@examples(60)
def test_every_beginning_of_a_file_has_a_tree(end: int) -> None:
    tree, sink = read(GOOD[:end], PARTIAL)
    assert tree is not None
    assert tree.complete == (not sink.has_errors)


@given(st.lists(st.sampled_from(PIECES), max_size=40))
@examples(100)
def test_any_text_has_a_tree(pieces: list[str]) -> None:
    tree, sink = read(" ".join(pieces), PARTIAL)
    assert tree is not None
    assert tree.complete == (not sink.has_errors)
    whole, _ = read(" ".join(pieces), ParseOptions(preprocess=False))
    assert (whole is not None) == tree.complete


def test_items_before_the_end_are_kept() -> None:
    for end in range(SYSTEM.index("component B b"), len(SYSTEM)):
        tree, _ = read(SYSTEM[:end], PARTIAL)
        assert tree is not None
        *before, assembly = tree.items
        assert len(before) == 3
        assert isinstance(assembly, ast.AssemblyDecl)
        composition = assembly.items[0]
        assert isinstance(composition, ast.CompositionDecl)
        assert isinstance(composition.items[0], ast.InstanceDecl)


def test_a_broken_item_does_not_hide_its_neighbours() -> None:
    tree, _ = read(SYSTEM.replace("component A a;", "component A a; component ?;"), PARTIAL)
    assert tree is not None
    assert not tree.complete
    assert len(tree.items) == 4


def test_the_end_of_the_text_is_reported_once() -> None:
    _, sink = read("assembly { composition { group g { component A a;", PARTIAL)
    assert len(sink.diagnostics) == 1
