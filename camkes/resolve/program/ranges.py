# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Types and ranges of the settings that a build reads, checked before anything is built."""

from __future__ import annotations

from collections.abc import Sequence

from camkes.diagnostics import Sink, Span
from camkes.model.connectors import Carries, support
from camkes.model.setting_reader import SettingReader, find
from camkes.model.settings import PRIORITY
from camkes.model.system import Connection, ConnectionEnd, Cpi, Instance, Task


def check_ranges(
    instances: Sequence[Instance],
    connections: Sequence[Connection],
    tasks: Sequence[Task],
    cpis: Sequence[Cpi],
    sink: Sink,
) -> None:
    """Read what a build for any kernel reads. What is wrong for several threads is reported once."""
    own = Sink()
    reader = SettingReader(own)
    parts = {instance.name: instance for instance in instances if not instance.type.hardware}
    planned = {cpi.name for cpi in cpis}
    stated: set[Span] = set()  # priorities of tasks, which have a check of their own
    for task in tasks:
        if task.instance not in parts:
            continue
        setting = find(parts[task.instance], *PRIORITY.names("_"))
        stated |= {setting.span} if setting is not None else set()
        reader.members(parts[task.instance], "task", "_")
        reader.urgent_first(parts[task.instance])
    for instance in parts.values():
        if instance.type.control:
            _thread(reader, instance, "_")
        reader.members(instance, "instance")
        reader.heap_size(instance, 0)
        for sync in instance.type.syncs:
            reader.semaphore(instance, sync)
    for connection in connections:
        _connection(reader, connection, parts, planned)
    for diagnostic in own.diagnostics:
        if diagnostic.span not in stated:
            sink.add(diagnostic)


def _connection(
    reader: SettingReader, connection: Connection, parts: dict[str, Instance], cpis: set[str]
) -> None:
    """What is read of the two sides of a connection, and of itself."""
    connector = connection.connector
    carries = support(connector).carries
    if carries is Carries.DATA:
        reader.size(connection, 0)
        reader.paddr(connection)
    sides = ((connector.from_end, connection.from_ends), (connector.to_end, connection.to_ends))
    for kind, ends in sides:
        for end in ends:
            instance = parts.get(end.instance)
            if instance is not None:
                _end(reader, instance, end, carries, bool(kind.threads), end.name in cpis)


def _end(
    reader: SettingReader, instance: Instance, end: ConnectionEnd, carries: Carries, threads: bool, cpi: bool
) -> None:
    interface = instance.type.interface(end.interface)
    kind = "" if interface is None else interface.kind
    if carries is Carries.TIME:
        if kind == "provides":
            reader.timers(instance)
        return
    if cpi:
        reader.members(instance, "cpi", f"{end.interface}_")
    if threads or cpi:
        _thread(reader, instance, f"{end.interface}_", planned=cpi)
    if carries is Carries.DATA:
        reader.access(instance, end.interface)
    if (carries is Carries.CALLS and kind == "uses") or (carries is Carries.EVENTS and kind == "emits"):
        reader.badge(instance, end.interface)
    if carries is Carries.CALLS and kind == "uses":
        reader.requests(instance, end.interface)


def _thread(reader: SettingReader, instance: Instance, prefix: str, *, planned: bool = False) -> None:
    if not planned:  # else its priorities are computed
        reader.priority(instance, prefix)
        reader.max_priority(instance, prefix)
    reader.members(instance, "thread", prefix)
    reader.stack_size(instance, prefix)
    reader.affinity(instance, prefix)
    reader.domain(instance, prefix)
