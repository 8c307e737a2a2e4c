# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Attributes: their types, their defaults, and whether a value fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from camkes.diagnostics import Code, Label, Sink, Span
from camkes.model.system import (
    Attribute,
    AttributeType,
    CType,
    StructMember,
    StructType,
    Value,
    in_digits,
    in_words,
)
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.values.expressions import fold
from camkes.resolve.words.keywords import C_KEYWORDS, C_MACROS
from camkes.resolve.words.nearest import suggestion

if TYPE_CHECKING:
    from camkes.resolve.files.imports import Program

#: Types an attribute can have besides a struct; the others of C cannot be written in an attribute.
SCALARS = ("int", "int64_t", "uint64_t", "string", "char", "signed char", "unsigned char", "unsigned int")

#: Those of them that a setting can give a number, with their ranges (unsigned 32-bit addresses are allowed).
_NUMBERS = {"int": (-(2**31), 2**32), "int64_t": (-(2**63), 2**64), "uint64_t": (0, 2**64)}


def check_keyword(name: ast.Identifier, what: str, sink: Sink) -> None:
    if name.text in C_KEYWORDS:
        _report_taken(name, what, "keyword", codes.KEYWORD_NAME, sink)


def check_declared(name: ast.Identifier, what: str, sink: Sink) -> None:
    """Check a name that `camkes.h` declares."""
    check_keyword(name, what, sink)
    if name.text in C_MACROS:
        _report_taken(name, what, "macro", codes.KEYWORD_NAME, sink)


def check_member_keyword(name: ast.Identifier, what: str, sink: Sink) -> None:
    """Warn of a name that C code can only use as a part of longer ones."""
    if name.text in C_KEYWORDS:
        _report_taken(name, what, "keyword", codes.KEYWORD_MEMBER, sink, "C code cannot use this name")


def _report_taken(name: ast.Identifier, what: str, by: str, code: Code, sink: Sink, label: str = "") -> None:
    sink.report(
        code,
        f"{what} `{name.text}` has the name of a C {by}",
        name.span,
        label,
        help=f"choose another name, such as `{name.text}_`",
    )


#: Where the bodies of structs are, in the order of the text.
_INSIDE: dict[type, tuple[str, ...]] = {
    ast.StructDecl: ("body",),
    ast.StructBody: ("members",),
    ast.AttributeDecl: ("type",),
    ast.ProcedureDecl: ("attributes",),
    ast.ConnectorDecl: ("attributes",),
    ast.ComponentDecl: ("items", "composition"),
    ast.AssemblyDecl: ("items",),
    ast.CompositionDecl: ("items",),
    ast.GroupDecl: ("instances",),
    ast.InstanceDecl: ("type",),
    ast.ConnectionDecl: ("connector",),
}


def _struct_bodies(node: object) -> Iterator[ast.StructBody]:
    """The bodies of structs in a tree, in the order in which they end."""
    for field in _INSIDE.get(type(node), ()):
        inside = getattr(node, field)
        for each in inside if isinstance(inside, tuple) else (inside,):
            yield from _struct_bodies(each)
    if isinstance(node, ast.StructBody):
        yield node


class AttributeTypes:
    """Makes attributes of the model. `find_struct` follows the name of a struct."""

    def __init__(
        self,
        program: Program,
        sink: Sink,
        find_struct: Callable[[ast.TypeName], StructType | None],
    ) -> None:
        self.program = program
        self.sink = sink
        self.find_struct = find_struct
        #: default of each struct member that has one: (struct name, member name)
        self.defaults: dict[tuple[str, str], Value] = {}

    def attributes(self, nodes: Iterable[ast.AttributeDecl]) -> tuple[Attribute, ...]:
        return tuple(a for a in map(self.attribute, nodes) if a is not None)

    def attribute(self, node: ast.AttributeDecl) -> Attribute | None:
        check_keyword(node.name, "attribute", self.sink)
        type = self.type(node.type)
        default = None if node.default is None else fold(node.default, self.sink)
        if type is None:
            return None
        if default is not None and node.default is not None:
            default = self.fitted_default(node, default, type, node.default.span)
        return Attribute(node.name.text, type, node.array, default, node.name.span)

    def unchecked(self, node: ast.AttributeDecl) -> Attribute:
        """An attribute of a connector: templates read it, and its type is any word."""
        name = node.type.name if isinstance(node.type, ast.TypeName) else "struct"
        default = None if node.default is None else fold(node.default, self.sink)
        return Attribute(node.name.text, CType(name), node.array, default, node.name.span)

    def type(self, node: ast.TypeName | ast.StructBody) -> AttributeType | None:
        if isinstance(node, ast.StructBody):
            return self.struct(None, node)
        if node.struct:
            self.sink.report(
                codes.ATTRIBUTE_TYPE,
                "`struct` is not written in the type of an attribute",
                node.span,
                help=f"write the name of the struct alone: `{node.name}`",
            )
            return None
        if node.name in SCALARS:
            return CType(node.name)
        return self.find_struct(node)

    def struct(self, name: ast.Identifier | None, body: ast.StructBody) -> StructType:
        """The type that a body in braces describes. One without a name gets a numbered one."""
        members: dict[str, StructMember] = {}
        places: dict[str, Span] = {}
        defaults: dict[str, Value] = {}
        for node in body.members:
            attribute = self.attribute(node)
            if node.name.text in places:
                self.sink.report(
                    codes.DUPLICATE_NAME,
                    f"member `{node.name.text}` is defined twice",
                    node.name.span,
                    "defined again here",
                    related=[Label(places[node.name.text], "first defined here")],
                )
                continue
            places[node.name.text] = node.name.span
            if attribute is not None:
                members[attribute.name] = StructMember(attribute.name, attribute.type, attribute.array)
                if attribute.default is not None:
                    defaults[attribute.name] = attribute.default
        if not body.members:
            self.sink.report(codes.EMPTY_STRUCT, "a struct needs at least one member", body.span)
        text = f"camkes_anon_struct_{self.numbers[id(body)]}" if name is None else name.text
        self.defaults |= {(text, member): value for member, value in defaults.items()}
        return StructType(text, tuple(members.values()))

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of each body. Named structs count too: generated names agree with existing C code."""
        bodies = (body for item in self.program.items for body in _struct_bodies(item))
        return {id(body): number for number, body in enumerate(bodies)}

    def fitted_default(
        self, node: ast.AttributeDecl, default: Value, type: AttributeType, span: Span
    ) -> Value:
        """The default with absent members added. One that does not fit is kept, with a warning."""
        quiet = Sink()
        fitted = self.fit(default, type, node.array, node.name.text, span, quiet)
        for found in quiet.diagnostics:
            if found.code is codes.VALUE_RANGE:
                self.sink.add(found)
                continue
            self.sink.report(
                codes.DEFAULT_MISMATCH,
                f"the default of attribute `{node.name.text}` is not {article(type, node.array)}",
                span,
                found.label or found.message,
            )
        return default if fitted is None else fitted

    def fit(
        self, value: Value, type: AttributeType, array: bool, name: str, span: Span | None, sink: Sink
    ) -> Value | None:
        """`value` as a value of this type, absent members added; None, and an error, if it does not fit."""
        if not array:
            return self._fit_one(value, type, name, span, sink)
        if not isinstance(value, list):
            return _mismatch(value, type, True, name, span, sink)
        items = [self._fit_one(item, type, f"{name}[{i}]", span, sink) for i, item in enumerate(value)]
        return None if any(item is None for item in items) else [item for item in items if item is not None]

    def _fit_one(
        self, value: Value, type: AttributeType, name: str, span: Span | None, sink: Sink
    ) -> Value | None:
        if isinstance(type, StructType):
            if isinstance(value, dict):
                return self._fit_struct(value, type, name, span, sink)
        elif isinstance(value, int) and type.name in _NUMBERS:
            low, end = _NUMBERS[type.name]
            if not low <= value < end:
                message = f"{in_digits(value)} is out of the range of `{type.name}`"
                sink.report(codes.VALUE_RANGE, message, span)
            return value
        elif isinstance(value, str) and type.name == "string":
            return value
        return _mismatch(value, type, False, name, span, sink)

    def _fit_struct(
        self, value: dict[str, Value], type: StructType, name: str, span: Span | None, sink: Sink
    ) -> Value | None:
        result: dict[str, Value] = {}
        good = True
        for member in type.members:
            item = value.get(member.name, self.defaults.get((type.name, member.name)))
            if item is None:
                sink.report(
                    codes.MISSING_MEMBER,
                    f"the value of `{name}` has no member `{member.name}`, which has no default",
                    span,
                )
                good = False
                continue
            fitted = self.fit(item, member.type, member.array, f"{name}.{member.name}", span, sink)
            if fitted is None:
                good = False
            else:
                result[member.name] = fitted
        for key, item in value.items():
            if all(key != member.name for member in type.members):
                result[key] = item
                sink.report(
                    codes.EXTRA_MEMBER,
                    f"struct `{type.name}` has no member `{key}`",
                    span,
                    help=suggestion(key, [member.name for member in type.members]),
                )
        return result if good else None


def _mismatch(
    value: Value, type: AttributeType, array: bool, name: str, span: Span | None, sink: Sink
) -> Value | None:
    notes = []
    if isinstance(type, CType) and type.name not in (*_NUMBERS, "string"):
        notes.append("a setting can assign a number only to `int`, `int64_t` and `uint64_t`")
    sink.report(
        codes.MISTYPED_VALUE,
        f"`{name}` expects {article(type, array)}, but this is {in_words(value)}",
        span,
        f"this is {in_words(value)}",
        notes=notes,
    )
    return None


def article(type: AttributeType, array: bool) -> str:
    """A type in words."""
    name = type.name
    if array:
        return f"a list of `{name}`"
    if isinstance(type, StructType):
        return f"a dictionary for struct `{name}`"
    return f"a value of type `{name}`"
