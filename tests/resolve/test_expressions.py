# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Constant expressions, as the language defines them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.system import Value
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.values.expressions import fold, fold_integer, item_of, no_item
from tests.examples import examples

pytestmark = pytest.mark.requirement("LANG-10")

SPAN = Span(SourceFile(Path("x.camkes"), ""), 1, 1, 1, 1)


def number(value: int | float) -> ast.ValueNode:
    return ast.Literal(value, SPAN)


def binary(op: str, left: ast.ValueNode | int | float, right: ast.ValueNode | int | float) -> ast.ValueNode:
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
        ("<<", 0, 10**9, 0),
        ("**", 1, 10**9, 1),
        ("**", 2, 7_000, 1 << 7_000),
        ("**", -1, 10**9 + 1, -1),
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
        ("<<", 1, 14_000),
        ("**", 2, 14_000),
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


@pytest.mark.long
@given(EXPRESSIONS)
@examples(300)
def test_every_expression_has_a_value_or_an_error(node: ast.ValueNode) -> None:
    sink = Sink()
    value = fold(node, sink)
    assert (value is None) == sink.has_errors


def said(node: ast.ValueNode) -> list[str]:
    """What is wrong with a value that has none."""
    sink = Sink()
    assert fold(node, sink) is None
    return [d.message for d in sink.diagnostics]


def test_characters_that_are_not_allowed_in_a_value() -> None:
    name = ast.Identifier("x", SPAN)
    time = ast.Quantity(number(3), ast.Identifier("ms", SPAN), SPAN)
    query = ast.Query(name, (), (), SPAN)
    reference = ast.Reference((name, name), (), SPAN)
    assert said(ast.ListValue((number(1), time), SPAN)) == ["a time in `ms` is not allowed here"]
    assert said(ast.DictValue(((number(1), query),), SPAN)) == [
        "a query must be the whole value of a setting"
    ]
    assert said(reference) == ["a reference must be the whole value of a setting"]


def test_operators_take_numbers() -> None:
    text = ast.Literal("text", SPAN)
    for node in (binary("+", text, 1), binary("+", 1, text), ast.Unary("-", text, SPAN)):
        assert said(node) == ["the operands of an operator must be numbers"]
    assert said(ast.Conditional(text, number(1), number(2), SPAN)) == [
        "the operands of an operator must be numbers"
    ]


def test_a_value_that_is_nested_too_deeply() -> None:
    node = number(1)
    for _ in range(100_000):
        node = ast.Unary("-", node, SPAN)
    assert said(node) == ["this value is nested too deeply"]
    while isinstance(node, ast.Unary):  # taken apart from outside, for the sake of the collector
        node = node.operand


def test_every_number_can_be_written_down() -> None:
    value = fold(binary("<<", 1, 13_999), Sink())
    assert len(str(value)) == 4215
    assert said(ast.DictValue(((binary("**", 10, 10_000), number(1)),), SPAN)) == ["the result is too large"]


def test_a_product_that_is_too_large() -> None:
    node: ast.ValueNode = number(1 << 10_000)
    for _ in range(40):
        node = binary("*", node, number(1 << 10_000))
    assert said(node) == ["the result is too large"]


def test_integers_of_a_least_size() -> None:
    def integer(node: ast.ValueNode) -> tuple[int | None, int]:
        sink = Sink()
        return fold_integer(node, sink, "this count", 1), len(sink.diagnostics)

    assert integer(number(2.0)) == (2, 0)
    assert integer(number(1)) == (1, 0)
    assert integer(number(0)) == (None, 1)
    assert integer(number(2.5)) == (None, 1)
    assert integer(ast.Literal("2", SPAN)) == (None, 1)
    assert integer(binary("/", 1, 0)) == (None, 1)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1, 2], "there is no item 9 in a list of 2; items are counted from 0"),
        ("abc", 'there is no key "9" in a string'),
        (5, 'there is no key "9" in an integer'),
        ({"a": 1}, 'the dictionary has no key "9"'),
    ],
)
def test_the_reason_for_a_missing_item(value: Value, said: str) -> None:
    assert item_of(value, 9) is None
    assert no_item(value, 9) == said
