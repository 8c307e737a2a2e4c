# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What of a system is outside of what the theories of l4v about CAmkES cover.

They show that capabilities give no component more authority than its connections do: over what has another
label, what the connector of a connection between the two permits. The same is computed here, of the
capabilities that are known without a build; so is what their definition of a well-formed assembly excludes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from camkes.backends.sel4.codes import NOT_COVERED
from camkes.backends.sel4.labels import Labels
from camkes.capdl.details import Rights
from camkes.capdl.model import CapabilityModel, ObjectKind, Space
from camkes.diagnostics import Diagnostic, Span
from camkes.model.connectors import NOTIFICATION, SHARED_DATA
from camkes.model.system import Connection, Instance, Procedure, System

#: the attribute of a connector that tells what it permits, and l4v's names for what several permit
SPEC = "isabelle_connector_spec"
_SENDS, _WAITS, _READS = {"Reset", "Notify"}, {"Reset", "Receive"}, {"Read", "Write"}
_NAMED: dict[str, dict[str, set[str]]] = {
    "seL4RPC": {
        "from_to": {"DeleteDerived"},
        "to_from": {"Reply"},
        "from_conn": {"Reset", "SyncSend", "Call"},
        "to_conn": _WAITS,
    },
    NOTIFICATION.name: {"from_conn": _SENDS, "to_conn": _WAITS},
    SHARED_DATA.name: {"from_conn": _READS, "to_conn": _READS},
    "seL4HardwareMMIO": {"from_conn": _READS, "to_conn": _READS},
    "seL4HardwareInterrupt": {"from_conn": _SENDS, "to_conn": _WAITS},
}
_SETS = re.compile(r"access_(\w+)\s*=\s*\{([^}]*)\}")
_COMMENT = re.compile(r"\\<comment>\s*\\<open>.*?\\<close>", re.DOTALL)

#: l4v numbers types of events below this
_EVENTS = 32
#: parameters that are arrays have these types in l4v's model of procedures
_ARRAYS = frozenset({"int", "unsigned int", "real", "char", "character", "boolean", "bool"})

_WORDS = {
    "Receive": "receive from",
    "SyncSend": "send to",
    "Call": "call",
    "Notify": "signal",
    "Read": "read",
    "Write": "write",
    "Control": "control",
}


class _Edge(Struct, frozen=True):
    subject: str
    authority: str
    object: str


def outside(system: System, model: CapabilityModel) -> Iterator[Diagnostic]:
    """A warning for each element that is outside, with the reason."""
    if not system.instances:
        return
    yield from _assembly(system)
    for connection in system.connections:
        if _access(connection) is None:
            yield _warning(
                f"l4v does not know what connector {connection.connector.name} permits",
                connection.span,
                f"state it in the connector's attribute `{SPEC}`, or use another connector",
            )
    yield from _capabilities(system, model)


def _warning(message: str, span: Span, help: str = "") -> Diagnostic:
    return Diagnostic(NOT_COVERED, message, span, help=help)


def _assembly(system: System) -> Iterator[Diagnostic]:
    """What l4v does not take for a well-formed assembly, and what its model of the kernel does not have."""
    first = system.instances[0].span
    if system.mcs:
        yield _warning("l4v has no specification of capabilities for the MCS kernel", first)
    if not any(instance.type.control for instance in system.instances):
        yield _warning(
            "no component has a thread of its own, which an assembly must have", first, "add `control;`"
        )
    events: dict[str, Span] = {}
    for instance in system.instances:
        for interface in instance.type.interfaces:
            if interface.kind in ("emits", "consumes"):
                events.setdefault(str(interface.type), interface.span)
    for name, span in list(events.items())[_EVENTS:]:
        yield _warning(f"`{name}` is one type of events too many: l4v has {_EVENTS}", span)
    yield from _parameters(system)


def _parameters(system: System) -> Iterator[Diagnostic]:
    procedures: dict[str, tuple[Procedure, Instance]] = {}
    for instance in system.instances:
        for interface in instance.type.interfaces:
            if isinstance(interface.type, Procedure):
                procedures.setdefault(interface.type.name, (interface.type, instance))
    for procedure, instance in procedures.values():
        for method in procedure.methods:
            for parameter in method.parameters:
                if parameter.array and parameter.type.name not in _ARRAYS:
                    yield _warning(
                        f"`{parameter.name}` of {procedure.name}.{method.name}() is an array of "
                        f"`{parameter.type.name}`, which l4v's procedures do not have",
                        instance.span,
                    )


def _access(connection: Connection) -> Mapping[str, set[str]] | None:
    """What a connector permits, by whom of whom; None: that is not stated."""
    attributes = {a.name: a.default for a in connection.connector.attributes}
    text = attributes.get(SPEC)
    if not isinstance(text, str):
        return None
    if text.strip() in _NAMED:
        return _NAMED[text.strip()]
    plain = _COMMENT.sub("", text)
    return {name: set(re.findall(r"\w+", items)) for name, items in _SETS.findall(plain)}


def _policy(system: System, labels: Labels) -> set[_Edge]:
    """Who may do what to what, by the connections."""
    edges = set()
    for connection in system.connections:
        ends = {
            "from": {labels.label(end.instance) for end in connection.from_ends},
            "to": {labels.label(end.instance) for end in connection.to_ends},
            "conn": {labels.label(connection.name)},
        }
        for pair, authorities in (_access(connection) or {}).items():
            subjects, objects = (ends[which] for which in pair.split("_"))
            edges |= {_Edge(s, a, o) for s in subjects for a in authorities for o in objects}
    return edges


def _authorities(kind: ObjectKind, rights: Rights) -> set[str]:
    match kind:
        case ObjectKind.ENDPOINT:
            found = {"Receive"} if Rights.READ in rights else set()
            if Rights.WRITE in rights:
                grants = bool(rights & (Rights.GRANT | Rights.GRANT_REPLY))
                found |= {"SyncSend", "Call"} if grants else {"SyncSend"}
            return found
        case ObjectKind.NOTIFICATION:
            each = {Rights.READ: "Receive", Rights.WRITE: "Notify"}
        case ObjectKind.REGION:
            each = {Rights.READ: "Read", Rights.WRITE: "Write"}
        case _:
            return {"Control"}
    return {authority for right, authority in each.items() if right in rights}


def _capabilities(system: System, model: CapabilityModel) -> Iterator[Diagnostic]:
    """One for each element that has more, with all that it is."""
    labels = Labels(system)
    policy = _policy(system, labels)
    kinds = {item.name: item.kind for item in model.objects}
    unknown = {labels.label(c.name) for c in system.connections if _access(c) is None}
    found: dict[Span, dict[str, None]] = {}
    for space in model.spaces:
        subject = labels.label(space.name)
        held = [(cap.object, cap.rights) for cap in space.caps]
        held += [(mapping.region, mapping.rights) for mapping in space.mappings]
        for name, rights in held:
            owner, span = labels.of(name), _place(system, space, name)
            given = {e.authority for e in policy if (e.subject, e.object) == (subject, owner)}
            excess = _authorities(kinds[name], rights) - given
            words = ""
            if kinds[name] is ObjectKind.TIMER:
                words = f"`{space.name}` has a timer, whose driver is not a component of the assembly"
            elif not owner:
                words = f"`{space.name}` has `{name}`, which is part of no component or connection"
            elif owner not in (subject, *unknown) and excess:
                verbs = " and ".join(
                    _WORDS.get(a, a) for a in sorted(excess) if a != "SyncSend" or "Call" not in excess
                )
                words = f"`{space.name}` can {verbs} `{name}` of `{owner}`, which no connector permits"
            if words:
                found.setdefault(span, {})[words] = None
    for span, reasons in found.items():
        first, *more = reasons
        yield Diagnostic(NOT_COVERED, first, span, notes=tuple(more))


def _place(system: System, space: Space, name: str) -> Span:
    """The connection or CPI that an object is of, else an instance of the space."""
    for cpi in system.cpis:
        if re.match(rf"{re.escape(cpi.name)}(?!\w)", name):
            return cpi.span
    for connection in system.connections:
        if re.match(rf"{re.escape(connection.name)}(?!\w)", name):
            return connection.span
    holders = (i.span for i in system.instances if i.name in space.instances)
    owners = (i.span for i in system.instances if re.match(rf"{re.escape(i.name)}(?!\w)", name))
    return next(holders, None) or next(owners, system.instances[0].span)
