# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names: each use of a name in a program is followed to its definition, in the order of the text."""

from __future__ import annotations

from camkes.diagnostics import Label, Sink, Span
from camkes.model.system import (
    ComponentType,
    Connector,
    ConnectorEnd,
    CType,
    DataportType,
    Include,
    Interface,
    Method,
    Parameter,
    Procedure,
    StructType,
    Sync,
)
from camkes.model.units import PAGE
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.files.imports import Program
from camkes.resolve.names.components import check_component, check_requests, name_monitors
from camkes.resolve.names.compositions import Compositions
from camkes.resolve.names.definitions import (
    DEEPEST,
    AssemblyDefinition,
    ComponentDefinition,
    SettingDefinition,
)
from camkes.resolve.names.scopes import Definition, TopLevel, kind_of, new_member
from camkes.resolve.names.symbols import check_symbols
from camkes.resolve.values.attributes import (
    AttributeTypes,
    check_declared,
    check_keyword,
    check_member_keyword,
)
from camkes.resolve.values.clauses import interface_clauses, sync_clauses
from camkes.resolve.values.expressions import fold, fold_integer

#: Components within components deeper than this are taken for a mistake.
#: what to write for types of C that no attribute has
_FRACTION = "use an `int` in a smaller unit, or a constant in a header"
_INSTEAD = {"bool": "use an `int`: `True` is 1", "double": _FRACTION, "float": _FRACTION}


class Names:
    """Resolves a program. `assemblies` and `components` are what `resolve` leaves behind; `position` is that
    of the item where it stands."""

    position: int

    def __init__(self, program: Program, forward: bool, sink: Sink) -> None:
        self.program = program
        self.sink = sink
        self.top = TopLevel(program.items, forward, program.whole, sink)
        self.types = AttributeTypes(program, sink, self.find_struct)
        self.compositions = Compositions(self, forward, sink)
        #: definitions that are being resolved, to find those that contain themselves
        self.running: list[tuple[int, ast.TopLevelItem]] = []
        self.done: dict[int, Procedure | StructType | Connector | ComponentDefinition] = {}
        #: procedures that are used and not defined: types are not checked against them
        self.unknown_procedures: set[str] = set()
        self.components: list[ComponentDefinition] = []
        self.assemblies: list[AssemblyDefinition] = []

    def resolve(self) -> None:
        """Resolve all items, used or not: a mistake in an unused definition is a mistake.

        The library has no mistakes, so that its definitions can wait until they are used.
        """
        for position, node in enumerate(self.program.items):
            self.position = position
            if isinstance(node, (ast.ProcedureDecl, ast.StructDecl, ast.ConnectorDecl, ast.ComponentDecl)):
                if position not in self.done:
                    self.definition(node, position)
            elif isinstance(node, ast.CompositionDecl):
                self.compositions.composition(node, None)
            elif isinstance(node, ast.ConfigurationDecl):
                self.settings(node)
            elif isinstance(node, ast.AssemblyDecl):
                self.assembly(node)
        self.compositions.resolve_late()
        for definition in self.components:
            check_symbols(definition.type, self.sink)

    # Definitions ---------------------------------------------------------------------------------

    def definition(
        self, node: ast.TopLevelItem, position: int
    ) -> Procedure | StructType | Connector | ComponentDefinition | None:
        """What the item at `position` defines, which is not known yet."""
        before, self.position = self.position, position
        self.running.append((position, node))
        try:
            match node:
                case ast.ProcedureDecl():
                    self.done[position] = self.procedure(node)
                case ast.StructDecl():
                    self.done[position] = self.types.struct(node.name, node.body)
                case ast.ConnectorDecl():
                    self.done[position] = self.connector(node, "")
                case ast.ComponentDecl():
                    self.done[position] = self.component(node, "")
                case _:
                    return None
        finally:
            self.position = before
            self.running.pop()
        return self.done[position]

    def find(
        self, kind: str, name: ast.Identifier
    ) -> Procedure | StructType | Connector | ComponentDefinition | None:
        """What `name` means where the resolver stands; None, and an error, if nothing."""
        found = self.top.find(kind, name, self.position)
        if found is None or found.position in self.done:
            return None if found is None else self.done[found.position]
        start = next((i for i, (p, _) in enumerate(self.running) if p == found.position), None)
        if start is not None:
            self.contains_itself(found, name, [node for _, node in self.running[start + 1 :]])
            return None
        if len(self.running) >= DEEPEST:
            self.sink.report(
                codes.TOO_DEEP, f"definitions are nested more than {DEEPEST} levels deep", name.span
            )
            return None
        return self.definition(found.node, found.position)

    def contains_itself(self, found: Definition, name: ast.Identifier, hops: list[ast.TopLevelItem]) -> None:
        names = [
            hop.name for hop in hops if isinstance(hop, (ast.ComponentDecl, ast.StructDecl)) and hop.name
        ]
        self.sink.report(
            codes.CONTAINS_ITSELF,
            f"{kind_of(found.node)} `{name.text}` contains itself",
            name.span,
            related=[Label(found.name.span, f"`{name.text}` is defined here")]
            + [Label(hop.span, f"which contains `{hop.text}`") for hop in names],
        )

    def find_struct(self, type: ast.TypeName) -> StructType | None:
        name = ast.Identifier(type.name, type.span)
        if type.name not in self.top.spaces["struct"]:
            if self.program.whole:
                self.sink.report(
                    codes.ATTRIBUTE_TYPE,
                    f"`{type.name}` is not a valid type of an attribute",
                    type.span,
                    notes=[
                        "expected int, int64_t, uint64_t, string, char or a struct defined with `struct "
                        "NAME { ... }`"
                    ],
                    help=_INSTEAD.get(type.name, ""),
                )
            return None
        found = self.find("struct", name)
        return found if isinstance(found, StructType) else None

    def find_procedure(self, name: ast.Identifier) -> Procedure:
        """The procedure of an interface. One that is unknown has no methods."""
        found = self.find("procedure", name)
        if isinstance(found, Procedure):
            return found
        self.unknown_procedures.add(name.text)
        return Procedure(name.text, (), (), name.span)

    def find_component(self, name: ast.Identifier) -> ComponentDefinition | None:
        found = self.find("component", name)
        return found if isinstance(found, ComponentDefinition) else None

    def find_connector(self, name: ast.Identifier) -> Connector | None:
        found = self.find("connector", name)
        return found if isinstance(found, Connector) else None

    # Procedures ----------------------------------------------------------------------------------

    def procedure(self, node: ast.ProcedureDecl) -> Procedure:
        members: dict[str, Span] = {}
        methods = []
        for method in node.methods:
            if new_member(members, method.name, "method", self.sink):
                methods.append(self.method(method))
        for attribute in node.attributes:
            new_member(members, attribute.name, "attribute", self.sink)
        self.types.attributes(node.attributes)
        name = node.name.text if node.name else ""
        span = node.name.span if node.name else node.span
        return Procedure(name, tuple(methods), _includes(node.includes), span)

    def method(self, node: ast.MethodDecl) -> Method:
        check_keyword(node.name, "method", self.sink)
        seen: dict[str, Span] = {}
        parameters = []
        for parameter in node.parameters:
            check_declared(parameter.name, "parameter", self.sink)
            if new_member(seen, parameter.name, "parameter", self.sink):
                parameters.append(
                    Parameter(
                        parameter.direction, _c_type(parameter.type), parameter.array, parameter.name.text
                    )
                )
        returned = None if node.return_type is None else _c_type(node.return_type)
        return Method(node.name.text, returned, tuple(parameters), node.name.span)

    # Connectors ----------------------------------------------------------------------------------

    def connector(self, node: ast.ConnectorDecl, fallback: str) -> Connector:
        ends = {side: self.connector_end(node, side) for side in ("from", "to")}
        return Connector(
            node.name.text if node.name else fallback,
            ends["from"],
            ends["to"],
            tuple(self.types.unchecked(a) for a in node.attributes),
            node.name.span if node.name else node.span,
        )

    def connector_end(self, node: ast.ConnectorDecl, side: str) -> ConnectorEnd:
        end = next((end for end in node.ends if end.side == side), None)
        if end is None:  # the parser has reported it
            return ConnectorEnd(False, "Procedure", True, 0)
        threads = (
            None if end.threads is None else fold_integer(end.threads, self.sink, "this thread count", 0)
        )
        return ConnectorEnd(end.hardware, end.kind, end.many, 1 if threads is None else threads)

    # Components ----------------------------------------------------------------------------------

    def component(self, node: ast.ComponentDecl, fallback: str) -> ComponentDefinition:
        interfaces: dict[str, Interface] = {}
        spelled: dict[str, str] = {}
        syncs = []
        attributes = []
        members: dict[str, Span] = {}
        requestors = [item for item in node.items if isinstance(item, ast.Requestor)]
        controls = [item for item in node.items if isinstance(item, ast.Control)]
        hardware = [item for item in node.items if isinstance(item, ast.Hardware)]
        for item in node.items:
            if isinstance(item, ast.InterfaceDecl):
                check_member_keyword(item.name, "interface", self.sink)
                if new_member(members, item.name, "interface", self.sink):
                    spelled[item.name.text] = self.spelled(item)
                    interfaces[item.name.text] = self.interface(item, spelled[item.name.text])
            elif isinstance(item, ast.SyncDecl):
                kind = item.kind.replace("_", " ")
                check_member_keyword(item.name, kind, self.sink)
                if new_member(members, item.name, kind, self.sink):
                    syncs.append(self.sync(item))
            elif isinstance(item, ast.AttributeDecl) and new_member(
                members, item.name, "attribute", self.sink
            ):
                attribute = self.types.attribute(item)
                if attribute is not None:
                    attributes.append(attribute)
        for block in (node.composition, node.configuration):
            if isinstance(block, (ast.CompositionDecl, ast.ConfigurationDecl)) and block.name is not None:
                new_member(members, block.name, kind_of(block) or "", self.sink)
        name = node.name or ast.Identifier(fallback, node.span)
        check_component(name, node, controls, hardware, requestors, self.sink)
        name_monitors(node, members, self.sink)
        id = requestors[0].id if requestors else None
        exports = node.composition.items if isinstance(node.composition, ast.CompositionDecl) else ()
        type = ComponentType(
            name=name.text,
            control=bool(controls),
            hardware=bool(hardware),
            interfaces=tuple(interfaces.values()),
            syncs=tuple(syncs),
            attributes=tuple(attributes),
            includes=_includes(tuple(item for item in node.items if isinstance(item, ast.IncludeDecl))),
            span=name.span,
            requestor=bool(requestors),
            requestor_id=None if id is None else fold_integer(id, self.sink, "this requestor id", 0),
            requestor_span=requestors[0].span if requestors else None,
            exported=tuple(item.target.text for item in exports if isinstance(item, ast.ExportDecl)),
            criticality_span=next(
                (item.span for item in node.items if isinstance(item, ast.CriticalityControl)), None
            ),
        )
        check_requests(node, interfaces, self.sink)
        definition = ComponentDefinition(type, spelled, None, [])
        if isinstance(node.composition, ast.CompositionDecl):
            definition.composition = self.compositions.composition(node.composition, definition)
        if isinstance(node.configuration, ast.ConfigurationDecl):
            definition.settings = self.settings(node.configuration)
        for block in (node.composition, node.configuration):
            if isinstance(block, ast.BlockReference):
                self.ignored_block(block)
        self.components.append(definition)
        return definition

    def sync(self, node: ast.SyncDecl) -> Sync:
        clauses = sync_clauses(node, self.sink)
        return Sync(node.kind, node.name.text, node.name.span, clauses.spans.get("helpers"), clauses.within)

    def spelled(self, node: ast.InterfaceDecl) -> str:
        if isinstance(node.type, ast.TypeName):
            return node.type.name
        size = fold_integer(node.type.size, self.sink, "this dataport size", 1)
        return "Buf" if size is None else f"Buf({size})"

    def interface(self, node: ast.InterfaceDecl, spelled: str) -> Interface:
        type: Procedure | str | DataportType
        if node.kind in ("uses", "provides"):
            name = "Buf" if isinstance(node.type, ast.BufType) else node.type.name
            type = self.find_procedure(ast.Identifier(name, node.type.span))
        elif node.kind == "dataport":
            if isinstance(node.type, ast.BufType):
                type = DataportType("Buf", int(spelled[4:-1]) if spelled != "Buf" else PAGE)
            else:
                type = DataportType(spelled, PAGE if spelled == "Buf" else None)
        else:
            type = spelled
        clauses = interface_clauses(node, self.sink)
        return Interface(
            kind=node.kind,
            name=node.name.text,
            type=type,
            optional=node.optional,
            span=node.name.span,
            protocol=clauses.protocol,
            requests=clauses.requests,
            threads=clauses.threads,
            monitor=None if clauses.monitor is None else clauses.monitor.text,
            clause_spans=clauses.spans or None,
            within=clauses.within,
            overrun=clauses.overrun,
            calls=clauses.calls,
        )

    # Configurations and assemblies ---------------------------------------------------------------

    def settings(self, node: ast.ConfigurationDecl) -> list[SettingDefinition]:
        """The settings of a block. Of two that set the same, the first counts."""
        result: dict[tuple[str, ...], SettingDefinition] = {}
        for setting in node.settings:
            if len(setting.path) != 2:  # the parser has reported it
                continue
            instance, attribute = setting.path
            check_keyword(attribute, "setting", self.sink)
            definition = self.setting(setting, instance, attribute, node)
            key = (instance.text, attribute.text)
            first = result.setdefault(key, definition)
            if first is not definition:
                self.sink.report(
                    codes.DUPLICATE_SETTING,
                    f"`{instance.text}.{attribute.text}` is set twice",
                    instance.span.to(attribute.span),
                    "set again here",
                    related=[Label(first.span, "first set here")],
                )
        return list(result.values())

    def setting(
        self,
        node: ast.SettingDecl,
        instance: ast.Identifier,
        attribute: ast.Identifier,
        block: ast.ConfigurationDecl,
    ) -> SettingDefinition:
        value, unit = node.value, None
        if isinstance(value, ast.Quantity):
            unit, value = value.unit.text, value.number
        kept = value if isinstance(value, (ast.Reference, ast.Query)) else fold(value, self.sink)
        span = instance.span.to(attribute.span)
        return SettingDefinition(instance, attribute, kept, unit, node.value.span, span, block)

    def ignored_block(self, node: ast.BlockReference) -> None:
        self.sink.report(
            codes.BLOCK_IGNORED,
            f"`{node.kind} {node.name.text};` has no effect",
            node.span,
            help="write its contents in braces here",
        )

    def assembly(self, node: ast.AssemblyDecl) -> None:
        compositions: list[ast.CompositionDecl | ast.BlockReference] = []
        configurations: list[ast.ConfigurationDecl] = []
        schedules: list[ast.ScheduleDecl] = []
        for item in node.items:
            if isinstance(item, ast.CompositionDecl):
                compositions.append(item)
            elif isinstance(item, ast.ConfigurationDecl):
                configurations.append(item)
            elif isinstance(item, ast.ScheduleDecl):
                schedules.append(item)
            elif item.kind == "composition":
                compositions.append(item)
            else:
                self.ignored_block(item)
        self.at_most_one("composition", [item.span for item in compositions])
        self.at_most_one("configuration", [item.span for item in configurations])
        self.at_most_one("schedule", [item.span for item in schedules])
        first = next(iter(compositions), None)
        if first is None:
            span = node.name.span if node.name else node.span
            self.sink.report(codes.ASSEMBLY_BLOCKS, "this assembly has no composition", span)
            return
        if isinstance(first, ast.BlockReference):
            self.sink.report(
                codes.COMPOSITION_REFERENCE,
                "the composition of an assembly cannot be a name",
                first.span,
                help="write its contents in braces here",
            )
            return
        composition = self.compositions.assembly(first)
        settings = [s for block in configurations for s in self.settings(block)]
        if self.assemblies:
            for schedule in schedules:
                self.sink.report(
                    codes.SCHEDULE_IGNORED,
                    "this schedule has no effect: only a schedule in the first assembly is used",
                    schedule.span,
                )
        self.assemblies.append(AssemblyDefinition(composition, settings, next(iter(schedules), None)))

    def at_most_one(self, what: str, spans: list[Span]) -> None:
        for span in spans[1:]:
            self.sink.report(
                codes.ASSEMBLY_BLOCKS,
                f"an assembly has at most one {what}",
                span,
                related=[Label(spans[0], "the first one is here")],
            )


def _includes(nodes: tuple[ast.IncludeDecl, ...]) -> tuple[Include, ...]:
    return tuple(Include(node.path, node.system) for node in nodes)


def _c_type(node: ast.TypeName) -> CType:
    return CType(node.name, node.struct)
