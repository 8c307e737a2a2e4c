# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The intermediate form between the syntax tree and the model: names are resolved, the hierarchy is not yet
flattened."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from camkes.diagnostics import Span
from camkes.model.system import ComponentType, Connector, Interface, Value
from camkes.parser import ast

#: Levels of definitions in each other.
DEEPEST = 100


class SettingDefinition(Struct, eq=False, dict=True):
    """A setting of a configuration block. `value` is folded; a reference or a query is still to be asked."""

    instance: ast.Identifier
    attribute: ast.Identifier
    value: Value | ast.Reference | ast.Query | None
    unit: str | None
    value_span: Span
    span: Span
    block: object  # the configuration that contains it


class InstanceDefinition(Struct, eq=False, dict=True):
    """An instance in a composition; `component` is None if its type is unknown."""

    name: ast.Identifier
    component: ComponentDefinition | None
    group: str | None
    span: Span


class EndDefinition(Struct, eq=False, dict=True):
    """An end of a connection; `instance` is None for an interface of the surrounding component."""

    side: str
    instance: str | None
    owner: ComponentDefinition
    interface: Interface
    span: Span


class ConnectionDefinition(Struct, eq=False, dict=True):
    """A connection; `connector` is None if it is unknown, `complete` false if one of its ends is.

    `doubtful` are the parts that an unknown end may well be meant for (None: the component itself).
    """

    name: ast.Identifier
    connector: Connector | None
    ends: list[EndDefinition]
    complete: bool
    threads: int | None
    threads_span: Span | None
    span: Span
    doubtful: set[str | None]


class ExportDefinition(Struct, eq=False, dict=True):
    """`target` of the surrounding component is an alias of `source` of its part `instance`."""

    instance: str
    source: Interface
    owner: ComponentDefinition
    target: str
    span: Span


class CompositionDefinition(Struct, eq=False, dict=True):
    instances: dict[str, InstanceDefinition] = field(default_factory=dict)
    #: named groups with the names of their members
    groups: dict[str, dict[str, InstanceDefinition]] = field(default_factory=dict)
    group_spans: dict[str, Span] = field(default_factory=dict)
    connections: list[ConnectionDefinition] = field(default_factory=list)
    exports: list[ExportDefinition] = field(default_factory=list)


class ComponentDefinition(Struct, eq=False, dict=True):
    """A component type with its insides.

    `spelled` has the type of each interface as it was written: `Buf` and `Buf(4096)` are one type to C
    and two to a connection.
    """

    type: ComponentType
    spelled: Mapping[str, str]
    composition: CompositionDefinition | None
    settings: list[SettingDefinition]


class AssemblyDefinition(Struct, eq=False, dict=True):
    composition: CompositionDefinition
    settings: list[SettingDefinition]
    schedule: ast.ScheduleDecl | None
