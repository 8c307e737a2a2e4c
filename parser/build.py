# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Productions of camkes.lark -> nodes of ast.py.

The builder has one method for each production, named like the production or its alias. A method gets the
numbers of the first and last token of what was written, then its children: nodes, numbers of tokens,
and None for an optional part that is absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from camkes.diagnostics import Code, Label, Sink, Span
from camkes.parser import ast, codes
from camkes.parser.damage import Damage
from camkes.parser.lexer import Tokens
from camkes.parser.positions import opening

if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 200  # of lists in lists, operators in operators, compositions in compositions
MAX_DIGITS = 1000
_INTEGERS = {"INT": "int", "INTEGER": "int", "CHAR": "char"}
_KINDS = {
    "EVENT": ("Event", False),
    "EVENTS": ("Event", True),
    "PROCEDURE_KIND": ("Procedure", False),
    "PROCEDURES": ("Procedure", True),
    "DATAPORT_KIND": ("Dataport", False),
    "DATAPORTS": ("Dataport", True),
}


class Builder:
    """Makes the nodes of one file."""

    def __init__(self, tokens: Tokens, sink: Sink, damage: Damage) -> None:
        self._tokens = tokens
        self._sink = sink
        self._damage = damage
        self._depths: dict[int, int] = {}  # of nodes that are deeper than a leaf
        self._kept: list[object] = []  # keeps the ids of `_depths` valid
        self.too_deep = False

    # Helpers ----------------------------------------------------------------------------------

    def _span(self, first: int, last: int) -> Span:
        if last < first:
            return self._tokens.text.span(self._tokens.starts[first], self._tokens.starts[first])
        return self._tokens.text.span(self._tokens.starts[first], self._tokens.ends[last])

    def _word(self, token: int) -> str:
        return self._tokens.word(token)

    def _error(self, code: Code, message: str, span: Span, label: str = "", help: str = "") -> None:
        self._sink.report(code, message, span, label, help=help)

    def _whole(self, first: int, last: int) -> bool:
        """Whether nothing was left out between two tokens, so that what is missing is not there."""
        return not self._damage.touches(first, last)

    def _doubtful(self, span: Span) -> bool:
        """Whether something at a position was left out or corrected."""
        return any(span.overlaps(damage) for damage in self._damage.spans())

    def _deep(self, node: Any, children: Any) -> Any:
        """`node`, having counted how deep it is. A chain of operators is as deep as its deepest operand."""
        depths = self._depths
        depth = 1 + max((depths.get(id(child), 0) for child in children), default=0)
        if isinstance(node, ast.Binary) and isinstance(node.left, ast.Binary):
            depth = max(depths[id(node.left)], 1 + depths.get(id(node.right), 0))
        if depth > MAX_DEPTH:
            if not self.too_deep:
                self.too_deep = True
                self._error(
                    codes.NESTED_TOO_DEEPLY,
                    f"this is nested more than {MAX_DEPTH} levels deep",
                    node.span,
                    help="split it up",
                )
            depth = 0
        depths[id(node)] = depth
        self._kept.append(node)
        return node

    # Files ------------------------------------------------------------------------------------

    def start(self, first: int, last: int, *items: Any) -> Any:
        return items

    def import_file(self, first: int, last: int, path: tuple[str, bool]) -> Any:
        return ast.ImportDecl(path[0], path[1], self._span(first, last))

    def include(self, first: int, last: int, path: tuple[str, bool]) -> Any:
        return ast.IncludeDecl(path[0], path[1], self._span(first, last))

    def path(self, first: int, last: int, path: Any) -> Any:
        if isinstance(path, ast.Literal):
            return path.value, False
        return self._word(path)[1:-1], True

    # Names ------------------------------------------------------------------------------------

    def name(self, first: int, last: int, token: int) -> Any:
        return ast.Identifier(self._tokens.word(token), self._span(token, token))

    def reference(self, first: int, last: int, *names: ast.Identifier) -> Any:
        return names

    def _joined(self, names: tuple[ast.Identifier, ...]) -> ast.Identifier:
        if len(names) == 1:
            return names[0]
        return ast.Identifier(".".join(name.text for name in names), names[0].span.to(names[-1].span))

    # Procedures and types -----------------------------------------------------------------------

    def procedure(self, first: int, last: int, name: ast.Identifier | None, *items: Any) -> Any:
        return ast.ProcedureDecl(
            name,
            tuple(item for item in items if isinstance(item, ast.MethodDecl)),
            tuple(item for item in items if isinstance(item, ast.AttributeDecl)),
            tuple(item for item in items if isinstance(item, ast.IncludeDecl)),
            self._span(first, last),
        )

    def method(self, first: int, last: int, type: Any, name: ast.Identifier, parameters: Any) -> Any:
        result = None if isinstance(type, int) else type
        return ast.MethodDecl(name, result, parameters, self._span(first, last))

    def parameters(self, first: int, last: int, *parameters: Any) -> Any:
        return tuple(each for each in parameters if isinstance(each, ast.ParameterDecl))

    def parameter(
        self, first: int, last: int, direction: str | None, type: Any, name: Any, array: Any
    ) -> Any:
        return ast.ParameterDecl(direction or "in", type, bool(array), name, self._span(first, last))

    def direction(self, first: int, last: int, token: int) -> Any:
        return self._word(token)

    def array(self, first: int, last: int) -> Any:
        return True

    def type(self, first: int, last: int, *tokens: int) -> Any:
        kinds = [self._tokens.kinds[token] for token in tokens]
        if kinds[0] in ("SIGNED", "UNSIGNED"):
            base = _INTEGERS[kinds[1]] if len(kinds) > 1 else "int"
            if kinds[0] == "UNSIGNED" or base == "char":
                base = f"{kinds[0].lower()} {base}"
        else:
            base = _INTEGERS.get(kinds[0]) or self._word(tokens[0])
        return ast.TypeName(base, False, self._span(first, last))

    def struct_type(self, first: int, last: int, name: ast.Identifier) -> Any:
        return ast.TypeName(name.text, True, self._span(first, last))

    def named_type(self, first: int, last: int, names: tuple[ast.Identifier, ...]) -> Any:
        name = self._joined(names)
        return ast.TypeName(name.text, False, name.span)

    def struct(self, first: int, last: int, name: ast.Identifier, body: Any) -> Any:
        return ast.StructDecl(name, body, self._span(first, last))

    def struct_body(self, first: int, last: int, *members: Any) -> Any:
        node = ast.StructBody(members, self._span(first, last))
        return self._deep(node, [member.type for member in members])

    def member(self, first: int, last: int, type: Any, name: Any, array: Any, default: Any) -> Any:
        return ast.AttributeDecl(type, bool(array), name, default, self._span(first, last))

    procedure_attribute = member

    def attribute(self, first: int, last: int, member: Any) -> Any:
        return ast.AttributeDecl(
            member.type, member.array, member.name, member.default, self._span(first, last)
        )

    # Components ---------------------------------------------------------------------------------

    def component(self, first: int, last: int, name: ast.Identifier | None, body: ast.ComponentDecl) -> Any:
        node = ast.ComponentDecl(
            name, body.items, body.composition, body.configuration, self._span(first, last)
        )
        return self._deep(node, (body,))

    def component_body(self, first: int, last: int, *parts: Any) -> Any:
        items: list[Any] = []
        blocks: dict[str, Any] = {"composition": None, "configuration": None}
        for part in parts:
            kind = _block_kind(part)
            if isinstance(part, ast.BlockReference) and self._doubtful(part.span):
                continue
            if kind is None:
                before = blocks["composition"] or blocks["configuration"]
                if before:
                    self._sink.report(
                        codes.COMPONENT_ORDER,
                        f"this must stand before the {_block_kind(before)} of the component",
                        part.span,
                        "an item of the component",
                        related=[Label(opening(before.span), f"the {_block_kind(before)} begins here")],
                        help="move it up: composition and configuration come last in a component",
                    )
                items.append(part)
            elif blocks[kind] is not None:
                self._sink.report(
                    codes.COMPONENT_ORDER,
                    f"a component has only one {kind}",
                    opening(part.span),
                    related=[Label(opening(blocks[kind].span), "the first one")],
                    help="put the contents of both into one",
                )
            else:
                blocks[kind] = part
        node = ast.ComponentDecl(
            None, tuple(items), blocks["composition"], blocks["configuration"], self._span(first, last)
        )
        return self._deep(node, [block for block in blocks.values() if block is not None])

    def control(self, first: int, last: int) -> Any:
        return ast.Control(self._span(first, last))

    def hardware(self, first: int, last: int) -> Any:
        return ast.Hardware(self._span(first, last))

    def requestor(self, first: int, last: int, word: int, id: Any) -> Any:
        return ast.Requestor(id, self._span(first, last))

    def criticality_control(self, first: int, last: int, word: int) -> Any:
        return ast.CriticalityControl(self._span(first, last))

    def interface(
        self,
        first: int,
        last: int,
        maybe: int | None,
        kind: int,
        type: Any,
        name: ast.Identifier,
        clauses: Any,
    ) -> Any:
        word = self._word(kind)
        if maybe is not None and word in ("provides", "emits"):
            self._error(
                codes.MAYBE_NOT_ALLOWED,
                f"`maybe` cannot stand before `{word}`",
                self._span(maybe, maybe),
                "remove this word",
                "a `provides` or `emits` interface may remain unconnected without it",
            )
        if isinstance(type, tuple):
            type = self._joined(type) if not isinstance(type, ast.Identifier) else type
            type = ast.TypeName(type.text, False, type.span)
        return ast.InterfaceDecl(word, type, name, maybe is not None, clauses or (), self._span(first, last))

    def buffer(self, first: int, last: int, token: int, size: Any) -> Any:
        return ast.BufType(size, self._span(first, last))

    def sync(self, first: int, last: int, kind: int, name: ast.Identifier, clauses: Any) -> Any:
        return ast.SyncDecl(self._word(kind), name, clauses or (), self._span(first, last))

    # Clauses ------------------------------------------------------------------------------------

    def with_clauses(self, first: int, last: int, *clauses: Any) -> Any:
        return clauses

    def protocol_clause(self, first: int, last: int, word: int, protocol: ast.Identifier) -> Any:
        return ast.ProtocolClause(protocol, self._span(first, last))

    def requests_clause(self, first: int, last: int, word: int, *calls: ast.RequestedCall) -> Any:
        return ast.RequestsClause(calls, self._span(first, last))

    def request_of_any(self, first: int, last: int, *names: ast.Identifier) -> Any:
        return ast.RequestedCall(None, names[0], names[1] if names[1:] else None, self._span(first, last))

    def request_of_method(self, first: int, last: int, method: ast.Identifier, *names: Any) -> Any:
        return ast.RequestedCall(method, names[0], names[1] if names[1:] else None, self._span(first, last))

    def helpers_clause(self, first: int, last: int, word: int, *names: Any) -> Any:
        return ast.HelpersClause(last > first, self._span(first, last))

    def within_clause(self, first: int, last: int, word: int, time: Any) -> Any:
        return ast.WithinClause(time, self._span(first, last))

    def monitor_clause(self, first: int, last: int, word: int, monitor: ast.Identifier) -> Any:
        return ast.MonitorClause(monitor, self._span(first, last))

    def overrun_clause(self, first: int, last: int, word: int, policy: ast.Identifier) -> Any:
        return ast.OverrunClause(policy, self._span(first, last))

    def threads_clause(self, first: int, last: int, count: Any) -> Any:
        return ast.ThreadsClause(count, self._span(first, last))

    def unknown_clause(self, first: int, last: int, word: ast.Identifier, *rest: Any) -> Any:
        return ast.UnknownClause(word, self._span(first, last))

    # Connectors ---------------------------------------------------------------------------------

    def connector(self, first: int, last: int, name: ast.Identifier | None, body: ast.ConnectorDecl) -> Any:
        return ast.ConnectorDecl(name, body.ends, body.attributes, self._span(first, last))

    def connector_body(self, first: int, last: int, *parts: Any) -> Any:
        ends = tuple(part for part in parts if isinstance(part, ast.ConnectorEndDecl))
        attributes = tuple(part for part in parts if isinstance(part, ast.AttributeDecl))
        node = ast.ConnectorDecl(None, ends, attributes, self._span(first, last))
        sides = [part.side if isinstance(part, ast.ConnectorEndDecl) else "" for part in parts]
        wanted = ["from", "to", *[""] * max(0, len(parts) - 2)]
        if sides != wanted and self._whole(first, last):
            wrong = [
                part.span for part, side, want in zip(parts, sides, wanted, strict=False) if side != want
            ]
            self._error(
                codes.CONNECTOR_ENDS,
                "a connector has one `from` end, then one `to` end, then its attributes",
                (wrong or [part.span for part in parts] or [opening(node.span)])[0],
                help="for example: `from Procedures; to Procedure;`",
            )
        return node

    def connector_end(self, first: int, last: int, side: int, hardware: Any, kind: Any, threads: Any) -> Any:
        name, many = kind
        return ast.ConnectorEndDecl(
            self._word(side), hardware is not None, name, many, threads, self._span(first, last)
        )

    def connector_kind(self, first: int, last: int, token: int) -> Any:
        return _KINDS[self._tokens.kinds[token]]

    def threads(self, first: int, last: int, count: Any) -> Any:
        return count

    # Compositions -------------------------------------------------------------------------------

    def composition(self, first: int, last: int, name: ast.Identifier | None, *items: Any) -> Any:
        node = ast.CompositionDecl(name, items, self._span(first, last))
        return self._deep(node, items)

    def composition_by_name(self, first: int, last: int, names: Any) -> Any:
        return ast.BlockReference("composition", self._joined(names), self._span(first, last))

    def instance(self, first: int, last: int, type: Any, name: ast.Identifier) -> Any:
        component = type if isinstance(type, ast.ComponentDecl) else self._joined(type)
        node = ast.InstanceDecl(component, name, self._span(first, last))
        return self._deep(node, (component,)) if isinstance(type, ast.ComponentDecl) else node

    def connection(
        self, first: int, last: int, connector: Any, name: ast.Identifier, ends: Any, clauses: Any
    ) -> Any:
        if not isinstance(connector, ast.ConnectorDecl):
            connector = self._joined(connector)
        return ast.ConnectionDecl(connector, name, ends, clauses or (), self._span(first, last))

    def connection_ends(self, first: int, last: int, *ends: Any) -> Any:
        return ends

    def connection_end(self, first: int, last: int, side: int, path: Any) -> Any:
        return ast.ConnectionEndDecl(self._word(side), path, self._span(first, last))

    def group(self, first: int, last: int, name: ast.Identifier | None, *instances: Any) -> Any:
        return self._deep(ast.GroupDecl(name, instances, self._span(first, last)), instances)

    def export(self, first: int, last: int, source: Any, target: Any) -> Any:
        return ast.ExportDecl(source, self._joined(target), self._span(first, last))

    # Configurations and assemblies --------------------------------------------------------------

    def configuration(self, first: int, last: int, name: ast.Identifier | None, *settings: Any) -> Any:
        return ast.ConfigurationDecl(name, settings, self._span(first, last))

    def configuration_by_name(self, first: int, last: int, names: Any) -> Any:
        return ast.BlockReference("configuration", self._joined(names), self._span(first, last))

    def value_setting(self, first: int, last: int, path: Any, value: Any) -> Any:
        if len(path) != 2 and self._whole(first, last):
            joined = self._joined(path)
            shown = joined.text if len(joined.text) <= 60 else f"{joined.text[:57]}..."
            self._error(
                codes.SETTING_PATH,
                f"`{shown}` is not a valid name of a setting",
                joined.span,
                "a setting is named INSTANCE.ATTRIBUTE",
                f"for an instance in a group write `{'.'.join(name.text for name in path[-2:])}`; "
                "an attribute of an inner instance is set in the configuration of its own component"
                if len(path) > 2
                else "write the instance whose attribute it is",
            )
        return ast.SettingDecl(path, value, self._span(first, last))

    reference_setting = value_setting

    def quantity(self, first: int, last: int, number: Any, unit: ast.Identifier | None) -> Any:
        if unit is None:
            return number
        return ast.Quantity(number, unit, self._span(first, last))

    unit = name

    def attribute_reference(self, first: int, last: int, path: Any, *lookup: Any) -> Any:
        return ast.Reference(path, lookup, self._span(first, last))

    def lookup(self, first: int, last: int, key: Any) -> Any:
        return key

    def query(self, first: int, last: int, name: ast.Identifier, *parts: Any) -> Any:
        asked: tuple[Any, ...] = ()
        if parts and self._tokens.kinds[first + 2] != "RPAR":
            asked = parts[0] if isinstance(parts[0], tuple) else parts[:1]
            parts = parts[1:]
        return ast.Query(name, asked, parts, self._span(first, last))

    def dictionaries(self, first: int, last: int, *dictionaries: Any) -> Any:
        return dictionaries

    def assembly(self, first: int, last: int, name: ast.Identifier | None, *items: Any) -> Any:
        node = ast.AssemblyDecl(name, items, self._span(first, last))
        if not items and self._whole(first, last):
            self._error(
                codes.EMPTY_ASSEMBLY,
                "this assembly is empty",
                node.span,
                help="give it a composition with the instances of the system",
            )
        return node

    def schedule(self, first: int, last: int, word: int, *entries: Any) -> Any:
        node = ast.ScheduleDecl(entries, self._span(first, last))
        if len(entries) < 2 and self._whole(first, last):
            self._error(
                codes.SCHEDULE_TOO_SHORT,
                "a schedule needs at least two entries",
                node.span,
                help="remove the schedule if there is only one domain",
            )
        return node

    def schedule_entry(self, first: int, last: int, domain: Any, duration: Any, unit: Any) -> Any:
        if unit is not None:
            duration = ast.Quantity(duration, unit, duration.span.to(unit.span))
        return ast.ScheduleEntry(domain, duration, self._span(first, last))

    # Values -------------------------------------------------------------------------------------

    def list(self, first: int, last: int, *items: Any) -> Any:
        return self._deep(ast.ListValue(items, self._span(first, last)), items)

    def dictionary(self, first: int, last: int, *entries: Any) -> Any:
        node = ast.DictValue(entries, self._span(first, last))
        return self._deep(node, [part for entry in entries for part in entry])

    def entry(self, first: int, last: int, key: Any, value: Any) -> Any:
        return key, value

    def strings(self, first: int, last: int, *tokens: int) -> Any:
        return ast.Literal("".join(self._word(token).strip('"') for token in tokens), self._span(first, last))

    def conditional(self, first: int, last: int, condition: Any, then: Any, otherwise: Any) -> Any:
        node = ast.Conditional(condition, then, otherwise, self._span(first, last))
        return self._deep(node, (condition, then, otherwise))

    def binary(self, first: int, last: int, left: Any, op: int, right: Any) -> Any:
        node = ast.Binary(self._word(op), left, right, self._span(first, last))
        return self._deep(node, (left, right))

    def unary(self, first: int, last: int, op: int, operand: Any) -> Any:
        node = ast.Unary(self._word(op), operand, self._span(first, last))
        return self._deep(node, (operand,))

    def number(self, first: int, last: int, token: int) -> Any:
        text = self._word(token)
        span = self._span(token, token)
        value: int | float = 0
        if len(text) > MAX_DIGITS:
            self._error(codes.BAD_NUMBER, f"a number of more than {MAX_DIGITS} digits", span)
        elif "." in text:
            value = float(text)
        elif text.startswith("0") and text.strip("0") and not text.startswith("0x"):
            self._error(
                codes.BAD_NUMBER,
                f"`{text}` is not a valid number: a decimal number does not begin with 0",
                span,
                help=f"write `{text.lstrip('0')}`" + _octal(text),
            )
        else:
            value = int(text, 0)
        return ast.Literal(value, span)

    def boolean(self, first: int, last: int, token: int) -> Any:
        return ast.Literal(int(self._word(token) in ("true", "True")), self._span(token, token))


def _octal(text: str) -> str:
    """The help for a number that was meant to be octal."""
    try:
        return f", or `{hex(int(text, 8))}` if it was meant to be octal"
    except ValueError:
        return ""


def _block_kind(part: object) -> str | None:
    if isinstance(part, ast.CompositionDecl):
        return "composition"
    if isinstance(part, ast.ConfigurationDecl):
        return "configuration"
    return part.kind if isinstance(part, ast.BlockReference) else None
