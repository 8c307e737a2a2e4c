# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Compositions: instances, groups, connections and exports, with their names followed."""

from __future__ import annotations

from typing import Protocol

from camkes.diagnostics import Label, Sink, Span
from camkes.model.system import Connector, Interface
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.names.definitions import (
    ComponentDefinition,
    CompositionDefinition,
    ConnectionDefinition,
    EndDefinition,
    ExportDefinition,
    InstanceDefinition,
)
from camkes.resolve.names.scopes import new_member
from camkes.resolve.values.attributes import check_member_keyword
from camkes.resolve.values.clauses import connection_threads
from camkes.resolve.words.nearest import nearest, suggestion


class Definitions(Protocol):
    """The methods of the resolver of definitions that compositions use."""

    def component(self, node: ast.ComponentDecl, fallback: str) -> ComponentDefinition: ...
    def connector(self, node: ast.ConnectorDecl, fallback: str) -> Connector: ...
    def find_component(self, name: ast.Identifier) -> ComponentDefinition | None: ...
    def find_connector(self, name: ast.Identifier) -> Connector | None: ...


class Compositions:
    """Resolves compositions. Assemblies see the instances of the assemblies before them."""

    def __init__(self, definitions: Definitions, forward: bool, sink: Sink) -> None:
        self.definitions = definitions
        self.forward = forward
        self.sink = sink
        self.shared = CompositionDefinition()
        self.unnamed_groups = 0
        #: connections of assemblies that wait until all instances are known (forward references)
        self.late: list[tuple[ast.CompositionDecl, CompositionDefinition]] = []

    def assembly(self, node: ast.CompositionDecl) -> CompositionDefinition:
        """The composition of an assembly. Its connections get their names when they are joined."""
        result = CompositionDefinition()
        self.instances(node, result, {})
        for name, instance in result.instances.items():
            self.shared.instances.setdefault(name, instance)
        for name, group in result.groups.items():
            self.shared.groups.setdefault(name, group)
        if self.forward:
            self.late.append((node, result))
        else:
            self.connections(node, result, None, {})
        return result

    def resolve_late(self) -> None:
        for node, result in self.late:
            self.connections(node, result, None, {})

    def composition(
        self, node: ast.CompositionDecl, owner: ComponentDefinition | None
    ) -> CompositionDefinition:
        """The composition of a component, or a named one that nothing uses (then `owner` is None)."""
        result = CompositionDefinition()
        members: dict[str, Span] = {}
        self.instances(node, result, members)
        self.connections(node, result, owner, members)
        return result

    # Instances -----------------------------------------------------------------------------------

    def instances(
        self, node: ast.CompositionDecl, result: CompositionDefinition, members: dict[str, Span]
    ) -> None:
        # a group may have the name of one of its members: its members are only seen through it
        beside: dict[str, Span] = {}
        for item in node.items:
            if isinstance(item, ast.InstanceDecl):
                if self.instance(item, None, result, members):
                    new_member(beside, item.name, "instance", self.sink)
            elif isinstance(item, ast.GroupDecl) and (
                item.name is None or new_member(beside, item.name, "group", self.sink)
            ):
                self.group(item, result, members)

    def group(self, node: ast.GroupDecl, result: CompositionDefinition, members: dict[str, Span]) -> None:
        if node.name is None:
            space = f"unamed_group_{self.unnamed_groups}"  # spelled as in settings and builds
            self.unnamed_groups += 1
        else:
            space = node.name.text
        inside: dict[str, InstanceDefinition] = {}
        for item in node.instances:
            instance = self.instance(item, space, result, members)
            if instance is not None:
                inside[item.name.text] = instance
        if node.name is not None:
            result.groups[space] = inside
            result.group_spans[space] = node.name.span

    def instance(
        self,
        node: ast.InstanceDecl,
        group: str | None,
        result: CompositionDefinition,
        members: dict[str, Span],
    ) -> InstanceDefinition | None:
        if isinstance(node.type, ast.ComponentDecl):
            component: ComponentDefinition | None = self.definitions.component(node.type, node.name.text)
        else:
            component = self.definitions.find_component(node.type)
        if not new_member(members, node.name, "instance", self.sink):
            return None
        check_member_keyword(node.name, "instance", self.sink)
        definition = InstanceDefinition(node.name, component, group, node.name.span)
        result.instances[node.name.text] = definition
        return definition

    # Connections and exports ---------------------------------------------------------------------

    def connections(
        self,
        node: ast.CompositionDecl,
        result: CompositionDefinition,
        owner: ComponentDefinition | None,
        members: dict[str, Span],
    ) -> None:
        for item in node.items:
            if isinstance(item, ast.ConnectionDecl):
                new_member(members, item.name, "connection", self.sink)
                result.connections.append(self.connection(item, result, owner))
            elif isinstance(item, ast.ExportDecl):
                self.export(item, result, owner)

    def connection(
        self, node: ast.ConnectionDecl, scope: CompositionDefinition, owner: ComponentDefinition | None
    ) -> ConnectionDefinition:
        if isinstance(node.connector, ast.ConnectorDecl):
            connector: Connector | None = self.definitions.connector(node.connector, node.name.text)
        else:
            connector = self.definitions.find_connector(node.connector)
        doubtful: set[str | None] = set()
        ends = []
        for written in node.ends:
            ends.append(self.end(written, scope, owner))
            if ends[-1] is None:
                doubtful.add(self.meant(written, scope))
        threads, threads_span = connection_threads(node, self.sink)
        return ConnectionDefinition(
            name=node.name,
            connector=connector,
            ends=[end for end in ends if end is not None],
            complete=None not in ends,
            threads=threads,
            threads_span=threads_span,
            span=node.name.span,
            doubtful=doubtful,
        )

    def meant(self, node: ast.ConnectionEndDecl, scope: CompositionDefinition) -> str | None:
        """The part that an unknown end is likely to mean; None: the component around."""
        if len(node.path) == 1:  # `instanceinterface`: the dot is missing
            text = node.path[0].text
            return max((name for name in scope.instances if text.startswith(name)), key=len, default=None)
        head, part = node.path[0].text, node.path[-2].text
        names = {**self.shared.instances, **scope.instances}
        return part if part in names else head if head in names else nearest(part, names)

    def end(
        self, node: ast.ConnectionEndDecl, scope: CompositionDefinition, owner: ComponentDefinition | None
    ) -> EndDefinition | None:
        if len(node.path) == 1:
            return self.own_end(node, scope, owner)
        found = self.member(node.path, scope, owner is None)
        if found is None:
            return None
        instance, component, interface = found
        return EndDefinition(node.side, instance, component, interface, _path_span(node.path))

    def own_end(
        self, node: ast.ConnectionEndDecl, scope: CompositionDefinition, owner: ComponentDefinition | None
    ) -> EndDefinition | None:
        name = node.path[0]
        if owner is None:
            help = f"write `{name.text}.INTERFACE`" if name.text in scope.instances else ""
            self.sink.report(
                codes.UNKNOWN_END,
                f"`{name.text}` is not an interface: outside of a component an end is written "
                "`instance.interface`",
                name.span,
                help=help,
            )
            return None
        interface = owner.type.interface(name.text)
        if interface is None:
            help = suggestion(name.text, owner.spelled)
            if name.text in scope.instances:
                help = f"write `{name.text}.INTERFACE`"
            self.sink.report(
                codes.UNKNOWN_END,
                f"component `{owner.type.name}` has no interface `{name.text}`",
                name.span,
                related=[Label(owner.type.span, "the component")],
                help=help,
            )
            return None
        return EndDefinition(node.side, None, owner, interface, name.span)

    def member(
        self, path: tuple[ast.Identifier, ...], scope: CompositionDefinition, in_assembly: bool
    ) -> tuple[str, ComponentDefinition, Interface] | None:
        """What `instance.interface` or `group.instance.interface` means; None, and an error, if nothing."""
        instance = self.find_instance(path[:-1], scope, in_assembly)
        if instance is None or instance.component is None:
            return None
        name, type = path[-1], instance.component.type
        interface = type.interface(name.text)
        if interface is None:
            self.sink.report(
                codes.UNKNOWN_END,
                f"`{instance.name.text}` has no interface `{name.text}`",
                name.span,
                f"component `{type.name}` has no interface of this name",
                related=[Label(type.span, "the component")],
                help=suggestion(name.text, instance.component.spelled),
            )
            return None
        return instance.name.text, instance.component, interface

    def find_instance(
        self, path: tuple[ast.Identifier, ...], scope: CompositionDefinition, in_assembly: bool
    ) -> InstanceDefinition | None:
        scopes = [scope, self.shared] if in_assembly else [scope]
        head = path[0]
        for inside in scopes:
            if len(path) == 1 and head.text in inside.instances and inside.instances[head.text].group is None:
                return inside.instances[head.text]
            if len(path) == 2 and head.text in inside.groups:
                members = inside.groups[head.text]
                if path[1].text in members:
                    return members[path[1].text]
                self.sink.report(
                    codes.UNKNOWN_END,
                    f"group `{head.text}` has no instance `{path[1].text}`",
                    path[1].span,
                    help=suggestion(path[1].text, members),
                )
                return None
        self.no_instance(path, scopes)
        return None

    def no_instance(self, path: tuple[ast.Identifier, ...], scopes: list[CompositionDefinition]) -> None:
        head = path[0]
        names: list[str] = []
        help = ""
        for scope in scopes:
            names += [name for name, i in scope.instances.items() if i.group is None]
            names += scope.groups
            member = scope.instances.get(head.text)
            if member is not None and member.group in scope.groups:
                help = f"it is in a group: write `{member.group}.{head.text}`"
            elif member is not None and member.group is not None:
                help = (
                    f"`{head.text}` is in a group without a name, so its interfaces cannot be connected: "
                    "give the group a name"
                )
            elif member is not None and len(path) > 1:
                help = (
                    "only instances of the component's own composition can be named here: export an "
                    f"interface of `{path[1].text}`"
                )
        self.sink.report(
            codes.UNKNOWN_END,
            f"there is no instance `{'.'.join(n.text for n in path)}` here",
            _path_span(path),
            help=help or suggestion(head.text, names),
        )

    def export(
        self, node: ast.ExportDecl, scope: CompositionDefinition, owner: ComponentDefinition | None
    ) -> None:
        if owner is None:
            self.sink.report(
                codes.BAD_EXPORT,
                "only the composition of a component can export an interface",
                node.span,
            )
            return
        target = owner.type.interface(node.target.text)
        if target is None:
            self.sink.report(
                codes.BAD_EXPORT,
                f"component `{owner.type.name}` has no interface `{node.target.text}` to export as",
                node.target.span,
                help=suggestion(node.target.text, owner.spelled),
            )
        if len(node.source) < 2:
            self.sink.report(
                codes.BAD_EXPORT,
                "an interface of an inner instance is exported: `instance.interface`",
                _path_span(node.source),
            )
            return
        found = self.member(node.source, scope, False)
        if found is None or target is None:
            return
        instance, component, source = found
        if source.kind != target.kind:
            self.sink.report(
                codes.EXPORT_KIND,
                f"`{target.name}` is declared with `{target.kind}`, but the exported interface is declared "
                f"with `{source.kind}`",
                node.span,
                related=[
                    Label(target.span, "the interface of the component"),
                    Label(source.span, "the exported interface"),
                ],
            )
        scope.exports.append(ExportDefinition(instance, source, component, target.name, node.span))


def _path_span(path: tuple[ast.Identifier, ...]) -> Span:
    return path[0].span.to(path[-1].span)
