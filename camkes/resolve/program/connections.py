# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Connections: those that share an end become one, and every one is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from camkes.diagnostics import Diagnostic, Label, Sink
from camkes.diagnostics.words import listing
from camkes.model.connectors import NOTIFICATION, RPC_CALL, SHARED_DATA
from camkes.model.system import Connector, ConnectorEnd
from camkes.resolve import codes
from camkes.resolve.names.definitions import ComponentDefinition
from camkes.resolve.program.hierarchy import Flat, FlatConnection, FlatEnd

#: The names of interfaces, by how they are declared and by their types.
Interfaces = Mapping[tuple[str, str], Sequence[str]]

#: The connector that a beginner needs for interfaces that are declared so.
_CONNECTORS = {
    **dict.fromkeys(("uses", "provides"), RPC_CALL.name),
    **dict.fromkeys(("emits", "consumes"), NOTIFICATION.name),
    "dataport": SHARED_DATA.name,
}
#: How the interface at the other end is declared.
_OPPOSITE = {
    "uses": "provides",
    "provides": "uses",
    "emits": "consumes",
    "consumes": "emits",
    "dataport": "dataport",
}

#: What an interface must be to stand at a side of a connector of a kind, and what that is called.
_FITTING = {
    ("from", "Event"): ("emits", "an `emits` interface"),
    ("from", "Procedure"): ("uses", "a `uses` interface"),
    ("from", "Dataport"): ("dataport", "a dataport"),
    ("to", "Event"): ("consumes", "a `consumes` interface"),
    ("to", "Procedure"): ("provides", "a `provides` interface"),
    ("to", "Dataport"): ("dataport", "a dataport"),
}

_SHOWN = 4  # of other interfaces that are not connected
_SIDES = {"from": ("emits", "uses", "dataport"), "to": ("consumes", "provides", "dataport")}


class JoinedConnection:
    """Connections that share ends, as one. The parts are in the order of the text."""

    __slots__ = ("connector", "from_ends", "name", "parts", "to_ends")

    def __init__(self, parts: Sequence[FlatConnection]) -> None:
        self.parts = parts
        self.connector = parts[0].connector
        self.name = ".".join(sorted(part.name for part in parts))
        ends: dict[tuple[str, str, str], FlatEnd] = {}
        for part in parts:
            for end in part.ends:
                ends.setdefault(_key(end), end)
        self.from_ends = tuple(end for end in ends.values() if end.side == "from")
        self.to_ends = tuple(end for end in ends.values() if end.side == "to")

    @property
    def ends(self) -> tuple[FlatEnd, ...]:
        return self.from_ends + self.to_ends


def join(flat: Flat, sink: Sink) -> list[JoinedConnection]:
    """The connections of a system after joining; each stands where its first part stood."""
    parts_of = _shared(flat.connections)
    joined = []
    for parts in parts_of:
        _check_same_connector(parts, sink)
        joined.append(JoinedConnection(parts))
    return joined


def check_names(flat: Flat, connections: Sequence[JoinedConnection], sink: Sink) -> None:
    """A connection, once joined, has a name that no instance and no other connection has."""
    taken = {name: instance.span for name, instance in flat.instances.items()}
    for connection in connections:
        span = connection.parts[0].span
        if taken.setdefault(connection.name, span) is span:
            continue
        sink.report(
            codes.DUPLICATE_NAME,
            f"connection `{connection.name}` has a name that is already in use",
            span,
            "defined again here",
            related=[Label(taken[connection.name], "first defined here")],
            help="give one of them another name, or remove it",
            notes=["connections that share an end are one connection, which has all their names"]
            if len(connection.parts) > 1
            else [],
        )


def _key(end: FlatEnd) -> tuple[str, str, str]:
    return end.side, end.instance, end.interface.name


def _shared(connections: Sequence[FlatConnection]) -> list[list[FlatConnection]]:
    """The connections in groups that share an end on the same side (union-find over their indices)."""
    parent = list(range(len(connections)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[tuple[str, str, str], int] = {}
    for i, connection in enumerate(connections):
        for end in connection.ends:
            a, b = find(first.setdefault(_key(end), i)), find(i)
            parent[max(a, b)] = min(a, b)
    groups: dict[int, list[FlatConnection]] = {}
    for i, connection in enumerate(connections):
        groups.setdefault(find(i), []).append(connection)
    return list(groups.values())


def _check_same_connector(parts: Sequence[FlatConnection], sink: Sink) -> None:
    first = parts[0]
    wanted = replace(first.connector, span=first.span)
    for part in parts[1:]:
        if replace(part.connector, span=first.span) != wanted:
            sink.report(
                codes.CONNECTORS_DIFFER,
                f"connections `{first.written}` and `{part.written}` share an end but have different "
                f"connectors: `{first.connector.name}` and `{part.connector.name}`",
                part.span,
                f"a `{part.connector.name}`",
                related=[Label(first.span, f"a `{first.connector.name}`")],
            )


# Checks ------------------------------------------------------------------------------------------


def check_definitions(components: Sequence[ComponentDefinition], unknown: set[str], sink: Sink) -> None:
    """Check the connections inside of components as they are written, whether anything uses them or not."""
    for component in components:
        composition = component.composition
        for connection in composition.connections if composition else ():
            if connection.connector is None or not connection.complete:
                continue
            ends = [FlatEnd(e.side, e.instance or "", e.owner, e.interface, e.span) for e in connection.ends]
            part = FlatConnection(
                "", connection.name.text, connection.connector, ends, None, None, connection.span
            )
            check_connection(JoinedConnection([part]), unknown, sink, {})


def check_connection(connection: JoinedConnection, unknown: set[str], sink: Sink, others: Interfaces) -> None:
    """Check one connection. `unknown` are procedures whose definition is missing, `others` what can be
    connected."""
    written = " and ".join(f"`{part.written}`" for part in connection.parts)
    span = connection.parts[-1].span
    related = [
        Label(part.span, f"`{part.written}` is part of this connection") for part in connection.parts[:-1]
    ]
    connector = connection.connector
    have = f"connections {written} together have" if related else f"connection {written} has"
    wrong = Sink()
    good = True
    sides = {"from": connection.from_ends, "to": connection.to_ends}
    described = {"from": connector.from_end, "to": connector.to_end}
    for side, ends in sides.items():
        if not ends:
            sink.report(codes.NO_ENDS, f"{have} no `{side}` end", span)
        elif len(ends) > 1 and not described[side].many:
            sink.report(
                codes.TOO_MANY_ENDS,
                f"{have} {len(ends)} `{side}` ends, but connector `{connector.name}` allows only one",
                ends[1].span,
                related=[Label(ends[0].span, "the first"), *related],
                notes=["connections that share an end are one connection"] if related else [],
            )
        for end in ends:
            if end.component.spelled.get(end.interface.name) in unknown:
                continue  # it may have been meant to be of another kind
            good &= _check_end(end, described[side], connector, wrong)
    _report_ends(wrong.diagnostics, connection, others, sink)
    if good:
        _check_types(connection, written, unknown, others, sink)


def _report_ends(
    found: Sequence[Diagnostic], connection: JoinedConnection, others: Interfaces, sink: Sink
) -> None:
    """Report the wrong ends of a connection as one mistake: a wrong connector does not fit to any of them."""
    if not found:
        return
    first, more = found[0], found[1:]
    exchanged = bool(more) and all(each.code is codes.WRONG_SIDE for each in found)
    labels = [
        Label(each.span, "this end does not match either")
        for each in more
        if each.span is not None and each.span != first.span
    ]
    help = first.help
    if exchanged:
        labels = [Label(label.span, "and this one") for label in labels]
        help = "exchange `from` and `to`"
    elif first.code is codes.WRONG_KIND and len(found) == len(connection.ends):
        help = _connector_help(connection)
    elif first.code in (codes.WRONG_KIND, codes.WRONG_SIDE):
        wrong = next(end for end in connection.ends if end.span == first.span)
        right = next((end for end in connection.ends if end.side != wrong.side), wrong)
        help = _other_end(right, others) if right is not wrong else help
    sink.add(replace(first, related=(*first.related, *labels), help=help))


def _connector_help(connection: JoinedConnection) -> str:
    """Which connector the ends of a connection need, if it is one for all."""
    needed = {_CONNECTORS[end.interface.kind] for end in connection.ends}
    kinds = listing(dict.fromkeys(end.interface.kind for end in connection.ends))
    return f"{kinds} interfaces are connected by `{needed.pop()}`" if len(needed) == 1 else ""


def _other_end(end: FlatEnd, others: Interfaces, otherwise: str = "") -> str:
    """What the other end of a connection can be, where this one is right; `otherwise` if there is none."""
    kind = _OPPOSITE[end.interface.kind]
    type = end.component.spelled[end.interface.name]
    there = _others(end.instance, kind, type, others)
    if otherwise and not there:
        return otherwise
    known = f": {listing(there, _SHOWN)}" if there else ""
    what = "another" if kind == end.interface.kind else "an" if kind == "emits" else "a"
    return f"connect `{_end_name(end)}` to {what} `{kind}` interface of type `{type}`{known}"


def _end_name(end: FlatEnd) -> str:
    return f"{end.instance}.{end.interface.name}" if end.instance else end.interface.name


def _check_end(end: FlatEnd, described: ConnectorEnd, connector: Connector, sink: Sink) -> bool:
    kind, phrase = _FITTING[end.side, described.kind]
    declared = [Label(end.interface.span, "declared here")]
    name = _end_name(end)
    if end.interface.kind not in _SIDES[end.side]:
        sink.report(
            codes.WRONG_SIDE,
            f"`{name}` is declared with `{end.interface.kind}`, so it cannot be a `{end.side}` end",
            end.span,
            related=declared,
            help=f"make it a `{'to' if end.side == 'from' else 'from'}` end",
        )
    elif end.interface.kind != kind:
        sink.report(
            codes.WRONG_KIND,
            f"connector `{connector.name}` connects {end.side} {phrase}, but `{name}` is declared with "
            f"`{end.interface.kind}`",
            end.span,
            related=declared,
        )
    hardware = end.component.type.hardware
    if hardware != described.hardware:
        wants = "a hardware device" if described.hardware else "a software component"
        sink.report(
            codes.HARDWARE_MISMATCH,
            f"connector `{connector.name}` connects {end.side} {wants}, but `{name}` is an interface of "
            f"{'a hardware device' if hardware else 'a software component'}",
            end.span,
            related=[Label(end.component.type.span, "its component")],
        )
    return hardware == described.hardware and end.interface.kind == kind


def _check_types(
    connection: JoinedConnection, written: str, unknown: set[str], others: Interfaces, sink: Sink
) -> None:
    for attribute in connection.connector.attributes:
        if attribute.name == "disable_interface_type_checking" and attribute.default:
            return
    first: FlatEnd | None = None
    for end in connection.ends:
        type = end.component.spelled[end.interface.name]
        if type in unknown:
            continue
        if first is None:
            first = end
        elif type != first.component.spelled[first.interface.name]:
            first_type = first.component.spelled[first.interface.name]
            one = len(connection.parts) == 1
            what = f"connection {written} connects" if one else f"connections {written} together connect"
            sink.report(
                codes.TYPES_DIFFER,
                f"{what} interfaces of different types, `{first_type}` and `{type}`",
                end.span,
                f"`{type}`",
                related=[Label(first.span, f"`{first_type}`")],
                help=_other_end(end if end.side == "from" else first, others, "declare both with one type"),
            )
            return


def check_use(flat: Flat, connections: Sequence[JoinedConnection], sink: Sink) -> None:
    """No interface is connected twice, and each that has to be is connected."""
    connected: dict[tuple[str, str], FlatEnd] = {}
    misplaced: set[tuple[str, str]] = set()
    known = interfaces(flat)
    for connection in connections:
        _check_repeated(connection, sink)
        for part in connection.parts:
            own: dict[tuple[str, str, str], FlatEnd] = {}
            for end in part.ends:
                if own.setdefault(_key(end), end) is not end:
                    _connected_twice(own[_key(end)], end, sink)
        for end in connection.ends:
            key = (end.instance, end.interface.name)
            if end.interface.kind not in _SIDES[end.side]:
                misplaced.add(key)  # that is another mistake
                continue
            if connected.setdefault(key, end) is not end:
                _connected_twice(connected[key], end, sink)
    missing: dict[str, list[Diagnostic]] = {}  # by type: one connection can be all that is missing
    for instance in flat.instances.values():
        if instance.name in flat.doubtful:
            continue
        type = instance.component.type
        for interface in type.interfaces:
            key = (instance.name, interface.name)
            if (
                interface.optional
                or interface.kind in ("provides", "emits")
                or interface.name in type.exported
                or key in connected
                or key in misplaced
                or key in flat.touched
            ):
                continue
            type_name = instance.component.spelled[interface.name]
            name = f"{instance.name}.{interface.name}"
            ends = _others(instance.name, _OPPOSITE[interface.kind], type_name, known)
            to = f" to {listing(ends, _SHOWN)}" if ends else ""
            unconnected = Diagnostic(
                codes.UNCONNECTED,
                f"interface `{name}` is not connected",
                instance.span,
                related=(Label(interface.span, "the interface"),),
                help=f"connect it{to}, or declare it `maybe {interface.kind} ...` if it may remain "
                "unconnected",
            )
            missing.setdefault(type_name, []).append(unconnected)
    for first, *others in missing.values():
        labels = [
            Label(each.span, each.message)
            for each in others[:_SHOWN]
            if each.span is not None and each.span != first.span
        ]
        notes = [each.message for each in others[:_SHOWN] if each.span == first.span]
        notes += [f"and {len(others) - _SHOWN} more of this type"] if len(others) > _SHOWN else []
        sink.add(replace(first, related=(*first.related, *labels), notes=tuple(notes)))


def _check_repeated(connection: JoinedConnection, sink: Sink) -> None:
    """A part of a connection connects something that no part before it does."""
    seen: dict[tuple[tuple[str, str, str], ...], FlatConnection] = {}
    for part in connection.parts:
        first = seen.setdefault(tuple(map(_key, part.ends)), part)
        if first is not part and first.name != part.name and part.ends:
            _connected_twice(first.ends[0], part.ends[0], sink)


def interfaces(flat: Flat) -> Interfaces:
    """All interfaces of a system."""
    found: dict[tuple[str, str], list[str]] = {}
    for instance in flat.instances.values():
        for interface in instance.component.type.interfaces:
            type = instance.component.spelled[interface.name]
            found.setdefault((interface.kind, type), []).append(f"{instance.name}.{interface.name}")
    return found


def _others(instance: str, kind: str, type: str, known: Interfaces) -> list[str]:
    """Interfaces of other instances."""
    return [name for name in known.get((kind, type), ()) if name.rpartition(".")[0] != instance]


def _connected_twice(first: FlatEnd, end: FlatEnd, sink: Sink) -> None:
    sink.report(
        codes.CONNECTED_TWICE,
        f"interface `{_end_name(end)}` is connected twice",
        end.span,
        related=[Label(first.span, "first connected here")],
        help="connect it once",
    )
