# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`load`: the path of a .camkes file -> the system it describes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from camkes.diagnostics import Diagnostic, Label, Severity, Sink, Span
from camkes.model.codes import CODES as SETTING_CODES
from camkes.model.system import Connection, ConnectionEnd, DomainSlot, Instance, Setting, System
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.files.imports import Program, read_program
from camkes.resolve.names.definitions import AssemblyDefinition
from camkes.resolve.names.resolver import Names
from camkes.resolve.options import LoadOptions
from camkes.resolve.program.bands import find_bands, in_bands
from camkes.resolve.program.configure import configured, configured_connections
from camkes.resolve.program.connections import (
    JoinedConnection,
    check_connection,
    check_definitions,
    check_names,
    check_use,
    interfaces,
    join,
)
from camkes.resolve.program.followups import merged, mistakes_of_their_own
from camkes.resolve.program.hierarchy import Flat, flatten, override
from camkes.resolve.program.reader import Reader
from camkes.resolve.program.realtime import conditions, plain_connector, tasks_and_cpis
from camkes.resolve.program.settings import Settings, resolve_settings
from camkes.resolve.program.time import check_times
from camkes.resolve.values.expressions import fold_integer
from camkes.resolve.values.queries import Queries

#: Errors after which the rest of the system keeps its meaning, so that later checks are of use.
_HARMLESS = frozenset(
    code.number
    for code in (
        codes.DUPLICATE_SETTING,
        codes.EMPTY_STRUCT,
        codes.KEYWORD_NAME,
        codes.MISTYPED_VALUE,
        codes.MISSING_KEY,
        codes.MISSING_MEMBER,
        codes.REFERENCE_WITHOUT_VALUE,
        codes.SYMBOL_CLASH,
        codes.UNEXPECTED_UNIT,
        codes.UNCONNECTED,
        *SETTING_CODES,
    )
)


def load(path: Path, options: LoadOptions, sink: Sink) -> System | None:
    """Load the system that the file at `path` describes.

    All mistakes go to `sink`. The result is None if no system is left; a system comes with
    errors in the sink where later checks are still worth their while.
    """
    program = read_program(path, options, sink)
    return load_program(program, options, sink)


def load_program(program: Program, options: LoadOptions, sink: Sink) -> System | None:
    """The system that a program describes; see `load`."""
    own = Sink()
    system = _load(program, options, own)
    found = own.diagnostics
    if not program.complete:
        found = mistakes_of_their_own(program, found)
    if len(found) > 1:
        found = merged(program, found)
    for diagnostic in found:
        sink.add(diagnostic)
    fatal = not program.complete or any(map(_is_fatal, own.diagnostics))
    return None if fatal else system


def _is_fatal(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity is Severity.ERROR and diagnostic.code.number not in _HARMLESS


def _load(program: Program, options: LoadOptions, sink: Sink) -> System | None:
    if not program.items:
        sink.report(codes.NO_ASSEMBLY, "this file does not define an assembly", _start(program))
        return None
    names = Names(program, options.allow_forward_references, sink)
    names.resolve()
    check_definitions(names.components, names.unknown_procedures, sink)
    if not names.assemblies:
        if not any(isinstance(item, ast.AssemblyDecl) for item in program.items):
            sink.report(
                codes.NO_ASSEMBLY,
                f"there is no assembly{_other_than(program)}",
                _start(program),
                help="name the file that contains the `assembly { composition { ... } }`, or write one here",
            )
        return None
    flat = flatten(names.assemblies, sink)
    if not flat.instances and not flat.unknown:
        sink.report(codes.NO_INSTANCES, "the assembly has no instances", _assembly_span(program))
        return None
    joined = join(flat, sink)
    check_names(flat, joined, sink)
    others = interfaces(flat)
    for connection in joined:
        check_connection(connection, names.unknown_procedures, sink, others)
    check_use(flat, joined, sink)
    override(flat, options.overrides)
    settings = resolve_settings(flat, names.types, Queries(options, sink), sink)
    if not program.complete:
        return None  # tasks and requests of half a system have no meaning
    return _system(program, names.assemblies, flat, joined, settings, options.mcs, sink)


def _start(program: Program) -> Span:
    return Span(program.root, 1, 1, 1, 1)


_KINDS = {
    ast.ProcedureDecl: "procedure",
    ast.ComponentDecl: "component",
    ast.ConnectorDecl: "connector",
    ast.StructDecl: "struct",
    ast.CompositionDecl: "composition",
    ast.ConfigurationDecl: "configuration",
}


def _other_than(program: Program) -> str:
    """What the file that was named has instead of an assembly."""
    own = [type(item) for item in program.items if item.span.file.path == program.root.path]
    found = [
        f"{kind}s" if own.count(node) > 1 else f"a {kind}" for node, kind in _KINDS.items() if node in own
    ]
    if not found:
        return ""
    return f", only {' and '.join(filter(None, (', '.join(found[:-1]), found[-1])))}"


def _assembly_span(program: Program) -> Span:
    node = next(item for item in program.items if isinstance(item, ast.AssemblyDecl))
    return node.name.span if node.name else node.span


def _system(
    program: Program,
    assemblies: list[AssemblyDefinition],
    flat: Flat,
    joined: list[JoinedConnection],
    settings: Settings,
    mcs: bool,
    sink: Sink,
) -> System:
    instances = tuple(
        Instance(i.name, i.component.type, i.address_space, settings.of_instance.get(i.name, {}), i.span)
        for i in flat.instances.values()
    )
    connections = configured_connections((_connection(each, settings, sink) for each in joined), sink)
    readers = {i.name: Reader(i.settings, i.type.attributes, sink, mcs) for i in instances}
    waits = conditions(instances, readers)
    tasks, cpis = tasks_and_cpis(instances, connections, readers, sink)
    instances = configured(instances, connections, tasks, cpis, waits, settings.other, readers, sink)
    bands = find_bands(instances, connections, tasks, readers, sink)
    check_times(instances, tasks, cpis, sink)
    schedule = assemblies[0].schedule
    return System(
        root=program.root,
        files=tuple(program.files),
        instances=instances,
        connections=connections,
        schedule=_schedule(schedule, sink) if schedule else (),
        tasks=in_bands(tasks, bands),
        cpis=cpis,
        other_settings=settings.other,
        conditions=waits,
        mcs=mcs,
        bands=bands,
    )


def _connection(connection: JoinedConnection, settings: Settings, sink: Sink) -> Connection:
    connector, threads = plain_connector(connection.connector)
    place: Span | None = None if threads is None else connection.parts[0].span
    for part in connection.parts:
        if part.threads is None:
            continue
        if place is not None and part.threads != threads:
            sink.report(
                codes.THREADS_DIFFER,
                f"the thread count of one connection is stated as {threads} and as {part.threads}",
                part.threads_span,
                f"{part.threads} here",
                related=[Label(place, f"{threads} here")],
            )
        else:
            threads, place = part.threads, part.threads_span
    return Connection(
        name=connection.name,
        names=tuple(part.name for part in connection.parts),
        connector=connector,
        from_ends=tuple(ConnectionEnd(e.instance, e.interface.name, e.span) for e in connection.from_ends),
        to_ends=tuple(ConnectionEnd(e.instance, e.interface.name, e.span) for e in connection.to_ends),
        settings=_connection_settings(connection, settings, sink),
        span=connection.parts[0].span,
        threads=threads,
        threads_span=place,
    )


def _connection_settings(
    connection: JoinedConnection, settings: Settings, sink: Sink
) -> Mapping[str, Setting]:
    """What is set on any of the connections that were joined."""
    result: dict[str, Setting] = {}
    for part in connection.parts:
        for name, setting in settings.of_connection.get(part.name, {}).items():
            first = result.setdefault(name, setting)
            if first.value != setting.value:
                sink.report(
                    codes.SETTINGS_DIFFER,
                    f"`{name}` has different values on connections that share an end and are therefore one "
                    "connection",
                    setting.span,
                    "this value is not used",
                    related=[Label(first.span, "this value is used")],
                )
    return result


def _schedule(node: ast.ScheduleDecl, sink: Sink) -> tuple[DomainSlot, ...]:
    slots = []
    for entry in node.entries:
        duration, unit = entry.duration, None
        if isinstance(duration, ast.Quantity):
            unit, duration = duration.unit.text, duration.number
        match (
            fold_integer(entry.domain, sink, "this domain", 0),
            fold_integer(duration, sink, "this duration", 0),
        ):
            case int(domain), int(length):
                slots.append(DomainSlot(domain, length, unit, entry.span))
    return tuple(slots)
