# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The syntax tree of one .camkes file: what was written and where, nothing resolved or folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct as Record

from camkes.diagnostics import SourceFile, Span

if TYPE_CHECKING:
    from typing import TypeAlias


class Name(NamedTuple):
    """An identifier as the user wrote it."""

    text: str
    span: Span


# Values ------------------------------------------------------------------------------------------


class Literal(Record, frozen=True, eq=False):
    """A number or a string. True and False are the integers 1 and 0; adjacent strings are one."""

    value: int | float | str
    span: Span


class Unary(Record, frozen=True, eq=False):
    """A prefix operator and its operand."""

    op: str  # - + ! ~
    operand: Value
    span: Span


class Binary(Record, frozen=True, eq=False):
    """Two operands and the operator between them."""

    op: str  # ** * / % + - << >> < <= > >= == != & ^ | && ||
    left: Value
    right: Value
    span: Span


class Conditional(Record, frozen=True, eq=False):
    """`condition ? then : otherwise`."""

    condition: Value
    then: Value
    otherwise: Value
    span: Span


class Quantity(Record, frozen=True, eq=False):
    """A number with a unit of time: `100 ms`. Units: ns, us, ms, s (ticks in a schedule)."""

    number: Value
    unit: Name
    span: Span


class ListValue(Record, frozen=True, eq=False):
    """`[a, b, ...]`."""

    items: tuple[Value, ...]
    span: Span


class DictValue(Record, frozen=True, eq=False):
    """`{key: value, ...}`; an entry is a key and its value."""

    entries: tuple[tuple[Value, Value], ...]
    span: Span


class Query(Record, frozen=True, eq=False):
    """`dtb({...})["k"]`: a name, its dictionaries, and keys to look up in the result."""

    name: Name
    arguments: tuple[Value, ...]
    lookup: tuple[Value, ...]
    span: Span


class Reference(Record, frozen=True, eq=False):
    """The right side of `<-`: one name (the component's own attribute) or two, and keys to follow."""

    path: tuple[Name, ...]
    lookup: tuple[Value, ...]
    span: Span


Value: TypeAlias = (
    Literal | Unary | Binary | Conditional | Quantity | ListValue | DictValue | Query | Reference
)


# Types -------------------------------------------------------------------------------------------


class TypeName(Record, frozen=True, eq=False):
    """A scalar type, in the normal form of C: `integer` is `int`, `signed` is `int`,
    `unsigned integer` is `unsigned int`; any other single identifier is a typedef of the user.
    `struct` says that the user wrote `struct NAME`; `name` is then NAME alone."""

    name: str
    struct: bool
    span: Span


class BufType(Record, frozen=True, eq=False):
    """`Buf(expression)`: a dataport of so many bytes. A bare `Buf` is a `TypeName`."""

    size: Value
    span: Span


class Include(Record, frozen=True, eq=False):
    """`include <path>;` (system) or `include "path";`: a C header for the generated code."""

    path: str
    system: bool
    span: Span


class Attribute(Record, frozen=True, eq=False):
    """`attribute type name[] = default;`, or a member of a struct. A bare-brace struct is a StructBody."""

    type: TypeName | StructBody
    array: bool
    name: Name
    default: Value | None
    span: Span


class StructBody(Record, frozen=True, eq=False):
    """The members of a struct, named or not."""

    members: tuple[Attribute, ...]
    span: Span


class Struct(Record, frozen=True, eq=False):
    """`struct NAME { members }`."""

    name: Name | None
    body: StructBody
    span: Span


class Parameter(Record, frozen=True, eq=False):
    """A parameter of a method."""

    direction: str  # in out inout refin; `in` where nothing was written
    type: TypeName
    array: bool
    name: Name
    span: Span


class Method(Record, frozen=True, eq=False):
    """A method of a procedure."""

    name: Name
    return_type: TypeName | None  # None: void
    parameters: tuple[Parameter, ...]
    span: Span


class Procedure(Record, frozen=True, eq=False):
    """`procedure NAME { methods, attributes, includes }`."""

    name: Name | None
    methods: tuple[Method, ...]
    attributes: tuple[Attribute, ...]
    includes: tuple[Include, ...]
    span: Span


# Clauses after `with` ----------------------------------------------------------------------------


class ProtocolClause(Record, frozen=True, eq=False):
    """`priority_protocol P`."""

    protocol: Name
    span: Span


class RequestsClause(Record, frozen=True, eq=False):
    """`requests (a, b)`: the `uses` interfaces that a request passes on to."""

    interfaces: tuple[Name, ...]
    span: Span


class ThreadsClause(Record, frozen=True, eq=False):
    """`N threads`."""

    count: Value
    span: Span


class UnknownClause(Record, frozen=True, eq=False):
    """A word after `with` that is not a valid clause; kept so that the resolver can suggest the nearest
    one."""

    word: Name
    span: Span


Clause: TypeAlias = ProtocolClause | RequestsClause | ThreadsClause | UnknownClause


# Components --------------------------------------------------------------------------------------


class Control(Record, frozen=True, eq=False):
    """`control;`."""

    span: Span


class Hardware(Record, frozen=True, eq=False):
    """`hardware;`."""

    span: Span


class Requestor(Record, frozen=True, eq=False):
    """`requestor;` or `requestor N;`."""

    id: Value | None
    span: Span


class Interface(Record, frozen=True, eq=False):
    """`[maybe] uses|provides|emits|consumes|dataport TYPE name [with clauses];`"""

    kind: str  # uses provides emits consumes dataport
    type: TypeName | BufType  # procedure, event or dataport type
    name: Name
    optional: bool
    clauses: tuple[Clause, ...]
    span: Span


class Sync(Record, frozen=True, eq=False):
    """`has mutex name;` and its like."""

    kind: str  # mutex semaphore binary_semaphore
    name: Name
    span: Span


ComponentItem: TypeAlias = Control | Hardware | Requestor | Interface | Sync | Attribute | Include


class Component(Record, frozen=True, eq=False):
    """`composition` and `configuration` are blocks or, as upstream's grammar allows, names of blocks."""

    name: Name | None
    items: tuple[ComponentItem, ...]
    composition: Composition | BlockReference | None
    configuration: Configuration | BlockReference | None
    span: Span


class ConnectorEnd(Record, frozen=True, eq=False):
    """`from [hardware] Kind [with N threads];`, and the same with `to`."""

    side: str  # from to
    hardware: bool
    kind: str  # Event Procedure Dataport (singular form)
    many: bool  # the plural was written
    threads: Value | None
    span: Span


class Connector(Record, frozen=True, eq=False):
    """`connector NAME { ends, attributes }`, or such a block in a connection."""

    name: Name | None
    ends: tuple[ConnectorEnd, ...]  # as written; the resolver wants one from and one to
    attributes: tuple[Attribute, ...]
    span: Span


class Instance(Record, frozen=True, eq=False):
    """`component TYPE name;`; `type` is a Component where it was written in place."""

    type: Name | Component
    name: Name
    span: Span


class ConnectionEnd(Record, frozen=True, eq=False):
    """`from a.b`, `to a.b`."""

    side: str  # from to
    path: tuple[Name, ...]
    span: Span


class Connection(Record, frozen=True, eq=False):
    """`connection CONNECTOR name(ends) [with clauses];`."""

    connector: Name | Connector
    name: Name
    ends: tuple[ConnectionEnd, ...]
    clauses: tuple[Clause, ...]
    span: Span


class Group(Record, frozen=True, eq=False):
    """`group NAME { instances }`."""

    name: Name | None
    instances: tuple[Instance, ...]
    span: Span


class Export(Record, frozen=True, eq=False):
    """`export source -> target;`."""

    source: tuple[Name, ...]
    target: Name
    span: Span


CompositionItem: TypeAlias = Instance | Connection | Group | Export


class Composition(Record, frozen=True, eq=False):
    """`composition NAME { items }`."""

    name: Name | None
    items: tuple[CompositionItem, ...]
    span: Span


class BlockReference(Record, frozen=True, eq=False):
    """`composition Name;` or `configuration Name;`."""

    kind: str
    name: Name
    span: Span


class Setting(Record, frozen=True, eq=False):
    """`path = value;` or `path <- reference;` (then `value` is a Reference)."""

    path: tuple[Name, ...]
    value: Value
    span: Span


class Configuration(Record, frozen=True, eq=False):
    """`configuration NAME { settings }`."""

    name: Name | None
    settings: tuple[Setting, ...]
    span: Span


class ScheduleEntry(Record, frozen=True, eq=False):
    """`(domain, duration [unit])`."""

    domain: Value
    duration: Value  # a Quantity where a unit was written
    span: Span


class Schedule(Record, frozen=True, eq=False):
    """`schedule { [entries] }`."""

    entries: tuple[ScheduleEntry, ...]
    span: Span


AssemblyItem: TypeAlias = Composition | Configuration | BlockReference | Schedule


class Assembly(Record, frozen=True, eq=False):
    """`assembly NAME { items }`."""

    name: Name | None
    items: tuple[AssemblyItem, ...]
    span: Span


class Import(Record, frozen=True, eq=False):
    """`import "path";` or `import <path>;`."""

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


class File(Record, frozen=True, eq=False):
    """A parsed file. `read` are all files that the preprocessor read for it, itself first.

    With `ParseOptions.partial`, `damage` are the statements that have errors: they are left out, or corrected
    to what they may have meant. `whole` is false where a definition outside of any block may be missing.
    """

    source: SourceFile
    items: tuple[TopLevelItem, ...]
    read: tuple[SourceFile, ...]
    damage: tuple[Span, ...] = ()
    whole: bool = True

    @property
    def complete(self) -> bool:
        """Whether the tree has all that was written."""
        return not self.damage and self.whole
