# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Folding of constant expressions.

The arithmetic is CAmkES's: integers have no limit, `/` and `%` of integers round down, a comparison is
1 or 0, and `&&` and `||` give one of their operands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from camkes.diagnostics import Code, Sink, Span
from camkes.model.system import Value, in_digits, in_words
from camkes.parser import ast
from camkes.resolve import codes

if TYPE_CHECKING:
    from typing import TypeAlias

Number: TypeAlias = "int | float"

#: A result of more bits than this is taken for a mistake; Python would not write it down either.
_WIDEST = 14_000


class _BadError(Exception):
    """Folding failed and has been reported."""


def fold(node: ast.ValueNode, sink: Sink) -> Value | None:
    """The value of an expression, list or dictionary; None, and an error, if it has none."""
    try:
        return _fold(node, sink)
    except _BadError:
        return None
    except RecursionError:
        sink.report(codes.BAD_EXPRESSION, "this value is nested too deeply", node.span)
        return None


def fold_integer(node: ast.ValueNode, sink: Sink, what: str, least: int) -> int | None:
    """The value of an expression that has to be an integer of at least `least`."""
    value = fold(node, sink)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or value < least:
        sink.report(
            codes.BAD_COUNT,
            f"{what} is {_show(value)}, but must be an integer of at least {least}",
            node.span,
        )
        return None
    return value


def _show(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else in_digits(value)


def _fold(node: ast.ValueNode, sink: Sink) -> Value:
    match node:
        case ast.Literal():
            return node.value
        case ast.Unary():
            return _unary(node, _number(node.operand, sink), sink)
        case ast.Binary():
            return _binary(node, sink)
        case ast.Conditional():
            then, otherwise = _number(node.then, sink), _number(node.otherwise, sink)
            return then if _number(node.condition, sink) != 0 else otherwise
        case ast.ListValue():
            return [_fold(item, sink) for item in node.items]
        case ast.DictValue():
            return {key_text(_fold(key, sink)): _fold(value, sink) for key, value in node.entries}
        case ast.Quantity():
            _bad(node.span, codes.UNEXPECTED_UNIT, f"a time in `{node.unit.text}` is not allowed here", sink)
        case ast.Query():
            _bad(node.span, codes.BAD_EXPRESSION, "a query must be the whole value of a setting", sink)
        case ast.Reference():
            _bad(node.span, codes.BAD_EXPRESSION, "a reference must be the whole value of a setting", sink)


def key_text(key: Value) -> str:
    """A dictionary key as the model has it: a string."""
    return key if isinstance(key, str) else str(key)


def item_of(value: Value, key: Value) -> Value | None:
    """What a key leads to: an entry of a dictionary, or an item of a list by its number; None: nothing."""
    if isinstance(value, dict):
        return value.get(key_text(key))
    if isinstance(value, list | str) and isinstance(key, int) and -len(value) <= key < len(value):
        return value[key]
    return None


def no_item(value: Value, key: Value, name: str = "the dictionary") -> str:
    """Why `item_of` gives nothing."""
    if isinstance(value, dict):
        return f'{name} has no key "{key_text(key)}"'
    if isinstance(value, list) and isinstance(key, int):
        return f"there is no item {key} in a list of {len(value)}; items are counted from 0"
    return f'there is no key "{key_text(key)}" in {in_words(value)}'


def _bad(span: Span, code: Code, message: str, sink: Sink) -> NoReturn:
    sink.report(code, message, span)
    raise _BadError


def _number(node: ast.ValueNode, sink: Sink) -> Number:
    value = _fold(node, sink)
    if isinstance(value, (int, float)):
        return value
    _bad(node.span, codes.BAD_EXPRESSION, "the operands of an operator must be numbers", sink)


def _unary(node: ast.Unary, value: Number, sink: Sink) -> Number:
    match node.op:
        case "-":
            return -value
        case "!":
            return int(not value)
        case "~":
            return -1 - value
        case _:
            return value


def _binary(node: ast.Binary, sink: Sink) -> Number:
    """A chain of operators is a left spine, walked without recursion: `1 + 1 + ...` may be long."""
    spine = []
    left: ast.ValueNode = node
    while isinstance(left, ast.Binary):
        spine.append(left)
        left = left.left
    value = _number(left, sink)
    for binary in reversed(spine):
        value = _apply(binary, value, _number(binary.right, sink), sink)
    return value


def _divide(a: Number, b: Number) -> Number:
    return a // b if isinstance(a, int) and isinstance(b, int) else a / b


def _shift_left(a: Number, b: Number) -> Number:
    if not isinstance(a, int) or not isinstance(b, int):
        raise TypeError
    if a and b > _WIDEST:
        raise OverflowError
    return a << b


def _power(a: Number, b: Number) -> Number:
    if isinstance(a, int) and abs(a) > 1 and a.bit_length() * b > _WIDEST:
        raise OverflowError
    result = a**b
    if isinstance(result, complex):
        raise ValueError
    return result


_OPERATORS: dict[str, Callable[..., Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": operator.mod,
    "**": _power,
    "<<": _shift_left,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(a and b),
    "||": lambda a, b: int(a or b),
}


def _apply(node: ast.Binary, left: Number, right: Number, sink: Sink) -> Number:
    try:
        result = _OPERATORS[node.op](left, right)
        if isinstance(result, int) and result.bit_length() > _WIDEST:
            raise OverflowError
        return result
    except ZeroDivisionError:
        message = "division by zero"
    except OverflowError:
        message = "the result is too large"
    except TypeError:
        message = f"the operands of `{node.op}` must be integers"
    except ValueError:
        message = f"`{node.op}` is not defined for a negative operand"
    _bad(node.span, codes.BAD_EXPRESSION, message, sink)
