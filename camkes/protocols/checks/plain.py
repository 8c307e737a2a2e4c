# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A cycle of requests between interfaces without a protocol, of one thread each, can wait for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Label
from camkes.model.connectors import caller_waits
from camkes.model.system import ConnectionEnd, Instance, Interface, System
from camkes.protocols.codes import PLAIN_CYCLE
from camkes.protocols.cycles import shortest_cycle, strongly_connected
from camkes.protocols.requests import CallGraph


class _Hop(Struct, frozen=True):
    """A request: `caller` and `callee` are "inst.iface", `end` is the `from` end of the connection."""

    caller: str
    callee: str
    end: ConnectionEnd


def plain_cycles(system: System, code: CallGraph) -> Iterator[Diagnostic]:
    """A warning for each group of plain interfaces whose handlers request each other in a cycle.

    A handler's requests are those of its `requests` clause or its compiled code. Where neither is known, a
    component without a control thread and without events makes all its requests in handlers; of others
    nothing is known.
    """
    hops = _hops(system, code)
    successors = {caller: [hop.callee for hop in found] for caller, found in hops.items()}
    for group in strongly_connected(successors):
        cycle = shortest_cycle(hops, group)
        if not cycle:
            continue
        walk = " -> ".join(f"`{hop.caller}`" for hop in (*cycle, cycle[0]))
        labels = [
            Label(hop.end.span, f"{step}. `{hop.caller}` requests `{hop.callee}`")
            for step, hop in enumerate(cycle, 1)
        ]
        yield Diagnostic(
            PLAIN_CYCLE,
            f"requests can wait for themselves: {walk}",
            labels[0].span,
            labels[0].text,
            tuple(labels[1:]),
            ("each of these interfaces has one thread, which waits for the reply to its own request",),
            "remove one of the requests, or list the interfaces that a handler calls: `with requests (...)`",
            is_walk=True,
        )


def _hops(system: System, code: CallGraph) -> dict[str, list[_Hop]]:
    """The requests that handlers of plain interfaces make of plain interfaces, in the order of the text."""
    plain = {
        f"{instance.name}.{interface.name}": (instance, interface)
        for instance in system.instances
        if not instance.type.hardware
        for interface in instance.type.interfaces
        if interface.kind == "provides"
    }
    for cpi in system.cpis:
        plain.pop(cpi.name, None)
    called: dict[str, list[tuple[ConnectionEnd, str]]] = {}
    for connection in system.connections:
        if caller_waits(connection.connector):
            for end in connection.from_ends:
                called[end.name] = [(end, to.name) for to in connection.to_ends if to.name in plain]
    hops: dict[str, list[_Hop]] = {name: [] for name in plain}
    for name, (instance, interface) in plain.items():
        for used in _requests(instance, interface, code):
            for end, callee in called.get(f"{instance.name}.{used}", ()):
                hops[name].append(_Hop(name, callee, end))
    return hops


def _requests(instance: Instance, interface: Interface, code: CallGraph) -> Sequence[str]:
    """The `uses` interfaces that a handler requests for certain."""
    if interface.requests is not None:
        return interface.requests
    name = f"{instance.name}.{interface.name}"
    uses = [each.name for each in instance.type.interfaces if each.kind == "uses"]
    if name in code:
        return [each for each in uses if each in code[name]]
    others = [each for each in instance.type.interfaces if each.kind in ("provides", "consumes")]
    return uses if not instance.type.control and others == [interface] else []
