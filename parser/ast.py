# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The syntax tree of one .camkes file: what was written and where, nothing resolved or folded."""

from __future__ import annotations

from camkes.diagnostics import SourceFile, Span
from camkes.records import NamedTuple, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


class Name(NamedTuple):
    """An identifier as the user wrote it."""

    text: str
    span: Span


# Values ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A number or a string. True and False are the integers 1 and 0; adjacent strings are one."""

    value: int | float | str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    """A prefix operator and its operand."""

    op: str  # - + ! ~
    operand: Value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Binary:
    """Two operands and the operator between them."""

    op: str  # ** * / % + - << >> < <= > >= == != & ^ | && ||
    left: Value
    right: Value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """`condition ? then : otherwise`."""

    condition: Value
    then: Value
    otherwise: Value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A number with a unit of time: `100 ms`. Units: ns, us, ms, s (ticks in a schedule)."""

    number: Value
    unit: Name
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ListValue:
    """`[a, b, ...]`."""

    items: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class DictValue:
    """`{key: value, ...}`; an entry is a key and its value."""

    entries: tuple[tuple[Value, Value], ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """`dtb({...})["k"]`: a name, the dictionaries it is asked with, and keys to follow in the answer."""

    name: Name
    arguments: tuple[Value, ...]
    lookup: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The right side of `<-`: one name (the component's own attribute) or two, and keys to follow."""

    path: tuple[Name, ...]
    lookup: tuple[Value, ...]
    span: Span


Value: TypeAlias = (
    Literal | Unary | Binary | Conditional | Quantity | ListValue | DictValue | Query | Reference
)


# Types -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TypeName:
    """A scalar type, in the normal form of C: `integer` is `int`, `signed` is `int`,
    `unsigned integer` is `unsigned int`; any other single identifier is a typedef of the user.
    `struct` says that the user wrote `struct NAME`; `name` is then NAME alone."""

    name: str
    struct: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class BufType:
    """`Buf(expression)`: a dataport of so many bytes. A bare `Buf` is a `TypeName`."""

    size: Value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Include:
    """`include <path>;` (system) or `include "path";`: a C header for the generated code."""

    path: str
    system: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """`attribute type name[] = default;`, or a member of a struct. A bare-brace struct is a StructBody."""

    type: TypeName | StructBody
    array: bool
    name: Name
    default: Value | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class StructBody:
    """The members of a struct, named or not."""

    members: tuple[Attribute, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """`struct NAME { members }`."""

    name: Name | None
    body: StructBody
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of a method."""

    direction: str  # in out inout refin; `in` where nothing was written
    type: TypeName
    array: bool
    name: Name
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method of a procedure."""

    name: Name
    return_type: TypeName | None  # None: void
    parameters: tuple[Parameter, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Procedure:
    """`procedure NAME { methods, attributes, includes }`."""

    name: Name | None
    methods: tuple[Method, ...]
    attributes: tuple[Attribute, ...]
    includes: tuple[Include, ...]
    span: Span


# Clauses after `with` ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ProtocolClause:
    """`priority_protocol P`."""

    protocol: Name
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class RequestsClause:
    """`requests (a, b)`: the `uses` interfaces that a request passes on to."""

    interfaces: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ThreadsClause:
    """`N threads`."""

    count: Value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class UnknownClause:
    """A word after `with` that is no clause; kept so that the resolver can name the nearest right word."""

    word: Name
    span: Span


Clause: TypeAlias = ProtocolClause | RequestsClause | ThreadsClause | UnknownClause


# Components --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Control:
    """`control;`."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Hardware:
    """`hardware;`."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Requestor:
    """`requestor;` or `requestor N;`."""

    id: Value | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Interface:
    """`[maybe] uses|provides|emits|consumes|dataport TYPE name [with clauses];`"""

    kind: str  # uses provides emits consumes dataport
    type: TypeName | BufType  # procedure, event or dataport type
    name: Name
    optional: bool
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Sync:
    """`has mutex name;` and its like."""

    kind: str  # mutex semaphore binary_semaphore
    name: Name
    span: Span


ComponentItem: TypeAlias = Control | Hardware | Requestor | Interface | Sync | Attribute | Include


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """`composition` and `configuration` are blocks or, as upstream's grammar allows, names of blocks."""

    name: Name | None
    items: tuple[ComponentItem, ...]
    composition: Composition | BlockReference | None
    configuration: Configuration | BlockReference | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ConnectorEnd:
    """`from [hardware] Kind [with N threads];`, and the same with `to`."""

    side: str  # from to
    hardware: bool
    kind: str  # Event Procedure Dataport (singular form)
    many: bool  # the plural was written
    threads: Value | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Connector:
    """`connector NAME { ends, attributes }`, or such a block in a connection."""

    name: Name | None
    ends: tuple[ConnectorEnd, ...]  # as written; the resolver wants one from and one to
    attributes: tuple[Attribute, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """`component TYPE name;`; `type` is a Component where it was written in place."""

    type: Name | Component
    name: Name
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ConnectionEnd:
    """`from a.b`, `to a.b`."""

    side: str  # from to
    path: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    """`connection CONNECTOR name(ends) [with clauses];`."""

    connector: Name | Connector
    name: Name
    ends: tuple[ConnectionEnd, ...]
    clauses: tuple[Clause, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """`group NAME { instances }`."""

    name: Name | None
    instances: tuple[Instance, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """`export source -> target;`."""

    source: tuple[Name, ...]
    target: Name
    span: Span


CompositionItem: TypeAlias = Instance | Connection | Group | Export


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """`composition NAME { items }`."""

    name: Name | None
    items: tuple[CompositionItem, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class BlockReference:
    """`composition Name;` or `configuration Name;`."""

    kind: str
    name: Name
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """`path = value;` or `path <- reference;` (then `value` is a Reference)."""

    path: tuple[Name, ...]
    value: Value
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Configuration:
    """`configuration NAME { settings }`."""

    name: Name | None
    settings: tuple[Setting, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ScheduleEntry:
    """`(domain, duration [unit])`."""

    domain: Value
    duration: Value  # a Quantity where a unit was written
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """`schedule { [entries] }`."""

    entries: tuple[ScheduleEntry, ...]
    span: Span


AssemblyItem: TypeAlias = Composition | Configuration | BlockReference | Schedule


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """`assembly NAME { items }`."""

    name: Name | None
    items: tuple[AssemblyItem, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Import:
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


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """A parsed file. `read` are all files that the preprocessor read for it, itself first.

    With `ParseOptions.partial`, `damage` are the statements that have errors: they are left out, or mended
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
