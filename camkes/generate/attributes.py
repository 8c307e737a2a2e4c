# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Attributes of a component as C constants."""

from __future__ import annotations

from camkes.diagnostics import Sink, Span
from camkes.generate.codes import ATTRIBUTE_VALUE
from camkes.generate.contexts import AttributeContext, StructContext
from camkes.generate.names import Places, c_string
from camkes.generate.procedures import c_type, declare
from camkes.model.system import Attribute, AttributeType, Instance, StructType, Value


class _WrongValueError(Exception):
    """A value that does not fit its type."""


def attributes(
    instance: Instance, places: Places, sink: Sink
) -> tuple[tuple[StructContext, ...], tuple[AttributeContext, ...]]:
    """The structs that attributes need, innermost first, and the attributes."""
    structs: dict[str, StructContext] = {}
    result: list[AttributeContext] = []
    for attribute in instance.type.attributes:
        setting = instance.value(attribute)
        value = None if setting is None else setting.value
        _collect(attribute.type, _first(value, attribute.array), structs)
        span = attribute.span if setting is None else setting.span
        result.append(_attribute(attribute, value, span, places, sink))
    return tuple(structs.values()), tuple(result)


def _first(value: Value | None, array: bool) -> Value | None:
    """A value to take the sizes of arrays in structs from."""
    if not array:
        return value
    return value[0] if isinstance(value, list) and value else None


def _collect(kind: AttributeType, value: Value | None, structs: dict[str, StructContext]) -> None:
    if not isinstance(kind, StructType):
        return
    members: list[str] = []
    for member in kind.members:
        part = value.get(member.name) if isinstance(value, dict) else None
        _collect(member.type, _first(part, member.array), structs)
        size = f"[{max(1, len(part))}]" if member.array and isinstance(part, list) else "[1]"
        members.append(declare(_type_name(member.type), member.name) + (size if member.array else ""))
    structs.setdefault(kind.name, StructContext(kind.name, tuple(members)))


def _type_name(kind: AttributeType) -> str:
    return f"struct {kind.name}" if isinstance(kind, StructType) else c_type(kind)


def _attribute(
    attribute: Attribute, value: Value | None, span: Span, places: Places, sink: Sink
) -> AttributeContext:
    type_name = _type_name(attribute.type)
    declaration = "const " + declare(type_name, attribute.name)
    macro: tuple[str, ...] | None = None
    if value is not None:
        try:
            macro = tuple(_literal(attribute.type, attribute.array, value))
        except _WrongValueError:
            sink.report(
                ATTRIBUTE_VALUE,
                f"the default of attribute `{attribute.name}` cannot become a "
                + (f"list of `{type_name.strip()}`" if attribute.array else f"`{type_name.strip()}`"),
                span,
                "no configuration sets another value",
                help="write a default of its type, or set a value in a configuration",
            )
    if attribute.array:
        declaration += f"[{len(value)}]" if isinstance(value, list) else "[]"
    return AttributeContext(attribute.name, places.of(attribute.span), declaration, macro)


def _literal(kind: AttributeType, array: bool, value: Value) -> list[str]:
    """Lines of an initialiser."""
    if array:
        if not isinstance(value, list):
            raise _WrongValueError
        return _braces([_literal(kind, False, element) for element in value])
    if isinstance(kind, StructType):
        if not isinstance(value, dict):
            raise _WrongValueError
        parts: list[list[str]] = []
        for member in kind.members:
            if member.name in value:
                lines = _literal(member.type, member.array, value[member.name])
                parts.append([f".{member.name} = {lines[0]}", *lines[1:]])
        return _braces(parts)
    if kind.name == "string":
        if not isinstance(value, str):
            raise _WrongValueError
        return [c_string(value)]
    if isinstance(value, str) and len(value) == 1 and kind.name in ("char", "character"):
        return [str(ord(value))]
    if isinstance(value, bool | int):
        return [_integer(int(value))]
    if isinstance(value, float):
        return [repr(value)]
    raise _WrongValueError


def _integer(value: int) -> str:
    """An integer constant that a C compiler takes without a warning."""
    if value > 2**63 - 1:
        return f"{value}u"
    if value == -(2**63):
        return f"({value + 1} - 1)"
    return str(value)


def _braces(parts: list[list[str]]) -> list[str]:
    """One line if it is short, else a part a line."""
    flat = "{" + ", ".join(" ".join(part) for part in parts) + "}"
    if len(flat) <= 80:
        return [flat]
    lines = ["{"]
    for part in parts:
        lines += [f"    {line}" for line in part[:-1]]
        lines.append(f"    {part[-1]},")
    return [*lines, "}"]
