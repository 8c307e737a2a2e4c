# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The hierarchy flattened: parts of components become instances with dotted names.

An exported interface is an alias of one of a part; connections to it lead to the part. A component with
parts stays an instance of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from camkes.diagnostics import Label, Sink, Span
from camkes.model.system import Connector, Interface
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.names.definitions import (
    DEEPEST,
    AssemblyDefinition,
    ComponentDefinition,
    CompositionDefinition,
    SettingDefinition,
)
from camkes.resolve.options import Override

_MOST_INSTANCES = 100_000


class FlatInstance(Struct, eq=False, dict=True):
    """`parent` is the dotted name of the component it is a part of; empty at the top."""

    name: str
    component: ComponentDefinition
    address_space: str
    parent: str
    span: Span


class FlatEnd(Struct, eq=False, dict=True):
    side: str
    instance: str
    component: ComponentDefinition
    interface: Interface
    span: Span


class FlatConnection(Struct, eq=False, dict=True):
    """A connection; `written` is its name in the text and `name` the one with the path in front."""

    name: str
    written: str
    connector: Connector
    ends: list[FlatEnd]
    threads: int | None
    threads_span: Span | None
    span: Span


class FlatSetting(Struct, eq=False, dict=True):
    """A setting of `instance` (dotted); `scope` is the path of the component whose block contains it."""

    instance: str
    attribute: str
    scope: str
    definition: SettingDefinition


class Flat(Struct, eq=False, dict=True):
    instances: dict[str, FlatInstance] = field(default_factory=dict)
    connections: list[FlatConnection] = field(default_factory=list)
    settings: list[FlatSetting] = field(default_factory=list)
    #: names of instances whose component is unknown
    unknown: set[str] = field(default_factory=set)
    #: instances that an end which could not be resolved may be meant for
    doubtful: set[str] = field(default_factory=set)
    #: interfaces named by connections that could not be resolved
    touched: set[tuple[str, str]] = field(default_factory=set)
    #: (instance, interface) that is an alias of another one
    aliases: dict[tuple[str, str], FlatEnd] = field(default_factory=dict)
    address_spaces: set[str] = field(default_factory=set)
    #: names of connections that could not be resolved
    unknown_connections: set[str] = field(default_factory=set)


def flatten(assemblies: list[AssemblyDefinition], sink: Sink) -> Flat:
    """All assemblies as one flat system, in the order of the text."""
    flat = Flat()
    _merge_names(assemblies, sink)
    for assembly in assemblies:
        _expand(assembly.composition, "", None, flat, sink)
        _settings(assembly.settings, "", flat)
    if len(flat.instances) > _MOST_INSTANCES:
        outermost = flat.instances[next(reversed(flat.instances)).partition(".")[0]]
        sink.report(
            codes.TOO_DEEP,
            f"the system has more than {_MOST_INSTANCES} instances",
            outermost.span,
            "including those inside this one",
        )
    for connection in flat.connections:
        for end in connection.ends:
            _follow(end, flat)
    flat.touched |= {_followed(key, flat) for key in flat.touched}
    return flat


def _merge_names(assemblies: list[AssemblyDefinition], sink: Sink) -> None:
    """Assemblies become one, so an instance, group or connection of one cannot have a name of another."""
    seen: list[dict[str, Span]] = [{}, {}, {}]
    for assembly in assemblies:
        composition = assembly.composition
        instances = composition.instances.values()
        # members of a group are only seen through it, and get names beside all others in the end
        beside = {i.name.text: i.span for i in instances if i.group is None} | composition.group_spans
        inside = {i.name.text: i.span for i in instances}
        connections = {c.name.text: c.span for c in composition.connections}
        taken: dict[tuple[str, Span], Span] = {}
        for before, own in zip(seen, (beside, inside, connections), strict=True):
            taken |= {(name, span): before[name] for name, span in own.items() if name in before}
            own.update(before)
        seen = [beside, inside, connections]
        for (name, span), first in taken.items():
            sink.report(
                codes.DUPLICATE_NAME,
                f"`{name}` has a name that is already in use in another assembly",
                span,
                "defined again here",
                related=[Label(first, "first defined here")],
                help=""
                if first.file is span.file
                else "a file that several systems import has no assembly: move the components to one",
            )


def _expand(
    composition: CompositionDefinition,
    prefix: str,
    owner: tuple[str, ComponentDefinition] | None,
    flat: Flat,
    sink: Sink,
) -> None:
    parent = owner[0] if owner else ""
    for connection in composition.connections:
        ends = []
        for end in connection.ends:
            instance = parent if end.instance is None else prefix + end.instance
            ends.append(FlatEnd(end.side, instance, end.owner, end.interface, end.span))
        name = prefix + connection.name.text
        if connection.connector is None or not connection.complete:
            flat.touched |= {(end.instance, end.interface.name) for end in ends}
            flat.unknown_connections.add(name)
            flat.doubtful |= {parent if part is None else prefix + part for part in connection.doubtful}
            continue
        flat.connections.append(
            FlatConnection(
                name,
                connection.name.text,
                connection.connector,
                ends,
                connection.threads,
                connection.threads_span,
                connection.span,
            )
        )
    for export in composition.exports:
        flat.aliases[parent, export.target] = FlatEnd(
            "", prefix + export.instance, export.owner, export.source, export.span
        )
    for part in composition.instances.values():
        full = prefix + part.name.text
        space = prefix + (part.group or part.name.text)
        flat.address_spaces.add(space)
        if part.component is None:
            flat.unknown.add(full)
            continue
        if full.count(".") >= DEEPEST:
            sink.report(codes.TOO_DEEP, f"definitions are nested more than {DEEPEST} levels deep", part.span)
            continue
        if len(flat.instances) > _MOST_INSTANCES:
            return
        flat.instances.setdefault(full, FlatInstance(full, part.component, space, parent, part.span))
        inner = part.component.composition
        if inner is not None:
            _expand(inner, full + ".", (full, part.component), flat, sink)
        _settings(part.component.settings, full, flat)


def override(flat: Flat, overrides: Sequence[Override]) -> None:
    """Put settings in the place of those that configurations have for the same attributes."""
    named = {(each.instance, each.attribute) for each in overrides}
    flat.settings = [each for each in flat.settings if (each.instance, each.attribute) not in named]
    _settings([_definition(each) for each in overrides], "", flat)


def _definition(override: Override) -> SettingDefinition:
    return SettingDefinition(
        ast.Identifier(override.instance, override.instance_span),
        ast.Identifier(override.attribute, override.attribute_span),
        override.value,
        override.unit,
        override.value_span,
        override.instance_span.to(override.value_span),
        None,
    )


def _settings(definitions: Sequence[SettingDefinition], scope: str, flat: Flat) -> None:
    prefix = scope + "." if scope else ""
    for definition in definitions:
        flat.settings.append(
            FlatSetting(prefix + definition.instance.text, definition.attribute.text, scope, definition)
        )


def _follow(end: FlatEnd, flat: Flat) -> None:
    """Lead an end at an exported interface to the interface behind it. Each hop is one level deeper."""
    alias = flat.aliases.get((end.instance, end.interface.name))
    while alias is not None:
        end.instance, end.component, end.interface = alias.instance, alias.component, alias.interface
        alias = flat.aliases.get((end.instance, end.interface.name))


def _followed(key: tuple[str, str], flat: Flat) -> tuple[str, str]:
    alias = flat.aliases.get(key)
    while alias is not None:
        key = (alias.instance, alias.interface.name)
        alias = flat.aliases.get(key)
    return key
