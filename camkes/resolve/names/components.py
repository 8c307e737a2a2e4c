# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Checks of one component: the words that exclude each other, and what its `requests` clauses name."""

from __future__ import annotations

from typing import TypeVar

from camkes.diagnostics import Label, Sink, Span
from camkes.model.system import Interface, Procedure
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.names.scopes import new_member
from camkes.resolve.words.nearest import suggestion


def check_component(
    name: ast.Identifier,
    node: ast.ComponentDecl,
    controls: list[ast.Control],
    hardware: list[ast.Hardware],
    requestors: list[ast.Requestor],
    sink: Sink,
) -> None:
    """Check which of `hardware`, `control`, `requestor` and locks a component has together."""
    what = f"component `{name.text}`" if name.text else "this component"
    for word, problem, nodes in (
        ("control", "have a control thread", controls),
        ("requestor", "be a requestor", requestors),
    ):
        if nodes and hardware:
            sink.report(
                codes.HARDWARE_COMPONENT,
                f"{what} is a hardware device and cannot {problem}",
                nodes[0].span,
                related=[Label(hardware[0].span, "`hardware` is declared here")],
                help=f"remove `{word}` or `hardware`",
            )
    if requestors and not controls and not hardware:
        sink.report(
            codes.REQUESTOR_CONTROL,
            f"{what} is a requestor but has no control thread",
            requestors[0].span,
            "the control thread of a requestor is its task",
            help="add `control;`",
        )
    for again in requestors[1:]:
        sink.report(
            codes.REPEATED_CLAUSE,
            f"{what} declares `requestor` twice",
            again.span,
            related=[Label(requestors[0].span, "first declared here")],
        )
    for sync in (item for item in node.items if isinstance(item, ast.SyncDecl) and hardware):
        kind = sync.kind.replace("_", " ")
        code = codes.HARDWARE_SYNC if sync.kind == "binary_semaphore" else codes.HARDWARE_COMPONENT
        sink.report(
            code,
            f"{what} is a hardware device and cannot have a {kind}",
            sync.name.span,
            related=[Label(hardware[0].span, "`hardware` is declared here")],
        )


AnyClause = TypeVar("AnyClause", bound=ast.InterfaceClause)


def clauses_of(node: ast.ComponentDecl, kind: type[AnyClause]) -> list[AnyClause]:
    """The clauses of one kind of the interfaces of a component."""
    declared = (item.clauses for item in node.items if isinstance(item, ast.InterfaceDecl))
    return [clause for clauses in declared for clause in clauses if isinstance(clause, kind)]


def name_monitors(node: ast.ComponentDecl, members: dict[str, Span], sink: Sink) -> None:
    """Enter the monitors of a component among the names of its members."""
    monitors = {clause.monitor.text: clause.monitor for clause in clauses_of(node, ast.MonitorClause)}
    for monitor in monitors.values():
        new_member(members, monitor, "monitor", sink)


def check_requests(node: ast.ComponentDecl, interfaces: dict[str, Interface], sink: Sink) -> None:
    """A `requests` clause names `uses` interfaces of its own component, and methods of these and its own."""
    uses = [name for name, interface in interfaces.items() if interface.kind == "uses"]
    for item in (each for each in node.items if isinstance(each, ast.InterfaceDecl)):
        for clause in (each for each in item.clauses if isinstance(each, ast.RequestsClause)):
            for call in clause.calls:
                _check_method(call.method, interfaces.get(item.name.text), sink)
                other = interfaces.get(call.interface.text)
                if other is not None and other.kind == "uses":
                    _check_method(call.called, other, sink)
    for clause in clauses_of(node, ast.RequestsClause):
        for name in clause.interfaces:
            other = interfaces.get(name.text)
            if other is None:
                sink.report(
                    codes.UNKNOWN_REQUEST,
                    f"there is no `uses` interface `{name.text}`",
                    name.span,
                    help=suggestion(name.text, uses),
                )
            elif other.kind != "uses":
                sink.report(
                    codes.UNKNOWN_REQUEST,
                    f"requests are made through `uses` interfaces, but `{name.text}` is declared with "
                    f"`{other.kind}`",
                    name.span,
                    related=[Label(other.span, "declared here")],
                    help=suggestion(name.text, uses),
                )


def _check_method(name: ast.Identifier | None, interface: Interface | None, sink: Sink) -> None:
    """Report a name of a method that an interface does not have."""
    if name is None or interface is None or not isinstance(interface.type, Procedure):
        return
    methods = [method.name for method in interface.type.methods]
    if name.text not in methods:
        sink.report(
            codes.UNKNOWN_METHOD,
            f"`{interface.name}` has no method `{name.text}`",
            name.span,
            related=[Label(interface.span, f"its procedure is `{interface.type.name}`")],
            help=suggestion(name.text, methods),
        )
