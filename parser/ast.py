# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The syntax tree of one .camkes file: what was written and where, nothing resolved or folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct as Record

from camkes.diagnostics import SourceFile, Span

if TYPE_CHECKING:
    from typing import TypeAlias


class Identifier(NamedTuple):
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
    operand: ValueNode
    span: Span


class Binary(Record, frozen=True, eq=False):
    """Two operands and the operator between them."""

    op: str  # ** * / % + - << >> < <= > >= == != & ^ | && ||
    left: ValueNode
    right: ValueNode
    span: Span


class Conditional(Record, frozen=True, eq=False):
    """`condition ? then : otherwise`."""

    condition: ValueNode
    then: ValueNode
    otherwise: ValueNode
    span: Span


class Quantity(Record, frozen=True, eq=False):
    """A number with a unit of time: `100 ms`. Units: ns, us, ms, s (ticks in a schedule)."""

    number: ValueNode
    unit: Identifier
    span: Span


class ListValue(Record, frozen=True, eq=False):
    """`[a, b, ...]`."""

    items: tuple[ValueNode, ...]
    span: Span


class DictValue(Record, frozen=True, eq=False):
    """`{key: value, ...}`; an entry is a key and its value."""

    entries: tuple[tuple[ValueNode, ValueNode], ...]
    span: Span


class Query(Record, frozen=True, eq=False):
    """`dtb({...})["k"]`: a name, its dictionaries, and keys to look up in the result."""

    name: Identifier
    arguments: tuple[ValueNode, ...]
    lookup: tuple[ValueNode, ...]
    span: Span


class Reference(Record, frozen=True, eq=False):
    """The right side of `<-`: one name (the component's own attribute) or two, and keys to follow."""

    path: tuple[Identifier, ...]
    lookup: tuple[ValueNode, ...]
    span: Span


ValueNode: TypeAlias = (
    Literal | Unary | Binary | Conditional | Quantity | ListValue | DictValue | Query | Reference
)


# Types -------------------------------------------------------------------------------------------


class TypeName(Record, frozen=True, eq=False):
    """A scalar type, in the normal form of C: `integer` is `int`, `signed` is `int`,
    `unsigned integer` is `unsigned int`; any other single identifier is a typedef of the user.
    `struct`: the user wrote `struct NAME`; `name` is then NAME alone."""

    name: str
    struct: bool
    span: Span


class BufType(Record, frozen=True, eq=False):
    """`Buf(expression)`: a dataport of so many bytes. A bare `Buf` is a `TypeName`."""

    size: ValueNode
    span: Span


class IncludeDecl(Record, frozen=True, eq=False):
    """`include <path>;` (system) or `include "path";`: a C header for the generated code."""

    path: str
    system: bool
    span: Span


class AttributeDecl(Record, frozen=True, eq=False):
    """`attribute type name[] = default;`, or a member of a struct. A bare-brace struct is a StructBody."""

    type: TypeName | StructBody
    array: bool
    name: Identifier
    default: ValueNode | None
    span: Span


class StructBody(Record, frozen=True, eq=False):
    """The members of a struct, named or not."""

    members: tuple[AttributeDecl, ...]
    span: Span


class StructDecl(Record, frozen=True, eq=False):
    """`struct NAME { members }`."""

    name: Identifier | None
    body: StructBody
    span: Span


class ParameterDecl(Record, frozen=True, eq=False):
    """A parameter of a method."""

    direction: str  # in out inout refin; `in` where nothing was written
    type: TypeName
    array: bool
    name: Identifier
    span: Span


class MethodDecl(Record, frozen=True, eq=False):
    """A method of a procedure."""

    name: Identifier
    return_type: TypeName | None  # None: void
    parameters: tuple[ParameterDecl, ...]
    span: Span


class ProcedureDecl(Record, frozen=True, eq=False):
    """`procedure NAME { methods, attributes, includes }`."""

    name: Identifier | None
    methods: tuple[MethodDecl, ...]
    attributes: tuple[AttributeDecl, ...]
    includes: tuple[IncludeDecl, ...]
    span: Span


# Clauses after `with` ----------------------------------------------------------------------------


class ProtocolClause(Record, frozen=True, eq=False):
    """`priority_protocol P`."""

    protocol: Identifier
    span: Span


class RequestedCall(Record, frozen=True, eq=False):
    """`interface`, `interface.called`, `method: interface` or `method: interface.called` in a clause."""

    method: Identifier | None
    interface: Identifier
    called: Identifier | None
    span: Span


class RequestsClause(Record, frozen=True, eq=False):
    """`requests (a, b)`: the `uses` interfaces that a request passes on to, or methods of these; with a
    method before it, only where that is requested."""

    calls: tuple[RequestedCall, ...]
    span: Span

    @property
    def interfaces(self) -> tuple[Identifier, ...]:
        return tuple(call.interface for call in self.calls)


class ThreadsClause(Record, frozen=True, eq=False):
    """`N threads`."""

    count: ValueNode
    span: Span


class HelpersClause(Record, frozen=True, eq=False):
    """`helpers`: a waiting thread lends its priority to the tasks that can end the wait. `listed`: names in
    parentheses follow, which a clause cannot have."""

    listed: bool
    span: Span


class WithinClause(Record, frozen=True, eq=False):
    """`within 4500 us`: for how long the helpers execute until the signal. Without a unit `time` is an
    expression."""

    time: ValueNode
    span: Span


class MonitorClause(Record, frozen=True, eq=False):
    """`monitor NAME`: the CPIs of an instance that name the same one share a lock."""

    monitor: Identifier
    span: Span


class OverrunClause(Record, frozen=True, eq=False):
    """`overrun P`: what happens when the budget of a request is used up."""

    policy: Identifier
    span: Span


class UnknownClause(Record, frozen=True, eq=False):
    """A word after `with` that is not a valid clause; kept so that the resolver can suggest the nearest
    one."""

    word: Identifier
    span: Span


InterfaceClause: TypeAlias = (
    ProtocolClause
    | RequestsClause
    | HelpersClause
    | WithinClause
    | MonitorClause
    | OverrunClause
    | ThreadsClause
    | UnknownClause
)


# Components --------------------------------------------------------------------------------------


class Control(Record, frozen=True, eq=False):
    """`control;`."""

    span: Span


class Hardware(Record, frozen=True, eq=False):
    """`hardware;`."""

    span: Span


class Requestor(Record, frozen=True, eq=False):
    """`requestor;` or `requestor N;`."""

    id: ValueNode | None
    span: Span


class CriticalityControl(Record, frozen=True, eq=False):
    """`criticality_control;`."""

    span: Span


class InterfaceDecl(Record, frozen=True, eq=False):
    """`[maybe] uses|provides|emits|consumes|dataport TYPE name [with clauses];`"""

    kind: str  # uses provides emits consumes dataport
    type: TypeName | BufType  # procedure, event or dataport type
    name: Identifier
    optional: bool
    clauses: tuple[InterfaceClause, ...]
    span: Span


class SyncDecl(Record, frozen=True, eq=False):
    """`has mutex name [with clauses];` and its like."""

    kind: str  # mutex semaphore binary_semaphore condition
    name: Identifier
    clauses: tuple[InterfaceClause, ...]
    span: Span


ComponentItem: TypeAlias = (
    Control
    | Hardware
    | Requestor
    | CriticalityControl
    | InterfaceDecl
    | SyncDecl
    | AttributeDecl
    | IncludeDecl
)


class ComponentDecl(Record, frozen=True, eq=False):
    """`composition` and `configuration` are blocks or, as upstream's grammar allows, names of blocks."""

    name: Identifier | None
    items: tuple[ComponentItem, ...]
    composition: CompositionDecl | BlockReference | None
    configuration: ConfigurationDecl | BlockReference | None
    span: Span


class ConnectorEndDecl(Record, frozen=True, eq=False):
    """`from [hardware] Kind [with N threads];`, and the same with `to`."""

    side: str  # from to
    hardware: bool
    kind: str  # Event Procedure Dataport (singular form)
    many: bool  # the plural was written
    threads: ValueNode | None
    span: Span


class ConnectorDecl(Record, frozen=True, eq=False):
    """`connector NAME { ends, attributes }`, or such a block in a connection."""

    name: Identifier | None
    ends: tuple[ConnectorEndDecl, ...]  # as written; the resolver wants one from and one to
    attributes: tuple[AttributeDecl, ...]
    span: Span


class InstanceDecl(Record, frozen=True, eq=False):
    """`component TYPE name;`; `type` is a Component where it was written in place."""

    type: Identifier | ComponentDecl
    name: Identifier
    span: Span


class ConnectionEndDecl(Record, frozen=True, eq=False):
    """`from a.b`, `to a.b`."""

    side: str  # from to
    path: tuple[Identifier, ...]
    span: Span


class ConnectionDecl(Record, frozen=True, eq=False):
    """`connection CONNECTOR name(ends) [with clauses];`."""

    connector: Identifier | ConnectorDecl
    name: Identifier
    ends: tuple[ConnectionEndDecl, ...]
    clauses: tuple[InterfaceClause, ...]
    span: Span


class GroupDecl(Record, frozen=True, eq=False):
    """`group NAME { instances }`."""

    name: Identifier | None
    instances: tuple[InstanceDecl, ...]
    span: Span


class ExportDecl(Record, frozen=True, eq=False):
    """`export source -> target;`."""

    source: tuple[Identifier, ...]
    target: Identifier
    span: Span


CompositionItem: TypeAlias = InstanceDecl | ConnectionDecl | GroupDecl | ExportDecl


class CompositionDecl(Record, frozen=True, eq=False):
    """`composition NAME { items }`."""

    name: Identifier | None
    items: tuple[CompositionItem, ...]
    span: Span


class BlockReference(Record, frozen=True, eq=False):
    """`composition Name;` or `configuration Name;`."""

    kind: str
    name: Identifier
    span: Span


class SettingDecl(Record, frozen=True, eq=False):
    """`path = value;` or `path <- reference;` (then `value` is a Reference)."""

    path: tuple[Identifier, ...]
    value: ValueNode
    span: Span


class ConfigurationDecl(Record, frozen=True, eq=False):
    """`configuration NAME { settings }`."""

    name: Identifier | None
    settings: tuple[SettingDecl, ...]
    span: Span


class ScheduleEntry(Record, frozen=True, eq=False):
    """`(domain, duration [unit])`."""

    domain: ValueNode
    duration: ValueNode  # a Quantity where a unit was written
    span: Span


class ScheduleDecl(Record, frozen=True, eq=False):
    """`schedule { [entries] }`."""

    entries: tuple[ScheduleEntry, ...]
    span: Span


AssemblyItem: TypeAlias = CompositionDecl | ConfigurationDecl | BlockReference | ScheduleDecl


class AssemblyDecl(Record, frozen=True, eq=False):
    """`assembly NAME { items }`."""

    name: Identifier | None
    items: tuple[AssemblyItem, ...]
    span: Span


class ImportDecl(Record, frozen=True, eq=False):
    """`import "path";` or `import <path>;`."""

    path: str
    system: bool  # <path>, searched in the import path
    span: Span


TopLevelItem: TypeAlias = (
    ImportDecl
    | ProcedureDecl
    | StructDecl
    | ConnectorDecl
    | ComponentDecl
    | CompositionDecl
    | ConfigurationDecl
    | BlockReference
    | AssemblyDecl
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
