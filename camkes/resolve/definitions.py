# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What stands between the syntax tree and the model: names are followed, the hierarchy still stands."""

from __future__ import annotations

from collections.abc import Mapping

from camkes.diagnostics import Span
from camkes.model.system import ComponentType, Connector, Interface, Value
from camkes.parser import ast
from camkes.records import dataclass, field


@dataclass(eq=False, repr=False)
class SettingDefinition:
    """A setting of a configuration block. `value` is folded; a reference or a query is still to be asked."""

    instance: ast.Name
    attribute: ast.Name
    value: Value | ast.Reference | ast.Query | None
    unit: str | None
    value_span: Span
    span: Span
    block: object  # the configuration it stands in


@dataclass(eq=False, repr=False)
class InstanceDefinition:
    """An instance in a composition; `component` is None if its type is unknown."""

    name: ast.Name
    component: ComponentDefinition | None
    group: str | None
    span: Span


@dataclass(eq=False, repr=False)
class EndDefinition:
    """An end of a connection; `instance` is None for an interface of the surrounding component."""

    side: str
    instance: str | None
    owner: ComponentDefinition
    interface: Interface
    span: Span


@dataclass(eq=False, repr=False)
class ConnectionDefinition:
    """A connection; `connector` is None if it is unknown, `complete` false if one of its ends is.

    `doubtful` are the parts that an unknown end may well be meant for (None: the component itself).
    """

    name: ast.Name
    connector: Connector | None
    ends: list[EndDefinition]
    complete: bool
    threads: int | None
    threads_span: Span | None
    span: Span
    doubtful: set[str | None]


@dataclass(eq=False, repr=False)
class ExportDefinition:
    """`target` of the surrounding component stands for `source` of its part `instance`."""

    instance: str
    source: Interface
    owner: ComponentDefinition
    target: str
    span: Span


@dataclass(eq=False, repr=False)
class CompositionDefinition:
    instances: dict[str, InstanceDefinition] = field(default_factory=dict)
    #: named groups with the names of their members
    groups: dict[str, dict[str, InstanceDefinition]] = field(default_factory=dict)
    group_spans: dict[str, Span] = field(default_factory=dict)
    connections: list[ConnectionDefinition] = field(default_factory=list)
    exports: list[ExportDefinition] = field(default_factory=list)


@dataclass(eq=False, repr=False)
class ComponentDefinition:
    """A component type with its insides.

    `spelled` has the type of each interface as it was written: `Buf` and `Buf(4096)` are one type to C
    and two to a connection.
    """

    type: ComponentType
    spelled: Mapping[str, str]
    composition: CompositionDefinition | None
    settings: list[SettingDefinition]


@dataclass(eq=False, repr=False)
class AssemblyDefinition:
    composition: CompositionDefinition
    settings: list[SettingDefinition]
    schedule: ast.Schedule | None
