# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names of a program: their definitions and uses.

Made from the syntax trees alone, so that it is there while the system has errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from camkes.diagnostics import Span
from camkes.parser import ast
from camkes.resolve.files.imports import Program

#: Instances that are distinguished when a component is used in many places.
_MOST_PATHS = 1000
_DEEPEST = 100

_KINDS: dict[type, str] = {
    ast.ProcedureDecl: "procedure",
    ast.StructDecl: "struct",
    ast.ConnectorDecl: "connector",
    ast.ComponentDecl: "component",
}


class NamedSymbol(Struct, eq=False):
    """Something with a name.

    `kind`: procedure struct connector component method interface mutex attribute instance group
    connection. `owner` is the component it is part of; `type` the component of an instance or the
    procedure of an interface. `members` are interfaces, locks and attributes of a component, or methods.
    """

    kind: str
    name: ast.Identifier
    node: object
    owner: NamedSymbol | None = None
    type: NamedSymbol | None = None
    members: dict[str, NamedSymbol] = field(default_factory=dict)
    scope: Scope | None = None  # the inside of a component with parts

    @property
    def interface(self) -> ast.InterfaceDecl | None:
        return self.node if isinstance(self.node, ast.InterfaceDecl) else None


class Scope(Struct, eq=False):
    """The names of a composition; the assemblies of a program share one. `owner` is its component."""

    owner: NamedSymbol | None = None
    instances: dict[str, NamedSymbol] = field(default_factory=dict)
    groups: dict[str, dict[str, NamedSymbol]] = field(default_factory=dict)
    connections: dict[str, NamedSymbol] = field(default_factory=dict)
    exports: dict[str, tuple[NamedSymbol, str]] = field(default_factory=dict)  # own interface -> (part, its)


class NameUse(NamedTuple):
    """A place where a name is written. `whole` is the word it is part of (`p` in `p_wcet`), `instance` the
    one before the dot. `literal` is false where a macro wrote it."""

    span: Span
    symbol: NamedSymbol
    whole: Span
    instance: NamedSymbol | None
    literal: bool


class SettingUse(NamedTuple):
    """The name of a setting, and the instance it is set on."""

    name: ast.Identifier
    instance: NamedSymbol | None


class Index:
    """The symbols of a program and their uses."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tops: dict[str, dict[str, NamedSymbol]] = {kind: {} for kind in _KINDS.values()}
        self.assembly = Scope()
        self.uses: dict[str, list[NameUse]] = {}  # by file
        self.settings: dict[str, list[SettingUse]] = {}
        self._instances_of: dict[NamedSymbol, list[NamedSymbol]] = {}
        self._uses_of: dict[NamedSymbol, list[NameUse]] = {}
        _IndexWalk(self).run(program.items)

    # Questions -----------------------------------------------------------------------------------

    def at(self, path: str, line: int, column: int) -> NameUse | None:
        """The innermost name at a place; right behind it counts too."""
        found = [use for use in self.uses.get(path, ()) if _contains(use.whole, line, column)]
        return min(found, key=lambda use: _width(use.whole), default=None)

    def setting_at(self, path: str, line: int, column: int) -> SettingUse | None:
        settings = self.settings.get(path, ())
        return next((each for each in settings if _contains(each.name.span, line, column)), None)

    def uses_of(self, symbol: NamedSymbol) -> list[NameUse]:
        return self._uses_of.get(symbol, [])

    def instances_of(self, component: NamedSymbol) -> list[NamedSymbol]:
        return self._instances_of.get(component, [])

    def paths(self, instance: NamedSymbol) -> list[str]:
        """The dotted names that an instance has in the system, one for each place its component has."""
        return list(self._paths(instance, frozenset()))

    def component_paths(self, component: NamedSymbol) -> list[str]:
        """The dotted names of all instances of a component."""
        return [path for instance in self.instances_of(component) for path in self.paths(instance)]

    def served(self, path: str, instance: NamedSymbol, interface: str) -> str:
        """The dotted name of the interface that serves `interface` of an instance: a part's, if exported."""
        for _ in range(_DEEPEST):  # a component that contains itself has no end
            scope = instance.type.scope if instance.type else None
            if scope is None or interface not in scope.exports:
                break
            instance, interface = scope.exports[interface]
            path = f"{path}.{instance.name.text}"
        return f"{path}.{interface}"

    def _paths(self, instance: NamedSymbol, above: frozenset[NamedSymbol]) -> Iterator[str]:
        name = instance.name.text
        if instance.owner is None:
            yield name
        elif instance.owner not in above:
            count = 0
            for outer in self.instances_of(instance.owner):
                for path in self._paths(outer, above | {instance.owner}):
                    yield f"{path}.{name}"
                    count += 1
                    if count >= _MOST_PATHS:
                        return

    # Building ------------------------------------------------------------------------------------

    def add(
        self, name: ast.Identifier, symbol: NamedSymbol, instance: NamedSymbol | None = None, part: str = ""
    ) -> None:
        """Enter a use; `part` is the beginning of the word that is meant, if not all of it."""
        span, whole = name.span, name.span
        text = part or name.text
        written = _text(span)
        if part and written == name.text:
            span = Span(span.file, span.line, span.column, span.line, span.column + len(part))
        literal = written == name.text
        if not literal and written.endswith(text) and span.line == span.end_line:  # `struct NAME`
            head = written[: -len(text)].strip()
            if head == "struct":
                span = Span(span.file, span.line, span.end_column - len(text), span.line, span.end_column)
                literal = True
        use = NameUse(span, symbol, whole, instance, literal)
        self.uses.setdefault(str(span.file.path), []).append(use)
        self._uses_of.setdefault(symbol, []).append(use)


class _IndexWalk:
    """One walk over a program."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.bodies: list[tuple[ast.ComponentDecl, NamedSymbol]] = []

    def run(self, items: Iterable[ast.TopLevelItem]) -> None:
        items = list(items)
        loose: list[ast.CompositionDecl | ast.ConfigurationDecl] = []
        for node in items:
            kind = _KINDS.get(type(node))
            if isinstance(node, (ast.CompositionDecl, ast.ConfigurationDecl)):
                loose.append(node)
            elif isinstance(node, ast.AssemblyDecl):
                loose += [
                    i for i in node.items if isinstance(i, (ast.CompositionDecl, ast.ConfigurationDecl))
                ]
            elif kind is not None:
                self.top(kind, node)
        for node, symbol in self.bodies:
            self.component(node, symbol)
        compositions = [block for block in loose if isinstance(block, ast.CompositionDecl)]
        for block in compositions:
            self.instances(block, self.index.assembly)
        for block in compositions:
            self.connections(block, self.index.assembly)
        for each in loose:
            if isinstance(each, ast.ConfigurationDecl):
                self.configuration(each, self.index.assembly)

    def top(self, kind: str, node: ast.TopLevelItem) -> None:
        assert isinstance(node, (ast.ProcedureDecl, ast.StructDecl, ast.ConnectorDecl, ast.ComponentDecl))
        if node.name is None:
            return
        symbol = NamedSymbol(kind, node.name, node)
        self.index.tops[kind].setdefault(node.name.text, symbol)
        self.index.add(node.name, symbol)
        if isinstance(node, ast.ProcedureDecl):
            for method in node.methods:
                self.member(symbol, "method", method.name, method)
        elif isinstance(node, ast.ComponentDecl):
            self.bodies.append((node, symbol))
            self.members(node, symbol)

    def member(self, owner: NamedSymbol, kind: str, name: ast.Identifier, node: object) -> NamedSymbol:
        symbol = NamedSymbol(kind, name, node, owner)
        owner.members.setdefault(name.text, symbol)
        self.index.add(name, symbol)
        return symbol

    # Components ----------------------------------------------------------------------------------

    def members(self, node: ast.ComponentDecl, symbol: NamedSymbol) -> None:
        for item in node.items:
            if isinstance(item, ast.InterfaceDecl):
                self.member(symbol, "interface", item.name, item)
            elif isinstance(item, ast.SyncDecl):
                self.member(symbol, "mutex", item.name, item)
            elif isinstance(item, ast.AttributeDecl):
                self.member(symbol, "attribute", item.name, item)

    def component(self, node: ast.ComponentDecl, symbol: NamedSymbol) -> None:
        for item in node.items:
            if isinstance(item, ast.InterfaceDecl):
                self.interface(item, symbol)
            elif isinstance(item, ast.AttributeDecl) and isinstance(item.type, ast.TypeName):
                self.refer("struct", ast.Identifier(item.type.name, item.type.span))
        if isinstance(node.composition, ast.CompositionDecl):
            symbol.scope = Scope(symbol)
            self.instances(node.composition, symbol.scope)
            self.connections(node.composition, symbol.scope)
        if isinstance(node.configuration, ast.ConfigurationDecl):
            self.configuration(node.configuration, symbol.scope or Scope(symbol))

    def interface(self, node: ast.InterfaceDecl, owner: NamedSymbol) -> None:
        if node.kind in ("uses", "provides") and isinstance(node.type, ast.TypeName):
            type = self.refer("procedure", ast.Identifier(node.type.name, node.type.span))
            symbol = owner.members.get(node.name.text)
            if symbol is not None and symbol.node is node:
                symbol.type = type
        for clause in node.clauses:
            if isinstance(clause, ast.RequestsClause):
                for name in clause.interfaces:
                    self.own(name, owner)

    def refer(self, kind: str, name: ast.Identifier) -> NamedSymbol | None:
        symbol = self.index.tops[kind].get(name.text)
        if symbol is not None:
            self.index.add(name, symbol)
        return symbol

    def own(self, name: ast.Identifier, owner: NamedSymbol | None, kind: str = "interface") -> None:
        symbol = owner.members.get(name.text) if owner else None
        if symbol is not None and symbol.kind == kind:
            self.index.add(name, symbol)

    # Compositions --------------------------------------------------------------------------------

    def instances(self, node: ast.CompositionDecl, scope: Scope) -> None:
        for item in node.items:
            if isinstance(item, ast.InstanceDecl):
                self.instance(item, scope)
            elif isinstance(item, ast.GroupDecl):
                inside = {each.name.text: self.instance(each, scope) for each in item.instances}
                if item.name is not None:
                    scope.groups.setdefault(item.name.text, inside)
                    self.index.add(item.name, NamedSymbol("group", item.name, item, scope.owner))

    def instance(self, node: ast.InstanceDecl, scope: Scope) -> NamedSymbol:
        if isinstance(node.type, ast.ComponentDecl):
            type: NamedSymbol | None = NamedSymbol("component", node.name, node.type)
            assert type is not None
            self.members(node.type, type)
            self.component(node.type, type)
        else:
            type = self.refer("component", node.type)
        symbol = NamedSymbol("instance", node.name, node, scope.owner, type)
        scope.instances.setdefault(node.name.text, symbol)
        self.index.add(node.name, symbol)
        if type is not None:
            self.index._instances_of.setdefault(type, []).append(symbol)
        return symbol

    def connections(self, node: ast.CompositionDecl, scope: Scope) -> None:
        for item in node.items:
            if isinstance(item, ast.ConnectionDecl):
                if isinstance(item.connector, ast.Identifier):
                    self.refer("connector", item.connector)
                symbol = NamedSymbol("connection", item.name, item, scope.owner)
                scope.connections.setdefault(item.name.text, symbol)
                self.index.add(item.name, symbol)
                for end in item.ends:
                    self.path(end.path, scope)
            elif isinstance(item, ast.ExportDecl):
                found = self.path(item.source, scope)
                self.own(item.target, scope.owner)
                if found is not None:
                    scope.exports.setdefault(item.target.text, (found, item.source[-1].text))

    def path(self, path: tuple[ast.Identifier, ...], scope: Scope) -> NamedSymbol | None:
        """`interface`, `instance.interface` or `group.instance.interface`; the instance."""
        if len(path) == 1:
            self.own(path[0], scope.owner)
            return None
        if len(path) > 2:
            group = scope.groups.get(path[-3].text)
            instance = group.get(path[-2].text) if group else None
        else:
            instance = scope.instances.get(path[-2].text)
        if instance is None:
            return None
        self.index.add(path[-2], instance)
        interface = instance.type.members.get(path[-1].text) if instance.type else None
        if interface is not None and interface.kind == "interface":
            self.index.add(path[-1], interface, instance)
        return instance

    # Configurations ------------------------------------------------------------------------------

    def configuration(self, node: ast.ConfigurationDecl, scope: Scope) -> None:
        for setting in node.settings:
            if len(setting.path) != 2:
                continue
            head, name = setting.path
            instance = scope.instances.get(head.text)
            connection = scope.connections.get(head.text)
            if instance is not None:
                self.index.add(head, instance)
                self.setting(name, instance)
            elif connection is not None:
                self.index.add(head, connection)
            settings = self.index.settings.setdefault(str(name.span.file.path), [])
            settings.append(SettingUse(name, instance))
            if isinstance(setting.value, ast.Reference):
                self.reference(setting.value.path, scope)

    def setting(self, name: ast.Identifier, instance: NamedSymbol) -> None:
        """`attribute`, or `interface_something`."""
        members = instance.type.members if instance.type else {}
        if name.text in members and members[name.text].kind == "attribute":
            self.index.add(name, members[name.text], instance)
            return
        heads = [m for m, s in members.items() if s.kind != "attribute" and name.text.startswith(f"{m}_")]
        head = max(heads, key=len, default=None)
        if head is not None:
            self.index.add(name, members[head], instance, head)
            self.setting_of_method(name, members[head], len(head) + 1)

    def setting_of_method(self, name: ast.Identifier, interface: NamedSymbol, start: int) -> None:
        """`interface_method_something`: the method."""
        methods = interface.type.members if interface.type is not None else {}
        span, rest = name.span, name.text[start:]
        method = max((each for each in methods if rest.startswith(f"{each}_")), key=len, default=None)
        if method is not None and _text(span) == name.text:
            column = span.column + start
            place = Span(span.file, span.line, column, span.line, column + len(method))
            self.index.add(ast.Identifier(method, place), methods[method])

    def reference(self, path: tuple[ast.Identifier, ...], scope: Scope) -> None:
        if len(path) == 1:
            self.own(path[0], scope.owner, "attribute")
            return
        instance = scope.instances.get(path[0].text)
        if instance is not None:
            self.index.add(path[0], instance)
            self.setting(path[1], instance)


def _text(span: Span) -> str:
    """What stands at a place of one line."""
    lines = span.file.lines
    if span.line != span.end_line or span.line > len(lines):
        return ""
    return lines[span.line - 1][span.column - 1 : span.end_column - 1]


def _contains(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)


def _width(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column
