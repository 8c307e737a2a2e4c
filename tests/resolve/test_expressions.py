# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Constant expressions, as the language defines them."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.expressions import fold

SPAN = Span(SourceFile(Path("x.camkes"), ""), 1, 1, 1, 1)


def number(value: int | float) -> ast.Value:
    return ast.Literal(value, SPAN)


def binary(op: str, left: ast.Value | int | float, right: ast.Value | int | float) -> ast.Value:
    sides = [number(side) if isinstance(side, (int, float)) else side for side in (left, right)]
    return ast.Binary(op, sides[0], sides[1], SPAN)


@pytest.mark.parametrize(
    ("op", "left", "right", "value"),
    [
        ("/", -7, 2, -4),
        ("/", -7, 2.0, -3.5),
        ("%", -7, 2, 1),
        ("**", 2, 3, 8),
        ("**", 2, -1, 0.5),
        ("<<", 1, 70, 1 << 70),
        ("<", 1, 2, 1),
        ("==", 1, 2, 0),
        ("&&", 2, 3, 3),
        ("||", 0, 5, 5),
        ("^", 6, 3, 5),
    ],
)
def test_operators(op: str, left: int | float, right: int | float, value: int | float) -> None:
    sink = Sink()
    assert fold(binary(op, left, right), sink) == value
    assert not sink.diagnostics


@pytest.mark.parametrize(
    ("op", "left", "right"),
    [
        ("/", 1, 0),
        ("%", 1, 0),
        ("/", 1.0, 0),
        ("**", 0, -1),
        ("**", -8, 0.5),
        ("**", 10, 10**9),
        ("**", 10.0, 10**9),
        ("<<", 1, 10**9),
        ("<<", 1, -1),
        ("<<", 1.5, 1),
        ("|", 1.5, 1),
    ],
)
def test_operators_without_a_result(op: str, left: int | float, right: int | float) -> None:
    sink = Sink()
    assert fold(binary(op, left, right), sink) is None
    assert [d.code for d in sink.diagnostics] == [codes.BAD_EXPRESSION]


def test_unary_and_conditional() -> None:
    sink = Sink()
    assert fold(ast.Unary("~", number(5), SPAN), sink) == -6
    assert fold(ast.Unary("!", number(5), SPAN), sink) == 0
    assert fold(ast.Conditional(number(0), number(1), number(2), SPAN), sink) == 2
    bad = ast.Conditional(number(1), number(1), binary("/", 1, 0), SPAN)
    assert fold(bad, sink) is None


OPERATORS = "+ - * / % ** << >> & | ^ < <= > >= == != && ||"

EXPRESSIONS = st.recursive(
    st.integers(-100, 100).map(number) | st.floats(-10, 10).map(number),
    lambda inner: (
        st.builds(
            binary,
            st.sampled_from(OPERATORS.split()),
            inner,
            inner,
        )
        | st.builds(lambda op, x: ast.Unary(op, x, SPAN), st.sampled_from("-+!~"), inner)
        | st.builds(lambda a, b, c: ast.Conditional(a, b, c, SPAN), inner, inner, inner)
        | st.lists(inner, max_size=3).map(lambda items: ast.ListValue(tuple(items), SPAN))
    ),
    max_leaves=20,
)


@given(EXPRESSIONS)
@settings(max_examples=300, deadline=None)
def test_every_expression_has_a_value_or_an_error(node: ast.Value) -> None:
    sink = Sink()
    value = fold(node, sink)
    assert (value is None) == sink.has_errors
