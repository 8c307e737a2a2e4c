# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The syntax tree of one .camkes file: what was written and where, nothing resolved or folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from camkes.diagnostics import SourceFile, Span


class Name(NamedTuple):
    """An identifier as the user wrote it."""

    text: str
    span: Span


# Values ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a string. True and False are the integers 1 and 0; adjacent strings are one."""

    value: int | float | str
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    op: str  # - + ! ~
    operand: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    op: str  # ** * / % + - << >> < <= > >= == != & ^ | && ||
    left: Value
    right: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Value
    then: Value
    otherwise: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a unit of time: `100 ms`. Units: ns, us, ms, s (ticks in a schedule)."""

    number: Value
    unit: Name
    span: Span


@dataclass(frozen=True, slots=True)
class ListValue:
    items: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class DictValue:
    entries: tuple[tuple[Value, Value], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Query:
    """`dtb({...})["k"]`: a name, the dictionaries it is asked with, and keys to follow in the answer."""

    name: Name
    arguments: tuple[Value, ...]
    lookup: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """The right side of `<-`: one name (the component's own attribute) or two, and keys to follow."""

    path: tuple[Name, ...]
    lookup: tuple[Value, ...]
    span: Span


Value: TypeAlias = (
    Literal | Unary | Binary | Conditional | Quantity | ListValue | DictValue | Query | Reference
)


# Types -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeName:
    """A scalar type, in the normal form of C: `integer` is `int`, `signed` is `int`,
    `unsigned integer` is `unsigned int`; any other single identifier is a typedef of the user.
    `struct` says that the user wrote `struct NAME`; `name` is then NAME alone."""

    name: str
    struct: bool
    span: Span


@dataclass(frozen=True, slots=True)
class BufType:
    """`Buf(expression)`: a dataport of so many bytes. A bare `Buf` is a `TypeName`."""

    size: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Include:
    """`include <path>;` (system) or `include "path";`: a C header for the generated code."""

    path: str
    system: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Attribute:
    """`attribute type name[] = default;`, or a member of a struct. A bare-brace struct is a StructBody."""

    type: TypeName | StructBody
    array: bool
    name: Name
    default: Value | None
    span: Span


@dataclass(frozen=True, slots=True)
class StructBody:
    members: tuple[Attribute, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Struct:
    name: Name | None
    body: StructBody
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    direction: str  # in out inout refin; `in` where nothing was written
    type: TypeName
    array: bool
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Method:
    name: Name
    return_type: TypeName | None  # None: void
    parameters: tuple[Parameter, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Procedure:
    name: Name | None
    methods: tuple[Method, ...]
    attributes: tuple[Attribute, ...]
    includes: tuple[Include, ...]
    span: Span


# Clauses after `with` ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProtocolClause:
    protocol: Name
    span: Span


@dataclass(frozen=True, slots=True)
class RequestsClause:
    interfaces: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ThreadsClause:
    count: Value
    span: Span


@dataclass(frozen=True, slots=True)
class HelpersClause:
    instances: tuple[tuple[Name, ...], ...]  # each a dotted path
    span: Span


@dataclass(frozen=True, slots=True)
class UnknownClause:
    """A word after `with` that is no clause; kept so that the resolver can name the nearest right word."""

    word: Name
    span: Span


Clause: TypeAlias = ProtocolClause | RequestsClause | ThreadsClause | HelpersClause | UnknownClause


# Components --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Control:
    span: Span


@dataclass(frozen=True, slots=True)
class Hardware:
    span: Span


@dataclass(frozen=True, slots=True)
class Requestor:
    id: Value | None
    span: Span


@dataclass(frozen=True, slots=True)
class Interface:
    """`[maybe] uses|provides|emits|consumes|dataport TYPE name [with clauses];`"""

    kind: str  # uses provides emits consumes dataport
    type: TypeName | BufType  # procedure, event or dataport type
    name: Name
    optional: bool
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Sync:
    kind: str  # mutex semaphore binary_semaphore
    name: Name
    span: Span


ComponentItem: TypeAlias = Control | Hardware | Requestor | Interface | Sync | Attribute | Include


@dataclass(frozen=True, slots=True)
class Component:
    """`composition` and `configuration` are blocks or, as upstream's grammar allows, names of blocks."""

    name: Name | None
    items: tuple[ComponentItem, ...]
    composition: Composition | BlockReference | None
    configuration: Configuration | BlockReference | None
    span: Span


@dataclass(frozen=True, slots=True)
class ConnectorEnd:
    side: str  # from to
    hardware: bool
    kind: str  # Event Procedure Dataport (singular form)
    many: bool  # the plural was written
    threads: Value | None
    span: Span


@dataclass(frozen=True, slots=True)
class Connector:
    name: Name | None
    ends: tuple[ConnectorEnd, ...]  # as written; the resolver wants one from and one to
    attributes: tuple[Attribute, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Instance:
    type: Name | Component
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class ConnectionEnd:
    side: str  # from to
    path: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Connection:
    connector: Name | Connector
    name: Name
    ends: tuple[ConnectionEnd, ...]
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Group:
    name: Name | None
    instances: tuple[Instance, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Export:
    source: tuple[Name, ...]
    target: Name
    span: Span


CompositionItem: TypeAlias = Instance | Connection | Group | Export


@dataclass(frozen=True, slots=True)
class Composition:
    name: Name | None
    items: tuple[CompositionItem, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class BlockReference:
    """`composition Name;` or `configuration Name;`."""

    kind: str
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Setting:
    """`path = value;` or `path <- reference;` (then `value` is a Reference)."""

    path: tuple[Name, ...]
    value: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Configuration:
    name: Name | None
    settings: tuple[Setting, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    domain: Value
    duration: Value  # a Quantity where a unit was written
    span: Span


@dataclass(frozen=True, slots=True)
class Schedule:
    entries: tuple[ScheduleEntry, ...]
    span: Span


AssemblyItem: TypeAlias = Composition | Configuration | BlockReference | Schedule


@dataclass(frozen=True, slots=True)
class Assembly:
    name: Name | None
    items: tuple[AssemblyItem, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Import:
    path: str
    system: bool  # <path>, searched in the import path
    span: Span


TopLevelItem: TypeAlias = (
    Import
    | Procedure
    | Struct
    | Connector
    | Component
    | Composition
    | Configuration
    | BlockReference
    | Assembly
)


@dataclass(frozen=True, slots=True)
class File:
    """A parsed file. `read` are all files that the preprocessor read for it, itself first."""

    source: SourceFile
    items: tuple[TopLevelItem, ...]
    read: tuple[SourceFile, ...]
